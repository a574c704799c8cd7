#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""turns.py - how long the guest tests of each turn take, by their last times

For each kernel and number of guests: the seconds of the tests in each of 16
turns of SMC_ROTATE (of all together; run.sh has two or three guests side by side),
and each test's seconds and turn ("# when: T/N" in its head), the longest first.
A test that is left to check-long is not shown, one that was never seen has a "?".
Choose N by the seconds, and T so that the turns stay equal.
"""
import os
import subprocess

TURNS = 16
LAB = os.path.dirname(os.path.abspath(__file__)) + "/../../selftests/vm/lib.sh"


def tests(kernel):
    """What plan.sh knows of the tests: lists GUESTS, T/N, SECONDS, NAME"""
    return [line.split() for line in subprocess.run(
        ["sh", "-euc", '. "$0"; . "$vm_dir/plan.sh"; plan_turns "$1"',
         LAB, kernel], check=True, text=True, stdout=subprocess.PIPE,
    ).stdout.splitlines()]


def main():
    for kernel in "6.12", "debug":
        known = tests(kernel)
        for guests in "1", "2":
            sums, shown = [0] * TURNS, []
            for _, when, seconds, name in [t for t in known if t[0] == guests]:
                took = int(seconds.rstrip("?"))
                turn, of = map(int, when.split("/"))
                for i in range(turn - 1, TURNS, of):
                    sums[i] += took
                shown.append((took, f"{name} {seconds} s {when}"))
            print(f"{kernel}, guests: {guests}: {sums}")
            print("  " + ", ".join(x for _, x in sorted(shown, reverse=True)))


if __name__ == "__main__":
    main()
