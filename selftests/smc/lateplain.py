#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A listener that gives SMC up while a client is being answered.

The SYN-ACK with the option is on its way (netem delays lo) when the program
asks for plain TCP, or for Fast Open: the client proposes SMC, and what the
program reads must be the client's bytes and not the proposal.
"""
import socket
import subprocess
import sys
import threading
import time

import cases
from limits import limit

IPPROTO_SMC = 256
PLAIN_TCP = 286, 256            # SOL_SMC, SMC_PLAIN_TCP
FASTOPEN = socket.IPPROTO_TCP, socket.TCP_FASTOPEN
DELAY_MS = 500


def syn_received(port):
    with open("/proc/net/tcp") as f:
        return any(w[1].endswith(f":{port:04X}") and w[3] == "03"
                   for w in map(str.split, f))


def connect(addr, result):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as c:
        c.settimeout(limit(60))
        c.connect(addr)
        c.sendall(b"there")
        result.append(c.recv(100))


def one(*calls):
    """each call is an option and its value"""
    srv = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
    srv.settimeout(limit(60))
    srv.bind(("127.0.0.1", 0))
    srv.listen()
    result = []
    client = threading.Thread(target=connect,
                              args=(srv.getsockname(), result), daemon=True)
    client.start()
    end = time.monotonic() + limit(10)
    port = srv.getsockname()[1]
    while not syn_received(port):
        assert time.monotonic() < end, "no SYN"
    for option, value in calls:
        srv.setsockopt(*option, value)
    assert syn_received(port), "too late to show anything"
    conn = srv.accept()[0]
    conn.settimeout(limit(60))
    got = conn.recv(100)
    assert got == b"there", f"the program read {got}"
    conn.sendall(b"back")
    client.join()
    assert result == [b"back"], result


def tc(*words):
    subprocess.run(["tc", "qdisc", *words, "dev", "lo", "root"] +
                   (["netem", "delay", f"{DELAY_MS}ms"]
                    if words[0] == "add" else []), check=True)


def case_smc_plain_tcp():
    one((PLAIN_TCP, 1))


def case_tcp_fastopen():
    one((FASTOPEN, 5))


def case_not_plain_but_fastopen():
    """the listener goes on answering, as the one that is left asks for TCP"""
    one((FASTOPEN, 5), (PLAIN_TCP, 0))


tc("add")
try:
    bad = cases.main(globals())
finally:
    tc("del")
sys.exit(bad)
