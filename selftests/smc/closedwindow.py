#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""closedwindow - a peer whose window stays closed during the handshake

TCP takes our first message and cannot send it.  With TCP_NOTSENT_LOWAT it does
not take the next one: that has a deadline, as all else has.  Needs what
hostile_rdma.py needs.
"""
import socket
import time

import cases
from clcmsg import accept_r, decline, proposal
from counters import Counters, limits as settings, smc_socket
from limits import await_that, limit
from minitcp import WINDOW, Net
from smcpeer import KERNEL, Conn, Peer, Server

LIMIT = limit(60)
LONG_MS = 60000         # the most that there is
PEER = "10.99.0.2"
TCP_NOTSENT_LOWAT = 25


def opened():
    """before each case"""
    net.window = WINDOW


def has_mark(sock):
    sock.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, 1)


def has_sent(tcp):
    """TCP has bytes for us"""
    ports = f":{tcp.rport:04X}", f":{tcp.lport:04X}"
    with open("/proc/net/tcp", encoding="ascii") as f:
        lines = [line.split() for line in f]
    return any(x[1].endswith(ports[0]) and x[2].endswith(ports[1]) and
               not x[4].startswith("00000000:") for x in lines)


def called(peer):
    """the kernel connects, and its Proposal stays with it"""
    net.window = 0
    sock = smc_socket()
    has_mark(sock)
    sock.setblocking(False)
    sock.connect_ex((PEER, peer.port))
    tcp = peer.callers.get(timeout=LIMIT)
    assert tcp.option, "no SMC"
    return sock, tcp


def connects_again(peer, counters):
    tcp = peer.callers.get(timeout=LIMIT)
    assert not tcp.option, "SMC"
    await_that("connect() waits", lambda: counters.moved().get("HsClientTcp"),
               LIMIT)
    got = counters.moved()
    assert got["HsEnded"] == got["HsClientTcp"] == got["HsReconnect"] == 1, got
    assert "HsClientSmcr" not in got, got
    tcp.rst()


def declines(peer, counters, tcp, first, end, window=0):
    """the server, when the client has its Accept; and opens its window?"""
    tcp.send(accept_r(peer.args, 2, first, end))
    await_that("no rings", lambda: counters.moved().get("BufCreated"), LIMIT)
    time.sleep(0.3)     # before the Confirm is right, too; behind it is meant
    net.window = window
    tcp.send(decline())


def goes_on(peer, sock, tcp, counters):
    """as TCP, on this connection: of ours it has the Proposal alone"""
    await_that("connect() waits", lambda: counters.moved().get("HsClientTcp"),
               LIMIT)
    got = counters.moved()
    assert got["HsEnded"] == got["HsClientTcp"] == 1, got
    assert "HsReconnect" not in got, got
    net.window = WINDOW
    tcp.send(b"a")
    sock.settimeout(LIMIT)
    assert sock.recv(2) == b"a"
    sock.sendall(b"b")
    assert peer.clc(tcp, 1), "a Decline"
    assert tcp.recv(1, LIMIT) == b"b"
    tcp.rst()


def case_server():
    """the Accept, and the Decline behind it: the child gives its place back"""
    counters = Counters()
    peer = Peer(net, up=False)
    has_mark(peer.lst)
    end = peer.new_link().end
    tcp = net.connect(peer.port, True, LIMIT)
    net.window = 0
    tcp.send(proposal(peer.args, end))
    await_that("no Accept", lambda: has_sent(tcp), LIMIT)
    # fewer connections than agreed: answered by a Decline
    tcp.send(accept_r(peer.args, 3, True, end).replace(b"\xff\1\0\0",
                                                       b"\x7f\1\0\0"))
    await_that("the child waits", lambda: counters.moved().get("HsServerErr"),
               LIMIT)
    got = counters.moved()
    assert got["HsEnded"] == got["HsServerErr"] == got["LgrCreated"] == 1, got
    assert "ClcMalformed" not in got, got
    peer.leave()


def case_client():
    """the Proposal, and the Decline behind it"""
    counters = Counters()
    peer = Server(net, up=False)
    sock, tcp = called(peer)
    # no such group
    tcp.send(accept_r(peer.args, 2, False))
    connects_again(peer, counters)
    sock.close()
    peer.leave()


def case_confirm():
    """the Proposal, and the Confirm behind it: the server has not begun"""
    peer = Server(net)
    peer.round()
    counters = Counters()
    sock, tcp = called(peer)
    conn = Conn(peer, peer.new_end())
    tcp.send(accept_r(peer.args, 2, False, conn.end))
    connects_again(peer, counters)
    sock.close()
    # the group goes on
    net.window = WINDOW
    peer.round()
    peer.leave()


def declined(window):
    """the Proposal, and the Confirm behind it: the server declines"""
    peer = Server(net, up=False)
    counters = Counters()
    with settings(handshake_timeout_ms=LONG_MS):
        sock, tcp = called(peer)
        declines(peer, counters, tcp, True, peer.new_link().end, window)
        goes_on(peer, sock, tcp, counters)
    sock.close()
    peer.leave()


def case_declined():
    declined(0)


def case_declined_with_room():
    """there is room for the Confirm from then on"""
    declined(WINDOW)


def case_declined_later():
    """in a group that both have"""
    peer = Server(net)
    peer.round()
    counters = Counters()
    with settings(handshake_timeout_ms=LONG_MS):
        sock, tcp = called(peer)
        declines(peer, counters, tcp, False,
                 Conn(peer, peer.new_end()).end)
        goes_on(peer, sock, tcp, counters)
    sock.close()
    # the group goes on
    peer.round()
    peer.leave()


if __name__ == "__main__":
    net = Net("clc0", PEER, KERNEL)
    raise SystemExit(cases.main(globals(), before=opened))
