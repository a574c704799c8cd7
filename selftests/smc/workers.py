#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""workers CONNECTIONS LIMIT [ADDRESS] - how often workers run for a connection

Connections with this host are made one after the other, then closed.  Prints (TAP)
for each function of the module that a worker ran how often it did so for a
connection (both ends together), first until connect() and accept() had both
ends, then for the rest.  More than LIMIT runs for the first part, or less than
one, are a failure.  One connection, before, makes what is made once.
"""
import collections
import re
import socket
import sys
import time

from cases import Tap
from limits import await_that, limit
from sockdiag import PROTO_SMC

TRACING = "/sys/kernel/tracing/"
EVENT = "events/workqueue/workqueue_execute_start/enable"
# runs every second for each link, whether connections are made or not: shown,
# and not a connection's
CLOCK = "watch_work"
RAN = re.compile(r"workqueue_execute_start: .* function (\S+) \[smc\]")


def put(name, text):
    with open(TRACING + name, "w", encoding="ascii") as f:
        f.write(text)


def runs():
    """each function's, since the last call"""
    with open(TRACING + "trace", encoding="ascii") as f:
        text = f.read()
    put("trace", "")
    assert "LOST" not in text, "events were lost"
    return collections.Counter(RAN.findall(text))


def settled():
    """the same when nothing comes any more"""
    all_runs = runs()
    last = [time.monotonic()]

    def is_quiet():
        more = runs()
        all_runs.update(more)
        if more:
            last[0] = time.monotonic()
        return time.monotonic() - last[0] > 1
    await_that("workers run on and on", is_quiet, limit(60))
    return all_runs


def counter(name):
    with open("/proc/net/smc_stat", encoding="ascii") as f:
        return {x.split()[0]: int(x.split()[1]) for x in f}[name]


def socket_of():
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, PROTO_SMC)
    s.settimeout(limit(60))
    return s


def connect(lst):
    cli = socket_of()
    cli.connect(lst.getsockname())
    return cli, lst.accept()[0]


def table(what, ran, count):
    total = (sum(ran.values()) - ran[CLOCK]) / count
    print(f"# {what}: {total:.2f}", *(f"{name} {n / count:.2f}"
                                      for name, n in ran.most_common()))
    return total


def main():
    count, most = int(sys.argv[1]), float(sys.argv[2])
    tap = Tap(1)
    lst = socket_of()
    lst.bind((sys.argv[3] if len(sys.argv) > 3 else "127.0.0.1", 0))
    lst.listen(8)
    put("buffer_size_kb", "16384")
    put("options/record-cmd", "0")
    put(EVENT, "1")
    try:
        first = connect(lst)
        settled()
        socks = [connect(lst) for _ in range(count)]
        made = table("set-up", settled(), count)
        ended = counter("ConnDestroyed")
        for cli, srv in socks:
            cli.close()
            srv.close()
        await_that("connections live on", lambda: counter("ConnDestroyed") ==
                   ended + 2 * count, limit(60))
        table("close", settled(), count)
    finally:
        put(EVENT, "0")
        put("trace", "")
        put("buffer_size_kb", "1408")
    for s in first:
        s.close()
    # none: the functions have not been recognised
    tap.check(f"1 to {most:g} runs to set a connection up", 1 <= made <= most)
    return tap.end()


sys.exit(main())
