#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""bench-report - what bench.sh has measured, as a table or JSON, and compared

    table FILE          each way, and its time (or memory) in relation to TCP's;
                        then where the instructions are, if FILE says it
    json FILE COMMIT KERNEL PARTS
                        the same for programs; PARTS is from bench-parts.py
    compare OLD NEW     rows that differ by 1 % or more, in relation to TCP in
                        the same boot; exit code 1 if one is 3 % slower
    ratios FILE BEST    the ratios that BEST lists; exit code 1 if one is 3 %
                        behind the best so far
    best FILE BEST COMMIT
                        BEST with what is better in FILE

FILE is as in benchdata.py.  BEST has lines WAY OTHER PATTERN SIZE CONNS RATIO
COMMIT: what WAY takes of the time or memory of OTHER.
"""
import json
import sys

from benchdata import (LABEL, PARTS, UNIT, load, load_parts, row_text,
                       shown)

WORSE = 1.03


def table(ways):
    rows = {row: None for of in ways.values() for row in of}
    names = [w for w in LABEL if w in ways]
    print(" " * 20 + "".join(f"{LABEL[w]:>20}" for w in names))
    for pattern in UNIT:
        print(f"{UNIT[pattern]}:")
        for row in rows:
            if row[0] != pattern:
                continue
            cells = []
            for way in names:
                value = ways[way].get(row)
                if value is None:
                    cells.append(" " * 20)
                    continue
                ratio = value / ways["tcp"][row]
                cells.append(f"{shown(pattern, value):12.1f} ({ratio:5.2f})")
            print(f"  {row_text(row):18}" + "".join(f"{c:>20}" for c in cells))
    print("in brackets: time or memory of TCP's; below 1 is better")


def parts_table(ways):
    rows = {row: None for of in ways.values() for row in of}
    if rows:
        print("instructions of a message, and where they are:")
        print(" " * 40 + "all" + "".join(f"{name:>12}" for name in
                                         PARTS.values()))
    for row in rows:
        for way in (w for w in LABEL if row in ways.get(w, ())):
            _, parts = ways[way][row]
            print(f"  {row_text(row):18}{LABEL[way]:>18} "
                  f"{sum(parts.values()):11.0f}  " +
                  "".join(f"{n:10.0f}  " for n in parts.values()).rstrip())


def json_ways(ways):
    """a line for each row, so that two files can be compared"""
    return "{\n" + ",\n".join(
        f" {json.dumps(way)}: [\n  " +
        ",\n  ".join(json.dumps(row) for row in rows) + "]"
        for way, rows in ways.items()) + "}"


def as_json(ways, parts, commit, kernel):
    ways = {way: [[*row, value] for row, value in rows.items()]
            for way, rows in ways.items()}
    parts = {way: [[*row, ns, *counts.values()]
                   for row, (ns, counts) in rows.items()]
             for way, rows in parts.items()}
    row = ["pattern", "size", "conns", "ns of a message", *PARTS]
    print(f'{{"commit": {json.dumps(commit)},\n"kernel": {json.dumps(kernel)},\n'
          '"row": ["pattern", "size", "conns", "ns, or bytes of memory"],\n'
          f'"ways": {json_ways(ways)},\n'
          f'"parts": {{"commit": {json.dumps(commit)},\n'
          f'"row": {json.dumps(row)},\n"ways": {json_ways(parts)}}}}}')


def compare(old, new):
    worse = 0
    for way, rows in new.items():
        for row, value in rows.items():
            if row not in old.get(way, {}):
                continue
            # of TCP in the same boot: the tick of another boot is another
            ratio = ((value / new["tcp"][row]) /
                     (old[way][row] / old["tcp"][row]))
            worse += ratio > WORSE
            if abs(ratio - 1) >= 0.01:
                print(f"{way:10} {row_text(row):18} {ratio:6.3f}"
                      f"{'  worse' if ratio > WORSE else ''}")
    return 1 if worse else 0


def best_lines(path):
    """each line, and what it says: None or (way, other, row, ratio)"""
    with open(path, encoding="ascii") as f:
        for line in f.read().splitlines():
            if not line or line.startswith("#"):
                yield line, None
                continue
            way, other, pattern, size, conns, ratio, _ = line.split()
            yield line, (way, other, (pattern, int(size), int(conns)),
                         float(ratio))


def ratios(ways, path):
    worse, better = 0, 0
    print(f"{'':40}    now   best")
    for _, what in best_lines(path):
        if what is None:
            continue
        way, other, row, best = what
        now = ways[way][row] / ways[other][row]
        if now > WORSE * best:
            worse, note = worse + 1, "  worse"
        elif now < best / 1.01:
            better, note = better + 1, "  better"
        else:
            note = ""
        print(f"{way:8} of {other:8} {row_text(row):18} {now:6.3f} {best:6.3f}"
              f"{note}")
    if worse:
        print(f"{worse} ratios are more than 3 % behind the best so far")
    if better:
        print(f"{better} ratios are better: to keep them, "
              "bench-report.py best FILE BEST COMMIT")
    return 1 if worse else 0


def best(ways, path, commit):
    out = []
    for line, what in best_lines(path):
        if what is not None:
            way, other, row, old = what
            now = ways[way][row] / ways[other][row]
            if now < old:
                pattern, size, conns = row
                line = (f"{way:8} {other:8} {pattern:8} {size:6} {conns:3} "
                        f"{now:7.4f} {commit}")
        out.append(line + "\n")
    with open(path, "w", encoding="ascii") as f:
        f.writelines(out)


def main():
    what, args = sys.argv[1], sys.argv[2:]
    ways = load(args[0])
    if what == "table":
        table(ways)
        parts_table(load_parts(args[0]))
    elif what == "json":
        as_json(ways, load_parts(args[3]), args[1], args[2])
    elif what == "compare":
        return compare(ways, load(args[1]))
    elif what == "ratios":
        return ratios(ways, args[1])
    elif what == "best":
        best(ways, args[1], args[2])
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
