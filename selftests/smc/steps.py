#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""steps - what one request does where there are many link groups, namespaces or
peers without a link

Counts calls of functions of the module and the kernel, with probes.  The
groups are made by peers behind a TAP device.  Needs the module, root, kprobe
events, the device clc0 and the RDMA port clcrxe on it, and no SMC sockets of
others.
"""
import contextlib
import ctypes
import itertools
import os
import re
import socket
import subprocess
import sys

import cases
from accounts import Proposer, counters_reach
from clcmsg import End, accept_r, decline
from counters import LIMIT, LO, Counters, limits, pair, smc_socket, sysctl
from genetlink import Genl, attrs_of, num
from limits import await_that
from smcpeer import CONFIRM_LINK, FIRST, HONEST, Peer

TRACING = "/sys/kernel/tracing/"
LGR_R = 2                       # SMC_NETLINK_GET_LGR_SMCR
NO_CONFIRM_LINK = 0x02010000    # SMC_REASON_TIMEOUT_CL
OUT_OF_STEP = 0x04000000
HOSTS = range(11, 15)           # last bytes of addresses
FILTERED = "10.99.0.20"         # where RoCE does not pass
FEW = 16                        # the least that a group may have
CLONE_NEWNET = 0x40000000
ROLES = 2                       # a group of shared memory for each
LONG = os.environ.get("STEPS_LONG")     # minutes


def put(name, text):
    """what is there already stays"""
    file = os.open(TRACING + name, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)


@contextlib.contextmanager
def calls_of(function, where="smc:"):
    """how often it has been called; where: "" for a function of the kernel"""
    try:
        put("kprobe_events", f"p:steps/{function} {where}{function}\n")
    except FileNotFoundError as e:
        raise cases.Skip(f"no kprobe events: {e}") from e

    def count():
        with open(TRACING + "kprobe_profile", encoding="ascii") as f:
            return next(int(hits) for name, hits, _ in map(str.split, f)
                        if name == function)

    try:
        put(f"events/steps/{function}/enable", "1")
        yield count
    finally:
        put(f"events/steps/{function}/enable", "0")
        put("kprobe_events", f"-:steps/{function}\n")


@contextlib.contextmanager
def groups(count):
    """so many with each of HOSTS, whose handshakes wait for a Confirm"""
    c = Counters()
    held = [tcp for host in HOSTS
            for tcp in proposer.accepted(count, f"10.99.0.{host}")]
    try:
        yield
    finally:
        for tcp in held:
            tcp.rst()
        counters_reach(c, LgrDestroyed=c.moved()["LgrCreated"])


def case_path_fails():
    """a client says that no link came up: another of its groups would show that
    the path works, those of other hosts are not looked at"""
    c = Counters()
    peer = Peer(proposer.net, host=5, port=7602, up=False)
    with groups(8), calls_of("reaches") as count:
        peer.contact()
        peer.tcp.send(accept_r(peer.args, 3, True, peer.conn.end))
        peer.llc(CONFIRM_LINK)
        peer.tcp.send(decline(NO_CONFIRM_LINK))
        peer.accept().close()
        print("#", count(), "groups looked at", flush=True)
        # its own; another host may have the same hash
        assert 1 <= count() <= 1 + 8, count()
        peer.leave()
    counters_reach(c, LgrDestroyed=c.moved()["LgrCreated"])


class Nobody(End):
    """a queue pair that no Peer has"""
    qpn = End.qpn + 1


def case_many_paths_fail():
    """a server knows of each of its clients that no link came up, but for those
    that share a place of the table with four others"""
    # of 320 a table with 512 places forgets about twenty; they take minutes
    count = 320 if LONG else 16
    c = Counters()
    first = proposer.number
    with limits(fallback_memory_s=int(10 * LIMIT)):
        for n in range(count):
            tcp, why = proposer.propose(FILTERED)
            assert why is None, hex(why)
            tcp.send(accept_r(proposer.args, 3, True, Nobody) +
                     decline(NO_CONFIRM_LINK))
            proposer.lst.accept()[0].close()
            tcp.rst()
            counters_reach(c, LgrDestroyed=n + 1)
        assert "HsNoLink" not in c.moved(), c.moved()
        proposer.number = first
        for _ in range(count):
            tcp, why = proposer.propose(FILTERED)
            if why is not None:
                proposer.lst.accept()[0].close()
            tcp.rst()
    got = c.moved()
    print("#", got.get("HsNoLink"), "of", count, "are known", flush=True)
    counters_reach(c, LgrDestroyed=got["LgrCreated"])
    assert got.get("HsNoLink", 0) >= count - 2, got


def case_other_names():
    """a peer proposes under a name of its own each time: the groups that it has
    are not looked at"""
    with calls_of("lgr_match") as count, groups(8):
        for host in HOSTS:
            for tcp in proposer.accepted(1, f"10.99.0.{host}"):
                tcp.rst()
        print("#", count(), "groups looked at", flush=True)
        # one may have the same hash
        assert count() <= 9 * len(HOSTS), count()


class Small(Peer):
    """its groups have few connections"""
    def new_end(self, qpn=None):
        end = super().new_end(qpn)
        end.max_conns = FEW
        return end


def case_full_groups():
    """of one name: no search meets them, until one has a place again"""
    c = Counters()
    peers = []
    with calls_of("lgr_match") as count:
        for n in range(8):
            before = count()
            peers.append(Small(proposer.net, ring=0x4000, host=7,
                               port=7610 + n, answers=HONEST))
            steps = count() - before
            for _ in range(FEW - 1):
                assert peers[-1].another()
        print("#", steps, "groups looked at", flush=True)
        assert steps == 0, steps
    first = peers[0]
    first.conn.close()
    counters_reach(c, ConnDestroyed=1)
    assert first.another(), "the place was not found"
    assert c.moved()["LgrCreated"] == len(peers), c.moved()
    for peer in peers:
        peer.leave()
    counters_reach(c, LgrDestroyed=len(peers))


def case_closed_group():
    """which no connection joins: it is not in the way of a search"""
    c = Counters()
    peer = Peer(proposer.net, host=6, port=7601, answers=HONEST)
    with calls_of("lgr_match") as count:
        for first in 0, FIRST:
            before = count()
            tcp, acc = peer.proposed()
            assert acc and acc[7] & FIRST == first, acc
            print("#", count() - before, "groups looked at", flush=True)
            # searched once more before a new group is made
            assert first or count() - before == 1, count()
            if first:
                assert count() == before, count() - before
            else:
                tcp.send(decline(OUT_OF_STEP, True))
                peer.lst.accept()[0].close()
            tcp.rst()
        peer.round()
    peer.leave()
    counters_reach(c, LgrDestroyed=c.moved()["LgrCreated"])


def case_long_dump():
    """the next message goes on where the one before has ended"""
    count = 15
    with groups(count), calls_of("dump_group") as calls:
        g = Genl("SMC_GEN_NETLINK", 4096)
        ids = {num(r[1]) for r in g.rows(LGR_R, 2)}
        print("#", calls(), "steps for", len(ids), "groups", flush=True)
        assert len(ids) >= count * len(HOSTS), len(ids)
        # one more for each message
        assert len(ids) <= calls() < len(ids) * 3 // 2, calls()


def make_groups():
    """one of either role in this namespace"""
    c = Counters()
    for s in pair(LO):
        s.close()
    counters_reach(c, LgrCreated=ROLES, ConnDestroyed=2)


@contextlib.contextmanager
def namespaces(count, use):
    """so many, with use() called in each; all end together"""
    libc = ctypes.CDLL(None, use_errno=True)
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    held = []
    try:
        for _ in range(count):
            assert libc.unshare(CLONE_NEWNET) == 0
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
            use()
            held.append(os.open("/proc/self/ns/net", os.O_RDONLY))
        assert libc.setns(home, 0) == 0
        yield
    finally:
        libc.setns(home, 0)
        for file in (*held, home):
            os.close(file)


def case_namespaces():
    """of several that end together the groups end before any is waited for"""
    def events():
        with open(TRACING + "trace", encoding="ascii") as f:
            return re.findall(r": (smc_lgr_\w+): \(", f.read())

    count = 8
    # the end of each group; a namespace waits for its groups
    with calls_of("smc_lgr_settle"), calls_of("smc_lgr_net_exit") as exits:
        with namespaces(count, make_groups):
            with open(TRACING + "trace", "w", encoding="ascii"):
                pass                    # clears it
        await_that("namespaces stay", lambda: exits() == count, LIMIT)
        got = events()
    ends = [len(list(run)) for what, run in itertools.groupby(got)
            if what == "smc_lgr_settle"]
    print("# groups that end before a namespace waits:", ends, flush=True)
    assert sum(ends) == ROLES * count, ends
    # the kernel may take the first one alone
    assert max(ends) > ROLES, ends


def use_tcp():
    """a connection of sockets that are not ours"""
    with socket.create_server((LO, 0)) as lst:
        socket.create_connection(lst.getsockname(), LIMIT).close()


def use_smc():
    smc_socket().close()


def case_queues():
    """a namespace without a socket of ours has no work queues"""
    count = 8
    made = []
    with calls_of("alloc_workqueue", "") as calls:
        for use in use_tcp, use_smc:
            before = calls()
            with namespaces(count, use):
                made.append(calls() - before)
    print("# queues of", count, "without and with:", made, flush=True)
    assert made[0] == 0 and made[1] >= count, made


if __name__ == "__main__":
    sysctl("fallback_memory_s", 60)
    proposer = Proposer()
    bad = cases.main(globals())
    proposer.lst.close()
    sys.exit(bad)
