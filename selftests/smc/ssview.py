#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""ssview - what ss shows of our sockets: TCP sockets with an upper layer of ours
as long as they are ours, TCP sockets and nothing else after fallback

Needs the module, the module tls, root and iproute2.
"""
import ctypes
import errno
import re
import socket
import subprocess
import sys

import cases
from limits import limit
from park import PAGE, Parked
from sockdiag import PROTO_SMC

TCP_FASTOPEN_CONNECT, TCP_ULP, TCP_FASTOPEN_NO_COOKIE = 30, 31, 34
IPV6_ADDRFORM = 1
TIMES = ("app_limited", "send", "pacing_rate", "delivery_rate")


def transports(text):
    with open("/proc/sys/net/smc/transports", "w", encoding="ascii") as f:
        f.write(text + "\n")


def sockets(client, server, family=socket.AF_INET):
    lst = socket.socket(socket.AF_INET, socket.SOCK_STREAM, server)
    lst.bind(("127.0.0.1", 0))
    lst.listen()
    cli = socket.socket(family, socket.SOCK_STREAM, client)
    for s in lst, cli:
        s.settimeout(limit(60))
    return lst, cli


def pair(client, server):
    lst, cli = sockets(client, server)
    cli.connect(lst.getsockname())
    srv, _ = lst.accept()
    srv.settimeout(limit(60))
    cli.sendall(b"x" * 100)
    assert len(srv.recv(100, socket.MSG_WAITALL)) == 100
    return lst, cli, srv


def rows(lst):
    """the words of each end in "ss -tie", without what is a number"""
    port = lst.getsockname()[1]
    out = subprocess.run(["ss", "-HOtieam"], stdout=subprocess.PIPE, text=True,
                         check=True).stdout
    found = [x for x in out.splitlines() if f":{port} " in x]
    return [set(re.sub(r"[0-9a-f.]*[0-9][0-9a-f.]*", "N", x).split())
            for x in found if x.startswith("ESTAB")]


def words(client, server, options=()):
    with_close = pair(client, server)
    for s in with_close[1:]:
        for opt in options:
            s.setsockopt(*opt)
    got = rows(with_close[0])
    assert len(got) == 2, f"{len(got)} rows"
    for s in with_close:
        s.close()
    return got


def case_smcd():
    transports("smcd")
    for row in words(PROTO_SMC, PROTO_SMC):
        assert "tcp-ulp-smc" in row, row


def is_plain(client, server):
    """the same words as of sockets that never were ours"""
    want = words(0, 0)
    got = words(client, server)
    for w in want + got:
        assert not [x for x in w if x.startswith("tcp-ulp")], w
        # what depends on time
        w -= {x for x in w if ":" in x or x.endswith("bps") or x in TIMES}
    assert sorted(map(sorted, got)) == sorted(map(sorted, want)), (got, want)


def case_client_fell_back():
    transports("smcd")
    is_plain(PROTO_SMC, 0)


def case_plain_child():
    transports("smcd")
    is_plain(0, PROTO_SMC)


def case_not_offered():
    transports("")
    is_plain(PROTO_SMC, PROTO_SMC)


def case_tls():
    for client, server, offered in ((0, 0, "smcd"), (PROTO_SMC, 0, "smcd"),
                                    (0, PROTO_SMC, "smcd"),
                                    (PROTO_SMC, PROTO_SMC, "")):
        transports(offered)
        for row in words(client, server, [(socket.IPPROTO_TCP, TCP_ULP,
                                           b"tls")]):
            assert "tcp-ulp-tls" in row, row


class ParkedForm(Parked):
    """IPV6_ADDRFORM: the value AF_INET, its first byte in the page before"""
    def system_call(self, fd):
        self.pages[PAGE - 1] = socket.AF_INET
        return self.libc.setsockopt(fd, socket.IPPROTO_IPV6, IPV6_ADDRFORM,
                                    ctypes.c_void_p(self.addr - 1), 4)


class ParkedFastOpen(Parked):
    """TCP_FASTOPEN_CONNECT: the value 2, likewise, which TCP refuses"""
    def system_call(self, fd):
        self.pages[PAGE - 1] = 2
        return self.libc.setsockopt(fd, socket.IPPROTO_TCP,
                                    TCP_FASTOPEN_CONNECT,
                                    ctypes.c_void_p(self.addr - 1), 4)

    def ended(self):
        assert self.rc == -1, self.rc


def becomes(lst, cli, smc):
    """the connection of a client that has called connect()"""
    srv, _ = lst.accept()
    srv.settimeout(limit(60))
    for a, b in (cli, srv), (srv, cli):
        a.sendall(b"x" * 100)
        assert b.recv(200) == b"x" * 100
    got = rows(lst)
    assert len(got) == 2 and \
        ("tcp-ulp-smc" in set.union(*got)) == smc, (got, smc)
    for s in lst, cli, srv:
        s.close()


def case_ipv4_while_connecting():
    """connect() comes after TCP has been called and before it has the value: the
    connection is TCP's as its operations are"""
    transports("smcd")
    lst, cli = sockets(PROTO_SMC, PROTO_SMC, socket.AF_INET6)
    with ParkedForm(cli):
        cli.connect(("::ffff:127.0.0.1", lst.getsockname()[1]))
    becomes(lst, cli, False)


def case_two_set_options():
    """beside a call that TCP refuses in the end: the other one alone decides"""
    transports("smcd")
    for value in 1, 2:
        lst, cli = sockets(PROTO_SMC, PROTO_SMC)
        with ParkedFastOpen(cli):
            try:
                cli.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE,
                               value)
                assert value == 1
            except OSError as e:
                assert value == 2 and e.errno == errno.EINVAL, e
        cli.connect(lst.getsockname())
        becomes(lst, cli, value == 2)


sys.exit(cases.main(globals()))
