#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""queues - many connections of two hosts, and the queues of an RDMA device

A server whose groups with a peer have net.smc.conns_per_queue connections each makes
another one, while the device has a completion vector for it; soft-RoCE has one for
each CPU.  Needs the module, root, an RDMA port on lo that serves 10.9.0.1 and
fd09::1, and no SMC sockets of others.
"""
import os
import sys

import cases
from accounts import RDMA6, between, mode
from counters import RDMA, Counters, await_ends, limits
from genetlink import Genl, num
from sockdiag import SMCR

SPREAD, MORE = 8, 3             # conns_per_queue, and connections beyond
LGR_R = 2                       # SMC_NETLINK_GET_LGR_SMCR
CONNS = 6                       # SMC_NLA_LGR_R_CONNS_NUM
ROLES = 2                       # a group at each end
HAS_TWO = os.cpu_count() > 1


def groups():
    return Genl("SMC_GEN_NETLINK").rows(LGR_R, 2)


def sizes():
    """connections of each group that has any"""
    return sorted(n for n in (num(g[CONNS]) for g in groups()) if n)


def connected(address, count):
    """so many connections of it with itself, which have SMC"""
    pairs = [between(address, address) for _ in range(count)]
    modes = {mode(cli) for cli, _ in pairs}
    assert modes == {SMCR}, modes
    return pairs


def close(pairs):
    for s in sum(pairs, ()):
        s.close()
    await_ends("connections")


def case_spread():
    """a group that has so many gets another one at its side, and new connections
    go where there are fewer; not with a setting of 0"""
    with limits(conns_per_queue=0):
        pairs = connected(RDMA, SPREAD + 1)
    c = Counters()
    pairs += connected(RDMA, MORE)
    want = [MORE, SPREAD + 1] if HAS_TWO else [SPREAD + 1 + MORE]
    assert sizes() == sorted(want * ROLES), sizes()
    assert c.moved().get("LgrCreated", 0) == ROLES * HAS_TWO, c.moved()
    close(pairs)


def case_no_room():
    """if it cannot be made all use the one that there is, it is not tried for each
    of them, and no idle group, those of the case before, ends for it"""
    pairs = connected(RDMA6, 1)
    c = Counters()
    with limits(max_groups=len(groups())):
        pairs += connected(RDMA6, SPREAD + MORE)
    assert sizes() == [1 + SPREAD + MORE] * ROLES, sizes()
    got = c.moved()
    assert "LgrCreated" not in got and "LgrDestroyed" not in got, got
    assert got.get("NetLimit", 0) + got.get("PeerLimit", 0) == HAS_TWO, got
    close(pairs)


if __name__ == "__main__":
    with limits(transports="smcr", conns_per_queue=SPREAD):
        bad = cases.main(globals())
    sys.exit(bad)
