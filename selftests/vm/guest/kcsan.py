# SPDX-License-Identifier: GPL-2.0
"""kcsan - which of the kernel's reports of data races concern the module

A report begins and ends with a line of "=" and shows the stack of each of the
two accesses.  The kernel has races of its own, also below calls from here: a
report is ours if one of the accesses is made by the module, or by a helper up
to two calls below it (memcpy, a list, a reference count).
"""
import re

NEAR = 3        # frames from the access on
RULE = re.compile(r"\] ={60,}$")
ACCESS = re.compile(r"\] .* of \d+ bytes by .* on cpu \d+:$")
MODULE = re.compile(r" \[(smc|smc_diag)\]")


def is_ours(report):
    near = 0
    for line in report:
        if ACCESS.search(line):
            near = NEAR
        elif near:
            near -= 1
            if MODULE.search(line):
                return True
    return False


def drop_foreign(lines):
    """the lines of a log without the reports that are not ours"""
    out, report = [], None
    for line in lines:
        if report is not None:
            report.append(line)
            if RULE.search(line):
                foreign = any("BUG: KCSAN" in x for x in report) and \
                    not is_ours(report)
                out += [] if foreign else report
                report = None
        elif RULE.search(line):
            report = [line]
        else:
            out.append(line)
    return out + (report or [])
