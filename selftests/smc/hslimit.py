#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""hslimit - handshakes that do not end take SMC from no other peer

Two network namespaces, each with a /32 of IPv6 addresses and a /16 of IPv4.  The
Proposals for one port are dropped on the way: handshakes with it stay as they
are, at both ends.  Beside them connections of others are made, over SMC-D.  Then
the sockets are closed, which takes no time.  Needs the module and root.
"""
import contextlib
import os
import socket
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import cases
from counters import Counters, await_ends, sysctl
from genetlink import fallbacks
from limits import await_that, limit
from namespaces import enter, libc
from park import Parked
from sockdiag import PROTO_SMC, SMCD, TCP, fallback, row_of
from traced import Traced

HOME, AWAY = "home", "away"             # namespaces
NET = {HOME: "fd77:0:", AWAY: "fd78:0:"}         # /32: then network, subnet, host
NET4 = {HOME: "10.77.", AWAY: "10.78."}         # /16
SILENT, HONEST, BLACK_HOLE, BUSY, MUTE = 7700, 7710, 7720, 7730, 7740
MANY = 1100
NETWORKS = 50
BACKLOG, CLIENTS = 8, 500
LOOKED = 4097                           # places where a failed child is looked for
TCP_INFO_UNACKED, TCP_INFO_RTT = 24, 68 # of a listener: children in its queue
MOST = 1024                             # handshakes of a role
NO_MESSAGE, HSLIMIT = 0x0a010000, 0x0a0a0000    # SMC_REASON_SILENT, HSLIMIT
LIMIT = limit(60)
ROUND_TRIP = 0.9                        # seconds; a SYN-ACK is repeated after one
AT_ONCE = limit(5)                      # a SYN is repeated for minutes
SPAN_MS = 3600                          # 200 ms times 4 < this < 8 ROUND_TRIP


def run(*words):
    subprocess.run(words, check=True)


def reached(ns, address):
    return subprocess.run(["ip", "netns", "exec", ns, "ping", "-nqc1", "-W1",
                           address], stdout=subprocess.DEVNULL,
                          check=False).returncode == 0


def up():
    for ns in HOME, AWAY:
        run("ip", "netns", "add", ns)
    run("ip", "-n", HOME, "link", "add", "eth0", "type", "veth", "peer", "name",
        "eth0", "netns", AWAY)
    for ns, other, n in (HOME, AWAY, 1), (AWAY, HOME, 2):
        ip = ["ip", "-n", ns]
        run(*ip, "link", "set", "lo", "up")
        run(*ip, "address", "add", f"fd79::{n}/64", "dev", "eth0", "nodad")
        run(*ip, "address", "add", f"10.79.0.{n}/24", "dev", "eth0")
        run(*ip, "link", "set", "eth0", "up")
        run(*ip, "-6", "route", "add", "local", NET[ns] + ":/32", "dev", "lo")
        run(*ip, "-6", "route", "add", NET[other] + ":/32",
            "via", f"fd79::{3 - n}")
        run(*ip, "route", "add", "local", NET4[ns] + "0.0/16", "dev", "lo")
        run(*ip, "route", "add", NET4[other] + "0.0/16",
            "via", f"10.79.0.{3 - n}")
        enter(ns)
        sysctl("handshake_timeout_ms", 60000)
        sysctl("fallback_memory_s", 0)
        run("sysctl", "-q", "net.ipv6.ip_nonlocal_bind=1")
        run("nft", f"""add table inet smctest
            add chain inet smctest in {{ type filter hook input priority 0; }}
            add rule inet smctest in tcp dport {SILENT} tcp flags & psh == psh drop
            add rule inet smctest in tcp dport {BLACK_HOLE} drop
            add chain inet smctest later {{ type filter hook input priority 0; }}
            add rule inet smctest in ip6 nexthdr tcp tcp dport {BUSY} tcp flags & psh == psh drop
            add rule inet smctest in ip6 nexthdr tcp tcp sport {MUTE} tcp flags & psh == psh drop
            """)
    # a connect() before the neighbour has answered may fail for good
    for ns, n in (AWAY, 1), (HOME, 2):
        for address in f"fd79::{n}", f"10.79.0.{n}":
            await_that(f"{ns} does not reach {address}",
                       lambda at=(ns, address): reached(*at), LIMIT)


def smc_socket(family=socket.AF_INET6):
    s = socket.socket(family, socket.SOCK_STREAM, PROTO_SMC)
    s.settimeout(LIMIT)
    return s


def listener(port, backlog=4096):
    s = smc_socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("::", port))
    s.listen(backlog)
    return s


def counted(ns):
    enter(ns)
    return Counters()


def moved(ns, c, name):
    enter(ns)
    return c.moved().get(name, 0)


def begun(source, target):
    """connect() has begun"""
    s = smc_socket(family_of(source))
    s.bind((source, 0))
    s.setblocking(False)
    try:
        s.connect(target)
    except BlockingIOError:
        pass
    return s


class Crowd:
    """@count clients in @ns, from the first addresses to the second in turn, at
    the silent port of the other namespace, or of this one"""
    def __init__(self, ns, count, sources, targets, to=None):
        self.ns, self.other = ns, to or other_of(ns)
        self.server = counted(self.other)
        self.lst = listener(SILENT)
        self.client = counted(ns)
        self.socks = []
        for i in range(count):
            self.socks.append(begun(sources(i), (targets(i), SILENT)))
        # those that are offered SMC
        await_that("the crowd does not come", self.is_there, LIMIT)

    def is_there(self):
        begun = moved(self.ns, self.client, "HsStarted")
        plain = self.client.moved().get("HsClientTcp", 0)
        # on one host both ends count, and what is sent arrives at once
        return begun + plain >= len(self.socks) and \
            moved(self.other, self.server, "HsStarted") >= begun

    def taken(self):
        """handshakes of the server that are not over the limit"""
        enter(self.other)
        got = self.server.moved()
        left = got["HsStarted"] - got.get("HsLimit", 0)
        print(f"# {left} handshakes of servers", flush=True)
        return left

    def left(self):
        """handshakes of both ends that have not ended"""
        count = 0
        for ns, c in {self.ns: self.client, self.other: self.server}.items():
            enter(ns)
            got = c.moved()
            count += got["HsStarted"] - got.get("HsEnded", 0)
        return count

    def close(self):
        """no close() waits until handshakes are over, and nothing is left"""
        for what, socks in ("clients", self.socks), ("the listener", [self.lst]):
            left, late = self.left(), too_late()
            slow = max(took(s.close) for s in socks)
            late = too_late() - late
            print(f"# close() of {what}: {slow * 1000:.0f} ms, {late} of {left} "
                  "handshakes end by their deadline", flush=True)
            # some may while a busy host is at it, and all do if it waits
            assert late <= left // 2 and slow < AT_ONCE
        for ns, c in (self.ns, self.client), (self.other, self.server):
            await_that(f"handshakes stay in {ns}", lambda ns=ns, c=c: moved(
                ns, c, "HsStarted") == moved(ns, c, "HsEnded"), LIMIT)


def too_late():
    """handshakes that have ended by their deadline"""
    count = 0
    for ns in HOME, AWAY:
        enter(ns)
        count += fallbacks(NO_MESSAGE)
    return count


def took(fn):
    start = time.monotonic()
    fn()
    return time.monotonic() - start


def other_of(ns):
    return AWAY if ns == HOME else HOME


def family_of(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def honest(ns, source, target=None):
    """a connection from @ns to the other namespace"""
    other = other_of(ns)
    enter(other)
    lst = listener(HONEST)
    enter(ns)
    if not target:
        target = NET[other] + "ffff::1" if ":" in source else \
            "10.79.0." + "21"[other == HOME]
    cli = smc_socket(family_of(source))
    cli.bind((source, 0))
    cli.connect((target, HONEST))
    srv = lst.accept()[0]
    # of the namespace that the socket is in
    for at, s in (ns, cli), (other, srv):
        enter(at)
        assert row_of(s).mode == SMCD, f"{source} to {target}: no SMC"
    for s in cli, srv, lst:
        s.close()


def from_net6(ns, networks, subnets, hosts):
    """addresses of so many networks of 48 bits, each with so many subnets of 64"""
    return lambda i: f"{NET[ns]}{i % networks:x}:{i % subnets:x}" \
        f"::{i % hosts + 1:x}"


def from_net4(ns, networks, hosts):
    """addresses of so many networks of 24 bits"""
    return lambda i: f"{NET4[ns]}{i % networks}.{i % hosts + 1}"


def case_address():
    """a host that uses one address has half of what its /64 may have, and that
    has half of what its /48 may have: its neighbours have SMC, too"""
    crowd = Crowd(AWAY, 300, from_net6(AWAY, 1, 1, 1),
                  from_net6(HOME, 20, 20, 20))
    try:
        assert crowd.taken() == MOST // 8
        # a crowd of 300 in 20 networks is none for its own side
        assert moved(AWAY, crowd.client, "HsLimit") == 0
        honest(AWAY, NET[AWAY] + "0:0::2")
        honest(AWAY, NET[AWAY] + "0:1::1")
        honest(AWAY, "10.79.0.2")
    finally:
        crowd.close()


def case_network():
    """a host uses as many addresses of its /64 as it likes"""
    crowd = Crowd(AWAY, 300, from_net6(AWAY, 1, 1, 300),
                  from_net6(HOME, 20, 20, 20))
    try:
        assert MOST // 8 < crowd.taken() <= MOST // 4
        honest(AWAY, NET[AWAY] + "0:1::1")
        honest(AWAY, "10.79.0.2")
    finally:
        crowd.close()


def case_sites():
    """nor do many subnets of one /48 crowd others out"""
    crowd = Crowd(AWAY, MANY, from_net6(AWAY, 1, MANY, MANY),
                  from_net6(HOME, NETWORKS, NETWORKS, NETWORKS))
    try:
        assert crowd.taken() <= MOST // 2
        for net in range(1, 9):
            honest(AWAY, f"{NET[AWAY]}{net}::1")
        honest(AWAY, "10.79.0.2")
    finally:
        crowd.close()


def case_ipv4():
    """of IPv4 a network has 24 bits: two dozen hosts of one, each with as many as
    it gets, and one more of it as well as all others have SMC"""
    crowd = Crowd(AWAY, MANY, from_net4(AWAY, 1, 24),
                  from_net4(HOME, NETWORKS, NETWORKS))
    try:
        assert crowd.taken() <= MOST // 2
        honest(AWAY, NET4[AWAY] + "0.100")
        honest(AWAY, "10.79.0.2")
    finally:
        crowd.close()


def case_this_host():
    """a program connects from and to as many addresses of 127.0.0.0/8 as it likes:
    these are one network, and all others have SMC"""
    crowd = Crowd(HOME, MANY, lambda i: f"127.1.{i // 200}.{i % 200 + 1}",
                  lambda i: f"127.2.{i // 200}.{i % 200 + 1}", HOME)
    try:
        assert moved(HOME, crowd.server, "HsLimit") > 0
        honest(HOME, "10.79.0.1")
        honest(AWAY, "10.79.0.2")
    finally:
        crowd.close()


def case_black_hole():
    """what does not answer a SYN takes no handshake: all others have SMC"""
    source, target = NET[HOME] + "0::1", NET[AWAY] + "0::1"
    c = counted(HOME)
    socks = [begun(source, (target, BLACK_HOLE)) for _ in range(MANY)]
    try:
        for at in HOME, AWAY:
            honest(at, NET[at] + "0::2")
            honest(at, "10.79.0." + "12"[at == AWAY])
        enter(HOME)
        got = c.moved()
        # the two ends of the honest ones
        assert got["HsStarted"] == 4 and "HsLimit" not in got, got
    finally:
        slowest = max(took(s.close) for s in socks)
    print(f"# close(): {slowest * 1000:.0f} ms", flush=True)
    assert slowest < AT_ONCE
    enter(HOME)
    await_ends("sockets", c.moved, LIMIT)


def deadline_ms():
    return int(1000 * min(limit(3), 60))


def case_connecting_again():
    """nor does a client that was reset and connects again without SMC, however long
    the server does not answer that: its other clients have SMC"""
    target = NET[AWAY] + "0::1"
    crowd = Crowd(HOME, 300, from_net6(HOME, 20, 20, 20), lambda i: target)

    def all_again():
        enter(HOME)
        got = crowd.client.moved()
        return got.get("HsReconnect", 0) == \
            got["HsStarted"] - got.get("HsEnded", 0)

    try:
        enter(AWAY)
        run("nft", f"add rule inet smctest later tcp dport {SILENT} drop")
        crowd.lst.close()
        await_that("they do not connect again", all_again, LIMIT)
        assert moved(HOME, crowd.client, "HsReconnect") >= MOST // 8
        honest(HOME, NET[HOME] + "ffff::1", target)
    finally:
        enter(AWAY)
        run("nft", "flush chain inet smctest later")
        crowd.close()


def case_owned_for_ever():
    """nor does one whose socket a program owns for ever, when its time is over"""
    source, target = "10.79.0.1", "10.79.0.2"
    enter(AWAY)
    lst = listener(SILENT)
    client = counted(HOME)
    sysctl("handshake_timeout_ms", deadline_ms())

    def has_room():
        before = moved(HOME, client, "HsStarted")
        limited = moved(HOME, client, "HsLimit")
        with begun(source, (target, SILENT)):
            await_that("it does not begin", lambda: moved(
                HOME, client, "HsStarted") > before, LIMIT)
        return moved(HOME, client, "HsLimit") == limited

    with contextlib.ExitStack() as stack:
        for n in range(MOST // 8):      # each begins before it is owned
            s = stack.enter_context(begun(source, (target, SILENT)))
            await_that("it does not begin", lambda n=n: moved(
                HOME, client, "HsStarted") > n, LIMIT)
            stack.enter_context(Parked(s))
        await_that("they keep their places", has_room, LIMIT)
        # from elsewhere: the server has not seen how they end
        honest(HOME, NET4[HOME] + "0.100", target)
    lst.close()
    enter(HOME)
    sysctl("handshake_timeout_ms", 60000)
    await_ends("sockets", client.moved, LIMIT)


def abort(s):
    """close(), and the peer is reset"""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def listen_drops():
    """of the namespace: SYNs and ACKs for which the queue had no room"""
    with open("/proc/thread-self/net/netstat", encoding="ascii") as f:
        names, values = [x.split() for x in f if x.startswith("TcpExt:")]
    return int(values[names.index("ListenDrops")])


def accept_until(lst, address):
    """from then on somebody accepts: the connection from there; the others are
    closed"""
    while True:
        srv, peer = lst.accept()
        if peer[0] == address:
            return srv
        srv.close()


def case_backlog():
    """nobody accepts: there are no more children than the queue of the listener
    holds, however many silent clients come; and as soon as somebody does, an
    honest one gets through"""
    lst, server = None, counted(HOME)
    sysctl("handshake_timeout_ms", int(limit(300)))
    # a child made from a SYN cookie is plain TCP
    run("sysctl", "-q", "net.ipv4.tcp_syncookies=0")
    try:
        lst = listener(BUSY, BACKLOG)
        drops = listen_drops()
        enter(AWAY)
        source = from_net6(AWAY, NETWORKS, NETWORKS, CLIENTS)
        socks = [begun(source(i), (NET[HOME] + "0::1", BUSY))
                 for i in range(CLIENTS)]
        enter(HOME)
        await_that("the queue is not full",
                   lambda: listen_drops() > drops + 2 * CLIENTS, LIMIT)
        got = server.moved()
        print(f"# {got}", flush=True)
        # TCP's queue has one more than was asked for
        assert got["HsStarted"] == BACKLOG + 1, got
        # and the listener itself
        assert got["SockCreated"] == BACKLOG + 2, got
        enter(AWAY)
        with ThreadPoolExecutor(1) as pool:
            srv = pool.submit(accept_until, lst, "::ffff:10.79.0.2")
            cli = smc_socket(socket.AF_INET)
            cli.connect(("10.79.0.1", BUSY))
            srv = srv.result()
        # TCP or not, as there was room when it came
        cli.sendall(b"x")
        assert srv.recv(1) == b"x"
        # what the queue has dropped would go on trying as TCP's orphans
        for s in socks:
            abort(s)
        for s in cli, srv, lst:
            s.close()
        await_that("something stays", lambda: all(
            moved(HOME, server, a) == moved(HOME, server, b)
            for a, b in (("SockCreated", "SockDestroyed"),
                         ("HsStarted", "HsEnded"))), LIMIT)
    finally:
        enter(HOME)
        sysctl("handshake_timeout_ms", 60000)


def canonical(address):
    return socket.inet_ntop(socket.AF_INET6,
                            socket.inet_pton(socket.AF_INET6, address))


def some_sources(count):
    """addresses of AWAY, as getpeername() has them"""
    return [canonical(f"{NET[AWAY]}{i:x}::1") for i in range(count)]


def silent_clients(port, count):
    """sockets of AWAY that TCP connects, one after the other, and that say nothing,
    or nothing behind the Proposal; in HOME from then on"""
    c = counted(HOME)
    socks = []
    for source in some_sources(count):
        enter(AWAY)
        socks.append(begun(source, (NET[HOME] + "0::1", port)))
        enter(HOME)
        await_that("they do not come", lambda: c.moved().get("HsStarted") ==
                   len(socks), LIMIT)
    return socks


def case_half_full():
    """where silent clients take half of the queue the next ones are accepted
    before them, as plain TCP"""
    enter(HOME)
    # the most that it may be
    sysctl("handshake_timeout_ms", int(1000 * min(limit(16), 60)))
    crowded = BACKLOG // 2 - 1
    try:
        with listener(BUSY, BACKLOG) as lst:
            socks = silent_clients(BUSY, BACKLOG)
            got = [lst.accept() for _ in range(crowded)]
            for s in *(srv for srv, _ in got), *socks:
                s.close()
        assert {peer[0] for _, peer in got} == \
            set(some_sources(BACKLOG)[-crowded:]), got
    finally:
        sysctl("handshake_timeout_ms", 60000)


def case_last_places():
    """a silent client with one of the last places of the queue is accepted at once:
    before those that came earlier and have other places"""
    backlog = 2 * BACKLOG
    at_once = set(some_sources(backlog + 1)[backlog - backlog // 8:])
    seen = set()
    try:
        with listener(BUSY, backlog) as lst:
            socks = silent_clients(BUSY, backlog + 1)
            accept_all(lst, at_once, seen)
            for s in socks:
                s.close()
        assert seen == at_once, seen - at_once
    finally:
        enter(HOME)


def accept_all(lst, addresses, seen):
    """until connections from all of these have been accepted; seen: whatever came"""
    while not addresses <= seen:
        srv, peer = lst.accept()
        seen.add(peer[0])
        srv.close()


def case_proposal_then_silence():
    """clients that propose SMC and never confirm it fill the queue: the last quarter
    is plain TCP at once, so that others get in; and the quarter before is reset
    soon.  All that while the first half waits for a Confirm"""
    half, most = BACKLOG // 2 + 1, BACKLOG - BACKLOG // 4 + 1
    mute = some_sources(BACKLOG + 1)
    server = counted(HOME)

    def still_waiting():
        enter(HOME)
        got = server.moved()
        return got["HsStarted"] - got.get("HsEnded", 0)

    # a quarter of it is enough for an honest one
    sysctl("handshake_timeout_ms", int(1000 * min(limit(16), 60)))
    try:
        with listener(MUTE, BACKLOG) as lst, ThreadPoolExecutor(1) as pool, \
                Traced("smc_hs_step") as trace:
            socks = silent_clients(MUTE, BACKLOG + 1)
            seen = set()
            accept_all(lst, set(mute[most:]), seen)
            assert seen == set(mute[most:]), seen
            enter(AWAY)
            socket.create_connection(("10.79.0.1", MUTE), LIMIT).close()
            accept_all(lst, {"::ffff:10.79.0.2"}, seen)
            assert still_waiting() >= half, "it had to wait for them"
            # their clients connect again, as plain TCP
            accept_all(lst, set(mute[half:most]), seen)
            assert waiting(lst) == half == still_waiting(), waiting(lst)
            assert trace.count("step=confirm", "NOCONFIRM") == most - half
            assert not seen & set(mute[:half]), seen
            # in a queue that is half full an honest one has SMC
            enter(AWAY)
            cli = smc_socket(socket.AF_INET)
            srv = pool.submit(lst.accept)
            cli.connect(("10.79.0.1", MUTE))
            srv = srv.result()[0]
            enter(HOME)
            assert row_of(srv).mode == SMCD, "no SMC"
            assert still_waiting() == half, "they were gone"
            for s in cli, srv, *socks:
                s.close()
        await_ends("handshakes", server.moved, LIMIT)
    finally:
        enter(HOME)
        sysctl("handshake_timeout_ms", 60000)


def speak_first(lst):
    srv = lst.accept()[0]
    srv.sendall(b"x")
    return srv


def case_over_the_limit():
    """a silent client over the limit is accepted, as plain TCP, long before the
    deadline of the others; and one that proposes is declined before a server that
    speaks first does so"""
    sources = from_net6(AWAY, 1, 1, 1)
    crowd = Crowd(AWAY, 300, sources, from_net6(HOME, 20, 20, 20))
    try:
        taken = crowd.taken()
        accepted = [crowd.lst.accept()[0] for _ in range(300 - taken)]
        crowd.socks += accepted
        enter(HOME)
        got = crowd.server.moved()
        assert got["HsStarted"] - got["HsEnded"] == taken, got
        assert {fallback(s) for s in accepted} == {HSLIMIT}
        with listener(HONEST) as lst, ThreadPoolExecutor(1) as pool:
            srv = pool.submit(speak_first, lst)
            enter(AWAY)
            cli = smc_socket()
            cli.bind((sources(0), 0))
            cli.connect((NET[HOME] + "ffff::1", HONEST))
            assert cli.recv(1) == b"x" and row_of(cli).mode == TCP
            srv.result().close()
            cli.close()
        assert moved(AWAY, crowd.client, "HsReconnect") == 0, "it was reset"
    finally:
        crowd.close()


def tcp_info(sock):
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)


def waiting(lst):
    return struct.unpack_from("=I", tcp_info(lst), TCP_INFO_UNACKED)[0]


def failed_child(lst, source):
    """the client of a new child resets it in the middle of the handshake; what is
    in the queue then"""
    before, c = waiting(lst), counted(HOME)
    enter(AWAY)
    s = begun(source, (NET[HOME] + "0::1", BUSY))
    enter(HOME)
    await_that("it does not come", lambda: waiting(lst) > before and
               c.moved().get("HsStarted") == 1, LIMIT)
    abort(s)
    # in the queue or not: it has no context any more
    await_that("it does not fail",
               lambda: c.moved().get("SockDestroyed") == 1, LIMIT)
    return waiting(lst)


def case_long_queue():
    """nobody accepts, and the queue is longer than it can be by default: a child
    that fails is not looked for in all of it, and accept() returns it as TCP does
    what was reset; before so many places it is taken out"""
    enter(HOME)
    await_ends("sockets", seconds=LIMIT)
    run("sysctl", "-q", f"net.core.somaxconn={2 * LOOKED}")
    try:
        with listener(BUSY, 2 * LOOKED) as lst:
            enter(AWAY)
            for _ in range(LOOKED):
                s = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
                s.settimeout(LIMIT)
                s.connect((NET[HOME] + "0::1", BUSY))
                abort(s)
            enter(HOME)
            await_that("not in the queue", lambda: waiting(lst) == LOOKED, LIMIT)
            far = NET[AWAY] + "1::1"
            assert failed_child(lst, far) == LOOKED + 1, "looked for in all of it"
            lst.accept()[0].close()
            lst.accept()[0].close()
            left = failed_child(lst, NET[AWAY] + "2::1")
            assert left == LOOKED - 1, f"{left} in the queue"
            for _ in range(LOOKED - 2):
                lst.accept()[0].close()
            srv, peer = lst.accept()
            with srv:
                assert peer[0] == canonical(far), peer
                try:
                    raise AssertionError(f"not reset: {srv.recv(1)}")
                except ConnectionResetError:
                    pass
            assert waiting(lst) == 0
    finally:
        run("sysctl", "-q", "net.core.somaxconn=4096")


def case_slow_path():
    """a client that acknowledges late chooses the round trip, and not for how long
    accept() waits for it: one of this host that comes later and has a longer
    deadline is accepted later"""
    enter(HOME)
    sysctl("handshake_timeout_ms", 200)
    run("tc", "-n", AWAY, "qdisc", "add", "dev", "eth0", "root", "netem",
        "delay", f"{ROUND_TRIP * 1000:.0f}ms")
    try:
        with listener(SILENT) as lst:
            socks = silent_clients(SILENT, 1)
            sysctl("handshake_timeout_ms", SPAN_MS)
            socks.append(begun(NET[HOME] + "1::1", (NET[HOME] + "0::1", SILENT)))
            srv, peer = lst.accept()
            rtt, = struct.unpack_from("=I", tcp_info(srv), TCP_INFO_RTT)
            print(f"# accept(): {peer[0]}, {rtt} us", flush=True)
            for s in srv, *socks:
                s.close()
        assert peer[0] == some_sources(1)[0], "the other one"
        assert rtt > ROUND_TRIP * 900000, "it has not been measured"
    finally:
        run("tc", "-n", AWAY, "qdisc", "delete", "dev", "eth0", "root")
        enter(HOME)
        sysctl("handshake_timeout_ms", 60000)


@contextlib.contextmanager
def remembering():
    """AWAY has a listener that is silent, and HOME remembers that"""
    other = counted(AWAY)
    lst = listener(SILENT)
    enter(HOME)
    sysctl("fallback_memory_s", 600)
    sysctl("handshake_timeout_ms", 200)
    try:
        yield
        lst.close()
        enter(AWAY)
        await_ends("sockets", other.moved, LIMIT)
    finally:
        enter(HOME)
        sysctl("fallback_memory_s", 0)
        sysctl("handshake_timeout_ms", 60000)


def case_memory_of_users():
    """what a server did at the connect of a user is remembered for that user: the
    next one is plain TCP at once, that of another user offers SMC"""
    with remembering():
        c = Counters()
        for remembered, uid in enumerate((0, 0, 1000)):
            os.seteuid(uid)
            try:
                s = smc_socket()
                s.connect((NET[AWAY] + "0::1", SILENT))
            finally:
                os.seteuid(0)
            s.close()
            got = c.moved()
            assert got.get("HsRemembered", 0) == min(remembered, 1), got


def connect_in6(s, address, scope):
    """connect() with a struct sockaddr_in6; the scope may be missing or a part"""
    name = struct.pack("=HHI16s", socket.AF_INET6, socket.htons(SILENT), 0,
                       socket.inet_pton(socket.AF_INET6, address))
    if isinstance(scope, int):
        scope = struct.pack("=I", scope)
    name += scope or b""
    s.setblocking(True)
    assert not libc.connect(s.fileno(), name, len(name)), "connect()"


def case_memory_of_scopes():
    """the scope of an address counts if it is link-local, and the scope there"""
    for ns, n in (HOME, 1), (AWAY, 2), (AWAY, 3):
        run("ip", "-n", ns, "address", "add", f"fe80::79:{n}/64", "dev", "eth0",
            "nodad")
    enter(HOME)
    dev = socket.if_nametoindex("eth0")
    with remembering():
        for address, scopes in ((NET[AWAY] + "5::1", (dev, None, 0, 5)),
                                ("fe80::79:2", (dev, None, 0)),
                                ("fe80::79:3", (None, dev, b"\7\7"))):
            c = Counters()
            for remembered, scope in enumerate(scopes):
                with smc_socket() as s:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE,
                                 b"eth0")
                    connect_in6(s, address, scope)
                got = c.moved()
                assert got.get("HsRemembered", 0) == remembered, \
                    (address, scope, got)


def crowded(ns):
    other = other_of(ns)
    crowd = Crowd(ns, MANY, from_net6(ns, NETWORKS, NETWORKS, MANY),
                  from_net6(other, NETWORKS, NETWORKS, NETWORKS))
    try:
        assert crowd.taken() > MOST // 2
        enter(ns)
        got = crowd.client.moved()
        left = got["HsStarted"] - got.get("HsEnded", 0)
        print(f"# {left} handshakes of clients", flush=True)
        assert left > MOST * 3 // 4
        # both are clients and servers
        for at in HOME, AWAY:
            honest(at, NET[at] + "ffff::1")
    finally:
        crowd.close()


def case_clients():
    """programs of one namespace connect to slow peers"""
    crowded(HOME)


def case_again():
    """and those of the other: what has ended is not counted any more"""
    crowded(AWAY)


def at_rest():
    """before each case: what others have closed has ended, and counts no more"""
    for ns in AWAY, HOME:
        enter(ns)
        await_ends("handshakes", seconds=LIMIT)
        await_ends("sockets", seconds=LIMIT)


if __name__ == "__main__":
    up()
    bad = cases.main(globals(), before=at_rest)
    for name in HOME, AWAY:
        run("ip", "netns", "delete", name)
    sys.exit(bad)
