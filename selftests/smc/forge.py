# SPDX-License-Identifier: GPL-2.0
"""forge - segments that no end has sent, on TCP connections over lo (IPv4)

Wire reads along, so it knows the sequence numbers of each connection made after
it.  A forged segment is the next one that its receiver expects.  Both ends stay
as they are otherwise: what one of them receives, the other has not sent.
What a segment has done to TCP is in /proc/net/tcp, see Tcp.

Context: run by tcpend.py; nothing here knows SMC.
"""
import ctypes
import socket
import struct
import time

from limits import limit
from minitcp import ACK, FIN, M32, PSH, RST, SYN, checksum, seq_diff

URG = 32
ETH_P_ALL = 3
SO_ATTACH_FILTER = 26
TTL = 77                # of what is forged
LIMIT = limit(10)
# IPv4 without options, and TCP: all of it, otherwise nothing
TCP_ONLY = ((0x30, 0, 0, 0), (0x15, 0, 3, 0x45), (0x30, 0, 0, 9),
            (0x15, 0, 1, 6), (0x06, 0, 0, 0x40000), (0x06, 0, 0, 0))


class Tcp:
    """a row of /proc/net/tcp"""
    ESTABLISHED, FIN_WAIT2, TIME_WAIT, CLOSE_WAIT = 1, 5, 6, 8
    TAKING = ESTABLISHED, FIN_WAIT2     # the peer's bytes and its FIN

    def __init__(self, words):
        self.state = int(words[3], 16)
        self.unacked, self.unread = (int(n, 16) for n in words[4].split(":"))


def proc_name(name):
    host = int.from_bytes(socket.inet_aton(name[0]), "little")
    return f"{host:08X}:{name[1]:04X}"


def tcp_row(local, peer):
    """of that end, None if TCP has closed it"""
    want = [proc_name(local), proc_name(peer)]
    with open("/proc/net/tcp", encoding="ascii") as f:
        rows = [Tcp(w) for w in map(str.split, f) if w[1:3] == want]
    assert len(rows) <= 1, "two ends of one name"
    return rows[0] if rows else None


def await_tcp(local, peer, is_good):
    end = time.monotonic() + LIMIT
    while True:
        row = tcp_row(local, peer)
        if is_good(row):
            return
        assert time.monotonic() < end, \
            f"TCP of {local}: {row and (row.state, row.unread)}"
        time.sleep(0.001)


class Wire:
    def __init__(self):
        self.next = {}          # (from, to): the end's own next number
        self.forged = {}        # the same, with what was forged for it
        self.raw = socket.socket(socket.AF_INET, socket.SOCK_RAW,
                                 socket.IPPROTO_RAW)
        self.sniff = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
        code = b"".join(struct.pack("=HBBI", *x) for x in TCP_ONLY)
        code = ctypes.create_string_buffer(code, len(code))
        self.sniff.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack(
            "HL", len(TCP_ONLY), ctypes.addressof(code)))
        self.sniff.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        # of all kinds: such a socket has a packet before TCP has it
        self.sniff.bind(("lo", ETH_P_ALL))
        self.sniff.setblocking(False)

    def read(self):
        while True:
            try:
                packet = self.sniff.recv(1 << 16)
            except BlockingIOError:
                return
            if packet[8] != TTL:
                self.note(packet)

    def note(self, packet):
        total = struct.unpack_from(">H", packet, 2)[0]
        sport, dport, seq, _, off, flags = struct.unpack_from(
            ">HHIIBB", packet, 20)
        if flags & RST:
            return
        way = ((socket.inet_ntoa(packet[12:16]), sport),
               (socket.inet_ntoa(packet[16:20]), dport))
        end = seq + total - 20 - (off >> 4) * 4 + \
            bool(flags & SYN) + bool(flags & FIN)
        old = self.next.get(way)
        if flags & SYN or old is None or seq_diff(end & M32, old) > 0:
            self.next[way] = end & M32
        if flags & SYN:
            self.forged.pop(way, None)

    def send(self, local, peer, flags, data=b"", urgent=0):
        """a segment for the end @local, as if from @peer"""
        self.read()
        way, back = (peer, local), (local, peer)
        seq = self.forged.get(way, self.next[way])
        head = struct.pack(">HHIIBBHHH", peer[1], local[1], seq,
                           self.next[back], 5 << 4, flags | ACK, 65535, 0,
                           urgent)
        src, dst = socket.inet_aton(peer[0]), socket.inet_aton(local[0])
        pseudo = src + dst + struct.pack(">BBH", 0, 6, 20 + len(data))
        csum = checksum(pseudo + head + data)
        head = head[:16] + struct.pack(">H", csum) + head[18:]
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + len(data), 0, 0x4000,
                         TTL, socket.IPPROTO_TCP, 0, src, dst)
        self.raw.sendto(ip + head + data, (local[0], 0))
        self.forged[way] = (seq + len(data) + bool(flags & FIN)) & M32

    # each of these returns when TCP has taken the segment

    def fin(self, local, peer):
        old = tcp_row(local, peer)
        assert old and old.state in Tcp.TAKING
        self.send(local, peer, FIN)
        await_tcp(local, peer, lambda t: t and t.state in
                  (Tcp.CLOSE_WAIT, Tcp.TIME_WAIT))

    def reset(self, local, peer):
        self.send(local, peer, RST)
        await_tcp(local, peer, lambda t: t is None)

    def data(self, local, peer, data=b"forged", urgent=0):
        old = tcp_row(local, peer)
        assert old and old.state in Tcp.TAKING
        self.send(local, peer, PSH | (URG if urgent else 0), data, urgent)
        await_tcp(local, peer, lambda t: t and t.state == old.state and
                  t.unread == old.unread + len(data))

    def urgent(self, local, peer):
        self.data(local, peer, b"!", 1)
