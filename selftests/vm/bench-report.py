#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""bench-report - what bench.sh has measured, as a table or JSON

    table FILE          each way, and its time (or memory) in relation to TCP's
    json FILE COMMIT KERNEL
                        the same for programs
    compare OLD NEW     rows that differ by 1 % or more, in relation to TCP in
                        the same boot; exit code 1 if one is 3 % slower

FILE is as in benchdata.py.
"""
import json
import sys

from benchdata import LABEL, UNIT, load, row_text, shown

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


def as_json(ways, commit, kernel):
    """a line for each row, so that two files can be compared"""
    text = []
    for way, rows in ways.items():
        lines = [json.dumps([*row, value]) for row, value in rows.items()]
        text.append(f" {json.dumps(way)}: [\n  " + ",\n  ".join(lines) + "]")
    print(f'{{"commit": {json.dumps(commit)},\n"kernel": {json.dumps(kernel)},\n'
          '"row": ["pattern", "size", "conns", "ns, or bytes of memory"],\n'
          '"ways": {\n' + ",\n".join(text) + "}}")


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


def main():
    what, args = sys.argv[1], sys.argv[2:]
    ways = load(args[0])
    if what == "table":
        table(ways)
    elif what == "json":
        as_json(ways, args[1], args[2])
    elif what == "compare":
        return compare(ways, load(args[1]))
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
