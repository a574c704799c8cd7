# SPDX-License-Identifier: GPL-2.0
"""hostile_cdc - streams over RDMA, then cursors and tokens that cannot be

Cases of hostile_rdma.py.
"""
import argparse
import fcntl
import os
import select
import signal
import socket
import struct
import subprocess
import threading
import time

from clcmsg import accept_r, decline
from counters import Counters
from hostile import ANSWER, LIMIT, begin, gone, lab, lost, no_leak, part, \
    refused, said, stranger, third
from limits import await_that
from minitcp import Reset
from smcpeer import ABORT, ADD_LINK, CLOSED, CONFIRM_LINK, DELETE_RKEY, DONE, \
    Peer, Server, cdc, message, stream
from traced import Traced

F_SETOWN_EX, F_OWNER_TID = 15, 0


def bulk(conn, bytes_each_way, most):
    """rounds of random sizes"""
    until = conn.sent + bytes_each_way
    while conn.sent < until:
        conn.round(lab.rng.randrange(1, most))


def case_stream():
    """several times through each ring, in both directions"""
    conn = begin().conn
    most = min(conn.size, conn.room)
    bulk(conn, 3 * max(conn.size, conn.room), most)
    refused(CdcForged=0)
    moved = lab.moved()
    assert moved["RxBytes"] >= 3 * conn.room, moved


def case_pieces():
    """requests in three pieces, each answered, are no stream: a piece does not wait
    until an earlier one is acknowledged"""
    peer = begin()
    conn, size = peer.conn, 64
    conn.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(16):
        end = conn.got + 3 * size
        peer.qp.late = True
        for pos in range(conn.got, end, size):
            conn.sock.sendall(stream(~conn.seed, pos, size))
        conn.wait(lambda: conn.got == end)  # pylint: disable=cell-var-from-loop
        peer.qp.on_time()
        assert conn.receive(3 * size) == stream(~conn.seed, end - 3 * size,
                                                3 * size), "wrong bytes"
        conn.write(stream(conn.seed, conn.sent, size))
        conn.program_gets(size)
    refused(TxCorked=0)


def case_second():
    """a second connection of the group, which ends as it should; its rings
    serve the next.  So do those of one that both ends abort; one whose peer
    may still write takes its key with it."""
    peer = begin()
    conn = peer.another()
    for _ in range(3):
        peer.round()
        conn.round(3000)
    conn.close()
    no_leak()
    peer.round()
    begin()
    conn = peer.another()
    assert lab.moved()["BufReused"] == 2, lab.moved()
    conn.round(5000)
    conn.abort()
    no_leak()
    refused()
    begin()
    conn = peer.another()
    assert lab.moved()["BufReused"] == 2, lab.moved()
    key = conn.kernel.key.to_bytes(4, "big")
    conn.ruin()
    await_that("its key is still used", lambda: key in peer.deleted, LIMIT)
    no_leak()
    lost(1)


def case_client():
    """the same with the kernel as the client"""
    begin()
    peer = third(Server, answers=lab.honest.answers)
    peer.connect()
    bulk(peer.conn, 2 * peer.conn.room, 9000)
    conn = peer.another()
    for _ in range(3):
        peer.round()
        conn.round()
    conn.close()
    peer.alive(ANSWER)
    peer.round()
    refused()
    part(peer)


def impossible(conn):
    """cursors after 1000 bytes each way, all read and announced"""
    for at, size in ("prod", conn.room), ("cons", conn.size):
        for cursor in ((0, size), (0, size + 1), (0, 2**31), (0, 2**32 - 1),
                       (2**15, 1000), (0, 999), (2**16 - 1, size - 1),
                       (2, 0), (1, size)):
            yield {at: cursor}
    yield {"prod": (1, 1001)}           # more than was granted
    yield {"cons": (0, 1001)}           # more than was sent
    yield {"cons": (1, 0)}
    yield {"prod": (0, 999), "cons": (0, 1001)}


def case_cursors():
    """each ends the connection that it is about, and nothing else"""
    peer = begin()
    count = len(list(impossible(peer.conn)))
    conns = [peer.another() for _ in range(count)]
    for conn in conns:
        conn.round(1000)
        conn.say()
    with Traced("smc_state") as trace:
        for conn, cursors in zip(conns, impossible(peer.conn)):
            conn.say(**cursors)
            try:
                gone(conn)
            except OSError as e:
                raise AssertionError(f"{cursors}: {e!r}") from e
            conn.wait(lambda c=conn: c.state & ABORT)
        told = trace.count("event=killed", "BADCURSOR")
    assert told == count, told
    lost(count, CdcForged=count)
    for conn in conns:
        conn.forget()
    no_leak()


def case_whole_ring():
    """the largest step that is possible: one ring, which nobody wrote"""
    peer = begin()
    conn = peer.another()
    conn.round(1000)
    conn.sent += conn.room
    conn.say()
    got = 0
    while got < conn.room:
        got += len(conn.sock.recv(65536))
    conn.wait(lambda: conn.taken == conn.sent)
    conn.round()
    conn.close()
    refused(CdcForged=0)


def case_unwritten():
    """the ring of a connection that has ended: what the peer says is there, and
    did not write, is none of its bytes"""
    peer = begin()
    conn = peer.another()
    for _ in range(2):
        conn.round(conn.room)
    conn.close()
    no_leak()
    begin()
    conn = peer.another()
    assert lab.moved()["BufReused"] == 2, lab.moved()
    conn.sent += conn.room
    conn.say()
    got = conn.sock.recv(conn.room, socket.MSG_WAITALL)
    assert len(got) == conn.room and not any(got), got[:100]
    conn.close()
    refused(CdcForged=0)


def case_tokens():
    """of no connection, of another group's, of one that has ended"""
    peer = begin()
    conn = peer.another()
    token = conn.kernel.token
    conn.close()
    no_leak()
    own = {c.kernel.token for c in peer.conns.values()}
    other = stranger(own | {token})
    lab.counters = Counters()
    forged = [token, other.kernel.token, 0, 2**32 - 1, max(own) + 7] + \
        [2**31 + lab.rng.randrange(2**31 - 2) for _ in range(8)]
    was = peer.conn.kernel.token
    for peer.conn.kernel.token in forged:
        peer.conn.say(cons=(7, 1000))
    peer.conn.kernel.token = was
    peer.alive(ANSWER)
    c = lab.moved()
    assert c["CdcUnknown"] == len(forged) and "CdcForged" not in c, c
    other.round()
    peer.round()
    if other is not lab.honest.conn:
        other.close()
    refused()


def being_born(peer, *said):
    """CDCs between Accept and Confirm"""
    conn = peer.begun()
    for how in said:
        if how == "data":
            conn.put(stream(conn.seed, conn.sent, 500))
            conn.sent += 500
            conn.say()
        else:
            conn.say(**how)
    peer.alive(ANSWER)
    conn.tcp.send(accept_r(peer.args, 3, False, conn.end))
    conn.sock = peer.accept()
    return conn


class Guesses:
    """CDCs to the token that the next connection will have, over and over"""
    def __init__(self, peer, **how):
        conn = peer.another()
        conn.close()
        no_leak()
        self.token = conn.kernel.token + 1
        self.peer, self.how, self.seq = peer, how, 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def say(self):
        self.seq += 1
        self.peer.qp.send(cdc(self.seq, self.token.to_bytes(4, "big"),
                              **{"prod": (0, 0), "cons": (0, 0), **self.how}))

    def run(self):
        while not self.over.is_set():
            self.say()
            time.sleep(0.001)

    def beside(self):
        """the connection, which has heard one at least"""
        self.say()
        said(self.peer)
        assert lab.moved()["CdcUnknown"], lab.moved()
        self.thread.start()
        try:
            conn = self.peer.another()
        finally:
            self.over.set()
            self.thread.join()
        assert conn and conn.kernel.token == self.token, "another token"
        self.say()
        said(self.peer)
        conn.seq = self.seq
        return conn


def case_guessed_tokens():
    """A peer knows the token of its next connection before it is told.  Until there
    is one it is of no connection, and then as good as later."""
    begin()
    for role in Peer, Server:
        peer = third(role, answers=lab.honest.answers)
        peer.connect()
        lab.counters = Counters()
        conn = Guesses(peer).beside()
        conn.round()
        conn.close()
        refused(CdcForged=0)
        conn = Guesses(peer, flags=(0, ABORT)).beside()
        gone(conn)
        conn.forget()
        refused(CdcForged=0)
        for cursors in {"cons": (0, 1)}, {"prod": (2, 0)}:
            lab.counters = Counters()
            conn = Guesses(peer, **cursors).beside()
            gone(conn)
            conn.forget()
            lost(1, CdcForged=1)
            no_leak()
        peer.round()
        part(peer)


def case_early_link():
    """before CONFIRM LINK has been answered: it may, and a forged one ends the
    connection when there is a link"""
    begin()
    for role in Peer, Server:
        for forged in False, True:
            peer = third(role, answers=lab.honest.answers)
            peer.contact()
            conn, request = peer.conn, None
            if role is Peer:
                conn.tcp.send(accept_r(peer.args, 3, True, conn.end))
                request = peer.llc(CONFIRM_LINK)
            conn.put(stream(conn.seed, 0, 500))
            conn.sent += 500
            conn.say(**({"cons": (0, 1)} if forged else {}))
            peer.confirm(request)
            if forged:
                gone(conn)
            else:
                conn.program_gets(500)
                conn.round()
            part(peer)
    assert lab.moved()["CdcForged"] == 2, lab.moved()
    lab.honest.round()


def case_dying_tokens():
    """The program has aborted the connection.  Soon its token is of none, also if
    its last messages are not taken, and it is not that of the next one."""
    peer = begin()
    for mute in False, True:
        no_leak()
        lab.counters = Counters()
        conn = peer.another()
        conn.round()
        peer.qp.mute = mute
        conn.reset()

        def is_unknown(c=conn):
            c.say(cons=(7, 1000))
            return lab.moved().get("CdcUnknown")

        await_that("it is still found", is_unknown, LIMIT)
        if mute:
            assert "ConnDestroyed" not in lab.moved(), lab.moved()
        forged = lab.moved().get("CdcForged", 0)    # when it was still known
        peer.qp.mute = False
        conn.wait(lambda c=conn: c.state & ABORT)
        await_that("it stays", lambda: lab.moved().get("ConnDestroyed"), LIMIT)
        unknown = lab.moved()["CdcUnknown"]
        conn.say(flags=ABORT)
        said(peer)
        assert lab.moved()["CdcUnknown"] > unknown, lab.moved()
        conn.forget()
        fresh = peer.another()
        assert fresh.kernel.token != conn.kernel.token, "its token is used"
        fresh.round()
        fresh.close()
        peer.alive(ANSWER)
        assert lab.moved().get("CdcForged", 0) == forged <= 1, lab.moved()
        assert "LgrLost" not in lab.moved(), lab.moved()
        lab.honest.round()


def repeat_key(peer, old):
    """a new connection with key and address of the ring of an older one"""
    conn = peer.begun()
    conn.end.key, conn.end.addr = old.end.key, old.end.addr
    conn.tcp.send(accept_r(peer.args, 3, False, conn.end))
    conn.sock = peer.accept()
    peer.qp.memory[old.end.key] = old.end.addr, conn.ring
    conn.round()
    return conn


def case_repeated_key():
    """An older connection, whose ring is used for another one, ends: it can send
    nothing any more.  If that was its end its last message is late, and nothing
    happens."""
    peer = begin()
    old, other, closed = (peer.another() for _ in range(3))
    for conn in old, other, closed:
        conn.round()
    fresh = [repeat_key(peer, conn) for conn in (old, other, closed)]
    closed.close()
    peer.qp.memory[closed.end.key] = closed.end.addr, fresh[2].ring
    peer.qp.send(message(DELETE_RKEY, 0, bytes((1, 0, 0, 0)) +
                         other.end.key.to_bytes(4, "big")))
    gone(other)
    old.sock.send(b"x")
    gone(old)
    other.forget()
    old.forget()
    peer.qp.memory[old.end.key] = old.end.addr, fresh[0].ring
    for conn in fresh[0], fresh[2]:
        conn.round()
        conn.close()
    fresh[1].forget()
    lost(3, CdcForged=0)
    no_leak()


def case_early_data():
    """before the Confirm: it may, and the program reads it"""
    peer = begin()
    conn = being_born(peer, "data", "data")
    conn.program_gets(1000)
    conn.round()
    conn.close()
    refused(CdcForged=0)


def case_early_declined():
    """before the handshake ends in TCP: they mean nothing there"""
    peer = begin()
    for cursors in {}, {"cons": (0, 1)}:
        conn = peer.begun()
        conn.put(b"x" * 500)
        conn.sent += 500
        conn.say(**cursors)
        peer.alive(ANSWER)
        conn.tcp.send(decline() + b"hello")
        conn.sock = peer.accept()
        assert conn.sock.recv(100) == b"hello"
        conn.sock.send(b"hello")
        assert conn.tcp.recv(5, ANSWER) == b"hello"
        conn.forget()
    lost(1, CdcForged=1)
    no_leak()


def reset_for(conn, args, first):
    """the Confirm says what it must not: the client is reset, and the program has
    nothing to accept"""
    moved = Counters()
    conn.tcp.send(accept_r(args, 3, first, conn.end))
    try:
        raise AssertionError(f"answered: {conn.tcp.recv(8, LIMIT).hex()}")
    except Reset:
        pass
    await_that("no error", lambda: moved.moved().get("HsServerErr") == 1, LIMIT)
    assert not select.select([conn.peer.lst], [], [], 0)[0], "accepted"


def case_other_port():
    """A Confirm names another queue pair than that of the link, which goes on; or
    another port than the Proposal, for a new link."""
    peer = begin()
    conn = peer.begun()
    conn.end.qpn += 1
    reset_for(conn, peer.args, False)
    conn.forget()
    refused()
    no_leak()
    other = third()
    other.contact()
    reset_for(other.conn, argparse.Namespace(
        **{**vars(other.args), "ip": socket.inet_aton("10.99.0.77")}), True)
    part(other)
    peer.round()


def case_one_piece():
    """A device that cannot receive into two pieces of memory: in a group without
    the agreement on one link it receives the longest message whole."""
    begin()
    subprocess.run(("insmod", "/lab/badverbs.ko", "dev=clcrxe", "recv_sge=1"),
                   check=True)
    try:
        peer = third(release=0, answers=(DELETE_RKEY, ADD_LINK))
        peer.connect()
        conn = peer.another()
        peer.qp.send(message(DELETE_RKEY, 0, struct.pack(
            ">B3x255I", 255, *range(1, 255), conn.end.key), 1028).ljust(
                4224, b"\xff"))
        gone(conn)
        conn.forget()
        lost(1, LlcMalformed=0)
        peer.round()
        part(peer)
    finally:
        subprocess.run(("rmmod", "badverbs"), check=True)


def with_sigio(sock, tcp):
    """SIGRTMIN for this thread; the others do not block it"""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
    fcntl.fcntl(sock, fcntl.F_SETSIG, signal.SIGRTMIN)
    fcntl.fcntl(sock, F_SETOWN_EX, struct.pack("ii", F_OWNER_TID,
                                               threading.get_native_id()))
    flags = fcntl.fcntl(sock, fcntl.F_GETFL)
    fcntl.fcntl(sock, fcntl.F_SETFL, flags | os.O_ASYNC)
    return sock, tcp


def signalled(event):
    """waits for a signal that tells of it"""
    while True:
        told = signal.sigtimedwait({signal.SIGRTMIN}, LIMIT)
        assert told, f"no signal for {event}"
        if told.si_band & event:
            return


def case_early_signal():
    """before connect() has its outcome, SMC or TCP: SIGIO tells of that, and then
    of them"""
    begin()
    peer = third(Server, answers=lab.honest.answers)
    peer.dial = lambda: with_sigio(*Server.dial(peer))
    peer.contact()
    peer.conn.write(stream(peer.conn.seed, 0, 500))
    peer.confirm()
    signalled(select.POLLOUT)
    signalled(select.POLLIN)
    peer.conn.program_gets(500)
    sock, tcp = peer.call()
    tcp.send(decline() + b"hello")
    signalled(select.POLLOUT)
    signalled(select.POLLIN)
    assert sock.recv(6) == b"hello"
    sock.close()
    tcp.rst()
    part(peer)


def case_early_end():
    """before the Confirm: the last word, and the program reads the end"""
    peer = begin()
    conn = being_born(peer, "data", {"flags": DONE | CLOSED})
    assert len(conn.sock.recv(1000)) == 500
    conn.close()
    refused(CdcForged=0)
    conn = being_born(peer, "data", {"flags": ABORT})
    gone(conn)
    conn.forget()
    peer.round()
    no_leak()


def case_early_forged():
    """before the Confirm: a cursor of what was not sent"""
    peer = begin()
    for cursors in {"cons": (0, 1)}, {"prod": (2, 0)}, {"cons": (1, 0)}:
        conn = being_born(peer, cursors)
        gone(conn)
        conn.forget()
    lost(3, CdcForged=3)
    no_leak()
