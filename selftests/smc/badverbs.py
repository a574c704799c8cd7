#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""badverbs - RDMA verbs fail, one call after the other

The module badverbs (selftests/vm/planted) makes the first call of a verb fail,
then the second, until a connection from connect() to close() makes fewer calls.
Each of these connections works, over RDMA or over TCP, or its ends are told: no
end waits for ever, and none takes a part of the data for all.  Afterwards the
next one works.  Needs the module, root, badverbs on rxe0, and an RDMA port rxe0
that serves 10.9.0.1 on this host.
"""
import collections
import concurrent.futures
import errno
import select
import socket
import subprocess
import sys
import time

import cases
from counters import Counters, await_ends, limits, read, sysctl
from genetlink import fallbacks, port_active
from limits import await_that, limit
from planted import Planted

BADVERBS = Planted("badverbs")
bad, number = BADVERBS.write, BADVERBS.number
ADDRESS = "10.9.0.1"
DATA = bytes(range(256)) * 160
ERR_RDYLNK, ERR_REGBUF = 0x09990002, 0x09990003
TOLD = (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ETIMEDOUT)
LIMIT = limit(20)
# nor does an end give a link up because its peer is slow
HANDSHAKE_MS = int(limit(2000))


def fresh():
    """no link group is left: the device says that it has failed"""
    bad("event", "fatal")
    await_ends("links", seconds=LIMIT)


def counted(before):
    """what the handshakes since then have counted"""
    return collections.Counter({n: v - before[n] for n, v in read().items()
                                if n.startswith("Hs") and v != before[n]})


class Told(Exception):
    """an end has been told that the connection is over"""


class Life:
    """one connection; its ends are used in turn"""
    def __init__(self, ring=65536):
        self.lst, self.cli = (socket.socket(socket.AF_INET, socket.SOCK_STREAM,
                                            256) for _ in range(2))
        self.srv = None
        for s in self.lst, self.cli:
            s.settimeout(LIMIT)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ring)

    def call(self, fn, *args):
        try:
            return fn(*args)
        except TimeoutError as e:
            # the error, not the end of our patience
            assert e.errno == errno.ETIMEDOUT, "an end waits for ever"
            raise Told(e.errno) from e
        except OSError as e:
            if e.errno not in TOLD:
                raise
            raise Told(e.errno) from e

    def connect(self):
        again = read()["HsReconnect"]
        self.lst.bind((ADDRESS, 0))
        self.lst.listen(8)
        self.call(self.cli.connect, self.lst.getsockname())
        while True:
            self.srv, peer = self.call(self.lst.accept)
            if peer == self.cli.getsockname():
                break
            # its client has reset it, and connected again without the option
            assert read()["HsReconnect"] > again, "accepted: another's"
            self.srv.close()
        self.srv.settimeout(LIMIT)

    def recv(self, to, frm):
        """An end whose link is gone cannot tell the other one, which finds out
        by TEST LINK: too late for this test."""
        p = select.poll()
        p.register(to, select.POLLIN)
        p.register(frm, 0)
        ready = dict(p.poll(LIMIT * 1000))
        assert ready, "both ends wait for ever"
        if ready.get(frm.fileno(), 0) & select.POLLERR:
            raise Told(frm.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
        return self.call(to.recv, len(DATA)) if to.fileno() in ready else None

    def eof(self, to, frm):
        data = None
        while data is None:
            data = self.recv(to, frm)
        return data == b""

    def move(self, frm, to):
        self.call(frm.sendall, DATA)
        got = b""
        while len(got) < len(DATA):
            part = self.recv(to, frm)
            assert part != b"", f"end of file after {len(got)} bytes"
            got += part or b""
        assert got == DATA, "wrong data"

    def shutdown(self, sock):
        """as TCP's: what ended the connection is for the next call"""
        try:
            self.call(sock.shutdown, socket.SHUT_WR)
        except OSError as e:
            assert e.errno == errno.ENOTCONN, e
            err = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            assert err in TOLD, f"shutdown(): {e}, then {err}"
            raise Told(err) from e

    def ends(self):
        for a, b in (self.cli, self.srv), (self.srv, self.cli):
            self.shutdown(a)
            assert self.eof(b, a), "data after the end"

    def told_too(self):
        """The end that is still open hears of it, once its device fails.  No
        end has sent an end of file before one was told."""
        fresh()
        for name, s in ("client", self.cli), ("server", self.srv):
            if not s:
                continue
            try:
                while self.call(s.recv, 65536):
                    pass
            except Told:
                pass
            except AssertionError as e:
                raise AssertionError(f"{name}: {e}") from e

    def run(self):
        """tcp, smcr, or what the program was told"""
        before = read()
        try:
            self.connect()
            self.move(self.cli, self.srv)
            self.move(self.srv, self.cli)
            self.ends()
            got = counted(before)
            client, server = got["HsClientSmcr"], got["HsServerSmcr"]
            # of a client that connected again: a server that was through
            assert client == server or client < server == got["HsReconnect"], \
                f"the ends do not agree: {got}"
            return "smcr" if client else "tcp"
        except Told as e:
            self.told_too()
            return errno.errorcode[e.args[0]]
        finally:
            self.close()

    def close(self):
        for s in self.lst, self.cli, self.srv:
            if s:
                s.close()


def one_cause_each():
    """each link that is gone ended for one of the reasons counted"""
    await_ends("links", seconds=LIMIT)
    c = read()
    downs = {n: v for n, v in c.items() if n.startswith("LinkDown") and v}
    assert sum(downs.values()) == c["LinkDestroyed"], (downs, c)


def joined():
    """a connection that the next one shares its group with"""
    base = Life()
    base.connect()
    base.move(base.cli, base.srv)
    return base


def sweep(rule, join=False, most=0):
    """the outcomes, for each call that fails, as a counter"""
    sysctl("transports", "smcr")
    outcomes = collections.Counter()
    moved = Counters()
    start = time.monotonic()
    for nth in range(1, (most or 100) + 1):
        fresh()
        base = joined() if join else None
        bad("rule", rule.format(nth))
        try:
            result = Life(262144 if join else 65536).run()
        except (AssertionError, OSError) as e:
            raise AssertionError(f"{rule.format(nth)}: {e}") from e
        hits = number("hits")
        bad("rule", "off")
        if base:
            base.close()
        if not hits:
            break
        outcomes[result] += 1
        result = Life().run()
        assert result in ("smcr", "tcp"), f"{rule}, {nth}: afterwards {result}"
    assert most or not hits, "more calls than are tried"
    print(f"# {rule}: {dict(outcomes)} in {time.monotonic() - start:.1f} s",
          flush=True)
    if not hits:
        assert result == "smcr", f"without a failure: {result}"
    fresh()
    one_cause_each()
    assert "LinkUndrained" not in moved.moved()
    assert outcomes
    return outcomes


def because(reason, rule):
    """the same, where connections become TCP's for this reason"""
    before = fallbacks(reason)
    outcomes = sweep(rule)
    assert fallbacks(reason) > before, f"{rule}: none for {reason:#x}"
    return outcomes


def case_create_cq():
    """before any other: completion queues serve one link after the other"""
    assert set(sweep("create_cq fail nth={}")) <= {"tcp"}


def case_alloc_pd():
    assert set(sweep("alloc_pd fail nth={}")) <= {"tcp"}


def case_create_qp():
    """One of the two of a link is tried without inline data, then.  Twice: the
    first may have been that one."""
    assert set(sweep("create_qp fail nth={}")) == {"smcr", "tcp"}
    assert "tcp" in sweep("create_qp fail nth={} count=2")


def case_modify_qp():
    """ENOSPC is not taken for a want of buffers"""
    got = because(ERR_RDYLNK, "modify_qp fail nth={} arg=28")
    assert set(got) <= {"tcp"}


# A link whose queue pair does not get ready to receive ends without its receives.
def case_modify_qp_swallow():
    assert set(sweep("modify_qp swallow op=rtr nth={}")) <= {"tcp"}


def case_alloc_mr():
    assert set(sweep("alloc_mr fail nth={} arg=11")) <= {"tcp"}
    sweep("alloc_mr fail nth={}")
    assert set(sweep("alloc_mr fail nth={} arg=11", True)) <= {"tcp"}


def case_map_mr_sg():
    """an error, and fewer pages than there are"""
    assert set(sweep("map_mr_sg fail nth={} arg=22")) <= {"tcp"}
    assert set(sweep("map_mr_sg fail nth={} arg=0")) <= {"tcp"}
    assert set(sweep("map_mr_sg fail nth={} arg=22", True)) <= {"tcp"}


def streaming(life):
    """until the link ends"""
    def read_on():
        while life.call(life.srv.recv, 1 << 20):
            pass

    def write_on():
        while True:
            life.call(life.cli.send, DATA)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for end in [pool.submit(read_on), pool.submit(write_on)]:
            assert isinstance(end.exception(), Told), end.exception()


def case_not_stopped():
    """The device does not stop the queue pair for data of one link, or any of
    two links, while bytes move: everything is given back."""
    sysctl("transports", "smcr")
    for which, links in ("nth=1", 1), ("count=0", 2):
        fresh()
        life = joined()
        moved = Counters()
        bad("rule", f"modify_qp fail op=err {which} arg=5")
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            ends = pool.submit(streaming, life)
            await_that("no stream", lambda: moved.moved().get("TxPushes", 0) >
                       100, LIMIT)
            fresh()
            ends.result()
        life.close()
        await_ends("connections", seconds=LIMIT)
        hits = number("hits")
        bad("rule", "off")
        got = moved.moved()
        assert got.get("LinkUndrained") == links, (got, hits)
        assert got["LinkDestroyed"] == 2, got
        assert Life().run() == "smcr"
    fresh()
    one_cause_each()


def case_dereg_mr():
    """The driver does not free the region of an idle ring that gives way: its
    link ends, and the connections are told."""
    sysctl("transports", "smcr")
    fresh()
    base, other = joined(), joined()
    moved = Counters()
    bad("rule", "dereg_mr fail arg=5")
    other.close()
    await_that("the rings are idle", lambda: moved.moved().get(
               "ConnDestroyed") == 2, LIMIT)
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as f:
        f.write("2")
    await_that("no region is freed", lambda: number("hits"), LIMIT)
    for s in base.cli, base.srv:
        try:
            raise AssertionError(f"not told: {base.call(s.recv, 1)}")
        except Told:
            pass
    hits = number("hits")
    bad("rule", "off")
    base.close()
    await_ends("links", seconds=LIMIT)
    await_ends("rings", seconds=LIMIT)
    got = moved.moved()
    assert hits == 1, hits
    assert got.get("LinkDownFatal") == got.get("LinkDownPeer") == 1, got
    assert "LinkUndrained" not in got
    assert Life().run() == "smcr"
    fresh()
    one_cause_each()


def case_query_port():
    """never asked by a handshake: a driver may have to wait"""
    # but after an event, as the last one of the case before
    time.sleep(limit(1))
    bad("rule", "query_port fail count=0 arg=5")
    result = Life().run()
    hits = number("hits")
    bad("rule", "off")
    assert (result, hits) == ("smcr", 0), (result, hits)


def settings():
    sysctl("handshake_timeout_ms", HANDSHAKE_MS)
    # a link is made again after one that failed
    sysctl("fallback_memory_s", 0)


def case_query_port_at_load():
    """The driver does not answer when the module comes: the port is not used until
    it does."""
    await_ends("sockets", seconds=LIMIT)
    bad("rule", "query_port fail count=0 arg=5")
    for cmd in (("rmmod", "smc_diag"), ("rmmod", "smc"),
                ("insmod", "/lab/smc.ko"), ("insmod", "/lab/smc_diag.ko")):
        subprocess.run(cmd, check=True)
    settings()
    sysctl("transports", "smcr")
    result = Life().run()
    hits = number("hits")
    bad("rule", "off")
    assert result == "tcp" and hits, (result, hits)
    await_that("no SMC-R", lambda: Life().run() == "smcr", LIMIT)


def case_pkey():
    """The default P_Key is used where the table has it; without it the port is
    down."""
    sysctl("transports", "smcr")
    fresh()
    try:
        bad("pkey", "1")
        await_that("no SMC-R", lambda: Life().run() == "smcr", LIMIT)
        bad("pkey", "2")
        await_that("the port is up", lambda: not port_active("rxe0"), LIMIT)
        assert Life().run() == "tcp"
    finally:
        bad("pkey", "0")
    await_that("the port is down", lambda: port_active("rxe0"), LIMIT)
    fresh()
    assert Life().run() == "smcr"


def case_post_recv():
    """the 1st to the 3rd and the last of a queue: they are posted together"""
    sweep("post_recv fail nth={}", most=3)
    sweep("post_recv fail nth=255 arg={}", most=1)


def case_post_send():
    assert {"tcp"} < set(sweep("post_send fail nth={}"))


def case_post_send_reg():
    assert set(sweep("post_send fail op=reg_mr nth={}")) <= {"tcp"}
    assert set(sweep("post_send fail op=reg_mr nth={}", True)) <= {"tcp"}


def case_post_send_write():
    """the chains that carry data"""
    sweep("post_send fail op=write nth={}")


def case_poll_cq():
    """an error is as good as nothing"""
    assert set(sweep("poll_cq fail nth={} arg=5", most=6)) == {"smcr"}


def case_status():
    """12: the device gave up; 10: access refused; 5: flushed"""
    sweep("poll_cq status arg=12 op=send nth={}")
    sweep("poll_cq status arg=12 op=write nth={}")
    because(ERR_REGBUF, "poll_cq status arg=10 op=reg_mr nth={}")
    sweep("poll_cq status arg=10 op=reg_mr nth={}", True)
    sweep("poll_cq status arg=5 op=recv nth={}")


def case_swallow():
    """of the confirmation: request and answer"""
    assert set(sweep("post_send swallow op=send nth={}", most=2)) == {"tcp"}


def case_hold():
    """no completion comes while the link is being confirmed"""
    sweep("poll_cq hold nth={} count=0", most=1)


def case_stuck():
    """A link sends nothing: its new connections get new rings all the same,
    without a wait."""
    sysctl("transports", "smcr")
    fresh()
    base = joined()
    bad("rule", "post_send swallow op=write count=0")
    base.srv.sendall(b"x")
    await_that("a write", lambda: number("hits"), LIMIT)
    before = read()
    lives = [Life() for _ in range(4)]
    with concurrent.futures.ThreadPoolExecutor(len(lives)) as pool:
        list(pool.map(Life.connect, lives))
    got = counted(before)
    bad("rule", "off")
    for c in *lives, base:
        c.close()
    assert got == {"HsStarted": 8, "HsEnded": 8, "HsClientSmcr": 4,
                   "HsServerSmcr": 4}, got
    fresh()


def case_stuck_reg():
    """The device takes the registration of a new link's ring and does nothing: one
    connection waits for it, and the next ones do not try."""
    sysctl("transports", "smcr")
    fresh()
    with limits(fallback_memory_s=600):
        bad("rule", "post_send swallow op=reg_mr count=0")
        try:
            results = [Life().run()]
            hits, before = number("hits"), read()
            results.append(Life().run())
            assert number("hits") == hits > 0, (number("hits"), hits)
        finally:
            bad("rule", "off")
        assert results == ["tcp"] * 2, results
        got = counted(before)
        assert got["HsNoLink"] == 1, got
    fresh()
    assert Life().run() == "smcr"


def case_last_flags():
    """an end that is over has its last flag sent when the link has room for it,
    however late: the peer's end is over then, too"""
    sysctl("transports", "smcr")
    sysctl("autocorking_size", 0)
    fresh()
    busy, life = joined(), Life()
    try:
        life.connect()
        life.cli.close()
        assert life.srv.recv(1) == b""
        moved = Counters()
        bad("rule", "poll_cq hold count=0")
        while "TxBusy" not in moved.moved():
            busy.srv.sendall(b"x")
        life.srv.close()
        # it is not given up meanwhile
        time.sleep(2)
        assert "ConnDestroyed" not in moved.moved(), moved.moved()
        bad("rule", "off")
        await_that("an end stays", lambda:
                   moved.moved().get("ConnDestroyed") == 2, LIMIT)
    finally:
        bad("rule", "off")
        sysctl("autocorking_size", 65536)
    for c in life, busy:
        c.close()
    fresh()


def bytewise(life, count=20):
    """written one by one while no completion comes: pushes, and how often one
    was put off"""
    # what is not answered is a stream
    life.srv.sendall(b"x")
    assert life.cli.recv(1) == b"x"
    before = read()
    bad("rule", "poll_cq hold count=0")
    for i in range(count):
        life.cli.sendall(bytes([i]))
    now = read()
    bad("rule", "off")
    got = b""
    while len(got) < count:
        got += life.srv.recv(count)
    assert got == bytes(range(count)), got
    return [now[n] - before[n] for n in ("TxPushes", "TxCorked")]


def case_autocork():
    """bytes wait while four pushes of a stream are on their way, and leave when
    one has arrived; not if the setting is 0"""
    sysctl("transports", "smcr")
    fresh()
    life = joined()
    pushes, corked = bytewise(life)
    assert 4 <= pushes <= 8 and corked == 1, (pushes, corked)
    sysctl("autocorking_size", 0)
    try:
        assert bytewise(life) == [20, 0]
    finally:
        sysctl("autocorking_size", 65536)
    life.close()


def new_device():
    """one that knows nothing of the connections before"""
    for cmd in ("rmmod badverbs queues", "rdma link delete rxe0",
                "rdma link add rxe0 type rxe netdev lo",
                "insmod /lab/queues.ko dev=rxe0 adapter=1",
                "insmod /lab/badverbs.ko dev=rxe0"):
        subprocess.run(cmd.split(), check=True)
    await_that("the new port", lambda: port_active("rxe0"), LIMIT)


def case_no_ring():
    """A device that does not register memory makes a link once, and no more until
    it is another one."""
    sysctl("transports", "smcr")
    fresh()
    moved = Counters()
    bad("rule", "alloc_mr fail count=0 arg=95")
    try:
        results = [Life().run() for _ in range(5)]
        bad("rule", "off")
        results.append(Life().run())
        assert results == ["tcp"] * 6, results
        got = moved.moved()
        assert got.get("LinkCreated") == 1, got
        assert not port_active("rxe0")
    finally:
        new_device()
    assert Life().run() == "smcr"
    # a ring of another size is refused where some have worked
    bad("rule", "alloc_mr fail count=0 arg=95")
    assert Life(ring=262144).run() == "tcp"
    bad("rule", "off")
    assert port_active("rxe0")
    fresh()
    one_cause_each()


def case_quiet_port():
    """a port comes up, and its driver does not tell: it is asked when a connection
    would use the port"""
    sysctl("transports", "smcr")
    fresh()
    bad("event", "port_down")
    await_that("the port is active", lambda: not port_active("rxe0"), LIMIT)
    assert Life().run() == "tcp"
    bad("event", "quiet_up")
    await_that("the port stays down", lambda: Life().run() == "smcr", LIMIT)
    fresh()


def case_queues_at_once():
    """of several first contacts at the same moment one looks for a completion
    queue: each that finds none with room makes an array of them"""
    sysctl("transports", "smcr")
    fresh()
    # the pool of a device is empty as long as it has had no link
    new_device()
    lives, moved = [Life() for _ in range(4)], Counters()
    for i, life in enumerate(lives):
        for s in life.lst, life.cli:
            s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, i << 5)
    # they are held within their deadline
    with limits(handshake_timeout_ms=20000), \
            concurrent.futures.ThreadPoolExecutor(len(lives)) as pool:
        bad("rule", "create_cq hold count=0")
        try:
            ends = [pool.submit(life.run) for life in lives]
            await_that("no groups", lambda:
                       moved.moved().get("LgrCreated", 0) >= 4, LIMIT)
            time.sleep(limit(0.5))
            seen = number("seen")
        finally:
            bad("rule", "off")
        assert [end.result() for end in ends] == ["smcr"] * 4
    assert seen == 1, seen
    fresh()


if __name__ == "__main__":
    settings()
    sys.exit(cases.main(globals()))
