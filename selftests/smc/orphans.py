#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""orphans - how many closed sockets with bytes to deliver there may be

Of a peer, a user, a namespace and the host.  One more is aborted, and what others
have closed is delivered.  Over RDMA, where bytes wait at the sender.  Needs the
module, root, an RDMA port on lo that serves 10.9.0.1 and fd09::1, and no SMC sockets
of others.
"""
import contextlib
import fcntl
import select
import sys

import cases
from accounts import RDMA6, as_user, between, counters_reach, mode, rings_free, smc
from counters import LIMIT, RDMA, Counters, limits, sysctl
from sockdiag import SMCR
from traced import Traced

SIOCOUTQNSD = 0x894B


def fill(sock):
    """write until some of it waits for room in the peer's ring; how many bytes"""
    unsent, total = bytearray(4), 0
    sock.setblocking(False)
    while not int.from_bytes(unsent, sys.byteorder):
        select.select([], [sock], [], LIMIT)
        with contextlib.suppress(BlockingIOError):
            total += sock.send(bytes(65536))
        fcntl.ioctl(sock, SIOCOUTQNSD, unsent)
    return total


def orphan(ends):
    """close one end with bytes to deliver; the other, and how many it is to get"""
    cli, srv = ends
    total = fill(cli)
    cli.close()
    return srv, total


def delivered(sock, total):
    """does it get all, and the end?  It is closed then"""
    with sock:
        try:
            while data := sock.recv(65536):
                total -= len(data)
        except ConnectionError:
            return False
    assert not total, f"{total} bytes are missing"
    return True


def case_orphans():
    """the host's: bytes are left to deliver"""
    sysctl("transports", "smcr")
    cli, srv = smc(RDMA, SMCR)
    fill(cli)
    c = Counters()
    with limits(host_max_orphans=0), Traced("smc_state") as trace:
        cli.close()
        counters_reach(c, OrphanAborted=1, HostLimit=1)
        told = trace.count("event=timeout", "ORPHANED")
    assert told == 1, told
    srv.close()
    counters_reach(c, ConnDestroyed=2)


def other_smc():
    """one that has SMC with another peer, the same host by another address"""
    ends = between(RDMA6, RDMA6)
    assert mode(ends[0]) == SMCR, mode(ends[0])
    return ends


def case_orphans_of_a_peer():
    """it gets half, and what is closed for another one is delivered"""
    sysctl("transports", "smcr")
    for settings in {"max_orphans": 2}, {"max_orphans_per_peer": 1}:
        c = Counters()
        pairs = [smc(RDMA, SMCR), smc(RDMA, SMCR), other_smc()]
        with limits(**settings):
            ends = [orphan(p) for p in pairs]
            got = c.moved()
            assert got["OrphanAborted"] == got["PeerLimit"] == 1, got
            assert [delivered(*end) for end in ends] == [True, False, True]
            counters_reach(c, ConnDestroyed=6)


def case_orphans_of_a_user():
    """with whatever peer; those of others are delivered"""
    def user():
        c = Counters()
        ends = [orphan(p) for p in (smc(RDMA, SMCR), other_smc())]
        got = c.moved()
        assert got["OrphanAborted"] == got["UserLimit"] == 1, got
        assert [delivered(*end) for end in ends] == [True, False]

    sysctl("transports", "smcr")
    c = Counters()
    with limits(host_max_orphans_per_user=1):
        as_user(user)
        # root has no such limit
        ends = [orphan(smc(RDMA, SMCR)) for _ in range(2)]
        assert [delivered(*end) for end in ends] == [True, True]
        counters_reach(c, ConnDestroyed=8)


if __name__ == "__main__":
    bad = cases.main(globals(), before=rings_free)
    sysctl("transports", "smcd smcr")
    sys.exit(bad)
