#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""diag - sock_diag of SMC sockets: requests, layouts, rights, namespaces

Needs the module, root, and no SMC sockets of others; uses shared memory on
this host.  One "ok" or "not ok" line a case; the exit code says whether all
were ok.
"""
import ctypes
import os
import socket
import struct
import subprocess
import sys

import cases

PROTO_SMC, AF_SMC = 256, 43
NETLINK_SOCK_DIAG, BY_FAMILY = 4, 20
REQUEST, ROOT, DUMP, MULTI = 1, 0x100, 0x300, 2
ERROR, DONE = 2, 3
ACTIVE, INIT, LISTEN = 1, 2, 10
SMCR, TCP, SMCD = 0, 1, 2
CONN, LGR, SHUT, DMB, FALLBACK = 1, 2, 3, 4, 5
SIZES = {CONN: 76, LGR: 147, SHUT: 1, DMB: 56, FALLBACK: 8}
CLONE_NEWNET = 0x40000000
here = os.path.dirname(os.path.abspath(__file__))
smcss = os.path.join(here, "../../tools/smcss")


class Row:
    def __init__(self, data):
        (self.family, self.state, self.mode, self.shutdown, self.sport,
         self.dport, self.src, self.dst, self.ifindex, self.cookie, self.uid,
         self.inode) = struct.unpack("=BBBB2s2s16s16sI8sIQ", data[:64])
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
    s.settimeout(60)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    return s


def request(s, flags, ext=0, seq=1, length=52):
    body = struct.pack("=BxxB48x", AF_SMC, ext)[:length]
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


def dump(ext=0, flags=REQUEST | DUMP):
    s = netlink()
    request(s, flags, ext)
    rows = []
    for kind, mflags, _, body in messages(s):
        if kind == ERROR:
            raise OSError(-struct.unpack_from("=i", body)[0], "dump")
        assert mflags & MULTI
        if kind == BY_FAMILY:
            rows.append(Row(body))
    s.close()
    return rows


def row_of(sock, ext=0):
    inode = os.fstat(sock.fileno()).st_ino
    found = [r for r in dump(ext) if r.inode == inode]
    assert len(found) == 1, f"{len(found)} rows for one socket"
    return found[0]


def smc(family=socket.AF_INET):
    return socket.socket(family, socket.SOCK_STREAM, PROTO_SMC)


def listener(family=socket.AF_INET, address="127.0.0.1"):
    s = smc(family)
    s.bind((address, 0))
    s.listen(64)
    return s


def pair(family=socket.AF_INET, address="127.0.0.1"):
    """listener, client, server end: over shared memory"""
    lst = listener(family, address)
    cli = smc(family)
    cli.settimeout(30)
    cli.connect(lst.getsockname()[:2])
    srv, _ = lst.accept()
    srv.settimeout(30)
    cli.sendall(b"x" * 1000)
    got = b""
    while len(got) < 1000:
        got += srv.recv(1000)
    return lst, cli, srv


def is_plain(row):
    """what IBM's smcss takes for IPv4"""
    return row.src[4:] == bytes(12) and row.dst[4:] == bytes(12)


def case_states():
    s = smc()
    assert row_of(s).state == INIT
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
    s.listen(1)
    row = row_of(s)
    assert (row.state, row.sport, row.dport) == (LISTEN, port, 0)
    assert row.src[:4] == bytes([127, 0, 0, 1]) and is_plain(row)
    assert row.family == socket.AF_INET
    assert row.uid == 0 and row.shutdown == 0


def case_families():
    for family, proto, want in ((socket.AF_INET, PROTO_SMC, 2),
                                (socket.AF_INET6, PROTO_SMC, 10),
                                (AF_SMC, 0, 43), (AF_SMC, 1, 43)):
        with socket.socket(family, socket.SOCK_STREAM, proto) as s:
            assert row_of(s).family == want, (family, proto)


def case_connection():
    lst, cli, srv = pair()
    for s, other in ((cli, srv), (srv, cli)):
        row = row_of(s, 0xff)
        assert (row.state, row.mode) == (ACTIVE, SMCD), (row.state, row.mode)
        assert set(row.attrs) == {CONN, SHUT, DMB, FALLBACK}
        assert row.sport == s.getsockname()[1]
        assert row.dport == s.getpeername()[1]
        assert row.attrs[SHUT] == b"\0"
        assert row.attrs[FALLBACK] == bytes(8)
        peer = row_of(other, 0xff)
        assert row.u32(CONN, 0) and row.u64(DMB, 24)
        assert row.u64(DMB, 24) == peer.u64(DMB, 32), "tokens"
        assert row.u64(DMB, 8) == peer.u64(DMB, 16), "GIDs"
        assert row.u64(DMB, 40) == peer.u64(DMB, 48), "GID extensions"
        assert row.u32(CONN, 8) == peer.u32(CONN, 12), "ring sizes"
        # our producer cursor is the peer's idea of it
        assert row.attrs[CONN][32:40] == peer.attrs[CONN][16:24], "cursors"
    assert row_of(cli, 1).u32(CONN, 36) == 1000
    return lst, cli, srv


def case_ipv6():
    _, cli, _ = pair(socket.AF_INET6, "::1")
    row = row_of(cli, 0xff)
    assert row.mode == SMCD and row.family == 10
    assert row.src == bytes(15) + b"\1" and row.dst == bytes(15) + b"\1"


def case_attributes_asked_for():
    _, cli, _ = pair()
    for ext, want in ((0, {SHUT, FALLBACK}), (1, {SHUT, FALLBACK, CONN}),
                      (2, {SHUT, FALLBACK}), (8, {SHUT, FALLBACK, DMB}),
                      (4 | 16, {SHUT, FALLBACK})):
        assert set(row_of(cli, ext).attrs) == want, ext


def case_shutdown():
    _, cli, srv = pair()
    cli.shutdown(socket.SHUT_WR)
    assert row_of(cli).attrs[SHUT] == b"\2"
    assert srv.recv(1) == b""
    assert row_of(srv).attrs[SHUT] == b"\1"


def case_fallback():
    lst = listener()
    with socket.create_connection(lst.getsockname()) as cli:
        srv, _ = lst.accept()
        cli.sendall(b"x")
        assert srv.recv(1) == b"x"
        row = row_of(srv, 0xff)
        assert row.mode == TCP and row.state == ACTIVE
        assert set(row.attrs) == {SHUT, FALLBACK}
        assert row.u32(FALLBACK, 0) == 0x03010000, hex(row.u32(FALLBACK, 0))
        out = subprocess.run([smcss], capture_output=True, text=True,
                             check=True).stdout.splitlines()
        line = [x for x in out if f":{row.dport} " in x][0]
        cols = line.split()
        assert cols[4] == f"127.0.0.1:{row.dport}" and cols[6] == "TCP"
        assert cols[7] == "0x03010000", line
        assert "did not offer SMC" in line


def case_smcss():
    _, cli, _ = pair()
    row = row_of(cli, 0xff)

    def line(*args):
        out = subprocess.run([smcss, *args], capture_output=True, text=True,
                             check=True).stdout.splitlines()
        return [x for x in out if f"{row.inode:07}" in x.split()[2:3]]

    cols = line()[0].split()
    assert cols[0] == "ACTIVE" and cols[6] == "SMCD", cols
    cols = line("-D")[0].split()
    assert cols[8] == f"{row.u64(DMB, 24):016x}", cols
    cols = line("-d")[0].split()
    assert cols[7] == "<R-W>" and int(cols[8], 16) == row.u32(CONN, 0), cols
    assert not line("-R") and not line("-l")


def case_flags():
    """any bit of NLM_F_DUMP lists; without one there is no answer at all"""
    socks = [smc() for _ in range(5)]
    inodes = {os.fstat(s.fileno()).st_ino for s in socks}
    for flags in (ROOT, DUMP, 0x200):
        assert {r.inode for r in dump(0, REQUEST | flags)} >= inodes
    s = netlink()
    request(s, REQUEST, seq=7)
    request(s, REQUEST | DUMP, seq=8)
    assert {m[2] for m in messages(s)} == {8}


def case_short_request():
    s = netlink()
    request(s, REQUEST | DUMP, length=2)
    kind, _, _, body = list(messages(s))[-1]
    assert kind == ERROR and struct.unpack_from("=i", body)[0] == -22
    s = netlink()
    request(s, REQUEST | DUMP, length=4)
    assert list(messages(s))[-1][0] == DONE


def in_child(fn):
    """fn in a child process; its exceptions count"""
    pid = os.fork()
    if not pid:
        try:
            fn()
            os._exit(0)
        except BaseException as e:      # pylint: disable=broad-except
            print("#", repr(e), flush=True)
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


def case_tokens_are_secret():
    _, cli, _ = pair()

    def unprivileged():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        row = row_of(cli, 0xff)
        assert row.u32(CONN, 0) == 0 and row.u64(DMB, 24) == 0
        assert row.u64(DMB, 32) == 0
        assert row.u64(DMB, 16) and row.u32(CONN, 36) == 1000
        assert row.uid == 0 and row.state == ACTIVE

    in_child(unprivileged)


def case_namespaces():
    _, cli, _ = pair()
    libc = ctypes.CDLL(None, use_errno=True)

    def elsewhere():
        assert libc.unshare(CLONE_NEWNET) == 0
        assert dump() == [], "sockets of another namespace"
        with smc() as s:
            assert [r.inode for r in dump()] == [os.fstat(s.fileno()).st_ino]

    in_child(elsewhere)
    row_of(cli)


def case_user_ids():
    rd, wr = os.pipe()

    def other():
        os.setuid(1234)
        s = smc()
        row = row_of(s)
        assert row.uid == 1234, row.uid
        os.write(wr, b"x")

    in_child(other)
    assert os.read(rd, 1) == b"x"


def case_many():
    """more than fits a message, each one once"""
    socks = [smc() for _ in range(5000)]
    inodes = sorted(os.fstat(s.fileno()).st_ino for s in socks)
    mine = set(inodes)
    rows = sorted(r.inode for r in dump(0xff) if r.inode)
    assert [x for x in rows if x in mine] == inodes
    out = subprocess.run([smcss, "-a"], capture_output=True, text=True,
                         check=True).stdout
    assert len(out.splitlines()) >= 5001


def case_churn():
    """dumps while connections come and go: nothing but whole rows"""
    def dump_all():
        for row in dump(0xff):
            assert row.mode in (SMCR, TCP, SMCD)

    def churn():
        for _ in range(60):
            for s in pair():
                s.close()

    cases.meanwhile(4, lambda: dump_all, churn)


sys.exit(cases.main(globals()))
