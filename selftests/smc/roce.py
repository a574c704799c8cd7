# SPDX-License-Identifier: GPL-2.0
"""roce - one end of an RDMA connection, for a peer that says what it likes

RoCE version 2 by hand over the device of minitcp.py: messages of any length,
memory that the kernel can write to, acknowledgements, and packets sent again
when the kernel asks for it.  There is no timeout of its own: enough for a wire
that loses nothing.  Told so, it acknowledges nothing, refuses everything or has
no receive for a message.

Context: used by smcpeer.py; nothing here knows SMC.  Fields are guarded by
net.cond.
"""
import collections
import queue
import struct
import threading
import time
import zlib

from limits import limit
from minitcp import Timeout

PORT = struct.pack(">H", 4791)
SEND_ONLY, WRITE_ONLY, READ, ACK, ADD = 0x04, 0x0a, 0x0c, 0x11, 0x14
SEND_IMM, WRITE_IMM, SEND_INV = 0x05, 0x0b, 0x17
WRITE_LAST_IMM = 0x09
FIRST = {SEND_ONLY: 0, WRITE_ONLY: 6}   # then MIDDLE and LAST
SENDS, WRITES = (0, 1, 2, 4), (6, 7, 8, WRITE_LAST_IMM, 10, WRITE_IMM)
LAST = (2, 4, 8, WRITE_LAST_IMM, 10, WRITE_IMM)
HAS_RETH = (6, 10, WRITE_IMM)
HAS_IMM = (WRITE_LAST_IMM, WRITE_IMM)
M24 = 0xFFFFFF
MTU = 1024
WINDOW = 64             # packets without an acknowledgement
TAKEN, RNR, LOST, ACCESS = 0x1f, 0x36, 0x60, 0x62      # RNR: 20 ms


def icrc(ip, rest):
    """CRC over what no router changes"""
    ip = ip[:1] + b"\xff" + ip[2:8] + b"\xff" + ip[9:10] + b"\xff\xff" + ip[12:]
    udp, bth = rest[:8], rest[8:]
    crc = zlib.crc32(b"\xff" * 8 + ip + udp[:6] + b"\xff\xff" + bth[:4] +
                     b"\xff" + bth[5:])
    return struct.pack("<I", crc)


def reth(addr, key, length):
    return struct.pack(">QII", addr, key, length)


def distance(a, b):
    """a - b of two packet numbers"""
    return ((a - b + 0x800000) & M24) - 0x800000


def dispatch(net, p):
    """by the thread of the device"""
    qp = net.qps.get(int.from_bytes(p[5:8], "big"))
    if qp and qp.peer is not None:
        qp.on_packet(p)


class Qp:
    """a reliable queue pair"""
    def __init__(self, net, number, psn, ip=None):
        self.net, self.number, self.psn = net, number, psn
        self.ip = ip or net.ip
        self.peer, self.msn = None, 0
        self.expected = None    # the kernel's next packet
        self.messages = queue.Queue()
        self.take = None        # called with each message; true: it took it
        self.take_imm = None    # called with immediate data, address, key, length
        self.memory = {}        # key: (address, bytearray)
        self.strays = []        # writes that hit no memory
        self.acked = -1
        self.error = None       # a NAK that ends the queue pair
        self.mute = False       # take and acknowledge nothing
        self.late = False       # take, and acknowledge when this ends: on_time()
        self.missed = 0         # packets that came meanwhile
        self.refuse = None      # the syndrome of a NAK
        self.receives = None    # how many are posted, if they are counted
        self.flight = collections.deque()
        self.part, self.target, self.asked = b"", None, False
        self.written = None     # address, key and length of the last write
        net.qps[number] = self
        net.udp[PORT] = lambda p: dispatch(net, p)

    # sending

    def packet(self, opcode, psn, rest, ack_please):
        pad = -len(rest) % 4
        bth = struct.pack(">BBHII", opcode, 0x40 | pad << 4, 0xffff, self.peer,
                          ack_please << 31 | psn & M24)
        data = bth + rest + bytes(pad)
        udp = struct.pack(">HHHH", 0xd000, 4791, 8 + len(data) + 4, 0) + data
        head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp) + 4, 0,
                           0x4000, 64, 17, 0, self.ip, self.net.peer_ip)
        self.net.ip_packet(17, udp + icrc(head, udp), self.ip)

    def room(self):
        """wait until another packet may go; the thread of the device does not,
        as it is the one that would see the acknowledgement"""
        end = time.monotonic() + limit(60)
        while len(self.flight) >= WINDOW and self.error is None and \
                threading.current_thread() is not self.net.thread:
            left = end - time.monotonic()
            if left < 0:
                raise Timeout("no acknowledgement")
            self.net.cond.wait(left)

    def post(self, opcode, rest, last):
        p = opcode, self.psn, rest, last
        self.flight.append(p)
        self.psn += 1
        self.packet(*p)

    def send(self, data, opcode=SEND_ONLY, head=b""):
        """head: the headers that the opcode needs after BTH"""
        with self.net.cond:
            self.room()
            if len(data) <= MTU or opcode not in FIRST:
                self.post(opcode, head + data, 1)
                return
            first = FIRST[opcode]
            for at in range(0, len(data), MTU):
                last = at + MTU >= len(data)
                self.post(first + (2 if last else at > 0),
                          (b"" if at else head) + data[at:at + MTU], last)

    def write(self, addr, key, data):
        self.send(data, WRITE_ONLY, reth(addr, key, len(data)))

    def write_imm(self, addr, key, data, imm):
        """one packet"""
        assert len(data) <= MTU
        self.send(data, WRITE_IMM, reth(addr, key, len(data)) +
                  struct.pack(">I", imm))

    def await_acks(self, seconds):
        """until the kernel's device has everything, or has refused it"""
        end = time.monotonic() + seconds
        with self.net.cond:
            while self.flight and self.error is None:
                left = end - time.monotonic()
                if left < 0:
                    raise Timeout("no acknowledgement")
                self.net.cond.wait(left)
            return self.error

    def again(self):
        with self.net.cond:
            if self.error is None:
                for p in self.flight:
                    self.packet(*p)

    # receiving, by the thread of the device

    def on_ack(self, psn, syndrome):
        done = psn if syndrome < 0x20 else psn - 1
        while self.flight and distance(self.flight[0][1], done) <= 0:
            self.flight.popleft()
        if syndrome < 0x20:
            self.acked = psn
        elif syndrome >> 5 == 1:
            threading.Timer(0.01, self.again).start()
        elif syndrome == LOST:
            self.again()
        else:
            self.error = syndrome
        self.net.cond.notify_all()

    def answer(self, psn, syndrome):
        self.packet(ACK, psn, struct.pack(">I", syndrome << 24 |
                                          self.msn & M24), 0)

    def taken(self):
        if not self.late:
            self.answer(self.expected - 1, TAKEN)

    def on_time(self):
        with self.net.cond:
            self.late = False
            self.taken()

    def in_order(self, psn):
        ahead = distance(psn, self.expected)
        if ahead < 0:           # it has come before
            self.taken()
        elif ahead and not self.asked:
            self.asked = True
            self.answer(self.expected, LOST)
        return not ahead

    def on_packet(self, p):
        opcode, flags = p[0], p[1]
        psn = int.from_bytes(p[9:12], "big")
        if opcode == ACK:
            self.on_ack(psn, p[12])
            return
        if self.mute:
            self.missed += 1
            return
        if self.expected is None:
            self.expected = psn
        if opcode not in SENDS + WRITES or not self.in_order(psn):
            return
        if self.refuse:
            self.answer(psn, self.refuse)
            self.asked = True
            return
        body = p[12:len(p) - 4 - (flags >> 4 & 3)]
        if opcode in SENDS and not self.on_send(opcode, psn, body):
            return
        if opcode in WRITES and not self.on_write(opcode, body):
            self.answer(psn, ACCESS)
            return
        self.asked = False
        self.expected = psn + 1 & M24
        if opcode in LAST:
            self.msn += 1
        # a message may have made it mute
        if p[8] & 0x80 and not self.mute:
            self.taken()
        self.net.cond.notify_all()

    def on_send(self, opcode, psn, body):
        if self.receives is not None:
            if not self.receives:
                self.answer(psn, RNR)
                self.asked = True
                return False
            self.receives -= opcode in LAST
        self.part += body
        if opcode in LAST:
            body, self.part = self.part, b""
            if not (self.take and self.take(body)):
                self.messages.put(body)
        return True

    def on_write(self, opcode, body):
        if opcode in HAS_RETH:
            addr, key, length = struct.unpack(">QII", body[:16])
            body = body[16:]
            self.written = addr, key, length
            base, mem = self.memory.get(key, (0, b""))
            # without a length it needs neither key nor address
            if length and not base <= addr <= addr + length <= base + len(mem):
                self.strays.append((addr, key, length))
                return False
            self.target = mem, addr - base
        imm = None
        if opcode in HAS_IMM:
            imm, body = int.from_bytes(body[:4], "big"), body[4:]
        mem, at = self.target
        if body:
            mem[at:at + len(body)] = body
        self.target = mem, at + len(body)
        if imm is not None and self.take_imm:
            self.take_imm(imm, *self.written)
        return True
