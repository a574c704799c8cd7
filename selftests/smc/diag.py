#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""diag - sock_diag of SMC sockets: requests, layouts, rights, namespaces

Needs the module, root, and no SMC sockets of others; uses shared memory on
this host.  One "ok" or "not ok" line a case; the exit code says whether all
were ok.
"""
import errno
import os
import socket
import struct
import subprocess
import sys

import cases
from counters import at_rest
from limits import limit
from namespaces import unshare
from planted import pauses
from sockdiag import (ACTIVE, AF_SMC, CONN, DMB, DONE, DPORT, DST, DUMP, ERROR,
                      FALLBACK, INIT, LISTEN, MODES, PROTO_SMC, REQUEST, ROOT,
                      SHUT, SMCD, SMCR, SPORT, SRC, STATES, TCP, ULP_NAME,
                      ULP_SMC, ULP_SMC_LGR, ULP_SMC_MODE, Row, attr,
                      attributes, dump, messages, netlink, request, row_of,
                      tcp_ulp)

here = os.path.dirname(os.path.abspath(__file__))
smcss = os.path.join(here, "../../tools/smcss")


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
    cli.settimeout(limit(30))
    cli.connect(lst.getsockname()[:2])
    srv, _ = lst.accept()
    srv.settimeout(limit(30))
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


def case_tcp_knows():
    _, cli, srv = pair()
    for s in cli, srv:
        ulp = tcp_ulp(s.getsockname(), s.getpeername())
        assert ulp[ULP_NAME] == b"smc\0", ulp
        info = attributes(ulp[ULP_SMC])
        assert info[ULP_SMC_MODE] == bytes([SMCD]), info
        assert info[ULP_SMC_LGR] == row_of(s, 8).attrs[DMB][:4], info
    # a listener, and one that fell back
    lst = listener()
    cli = socket.create_connection(lst.getsockname())
    srv, _ = lst.accept()
    for s, other in ((cli, srv), (srv, cli)):
        assert tcp_ulp(s.getsockname(), other.getsockname()) is None


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


def prefix(address, bits, family=socket.AF_INET):
    return (struct.pack("=BBxx", family, bits)
            + socket.inet_pton(family, address).ljust(16, b"\0"))


def ports(first, last=None):
    return struct.pack("=HH", first, last or first)


def case_filters():
    """each kind alone, then together; what is left out is left out"""
    lst, cli, srv = pair()
    lst6, cli6, srv6 = pair(socket.AF_INET6, "::1")
    idle = smc()
    socks = {"lst": lst, "cli": cli, "srv": srv, "lst6": lst6, "cli6": cli6,
             "srv6": srv6, "idle": idle}
    names = {os.fstat(s.fileno()).st_ino: n for n, s in socks.items()}
    cport, lport = cli.getsockname()[1], lst.getsockname()[1]
    u32 = struct.Struct("=I").pack

    def check(want, *filters):
        rows = dump(0, filters=b"".join(attr(*f) for f in filters))
        got = sorted(names.get(r.inode, "?") for r in rows)
        assert got == sorted(want.split()), (filters, got)

    check("lst cli srv lst6 cli6 srv6 idle")
    check("lst lst6", (STATES, u32(1 << LISTEN)))
    check("lst lst6 idle", (STATES, u32(1 << LISTEN | 1 << INIT)))
    check("cli srv cli6 srv6", (MODES, u32(1 << SMCD)))
    check("lst lst6 idle", (MODES, u32(1 << SMCR)))
    check("", (MODES, u32(1 << TCP)))
    check("", (STATES, u32(0)))
    check("cli", (SPORT, ports(cport)))
    check("srv", (DPORT, ports(cport)))
    check("lst srv", (SPORT, ports(lport)))
    check("cli", (DPORT, ports(lport)))
    check("idle", (SPORT, ports(0, 0)))
    check("cli srv cli6 srv6", (DPORT, ports(1, 65535)))
    check("lst cli srv", (SRC, prefix("127.0.0.0", 8)))
    check("lst cli srv", (SRC, prefix("127.0.0.1", 32)))
    check("", (SRC, prefix("127.0.0.2", 32)))
    check("lst cli srv", (SRC, prefix("127.0.0.3", 30)))
    check("cli srv", (DST, prefix("127.0.0.1", 32)))
    check("lst cli srv idle", (SRC, prefix("0.0.0.0", 0)))
    check("cli srv", (SRC, prefix("::ffff:127.0.0.0", 104, socket.AF_INET6)),
          (STATES, u32(1 << ACTIVE)))
    check("lst6 cli6 srv6", (SRC, prefix("::1", 128, socket.AF_INET6)))
    check("cli6 srv6", (DST, prefix("::1", 128, socket.AF_INET6)))
    check("srv", (STATES, u32(1 << ACTIVE)), (MODES, u32(1 << SMCD)),
          (SRC, prefix("127.0.0.1", 32)), (DST, prefix("127.0.0.1", 32)),
          (SPORT, ports(lport)), (DPORT, ports(cport)))
    check("", (SPORT, ports(lport)), (DPORT, ports(lport)))


def case_filters_mapped():
    """an IPv4 filter finds IPv4 connections of IPv6 sockets"""
    lst = listener(socket.AF_INET6, "::")
    port = lst.getsockname()[1]
    with smc() as cli:
        cli.connect(("127.0.0.1", port))
        srv, _ = lst.accept()
        rows = dump(0, filters=attr(DST, prefix("127.0.0.1", 32)))
        # connections of the cases before may still be closing
        rows = [r for r in rows if port in (r.sport, r.dport)]
        assert {r.inode for r in rows} == {os.fstat(s.fileno()).st_ino
                                           for s in (cli, srv)}


def case_filters_nonsense():
    """an error, as leaving the filter out would show too much"""
    for filters in (attr(99, b"1234"), attr(0, b"1234"), attr(STATES, b"1"),
                    attr(SPORT, b"1"), attr(SRC, bytes(19)),
                    attr(SPORT, ports(2, 1)), attr(DPORT, ports(65535, 1)),
                    attr(SRC, prefix("127.0.0.1", 33)),
                    attr(SRC, prefix("::1", 129, socket.AF_INET6)),
                    attr(SRC, prefix("127.0.0.1", 8)[:2] + b"x" + bytes(17)),
                    attr(SRC, bytes([AF_SMC]) + bytes(19)),
                    b"\x20\0\1\0", b"\1\0\1\0", b"xyz"):
        try:
            dump(0, filters=filters)
        except OSError as e:
            assert e.errno in (errno.EINVAL, errno.ERANGE), (filters, e)
        else:
            raise AssertionError(f"accepted {filters}")


def case_cookies():
    """SO_COOKIE's, the same in each dump, different for each socket"""
    socks = [smc() for _ in range(3)]
    rows = [row_of(s).cookie for s in socks]
    assert rows == [row_of(s).cookie for s in socks]
    assert rows == [s.getsockopt(socket.SOL_SOCKET, 57, 8) for s in socks]
    assert len(set(rows)) == 3


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

    cases.in_child(unprivileged)


def case_namespaces():
    _, cli, _ = pair()

    def elsewhere():
        unshare()
        assert dump() == [], "sockets of another namespace"
        with smc() as s:
            assert [r.inode for r in dump()] == [os.fstat(s.fileno()).st_ino]

    cases.in_child(elsewhere)
    row_of(cli)


def case_user_ids():
    rd, wr = os.pipe()

    def other():
        os.setuid(1234)
        s = smc()
        row = row_of(s)
        assert row.uid == 1234, row.uid
        os.write(wr, b"x")

    cases.in_child(other)
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


def case_unborn():
    """a dump comes between the row of a child and its place in TCP's table"""
    looks = pauses("dump")
    lst = listener()
    with socket.create_connection(lst.getsockname()) as cli:
        srv, _ = lst.accept()
        assert looks.number("paused") == 2, "no dump"
        assert row_of(srv).mode == TCP
        assert row_of(srv).dport == cli.getsockname()[1]
        srv.close()


def case_once():
    """a socket that lives on is in a dump once, though others come and go"""
    stay = [smc() for _ in range(400)]
    inodes = {os.fstat(s.fileno()).st_ino for s in stay}
    gone = [smc() for _ in range(400)]
    more = [smc() for _ in range(400)]
    inodes |= {os.fstat(s.fileno()).st_ino for s in more}
    with netlink() as s:
        request(s, REQUEST | DUMP, 0xff)
        it = messages(s)
        got = [next(it) for _ in range(3)]
        new = [smc() for _ in range(200)]
        for x in gone:
            x.close()
        got += list(it)
        for x in new:                       # these may be in it
            x.close()
    assert got[-1][0] == DONE
    rows = [Row(m[3]).inode for m in got[:-1]]
    assert len(set(rows)) == len(rows), "twice"
    assert inodes <= set(rows), "left out"


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


sys.exit(cases.main(globals(), before=at_rest))
