#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""canary - no ring has anything of another connection in it

Connections fill their rings; then others of another user, namespace or peer get
these rings, or their memory.  The module canary (selftests/vm/planted) looks at
all of each ring that a connection gets.  Needs it, the module, root, and an RDMA
port rxe0 on lo that serves 10.9.0.1.
"""
import os
import subprocess
import sys

import cases
from counters import LIMIT, LO, RDMA, RING, Counters, ends, pair, receive, \
    sysctl
from limits import await_that
from sockdiag import SMCD, SMCR, row_of

COUNT = 8
BIRD = b"canary: " * (RING // 16)       # half a ring


def seen(name):
    with open(f"/sys/module/canary/parameters/{name}", encoding="ascii") as f:
        return int(f.read())


def talk(address, want):
    """connections that fill their rings"""
    pairs = [pair(address) for _ in range(COUNT)]
    for cli, srv in pairs:
        assert row_of(cli).mode == want, "no SMC"
        for a, b in (cli, srv), (srv, cli):
            for _ in range(3):
                a.sendall(BIRD)
                receive(b, len(BIRD))
    for p in pairs:
        ends(*p)


def as_user(address, want):
    os.setgroups([])
    os.setuid(1234)
    talk(address, want)


def as_namespace(address, want):
    os.unshare(os.CLONE_NEWNET)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    talk(address, want)


def free_idle_rings():
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as f:
        f.write("2\n")


def clean(rings, work, *args):
    """what the others get is zero, and what they leave is not; rings: of each
    connection"""
    got, carried = seen("got"), seen("carried")
    cases.in_child(lambda: work(*args))
    await_that("rings stay", lambda:
               seen("carried") == carried + rings * COUNT, LIMIT)
    assert seen("got") == got + rings * COUNT, seen("got") - got
    assert not seen("dirty"), f"{seen('dirty')} rings"


def case_rdma():
    """two rings at each end; idle ones serve the next, and their memory another
    peer, which is one for each address"""
    sysctl("transports", "smcr")
    clean(4, talk, RDMA, SMCR)
    c = Counters()
    clean(4, as_user, RDMA, SMCR)
    assert c.moved()["BufReused"] == 4 * COUNT, c.moved()
    c = Counters()
    free_idle_rings()
    await_that("idle rings stay", lambda: c.moved().get("BufDestroyed") ==
               4 * COUNT, LIMIT)
    c = Counters()
    clean(4, talk, LO, SMCR)
    assert c.moved()["BufCreated"] == 4 * COUNT, c.moved()


def case_shared_memory():
    """a ring at each end, whose memory is free then"""
    sysctl("transports", "smcd")
    for work in talk, as_user, as_namespace:
        clean(2, work, LO, SMCD)


if __name__ == "__main__":
    sys.exit(cases.main(globals()))
