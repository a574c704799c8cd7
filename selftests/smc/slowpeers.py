#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""slowpeers [N] - N silent peers and N that send a byte a second

All of them speak TCP with the option, behind a TAP device (minitcp.py, in another
process): as clients of a listener, whose honest clients are timed, and as servers
of programs that connect to them.  Every honest connection is one of SMC, and takes
at most RATIO times as long to set up as beside as many that are plain TCP, for the
peers need the processor themselves; memory is bounded by their number; close()
takes no time.  Needs the module, root, and the device clc0.
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
from counters import Counters, sysctl
from limits import await_that, limit
from minitcp import Net, Reset
from sockdiag import PROTO_SMC

KERNEL, SILENT, SLOW = "10.99.0.1", "10.99.0.2", "10.99.0.3"
PORT, PLAIN_PORT = 7800, 7803
SILENT_SERVER, SLOW_SERVER = 7801, 7802
COUNT = int(sys.argv[1]) if sys.argv[1:2] and sys.argv[1].isdigit() else 100
PAIRS = 1000
RATIO = 3
KIB_EACH = 32                           # with TCP's socket
LIMIT = limit(120)
AT_ONCE = limit(2)


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


def run_crowd(port):
    """until standard input ends"""
    os.nice(19)                         # what is measured is not this program
    net = Net("clc0", SILENT, KERNEL)
    slow, silent = map(socket.inet_aton, (SLOW, SILENT))
    net.ips.add(slow)
    args = argparse.Namespace(ip=slow, mac=net.MAC, ueid=UEID)
    conns, lock = [], threading.Lock()

    def on_conn(c):
        with lock:
            conns.append([c, accept_r(args)])

    net.listen(SILENT_SERVER, True, lambda c: None)
    net.listen(SLOW_SERVER, True, on_conn)
    threading.Thread(target=dribble, args=(conns, lock), daemon=True).start()
    for ip in silent, slow:
        for _ in range(COUNT):
            c = net.connect(port, True, LIMIT, ip)
            assert c.option == (port == PORT)
            if ip == slow:
                with lock:
                    conns.append([c, proposal(args)])
    print("there", flush=True)
    sys.stdin.read()


# ---- programs of this host ----

def stream_socket(proto=PROTO_SMC):
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, proto)
    s.settimeout(LIMIT)
    return s


def listener(port, proto=PROTO_SMC):
    s = stream_socket(proto)
    s.bind(("0.0.0.0", port))
    s.listen(4096)
    return s


def slab_kib():
    with open("/proc/meminfo", encoding="ascii") as f:
        return next(int(x.split()[1]) for x in f if x.startswith("Slab:"))


def set_up(lst):
    """the 99th percentile of what connect() and accept() take, in ms"""
    times = []
    for _ in range(PAIRS):
        with stream_socket() as cli:
            start = time.monotonic()
            cli.connect(("127.0.0.1", PORT))
            srv = lst.accept()[0]
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


def begin_clients(proto):
    """they do not wait for the end of their handshakes"""
    socks = []
    for port in SILENT_SERVER, SLOW_SERVER:
        for _ in range(COUNT):
            s = stream_socket(proto)
            s.setblocking(False)
            try:
                s.connect((SILENT, port))
            except BlockingIOError:
                pass
            socks.append(s)
    return socks


class Crowd:
    """the other process, with clients of it; c: what has moved since"""
    def __init__(self, port, proto):
        self.c, self.kib = Counters(), slab_kib()
        self.process = subprocess.Popen(    # pylint: disable=consider-using-with
            [sys.argv[0], str(COUNT), "crowd", str(port)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        there = self.process.stdout.readline()
        assert there == b"there\n", "the crowd does not come"
        self.socks = begin_clients(proto)
        if proto == PROTO_SMC:
            await_that("clients do not begin", lambda: sum(
                self.c.moved().get(n, 0) for n in ("HsStarted", "HsClientTcp"))
                >= 4 * COUNT, LIMIT)
        self.kib = slab_kib() - self.kib

    def close(self):
        """how long the slowest of its clients takes, in seconds"""
        slow = max(took(s.close) for s in self.socks)
        self.process.stdin.close()
        self.process.wait(LIMIT)
        return slow


def case_all():
    sysctl("handshake_timeout_ms", 60000)
    sysctl("fallback_memory_s", 0)
    lst = listener(PORT)
    set_up(lst)                         # what is only allocated once
    set_up(lst)
    with listener(PLAIN_PORT, 0):
        crowd = Crowd(PLAIN_PORT, 0)
        plain = set_up(lst)
        crowd.close()
    crowd = Crowd(PORT, PROTO_SMC)
    crowded = set_up(lst)
    got = crowd.c.moved()
    slow_listener = took(lst.close)
    slow = crowd.close()
    print(f"# {crowd.kib} KiB, close(): {slow * 1000:.0f} ms, of the listener "
          f"{slow_listener * 1000:.0f} ms", flush=True)
    assert got["HsServerSmcd"] == got["HsClientSmcd"] == PAIRS, got
    pending = got["HsStarted"] - got["HsEnded"]
    print(f"# {pending} handshakes beside", flush=True)
    # clients beyond their share of one server do not begin one
    assert pending >= 2 * COUNT + min(2 * COUNT, 250), got
    assert crowd.kib < 4 * COUNT * KIB_EACH, "memory"
    assert slow < AT_ONCE and slow_listener < AT_ONCE, "close()"
    assert crowded < RATIO * plain, f"{crowded} ms, beside plain TCP {plain} ms"
    await_that("handshakes stay", lambda: crowd.c.moved()["HsStarted"] ==
               crowd.c.moved()["HsEnded"], LIMIT)


if __name__ == "__main__":
    if sys.argv[2:3] == ["crowd"]:
        run_crowd(int(sys.argv[3]))
    else:
        sys.exit(cases.main(globals(), []))
