#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""mixed CONNECTIONS - so many connections of every outcome, several at a time

SMC-R and SMC-D, plain TCP on either side, refused, reset at either end, before or
after accept(), given up during the handshake, closed with data unread, closed half
way.  Each does what TCP would do, and what arrives is what was sent.  SMC_SEED: in
which order.  Needs the module, root, an RDMA port on lo that serves 10.9.0.1, and
no SMC sockets of others.
"""
import collections
import os
import random
import socket
import struct
import sys
import threading

import cases
from counters import LIMIT, LO, RDMA, await_ends, read, sysctl
from sockdiag import PROTO_SMC

COUNT = int(sys.argv[1])
AT_ONCE = 4
SEED = int(os.environ.get("SMC_SEED") or 1)
GONE = (ConnectionResetError, BrokenPipeError, ConnectionAbortedError)


def new(proto=PROTO_SMC):
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, proto)
    s.settimeout(LIMIT)
    return s


def listener(address, proto=PROTO_SMC):
    lst = new(proto)
    lst.bind((address, 0))
    lst.listen(8)
    return lst


def abort(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def gone(s):
    """it was reset"""
    try:
        while s.recv(65536):
            pass
    except GONE:
        return
    raise AssertionError("end of file, no error")


class Thread(threading.Thread):
    """connections one after the other"""
    def __init__(self, number, count):
        super().__init__()
        self.rng = random.Random(f"{SEED} {number}")
        self.count, self.errors = count, []
        self.done = collections.Counter()

    def pair(self, client=PROTO_SMC, server=PROTO_SMC):
        with listener(self.rng.choice((LO, RDMA)), server) as lst:
            cli = new(client)
            cli.connect(lst.getsockname())
            srv, _ = lst.accept()
        srv.settimeout(LIMIT)
        return cli, srv

    def carries(self, a, b):
        for x, y in (a, b), (b, a):
            data = self.rng.randbytes(self.rng.randrange(1, 20000))
            x.sendall(data)
            assert y.recv(len(data), socket.MSG_WAITALL) == data, "wrong bytes"

    def good(self, *protocols):
        a, b = self.pair(*protocols)
        self.carries(a, b)
        if self.rng.random() < .5:
            a, b = b, a
        a.close()
        assert b.recv(1) == b""
        b.close()

    def tcp_client(self):
        self.good(0)

    def tcp_server(self):
        self.good(PROTO_SMC, 0)

    def half_closed(self):
        a, b = self.pair()
        a.shutdown(socket.SHUT_WR)
        assert b.recv(1) == b""
        data = self.rng.randbytes(9999)
        b.sendall(data)
        b.close()
        assert a.recv(len(data), socket.MSG_WAITALL) == data
        assert a.recv(1) == b""
        a.close()

    def reset(self):
        a, b = self.pair()
        if self.rng.random() < .5:
            a, b = b, a
        self.carries(a, b)
        abort(a)
        gone(b)
        b.close()

    def unread(self):
        a, b = self.pair()
        a.sendall(b"x" * 1000)
        assert b.recv(1) == b"x"
        b.close()
        gone(a)
        a.close()

    def refused(self):
        with new() as s, new() as unheard:
            unheard.bind((LO, 0))
            assert s.connect_ex(unheard.getsockname()), "not refused"

    def given_up(self):
        """by the client, at some moment of the handshake"""
        with listener(LO) as lst, new() as s:
            s.setblocking(False)
            s.connect_ex(lst.getsockname())
            self.wait()
            if self.rng.random() < .5:
                abort(s)

    def not_accepted(self):
        """the listener goes"""
        with listener(LO) as lst, new() as s:
            s.setblocking(False)
            s.connect_ex(lst.getsockname())
            self.wait()
            lst.close()
            s.settimeout(LIMIT)
            try:
                gone(s)
            except OSError as e:
                assert isinstance(e, ConnectionRefusedError) or \
                    e.errno == 107, e           # ENOTCONN

    def wait(self):
        threading.Event().wait(self.rng.choice((0, 0, .001, .005)))

    def run(self):
        kinds = (self.good, self.good, self.tcp_client, self.tcp_server,
                 self.half_closed, self.reset, self.unread, self.refused,
                 self.given_up, self.not_accepted)
        for _ in range(self.count):
            kind = self.rng.choice(kinds)
            try:
                kind()
            except Exception as e:      # pylint: disable=broad-except
                line = e.__traceback__.tb_next
                self.errors.append(f"{kind.__name__}, line {line.tb_lineno}: "
                                   f"{e!r}")
                return
            self.done[kind.__name__] += 1


def case_mixed():
    print(f"# SMC_SEED={SEED}", flush=True)
    before = read()
    threads = [Thread(n, COUNT // AT_ONCE) for n in range(AT_ONCE)]
    for t in threads:
        t.start()
    # both ends are on this host, where SMC-D comes first
    rng, turn = random.Random(SEED), threading.Event()
    while any(t.is_alive() for t in threads):
        sysctl("transports", rng.choice(("smcr", "smcd", "smcd smcr")))
        turn.wait(0.2)
    for t in threads:
        t.join()
        assert not t.errors, t.errors
    done = sum((t.done for t in threads), collections.Counter())
    moved = {n: v - before[n] for n, v in read().items()}
    print("#", dict(done), {n: moved[n] for n in (
        "HsClientSmcr", "HsClientSmcd", "HsClientTcp", "HsClientErr")})
    assert sum(done.values()) == AT_ONCE * (COUNT // AT_ONCE)
    assert all(moved[n] > COUNT // 50 for n in (
        "HsClientSmcr", "HsClientSmcd", "HsClientTcp", "HsClientErr")), moved
    await_ends("connections")


if __name__ == "__main__":
    sys.exit(cases.main(globals(), []))
