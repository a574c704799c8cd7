#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""genl - generic netlink of SMC: every command, errors, rights, namespaces

Needs the module, root, soft-RoCE as the only RDMA device (hostenv.py says where)
and no SMC sockets of others.  Raw netlink, no library.  One "ok" or "not ok" line
a case; the exit code says whether all were ok.
"""
import contextlib
import errno
import os
import socket
import subprocess
import sys

import cases
import hostenv
from genetlink import (Genl, NlError, attr, attrs_of, num, text, pnet,
                       REQUEST, DUMP, PNET, P_GET, P_ADD, P_DEL, P_FLUSH)
from limits import await_that, limit
from namespaces import NET, USER, unshare

PROTO_SMC = 256
SO_NETNS_COOKIE = 71
(SYS_INFO, LGR_R, LINK, LGR_D, DEV_D, DEV_R, STATS, FBACK, DUMP_UEID, ADD_UEID,
 REMOVE_UEID, FLUSH_UEID, DUMP_SEID, ENABLE_SEID, DISABLE_SEID, DUMP_HS,
 ENABLE_HS, DISABLE_HS) = range(1, 19)
GETS = (SYS_INFO, LGR_R, LINK, LGR_D, DEV_D, DEV_R, STATS, FBACK, DUMP_UEID,
        DUMP_SEID, DUMP_HS)
SETS = (ADD_UEID, REMOVE_UEID, FLUSH_UEID, ENABLE_SEID, DISABLE_SEID,
        ENABLE_HS, DISABLE_HS)
DEFAULT = b"SMCV2-DEFAULT-UEID".ljust(32) + b"\0"
SMC_GENL = "SMC_GEN_NETLINK"
RDMA_DEV = hostenv.rdma_device()
LIMIT = limit(60)
GROUP = 16                              # connections of a group
# of smc_reason.h
DISABLED, PEERNOSMC, OPTUNSUPP = 0x0a0b0000, 0x03010000, 0x03060000
TCP_FASTOPEN_NO_COOKIE = 34


def smc():
    return Genl(SMC_GENL)


def fails(no, says, fn, *args):
    try:
        fn(*args)
    except NlError as e:
        assert e.errno == no, f"{e!r}, wanted {errno.errorcode[no]}"
        assert says in e.text, f"says '{e.text}', wanted '{says}'"
        return
    raise AssertionError(f"no error, wanted {errno.errorcode[no]}")


def sysctl(name, value=None):
    with open(f"/proc/sys/net/smc/{name}", "w" if value is not None else "r",
              encoding="ascii") as f:
        if value is None:
            return f.read().strip()
        f.write(value + "\n")
        return None


def counter(name):
    with open("/proc/net/smc_stat", encoding="ascii") as f:
        return dict(x.split() for x in f)[name]


def smc_socket():
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, PROTO_SMC)
    s.settimeout(LIMIT)
    return s


class Pairs:
    """connections with themselves; closed when it ends"""
    def __init__(self, how, count=1, address="127.0.0.1"):
        self.how, self.count, self.address = how, count, address
        self.socks = []

    def open(self):
        with smc_socket() as lst:
            lst.bind((self.address, 0))
            lst.listen(64)
            for _ in range(self.count):
                cli = smc_socket()
                cli.connect(lst.getsockname())
                srv, _ = lst.accept()
                srv.settimeout(LIMIT)
                self.socks.append((cli, srv))
                cli.sendall(b"x")
                assert srv.recv(10) == b"x"

    def __enter__(self):
        before = sysctl("transports")
        sysctl("transports", self.how)
        try:
            self.open()
        finally:
            sysctl("transports", before)
        return self

    def __exit__(self, *_):
        for pair in self.socks:
            for s in pair:
                s.close()


def case_families():
    for name, maxattr, ops in ((SMC_GENL, 1, 18), (PNET, 4, 4)):
        info = Genl(name).info
        assert text(info[2]) == name
        assert num(info[3]) == 1 and num(info[4]) == 0, "version, header"
        assert num(info[5]) == maxattr, "maxattr"
        assert len(attrs_of(info[6])) == ops, "commands"
    fails(errno.ENOENT, "", Genl, "SMC_NONSENSE")


def case_sys_info():
    row, = smc().rows(SYS_INFO, 1)
    assert set(row) == {1, 2, 3, 4, 5, 6, 256}
    assert [num(row[x]) for x in (1, 2, 3, 6)] == [2, 1, 1, 1]
    assert text(row[4]) == os.uname().nodename.ljust(32)
    assert text(row[5]) == ""
    # by these two programs tell this module from the kernel's own
    with open("/sys/module/smc/version", encoding="ascii") as f:
        assert text(row[256]) == f.read().strip() != ""


def case_groups_r():
    g = smc()
    assert g.rows(LGR_R, 2) == []
    with Pairs("smcr", 3, hostenv.LOCAL_V4):
        rows = g.rows(LGR_R, 2)
        assert sorted(num(r[2]) for r in rows) == [0, 1], "roles"
        assert len({num(r[1]) for r in rows}) == 2
        for r in rows:
            assert num(r[1]) and not num(r[1]) & 0xff, "id"
            assert num(r[3]) == 1 and text(r[4]) == "", "type, network"
            assert num(r[5]) == 0 and num(r[256]) == 0, "VLAN"
            assert num(r[6]) == 3 and len(r[6]) == 4, "connections"
            with smc_socket() as s:
                cookie = s.getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8)
            assert r[9] == cookie
            assert num(r[11]) == 0
            assert num(r[12]) == 3 * 65536 and num(r[13]) == 3 * 65536
            common, v2 = attrs_of(r[7]), attrs_of(r[8])
            assert set(common) == {0, 1, 2, 3, 4}
            assert [num(common[x]) for x in (0, 1, 2)] == [2, 1, 2]
            assert common[3] == DEFAULT
            assert text(common[4]) == os.uname().nodename
            assert num(v2[1]) == 1 and num(v2[2]) == 16 and num(v2[3]) == 1
    # an idle group stays for a while
    await_that("connections do not leave",
               lambda: [num(r[6]) for r in g.rows(LGR_R, 2)] == [0, 0], LIMIT)


def case_links():
    g = smc()
    with Pairs("smcr", 2, hostenv.LOCAL_V4):
        got = g.dump(LINK)
        assert [cmd for cmd, _ in got] == [LGR_R, LINK] * 2
        links = []
        for (_, lgr), (_, link) in zip(got[::2], got[1::2]):
            lgr = attrs_of(attrs_of(lgr)[2])
            link = attrs_of(attrs_of(link)[3])
            assert set(link) == set(range(1, 11))
            assert text(link[2]) == RDMA_DEV and num(link[3]) == 1
            assert len(text(link[4])) == 39 and len(text(link[5])) == 39
            assert num(link[6]) == num(lgr[6]) == 2, "connections"
            assert num(link[7]) == socket.if_nametoindex(hostenv.NETIF)
            uid = int.from_bytes(link[8], "big")
            assert uid == num(lgr[1]) + num(link[1]), "uid"
            assert num(link[10]) == 3, "state"
            links.append(link)
        assert links[0][8] == links[1][9] and links[0][9] == links[1][8]
        assert links[0][4] == links[1][5] and links[0][5] == links[1][4]


def case_groups_d():
    """one of clients and one of servers, whatever comes and goes"""
    g = smc()
    with Pairs("smcd", 4):
        rows = g.rows(LGR_D, 4)
        assert len(rows) == 2, len(rows)
        ids = [num(r[1]) for r in rows]
        assert len(set(ids)) == 2 and not any(x & 0xff for x in ids), ids
        for r in rows:
            assert set(r) == {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 256}
            assert num(r[2]) and r[2] == r[3], "GIDs"
            assert num(r[10]) and r[10] == r[11], "extensions"
            assert num(r[4]) == 0 and num(r[5]) == 4 and text(r[6]) == ""
            assert num(r[7]) == 0xffff and len(r[7]) == 4, "CHID"
            assert num(r[12]) == 0 and num(r[13]) == 4 * 65536, "bytes"
            common = attrs_of(r[9])
            assert [num(common[x]) for x in (0, 1, 2)] == [2, 1, 2]
            assert common[3] == DEFAULT
            assert text(common[4]) == os.uname().nodename
    await_that("connections do not leave",
               lambda: [num(r[5]) for r in g.rows(LGR_D, 4)] == [0, 0], LIMIT)
    with Pairs("smcd", 1):
        assert [num(r[1]) for r in g.rows(LGR_D, 4)] == ids, "others"


def case_devices():
    g = smc()
    with Pairs("smcd", 2):
        row, = g.rows(DEV_D, 5)
        assert num(row[1]) == 2 and num(row[2]) == 1
        assert num(row[3]) == 0 and num(row[4]) == 0xffff
        assert text(row[7]) == "lo"
        port = attrs_of(row[8])
        assert num(port[1]) == 0 and text(port[2]) == ""
    with Pairs("smcr", 1, hostenv.LOCAL_V4):
        row, = g.rows(DEV_R, 6)
        assert set(row) == {2, 8, 10}, "soft-RoCE is no PCI device"
        assert num(row[2]) == 1 and text(row[10]) == RDMA_DEV
        port = attrs_of(row[8])
        assert num(port[1]) == 0 and text(port[2]) == ""
        assert num(port[3]) == socket.if_nametoindex(hostenv.NETIF)
        assert num(port[4]) == 1 and num(port[5]) == 1 and num(port[6]) == 2


class Tech:
    """one transport's part of the statistics"""
    def __init__(self, kind):
        row, = smc().rows(STATS, 7)
        assert set(row) == {1, 2, 3, 4}
        self.attrs = attrs_of(row[kind])
        assert set(self.attrs) == set(range(1, 22)), set(self.attrs)
        for x, top in ((1, 9), (2, 9), (3, 9), (4, 9), (5, 7), (6, 7)):
            assert set(attrs_of(self.attrs[x])) == set(range(1, top + 1))

    def flat(self):
        flat = {x: num(self.attrs[x]) for x in range(7, 22)}
        for x in range(1, 7):
            for y, v in attrs_of(self.attrs[x]).items():
                flat[x, y] = num(v)
        return flat

    def since(self, old):
        new, old = self.flat(), old.flat()
        return {x: new[x] - old[x] for x in new if new[x] != old[x]}


def case_stats():
    for kind, how, address in ((1, "smcd", "127.0.0.1"),
                               (2, "smcr", hostenv.LOCAL_V4)):
        for x in (1, 2):
            await_that("buffers stay", lambda x=x: not Tech(x).flat()[20],
                       LIMIT)
        other = Tech(3 - kind)
        old = Tech(kind)
        with Pairs(how, 1, address) as p:
            cli, srv = p.socks[0]
            cli.sendall(b"y" * 10000)
            left = 10000
            calls = 0
            while left:
                left -= len(srv.recv(left))
                calls += 1
            cli.send(b"!", socket.MSG_OOB)
            cli.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            srv.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
            diff = Tech(kind).since(old)
            tx_ring = 0 if kind == 1 else 2
            assert diff[8] == 1 and diff[10] == 1, "version 2"
            assert 7 not in diff and 9 not in diff, "version 1"
            assert 11 not in diff and 12 not in diff
            assert diff[13] == 1 and diff[14] == 1 and diff[15] == 1
            assert diff[16] == 10001 and diff[17] == 10002, "bytes"
            assert diff[18] == 1 + calls and diff[19] == 3, "calls"
            assert diff[20] == 2 * 65536, "receive buffers"
            assert diff.get(21, 0) == tx_ring * 65536, "send buffers"
            assert diff[2, 4] == 2 and diff.get((1, 4), 0) == tx_ring
            assert diff[3, 1] == 2 and diff[3, 2] == 1, "sizes of sends"
            assert sum(diff.get((4, x), 0) for x in range(1, 10)) == 1 + calls
            assert diff.get((6, 6), 0) + diff.get((6, 5), 0) == 2
        await_that("buffers in use", lambda: not Tech(kind).flat()[20], LIMIT)
        assert not Tech(3 - kind).since(other), "the other transport"
        name = "SmcdBytesWritten" if kind == 1 else "SmcrBytesWritten"
        assert int(counter(name)) == Tech(kind).flat()[17]


def case_stats_buffers():
    """small, full, refilled"""
    await_that("buffers stay", lambda: not Tech(1).flat()[20], LIMIT)
    old = Tech(1)
    with Pairs("smcd") as p:
        cli, srv = p.socks[0]
        cli.setblocking(False)
        sent = 0
        try:
            while True:
                sent += cli.send(bytes(200000))
        except BlockingIOError:
            pass
        diff = Tech(1).since(old)
        assert diff[5, 1] and diff[5, 2], "larger than the ring"
        assert diff[5, 4], "ring full"
        assert len(srv.recv(200000)) == sent
        diff = Tech(1).since(old)
        assert diff[6, 2] == 1, "receive larger than the ring"
        assert diff[6, 4] == 1, "receive ring full"


def fallbacks():
    rows = smc().rows(FBACK, 8)
    for i, r in enumerate(rows):
        assert set(r) == {1, 4, 5, 256} | ({2, 3} if not i else set())
        assert len(r[5]) == 2 and num(r[5]) == num(r[256]) & 0xffff
    count = {(num(r[1]), num(r[4])): num(r[256]) for r in rows}
    for role, kind in ((1, 2), (0, 3)):
        if rows:
            assert num(rows[0][kind]) == \
                sum(v for k, v in count.items() if k[0] == role)
    return count


def grown(old):
    return {k: v - old.get(k, 0) for k, v in fallbacks().items()
            if v != old.get(k)}


def case_fallback():
    old = fallbacks()
    with smc_socket() as lst:
        lst.bind(("127.0.0.1", 0))
        lst.listen(8)
        for _ in range(3):
            with socket.create_connection(lst.getsockname()) as cli:
                srv, _ = lst.accept()
                cli.sendall(b"x")
                assert srv.recv(1) == b"x"
                srv.close()
        before = sysctl("transports")
        sysctl("transports", "")
        with smc_socket() as cli:
            cli.connect(lst.getsockname())
            srv, _ = lst.accept()
            srv.close()
        sysctl("transports", before)
    got = grown(old)
    assert got == {(1, PEERNOSMC): 4, (0, DISABLED): 1}, got


def case_fallback_of_a_program():
    """one that wants of its socket what only TCP has, or has shut it down"""
    def with_data(cli, address):
        # not EINPROGRESS
        cli.settimeout(None)
        assert cli.sendto(b"x", socket.MSG_FASTOPEN, address) == 1

    def with_option(cli, address):
        cli.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, 1)
        cli.connect(address)

    def shut_down(cli, address):
        with contextlib.suppress(OSError):
            cli.shutdown(socket.SHUT_RD)
        cli.connect(address)

    for connect in with_data, with_option, shut_down:
        old = fallbacks()
        with smc_socket() as lst, smc_socket() as cli:
            lst.bind(("127.0.0.1", 0))
            lst.listen(8)
            connect(cli, lst.getsockname())
            lst.accept()[0].close()
        got = grown(old)
        assert got == {(1, PEERNOSMC): 1, (0, OPTUNSUPP): 1}, \
            (connect.__name__, got)


def eids():
    got = []
    for cmd, data in smc().dump(DUMP_UEID):
        row = attrs_of(data)
        assert cmd == DUMP_UEID and set(row) == {1}
        got.append(row[1])
    return got


def eid(name):
    return attr(1, name.encode().ljust(32) + b"\0")


def case_ueid():
    g = smc()
    assert eids() == [DEFAULT], eids()
    try:
        for i in range(3):
            g.do(ADD_UEID, eid(f"N{i}.X-Y"))
        fails(errno.ERANGE, "full", g.do, ADD_UEID, eid("N4"))
        fails(errno.EEXIST, "already", g.do, ADD_UEID, eid("N1.X-Y"))
        assert eids() == [DEFAULT] + [f"N{i}.X-Y".ljust(32).encode() + b"\0"
                                      for i in range(3)]
        g.do(REMOVE_UEID, eid("N1.X-Y"))
        fails(errno.ENOENT, "not in", g.do, REMOVE_UEID, eid("N1.X-Y"))
        for name in ("lower", ".DOT", "", "A B", "A_B", "\xc4"):
            fails(errno.EINVAL, "EID", g.do, ADD_UEID,
                  attr(1, name.encode("latin1").ljust(32) + b"\0"))
        for raw in (b"SHORT\0", b"A" * 33, b"A" * 32, b"A" * 33 + b"\0", b""):
            fails(errno.EINVAL, "32", g.do, ADD_UEID, attr(1, raw))
        for cmd in (ADD_UEID, REMOVE_UEID):
            fails(errno.EINVAL, "missing", g.do, cmd)
        assert len(eids()) == 3
        g.do(FLUSH_UEID)
        g.do(FLUSH_UEID)
        assert eids() == []
    finally:
        g.do(FLUSH_UEID)
        g.do(ADD_UEID, attr(1, DEFAULT))


def in_use(g):
    """the EIDs of groups of SMC-D that have connections"""
    return [text(attrs_of(r[9])[3]) for r in g.rows(LGR_D, 4) if num(r[5])]


def case_ueid_acts():
    """without one no version 2; with another that one is negotiated"""
    g = smc()
    try:
        g.do(FLUSH_UEID)
        with Pairs("smcd"):
            assert in_use(g) == [], "SMC-D without an EID"
        g.do(ADD_UEID, eid("ZEBRA.1"))
        with Pairs("smcd"):
            assert in_use(g) == ["ZEBRA.1".ljust(32)] * 2
    finally:
        g.do(FLUSH_UEID)
        g.do(ADD_UEID, attr(1, DEFAULT))


def case_seid():
    g = smc()
    (cmd, data), = g.dump(DUMP_SEID)
    row = attrs_of(data)
    assert cmd == DUMP_SEID and text(row[1]) == "" and num(row[2]) == 0
    for cmd in (ENABLE_SEID, DISABLE_SEID):
        fails(errno.EOPNOTSUPP, "no system EID", g.do, cmd)


def case_hs_limitation():
    g = smc()
    for cmd, want in ((ENABLE_HS, 1), (ENABLE_HS, 1), (DISABLE_HS, 0)):
        g.do(cmd)
        (rcmd, data), = g.dump(DUMP_HS)
        assert rcmd == DUMP_HS and num(attrs_of(data)[1]) == want
        assert sysctl("limit_smc_hs") == str(want)


def pnet_rows(got):
    rows = []
    for cmd, data in got:
        row = attrs_of(data)
        assert cmd == P_GET and set(row) == {1, 2, 3, 4}
        rows.append((text(row[1]), text(row[2]), text(row[3]), num(row[4])))
    return rows


def case_pnetid():
    g = Genl(PNET)
    assert pnet_rows(g.dump(P_GET)) == []
    try:
        g.do(P_ADD, pnet(" neta ", "eth7", "mlx5_0", 2))
        g.do(P_ADD, pnet("NETA", dev="mlx5_0", port=1))
        g.do(P_ADD, pnet("b", dev=RDMA_DEV))
        want = [("NETA", "eth7", "n/a", 255), ("NETA", "n/a", "mlx5_0", 2),
                ("NETA", "n/a", "mlx5_0", 1), ("B", "n/a", RDMA_DEV, 1)]
        assert pnet_rows(g.dump(P_GET)) == want
        # without NLM_F_DUMP: the rows of one name, and the end
        for name, count in (("neta", 3), ("B", 1), ("C", 0)):
            g.send(P_GET, REQUEST, pnet(name))
            rows = pnet_rows(g.replies())
            assert rows == [r for r in want if r[0] == name.upper()]
            assert len(rows) == count
        row, = smc().rows(DEV_R, 6)
        port = attrs_of(row[8])
        assert num(port[1]) == 1 and text(port[2]) == "B", "device"
        fails(errno.EEXIST, "already", g.do, P_ADD, pnet("X", "eth7"))
        fails(errno.EEXIST, "already", g.do, P_ADD, pnet("X", "eth8", RDMA_DEV))
        assert pnet_rows(g.dump(P_GET)) == want, "half a request"
        g.do(P_DEL, pnet("Neta"))
        assert pnet_rows(g.dump(P_GET)) == want[3:]
        fails(errno.ENOENT, "no such", g.do, P_DEL, pnet("NETA"))
        g.do(P_FLUSH)
        assert pnet_rows(g.dump(P_GET)) == []
        g.do(P_FLUSH)
    finally:
        g.do(P_FLUSH)


def case_pnetid_dump_and_delete():
    """rows that go while a dump is read take no other row with them"""
    g, other = Genl(PNET, bufsize=4096), Genl(PNET)
    names = [f"N{i}" for i in range(600)]
    try:
        for name in names:
            g.do(P_ADD, pnet(name, name))
        g.send(P_GET, REQUEST | DUMP)
        replies = g.replies()
        got = pnet_rows([next(replies)])
        for name in names[:100]:
            other.do(P_DEL, pnet(name))
        got += pnet_rows(replies)
        missing = set(names[100:]) - {row[0] for row in got}
        assert not missing, sorted(missing)
        assert len(got) == len({row[0] for row in got}), "rows twice"
    finally:
        g.do(P_FLUSH)


def case_pnetid_nonsense():
    g = Genl(PNET)
    for cmd in (P_ADD, P_DEL, P_GET):
        fails(errno.EINVAL, "missing", g.do, cmd)
        for name in ("", "  ", "A-B", "A B", "\xc4", "X" * 17):
            fails(errno.EINVAL, "letters and digits", g.do, cmd,
                  pnet(name, "eth0"))
    fails(errno.EINVAL, "missing", g.do, P_ADD, pnet("A"))
    for eth in ("", ".", "a/b", "a b", "n/a"):
        fails(errno.EINVAL, "interface", g.do, P_ADD, pnet("A", eth))
    for dev in ("", "a/b", "n/a"):
        fails(errno.EINVAL, "device", g.do, P_ADD, pnet("A", dev=dev))
    for port in (0, 3, 255):
        fails(errno.EINVAL, "1 or 2", g.do, P_ADD, pnet("A", None, "x", port))
    for data in (pnet("A", "e" * 16), pnet("A", dev="x" * 64),
                 pnet("A", "eth0")[:-4] + b"eth0"):
        try:
            g.do(P_ADD, data)
            raise AssertionError("taken")
        except NlError as e:
            assert e.errno in (errno.ERANGE, errno.EINVAL), e
    assert pnet_rows(g.dump(P_GET)) == []


def case_pnetid_many():
    g = Genl(PNET, 8192)
    try:
        for i in range(1024):
            g.do(P_ADD, pnet(f"N{i % 3}", f"eth{i}"))
        fails(errno.ENOSPC, "full", g.do, P_ADD, pnet("N", "eth1024"))
        rows = pnet_rows(g.dump(P_GET))
        assert [r[1] for r in rows] == [f"eth{i}" for i in range(1024)]
        big = Genl(PNET, 1 << 18)
        big.send(P_GET, REQUEST, pnet("N0"))
        assert len(pnet_rows(big.replies())) == 342
    finally:
        g.do(P_FLUSH)


def case_requests():
    """unknown attributes, dumps of setters, setting by getters"""
    g = smc()
    for cmd in GETS:
        assert len(g.dump(cmd, attr(99, b"abcd"))) == len(g.dump(cmd))
        fails(errno.EINVAL, "", g.dump, cmd, attr(1, b"\1\0\0\0"))
        fails(errno.EOPNOTSUPP, "", g.do, cmd)
    for cmd in SETS:
        fails(errno.EOPNOTSUPP, "", g.dump, cmd)
    for cmd in (19, 200):
        fails(errno.EOPNOTSUPP, "", g.dump, cmd)
    g.do(ENABLE_HS, attr(99, b"abcd"))
    g.do(DISABLE_HS)
    p = Genl(PNET)
    p.do(P_FLUSH, attr(99, b"abcd"))
    for cmd in (P_ADD, P_DEL, P_FLUSH):
        fails(errno.EOPNOTSUPP, "", p.dump, cmd)


def no_setter_works():
    g, p = smc(), Genl(PNET)
    for cmd in SETS:
        fails(errno.EPERM, "", g.do, cmd, eid("X"))
    for cmd in (P_ADD, P_DEL, P_FLUSH):
        fails(errno.EPERM, "", p.do, cmd, pnet("X", "eth0"))


def case_unprivileged():
    with Pairs("smcd"):
        def other():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            g = smc()
            for cmd in GETS:
                g.dump(cmd)
            assert len(in_use(g)) == 2
            assert pnet_rows(Genl(PNET).dump(P_GET)) == []
            no_setter_works()

        cases.in_child(other)

        def contained():
            os.setuid(65534)
            try:
                unshare(USER | NET)
            except OSError as e:
                raise cases.Skip("no user namespaces here") from e
            no_setter_works()

        cases.in_child(contained)
    assert eids() == [DEFAULT]


def case_namespaces():
    p = Genl(PNET)
    p.do(P_ADD, pnet("HERE", "eth0", RDMA_DEV))

    def elsewhere():
        unshare()
        g = smc()
        for cmd in (LGR_R, LINK, LGR_D, FBACK, DEV_R):
            assert g.dump(cmd) == [], f"command {cmd}"
        row, = g.rows(DEV_D, 5)
        assert num(row[1]) == 0, "use count"
        assert not any(Tech(1).flat().values())
        assert not any(Tech(2).flat().values())
        (_, data), = g.dump(DUMP_HS)
        g.do(ENABLE_HS)
        assert eids() == [DEFAULT], "the table of EIDs is the host's"
        q = Genl(PNET)
        assert pnet_rows(q.dump(P_GET)) == []
        fails(errno.EOPNOTSUPP, "initial", q.do, P_ADD, pnet("A", dev=RDMA_DEV))
        q.do(P_ADD, pnet("THERE", "eth0", RDMA_DEV))
        assert pnet_rows(q.dump(P_GET)) == [("THERE", "eth0", "n/a", 255)]

    try:
        with Pairs("smcd", 2), Pairs("smcr", 1, hostenv.LOCAL_V4):
            cases.in_child(elsewhere)
        assert [r[0] for r in pnet_rows(p.dump(P_GET))] == ["HERE"] * 2
        (_, data), = smc().dump(DUMP_HS)
        assert num(attrs_of(data)[1]) == 0
    finally:
        p.do(P_FLUSH)


def cut_anywhere(cmd, together=1):
    """A dump is the same wherever its messages end; so many rows come together.
    Rows are known by their first attribute and their last 32 bytes: others
    change when connections go."""
    rows = smc().dump(cmd)
    want = [(rcmd, data[:12], data[-32:]) for rcmd, data in rows]
    lens = [20 + len(data) for _, data in rows]
    step = together * max(lens)
    assert len(set(want)) == len(want) and sum(lens) > 4096 + step, lens
    g = Genl(SMC_GENL, 4096)
    # no attribute with a value is shorter
    for size in range(4096, 4096 + step, 8):
        g.bufsize = size
        got = [(rcmd, data[:12], data[-32:]) for rcmd, data in g.dump(cmd)]
        assert got == want, f"messages of {size} bytes: {len(got)} rows"


def case_long_dump():
    """more than a message; each row once, whatever comes"""
    g = Genl(SMC_GENL, 4096)
    with Pairs("smcr", 15 * GROUP, hostenv.LOCAL_V4):
        before = [num(r[1]) for r in g.rows(LGR_R, 2)]
        assert len(before) >= 30 and sorted(before) == before
        cut_anywhere(LINK, 2)
        g.send(LGR_R, REQUEST | DUMP)
        it = g.replies()
        got = [next(it)[1] for _ in range(3)]
        with Pairs("smcr", 3 * GROUP, hostenv.LOCAL_V4):
            got += [data for _, data in it]
        ids = [num(attrs_of(attrs_of(data)[2])[1]) for data in got]
        assert sorted(set(ids)) == ids, "twice or out of order"
        assert ids[:len(before)] == before, "left out"


def case_long_dump_d():
    """two groups for each EID that has been agreed on"""
    g = smc()
    try:
        with contextlib.ExitStack() as held:
            for i in range(12):
                g.do(FLUSH_UEID)
                g.do(ADD_UEID, eid(f"LONG.{i}"))
                held.enter_context(Pairs("smcd"))
            assert len(in_use(g)) == 24
            cut_anywhere(LGR_D)
    finally:
        g.do(FLUSH_UEID)
        g.do(ADD_UEID, attr(1, DEFAULT))


def batch(program, *lines):
    subprocess.run((program, "-b", "-"), input="\n".join(lines) + "\n",
                   text=True, check=True, stdout=subprocess.DEVNULL)


def case_many_devices():
    """their order, and where they are many a dump of several messages"""
    # to make a device takes seconds on a slow kernel
    few = limit(1) > 1
    names = [f"{'x' * 60}{i:03}" for i in range(3 if few else 28)]
    nets = [f"genl{i}" for i in range(len(names))]
    try:
        batch("ip", *(f"link add {n} type dummy" for n in nets))
        batch("rdma", *(f"link add {name} type rxe netdev {n}"
                        for name, n in zip(names, nets)))
        rows = smc().rows(DEV_R, 6)
        assert [text(r[10]) for r in rows] == [RDMA_DEV] + names
        if not few:
            cut_anywhere(DEV_R)
    finally:
        batch("ip", *(f"link delete {n}" for n in nets))
    # a device of soft-RoCE goes a moment after what it stands on
    await_that("devices stay", lambda: len(smc().rows(DEV_R, 6)) == 1, LIMIT)


def case_renamed_device():
    """it has its new name, and the network of that; so have its links"""
    g, p = smc(), Genl(PNET)

    def shown():
        row, = g.rows(DEV_R, 6)
        links = [attrs_of(attrs_of(attrs)[3]) for cmd, attrs in g.dump(LINK)
                 if cmd == LINK]
        names = {text(link[2]) for link in links}
        assert names == {text(row[10])}, names
        return text(row[10]), text(attrs_of(row[8])[2])

    with Pairs("smcr", 1, hostenv.LOCAL_V4):
        try:
            p.do(P_ADD, pnet("OLD", dev=RDMA_DEV))
            p.do(P_ADD, pnet("NEW", dev="genl9"))
            assert shown() == (RDMA_DEV, "OLD"), shown()
            batch("rdma", f"dev set {RDMA_DEV} name genl9")
            try:
                assert shown() == ("genl9", "NEW"), shown()
            finally:
                batch("rdma", f"dev set genl9 name {RDMA_DEV}")
            assert shown() == (RDMA_DEV, "OLD"), shown()
        finally:
            p.do(P_FLUSH)


def case_churn():
    """dumps of everything while connections come and go"""
    def dumper():
        g = smc()

        def dump_all():
            for cmd in GETS:
                g.dump(cmd)
        return dump_all

    def churn():
        for _ in range(20):
            with Pairs("smcd", 2), Pairs("smcr", 1, hostenv.LOCAL_V4):
                pass

    cases.meanwhile(3, dumper, churn)


sysctl("smcr_max_conns_per_lgr", str(GROUP))
sys.exit(cases.main(globals()))
