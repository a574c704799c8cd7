#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""slowpeers [N] - N silent peers and N that send a byte a second

All of them speak TCP with the option, behind a TAP device (minitcp.py, in another
process), in many networks: as clients of a listener, whose honest clients are
timed, and as servers of programs that connect to them.  Those for which there is
no room among the handshakes are plain TCP.  Every honest connection is one of SMC, and takes
at most RATIO times as long to set up as on an idle host; memory is bounded by the
number of peers; close() takes no time.  Needs the module, root, and the device clc0.
"""
import argparse
import os
import socket
import subprocess
import sys
import threading
import time

import cases
from clcmsg import UEID, accept_r, proposal
from counters import Counters, await_ends, sysctl
from limits import await_that, limit
from minitcp import Net, Reset
from sockdiag import PROTO_SMC

KERNEL, HOST = "10.99.0.1", "10.99.0.2"
PORT = 7800
SILENT_SERVER, SLOW_SERVER = 7801, 7802
COUNT = int(sys.argv[1]) if sys.argv[1:2] and sys.argv[1].isdigit() else 100
EACH = 10                               # of a kind in a network
MOST = 800                              # handshakes that so many networks get
PAIRS = 1000
RATIO = 3
KIB_EACH = 32                           # with TCP's socket
LIMIT = limit(120)
AT_ONCE = limit(2)


def silent(n):
    return f"10.100.{n // EACH}.2"


def slow(n):
    return f"10.100.{n // EACH}.3"


# ---- the other process ----

def dribble(conns, lock):
    """a byte a second to each, one after the other; [connection, the rest]"""
    while True:
        start = time.monotonic()
        with lock:
            now = list(conns)
        for i, one in enumerate(now):
            try:
                one[0].send(one[1][:1])
            except Reset:
                with lock:
                    conns.remove(one)
            one[1] = one[1][1:]
            time.sleep(max(0, start + (i + 1) / len(now) - time.monotonic()))
        time.sleep(max(0, start + 1 - time.monotonic()))


def run_crowd():
    """until standard input ends"""
    # what is measured is not this program
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    net = Net("clc0", HOST, KERNEL)
    net.ips.update(socket.inet_aton(kind(n)) for n in range(COUNT)
                   for kind in (silent, slow))
    args = argparse.Namespace(ip=net.ip, mac=net.MAC, ueid=UEID)
    conns, lock = [], threading.Lock()

    def on_conn(c):
        with lock:
            conns.append([c, accept_r(args)])

    net.listen(SILENT_SERVER, True, lambda c: None)
    net.listen(SLOW_SERVER, True, on_conn)
    threading.Thread(target=dribble, args=(conns, lock), daemon=True).start()
    options = 0
    for n in range(COUNT):
        for kind in silent, slow:
            c = net.connect(PORT, True, LIMIT, socket.inet_aton(kind(n)))
            options += c.option
            if kind == slow and c.option:
                with lock:
                    conns.append([c, proposal(args)])
    assert options >= min(2 * COUNT, MOST), f"{options} have the option"
    print("there", flush=True)
    sys.stdin.read()


# ---- programs of this host ----

def stream_socket():
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, PROTO_SMC)
    s.settimeout(LIMIT)
    return s


def listener(port):
    s = stream_socket()
    s.bind(("0.0.0.0", port))
    s.listen(4096)
    return s


def slab_kib():
    with open("/proc/meminfo", encoding="ascii") as f:
        return next(int(x.split()[1]) for x in f if x.startswith("Slab:"))


def set_up(lst, others=None):
    """the 99th percentile of what connect() and accept() take, in ms; others: of
    the crowd that accept() returns meanwhile are added"""
    times = []
    for _ in range(PAIRS):
        with stream_socket() as cli:
            start = time.monotonic()
            cli.connect(("127.0.0.1", PORT))
            srv, peer = lst.accept()
            while peer != cli.getsockname():
                others.append(srv)
                srv, peer = lst.accept()
            times.append((time.monotonic() - start) * 1000)
            srv.close()
    times.sort()
    print(f"# median {times[PAIRS // 2]:.2f} ms, 99th percentile "
          f"{times[PAIRS * 99 // 100]:.2f} ms", flush=True)
    return times[PAIRS * 99 // 100]


def took(fn):
    start = time.monotonic()
    fn()
    return time.monotonic() - start


def begin_clients():
    """they do not wait for the end of their handshakes"""
    socks = []
    for n in range(COUNT):
        for address in (silent(n), SILENT_SERVER), (slow(n), SLOW_SERVER):
            s = stream_socket()
            s.setblocking(False)
            try:
                s.connect(address)
            except BlockingIOError:
                pass
            socks.append(s)
    return socks


def accepted(lst):
    """those of the crowd that are plain TCP"""
    socks = []
    lst.setblocking(False)
    try:
        while True:
            socks.append(lst.accept()[0])
    except BlockingIOError:
        lst.settimeout(LIMIT)
        return socks


class Crowd:
    """the other process, with clients of it; c: what has moved since"""
    def __init__(self):
        self.c, self.kib = Counters(), slab_kib()
        self.process = subprocess.Popen(    # pylint: disable=consider-using-with
            [sys.argv[0], str(COUNT), "crowd"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        there = self.process.stdout.readline()
        assert there == b"there\n", "the crowd does not come"
        self.socks = begin_clients()
        await_that("clients do not begin", self.all_begun, LIMIT)
        self.kib = slab_kib() - self.kib

    def all_begun(self):
        got = self.c.moved()
        return sum(got.get(n, 0) for n in ("HsStarted", "HsClientTcp",
                                           "HsServerTcp")) - \
            got.get("HsEnded", 0) >= 4 * COUNT

    def close(self):
        """how long the slowest of its clients takes, in seconds"""
        slowest = max(took(s.close) for s in self.socks)
        self.process.stdin.close()
        self.process.wait(LIMIT)
        return slowest


def case_all():
    sysctl("handshake_timeout_ms", 60000)
    sysctl("fallback_memory_s", 0)
    lst = listener(PORT)
    set_up(lst)                         # what is only allocated once
    idle = set_up(lst)
    crowd = Crowd()
    crowd.socks += accepted(lst)
    crowded = set_up(lst, crowd.socks)
    got = crowd.c.moved()
    slow_listener = took(lst.close)
    slowest = crowd.close()
    print(f"# {crowd.kib} KiB, close(): {slowest * 1000:.0f} ms, of the "
          f"listener {slow_listener * 1000:.0f} ms", flush=True)
    assert got["HsServerSmcd"] == got["HsClientSmcd"] == PAIRS, got
    pending = got["HsStarted"] - got["HsEnded"]
    print(f"# {pending} handshakes beside", flush=True)
    assert pending >= 2 * min(2 * COUNT, MOST), got
    assert crowd.kib < 4 * COUNT * KIB_EACH, "memory"
    assert slowest < AT_ONCE and slow_listener < AT_ONCE, "close()"
    assert crowded < RATIO * idle, f"{crowded} ms, idle {idle} ms"
    await_ends("handshakes", crowd.c.moved, LIMIT)


if __name__ == "__main__":
    if sys.argv[2:3] == ["crowd"]:
        run_crowd()
    else:
        sys.exit(cases.main(globals(), []))
