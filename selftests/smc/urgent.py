#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""urgent - a client that has offered SMC sends urgent data instead

In one segment, which begins like a CLC message and the last byte of which is
urgent: before the server's deadline, or when the program has its plain TCP
connection already.  The program gets it as from TCP, with SO_OOBINLINE or without
it; no worker spins meanwhile, and close() returns.  And what the program sees
of a client that is silent, or late.  Needs the module and root.
"""
import argparse
import contextlib
import os
import select
import socket
import struct
import subprocess
import sys
import threading
import time

import cases
from clcmsg import UEID, proposal
from counters import Counters, await_ends, smc_socket, sysctl
from destroy import blocked, mask, outcome
from limits import await_that, limit
from minitcp import MAGIC, Net, Reset
from planted import Planted
from sockdiag import TCP, row_of

KERNEL, PEER, PORT = "10.99.0.1", "10.99.0.2", 7740
LIMIT = limit(20)
AT_ONCE = limit(2)
WINDOW = 1                      # second: long enough for a worker to be seen
TICKS = os.sysconf("SC_CLK_TCK")
ROUNDS = 5
IP_RECVERR = 11
DECLINE = 4                     # type of a CLC message


def a_proposal():
    return proposal(argparse.Namespace(ip=peer.ip, mac=peer.MAC, ueid=UEID))


def pieces():
    """what the segment has: in a byte, a header, a message the last one is urgent"""
    whole = a_proposal()
    return whole[:1], MAGIC, whole[:5], whole[:8], whole[:100], whole


def worker_ticks():
    """of processor time that all workers have had"""
    total = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as f:
                name, rest = f.read().rsplit(")", 1)
        except OSError:
            continue            # it has ended
        if "(kworker" in name:
            total += sum(map(int, rest.split()[11:13]))
    return total


def no_worker_spins():
    start, ticks = time.monotonic(), worker_ticks()
    time.sleep(WINDOW)
    ticks = worker_ticks() - ticks
    most = (time.monotonic() - start) * TICKS / 2
    print(f"# {ticks} ticks of workers", flush=True)
    assert ticks < most, f"workers have had {ticks} ticks"


class Client:
    """of a listener that has SO_OOBINLINE or not"""
    def __init__(self, lst, data, inline):
        self.lst, self.data, self.inline = lst, data, inline
        self.tcp = peer.connect(lst.getsockname()[1], True, LIMIT)
        assert self.tcp.option, "no SMC"
        self.srv = None

    def send(self):
        self.tcp.send_urgent(self.data)

    def accept(self, others={}):        # pylint: disable=dangerous-default-value
        """others: they are accepted in any order"""
        while self.tcp.lport not in others:
            srv, address = self.lst.accept()
            others[address[1]] = srv
        self.srv = others.pop(self.tcp.lport)
        self.srv.settimeout(LIMIT)
        assert row_of(self.srv).mode == TCP

    def arrives(self):
        """all of it"""
        stream, data = self.data[:-1], self.data[-1:]
        if self.inline:
            stream, data = self.data, b""
        got = b""
        while len(got) < len(stream):
            try:
                got += self.srv.recv(len(stream) - len(got))
            except TimeoutError as e:
                raise AssertionError(f"{len(self.data)} bytes, inline "
                                     f"{self.inline}: {got.hex()}") from e
        assert got == stream, got.hex()
        if data:
            assert select.select((), (), (self.srv,), LIMIT)[2], "no urgent byte"
            # with a time limit it would be awaited in the stream first
            self.srv.setblocking(False)
            assert self.srv.recv(1, socket.MSG_OOB) == data
            self.srv.settimeout(LIMIT)
        self.srv.sendall(b"and back")
        assert self.tcp.recv(8, LIMIT) == b"and back"

    def close(self):
        start = time.monotonic()
        self.srv.close()
        assert time.monotonic() - start < AT_ONCE, "close() waits"
        if self.inline:
            assert self.tcp.wait_eof(LIMIT) == b""
            self.tcp.rst()
            return
        # the byte is in the stream still, and unread
        await_that("no reset", lambda: self.tcp.was_reset, LIMIT)


def listener(inline):
    lst = smc_socket()
    lst.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    lst.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, inline)
    lst.bind((KERNEL, PORT + inline))
    lst.listen(64)
    return lst


def each(work):
    """with clients of both listeners, one for each piece"""
    c = Counters()
    lists = [listener(inline) for inline in (0, 1)]
    try:
        work([Client(lst, data, inline) for inline, lst in enumerate(lists)
              for data in pieces()])
    finally:
        for lst in lists:
            lst.close()
    for what in "handshakes", "sockets":
        await_ends(what, c.moved)
    return c.moved()


def case_late():
    """when the program has got the connection, for silence"""
    def work(clients):
        for client in clients:
            client.accept()
        for client in clients:
            client.send()
        no_worker_spins()
        for client in clients:
            client.arrives()
            client.close()

    sysctl("handshake_timeout_ms", int(limit(500)))
    got = each(work)
    assert "ClcMalformed" not in got and "HsServerErr" not in got, got


def case_late_and_closed():
    """the program does not read it"""
    def work(clients):
        for client in clients:
            client.accept()
            client.send()
        for client in clients:
            start = time.monotonic()
            client.srv.close()
            assert time.monotonic() - start < AT_ONCE, "close() waits"
            # as TCP does it where something is unread
            await_that("no reset", lambda c=client: c.tcp.was_reset, LIMIT)

    sysctl("handshake_timeout_ms", int(limit(500)))
    each(work)


def case_early():
    """before the deadline: what is less than a header is the program's, and what
    is more is this or a broken message, but at the deadline at the latest"""
    def work(clients):
        for client in clients:
            client.send()
        no_worker_spins()
        for client in clients:
            if len(client.data) < 8:
                client.accept()
                client.arrives()
                client.close()
        for client in clients:
            if len(client.data) >= 8:
                ends_or_arrives(client)

    sysctl("handshake_timeout_ms", int(limit(3000)))
    each(work)


def ends_or_arrives(client):
    what = "reset"
    try:
        client.lst.settimeout(limit(5))
        client.accept()
        client.arrives()
        client.close()
        what = "arrived"
    except TimeoutError:
        await_that("hangs", lambda: client.tcp.was_reset, LIMIT)
    except Reset:
        pass
    print(f"# {len(client.data)} bytes, inline {client.inline}: {what}",
          flush=True)


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


def case_late_shutdown():
    """the program has the connection and ends reading: it does not wait for the
    client, whose late Proposal is still answered with a Decline"""
    sysctl("handshake_timeout_ms", int(limit(500)))
    with listener(0) as lst:
        for how in socket.SHUT_RD, socket.SHUT_RDWR:
            client = Client(lst, a_proposal(), 0)
            client.accept()
            _, srv = pair = tcp_pair()
            want = shut_down(srv, how)
            got = shut_down(client.srv, how)
            assert got == want, f"{got}, TCP: {want}"
            if how == socket.SHUT_RD:
                client.tcp.send(client.data)
                assert client.tcp.recv(8, LIMIT)[4] == DECLINE
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
    with listener(0) as lst:
        client = Client(lst, b"", 0)
        client.accept()
        got = read_urgent(client.srv)
        assert got == "EINVAL", got
        client.srv.close()
    sysctl("handshake_timeout_ms", 60000)
    peer.listen(PORT, True, lambda conn: None)
    with smc_socket() as cli:
        cli.setblocking(False)
        assert outcome(cli.connect, (PEER, PORT)) == "EINPROGRESS"
        got = read_urgent(cli)
        assert got == "EINVAL", got


def case_late_error():
    """an error that TCP survives ends recv(), as with TCP"""
    sysctl("handshake_timeout_ms", int(limit(100)))
    with listener(0) as lst:
        client = Client(lst, b"", 0)
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


@contextlib.contextmanager
def before_workers():
    """on its CPU this thread, and those that it starts, run before any worker"""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def case_late_end_wakes():
    """The client ends without a word: poll() for POLLRDHUP alone returns.  It has
    looked again, at the FIN, before a step of the handshake has."""
    sysctl("handshake_timeout_ms", int(limit(100)))
    with listener(0) as lst:
        for n in range(ROUNDS):
            client = Client(lst, b"", 0)
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


def case_late_shut_wakes():
    """The program has shut down reading, and polls for POLLRDHUP alone while a
    part of a message is held back.  The message ends: poll() returns."""
    sysctl("handshake_timeout_ms", int(limit(2000)))
    whole = a_proposal()
    with listener(0) as lst:
        client = Client(lst, whole, 0)
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
            pauses.write("at", "go")

    try:
        pauses = Planted("pauses")
        pauses.write("at", "go")
    except FileNotFoundError as e:
        raise cases.Skip("no module pauses") from e
    with open("/proc/self/comm", "w", encoding="ascii") as f:
        f.write("pauses")
    sysctl("handshake_timeout_ms", int(limit(100)))
    with listener(0) as lst:
        client = Client(lst, a_proposal(), 0)
        client.accept()
        p = select.poll()
        p.register(client.srv, select.POLLIN)
        pauses.write("at", "polled")
        t = threading.Thread(target=declined)
        t.start()
        with before_workers():
            client.tcp.send(client.data)
            got = p.poll(0)
        t.join()
        assert answers == [DECLINE], answers
        assert pauses.number("paused") == 2, "no pause"
        assert not got, got
        client.srv.close()


if __name__ == "__main__":
    for words in (("tuntap", "add", "dev", "clc0", "mode", "tap"),
                  ("address", "add", KERNEL + "/24", "dev", "clc0"),
                  ("link", "set", "clc0", "up")):
        subprocess.run(("ip", *words), check=True)
    peer = Net("clc0", PEER, KERNEL)
    sys.exit(cases.main(globals()))
