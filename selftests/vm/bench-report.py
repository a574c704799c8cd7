#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""bench-report - what bench.sh has measured, as a table or JSON

    table FILE          each way, and its time in relation to TCP's
    json FILE           the same for programs
    compare OLD NEW     rows that differ by 1 % or more, in relation to TCP in
                        the same boot; exit code 1 if one is 3 % slower

FILE has lines WAY PATTERN SIZE CONNS NANOSECONDS, or is JSON made from them.
"""
import json
import sys

UNIT = {"latency": "one way, us", "rate": "round trips, 1000/s",
        "stream": "MB/s", "setup": "connection, us"}
LABEL = {"tcp": "TCP", "unix": "AF_UNIX", "smcd": "SMC-D", "smcr": "SMC-R",
         "fallback": "after fallback", "own-smcr": "kernel's own SMC-R"}


def load(path):
    """{way: {(pattern, size, conns): nanoseconds}}"""
    with open(path, encoding="ascii") as f:
        text = f.read()
    ways = {}
    if text.startswith("{"):
        for way, rows in json.loads(text)["ways"].items():
            ways[way] = {(r["pattern"], r["size"], r["conns"]): r["ns"]
                         for r in rows}
        return ways
    for line in text.splitlines():
        way, pattern, size, conns, ns = line.split()
        ways.setdefault(way, {})[pattern, int(size), int(conns)] = float(ns)
    return ways


def shown(pattern, ns):
    """in the unit of the pattern"""
    if pattern == "stream":
        return 1000 / ns
    return 1e6 / ns if pattern == "rate" else ns / 1000


def size_text(size):
    for unit, text in ((1 << 20, "M"), (1 << 10, "K")):
        if size >= unit and not size % unit:
            return f"{size // unit}{text}"
    return str(size)


def row_text(row):
    pattern, size, conns = row
    text = f"{pattern} {size_text(size)}"
    return text if conns == 1 else f"{text} x{conns}"


def table(ways):
    rows = list(next(iter(ways.values())))
    names = [w for w in LABEL if w in ways]
    print(" " * 20 + "".join(f"{LABEL[w]:>20}" for w in names))
    for pattern in UNIT:
        print(f"{UNIT[pattern]}:")
        for row in rows:
            if row[0] != pattern:
                continue
            cells = []
            for way in names:
                ns = ways[way].get(row)
                if ns is None:
                    cells.append(" " * 20)
                    continue
                ratio = ns / ways["tcp"][row]
                cells.append(f"{shown(pattern, ns):12.1f} ({ratio:5.2f})")
            print(f"  {row_text(row):18}" + "".join(f"{c:>20}" for c in cells))
    print("in brackets: time of TCP's; below 1 is faster")


def as_json(ways):
    out = {way: [{"pattern": p, "size": s, "conns": c, "ns": ns}
                 for (p, s, c), ns in rows.items()]
           for way, rows in ways.items()}
    print(json.dumps({"ways": out}, indent=1))


def compare(old, new):
    worse = 0
    for way, rows in new.items():
        for row, ns in rows.items():
            if row not in old.get(way, {}):
                continue
            # of TCP in the same boot: the tick of another boot is another
            ratio = (ns / new["tcp"][row]) / (old[way][row] / old["tcp"][row])
            worse += ratio > 1.03
            if abs(ratio - 1) >= 0.01:
                print(f"{way:10} {row_text(row):18} {ratio:6.3f}"
                      f"{'  slower' if ratio > 1.03 else ''}")
    return 1 if worse else 0


def main():
    what, args = sys.argv[1], sys.argv[2:]
    ways = load(args[0])
    if what == "table":
        table(ways)
    elif what == "json":
        as_json(ways)
    elif what == "compare":
        return compare(ways, load(args[1]))
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
