#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""linkdown - each cause of a link's end happens once

The peer of every case is a host of its own (smcpeer.py), so that the link has
one end here.  The cause is counted and traced, no other one is, and the program
is told what include/uapi/linux/smc_reason.h says.  The next case begins with a
new link to the same peer.  Needs what hostile_rdma.py needs, and EVENTS enabled;
some cases need badverbs (vm/planted) on clcrxe, or pauses.
"""
import errno
import glob
import os
import select
import subprocess
import sys
import threading
import time

import cases
from badverbs import HANDSHAKE_MS, bad, number
from clcmsg import accept_r
from counters import Counters, await_ends, limits, read as read_counters, \
    sysctl
from genetlink import port_active
from hostile import elsewhere, plain, said, waiting, workers
from limits import await_that, limit
from minitcp import Net, read
from planted import Planted
from smcpeer import CONFIRM_LINK, DELETE_LINK, DELETE_RKEY, KERNEL, NO_EYEC, \
    PORT, RESPONSE, TEST_LINK, Peer, Server, message
from sockdiag import SMCR, fallback, row_of

LIMIT = limit(60)
REMOTE_ACCESS = 0x62            # a NAK
DEVGONE = 0x0a0d0000            # SMC_REASON_DEVGONE
TIMEOUT = "/proc/sys/net/smc/handshake_timeout_ms"
TOO_MANY_KEYS = 256             # mem.c, RETIRED_MAX
ENDS_AT_ONCE = 256              # works that a work queue runs, of Linux 6.12
PAUSES = Planted("pauses")
EVENTS = "smcr_link_down", "smc_link_state", "smc_state"


def events():
    """the lines of each"""
    lines = read("/sys/kernel/tracing/trace").splitlines()
    return [[x for x in lines if f" {name}: " in x] for name in EVENTS]


def port(up):
    """the state of the port, as SMC has it"""
    bad("event", "port_up" if up else "port_down")
    await_that("the port stays as it is",
               lambda: port_active("clcrxe") == up, LIMIT)


def destroyed(counters):
    """one link has come to its end since"""
    await_that("the link stays",
               lambda: counters.moved().get("LinkDestroyed") == 1, LIMIT)


class Link:
    """a link with one connection, to see how it ends"""
    net = None

    @staticmethod
    def begin():
        Link.net = Link.net or Net("clc0", "10.99.0.2", KERNEL)

    def __init__(self, ring=131072, beside=False):
        """beside: links that do not end yet"""
        self.begin()
        bad("rule", "off")
        # those of the case before end in their own time
        await_ends("connections")
        if not beside:
            await_ends("links", seconds=LIMIT)
        self.events = [len(lines) for lines in events()]
        self.counters = Counters()
        self.peer = Peer(Link.net, ring)
        self.sock = self.peer.sock
        self.sock.settimeout(LIMIT)

    def send(self):
        """until it does not work any more: some messages ask the device for a
        completion"""
        end = time.monotonic() + LIMIT
        try:
            while time.monotonic() < end:
                self.sock.send(b"x")
                time.sleep(0.01)
        except BrokenPipeError as e:
            raise AssertionError("the error has been lost") from e

    @staticmethod
    def told(want, fn, *args):
        try:
            raise AssertionError(f"no error: {fn(*args)}")
        except OSError as e:
            assert e.errno == want, e

    def traced(self, cause=""):
        """the end of an active link, once, and that its connections were told
        the cause"""
        down, state, conn = (lines[n:] for n, lines in
                             zip(self.events, events()))
        dead = [x for x in state if " -> dead " in x]
        assert len(down) == len(dead) == 1, (down, dead)
        assert " dev=clcrxe " in down[0], down
        assert " dev=clcrxe active -> dead " in dead[0], dead
        if cause:
            why = cause.replace("LinkDown", " LINK_").upper()
            assert dead[0].endswith(why), dead
            assert any(" event=killed " in x and x.endswith(why)
                       for x in conn), (why, conn)

    def goodbye(self):
        """the peer is told, before the program"""
        self.peer.llc(DELETE_LINK)
        return self.sock.recv(1)

    def ends(self, cause, want, fn=None, *args):
        """the program calls something that tells it"""
        self.told(want, fn or self.sock.recv, *(args if fn else (1,)))
        self.sock.close()
        self.peer.tcp.rst()
        self.peer.lst.close()
        destroyed(self.counters)
        moved = self.counters.moved()
        assert moved["LinkCreated"] == moved["LgrLost"] == 1, moved
        downs = {n: v for n, v in moved.items() if n.startswith("LinkDown")}
        assert downs == {cause: 1}, downs
        self.traced(cause)


def served():
    """the port has the kernel's address"""
    return any("0a63:0001" in read(path) for path in
               glob.glob("/sys/class/infiniband/clcrxe/ports/1/gids/*"))


def case_armed():
    """The RDMA core is still arming the completion queue of a link that has ended:
    the queue is not freed meanwhile."""
    queues = Planted("queues")
    for _ in range(5):
        link = Link()
        queues.write("slow_ms", 50)
        try:
            link.peer.leave()
            destroyed(link.counters)
        finally:
            queues.write("slow_ms", 0)
        link.sock.close()
    assert queues.number("freed") == 0, "freed"


def case_post():
    link = Link()
    bad("rule", "post_send fail op=send")
    link.ends("LinkDownPost", errno.ECONNABORTED, link.send)


def case_retry():
    link = Link()
    bad("rule", "poll_cq status op=send arg=12")
    link.ends("LinkDownRetry", errno.ETIMEDOUT, link.send)


def case_send():
    """the peer's device refuses the write"""
    link = Link()
    link.peer.qp.refuse = REMOTE_ACCESS
    link.ends("LinkDownSend", errno.ECONNABORTED, link.send)


def case_queue():
    link = Link()
    bad("event", "queue")
    link.ends("LinkDownQueue", errno.ECONNABORTED)


def case_fatal():
    link = Link()
    bad("event", "fatal")
    link.ends("LinkDownFatal", errno.ECONNABORTED)


def case_gid():
    def address(verb):
        subprocess.run(["ip", "address", verb, KERNEL + "/24", "dev", "clc0"],
                       check=True)

    await_that("no GID", served, LIMIT)
    link = Link()
    address("delete")
    try:
        link.ends("LinkDownGid", errno.ECONNABORTED)
    finally:
        address("add")
        await_that("no GID", served, LIMIT)


def not_accepted(peer):
    """nothing is set up"""
    counters = Counters()
    tcp, acc = peer.proposed()
    assert not acc, "accepted"
    assert "LgrCreated" not in counters.moved()
    peer.accept().close()
    tcp.rst()


def case_dead_port():
    """The port is down and its network device is not, like that of a slave of a
    bond: nothing is set up there."""
    Link.begin()
    peer = Peer(Link.net, up=False)
    peer.new_link()
    port(False)
    try:
        not_accepted(peer)
    finally:
        port(True)
    peer.connect()
    peer.round()
    peer.leave()


def case_overtaken():
    """The driver's answers about the port arrive in the wrong order: it is up
    all the same."""
    Link.begin()
    # the first to ask is the RDMA core
    bad("rule", "query_port hold nth=2")
    bad("event", "port_down")
    await_that("nothing asks", lambda: number("hits"), LIMIT)
    bad("event", "port_up")
    await_that("nothing asks again", lambda: number("seen") > 2, LIMIT)
    # lets the first go on, and counts
    bad("rule", "query_port fail nth=1000")
    await_that("it does not ask again", lambda: number("seen"), LIMIT)
    await_that("the older answer counts", lambda: port_active("clcrxe"), LIMIT)
    bad("rule", "off")
    for _ in range(100):
        assert port_active("clcrxe"), "the older answer counts"
        time.sleep(0.01)
    Link().peer.leave()


def case_no_answer():
    """a driver that cannot say how the port is, is asked again"""
    Link.begin()
    port(False)
    # the first to ask is the RDMA core
    bad("rule", "query_port fail nth=2 arg=5")
    port(True)
    assert number("hits"), "it has answered at once"
    Link().peer.leave()


def case_no_answer_after_failure():
    """The device fails, and its driver cannot say how the port is: it is not used
    until it can."""
    Link.begin()
    bad("rule", "query_port fail count=0 arg=5")
    try:
        bad("event", "fatal")
        await_that("the port is active", lambda: not port_active("clcrxe"),
                   LIMIT)
        peer = Peer(Link.net, up=False)
        peer.new_link()
        not_accepted(peer)
    finally:
        bad("rule", "off")
    await_that("the port stays down", lambda: port_active("clcrxe"), LIMIT)
    peer.connect()
    peer.round()
    peer.leave()


def dies_early(role, op):
    """The device fails while the queue pair of a new link is made or moved to @op:
    the connection is TCP's, and the group is used by no other."""
    # the groups of the cases before end in their own time
    await_that("something stays", lambda: balanced(read_counters()), LIMIT)
    counters = Counters()
    peer = role(Link.net, up=False)
    if role is Peer:
        peer.contact()
    else:
        peer.conn = peer.new_link()
    conn, said = peer.conn, []

    def handshake():
        if role is Server:
            said.append(peer.called(conn, True))
            return
        conn.tcp.send(accept_r(peer.args, 3, True, conn.end))
        said.append(peer.clc(conn.tcp, 3))

    # the first of a client is the queue pair for registrations
    bad("rule", f"modify_qp hold op={op} nth={1 if role is Peer else 2}"
        if op else "create_qp hold")
    thread = threading.Thread(target=handshake)
    thread.start()
    try:
        await_that(f"not to {op or 'be made'}", lambda: number("hits"), LIMIT)
        bad("event", "fatal")
        await_that("it stays", lambda: counters.moved().get("LgrLost"), LIMIT)
    finally:
        bad("rule", "off")
        thread.join()
        if role is Peer:
            conn.sock = peer.accept()
        peer.lst.close()
    assert said == [None], f"{role.__name__}, {op}: {said}"
    conn.sock.settimeout(LIMIT)
    conn.tcp.send(b"plain")
    assert conn.sock.recv(5) == b"plain"
    why = fallback(conn.sock)
    assert op or why == DEVGONE, hex(why)       # no link that could end
    conn.forget()
    await_that("something stays", lambda: balanced(counters.moved()), LIMIT)


def case_dies_early():
    Link.begin()
    for role in Peer, Server:
        for op in ("init", "rtr", "rts" if role is Peer else ""):
            dies_early(role, op)
    # and the next one works
    Link().peer.leave()


def case_late_rts():
    """The link is lost while the LLC actor moves its queue pair to RTS.  The queue
    pair is stopped after that: not before, and not beside it."""
    Link.begin()
    await_ends("connections")
    await_ends("links", seconds=LIMIT)
    counters = Counters()
    peer = Server(Link.net, up=False)
    peer.contact()
    bad("rule", "modify_qp hold op=rts")
    try:
        peer.qp.send(message(CONFIRM_LINK, NO_EYEC, peer.link_self(1)))
        await_that("not to RTS", lambda: number("hits"), LIMIT)
        bad("event", "fatal")
        await_that("the link is there",
                   lambda: counters.moved().get("LinkDownFatal"), LIMIT)
        # time to do it wrong
        time.sleep(limit(1))
        stops = number("stops")
    finally:
        bad("rule", "off")
    destroyed(counters)
    peer.disconnect()
    assert not stops, f"{stops} queue pairs were stopped before"


def case_flap():
    """the port goes down and comes back: the link does not notice"""
    link = Link()
    for up in False, True:
        port(up)
        link.peer.round()
    assert "LgrLost" not in link.counters.moved()
    link.peer.leave()
    destroyed(link.counters)
    assert link.counters.moved()["LinkDownPeer"] == 1
    link.traced()


class Loaded(Link):
    """a link with four connections, and data on their way while it runs"""
    def __init__(self):
        super().__init__()
        self.conns = [self.peer.conn,
                      *(self.peer.another() for _ in range(3))]
        self.rounds = [0] * len(self.conns)

    def streams(self):
        """for cases.meanwhile(): each thread has its connection"""
        todo = iter(range(len(self.conns)))

        def start():
            i = next(todo)

            def again():
                self.conns[i].round(3000)
                self.rounds[i] += 1

            return again

        return start

    def outage(self):
        """the port goes down, nothing that the kernel sends arrives, and what is
        on its way then has to be sent again"""
        qp = self.peer.qp
        missed = qp.missed
        qp.mute = True
        port(False)
        await_that("nothing is sent", lambda: qp.missed > missed, LIMIT)

    def flap(self):
        for _ in range(4):
            self.outage()
            port(True)
            self.peer.qp.mute = False
            were = [*self.rounds]
            await_that("it does not go on", lambda old=were: all(
                a < b for a, b in zip(old, self.rounds)), LIMIT)
        assert "LgrLost" not in self.counters.moved()

    def dies(self, cause, want, how):
        """while the port is down and data are on their way"""
        cases.meanwhile(len(self.conns), self.streams(), self.flap)
        self.peer.qp.mute = True
        for conn in self.conns:
            conn.sock.settimeout(LIMIT)
            conn.sock.send(b"x" * 1000)
        self.outage()
        how()
        for conn in self.conns[1:]:
            self.told(want, conn.sock.recv, 1)
            conn.forget()
        self.ends(cause, want)


def case_flap_load():
    """a port that goes down and comes back again and again under load is no end of
    the link; that of the queue pair is, and that of the device"""
    for cause, want, rule in ("LinkDownRetry", errno.ETIMEDOUT,
                              "poll_cq status op=send arg=12"), \
            ("LinkDownFatal", errno.ECONNABORTED, None):
        link = Loaded()

        def how(rule=rule, qp=link.peer.qp):
            if rule:
                bad("rule", rule)
                qp.mute = False
            else:
                bad("event", "fatal")

        try:
            link.dies(cause, want, how)
        finally:
            port(True)


def case_mtu():
    """packets of the link have become too large: no connection joins it"""
    def device(mtu):
        subprocess.run(["ip", "link", "set", "clc0", "mtu", str(mtu)],
                       check=True)

    link = Link()
    peer = Peer(Link.net, port=PORT + 1, up=False)
    device(1000)
    try:
        peer.contact()
        assert peer.conn.mtu == 2, peer.conn.mtu        # 512 bytes
    finally:
        device(1500)
    peer.conn.tcp.rst()
    link.peer.round()
    for p in peer, link.peer:
        p.leave()


def case_stuck():
    """the device takes messages and does nothing"""
    sysctl("smcr_testlink_time", 0)
    link = Link()
    bad("rule", "post_send swallow op=send count=0")
    link.sock.send(bytes(60000))
    link.ends("LinkDownStuck", errno.ETIMEDOUT)


def balanced(moved):
    """everything that was made has been given back"""
    return moved.get("WrPosted") == moved.get("WrCompleted") and all(
        moved.get(n + "Created") == moved.get(n + "Destroyed")
        for n in ("Conn", "Buf", "Link", "Lgr"))


def case_nobody_waits():
    """The device takes messages and does nothing.  Connections that want new
    rings come all the same, and end with messages on their way: while the link
    is not given up, no worker waits, and all others go on."""
    def speaks():
        """the peer, which is progress: the steps may take their time"""
        link.peer.qp.send(message(TEST_LINK, RESPONSE))

    sysctl("smcr_testlink_time", 0)
    # the groups of shared memory stay: they are made before things are counted
    elsewhere()
    link = Link()
    bad("rule", "post_send swallow op=send count=0")
    link.sock.send(bytes(1000))
    more = []
    for _ in range(4):
        more.append(link.peer.another())
        speaks()
    assert all(more), "declined"
    for conn in more:
        conn.sock.send(bytes(1000))
        conn.forget()
        speaks()
    elsewhere()
    speaks()
    sit = waiting()
    moved = link.counters.moved()
    assert "LinkDestroyed" not in moved, "too late to see anybody wait"
    assert not sit, "\n".join(" ".join(w) for w in sit)
    link.told(errno.ETIMEDOUT, link.sock.recv, 1)
    link.sock.close()
    link.peer.tcp.rst()
    link.peer.lst.close()
    await_that("something stays", lambda: balanced(link.counters.moved()),
               LIMIT)
    # the watch and the connections that end look at the same time
    moved = link.counters.moved()
    downs = {n: v for n, v in moved.items() if n.startswith("LinkDown")}
    assert list(downs.values()) == [1], downs


def case_reg():
    """a new connection needs a ring, which the device does not register: the peer
    of the others is told, which may have nothing to send"""
    sysctl("smcr_testlink_time", 0)
    link = Link()
    bad("rule", "post_send swallow op=reg_mr")
    assert not link.peer.another(), "not declined"
    link.ends("LinkDownReg", errno.ECONNABORTED, link.goodbye)


def case_test():
    """the peer's device answers, and the peer does not"""
    sysctl("smcr_testlink_time", 1)
    link = Link()
    link.ends("LinkDownTest", errno.ETIMEDOUT)


def case_slow_memory():
    """A ring is awaited for which it takes long to find memory.  Meanwhile the
    peer says that it has forgotten another one: it gets its answers, data
    moves, and the link is looked at."""
    sysctl("smcr_testlink_time", 0)
    link = Link()
    peer = link.peer
    peer.another().ruin()
    request = peer.llc(DELETE_RKEY)
    made = []
    thread = threading.Thread(target=lambda: made.append(peer.another()))

    def meanwhile():
        bad("rule", "alloc_mr hold")
        thread.start()
        try:
            await_that("no ring is wanted", lambda: number("hits"), LIMIT)
            peer.qp.send(message(DELETE_RKEY, RESPONSE, request[4:12]))
            said(peer)
            peer.round()
            sysctl("smcr_testlink_time", 1)
            link.sock.recv(1)
        finally:
            bad("rule", "off")
            thread.join()

    link.ends("LinkDownTest", errno.ETIMEDOUT, meanwhile)
    assert made == [None], "not declined"


class ToldLate:
    """The first connection has made a group that is ACTIVE, and its handshake
    has not been told yet.  Another one has joined the group, and goes on."""
    def __init__(self, first_ms=None):
        """first_ms: the deadline of the first one alone"""
        Link.begin()
        bad("rule", "off")
        # those of the case before end in their own time
        await_ends("links", seconds=LIMIT)
        self.counters = Counters()
        self.peer = Server(Link.net, up=False)
        self.timeout = read(TIMEOUT)
        PAUSES.write("at", "active")
        try:
            if first_ms:
                sysctl("handshake_timeout_ms", first_ms)
            self.peer.connect()
            await_that("no pause", lambda: PAUSES.number("paused"), LIMIT)
            # the other one takes its deadline when TCP is established
            sysctl("handshake_timeout_ms", self.timeout)
            self.other = self.peer.another()
            assert self.other, "declined"
            self.other.round()
        except BaseException:
            self.end()
            raise

    def end(self):
        sysctl("handshake_timeout_ms", self.timeout)
        PAUSES.write("at", "go")
        self.peer.leave()

    def after(self, work):
        """the first one comes to an end in work()"""
        try:
            work(self.peer.conn)
            self.other.round()
            assert PAUSES.number("paused") == 1, "no pause"
            PAUSES.write("at", "go")
            await_that("a pause", lambda: PAUSES.number("paused") == 2, LIMIT)
            self.other.round()
            moved = self.counters.moved()
            assert moved["LinkCreated"] == 1, moved
            assert "LinkDestroyed" not in moved, moved
        finally:
            self.end()


def case_active_and_stopped():
    """its program closes the socket"""
    late = ToldLate()

    def stop(first):
        first.forget()
        await_that("it goes on",
                   lambda: late.counters.moved().get("HsEnded") == 2, LIMIT)

    late.after(stop)


def case_active_and_overdue():
    """its time is over: it asks, and uses the group"""
    def connected(first):
        assert select.select((), (first.sock,), (), LIMIT)[1], "for ever"
        assert row_of(first.sock).mode == SMCR, "no SMC-R"
        first.round()

    ToldLate(HANDSHAKE_MS).after(connected)


def case_confirmed_and_lost():
    """The link is lost when a client has sent its Confirm for an existing group,
    before it looks whether the group still is there.  The server uses SMC and
    reads no Decline: the client connects again."""
    Link.begin()
    bad("rule", "off")
    # those of the case before end in their own time
    await_ends("links", seconds=LIMIT)
    peer = Server(Link.net)
    counters = Counters()
    PAUSES.write("at", "confirm")
    try:
        conn = peer.another()
        assert conn, "declined"
        await_that("no pause", lambda: PAUSES.number("paused"), LIMIT)
        bad("event", "fatal")
        Link.told(errno.ECONNABORTED, peer.sock.recv, 1)
    finally:
        PAUSES.write("at", "go")
    conn.tcp = peer.callers.get(timeout=LIMIT)
    assert not conn.tcp.option, "SMC is offered again"
    plain(conn)
    assert counters.moved()["HsReconnect"] == 1, counters.moved()
    peer.disconnect()
    peer.lst.close()


def case_told_beside_others():
    """The ends of so many groups wait for their device that others' wait for
    these: connections are told all the same."""
    sysctl("smcr_testlink_time", 0)
    Link.begin()
    bad("rule", "off")
    await_ends("links", seconds=LIMIT)
    peer = Peer(Link.net, up=False)
    many = ENDS_AT_ONCE + 1
    PAUSES.write("at", "down")
    try:
        with limits(**{n: 3 * many + 6 for n in (
                "host_max_groups", "max_groups", "max_groups_per_peer")}):
            for _ in range(many):
                peer.contact()
                peer.tcp.rst()
            peer.lst.close()
            await_that("not so many ends",
                       lambda: PAUSES.number("down") == ENDS_AT_ONCE, LIMIT)
            link = Link(beside=True)
            bad("event", "queue")
            link.told(errno.ECONNABORTED, link.sock.recv, 1)
        # none went on meanwhile, and one waits for these
        assert PAUSES.number("down") == ENDS_AT_ONCE
    finally:
        PAUSES.write("at", "go")
    link.sock.close()
    link.peer.tcp.rst()
    link.peer.lst.close()
    await_ends("links", seconds=LIMIT)


def case_told_beside_memory():
    """So many connections leave groups whose device is asked for memory, and
    does not answer, that others' ends wait for these: they are told all the
    same."""
    sysctl("smcr_testlink_time", 0)
    Link.begin()
    bad("rule", "off")
    await_ends("links", seconds=LIMIT)
    *peers, told = [Peer(Link.net, 16384, host, PORT + host)
                    for host in (2, 3, 4)]
    conns = [p.another() for p in peers for _ in range(ENDS_AT_ONCE // 2 + 1)]
    assert all(conns), "declined"
    bad("rule", "alloc_mr hold count=2")
    threads = [threading.Thread(target=p.another) for p in peers]
    try:
        for thread in threads:
            thread.start()
        await_that("no ring is wanted", lambda: number("hits") == 2, LIMIT)
        for conn in conns:
            conn.forget()
        await_that("not so many wait", lambda: len(workers()) >= ENDS_AT_ONCE,
                   LIMIT)
        bad("event", "queue")
        Link.told(errno.ECONNABORTED, told.sock.recv, 1)
    finally:
        bad("rule", "off")
        for thread in threads:
            thread.join()
    for p in *peers, told:
        p.leave()
    await_ends("links", seconds=LIMIT)


def case_keys():
    """connections end and the peer does not say that it forgets their rings;
    at first there are new ones for the next"""
    sysctl("smcr_testlink_time", 0)
    link = Link(ring=16384)
    for _ in range(TOO_MANY_KEYS):
        link.peer.another().forget()
    await_that("connections stay",
               lambda: link.counters.moved().get("ConnDestroyed", 0) ==
               TOO_MANY_KEYS, LIMIT)
    assert not link.peer.another(), "still a new ring"
    assert "LinkDownKeys" not in link.counters.moved()
    link.ends("LinkDownKeys", errno.ECONNABORTED, link.goodbye)


if __name__ == "__main__":
    code = cases.main(globals())
    sys.stdout.flush()
    os._exit(code)
