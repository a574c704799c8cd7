#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""silent HOST PORT - calls while an SMC-R peer is silent, data in flight

Connects to an echo server at HOST, and drops what comes from there by RDMA.  Each
call is made in a thread and has to be back within LIMIT, before the link ends;
one that is not is reported as soon as that is known, and the others are tried all
the same.  However slow this host is, a silent link ends after a time: what is
left is tried on a new one.  At last every connection ends with its link.
"""
import errno
import socket
import struct
import subprocess
import sys
import threading
import time

import cases
from limits import await_that, limit
from sockdiag import PROTO_SMC, SMCR, destroy, row_of, sock_id

LIMIT = limit(3)                # a call that waits for the link's end is late anyway
FRESH = 4                       # seconds; a silent link lives twice as long
NAMES = ("close", "linger", "shutdown", "info", "ss -K", "destroy", "poll",
         "recv", "send")


def counter(name):
    with open("/proc/net/smc_stat", encoding="ascii") as f:
        return dict((x.split()[0], int(x.split()[1])) for x in f)[name]


def socket_of(proto):
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, proto)
    s.settimeout(limit(60))
    return s


def connect(addr, proto):
    s = socket_of(proto)
    s.connect(addr)
    s.sendall(b"x" * 10)
    assert len(s.recv(10, socket.MSG_WAITALL)) == 10
    return s


def with_itself(proto):
    """an unrelated connection: connect() and accept()"""
    lst = socket_of(proto)
    lst.bind(("127.0.0.1", 0))
    lst.listen()
    cli = connect_to(lst)
    srv = lst.accept()[0]
    cli.sendall(b"x")
    assert srv.recv(1) == b"x"
    for s in lst, cli, srv:
        s.close()


def connect_to(lst):
    cli = socket_of(lst.proto)
    cli.connect(lst.getsockname())
    return cli


def drop(on):
    """what comes by RDMA"""
    def nft(*words):
        subprocess.run(("nft", *words), check=True)

    nft("add", "table", "inet", "lab")
    if not on:
        nft("delete", "table", "inet", "lab")
        return
    nft("add", "chain", "inet", "lab", "input",
        "{ type filter hook input priority 0; }")
    nft("add", "rule", "inet", "lab", "input", "udp", "dport", "4791", "drop")


def program(*words):
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)


class Call(threading.Thread):
    """one call, timed"""
    def __init__(self, what, fn, *args):
        super().__init__(daemon=True)
        self.what, self.fn, self.args = what, fn, args
        self.error = self.took = None
        self.begun = time.monotonic()
        self.start()

    def run(self):
        try:
            self.fn(*self.args)
        except Exception as e:          # pylint: disable=broad-except
            self.error = e
        self.took = time.monotonic() - self.begun

    def check(self, most):
        """what is wrong, "" if nothing is"""
        self.join(most)
        if self.took is None:
            print(f"# {self.what}: not back after {most:.1f} s", flush=True)
            return "not back"
        print(f"# {self.what}: {self.took * 1000:.0f} ms "
              f"{self.error or ''}", flush=True)
        return repr(self.error) if self.error else ""


def how_long(*words):
    start = time.monotonic()
    program(*words)
    return time.monotonic() - start


def ss_kill(s):
    host, port = s.getsockname()
    program("ss", "-K", "-Ht", "src", host, "sport", "=", str(port))


def linger(s):
    """as with TCP, all of its time: the bytes in flight are not acknowledged"""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 1))
    start = time.monotonic()
    s.close()
    took = time.monotonic() - start
    assert took > 0.9, f"it took {took:.2f} s"


class Link:
    """connections of one link, each with data in flight, which hear nothing"""
    def __init__(self, addr):
        self.addr = addr
        self.cut()

    def cut(self):
        self.socks = {n: self.connected() for n in NAMES}
        self.lost = counter("LgrLost")
        drop(True)
        self.since = time.monotonic()
        for s in self.socks.values():
            s.setblocking(False)
            s.send(b"y" * 10000)

    def connected(self):
        """the peer may take the link that ended here for alive: not SMC-R then"""
        end = time.monotonic() + limit(60)
        while True:
            s = connect(self.addr, PROTO_SMC)
            if row_of(s).mode == SMCR:
                return s
            s.close()
            assert time.monotonic() < end, "not SMC-R"

    def lives(self):
        return counter("LgrLost") == self.lost

    def end(self):
        await_that("the link never ends", lambda: not self.lives(), limit(60))

    def renew(self, fresh):
        """unless it is new: the call to come might see the end of an old one"""
        if self.lives() and time.monotonic() - self.since < fresh:
            return
        self.end()
        print("# a new link", flush=True)
        drop(False)
        for s in self.socks.values():
            s.close()
        self.cut()


def main():
    host, port = sys.argv[1], int(sys.argv[2])
    # programs start slowly in an emulated guest
    slow = {n: how_long(*w) for n, w in (("smcss", ("smcss",)),
                                         ("ss -K", ("ss", "-Ht")))}
    link = Link((host, port))
    try:
        return calls_of(link, slow)
    finally:
        drop(False)


def calls_of(link, slow):
    """the exit code"""
    host, port = link.addr
    calls = (
        ("getsockopt(TCP_INFO)",
         lambda: link.socks["info"].getsockopt(6, 11, 200)),
        ("close()", lambda: link.socks["close"].close()),
        ("close() that lingers", lambda: linger(link.socks["linger"])),
        ("shutdown()",
         lambda: link.socks["shutdown"].shutdown(socket.SHUT_RDWR)),
        ("SMC-D connection", lambda: with_itself(PROTO_SMC)),
        ("TCP connection", lambda: with_itself(0)),
        ("TCP to the silent peer",
         lambda: connect((host, port + 1), 0).close()),
        ("send()", lambda: link.socks["send"].send(b"z" * 100)),
        ("SOCK_DESTROY of SMC", lambda: destroy(
            sock_id(link.socks["destroy"].getsockname(), (host, port)))),
        ("smcss", lambda: program("smcss")),
        ("ss -K", lambda: ss_kill(link.socks["ss -K"])),
        ("socket()", lambda: socket_of(PROTO_SMC).close()),
    )
    tap = cases.Tap(len(calls) + 1)
    for what, fn in calls:
        takes = 2 * slow.get(what, 0)
        # a program has all the time of a link
        link.renew(0 if takes else FRESH)
        wrong = Call(what, fn).check(LIMIT + takes)
        if not wrong and not link.lives():
            wrong = "this host is too slow to show it" if takes > FRESH else \
                "the link has ended before"
        tap.check(what, not wrong, wrong)
    try:
        link.end()
        for n in "info", "poll", "recv", "send":
            s = link.socks[n]
            s.settimeout(limit(20))
            try:
                got = s.recv(1 << 20)
                raise AssertionError(f"{n} reads {got[:20]}")
            except OSError as e:
                assert e.errno in (errno.ECONNRESET, errno.ETIMEDOUT), e
        for s in link.socks.values():
            s.close()
        tap.check("the end", True)
    except Exception as e:              # pylint: disable=broad-except
        tap.check("the end", False, repr(e))
    return tap.end()


sys.exit(main())
