#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""many CONNECTIONS - so many connections with themselves, listed by smcss

Each connection is two rows.  smcss has to show each once, in MEMORY bytes of
address space, and within FACTOR times what "ss" needs to show as much of the
TCP sockets below them, of which there are as many.  The machine's own speed
does not count then.
"""
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
here = os.path.dirname(os.path.abspath(__file__))
SMCSS = os.path.join(here, "../../tools/smcss")


def connect(count):
    # listener, both ends of each, and room for this and that
    resource.setrlimit(resource.RLIMIT_NOFILE, (2 * count + 100,) * 2)
    lst = socket.socket(socket.AF_INET, socket.SOCK_STREAM, PROTO_SMC)
    lst.bind(("127.0.0.1", 0))
    lst.listen(64)
    socks = [lst]
    for name in "wmem", "rmem":         # the smallest rings
        sysctl(name, 16384)
    start = time.monotonic()
    for n in range(count):
        s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, PROTO_SMC)
        s.connect(lst.getsockname())
        socks += [s, lst.accept()[0]]
        if n % 1000 == 999:
            print(f"# {n + 1} after {time.monotonic() - start:.0f} s",
                  flush=True)
    return socks


def measure(*cmd):
    """the middle of the times, the last lines"""
    took = []
    for _ in range(ROUNDS):
        start = time.monotonic()
        out = subprocess.run(cmd, stdout=subprocess.PIPE, text=True,
                             check=True).stdout
        took.append(time.monotonic() - start)
    print("#", *(f"{t:.2f}" for t in took), "s:", *cmd, flush=True)
    return statistics.median(took), out.splitlines()


def case_many():
    count = int(sys.argv[1])
    socks = connect(count)
    inodes = sorted(os.fstat(s.fileno()).st_ino for s in socks[1:])
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


sys.exit(cases.main(globals(), []))
