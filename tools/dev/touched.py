#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""touched.py COMMIT - guest tests whose own files have changed since COMMIT

Those are the test, the programs that it starts, and what these import or include.
Run them all before a change is submitted: of those that are rotated a gate has
only its turn's.  What any test uses (the laboratory, lib.mk, programs that every
test starts) is left out, as a change there concerns them all.
"""
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.abspath(__file__)) + "/../.."
TESTS, SMC, VM = "selftests/vm/tests", "selftests/smc", "selftests/vm"
# where what a word may name is looked for
PLACES = [(SMC, ".py"), (SMC, ".sh"), (SMC, ".c"), (SMC, ".h"),
          (SMC + "/lib", ".c"), (SMC + "/lib", ".h"), (VM + "/planted", ".c")]
# a program NAME consists of NAME.c, and these of more
PARTS = {"difftest": r"difftest_\w+", "failnth": r"failnth_\w+",
         "stream": "stream_io"}
COMMON = {f"{SMC}/{name}.py" for name in
          ("cases", "counters", "hostenv", "limits", "namespaces", "planted")} | \
    {f"{VM}/{name}.sh" for name in ("lib", "test-lib")}


def named(path, text):
    """the files that this one names"""
    found = set()
    if path.endswith(".py"):
        words = re.findall(r"^\s*(?:from|import) (\w+)", text, re.M) + \
            re.findall(r"[\"'/](\w+)\.py\b", text) + \
            re.findall(r"/(\w+)\"", text)
    elif path.endswith(".sh"):
        text = re.sub(r"^#.*", "", text, flags=re.M)
        words = re.findall(r"/([\w-]+)", text) + \
            re.findall(r"^in_modes (\w+)", text, re.M)
        found |= {f"{VM}/{name}" for name in re.findall(r"[\w-]+\.sh", text)
                  if os.path.exists(f"{TOP}/{VM}/{name}")}
    else:
        words = re.findall(r'#include "(?:lib/)?(\w+)\.h"', text)
        stem = os.path.basename(path)[:-2]
        if stem in PARTS:
            found |= {f"{SMC}/{f}" for f in os.listdir(f"{TOP}/{SMC}")
                      if re.fullmatch(PARTS[stem] + r"\.c", f)}
    for word in set(words):
        for folder, suffix in PLACES:
            if os.path.exists(f"{TOP}/{folder}/{word}{suffix}"):
                found.add(f"{folder}/{word}{suffix}")
    return found - COMMON


def closure(path, known):
    """it and all that it leads to"""
    todo, seen = [path], set()
    while todo:
        at = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        if at not in known:
            with open(f"{TOP}/{at}", encoding="utf-8") as f:
                known[at] = named(at, f.read())
        todo += known[at]
    return seen


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    changed = set(subprocess.run(
        ["git", "-C", TOP, "diff", "--name-only", sys.argv[1], "--", "selftests"],
        check=True, text=True, stdout=subprocess.PIPE).stdout.split())
    known = {}
    for name in sorted(os.listdir(f"{TOP}/{TESTS}")):
        if closure(f"{TESTS}/{name}", known) & changed:
            print(name.removesuffix(".sh"))


if __name__ == "__main__":
    main()
