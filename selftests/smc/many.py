#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""many rows|setup CONNECTIONS - so many connections with themselves

rows: listed by smcss.  Each connection is two rows.  smcss has to show each once,
in MEMORY bytes of address space, and within FACTOR times what "ss" needs of the
processor to show as much of the TCP sockets below them, of which there are as
many.  The machine's own speed does not count then.

setup: the last thousand are set up within a fifth more time than the first.

Both are for a guest whose time is the number of its instructions.  While it waits
for its disk that time jumps.
"""
import gc
import os
import resource
import socket
import statistics
import subprocess
import sys
import time

import cases
from counters import sysctl
from sockdiag import PROTO_SMC

FACTOR = 4
MEMORY = 50 << 20
ROUNDS = 3
THOUSAND = 1000
here = os.path.dirname(os.path.abspath(__file__))
SMCSS = os.path.join(here, "../../tools/smcss")


def listener():
    lst = socket.socket(socket.AF_INET, socket.SOCK_STREAM, PROTO_SMC)
    lst.bind(("127.0.0.1", 0))
    lst.listen(64)
    return lst


def connect(count):
    """their ends, and the seconds that each thousand took"""
    # both ends of each, listeners, and room for this and that
    resource.setrlimit(resource.RLIMIT_NOFILE, (2 * count + 1000,) * 2)
    for name in "wmem", "rmem":         # the smallest rings
        sysctl(name, 16384)
    socks, took = [], []
    gc.disable()                        # it looks at all of them
    for n in range(0, count, THOUSAND):
        # one for each thousand: there are not more ports than that for long
        with listener() as lst:
            start = time.monotonic()
            for _ in range(min(THOUSAND, count - n)):
                s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, PROTO_SMC)
                s.connect(lst.getsockname())
                socks += [s, lst.accept()[0]]
            took.append(time.monotonic() - start)
        print(f"# {len(socks) // 2}: {took[-1]:.3f} s", flush=True)
    return socks, took


def used():
    """seconds of the processor, by programs that have ended"""
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def measure(*cmd):
    """the middle of the times, the last lines"""
    took = []
    for _ in range(ROUNDS):
        start = used()
        out = subprocess.run(cmd, stdout=subprocess.PIPE, text=True,
                             check=True).stdout
        took.append(used() - start)
    print("#", *(f"{t:.2f}" for t in took), "s:", *cmd, flush=True)
    return statistics.median(took), out.splitlines()


def available():
    """kB of memory"""
    with open("/proc/meminfo", encoding="ascii") as f:
        return next(int(x.split()[1]) for x in f if x.startswith("MemAvail"))


def case_setup():
    connect(100)
    before = available()
    socks, took = connect(COUNT)
    print(f"# {(before - available()) / len(socks):.1f} kB for an end", flush=True)
    assert took[-1] < 1.2 * took[0], f"the first {took[0]} s, then {took[-1]} s"


def case_rows():
    count = COUNT
    socks, _ = connect(count)
    inodes = sorted(os.fstat(s.fileno()).st_ino for s in socks)
    ss = {}
    for like in "-Htan", "-Htanmi":
        ss[like], lines = measure("ss", like)
        assert len(lines) >= 2 * count, len(lines)
    for opts, like in (([], "-Htan"), (["-d"], "-Htanmi"), (["-D"], "-Htanmi")):
        limit = ss[like]
        took, lines = measure("prlimit", f"--as={MEMORY}", SMCSS, *opts)
        rows = [x.split() for x in lines[1:]]
        assert sorted(int(r[2]) for r in rows) == inodes, "rows"
        assert {(r[0], r[6]) for r in rows} == {("ACTIVE", "SMCD")}
        assert took < FACTOR * limit, f"{took} s, ss: {limit} s"


COUNT = int(sys.argv[2])
sys.exit(cases.main(globals(), sys.argv[1:2]))
