# SPDX-License-Identifier: GPL-2.0
"""sockdiag - sock_diag for the tests: requests, rows, filters, SOCK_DESTROY"""
import os
import socket
import struct

from limits import limit

PROTO_SMC, AF_SMC = 256, 43
NETLINK_SOCK_DIAG, BY_FAMILY, DESTROY = 4, 20, 21
REQUEST, ACK, ROOT, DUMP, MULTI = 1, 4, 0x100, 0x300, 2
ERROR, DONE = 2, 3
ACTIVE, INIT, CLOSED, LISTEN = 1, 2, 7, 10
SMCR, TCP, SMCD = 0, 1, 2
CONN, LGR, SHUT, DMB, FALLBACK = 1, 2, 3, 4, 5
SIZES = {CONN: 76, LGR: 147, SHUT: 1, DMB: 56, FALLBACK: 8}
STATES, MODES, SRC, DST, SPORT, DPORT = range(1, 7)     # of a request
INET_DIAG_ULP_INFO, ULP_NAME, ULP_SMC = 19, 1, 299
ULP_SMC_MODE, ULP_SMC_LGR = 1, 2
ANY = b"\xff" * 8                                       # no cookie


class Row:
    def __init__(self, data):
        (self.family, self.state, self.mode, self.shutdown, self.sport,
         self.dport, self.src, self.dst, self.ifindex, self.cookie, self.uid,
         self.inode) = struct.unpack("=BBBB2s2s16s16sI8sIQ", data[:64])
        self.id = data[4:52]
        self.sport = int.from_bytes(self.sport, "big")
        self.dport = int.from_bytes(self.dport, "big")
        self.attrs = {}
        data = data[64:]
        while len(data) >= 4:
            n, kind = struct.unpack("=HH", data[:4])
            assert 4 <= n <= len(data), "attribute length"
            assert kind not in self.attrs, "attribute twice"
            assert n - 4 == SIZES[kind], f"attribute {kind}: {n - 4} bytes"
            self.attrs[kind] = data[4:n]
            data = data[(n + 3) & ~3:]

    def u32(self, kind, off):
        return struct.unpack_from("=I", self.attrs[kind], off)[0]

    def u64(self, kind, off):
        return struct.unpack_from("=Q", self.attrs[kind], off)[0]


def netlink():
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG)
    s.settimeout(limit(60))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    return s


def attr(kind, data):
    n = 4 + len(data)
    return struct.pack("=HH", n, kind) + data + bytes(-n % 4)


def request(s, flags, ext=0, seq=1, length=52, filters=b""):
    body = struct.pack("=BxxB48x", AF_SMC, ext)[:length] + filters
    s.send(struct.pack("=IHHII", 16 + len(body), BY_FAMILY, flags, seq, 0)
           + body)


def messages(s):
    """(type, flags, seq, payload) until DONE or ERROR, that one included"""
    while True:
        data = s.recv(1 << 16)
        while data:
            n, kind, flags, seq, _ = struct.unpack("=IHHII", data[:16])
            yield kind, flags, seq, data[16:n]
            if kind in (DONE, ERROR):
                return
            data = data[(n + 3) & ~3:]


def error(body):
    no = -struct.unpack_from("=i", body)[0]
    if no:
        raise OSError(no, os.strerror(no))


def dump(ext=0, flags=REQUEST | DUMP, filters=b""):
    with netlink() as s:
        request(s, flags, ext, filters=filters)
        rows = []
        for kind, mflags, _, body in messages(s):
            if kind == BY_FAMILY:
                assert mflags & MULTI
                rows.append(Row(body))
            else:
                error(body)
        return rows


def attributes(data):
    """by number"""
    found = {}
    while len(data) >= 4:
        n, kind = struct.unpack("=HH", data[:4])
        found[kind & 0x3fff] = data[4:n]
        data = data[(n + 3) & ~3:]
    return found


def tcp_ulp(local, peer):
    """what sock_diag of TCP says of the upper layer of an IPv4 connection: its
    attributes, or None"""
    with netlink() as s:
        # it comes with INET_DIAG_INFO
        body = struct.pack("=BBBxI", socket.AF_INET, socket.IPPROTO_TCP, 2,
                           0xffffffff) + sock_id(local, peer)
        s.send(struct.pack("=IHHII", 16 + len(body), BY_FAMILY, REQUEST, 1, 0)
               + body)
        _, _, _, data = next(messages(s))
    ulp = attributes(data[72:]).get(INET_DIAG_ULP_INFO)
    return attributes(ulp) if ulp else None


def row_of(sock, ext=0):
    inode = os.fstat(sock.fileno()).st_ino
    found = [r for r in dump(ext) if r.inode == inode]
    assert len(found) == 1, f"{len(found)} rows for one socket"
    return found[0]


def fallback(sock):
    """why it is TCP"""
    return row_of(sock, 1 << FALLBACK - 1).u32(FALLBACK, 0)


def sock_id(local, peer=None, cookie=ANY):
    """of an IPv4 connection or listener"""
    host, port = peer or ("0.0.0.0", 0)
    return (struct.pack(">HH", local[1], port)
            + socket.inet_aton(local[0]) + bytes(12)
            + socket.inet_aton(host) + bytes(12) + bytes(4) + cookie)


def destroy(ident, smc=True):
    """SOCK_DESTROY of SMC or TCP"""
    head = (struct.pack("=BxxB", AF_SMC, 0) if smc else
            struct.pack("=BBxxI", socket.AF_INET, socket.IPPROTO_TCP,
                        0xffffffff))
    body = head + ident
    with netlink() as s:
        s.send(struct.pack("=IHHII", 16 + len(body), DESTROY, REQUEST | ACK,
                           1, 0) + body)
        (kind, _, _, body), = messages(s)
        assert kind == ERROR
        error(body)
