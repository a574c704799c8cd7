#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""urgent - a client that has offered SMC sends urgent data instead

In one segment, which begins like a CLC message and the last byte of which is
urgent: before the server's deadline, or when the program has its plain TCP
connection already.  The program gets it as from TCP, with SO_OOBINLINE or without
it; no worker spins meanwhile, and close() returns.  Needs the module and root.
"""
import os
import select
import socket
import sys
import time

import cases
from counters import Counters, await_ends, sysctl
from limits import await_that, limit
from minitcp import MAGIC, Reset
from offering import AT_ONCE, LIMIT, Client, a_proposal, begin, listener

WINDOW = 1                      # second: long enough for a worker to be seen
TICKS = os.sysconf("SC_CLK_TCK")


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


class UrgentClient(Client):
    """of a listener that has SO_OOBINLINE or not"""
    def __init__(self, lst, data, inline):
        super().__init__(lst)
        self.data, self.inline = data, inline

    def send(self):
        self.tcp.send_urgent(self.data)

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


def each(work):
    """with clients of both listeners, one for each piece"""
    c = Counters()
    lists = [listener(inline) for inline in (0, 1)]
    try:
        work([UrgentClient(lst, data, inline) for inline, lst in enumerate(lists)
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


if __name__ == "__main__":
    begin()
    sys.exit(cases.main(globals()))
