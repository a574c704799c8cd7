#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""migrate - children of a listener that goes, at another of the same port

With net.ipv4.tcp_migrate_req TCP gives what waits in a listener that goes to
another one of its SO_REUSEPORT group.  A child may be in the middle of SMC's
handshake then, or may not exist yet.  If the other listener is ours the client
is served there; if it is TCP's, or asked for plain TCP, the client is reset, as
without migration; the program sees none of the handshake's bytes.  Names: how
the listener goes, where to, what the client has sent before and sends after
that:

  silent   nothing; then, once it is accepted, bytes of a program
  propose  a Proposal after that, and declines
  half     a Proposal before, the Decline after that
  garbled  as "half", but no message that a server takes
  request  only the SYN before, then as "propose"
  tcp      no option: what TCP does, between two listeners of TCP
  both     no option, and one like "half" whose handshake then fails

SOCK_DESTROY of the TCP listener does not come to us: the other listener, one of
TCP's, gets the child, and the handshake's next step resets it.

Needs a TAP device clc0 with an RDMA port (see migrate.sh) and root.
"""
import argparse
import ctypes
import errno
import functools
import socket
import struct
import sys
import threading
import time

import cases
import clcmsg
from limits import await_that, limit
from minitcp import ACK, MAGIC, SYN, Net, Reset, Timeout
from sockdiag import PROTO_SMC, destroy, sock_id

KERNEL, PEER = "10.99.0.1", "10.99.0.2"
SO_COOKIE, SOL_SMC, SMC_PLAIN_TCP = 57, 286, 256
BARRED = -1                 # of SMC, by SMC_PLAIN_TCP before listen()
TCP_INFO_UNACKED = 24       # of a listener: children in its queue
DECLINE = 4


class HalfNet(Net):
    """keeps the last message of the handshake of TCP back while told so"""
    mute = False

    def segment(self, c, flags, seq, options=b"", data=b""):
        if not self.mute or flags & SYN or not flags & ACK:
            super().segment(c, flags, seq, options, data)


net = HalfNet("clc0", PEER, KERNEL)
args = argparse.Namespace(ip=net.ip, mac=net.MAC, ueid=clcmsg.UEID)


def listener(proto, port=0):
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM,
                      PROTO_SMC if proto == BARRED else proto)
    if proto == BARRED:
        s.setsockopt(SOL_SMC, SMC_PLAIN_TCP, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.bind((KERNEL, port))
    s.listen(8)
    return s


def disconnect(s):
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.connect(s.fileno(), bytes(16), 16) == 0, ctypes.get_errno()


def destroy_tcp(s):
    """as "ss -K"; the peer decides which listener of the group is found"""
    cookie = s.getsockopt(socket.SOL_SOCKET, SO_COOKIE, 8)
    for port in range(1, 100):
        try:
            destroy(sock_id(s.getsockname(), (PEER, port), cookie), False)
            return
        except OSError as e:
            assert e.errno == errno.ENOENT, e
    raise AssertionError("the listener is not found")


ENDS = {"close": socket.socket.close,
        "shutdown": lambda s: s.shutdown(socket.SHUT_RDWR),
        "unspec": disconnect}


def migrated():
    """requests and children that TCP has moved"""
    with open("/proc/net/netstat", encoding="ascii") as f:
        lines = [x.split() for x in f if x.startswith("TcpExt:")]
    return int(dict(zip(*lines))["TCPMigrateReqSuccess"])


def waiting(lst):
    info = lst.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return struct.unpack_from("=I", info, TCP_INFO_UNACKED)[0]


def read_message(c):
    """type of the next one of the handshake"""
    head = c.recv(8, limit(20))
    assert head[:3] == MAGIC[:3], f"the client reads {head}"
    c.recv(struct.unpack(">H", head[5:7])[0] - 8, limit(20))
    return head[4]


def propose(c):
    c.send(clcmsg.proposal(args))
    return read_message(c)


class Accepting(threading.Thread):
    """accept() that waits (poll() would look again when its time is over), and
    then reads again and again until there is something"""
    def __init__(self, lst):
        super().__init__(daemon=True)
        self.lst, self.got = lst, None
        self.data = self.error = None
        lst.settimeout(None)
        self.start()

    def run(self):
        try:
            conn = self.lst.accept()[0]
            conn.settimeout(0)
            self.got = conn
        except OSError:
            return
        while self.data is None and not self.error:
            try:
                self.data = self.got.recv(1000)
            except BlockingIOError:
                time.sleep(0.0005)
            except OSError as e:
                self.error = e

    def read(self):
        """what the program has read; raises its error"""
        await_that("the program reads nothing", lambda: self.error or
                   self.data is not None, limit(20))
        if self.error:
            raise self.error
        return self.data

    def result(self, c):
        """the connection; None: the client was reset"""
        end = time.monotonic() + limit(10)
        while not self.got and not c.was_reset and time.monotonic() < end:
            time.sleep(0.05)
        if self.got or c.was_reset:
            return self.got
        self.lst.settimeout(0)
        try:
            self.lst.accept()[0].close()
            raise AssertionError("accept() is not woken for the child, "
                                 "and would return it")
        except BlockingIOError:
            raise AssertionError(f"no connection and no reset; "
                                 f"{waiting(self.lst)} in the queue") from None


def is_reset(c):
    await_that("the client is not reset", lambda: c.was_reset, limit(20))


def is_empty(lst):
    await_that("one stays in the queue", lambda: waiting(lst) == 0, limit(10))


def served(c, accepting):
    """the bytes of both programs, and nothing else"""
    c.send(b"hello")
    got = accepting.read()
    assert got == b"hello", f"the program reads {got[:24]}..."
    accepting.got.sendall(b"back")
    head = c.recv(4, limit(20))
    if head == MAGIC:
        more = c.recv(4, limit(20))
        assert more[0] == DECLINE, "another message"
        c.recv(struct.unpack(">H", more[1:3])[0] - 8, limit(20))
        head = c.recv(4, limit(20))
    assert head == b"back", f"the client reads {head}"


def before(c, kind):
    if kind in ("half", "garbled"):
        assert propose(c) != DECLINE, "declined"


def after(c, kind):
    if kind in ("propose", "request"):
        if propose(c) != DECLINE:
            c.send(clcmsg.decline())
    elif kind == "half":
        c.send(clcmsg.decline())
    elif kind == "garbled":
        c.send(MAGIC + bytes.fromhex("03002020") + bytes(24))


def open_client(port, kind):
    net.mute = kind == "request"
    c = net.connect(port, kind != "tcp", limit(10))
    if kind != "tcp":
        assert c.option, "no SMC is offered"
    return c


def in_queue(lst, number=1):
    await_that("not in the queue", lambda: waiting(lst) == number, limit(10))


def at_listener(c, lst, kind):
    """the client comes to accept() that waits, unless its handshake fails"""
    accepting = Accepting(lst)
    try:
        after(c, kind)
        if kind == "garbled":
            is_reset(c)
            is_empty(lst)
            assert not accepting.got, "accept() returns a failed child"
        else:
            assert accepting.result(c), "the client is reset"
            served(c, accepting)
    except Reset:
        raise AssertionError("the client is reset") from None
    except Timeout:
        raise AssertionError(f"no answer for the client, the program has read "
                             f"{accepting.data}") from None
    finally:
        if not c.was_reset:
            c.rst()
        lst.shutdown(socket.SHUT_RDWR)
        accepting.join(limit(10))
        if accepting.got:
            accepting.got.close()


def at_plain(c, lst):
    """the client is reset, and the next one is served"""
    is_reset(c)
    is_empty(lst)
    c = open_client(lst.getsockname()[1], "tcp")
    at_listener(c, lst, "tcp")


def play(end, proto, kind):
    moved = migrated()
    first = listener(0 if kind == "tcp" else PROTO_SMC)
    c = open_client(first.getsockname()[1], kind)
    before(c, kind)
    if kind != "request":
        in_queue(first)
    with listener(proto, first.getsockname()[1]) as second:
        ENDS[end](first)
        first.close()
        if kind == "request":
            net.mute = False
            net.segment(c, ACK, c.snd_nxt)
        if proto == PROTO_SMC or kind == "tcp":
            await_that("not migrated", lambda: migrated() > moved, limit(10))
            at_listener(c, second, kind)
        else:
            at_plain(c, second)
            assert migrated() == moved, "migrated"


def case_close_ours_both():
    first = listener(PROTO_SMC)
    port = first.getsockname()[1]
    plain = open_client(port, "tcp")
    in_queue(first)
    c = open_client(port, "half")
    before(c, "half")
    in_queue(first, 2)
    with listener(PROTO_SMC, port) as second:
        first.close()
        in_queue(second, 2)
        after(c, "garbled")
        is_reset(c)
        in_queue(second, 1)
        at_listener(plain, second, "tcp")


def case_destroy_plain_half():
    first = listener(PROTO_SMC)
    c = open_client(first.getsockname()[1], "half")
    before(c, "half")
    in_queue(first)
    with listener(0, first.getsockname()[1]) as second:
        second.settimeout(limit(20))
        destroy_tcp(first)
        conn = second.accept()[0]
        with conn:
            conn.settimeout(limit(20))
            after(c, "half")
            is_reset(c)
            # it may have been quicker than the handshake's step
            try:
                conn.recv(1000)
                conn.recv(1000)
            except ConnectionResetError:
                pass
        first.close()


for _end in ENDS:
    globals()[f"case_{_end}_tcp"] = functools.partial(play, _end, 0, "tcp")
    for _to, _proto in ("ours", PROTO_SMC), ("plain", 0):
        for _kind in "silent", "propose", "half", "garbled", "request":
            # the client's part is the same, however the listener goes
            if _end == "close" or _kind in ("silent", "propose"):
                globals()[f"case_{_end}_{_to}_{_kind}"] = functools.partial(
                    play, _end, _proto, _kind)
for _kind in "half", "request":
    globals()[f"case_close_barred_{_kind}"] = functools.partial(
        play, "close", BARRED, _kind)
sys.exit(cases.main(globals()))
