# SPDX-License-Identifier: GPL-2.0
"""smcpeer - a host that speaks SMC-R over RoCE, for tests of its other end

Each Peer is a host with a link group of its own, client or server of it.  It is
honest unless a test makes it say something else: its connections move data in
both directions, with the rings, cursors and checks that RFC 7609 asks for, and
it answers the LLC requests named in Peer.answers.

Context: run by hostile_rdma.py and linkdown.py over minitcp.py and roce.py.
What the kernel sends is taken by the thread of the device, under net.cond.
"""
import argparse
import itertools
import queue
import random
import socket
import struct
import time

from clcmsg import UEID, End, accept_r, proposal
from limits import limit
from minitcp import MAGIC, Net
from roce import Qp

KERNEL, PORT = "10.99.0.1", 7600
CDC = 0xfe
CONFIRM_LINK, ADD_LINK, DELETE_LINK, REQ_ADD_LINK = 0x21, 0x22, 0x24, 0x25
CONFIRM_RKEY, TEST_LINK, DELETE_RKEY = 0x26, 0x27, 0x29
RESPONSE, NO_EYEC, DL_ALL, REJECT = 0x80, 0x03, 0x40, 0x40
BLOCKED, ASKED = 0x80, 0x10             # producer flags
DONE, CLOSED, ABORT = 0x80, 0x40, 0x20  # state flags
FIRST = 0x08                            # an Accept of a new group
IMM = 0x8000                            # feature: data by WRITE WITH IMMEDIATE
HONEST = (ADD_LINK, CONFIRM_RKEY, TEST_LINK, DELETE_RKEY)
LIMIT = limit(20)
NOISE = random.Random(1).randbytes(65521)
numbers = itertools.count()


def stream(seed, pos, n):
    """bytes of a stream that repeats itself at no power of two"""
    at = (seed * 7919 + pos) % len(NOISE)
    return (NOISE[at:at + n] + NOISE * (1 + n // len(NOISE)))[:n]


def message(kind, flags=0, rest=b"", length=44):
    """an LLC message of version 2"""
    head = struct.pack("<BHB", kind, length, flags)
    return (head + rest).ljust(length, b"\0")


def cdc(seq, token, prod, cons, flags=(0, 0), kind=b"\xfe\x2c"):
    """prod, cons: (wrap, count)"""
    return kind + struct.pack(">H4s2xHI2xHIBB18x", seq & 0xffff, token, *prod,
                              *cons, *flags)


class Broken(Exception):
    """the kernel has broken the rules"""


class Conn:
    """a connection; the ring of each end is described by its End"""
    def __init__(self, peer, end):
        self.peer, self.net, self.end = peer, peer.net, end
        self.size = 0x4000 << end.size_code
        self.ring = bytearray(self.size)
        self.token = end.token.to_bytes(4, "big")
        self.tcp = self.sock = None
        self.kernel, self.room, self.mtu = None, 0, 0
        self.seed = end.token
        self.seq = self.kernel_seq = 0
        # sent, and taken by the program; received, and read by us
        self.sent = self.taken = self.got = self.read = self.told = 0
        self.flags = self.wanted = self.state = self.imms = 0
        self.bad = None
        peer.qp.memory[end.key] = end.addr, self.ring
        peer.conns[self.token] = self

    def learn(self, msg):
        """from the Accept or Confirm of the kernel"""
        k = self.kernel = End()
        k.key, index, k.token, size, k.addr = struct.unpack(
            ">IBIBxQ", msg[41:60])
        k.size_code, self.mtu = size >> 4, size & 15
        k.qpn, k.psn = (int.from_bytes(msg[a:a + 3], "big") for a in (38, 61))
        self.room = 0x4000 << k.size_code
        assert index == 1, msg.hex()

    def wait(self, is_so, seconds=LIMIT):
        end = time.monotonic() + seconds
        with self.net.cond:
            while not is_so():
                if self.bad:
                    raise Broken(self.bad)
                left = end - time.monotonic()
                assert left > 0, (self.sent, self.taken, self.got, self.read)
                self.net.cond.wait(left)

    # what the kernel says

    @staticmethod
    def position(size, old, limit_pos, cursor):
        if not size:            # a client speaks before we have its Confirm
            return 0 if cursor == (0, 0) else None
        wrap, count = cursor
        pos = old // size * size + count
        if wrap != old // size & 0xffff:
            pos += size
        if count >= size or wrap != pos // size & 0xffff or \
                not old <= pos <= limit_pos:
            return None
        return pos

    def on_cdc(self, p):
        seq, prod, cons = struct.unpack(">H", p[2:4])[0], \
            struct.unpack(">HI", p[10:16]), struct.unpack(">HI", p[18:24])
        got = self.position(self.size, self.got, self.read + self.size, prod)
        taken = self.position(self.room, self.taken, self.sent, cons)
        if seq != self.kernel_seq + 1 & 0xffff or got is None or \
                taken is None or len(p) != 44 or any(p[26:]):
            self.bad = f"{p.hex()} after {self.kernel_seq}, {self.got}, " \
                f"{self.taken}"
        else:
            self.kernel_seq, self.got, self.taken = seq, got, taken
            self.wanted, self.state = p[24], self.state | p[25]
        self.net.cond.notify_all()

    def on_imm(self, blocked, addr, key, length):
        """bytes without a CDC, right behind the others"""
        if not self.peer.features & IMM or not length or key != self.end.key or \
                addr != self.end.addr + self.got % self.size or \
                length > self.size - self.got % self.size or \
                length > self.size - (self.got - self.read):
            self.bad = f"{length} at {addr:#x}, {key:#x} after {self.got}"
        else:
            self.kernel_seq = self.kernel_seq + 1 & 0xffff
            self.got += length
            self.wanted = BLOCKED if blocked else 0
            self.imms += 1
        self.net.cond.notify_all()

    # what we say

    def bare(self, data, token=None):
        """into the kernel's ring, in one piece, without a CDC; token: of another"""
        at = self.sent % self.room
        assert len(data) <= self.room - at
        self.sent += len(data)
        self.seq += 1
        full = self.sent - self.taken == self.room
        self.peer.qp.write_imm(self.kernel.addr + at, self.kernel.key, data,
                               (token or self.kernel.token) | full << 31)

    def put(self, data):
        """into the kernel's ring, in up to two pieces"""
        at = self.sent % self.room
        end = self.room - at
        for off, piece in (at, data[:end]), (0, data[end:]):
            if piece:
                self.peer.qp.write(self.kernel.addr + off, self.kernel.key,
                                   piece)

    def say(self, flags=0, prod=None, cons=None, **more):
        """a CDC; prod and cons: a cursor instead of the honest one"""
        self.seq += 1
        self.flags |= flags
        self.told = self.read
        blocked = BLOCKED if self.sent - self.taken == self.room else 0
        self.peer.qp.send(cdc(
            self.seq, self.kernel.token.to_bytes(4, "big"),
            prod or (self.sent // self.room & 0xffff, self.sent % self.room),
            cons or (self.read // self.size & 0xffff, self.read % self.size),
            (blocked, self.flags), **more))

    def write(self, data):
        while data:
            self.wait(lambda: self.sent - self.taken < self.room)
            n = min(self.room - (self.sent - self.taken), len(data))
            self.put(data[:n])
            self.sent += n
            data = data[n:]
            self.say()

    def receive(self, n):
        out = b""
        while len(out) < n:
            self.wait(lambda: self.got > self.read)
            take = min(n - len(out), self.got - self.read)
            at = self.read % self.size
            out += self.ring[at:at + take]
            out += self.ring[:at + take - self.size] \
                if at + take > self.size else b""
            self.read += take
            if self.wanted & (BLOCKED | ASKED) or \
                    self.read - self.told > self.size // 10:
                self.say()
        return out

    # the program of the other end

    def program_gets(self, n):
        pos, got = self.sent - n, b""
        while len(got) < n:
            data = self.sock.recv(n - len(got))
            assert data, f"end of file at {pos + len(got)}"
            got += data
        assert got == stream(self.seed, pos, n), f"wrong bytes after {pos}"

    def round(self, n=700):
        """data moves in both directions and arrives as it was"""
        self.write(stream(self.seed, self.sent, n))
        self.program_gets(n)
        self.sock.sendall(stream(~self.seed, self.read, n))
        pos = self.read
        assert self.receive(n) == stream(~self.seed, pos, n), \
            f"wrong bytes after {pos}"
        assert not self.peer.qp.strays, self.peer.qp.strays

    def close(self):
        """both ends; the kernel then gives its ring up or keeps it"""
        self.say(DONE | CLOSED)
        assert self.sock.recv(1) == b"", "no end of file"
        self.sock.close()
        self.wait(lambda: self.state & (CLOSED | ABORT))
        self.forget()

    def abort(self):
        """by the program, and we agree"""
        self.reset()
        self.wait(lambda: self.state & ABORT)
        self.say(ABORT | CLOSED)
        self.forget()

    def ruin(self):
        """the kernel ends it, whatever its last sequence number was, and gives
        up its ring"""
        token = self.kernel.token.to_bytes(4, "big")
        for seq in range(0, 65536, 16384):
            self.peer.qp.send(cdc(seq, token, (0, 2**31), (0, 2**31)))
        self.forget()

    def reset(self):
        if self.sock and self.sock.fileno() >= 0:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                 struct.pack("ii", 1, 0))
            self.sock.close()

    def forget(self):
        """nothing is expected of it any more"""
        self.reset()
        self.peer.conns.pop(self.token, None)
        self.peer.qp.memory.pop(self.end.key, None)
        if self.tcp:
            self.tcp.rst()


class Peer:
    """a host with one link to the kernel, which is the server"""
    def __init__(self, net=None, ring=131072, host=2, port=PORT, answers=(), *,
                 release=1, features=0, up=True):
        """ring: of the kernel's connections; host: last byte of its address;
        answers: LLC requests it answers by itself, the others are in
        qp.messages; up: with a first connection"""
        self.net = net or Net("clc0", "10.99.0.2", KERNEL)
        self.ip = socket.inet_aton(f"10.99.0.{host}")
        self.net.ips.add(self.ip)
        self.args = argparse.Namespace(ip=self.ip, mac=self.net.MAC, ueid=UEID)
        self.answers, self.release, self.port = answers, release, port
        self.features = features
        self.ring, self.lst = ring, None
        self.listen()
        self.conns, self.unknown, self.deleted = {}, [], []
        self.qp = self.conn = None
        if up:
            self.connect()

    def listen(self):
        """the program of the kernel's end"""
        self.lst = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 256)
        self.lst.settimeout(LIMIT)
        self.lst.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.lst.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.ring)
        self.lst.bind((KERNEL, self.port))
        self.lst.listen(1024)

    def accept(self):
        sock = self.lst.accept()[0]
        sock.settimeout(LIMIT)
        return sock

    def new_end(self, qpn=None):
        i = next(numbers)
        end = End()
        end.release, end.size_code = self.release, 0
        end.features = self.features
        end.qpn = qpn or self.qp.number
        end.token, end.key = End.token + i, End.key + 256 * i
        end.addr = End.addr + (i << 32)
        return end

    def new_link(self):
        """a queue pair, and the first connection's end"""
        if self.qp:
            self.net.qps.pop(self.qp.number)
        qpn = End.qpn + 256 * next(numbers)
        self.conns = {}
        self.qp = Qp(self.net, qpn, End.psn, self.ip)
        self.qp.take, self.qp.take_imm = self.on_message, self.on_imm
        return Conn(self, self.new_end(qpn))

    def meet(self, conn):
        self.qp.peer, self.qp.expected = conn.kernel.qpn, conn.kernel.psn
        self.conn = conn

    # the first connection, field by field what a caller may want
    tcp = property(lambda self: self.conn.tcp)
    sock = property(lambda self: self.conn.sock)
    token = property(lambda self: self.conn.kernel.token.to_bytes(4, "big"))

    def connect(self):
        """the first connection of a new group"""
        self.contact()
        self.conn.tcp.send(accept_r(self.args, 3, True, self.conn.end))
        self.confirm(self.llc(CONFIRM_LINK))

    def contact(self):
        """up to the Accept"""
        conn = self.new_link()
        conn.tcp, acc = self.proposed()
        assert acc and acc[7] & FIRST, "declined, or not a new group"
        conn.learn(acc)
        self.meet(conn)

    def confirm(self, request):
        self.qp.send(message(
            CONFIRM_LINK, RESPONSE | NO_EYEC, self.link_self(request[29])))
        self.conn.sock = self.accept()

    def link_self(self, link_id):
        return self.net.MAC + bytes(10) + b"\xff\xff" + self.ip + \
            self.qp.number.to_bytes(3, "big") + bytes((link_id,)) + \
            b"\0\0\0\7\2\xff"

    def proposed(self, ip=None):
        """a connection by TCP and the Accept, None for a Decline"""
        tcp = self.net.connect(self.port, True, LIMIT, ip or self.ip)
        assert tcp.option, "no SMC"
        tcp.send(proposal(self.args, self.new_end(1)))
        return tcp, self.clc(tcp, 2)

    @staticmethod
    def clc(tcp, want):
        head = tcp.recv(8, LIMIT)
        kind, length = struct.unpack(">BH", head[4:7])
        assert head[:4] == MAGIC and kind in (want, 4), head.hex()
        msg = head + tcp.recv(length - 8, LIMIT)
        return msg if kind == want else None

    def begun(self):
        """a connection on the link up to the Accept; None if it is declined"""
        conn = Conn(self, self.new_end())
        conn.tcp, acc = self.proposed()
        if acc:
            assert not acc[7] & FIRST, "not into the group"
            conn.learn(acc)
            return conn
        conn.sock = self.accept()
        conn.forget()
        return None

    def another(self):
        """one more connection on the link; None if it is declined"""
        conn = self.begun()
        if conn:
            conn.tcp.send(accept_r(self.args, 3, False, conn.end))
            conn.sock = self.accept()
        return conn

    # LLC

    def on_message(self, p):
        """by the thread of the device; true: it is done with"""
        if p and p[0] == CDC:
            conn = self.conns.get(p[4:8])
            if conn:
                conn.on_cdc(p)
            else:
                self.unknown.append(p)
            return True
        if len(p) < 44 or p[3] & RESPONSE or p[0] not in self.answers:
            return False
        if p[0] == DELETE_RKEY:
            self.deleted += (p[a:a + 4] for a in range(8, 8 + 4 * p[4], 4))
        flags = RESPONSE | (REJECT if p[0] == ADD_LINK else 0)
        self.qp.send(p[:3] + bytes([p[3] | flags]) + p[4:])
        return True

    def on_imm(self, imm, *written):
        """likewise, a WRITE WITH IMMEDIATE"""
        token = (imm & 0x3fffffff).to_bytes(4, "big")
        conn = self.conns.get(token)
        if conn:
            conn.on_imm(imm >> 31, *written)
        else:
            self.unknown.append(token)

    def llc(self, kind, seconds=LIMIT):
        """the next message of this kind"""
        end = time.monotonic() + seconds
        while True:
            left = max(0, end - time.monotonic())
            data = self.qp.messages.get(timeout=left)
            if data[0] == kind:
                return data

    def alive(self, seconds=LIMIT):
        """the link answers, so that it has seen all that was sent before"""
        self.qp.send(message(TEST_LINK, 0, b"0123456789abcdef"))
        assert self.llc(TEST_LINK, seconds)[4:20] == b"0123456789abcdef"

    def round(self, n=700):
        self.conn.round(n)

    def disconnect(self):
        for conn in list(self.conns.values()):
            conn.forget()

    def leave(self):
        """the group ends, as the peer wants it, and so does its listener"""
        if self.conn:
            if self.qp.error is None:
                self.qp.send(message(DELETE_LINK, DL_ALL, b"\0\0\3\0\0"))
            self.disconnect()
        self.lst.close()


class Server(Peer):
    """the same, but the kernel is the client"""
    def listen(self):
        self.callers, self.offer = queue.Queue(), None
        self.lst = socket.socket()      # closed with the peer
        self.net.listen(self.port, True, self.callers.put)

    def dial(self):
        """the kernel's program connects: its socket, the TCP connection"""
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 256)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.ring)
        sock.setblocking(False)
        sock.connect_ex((socket.inet_ntoa(self.ip), self.port))
        tcp = self.callers.get(timeout=LIMIT)
        assert tcp.option, "no SMC"
        return sock, tcp

    def call(self):
        """the same, and the Proposal"""
        sock, tcp = self.dial()
        self.offer = self.clc(tcp, 1)
        assert self.offer, "a Decline"
        return sock, tcp

    def called(self, conn, first):
        """up to the Confirm"""
        conn.sock, conn.tcp = self.call()
        conn.tcp.send(accept_r(self.args, 2, first, conn.end))
        msg = self.clc(conn.tcp, 3)
        if msg:
            conn.learn(msg)
            conn.sock.settimeout(LIMIT)
        return msg

    def connect(self):
        self.contact()
        self.confirm()

    def contact(self):
        """up to the Confirm"""
        conn = self.new_link()
        assert self.called(conn, True), "declined"
        self.meet(conn)

    def confirm(self, request=None):
        self.qp.send(message(CONFIRM_LINK, NO_EYEC, self.link_self(1)))
        assert self.llc(CONFIRM_LINK)[3] & RESPONSE

    def another(self):
        conn = Conn(self, self.new_end())
        if self.called(conn, False):
            return conn
        conn.forget()
        return None
