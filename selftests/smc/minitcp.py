# SPDX-License-Identifier: GPL-2.0
"""minitcp - a small TCP of our own behind a TAP device.

It exists to put on the wire what no kernel would: the SMC option with or
without SMC, CLC messages of any content, a reset or silence at any point.
One host (address and MAC below), IPv4, answers ARP and ping.  In-order
receive only, a window that a test sets, go-back-N after one second; enough for a wire
that loses nothing.  Each connection is used by a thread of its own through
Conn.recv/send/fin/rst; one thread reads the device.

Context: run by clcpeer.py; nothing here knows CLC.
"""
import array
import fcntl
import glob
import os
import random
import select
import socket
import struct
import subprocess
import threading
import time

from genetlink import port_active
from limits import await_that, limit

TUNSETIFF = 0x400454CA
SIOCGIFHWADDR = 0x8927
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
FIN, SYN, RST, PSH, ACK, URG = 1, 2, 4, 8, 16, 32
SMC_OPTION = bytes.fromhex("0101fe06e2d4c3d9")
MAGIC = bytes.fromhex("e2d4c3d9")
MSS = 1400
WINDOW = 65535
M32 = 0xFFFFFFFF
SOON = limit(10)


class Reset(Exception):
    """The other side reset the connection."""


class Timeout(Exception):
    """What was waited for did not come."""


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    s = sum(array.array("H", data))
    while s >> 16:
        s = (s & 0xFFFF) + (s >> 16)
    return socket.htons(~s & 0xFFFF)


def seq_diff(a, b):
    """a - b as a signed distance"""
    return ((a - b + 0x80000000) & M32) - 0x80000000


def parse_options(raw):
    """[(kind, payload)] of a TCP header's options"""
    out, i = [], 0
    while i < len(raw) and raw[i] != 0:
        if raw[i] == 1:
            i += 1
            continue
        if i + 1 >= len(raw) or raw[i + 1] < 2:
            break
        out.append((raw[i], raw[i + 2:i + raw[i + 1]]))
        i += raw[i + 1]
    return out


def has_smc(raw):
    return any(k == 254 and p[:4] == MAGIC for k, p in parse_options(raw))


class Conn:
    """One connection.  Fields are guarded by net.cond."""

    def __init__(self, net, lport, rport, ip=None):
        self.net, self.lport, self.rport = net, lport, rport
        self.ip = ip or net.ip
        self.snd_una = self.snd_nxt = random.getrandbits(32)
        self.rcv_nxt = 0
        self.wnd = WINDOW
        self.unsent = b""        # from snd_una on, sent or not
        self.sent_time = 0
        self.rx = bytearray()
        self.established = self.eof = self.was_reset = False
        self.fin_sent = False
        self.syn_option = False  # the kernel's SYN or SYN-ACK had it
        self.option = False      # both sides had it
        self.start = time.monotonic()

    # for the connection's own thread

    def _wait(self, ready, limit):
        end = time.monotonic() + limit
        with self.net.cond:
            while not ready():
                if self.was_reset:
                    raise Reset()
                left = end - time.monotonic()
                if left <= 0:
                    raise Timeout()
                self.net.cond.wait(left)

    def wait_established(self, limit=SOON):
        self._wait(lambda: self.established, limit)

    def recv(self, n, limit=SOON):
        """Exactly n bytes, fewer at end of file."""
        self._wait(lambda: len(self.rx) >= n or self.eof, limit)
        with self.net.cond:
            out = bytes(self.rx[:n])
            del self.rx[:n]
            return out

    def recv_some(self, limit=SOON):
        """What is there; b"" at end of file."""
        self._wait(lambda: self.rx or self.eof, limit)
        with self.net.cond:
            out = bytes(self.rx)
            del self.rx[:]
            return out

    def send(self, data):
        with self.net.cond:
            if self.was_reset:
                raise Reset()
            self.unsent += data
            self.net.push(self)

    def send_urgent(self, data):
        """One segment, the last byte of which is urgent."""
        with self.net.cond:
            if self.was_reset:
                raise Reset()
            assert self.established and not self.unsent, "something is unsent"
            self.unsent = data
            self.net.segment(self, ACK | PSH | URG, self.snd_nxt, b"", data,
                             len(data))
            self.snd_nxt = (self.snd_nxt + len(data)) & M32
            self.sent_time = time.monotonic()

    def wait_sent(self, limit=SOON):
        self._wait(lambda: self.snd_una == self.snd_nxt and not self.unsent,
                   limit)

    def fin(self):
        with self.net.cond:
            if not self.fin_sent and not self.was_reset:
                self.fin_sent = True
                self.net.push(self)

    def rst(self):
        with self.net.cond:
            self.net.segment(self, RST | ACK, self.snd_nxt)
            self.net.reset(self)

    def wait_eof(self, limit=SOON):
        """Everything until end of file."""
        self._wait(lambda: self.eof, limit)
        with self.net.cond:
            out = bytes(self.rx)
            del self.rx[:]
            return out


def read(path):
    with open(path) as f:
        return f.read().strip()


def await_port(ifname):
    """An RDMA port of a TAP device is active only while a program holds the
    device, and a moment after that."""
    for parent in glob.glob("/sys/class/infiniband/*/parent"):
        name = parent.split("/")[-2]
        if read(parent) == ifname:
            await_that(f"{name} is not active", lambda: port_active(name),
                       limit(30))


def tap(name, address):
    """a TAP device of this kernel with an IPv4 address in a /24, up"""
    for words in (f"tuntap add dev {name} mode tap",
                  f"address add {address}/24 dev {name}", f"link set {name} up"):
        subprocess.run(["ip", *words.split()], check=True)


class Net:
    """The host behind the TAP device."""

    MAC = bytes.fromhex("020000009902")

    def __init__(self, ifname, ours, kernels):
        self.ip, self.peer_ip = map(socket.inet_aton, (ours, kernels))
        self.ips = {self.ip}     # of all its connections
        self.peer_mac = None
        self.fd = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(self.fd, TUNSETIFF, struct.pack(
            "16sH22x", ifname.encode(), IFF_TAP | IFF_NO_PI))
        # not from sysfs, which may show another namespace
        self.peer_mac = fcntl.ioctl(self.fd, SIOCGIFHWADDR, bytes(40))[18:24]
        self.cond = threading.Condition(threading.RLock())
        self.conns = {}
        self.window = WINDOW     # told to the kernel; what comes is taken
        self.listening = {}      # port -> (answer option?, callback)
        self.next_port = random.randrange(20000, 40000)
        self.syns = []           # (time, port, had the option)
        self.udp = {}            # port -> callback(datagram), see roce.py
        self.qps = {}            # number -> roce.Qp
        self.thread = threading.Thread(target=self.loop, daemon=True)
        self.thread.start()
        await_port(ifname)

    def listen(self, port, answer, callback):
        """callback(conn) in a new thread for each established connection;
        answer: put the option in the SYN-ACK when the SYN had it"""
        self.listening[port] = (answer, callback)

    def connect(self, port, option, limit=SOON, ip=None, data=b""):
        """ip: another address, of another host as far as the kernel knows; data:
        comes in the segment that completes TCP's handshake"""
        with self.cond:
            self.next_port += 1
            c = Conn(self, self.next_port, port, ip)
            self.ips.add(c.ip)
            self.conns[c.lport, port] = c
            c.offered = option
            c.unsent = data
            self.segment(c, SYN, c.snd_nxt,
                         b"\x02\x04" + struct.pack(">H", MSS) +
                         (SMC_OPTION if option else b""))
            c.snd_nxt = (c.snd_nxt + 1) & M32
        c.wait_established(limit)
        return c

    # frames

    def frame(self, ethertype, payload):
        os.write(self.fd, self.peer_mac + self.MAC +
                 struct.pack(">H", ethertype) + payload)

    def ip_packet(self, proto, payload, ip=None):
        head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0,
                           0x4000, 64, proto, 0, ip or self.ip,
                           self.peer_ip)
        head = head[:10] + struct.pack(">H", checksum(head)) + head[12:]
        self.frame(0x0800, head + payload)

    def segment(self, c, flags, seq, options=b"", data=b"", urgent=0):
        head = struct.pack(">HHIIBBHHH", c.lport, c.rport, seq,
                           c.rcv_nxt if flags & ACK else 0,
                           (20 + len(options)) // 4 << 4, flags, self.window,
                           0, urgent)
        pseudo = c.ip + self.peer_ip + struct.pack(
            ">BBH", 0, 6, 20 + len(options) + len(data))
        csum = checksum(pseudo + head + options + data)
        self.ip_packet(6, head[:16] + struct.pack(">H", csum) + head[18:] +
                       options + data, c.ip)

    def push(self, c):
        """Send what the window allows, then the FIN when it is its turn."""
        while True:
            flight = (c.snd_nxt - c.snd_una) & M32
            if not c.established:
                return
            data = c.unsent[flight:flight + MSS]
            if not data or flight + len(data) > c.wnd:
                break
            self.segment(c, ACK | PSH, c.snd_nxt, b"", data)
            c.snd_nxt = (c.snd_nxt + len(data)) & M32
            c.sent_time = time.monotonic()
        if c.fin_sent and flight == len(c.unsent):
            self.segment(c, ACK | FIN, c.snd_nxt)
            c.snd_nxt = (c.snd_nxt + 1) & M32
            c.sent_time = time.monotonic()

    def forget(self, c):
        if self.conns.get((c.lport, c.rport)) is c:
            del self.conns[c.lport, c.rport]

    def reset(self, c):
        c.was_reset = True
        self.forget(c)
        self.cond.notify_all()

    # the device thread

    def loop(self):
        looked = time.monotonic()
        while True:
            if select.select([self.fd], [], [], 0.2)[0]:
                frame = os.read(self.fd, 65536)
                with self.cond:
                    self.on_frame(frame)
            now = time.monotonic()
            if now - looked < 0.2:
                continue
            looked = now
            with self.cond:
                for c in self.conns.values():
                    if c.established and c.snd_una != c.snd_nxt and \
                            now - c.sent_time > 1:
                        c.sent_time = now
                        c.snd_nxt = c.snd_una
                        self.push(c)

    def on_frame(self, f):
        kind = f[12:14]
        if kind == b"\x08\x06" and f[20:22] == b"\0\1" and f[38:42] in self.ips:
            self.frame(0x0806, f[14:20] + b"\0\2" + self.MAC + f[38:42] +
                       f[22:28] + f[28:32])
        elif kind == b"\x08\x00" and f[30:34] in self.ips:
            ihl = (f[14] & 15) * 4
            total = struct.unpack(">H", f[16:18])[0]
            body = f[14 + ihl:14 + total]
            if f[23] == 6:
                self.on_tcp(body, f[30:34])
            elif f[23] == 17 and body[2:4] in self.udp:
                self.udp[body[2:4]](body[8:])
            elif f[23] == 1 and body[0] == 8:
                echo = b"\0\0\0\0" + body[4:]
                echo = b"\0\0" + struct.pack(">H", checksum(echo)) + body[4:]
                self.ip_packet(1, echo)

    def on_tcp(self, t, ip):
        rport, lport, seq, ack, off, flags, wnd = struct.unpack(
            ">HHIIBBH", t[:16])
        options, data = t[20:(off >> 4) * 4], t[(off >> 4) * 4:]
        c = self.conns.get((lport, rport))
        if flags & SYN and not flags & ACK:
            self.on_syn(c, lport, rport, seq, options, ip)
            return
        if c is None:
            if not flags & RST:
                c = Conn(self, lport, rport, ip)
                c.rcv_nxt = (seq + len(data)) & M32
                self.segment(c, RST | ACK, ack)
            return
        if flags & RST:
            self.reset(c)
            return
        if flags & SYN:
            c.rcv_nxt = (seq + 1) & M32
            c.syn_option = has_smc(options)
            c.option = c.syn_option and c.offered
        if flags & ACK and seq_diff(ack, c.snd_una) > 0:
            self.on_ack(c, ack)
        c.wnd = wnd
        if flags & SYN and not c.unsent:
            self.segment(c, ACK, c.snd_nxt)
        self.on_data(c, seq, data, flags)
        self.push(c)
        if c.eof and c.fin_sent and c.snd_una == c.snd_nxt and not c.unsent:
            self.forget(c)
        self.cond.notify_all()

    def on_syn(self, c, lport, rport, seq, options, ip):
        answer, callback = self.listening.get(lport, (None, None))
        if callback is None:
            c = Conn(self, lport, rport, ip)
            c.rcv_nxt = (seq + 1) & M32
            self.segment(c, RST | ACK, 0)
            return
        if c is None or c.established:
            c = Conn(self, lport, rport, ip)
            self.conns[lport, rport] = c
            c.syn_option = has_smc(options)
            c.option = c.syn_option and answer
            c.callback = callback
            self.syns.append((time.monotonic(), lport, c.syn_option))
            c.rcv_nxt = (seq + 1) & M32
            c.snd_nxt = (c.snd_nxt + 1) & M32
        self.segment(c, SYN | ACK, c.snd_una,
                     b"\x02\x04" + struct.pack(">H", MSS) +
                     (SMC_OPTION if c.option else b""))

    def on_ack(self, c, ack):
        gone = seq_diff(ack, c.snd_una)
        if not c.established:
            c.established = True
            gone -= 1
            if getattr(c, "callback", None):
                threading.Thread(target=c.callback, args=(c,),
                                 daemon=True).start()
        c.unsent = c.unsent[gone:]
        c.snd_una = ack
        if seq_diff(c.snd_nxt, ack) < 0:
            c.snd_nxt = ack

    def on_data(self, c, seq, data, flags):
        skip = seq_diff(c.rcv_nxt, seq)
        if data or flags & FIN:
            if 0 <= skip <= len(data) and not c.eof:
                c.rx += data[skip:]
                c.rcv_nxt = (seq + len(data)) & M32
                if flags & FIN:
                    c.rcv_nxt = (c.rcv_nxt + 1) & M32
                    c.eof = True
            self.segment(c, ACK, c.snd_nxt)
