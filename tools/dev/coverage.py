#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""coverage.py count NOTES DIRECTORY... | table FILE...

count runs gcov on each .gcda below the directories, with the .gcno of the
same path below NOTES, and prints the sums as JSON: to be run with the gcov of
the compiler that has made the notes.  table prints lines and branches of
net/smc from such files: a line is covered if one of them says so; branches of
a line are those of the file that covers most of them.
"""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = "net/smc/"


def name_of(path):
    """below net/smc; None for other files"""
    at = path.rfind(HERE)
    return os.path.normpath(path[at + len(HERE):]) if at >= 0 else None


def gcov(notes, data):
    """what gcov says of one object"""
    with tempfile.TemporaryDirectory() as tmp:
        shutil.copy(notes, tmp + "/x.gcno")
        shutil.copy(data, tmp + "/x.gcda")
        p = subprocess.run(["gcov", "--json-format", "--stdout",
                            "--branch-probabilities", "-o", tmp, "x.gcda"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True, cwd=tmp, check=True)
    if "mismatch" in p.stderr:
        raise SystemExit(f"{data}: {p.stderr}")
    return [f for line in p.stdout.splitlines()
            for f in json.loads(line)["files"]]


class Counts:
    def __init__(self):
        self.lines = collections.Counter()          # "file:line"
        self.branches = {}                          # "file:line" -> counts
        self.functions = collections.Counter()      # "file:line:name"

    def add(self, f):
        name = name_of(f["file"])
        # trace.h is a list; the functions are those of the kernel's macros
        if not name or name == "trace.h":
            return
        here = {}       # a line may have several rows: one for each inlining
        for row in f["lines"]:
            key = f"{name}:{row['line_number']}"
            self.lines[key] += row["count"]
            here.setdefault(key, []).extend(b["count"]
                                            for b in row["branches"])
        for key, counts in here.items():
            old = self.branches.get(key, [])
            if len(old) < len(counts):
                old = old + [0] * (len(counts) - len(old))
            for i, n in enumerate(counts):
                old[i] += n
            self.branches[key] = old
        for fn in f["functions"]:
            key = f"{name}:{fn['start_line']}:{fn['name'].split('.')[0]}"
            self.functions[key] += fn["execution_count"]


def count(notes, *directories):
    c = Counts()
    for directory in directories:
        for at, _, files in sorted(os.walk(directory)):
            for name in sorted(files):
                if not name.endswith(".gcda"):
                    continue
                path = os.path.join(at, name)
                below = os.path.relpath(path, directory)
                for f in gcov(os.path.join(notes, below[:-4] + "gcno"), path):
                    c.add(f)
    json.dump(vars(c), sys.stdout)


def file_of(key):
    return key.split(":")[0]


def percent(part, whole):
    return f"{100 * part / whole:5.1f}" if whole else "    -"


def merge(paths):
    lines, functions, branches = {}, {}, {}
    for path in paths:
        with open(path) as f:
            c = json.load(f)
        for table, new in (lines, c["lines"]), (functions, c["functions"]):
            for key, n in new.items():
                table[key] = table.get(key, 0) + n
        for key, counts in c["branches"].items():
            taken = sum(map(bool, counts))
            best = branches.get(key)
            if counts and (not best or taken * best[1] > best[0] * len(counts)):
                branches[key] = taken, len(counts)
    return lines, functions, branches


def table(*paths):
    lines, functions, branches = merge(paths)
    rows = collections.defaultdict(lambda: [0, 0, 0, 0])
    for key, n in lines.items():
        for name in file_of(key), "":
            rows[name][0] += bool(n)
            rows[name][1] += 1
    for key, (taken, all_) in branches.items():
        for name in file_of(key), "":
            rows[name][2] += taken
            rows[name][3] += all_
    rule = "=" * 22 + "  " + "  ".join(["=" * 6, "=" * 5] * 2)
    print(rule)
    print(f"{'file below net/smc':22}  {'lines':>6}  {'%':>5}"
          f"  {'branch':>6}  {'%':>5}")
    print(rule)
    for name in sorted(rows, key=lambda x: (not x, x)):
        hit, all_, taken, ways = rows[name]
        print(f"{name or 'all':22}  {all_:6}  {percent(hit, all_)}"
              f"  {ways:6}  {percent(taken, ways)}")
    print(rule)
    missed = sorted((file_of(k), k.split(":")[2])
                    for k, n in functions.items() if not n)
    print(f"\nFunctions never called, {len(missed)} of {len(functions)}:\n")
    by_file = collections.defaultdict(list)
    for name, function in missed:
        by_file[name].append(function)
    for name, names in by_file.items():
        print(f"* {name}: " + ", ".join(sorted(set(names))))


if __name__ == "__main__":
    {"count": count, "table": table}[sys.argv[1]](*sys.argv[2:])
