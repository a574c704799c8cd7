#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""hslimit - handshakes that do not end take SMC from no other peer

Two network namespaces, each with a network of IPv6 addresses for every /64 of a
/48.  The Proposals for two of the ports are dropped on the way: handshakes with
these stay as they are, at both ends.  Beside them connections of others are made,
over SMC-D.  Then the sockets are closed, which takes no time.  Needs the module
and root.
"""
import os
import socket
import subprocess
import sys
import time

import cases
from counters import Counters, sysctl
from limits import await_that, limit
from sockdiag import PROTO_SMC, SMCD, row_of

HOME, AWAY = "home", "away"             # namespaces
NET = {HOME: "fd77:0:0:", AWAY: "fd78:0:0:"}
SILENT, HONEST = 7700, 7710
MANY = 1100
NETWORKS = 50
MOST = 1024                             # handshakes of a role
LIMIT = limit(60)
AT_ONCE = limit(5)                      # TCP destroys a thousand children


def run(*words):
    subprocess.run(words, check=True)


def enter(ns):
    with open("/run/netns/" + ns, "rb") as f:
        os.setns(f.fileno(), os.CLONE_NEWNET)


def up():
    for ns in HOME, AWAY:
        run("ip", "netns", "add", ns)
    run("ip", "-n", HOME, "link", "add", "eth0", "type", "veth", "peer", "name",
        "eth0", "netns", AWAY)
    for ns, other, n in (HOME, AWAY, 1), (AWAY, HOME, 2):
        ip = ["ip", "-n", ns]
        run(*ip, "link", "set", "lo", "up")
        run(*ip, "address", "add", f"fd79::{n}/64", "dev", "eth0", "nodad")
        run(*ip, "address", "add", f"10.79.0.{n}/24", "dev", "eth0")
        run(*ip, "link", "set", "eth0", "up")
        run(*ip, "-6", "route", "add", "local", NET[ns] + ":/48", "dev", "lo")
        run(*ip, "-6", "route", "add", NET[other] + ":/48",
            "via", f"fd79::{3 - n}")
        enter(ns)
        sysctl("handshake_timeout_ms", 60000)
        sysctl("fallback_memory_s", 0)
        run("sysctl", "-q", "net.ipv6.ip_nonlocal_bind=1")
        run("nft", f"""add table inet smctest
            add chain inet smctest in {{ type filter hook input priority 0; }}
            add rule inet smctest in tcp dport {SILENT} tcp flags & psh == psh drop
            """)


def smc_socket(family=socket.AF_INET6):
    s = socket.socket(family, socket.SOCK_STREAM, PROTO_SMC)
    s.settimeout(LIMIT)
    return s


def listener(port):
    s = smc_socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("::", port))
    s.listen(4096)
    return s


def counted(ns):
    enter(ns)
    return Counters()


def moved(ns, c, name):
    enter(ns)
    return c.moved().get(name, 0)


class Crowd:
    """@count clients of @ns, whose addresses are in so many networks, at the
    silent port of the other namespace, which has addresses in so many"""
    def __init__(self, ns, count, sources, targets):
        self.ns, self.other = ns, AWAY if ns == HOME else HOME
        self.server = counted(self.other)
        self.lst = listener(SILENT)
        self.client = counted(ns)
        self.socks = []
        for i in range(count):
            s = smc_socket()
            s.bind((f"{NET[ns]}{i % sources:x}::{i + 1:x}", 0))
            s.setblocking(False)
            try:
                s.connect((f"{NET[self.other]}{i % targets:x}::1", SILENT))
            except BlockingIOError:
                pass
            self.socks.append(s)
        # those that are offered SMC
        await_that("the crowd does not come", self.is_there, LIMIT)

    def is_there(self):
        begun = moved(self.ns, self.client, "HsStarted")
        plain = self.client.moved().get("HsClientTcp", 0)
        return begun + plain >= len(self.socks) and \
            moved(self.other, self.server, "HsStarted") >= begun

    def close(self):
        """at once, each of them; and nothing is left"""
        slow = max(took(s.close) for s in self.socks)
        slow_listener = took(self.lst.close)
        print(f"# close(): {slow * 1000:.0f} ms, of the listener "
              f"{slow_listener * 1000:.0f} ms", flush=True)
        assert slow < AT_ONCE and slow_listener < AT_ONCE
        for ns, c in (self.ns, self.client), (self.other, self.server):
            await_that(f"handshakes stay in {ns}", lambda ns=ns, c=c: moved(
                ns, c, "HsStarted") == moved(ns, c, "HsEnded"), LIMIT)


def took(fn):
    start = time.monotonic()
    fn()
    return time.monotonic() - start


def honest(ns, source):
    """a connection from @ns to the other namespace"""
    other = AWAY if ns == HOME else HOME
    enter(other)
    lst = listener(HONEST)
    enter(ns)
    family = socket.AF_INET if "." in source else socket.AF_INET6
    target = "10.79.0." + "21"[other == HOME] if "." in source else \
        NET[other] + "ffff::1"
    cli = smc_socket(family)
    cli.bind((source, 0))
    cli.connect((target, HONEST))
    srv = lst.accept()[0]
    # of the namespace that the socket is in
    for at, s in (ns, cli), (other, srv):
        enter(at)
        assert row_of(s).mode == SMCD, f"{source} to {target}: no SMC"
    for s in cli, srv, lst:
        s.close()


def case_network():
    """a host uses as many addresses of its /64 as it likes: it is one peer,
    which has a third of what is left"""
    crowd = Crowd(AWAY, 300, 1, 5)
    try:
        pending = 300 - moved(HOME, crowd.server, "HsLimit")
        print(f"# {pending} of one network", flush=True)
        assert pending == MOST // 4, pending
        # a crowd of 300 in 5 networks is none for its own side
        assert moved(AWAY, crowd.client, "HsLimit") == 0
        honest(AWAY, NET[AWAY] + "1::1")
        honest(AWAY, "10.79.0.2")
    finally:
        crowd.close()


def crowded(ns):
    crowd = Crowd(ns, MANY, NETWORKS, NETWORKS)
    try:
        for at, c in (ns, crowd.client), (crowd.other, crowd.server):
            pending = moved(at, c, "HsStarted") - c.moved().get("HsEnded", 0)
            print(f"# {at}: {pending} handshakes", flush=True)
            assert pending > MOST * 4 // 5, pending
        # both are clients and servers
        for at in HOME, AWAY:
            honest(at, NET[at] + "ffff::1")
    finally:
        crowd.close()


def case_clients():
    """programs of one namespace connect to slow peers"""
    crowded(HOME)


def case_again():
    """and those of the other: what has ended is not counted any more"""
    crowded(AWAY)


if __name__ == "__main__":
    up()
    bad = cases.main(globals())
    for name in HOME, AWAY:
        run("ip", "netns", "delete", name)
    sys.exit(bad)
