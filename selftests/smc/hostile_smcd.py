#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""hostile_smcd - a peer that says it is on this host

It is behind a TAP device (minitcp.py) and has learned what a neighbour can know:
the GID of the host, which is told to every server, and the token of a ring.  It
gets no ring with them, and the others do not notice.  Also what the messages say
of the host.  Needs the module and root.
"""
import contextlib
import os
import socket
import struct
import subprocess
import sys
import threading

import cases
from clcmsg import UEID, decline, header
from counters import Counters, pair, ends
from limits import limit
from minitcp import MAGIC, Net, tap
from sockdiag import PROTO_SMC, SMCD, TCP, row_of

KERNEL, PEER = "10.99.0.1", "10.99.0.2"
VICTIM, LURE = 7650, 7651
ELSEWHERE = "10.98.98.98"
LIMIT = limit(20)
EYE_D = MAGIC[:3] + b"\xc4"
NAME = slice(78, 110)                   # in an Accept or Confirm of SMC-D
ACCEPT, CONFIRM, DECLINE = 2, 3, 4
VMFORK = "/lab/vmfork.ko"
MESSAGES = {1: "Proposal", ACCEPT: "Accept", CONFIRM: "Confirm"}
ETH_P_IP = 0x0800
HOST, CONTAINER = "name-of-the-host", "name-of-the-container"
FIRST = 0x08                            # in its header


def run(*words):
    subprocess.run(words, check=True)


def tap_up():
    tap("clc0", KERNEL)
    return Net("clc0", PEER, KERNEL)


def smc_socket():
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, PROTO_SMC)
    s.settimeout(LIMIT)
    return s


def listener(address, port):
    s = smc_socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((address, port))
    s.listen(8)
    return s


def message(c):
    head = c.recv(8, LIMIT)
    assert len(head) == 8 and head[:3] == MAGIC[:3], head.hex()
    return head + c.recv(struct.unpack(">H", head[5:7])[0] - 8, LIMIT)


def ism_of(proposal):
    """the two entries of the loopback device"""
    ext = 52 + struct.unpack_from(">H", proposal, 50)[0]
    at = ext + 8 + struct.unpack_from(">H", proposal, ext + 6)[0] + 48
    ism = proposal[at:at + 20]
    assert ism[8:10] == ism[18:20] == b"\xff\xff", ism.hex()
    return ism


def proposal_d(ism):
    """version 2, SMC-D alone, one UEID, release 1"""
    ext = struct.pack(">BBBBHH", 1, 2, 0, 0x10, 0, 64) + bytes(16) + \
        b"\xff\x01\0\1" + bytes(12) + UEID.ljust(32)
    body = bytes(32) + bytes(10) + struct.pack(">H", 28) + bytes(28) + \
        ext + bytes(48) + ism
    return header(1, 8 + len(body) + 4, 0x26) + body + MAGIC


def accepted(net, ism, port):
    """a connection as if from this host: TCP, and the Accept"""
    c = net.connect(port, True, LIMIT)
    assert c.option, "no SMC"
    c.send(proposal_d(ism))
    acc = message(c)
    assert acc[4] == 2 and acc[:4] == EYE_D, acc.hex()
    return c, acc


class Lure:
    """a program of this host connects to the peer, whose server has more than
    one connection where the first was no good"""
    def __init__(self, net):
        self.conns, self.more = [], threading.Semaphore(0)
        net.listen(LURE, True, self.on_conn)
        self.sock = smc_socket()
        self.thread = threading.Thread(
            target=self.sock.connect, args=((PEER, LURE),))
        self.thread.start()
        self.conn = self.next()
        assert self.conn.option, "no SMC"
        self.proposal = message(self.conn)

    def on_conn(self, c):
        self.conns.append(c)
        self.more.release()

    def next(self):
        assert self.more.acquire(timeout=LIMIT), "it does not connect"
        return self.conns.pop(0)


def own_ism(net):
    """the host's, as it tells it to a server"""
    lure = Lure(net)
    lure.conn.send(decline())
    lure.thread.join(LIMIT)
    lure.sock.close()
    return ism_of(lure.proposal)


def honest():
    """two programs of this host"""
    cli, srv = pair("127.0.0.1")
    assert row_of(cli).mode == row_of(srv).mode == SMCD
    return cli, srv


def case_token():
    """the token of a ring that waits for its peer, on another connection"""
    cli, srv = honest()
    lure = Lure(peer)
    ism = ism_of(lure.proposal)
    lst = listener(KERNEL, VICTIM)
    tcp, acc = accepted(peer, ism, VICTIM)
    c = Counters()
    lure.conn.send(acc)
    again = lure.next()
    assert not again.option, "SMC again"
    lure.thread.join(LIMIT)
    assert row_of(lure.sock).mode == TCP, "it has the ring"
    tcp.send(decline())
    victim = lst.accept()[0]
    assert row_of(victim).mode == TCP
    for a, b in (again, lure.sock), (tcp, victim):
        a.send(b"hello")
        assert b.recv(5) == b"hello"
        a.rst()
        b.close()
    lst.close()
    got = c.moved()
    assert got["ClcMalformed"] == got["HsReconnect"] == 1, got
    assert "HsClientSmcd" not in got and "HsServerSmcd" not in got, got
    cli.sendall(b"x" * 1000)
    assert len(srv.recv(1000, socket.MSG_WAITALL)) == 1000
    ends(cli, srv)
    ends(*honest())


def case_snapshot():
    """The machine goes on from a snapshot, as another one may: its GID is another,
    and the one of before is no more its own.  Connections go on."""
    with open("/proc/kallsyms", encoding="ascii") as f:
        if " add_vmfork_randomness\n" not in f.read():
            raise cases.Skip("the kernel does not hear of snapshots")
    if not os.path.exists(VMFORK):
        raise cases.Skip("no module vmfork")
    held = honest()
    old = own_ism(peer)
    run("insmod", VMFORK)
    run("rmmod", "vmfork")
    new = own_ism(peer)
    assert new[:8] != old[:8] and new[10:18] != old[10:18], new.hex()
    lst = listener(KERNEL, VICTIM)
    tcp = peer.connect(VICTIM, True, LIMIT)
    tcp.send(proposal_d(old))
    assert message(tcp)[4] == DECLINE
    tcp.rst()
    lst.accept()[0].close()
    lst.close()
    held[0].sendall(b"x" * 1000)
    assert len(held[1].recv(1000, socket.MSG_WAITALL)) == 1000
    ends(*held)
    ends(*honest())


def case_out_of_step():
    """it says so of the group, which is that of all: nothing ends, none is made"""
    held = honest()
    lure = Lure(peer)
    ism = ism_of(lure.proposal)
    lure.conn.send(decline())
    lure.thread.join(LIMIT)
    lst = listener(KERNEL, VICTIM)
    c = Counters()
    for _ in range(3):
        tcp, _ = accepted(peer, ism, VICTIM)
        tcp.send(decline(out_of_sync=True))
        victim = lst.accept()[0]
        assert row_of(victim).mode == TCP
        tcp.rst()
        victim.close()
        ends(*honest())
    lst.close()
    lure.conn.rst()
    lure.sock.close()
    got = c.moved()
    assert "LgrCreated" not in got and "ConnAborted" not in got, got
    held[0].sendall(b"x" * 1000)
    assert len(held[1].recv(1000, socket.MSG_WAITALL)) == 1000
    ends(*held)


def case_later_contact():
    """an Accept that does not say "first contact", as all of SMC-D do"""
    lst = listener(KERNEL, VICTIM)
    lure = Lure(peer)
    tcp, acc = accepted(peer, ism_of(lure.proposal), VICTIM)
    ends(*honest())
    c = Counters()
    lure.conn.send(acc[:7] + bytes([acc[7] & ~FIRST]) + acc[8:])
    lure.thread.join(LIMIT)
    assert row_of(lure.sock).mode == TCP, "it has the ring"
    tcp.rst()
    lst.close()
    lure.conn.rst()
    lure.sock.close()
    got = c.moved()
    assert not {"HsClientSmcd", "HsReconnect", "LgrCreated"} & set(got), got


def case_nat():
    """the two ends of a connection do not have the same addresses"""
    lst = listener(KERNEL, VICTIM)
    run("ip", "route", "add", ELSEWHERE, "dev", "clc0")
    run("nft", f"""add table ip smctest
        add chain ip smctest out {{ type nat hook output priority -100; }}
        add rule ip smctest out ip daddr {ELSEWHERE} tcp dport 80 dnat to {KERNEL}:{VICTIM}""")
    try:
        cli = smc_socket()
        cli.connect((ELSEWHERE, 80))
        srv = lst.accept()[0]
        assert cli.getpeername() != srv.getsockname()
        assert row_of(cli).mode == row_of(srv).mode == SMCD
        ends(cli, srv)
    finally:
        run("nft", "delete table ip smctest")
        run("ip", "route", "delete", ELSEWHERE)
        lst.close()


def told(work):
    """the CLC messages that two programs of this host send each other meanwhile,
    by type"""
    said = {}
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM,
                       socket.htons(ETH_P_IP)) as s:
        s.bind(("lo", 0))
        s.setblocking(False)
        work()
        try:
            while True:
                packet = s.recv(65536)
                tcp = packet[(packet[0] & 15) * 4:]
                payload = tcp[(tcp[12] >> 4) * 4:]
                if packet[9] == socket.IPPROTO_TCP and \
                        payload[:3] == MAGIC[:3]:
                    said[payload[4]] = payload
        except BlockingIOError:
            pass
    assert set(said) == set(MESSAGES), said
    return said


@contextlib.contextmanager
def host_called(name):
    """for a while; one that is in no message by chance"""
    before = os.uname().nodename
    socket.sethostname(name)
    try:
        yield
    finally:
        socket.sethostname(before)


def case_name():
    """the host's name is told by the host, and not by a container, by either side:
    in no message, whatever name the container has"""
    with host_called(HOST):
        said = told(lambda: ends(*honest()))
        for kind in ACCEPT, CONFIRM:
            assert said[kind][NAME] == HOST.ljust(32).encode(), said[kind]
        run("ip", "netns", "add", "container")
        try:
            for uts in (), ("unshare", "--uts"):
                run("ip", "netns", "exec", "container", *uts, sys.argv[0],
                    "inside", *uts)
        finally:
            run("ip", "netns", "delete", "container")


def inside(has_name):
    run("ip", "link", "set", "lo", "up")
    if has_name:
        socket.sethostname(CONTAINER)
    said = told(lambda: ends(*honest()))
    for kind, msg in said.items():
        for name in HOST, CONTAINER:
            assert name.encode() not in msg, f"{name} in {MESSAGES[kind]}"
    for kind in ACCEPT, CONFIRM:
        assert said[kind][NAME] == b" " * 32, said[kind]


if __name__ == "__main__":
    if sys.argv[1:2] == ["inside"]:
        inside(sys.argv[2:])
        sys.exit(0)
    peer = tap_up()
    sys.exit(cases.main(globals()))
