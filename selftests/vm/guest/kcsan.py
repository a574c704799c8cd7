# SPDX-License-Identifier: GPL-2.0
"""kcsan - which of the kernel's reports of data races concern the module

A report begins and ends with a line of "=" and shows the stack of each of the
two accesses, or of the one that is known.  It is ours if one of the accesses is
made by the module, or by a helper up to two calls below it (memcpy, a list, a
reference count).  The kernel has races of its own, also below calls from here:
they are counted, and listed in the test's log.
"""
import re

NEAR = 3        # frames from the access on
RULE = re.compile(r"\] ={60,}$")
ACCESS = re.compile(r"\] .* of \d+ bytes by .* on cpu \d+:$")
MODULE = re.compile(r" \[(smc|smc_diag)\]")
RACE = re.compile(r"BUG: KCSAN: (.*)")
# the kernel's, although a call from here is near
KERNELS = {
    # the word of a work: of the two accesses one is marked
    "data-race in move_linked_works / queue_delayed_work_on",
    "data-race in move_linked_works / queue_work_on",
    # TCP_INFO reads the congestion window before it locks the socket
    "data-race in tcp_disconnect / tcp_get_info",
}


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
    """the lines of a log without the reports that are not ours, and those: what
    each of them says, and whether the module is in a stack"""
    out, foreign, report = [], [], None
    for line in lines:
        if report is None and not RULE.search(line):
            out.append(line)
        elif report is None:
            report = [line]
        else:
            report.append(line)
            if not RULE.search(line):
                continue
            race = next(filter(None, map(RACE.search, report)), None)
            if race and (race[1] in KERNELS or not is_ours(report)):
                foreign.append((race[1], any(map(MODULE.search, report))))
            else:
                out += report
            report = None
    return out + (report or []), foreign
