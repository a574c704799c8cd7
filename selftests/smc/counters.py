#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""counters - what each counter of /proc/net/smc_stat counts, and when

Every case does something and then compares all counters: those it names have
moved as it says, and no other has.  Needs the module, root, an RDMA port rxe0
on lo that serves 10.9.0.1, and no SMC sockets of others.
"""
import contextlib
import os
import select
import socket
import subprocess
import sys
import time

import cases
from genetlink import port_active
from limits import await_that, limit

PROTO_SMC, AF_SMC = 256, 43
STAT = "/proc/net/smc_stat"
LIMIT = limit(60)
RING = 65536
LO, RDMA = "127.0.0.1", "10.9.0.1"
SOME = ">0"


def read():
    with open(STAT, encoding="ascii") as f:
        rows = [x.split() for x in f]
    assert all(len(r) == 2 for r in rows) and len({r[0] for r in rows}) == \
        len(rows), rows
    return {name: int(value) for name, value in rows}


def sysctl(name, value):
    with open(f"/proc/sys/net/smc/{name}", "w", encoding="ascii") as f:
        f.write(f"{value}\n")


@contextlib.contextmanager
def limits(**values):
    """settings for a while"""
    before = {}
    for name in values:
        with open(f"/proc/sys/net/smc/{name}", encoding="ascii") as f:
            before[name] = f.read()
    try:
        for name, value in values.items():
            sysctl(name, value)
        yield
    finally:
        for name, value in before.items():
            sysctl(name, value.strip())


class Counters:
    """compares with what they were at its beginning"""
    def __init__(self):
        self.old = read()

    def moved(self):
        new = read()
        assert set(new) == set(self.old), "the names have changed"
        return {n: v - self.old[n] for n, v in new.items() if v != self.old[n]}

    def expect(self, **want):
        """Just these, SOME of them as much as they like.  Work of others
        may still be under way."""
        want = {n: v for n, v in want.items() if v}
        end = time.monotonic() + LIMIT
        while True:
            got = self.moved()
            if {n: SOME if want.get(n) == SOME and v > 0 else v
                    for n, v in got.items()} == want:
                return got
            if time.monotonic() > end:
                wrong = {n: (got.get(n, 0), want.get(n, 0))
                         for n in {*got, *want} if want.get(n) != SOME and
                         got.get(n) != want.get(n) or not got.get(n)}
                raise AssertionError(f"(is, wanted): {wrong}")
            time.sleep(0.02)


ENDS = {"sockets": ("SockCreated", "SockDestroyed"),
        "connections": ("ConnCreated", "ConnDestroyed"),
        "rings": ("BufCreated", "BufDestroyed"),
        "links": ("LinkCreated", "LinkDestroyed"),
        "handshakes": ("HsStarted", "HsEnded")}


def await_ends(what, now=read, seconds=LIMIT):
    """as many of them have ended as have begun; now() has the counters"""
    begun, ended = ENDS[what]

    def is_so():
        got = now()
        return got[begun] == got.get(ended)

    await_that(f"{what} stay", is_so, seconds)


def smc_socket(family=socket.AF_INET):
    s = socket.socket(family, socket.SOCK_STREAM, PROTO_SMC)
    s.settimeout(LIMIT)
    return s


def pair(address):
    """client and server end of a connection"""
    with smc_socket() as lst:
        lst.bind((address, 0))
        lst.listen(8)
        cli = smc_socket()
        cli.connect(lst.getsockname())
        srv, _ = lst.accept()
    srv.settimeout(LIMIT)
    return cli, srv


def receive(sock, count):
    """so many bytes; the number of calls"""
    calls = 0
    while count:
        data = sock.recv(count)
        assert data, "end of file"
        count -= len(data)
        calls += 1
    return calls


def ends(cli, srv):
    """close both; the peer reads the end of file, which is a call"""
    cli.close()
    assert srv.recv(1) == b""
    srv.close()


def at_rest():
    """what the cases before have closed has ended: it moves no counter"""
    for what in "sockets", "connections", "handshakes":
        await_ends(what)
    await_that("rings stay", lambda: not any(
        v for n, v in read().items() if n.endswith("BufBytes")), LIMIT)


def free_idle_rings():
    """at rest: the groups stay"""
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as f:
        f.write("2")
    await_ends("rings")


def wait_port():
    """SMC sees the port, and it is active"""
    await_that("no port", lambda: port_active("rxe0"), LIMIT)


# three sockets: listener, client, server
SOCKS = {"SockCreated": 3, "SockDestroyed": 3, "HsStarted": 2, "HsEnded": 2}
BOUND = {"ConnCreated": 2, "ConnDestroyed": 2, "TxCdc": SOME, "RxCdc": SOME}


def case_sockets():
    c = Counters()
    kinds = [socket.socket(*k) for k in ((2, 1, 256), (10, 1, 256),
                                         (AF_SMC, 1, 0), (AF_SMC, 1, 1))]
    c.expect(SockCreated=4)
    for s in kinds:
        s.close()
    c.expect(SockCreated=4, SockDestroyed=4)


def case_tcp():
    """connections without SMC: no handshake"""
    c = Counters()
    with smc_socket() as lst:
        lst.bind((LO, 0))
        lst.listen(8)
        with socket.create_connection(lst.getsockname()) as cli:
            srv, _ = lst.accept()
            cli.sendall(b"x")
            assert srv.recv(1) == b"x"
            srv.close()
    # the child is TCP's from birth
    c.expect(SockCreated=1, SockDestroyed=1, HsServerTcp=1)


def case_smcd():
    """the first of a namespace, and the next one"""
    sysctl("transports", "smcd")
    c = Counters()
    ends(*pair(LO))
    # a socket ends after its connection
    await_ends("sockets")
    got = c.moved()
    assert got["LgrCreated"] == 2 and "LgrDestroyed" not in got, got

    c = Counters()
    cli, srv = pair(LO)
    both = {"BufReused": 2, "HsClientSmcd": 1, "HsServerSmcd": 1,
            "SmcdClientV2": 1, "SmcdServerV2": 1, "SmcdRxReused": 2}
    got = c.moved()
    assert got["SmcdRxBufBytes"] == 2 * RING, got
    cli.sendall(b"x" * 1000)
    calls = receive(srv, 1000)
    ends(cli, srv)
    c.expect(**SOCKS, **BOUND, **both,
             TxBytes=1000, RxBytes=1000, TxPushes=1, TxCalls=1,
             RxCalls=calls + 1, SmcdCallsWritten=1, SmcdCallsRead=calls + 1,
             SmcdBytesWritten=1000, SmcdBytesRead=1000)


def case_smcr():
    """the first of a group, the next one, and the port's end"""
    sysctl("transports", "smcr")
    c = Counters()
    cli, srv = pair(RDMA)
    group = {"LgrCreated": 2, "LinkCreated": 2}
    both = {"HsClientSmcr": 1, "HsServerSmcr": 1, "SmcrClientV2": 1,
            "SmcrServerV2": 1}
    got = c.moved()
    assert got["SmcrRxBufBytes"] == got["SmcrTxBufBytes"] == 2 * RING, got
    cli.sendall(b"x" * 1000)
    calls = receive(srv, 1000)
    ends(cli, srv)
    sent = {"TxBytes": 1000, "RxBytes": 1000, "TxPushes": 1, "TxCalls": 1,
            "TxImm": 1, "RxImm": 1,
            "RxCalls": calls + 1, "SmcrCallsWritten": 1,
            "SmcrCallsRead": calls + 1, "SmcrBytesWritten": 1000,
            "SmcrBytesRead": 1000, "WrPosted": SOME, "WrCompleted": SOME}
    got = c.expect(**SOCKS, **BOUND, **group, **both, **sent, BufCreated=4,
                   SmcrTxAllocated=2, SmcrRxAllocated=2)

    c = Counters()
    cli, srv = pair(RDMA)
    got = c.moved()
    assert got.get("LgrCreated", 0) == 0 == got.get("LinkCreated", 0), got
    assert got["BufReused"] == got["SmcrTxReused"] + got["SmcrRxReused"]
    assert got["BufReused"] + got.get("BufCreated", 0) == 4, got
    assert got["SmcrTxReused"] == 2, got

    c = Counters()
    subprocess.run(["rdma", "link", "delete", "rxe0"], check=True)
    try:
        for s in cli, srv:
            try:
                assert s.recv(1) == b"", "data"
            except OSError:
                pass
            s.close()
        end = time.monotonic() + LIMIT
        while True:
            got = c.moved()
            if got.get("LgrDestroyed") == got.get("LinkDestroyed") == 2 and \
                    got.get("BufDestroyed", 0) >= 4:
                break
            assert time.monotonic() < end, got
            time.sleep(0.02)
        assert got["ConnAborted"] == 2, got
        # the one that goes first says goodbye to the other
        assert got["LinkDownRemoved"] + got.get("LinkDownPeer", 0) == 2, got
        assert got["SmcrRxBufBytes"] == got["SmcrTxBufBytes"] == -2 * RING, got
    finally:
        subprocess.run(["rdma", "link", "add", "rxe0", "type", "rxe",
                        "netdev", "lo"], check=True)
        wait_port()


def options(tech):
    """cork, urgent byte, nodelay, splice: each once, on the client's side"""
    address = LO if tech == "Smcd" else RDMA
    cli, srv = pair(address)
    c = Counters()
    cli.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
    cli.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
    cli.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    cli.sendall(b"x")
    rd, wr = os.pipe()
    assert select.select([srv], [], [], LIMIT)[0]
    assert os.splice(srv.fileno(), wr, 1) == 1 and os.read(rd, 1) == b"x"
    os.close(rd)
    os.close(wr)
    srv.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
    cli.send(b"!", socket.MSG_OOB)
    assert srv.recv(1) == b"!"
    got = c.moved()
    want = {"Cork": 1, "Nodelay": 1, "Urgent": 1, "Splice": 1, "CallsRead": 2,
            "CallsWritten": 2, "BytesRead": 2, "BytesWritten": 2}
    assert {n[4:]: v for n, v in got.items()
            if n[:3] == "Smc"} == want, got
    assert got["TxCalls"] == got["RxCalls"] == 2, got
    ends(cli, srv)


def rings(tech):
    """calls larger than the rings, and full ones"""
    address = LO if tech == "Smcd" else RDMA
    cli, srv = pair(address)
    c = Counters()
    cli.setblocking(False)
    sent, calls = 0, 0
    # over RDMA the last push is still under way at the first refusal
    end = time.monotonic() + LIMIT
    # a writer to shared memory has no ring, and the peer's begins with a head
    want = RING - 64 if tech == "Smcd" else 2 * RING
    while sent < want:
        calls += 1
        try:
            sent += cli.send(bytes(2 * RING + 1))
        except BlockingIOError:
            assert time.monotonic() < end, (sent, c.moved())
            time.sleep(0.01)
    calls += 1
    try:
        raise AssertionError(f"took {cli.send(bytes(2 * RING + 1))} more")
    except BlockingIOError:
        pass
    got = c.moved()
    assert got["TxCalls"] == got[tech + "CallsWritten"] == calls, (calls, got)
    assert got[tech + "TxSmall"] == got[tech + "TxSmallPeer"] == calls, got
    assert got[tech + "TxFull"] >= 1, got
    assert got[tech + "BytesWritten"] == sent, (sent, got)
    assert got.get("TxWindow", 0) == got.get(tech + "TxFullPeer", 0), got
    assert (got.get("TxWindow", 0) > 0) == (tech == "Smcr"), got

    c = Counters()
    assert len(srv.recv(2 * RING)) >= RING - 64
    got = c.moved()
    assert got[tech + "RxSmall"] == got[tech + "RxFull"] == 1, got
    cli.close()
    srv.close()


def both(tech, transport, work):
    def case():
        sysctl("transports", transport)
        work(tech)
    return case


case_options_smcd = both("Smcd", "smcd", options)
case_options_smcr = both("Smcr", "smcr", options)
case_rings_smcd = both("Smcd", "smcd", rings)
case_rings_smcr = both("Smcr", "smcr", rings)


def sizes(tech):
    """rings are a power of two, and of shared memory 1 MiB at most"""
    address, wanted = RDMA, [(20000, 32768), (32768, 32768)]
    if tech == "Smcd":
        address, wanted = LO, wanted + [(4 << 20, 1 << 20)]
    for rmem, ring in wanted:
        at_rest()
        c = Counters()
        with limits(rmem=rmem):
            cli, srv = pair(address)
        got = c.moved()[tech + "RxBufBytes"]
        assert got == 2 * ring, (rmem, got)
        for s in cli, srv:
            got = s.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
            assert got == 2 * ring, (rmem, got)
        ends(cli, srv)


case_sizes_smcd = both("Smcd", "smcd", sizes)
case_sizes_smcr = both("Smcr", "smcr", sizes)


@contextlib.contextmanager
def held(port):
    """handshakes with this port do not begin until what this gives is called,
    and do not go on"""
    def nft(rules):
        subprocess.run(["nft", rules], check=True)

    nft(f"""add table ip smctest
        add chain ip smctest data {{ type filter hook input priority 0; }}
        add rule ip smctest data tcp dport {port} tcp flags & psh == psh drop
        add chain ip smctest open {{ type filter hook input priority 0; }}
        add rule ip smctest open tcp dport {port} drop""")
    try:
        yield lambda: nft("flush chain ip smctest open")
    finally:
        nft("delete table ip smctest")


def case_limit():
    """more handshakes at once with one host than its share: the others are
    plain TCP, and each end counts those that it refuses"""
    count = 320
    sysctl("transports", "smcd")
    sysctl("handshake_timeout_ms", 60000)
    with smc_socket() as lst:
        lst.bind((LO, 0))
        lst.listen(4 * count)           # that is not crowded
        c = Counters()
        clients = [smc_socket() for _ in range(count)]
        with held(lst.getsockname()[1]) as answer:
            for s in clients:
                s.setblocking(False)
                s.connect_ex(lst.getsockname())
            # while one could be refused it would not begin
            answer()
            await_that("they do not come", lambda: c.moved().get("HsStarted") ==
                       2 * count, LIMIT)
        servers = [lst.accept()[0] for _ in range(count)]
        # HsEnded is counted before how they ended
        await_that("they do not end", lambda: sum(
            c.moved().get(f"Hs{end}{how}", 0) for end in ("Client", "Server")
            for how in ("Tcp", "Smcd")) == 2 * count, LIMIT)
        got = c.moved()
        for s in clients + servers:
            s.close()
    refused = got.get("HsLimit", 0)
    print("#", refused, "of", count, "were refused", flush=True)
    plain = got["HsServerTcp"]
    assert 0 < plain <= refused <= 2 * plain, got
    assert got["HsClientTcp"] == plain, got
    assert got["HsServerSmcd"] == got["HsClientSmcd"] == count - plain, got
    assert count - plain >= 200, got


def case_port():
    """the port goes down below an idle link, and comes back: nothing ends"""
    sysctl("transports", "smcr")
    cli, srv = pair(RDMA)
    c = Counters()
    subprocess.run(["ip", "link", "set", "lo", "down"], check=True)
    try:
        await_that("the port is up", lambda: not port_active("rxe0"), LIMIT)
    finally:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        wait_port()
    for a, b in (cli, srv), (srv, cli):
        a.sendall(b"hello")
        assert b.recv(5) == b"hello"
    got = c.moved()
    assert "LgrLost" not in got and "ConnAborted" not in got, got
    for s in cli, srv:
        s.close()


if __name__ == "__main__":
    sys.exit(cases.main(globals(), before=at_rest))
