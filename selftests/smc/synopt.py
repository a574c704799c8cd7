#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""synopt - the SYN option as this module writes it (syn_option=own)

The case "crossing" is for the one that the kernel writes, too.

Two namespaces, c and s, on a pair of veth; a packet socket in c sees what each
sends.  Every SYN and SYN-ACK is checked: lengths, the checksum (or, where the
device is to make it, the pseudo header's), and the option, which comes last.

Needs root, ip, nft and ethtool.
"""
import contextlib
import errno
import os
import select
import socket
import struct
import subprocess
import sys

import cases
from limits import await_that, limit
from namespaces import enter, setns

IPPROTO_SMC = 256
IP4 = {"c": "10.98.5.1", "s": "10.98.5.2"}
IP6 = {"c": "fd98:5::1", "s": "fd98:5::2"}
OFFER = bytes.fromhex("0101fe06e2d4c3d9")
SOL_PACKET, PACKET_AUXDATA, CSUM_NOT_READY = 263, 8, 8
TCP_MD5SIG = 14
SYN, ACK = 2, 16
DATA = bytes(range(256)) * 40
HOME = os.open("/proc/self/ns/net", os.O_RDONLY)


def run(cmd):
    subprocess.run(cmd, shell=True, check=True)


class Inside:
    """with Inside("c"): the namespace of what is made there"""
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        enter(self.name)

    def __exit__(self, *_):
        setns(HOME)


def sysctl(ns, name, value, family="ipv4"):
    with Inside(ns), open(f"/proc/sys/net/{family}/{name}", "w",
                          encoding="ascii") as f:
        f.write(str(value))


def deadline(ns, ms=20000):
    """of handshakes; by default a busy host is not too late"""
    sysctl(ns, "handshake_timeout_ms", ms, "smc")


def stat(ns, name):
    with Inside(ns), open("/proc/self/net/smc_stat", encoding="ascii") as f:
        return dict(line.split()[:2] for line in f if len(line.split()) > 1)[name]


def nft(ns, rules=""):
    """@rules: none removes all"""
    run(f"ip netns exec {ns} nft flush ruleset")
    if rules:
        subprocess.run(["ip", "netns", "exec", ns, "nft", "-f", "-"],
                       input=rules, text=True, check=True)


@contextlib.contextmanager
def translating(ns, rules):
    """@rules have translations of addresses, which not every kernel has"""
    try:
        nft(ns, rules)
    except subprocess.CalledProcessError as e:
        raise cases.Skip("this kernel has no NAT") from e
    try:
        yield
    finally:
        nft(ns)


def drop(ns, what):
    nft(ns, f"""table inet t {{
            chain c {{
                type filter hook input priority 0;
                {what} drop;
            }}
        }}""")


SYNS = "tcp flags & (syn|ack) == syn"
SYNACKS = "tcp flags & (syn|ack) == (syn|ack)"
CLOSING = "04", "05", "08", "09", "0B"      # states of TCP in /proc/net/tcp


def ones_sum(data):
    if len(data) % 2:
        data += b"\0"
    n = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while n >> 16:
        n = (n & 0xFFFF) + (n >> 16)
    return n


class Wire:
    """SYNs and SYN-ACKs that pass the client's device"""
    def __init__(self, dev="eth0"):
        with Inside("c"):
            self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM,
                                      socket.htons(3))
            self.sock.bind((dev, 3))
        self.sock.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        self.seen = {"syn": [], "synack": []}
        self.lengths = {"syn": [], "synack": []}
        self.partial = set()

    def read(self):
        while select.select([self.sock], [], [], 0)[0]:
            data, aux, _, _ = self.sock.recvmsg(70000, 200)
            status = struct.unpack("I", aux[0][2][:4])[0]
            self.packet(data, bool(status & CSUM_NOT_READY))
        return self.seen

    def packet(self, p, partial):
        if p[0] >> 4 == 4 and p[9] == 6:
            head = (p[0] & 15) * 4
            assert struct.unpack("!H", p[2:4])[0] == len(p), "IP length"
            assert ones_sum(p[:head]) == 0xFFFF, "IP checksum"
            pseudo = p[12:20] + struct.pack("!HH", 6, len(p) - head)
        elif p[0] >> 4 == 6 and p[6] == 6:
            head = 40
            assert struct.unpack("!H", p[4:6])[0] == len(p) - 40, "length"
            pseudo = p[8:40] + struct.pack("!IHH", len(p) - head, 0, 6)
        else:
            return
        tcp = p[head:]
        if not tcp[13] & SYN:
            return
        if partial:
            assert struct.unpack("!H", tcp[16:18])[0] == ones_sum(pseudo), \
                "checksum of the pseudo header"
        else:
            assert ones_sum(pseudo + tcp) == 0xFFFF, "checksum"
        self.partial.add(partial)
        options = tcp[20:(tcp[12] >> 4) * 4]
        at = options.find(OFFER)
        assert at in (-1, len(options) - 8), f"not last: {options.hex()}"
        kind = "synack" if tcp[13] & ACK else "syn"
        self.seen[kind].append(at >= 0)
        self.lengths[kind].append(len(options))

    def expect(self, syn, synack):
        assert self.read() == {"syn": syn, "synack": synack}, self.seen
        self.sock.close()


def make(ns, family=socket.AF_INET, proto=IPPROTO_SMC):
    with Inside(ns):
        sock = socket.socket(family, socket.SOCK_STREAM, proto)
    sock.settimeout(limit(30))
    return sock


def listener(family=socket.AF_INET, proto=IPPROTO_SMC, port=7000):
    sock = make("s", family, proto)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("::" if family == socket.AF_INET6 else "0.0.0.0", port))
    sock.listen(64)
    return sock


def begin(sock, to, port=7000):
    """connect() without waiting"""
    sock.setblocking(False)
    rc = sock.connect_ex((to, port))
    assert rc == errno.EINPROGRESS, rc
    return sock


def begun(sock):
    """the outcome of begin()"""
    assert select.select([], [sock], [], limit(30))[1], "connect()"
    sock.settimeout(limit(30))
    rc = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    assert not rc, errno.errorcode[rc]


def exchange(one, other):
    for a, b in (one, other), (other, one):
        a.sendall(DATA)
        got = b""
        while len(got) < len(DATA):
            more = b.recv(len(DATA) - len(got))
            assert more, "end of file"
            got += more
        assert got == DATA, "other bytes"


def counted():
    return {n: int(stat(ns, n)) for ns, n in (
        ("c", "HsClientSmcd"), ("c", "HsClientTcp"), ("s", "HsServerSmcd"))}


def pair(lsock, client, to, is_smc, port=7000):
    """connect, exchange data, compare what it has become"""
    before = counted()
    begin(client, to, port)
    server, _ = lsock.accept()
    begun(client)
    exchange(client, server)
    after = counted()
    got = {n: after[n] - before[n] for n in after}
    assert got["HsClientSmcd"] == is_smc, got
    return server


def finish(*socks):
    for sock in socks:
        sock.close()


def once(family, to, is_smc=True, syn=True, synack=True, dev="eth0"):
    """one connection, its SYN and its SYN-ACK"""
    wire = Wire(dev)
    lsock = listener(family if "." not in to else socket.AF_INET6)
    client = make("c", family)
    server = pair(lsock, client, to, is_smc)
    finish(client, server, lsock)
    wire.expect([syn], [synack])
    return wire.partial


ADDRESSES = ((socket.AF_INET, IP4["s"]), (socket.AF_INET6, IP6["s"]),
             (socket.AF_INET6, "::ffff:" + IP4["s"]))


def case_offloaded():
    for family, to in ADDRESSES:
        assert once(family, to) == {True}, to


def offload(state):
    for ns in "cs":
        run(f"ip netns exec {ns} ethtool -K eth0 tx {state} >/dev/null")


def case_not_offloaded():
    offload("off")
    try:
        for family, to in ADDRESSES:
            assert once(family, to) == {False}, to
    finally:
        offload("on")


SYN_OPTIONS = "tcp_timestamps", "tcp_sack", "tcp_window_scaling"


def case_few_options():
    try:
        for name in SYN_OPTIONS:
            sysctl("c", name, 0)
            for family, to in ADDRESSES:
                once(family, to)
    finally:
        for name in SYN_OPTIONS:
            sysctl("c", name, 1)


def case_plain_peers():
    wire = Wire()
    lsock = listener(proto=0)
    client = make("c")
    finish(pair(lsock, client, IP4["s"], False), client, lsock)
    wire.expect([True], [False])
    wire = Wire()
    lsock = listener()
    client = make("c", proto=0)
    finish(pair(lsock, client, IP4["s"], False), client, lsock)
    wire.expect([False], [False])


def case_lost_syns():
    """the third has no option"""
    for family, to in ADDRESSES:
        wire = Wire()
        lsock = listener(socket.AF_INET6)
        drop("s", SYNS)
        client = begin(make("c", family), to)
        await_that("three SYNs", lambda w=wire: len(w.read()["syn"]) >= 3,
                   limit(30))
        nft("s")
        server, _ = lsock.accept()
        begun(client)
        exchange(client, server)
        finish(client, server, lsock)
        seen = wire.read()
        assert seen["syn"][:3] == [True, True, False], seen
        assert not any(seen["syn"][3:] + seen["synack"]), seen


def case_lost_synacks():
    """each has it, and the connection is SMC"""
    for family, to in ADDRESSES:
        wire = Wire()
        before = counted()
        lsock = listener(socket.AF_INET6)
        drop("c", SYNACKS)
        client = begin(make("c", family), to)
        await_that("three SYN-ACKs",
                   lambda w=wire: len(w.read()["synack"]) >= 3, limit(30))
        nft("c")
        server, _ = lsock.accept()
        begun(client)
        exchange(client, server)
        finish(client, server, lsock)
        assert all(wire.read()["synack"]), wire.seen
        assert counted()["HsClientSmcd"] == before["HsClientSmcd"] + 1


def case_cookies():
    sysctl("s", "tcp_syncookies", 2)
    try:
        for family, to in ADDRESSES:
            once(family, to, is_smc=False, synack=False)
    finally:
        sysctl("s", "tcp_syncookies", 1)


def case_nat():
    with translating("s", """table inet t {
            chain c {
                type nat hook prerouting priority -100;
                tcp dport 7001 redirect to :7000;
            }
            chain d {
                type filter hook output priority 0;
                ct state invalid drop;
            }
        }"""):
        for family, to in ADDRESSES:
            wire = Wire()
            lsock = listener(socket.AF_INET6)
            client = make("c", family)
            before = counted()
            begin(client, to, 7001)
            server, _ = lsock.accept()
            begun(client)
            exchange(client, server)
            after = counted()
            finish(client, server, lsock)
            wire.expect([True], [True])
            assert after["HsClientSmcd"] == before["HsClientSmcd"] + 1, to


def case_tunnels():
    """The packet around a SYN-ACK has the same socket, and bytes where TCP's
    flags would be that say SYN and ACK (the VXLAN's number)."""
    for kind in "vxlan id 5000 dstport 4789", "ipip":
        for ns, other in ("c", "s"), ("s", "c"):
            try:
                run(f"ip -n {ns} link add tun0 type {kind} local {IP4[ns]} "
                    f"remote {IP4[other]}")
            except subprocess.CalledProcessError as e:
                raise cases.Skip("what is not in this kernel") from e
            run(f"ip -n {ns} address add {IP4[ns].replace('98', '97')}/24 "
                f"dev tun0; ip -n {ns} link set tun0 up")
        try:
            lsock = listener()
            client = make("c")
            finish(pair(lsock, client, IP4["s"].replace("98", "97"), True),
                   client, lsock)
        finally:
            for ns in "cs":
                run(f"ip -n {ns} link delete tun0")


def case_signed():
    """TCP-MD5: neither is touched, and both are accepted"""
    def key(sock, of):
        try:
            sock.setsockopt(socket.IPPROTO_TCP, TCP_MD5SIG, struct.pack(
                "=HH4s120xBBHi80s", socket.AF_INET, 0, socket.inet_aton(of),
                0, 0, 6, 0, b"secret"))
        except OSError as e:
            raise cases.Skip(f"TCP_MD5SIG: {e}") from e

    wire = Wire()
    lsock = listener()
    key(lsock, IP4["c"])
    client = make("c")
    key(client, IP4["s"])
    finish(pair(lsock, client, IP4["s"], False), client, lsock)
    wire.expect([False], [False])


def case_fast_open():
    """data in the SYN stay as they are"""
    sysctl("s", "tcp_fastopen", 0x203)
    sysctl("c", "tcp_fastopen", 5)
    try:
        lsock = listener()
        lsock.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 5)
        client = make("c")
        n = client.sendto(DATA, socket.MSG_FASTOPEN, (IP4["s"], 7000))
        client.sendall(DATA[n:])
        server, _ = lsock.accept()
        client.shutdown(socket.SHUT_WR)
        got = b""
        while more := server.recv(65536):
            got += more
        assert got == DATA, (n, len(got))
        finish(client, server, lsock)
    finally:
        for ns in "cs":
            sysctl(ns, "tcp_fastopen", 1)


def cross(port, lost=True):
    """Two sockets that have connected to each other at once, by plain TCP.  @lost:
    the first SYNs are dropped, so that the next one of either end finds the other
    in SYN_SENT."""
    def smc():
        return [stat(ns, name) for ns in "cs"
                for name in ("HsClientSmcd", "HsServerSmcd", "HsReconnect")]

    before = smc()
    one, other = make("c"), make("s")
    one.bind((IP4["c"], port))
    other.bind((IP4["s"], port + 1))
    for ns in "cs" if lost else "":
        drop(ns, SYNS)
    begin(one, IP4["s"], port + 1)
    begin(other, IP4["c"], port)
    for ns in "cs" if lost else "":
        nft(ns)
    begun(one)
    begun(other)
    exchange(one, other)
    assert smc() == before, (smc(), before)
    return one, other


def case_crossing():
    """one after the other, and at the same time"""
    # with the option of the kernel both ends may have TCP after that
    for ns in "cs":
        deadline(ns, int(limit(1000)))
    finish(*cross(7100))
    for ns in "cs":
        run(f"tc -n {ns} qdisc add dev eth0 root netem "
            f"delay {int(limit(300))}ms")
    try:
        finish(*cross(7110, False))
        # a FIN that the queue loses would be sent again for minutes
        for ns in "cs":
            await_that("the end of the connections",
                       lambda ns=ns: not sockets(ns, CLOSING), limit(30))
    finally:
        for ns in "cs":
            run(f"tc -n {ns} qdisc delete dev eth0 root")
            deadline(ns)


def case_many():
    """at once, with the option and without"""
    lsock = listener(socket.AF_INET6)
    before = counted()
    socks = []
    for i in range(48):
        family, to = ADDRESSES[i % 3]
        proto = IPPROTO_SMC if i % 2 else 0
        socks.append(begin(make("c", family, proto), to))
    for _ in range(48):
        socks.append(lsock.accept()[0])
    for sock in socks[:48]:
        begun(sock)
    assert counted()["HsClientSmcd"] - before["HsClientSmcd"] == 24
    finish(lsock, *socks)


def unload():
    for name in "smc_diag", "smc":
        # the last references of closed sockets are dropped by RCU
        await_that(f"rmmod {name}",
                   lambda n=name: subprocess.run(
                       ["rmmod", n], check=False,
                       stderr=subprocess.DEVNULL).returncode == 0, limit(20))


def load():
    run("insmod /lab/smc.ko syn_option=own && insmod /lab/smc_diag.ko")
    for ns in "cs":
        deadline(ns)


def sockets(ns, wanted):
    """TCP's in one of these states: how often each has timed out"""
    found = []
    with Inside(ns):
        for name in "tcp", "tcp6":
            with open("/proc/self/net/" + name, encoding="ascii") as f:
                found += [int(words[6], 16) for words in map(str.split, f)
                          if words[3] in wanted]
    return found


def requests():
    return sockets("s", ("03",))


def requests_at_rmmod(timeouts):
    """rmmod while requests that have the option wait, and have timed out so
    often; how many are left"""
    lsock = listener(socket.AF_INET6)
    drop("c", SYNACKS)
    clients = [begin(make("c", family), to) for family, to in ADDRESSES]
    await_that("requests",
               lambda: sum(n >= timeouts for n in requests()) == 3, limit(60))
    finish(lsock, *clients)
    unload()
    left = len(requests())
    print("#", left, "requests left after rmmod and", timeouts, "timeouts")
    await_that("the end of the requests", lambda: not requests(), limit(90))
    nft("c")
    load()
    once(*ADDRESSES[0])
    return left


def case_requests_stay():
    """Without their listener requests end with the next timeout: after 1, 4, and
    16 seconds.  Where rmmod takes longer, the later one is needed."""
    assert any(requests_at_rmmod(n) for n in (0, 2, 4)), "none was left"


def fill(sock):
    """write what the other end does not read, close; how much"""
    sock.setblocking(False)
    sent = 0
    while select.select([], [sock], [], limit(1))[1]:
        sent += sock.send(bytes(65536))
    sock.close()
    return sent


def case_orphans_stay():
    """rmmod while closed sockets that fell back have data to send"""
    lsock = listener(socket.AF_INET6, proto=0)
    pairs = []
    for family, to in ADDRESSES:
        client = make("c", family)
        server = pair(lsock, client, to, False)
        pairs.append((server, fill(client)))
    # the server's side of a plain client, too
    ours = listener(socket.AF_INET6, port=7002)
    for family, to in ADDRESSES:
        client = make("c", family, 0)
        server = pair(ours, client, to, False, 7002)
        pairs.append((client, fill(server)))
    ours.close()
    one, other = cross(7200)
    pairs.append((other, fill(one)))
    unload()
    assert len(sockets("c", ("04",))) == 4 and len(sockets("s", ("04",))) == 3, \
        "FIN_WAIT1"
    for sock, sent in pairs:
        got = 0
        while more := sock.recv(1 << 20):
            got += len(more)
        assert got == sent, (got, sent)
    finish(lsock, *[sock for sock, _ in pairs])
    load()
    once(*ADDRESSES[0])


def case_connecting_goes():
    """close() of a socket that is connecting, then rmmod at once"""
    drop("s", SYNS)
    clients = [begin(make("c", family), to) for family, to in ADDRESSES]
    finish(*clients)
    unload()
    nft("s")
    load()
    once(*ADDRESSES[2])


def run_between(namespaces, connect, functions, route=lambda: None):
    """the cases, in these namespaces: connect() gives c and s an eth0, route() is
    called when these have addresses; the exit code"""
    for ns in namespaces:
        run(f"ip netns add {ns} && ip -n {ns} link set lo up")
        deadline(ns)
    connect()
    for ns in "cs":
        run(f"ip -n {ns} address add {IP4[ns]}/24 dev eth0; "
            f"ip -n {ns} address add {IP6[ns]}/64 dev eth0 nodad; "
            f"ip -n {ns} link set eth0 up")
    route()
    try:
        return cases.main(functions)
    finally:
        for ns in namespaces:
            run(f"ip netns del {ns}")


def by_veth():
    run("ip -n c link add eth0 type veth peer name eth0 netns s")


if __name__ == "__main__":
    sys.exit(run_between("cs", by_veth, globals()))
