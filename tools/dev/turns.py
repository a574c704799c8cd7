#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""turns.py - how long the guest tests of each turn take, by their last times

For each kernel and number of guests: the seconds of the tests in each of 16
turns of SMC_ROTATE (of all together; run.sh has two or three guests side by side),
and each test's seconds and turn ("# when: T/N" in its head), the longest first.
A test that is left to check-long is not shown, one that was never seen has a "?".
Choose N by the seconds, and T so that the turns stay equal.
"""
import glob
import os
import statistics

TURNS = 16
HISTORY = os.path.expanduser(
    os.environ.get("SMC_LAB_CACHE") or
    os.environ.get("XDG_CACHE_HOME", "~/.cache") + "/smc-lab") + "/seconds"
TESTS = os.path.dirname(os.path.abspath(__file__)) + \
    "/../../selftests/vm/tests/*.sh"


def head(path):
    words = {"guests": "1", "kernels": "any", "when": "", "timeout": "120"}
    with open(path) as f:
        for line in f:
            if not line.startswith("#"):
                break
            key, colon, value = line[1:].partition(":")
            if colon and key.strip() in words:
                words[key.strip()] = value.strip()
    return words


def turn(words, kernel):
    """(T, N) of N commits; None for one that is left to check-long"""
    for clause in words["when"].partition(",")[0].split(";"):
        clause = clause.split()
        if clause and (not clause[1:] or kernel in clause[1:]):
            if clause[0] == "long":
                return None
            t, n = clause[0].split("/")
            return int(t), int(n)
    return 1, 1


def main():
    seen = {}
    if os.path.exists(HISTORY):
        with open(HISTORY) as f:
            for line in f:
                *key, seconds = line.split()
                seen.setdefault(tuple(key), []).append(int(seconds))
    tests = {os.path.basename(p)[:-3]: head(p) for p in glob.glob(TESTS)}
    for kernel in "6.12", "debug":
        for guests in "1", "2":
            sums, shown = [0] * TURNS, []
            for name, words in tests.items():
                kernels = words["kernels"].split()
                mine = turn(words, kernel)
                if words["guests"] != guests or mine is None or \
                        not {"any", kernel} & set(kernels):
                    continue
                last = seen.get((kernel, name), [])[-9:]
                took = statistics.median_low(last) if last else \
                    int(words["timeout"]) // 2
                for i in range(TURNS):
                    if i % mine[1] == mine[0] - 1:
                        sums[i] += took
                shown.append((took, f"{name} {took}{'' if last else '?'} s "
                                    f"{mine[0]}/{mine[1]}"))
            print(f"{kernel}, guests: {guests}: {sums}")
            print("  " + ", ".join(x for _, x in sorted(shown, reverse=True)))


if __name__ == "__main__":
    main()
