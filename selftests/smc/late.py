#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""late - what a program sees of a client that has offered SMC and is silent

It has accepted the connection as plain TCP, and what comes is held back while it
may be a late message of the handshake.  Needs the module and root, and the module
pauses for two cases.
"""
import contextlib
import fcntl
import os
import queue
import select
import socket
import struct
import subprocess
import sys
import threading

import bpfopt
import cases
from clcmsg import accept_d
from counters import Counters, smc_socket, sysctl
from destroy import blocked, mask, outcome
from limits import await_that, limit
from offering import AT_ONCE, KERNEL, LIMIT, PEER, PORT, Client, Host, \
    a_proposal, begin, clc_args, listener
from planted import pauses

ROUNDS = 5
IP_RECVERR = 11
TCP_SYN_SENT = 2
SIOCOUTQNSD = 0x894b
DECLINE = 4                     # type of a CLC message
TIMEOUT_CL = 0x02010000         # that is LATECLC for the peer
MOST = 652                      # bytes of one that the module looks at


def shut_down(srv, how):
    """what the program sees of its own shutdown() while it reads"""
    srv.settimeout(None)
    reads = blocked(srv.recv, 1)
    srv.shutdown(how)
    now = outcome(srv.recv, 1, socket.MSG_DONTWAIT)
    assert now == b"", now
    return [mask(srv, select.POLLRDHUP), reads()]


def tcp_pair():
    with socket.create_server((KERNEL, 0)) as lst:
        cli = socket.create_connection(lst.getsockname())
        return cli, lst.accept()[0]


def case_shutdown():
    """the program has the connection and ends reading: it does not wait for the
    client, whose late Proposal is still answered with a Decline"""
    sysctl("handshake_timeout_ms", int(limit(500)))
    with listener() as lst:
        for how in socket.SHUT_RD, socket.SHUT_RDWR:
            client = Client(lst)
            client.accept()
            _, srv = pair = tcp_pair()
            want = shut_down(srv, how)
            got = shut_down(client.srv, how)
            assert got == want, f"{got}, TCP: {want}"
            if how == socket.SHUT_RD:
                client.tcp.send(a_proposal())
                msg = client.tcp.recv(20, LIMIT)
                assert msg[4] == DECLINE and int.from_bytes(
                    msg[16:], "big") == TIMEOUT_CL, msg.hex()
                client.tcp.send(b"app")
                await_that("the program's bytes", lambda s=client.srv:
                           outcome(s.recv, 9) == b"app", LIMIT)
            client.srv.close()
            for s in pair:
                s.close()


def read_urgent(s):
    """in a call that may sleep, with a limit that the kernel knows"""
    s.settimeout(None)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO,
                 struct.pack("ll", int(AT_ONCE), 0))
    return outcome(s.recv, 1, socket.MSG_OOB)


def case_oob_does_not_wait():
    """recv(MSG_OOB) when the program has the connection, and in a handshake"""
    sysctl("handshake_timeout_ms", int(limit(500)))
    with listener() as lst:
        client = Client(lst)
        client.accept()
        got = read_urgent(client.srv)
        assert got == "EINVAL", got
        client.srv.close()
    sysctl("handshake_timeout_ms", 60000)
    Host.net.listen(PORT, True, lambda conn: None)
    with smc_socket() as cli:
        cli.setblocking(False)
        assert outcome(cli.connect, (PEER, PORT)) == "EINPROGRESS"
        got = read_urgent(cli)
        assert got == "EINVAL", got


def case_info_of_attempt():
    """a server has answered the offer and is silent: TCP_INFO says that the program
    is not connected, and counts nothing of the handshake"""
    sysctl("handshake_timeout_ms", 60000)
    callers = queue.Queue()
    Host.net.listen(PORT, True, callers.put)
    with smc_socket() as cli:
        cli.setblocking(False)
        cli.connect_ex((PEER, PORT))
        callers.get(timeout=LIMIT).recv(8, LIMIT)
        info = cli.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 208)
        # tcpi_state; tcpi_bytes_acked and _received, tcpi_bytes_sent
        got = info[0], *struct.unpack_from("QQ", info, 120), \
            *struct.unpack_from("Q", info, 200)
        assert got == (TCP_SYN_SENT, 0, 0, 0), got


def case_error():
    """an error that TCP survives ends recv(), as with TCP"""
    sysctl("handshake_timeout_ms", int(limit(100)))
    with listener() as lst:
        client = Client(lst)
        client.accept()
        srv = client.srv
        srv.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)
        srv.settimeout(None)
        nft = "table inet late { chain out { type filter hook output priority " \
            "0; tcp flags & psh == psh oif clc0 reject with icmpx " \
            "host-unreachable; }; }"
        subprocess.run(("nft", nft), check=True)
        try:
            reads = blocked(srv.recv, 1)
            # not for the first time, in which the socket is owned
            srv.send(b"x")
            got = reads()
        finally:
            subprocess.run(("nft", "delete table inet late"), check=True)
        assert got == "EHOSTUNREACH", got
        # the byte may have been rejected once more
        await_that("EAGAIN", lambda: outcome(
            srv.recv, 1, socket.MSG_DONTWAIT) == "EAGAIN", LIMIT)
        client.srv.close()


def unsent(s):
    """bytes of a file shorter than what is asked for that TCP has not sent"""
    fd = os.memfd_create("late")
    os.write(fd, b"file" * 25)
    n = os.sendfile(s.fileno(), fd, 0, 5000)
    assert n == 100, n
    left = fcntl.ioctl(s.fileno(), SIOCOUTQNSD, bytes(4))
    os.close(fd)
    return int.from_bytes(left, sys.byteorder)


def case_sendfile():
    """the end of a file that comes early sends what was held back for more"""
    sysctl("handshake_timeout_ms", int(limit(500)))
    with listener() as lst:
        _, srv = pair = tcp_pair()
        want = unsent(srv)
        client = Client(lst)
        client.accept()
        got = unsent(client.srv)
        assert client.tcp.recv(100, LIMIT) == b"file" * 25
        assert got == want, f"{got}, TCP: {want}"
        client.srv.close()
        for s in pair:
            s.close()


def case_no_way_back():
    """A server has answered the offer and is silent.  There is no route to it when
    the client connects again: connect() says so, and may be called again."""
    sysctl("handshake_timeout_ms", int(limit(5000)))
    callers = queue.Queue()
    Host.net.listen(PORT, True, callers.put)
    counters = Counters()
    with smc_socket() as cli:
        cli.setblocking(False)
        cli.connect_ex((PEER, PORT))
        tcp = callers.get(timeout=LIMIT)
        tcp.recv(8, LIMIT)
        route = "unreachable", PEER
        subprocess.run(("ip", "route", "add", *route), check=True)
        try:
            p = select.poll()
            p.register(cli, select.POLLOUT)
            assert p.poll(LIMIT * 1000), "connect() goes on"
        finally:
            subprocess.run(("ip", "route", "delete", *route), check=True)
        got = outcome(cli.connect, (PEER, PORT))
        assert got == "EHOSTUNREACH", got
        moved = counters.moved()
        assert moved["HsReconnect"] == moved["HsClientErr"] == 1, moved
        assert "HsRemembered" not in moved, moved
        got = outcome(cli.connect, (PEER, PORT))
        assert got == "EINPROGRESS", got
        assert callers.get(timeout=LIMIT).option, "no SMC"


def case_way_back_of_another():
    """A BPF program sends the connections of this user elsewhere.  The client that
    connects again, in a worker of the kernel, goes there as well."""
    def client():
        os.setgid(65534)
        os.setuid(65534)
        with smc_socket() as cli:
            cli.settimeout(LIMIT)
            cli.connect((PEER, PORT))
            assert cli.getpeername() == (PEER, PORT + 1), cli.getpeername()

    sysctl("handshake_timeout_ms", int(limit(2000)))
    callers = queue.Queue()
    Host.net.listen(PORT, False, callers.put)
    Host.net.listen(PORT + 1, True, callers.put)
    counters = Counters()
    with bpfopt.redirected(PORT + 1):
        cases.in_child(client)
    assert counters.moved()["HsReconnect"] == 1, counters.moved()
    first, again = (callers.get(timeout=LIMIT) for _ in range(2))
    assert (first.lport, first.option) == (PORT + 1, True)
    assert (again.lport, again.option) == (PORT + 1, False), again.lport


@contextlib.contextmanager
def before_workers():
    """on its CPU this thread, and those that it starts, run before any worker"""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def case_end_wakes():
    """The client ends without a word: poll() for POLLRDHUP alone returns.  It has
    looked again, at the FIN, before a step of the handshake has."""
    sysctl("handshake_timeout_ms", int(limit(100)))
    with listener() as lst:
        for n in range(ROUNDS):
            client = Client(lst)
            client.accept()
            p = select.poll()
            p.register(client.srv, select.POLLRDHUP)
            with before_workers():
                # no time limit: at its end poll() would look once more
                waits = blocked(p.poll)
                client.tcp.fin()
            got = waits()
            assert got == [(client.srv.fileno(), select.POLLRDHUP)], \
                f"round {n}: {got}"
            client.srv.close()


def case_shut_wakes():
    """The program has shut down reading, and polls for POLLRDHUP alone while a
    part of a message is held back.  The message ends: poll() returns."""
    sysctl("handshake_timeout_ms", int(limit(5000)))
    whole = a_proposal()
    with listener() as lst:
        client = Client(lst)
        client.accept()
        client.srv.shutdown(socket.SHUT_RD)
        client.tcp.send(whole[:8])
        p = select.poll()
        p.register(client.srv, select.POLLRDHUP)
        await_that("the part", lambda: not p.poll(0), LIMIT)
        waits = blocked(p.poll)
        client.tcp.send(whole[8:])
        assert client.tcp.recv(8, LIMIT)[4] == DECLINE
        got = waits()
        assert got == [(client.srv.fileno(), select.POLLRDHUP)], got
        client.srv.close()


def case_poll_of_gone_bytes():
    """TCP's poll() has seen a Proposal, which is then taken away: it was never
    there for the program"""
    answers = []

    def declined():
        try:
            answers.append(client.tcp.recv(8, LIMIT)[4])
        finally:
            paused.write("at", "go")

    paused = pauses("go")
    with open("/proc/self/comm", "w", encoding="ascii") as f:
        f.write("pauses")
    sysctl("handshake_timeout_ms", int(limit(100)))
    with listener() as lst:
        client = Client(lst)
        client.accept()
        p = select.poll()
        p.register(client.srv, select.POLLIN)
        paused.write("at", "polled")
        t = threading.Thread(target=declined)
        t.start()
        with before_workers():
            client.tcp.send(a_proposal())
            got = p.poll(0)
        t.join()
        assert answers == [DECLINE], answers
        assert paused.number("paused") == 2, "no pause"
        assert not got, got
        client.srv.close()


def case_rest_of_long_accept():
    """It comes when what was there of it has been thrown away, and the worker is
    about to wait for more.  The Accept is wrong at its end: connect() goes on."""
    paused = pauses("go")
    sysctl("handshake_timeout_ms", 60000)
    callers = queue.Queue()
    Host.net.listen(PORT, True, callers.put)
    whole = bytearray(accept_d(clc_args()))
    whole[-4:-4] = bytes(600)
    whole[5:7] = len(whole).to_bytes(2, "big")
    with smc_socket() as cli:
        cli.setblocking(False)
        cli.connect_ex((PEER, PORT))
        tcp = callers.get(timeout=LIMIT)
        tcp.recv(8, LIMIT)
        paused.write("at", "drain")
        tcp.send(bytes(whole[:MOST + 10]))
        await_that("the worker", lambda: paused.number("paused") == 1, LIMIT)
        tcp.send(bytes(whole[MOST + 10:]))
        tcp.wait_sent(LIMIT)
        paused.write("at", "go")
        tcp = callers.get(timeout=LIMIT)
        assert not tcp.option, "SMC"


if __name__ == "__main__":
    begin()
    sys.exit(cases.main(globals()))
