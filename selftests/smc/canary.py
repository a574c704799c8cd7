#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""canary - no ring has anything of another connection in it

Connections fill their rings; then others of another user, namespace or peer get
these rings, or their memory.  The module canary (selftests/vm/planted) looks at
all of each ring that a connection gets.  Needs it, the module, root, and an RDMA
port rxe0 on lo that serves 10.9.0.1.
"""
import errno
import mmap
import os
import socket
import struct
import subprocess
import sys

import cases
from counters import LIMIT, LO, RDMA, RING, Counters, await_ends, ends, \
    free_idle_rings, pair, receive, sysctl
from limits import await_that
from namespaces import unshare
from park import PAGE, ParkedSend
from sockdiag import SMCD, SMCR, row_of

COUNT = 8
BIRD = b"canary: " * (RING // 16)       # half a ring


def seen(name):
    with open(f"/sys/module/canary/parameters/{name}", encoding="ascii") as f:
        return int(f.read())


def soil_memory():
    """What is free next has something in it.  Single pages: they come out of the
    smallest free areas, as the next rings do."""
    with open("/proc/meminfo", encoding="ascii") as f:
        free = next(int(x.split()[1]) for x in f if x.startswith("MemFree"))

    def work():
        with mmap.mmap(-1, free // 4 << 10) as m:
            m.madvise(mmap.MADV_NOHUGEPAGE)
            for at in range(0, len(m) - len(BIRD), len(BIRD)):
                m[at:at + len(BIRD)] = BIRD

    cases.in_child(work)


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
    unshare()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    talk(address, want)


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
    soil_memory()
    clean(4, talk, RDMA, SMCR)
    c = Counters()
    clean(4, as_user, RDMA, SMCR)
    assert c.moved()["BufReused"] == 4 * COUNT, c.moved()
    c = Counters()
    free_idle_rings()
    assert c.moved()["BufDestroyed"] == 4 * COUNT, c.moved()
    c = Counters()
    clean(4, talk, LO, SMCR)
    assert c.moved()["BufCreated"] == 4 * COUNT, c.moved()


def case_shared_memory():
    """a ring at each end; idle ones serve other users of the namespace"""
    sysctl("transports", "smcd")
    soil_memory()
    clean(2, talk, LO, SMCD)
    c = Counters()
    clean(2, as_user, LO, SMCD)
    assert c.moved()["BufReused"] == 2 * COUNT, c.moved()
    clean(2, as_namespace, LO, SMCD)


def abort(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                    struct.pack("ii", 1, 0))
    sock.close()


def serves_next(ones=b"", address=LO, want=SMCD):
    """a connection whose rings are zero; with the bytes that it sends, which
    its peer has not read"""
    c = Counters()
    cli, srv = pair(address)
    assert row_of(cli).mode == want and c.moved()["BufReused"] > 0, c.moved()
    cli.sendall(ones)
    assert not seen("dirty"), f"{seen('dirty')} rings"
    return cli, srv


def case_never_pushed():
    """bytes that the writer has held back until the end"""
    sysctl("transports", "smcd")
    cli, srv = pair(LO)
    cli.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
    cli.sendall(BIRD[:1000])
    abort(cli)
    srv.close()
    await_ends("connections")
    ends(*serves_next())


def case_writer_inside():
    """the reader's end is gone while a call still writes to its ring"""
    sysctl("transports", "smcd")
    sysctl("orphan_timeout_s", 1)
    # two idle rings at each end
    for p in [pair(LO), pair(LO)]:
        ends(*p)
    await_ends("connections")
    c = Counters()
    cli, srv = pair(LO)
    with ParkedSend(cli):
        abort(srv)
        await_that("the end stays",
                   lambda: c.moved().get("ConnDestroyed") == 1, LIMIT)
        ours = b"\xff" * 2 * PAGE
        cli2, srv2 = serves_next(ours)
    got = b""
    while len(got) < len(ours):
        got += srv2.recv(len(ours))
    assert got == ours, "not its own bytes"
    ends(cli2, srv2)
    cli.close()


def shut_beside(address, want):
    cli, srv = pair(address)
    assert row_of(cli).mode == want, "no SMC"
    with ParkedSend(cli) as call:
        cli.shutdown(socket.SHUT_WR)
        assert srv.recv(1) == b""
    assert (call.rc, call.errno) == (-1, errno.EPIPE), (call.rc, call.errno)
    # what was pushed meanwhile has come before the answer
    srv.sendall(b"still open")
    receive(cli, 10)
    assert srv.recv(1) == b"", "bytes after the end of file"
    ends(cli, srv)
    await_ends("connections")
    ends(*serves_next(b"", address, want))


def case_shut_beside_a_writer():
    """shutdown() while a call still copies: the peer has read the end of file, so
    the call fails, and its bytes are neither sent nor left in the ring"""
    for way, address, want in ("smcd", LO, SMCD), ("smcr", RDMA, SMCR):
        sysctl("transports", way)
        shut_beside(address, want)


if __name__ == "__main__":
    sys.exit(cases.main(globals()))
