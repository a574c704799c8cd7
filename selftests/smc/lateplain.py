#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A listener that gives SMC up while a client is being answered.

The SYN-ACK with the option is lost (nft drops it) when the program asks for
plain TCP, or for Fast Open, and arrives when it is sent again: the client
proposes SMC, and what the program reads must be the client's bytes and not the
proposal.
"""
import json
import socket
import subprocess
import sys
import threading

import cases
from counters import Counters
from limits import await_that, limit

IPPROTO_SMC = 256
PLAIN_TCP = 286, 256            # SOL_SMC, SMC_PLAIN_TCP
FASTOPEN = socket.IPPROTO_TCP, socket.TCP_FASTOPEN
TABLE = "table inet lateplain"


def syn_received(port):
    with open("/proc/net/tcp") as f:
        return any(w[1].endswith(f":{port:04X}") and w[3] == "03"
                   for w in map(str.split, f))


def nft(*words):
    return subprocess.run(("nft", *words), check=True,
                          stdout=subprocess.PIPE).stdout


def lose(port):
    """all SYN-ACKs of the port"""
    nft(f"""add {TABLE} {{
        chain input {{
            type filter hook input priority 0;
            tcp sport {port} tcp flags & (syn | ack) == (syn | ack) counter drop
        }}
    }}""")


def lost():
    """how many"""
    found = json.loads(nft("-j", f"list {TABLE}"))["nftables"]
    rule, = (x["rule"] for x in found if "rule" in x)
    return sum(e["counter"]["packets"] for e in rule["expr"] if "counter" in e)


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
    port = srv.getsockname()[1]
    counters, result = Counters(), []
    client = threading.Thread(target=connect,
                              args=(srv.getsockname(), result), daemon=True)
    lose(port)
    try:
        client.start()
        await_that("no SYN-ACK", lost, limit(10))
        for option, value in calls:
            srv.setsockopt(*option, value)
        assert syn_received(port), "too late to show anything"
    finally:
        nft(f"delete {TABLE}")
    conn = srv.accept()[0]
    conn.settimeout(limit(60))
    got = conn.recv(100)
    assert got == b"there", f"the program read {got}"
    conn.sendall(b"back")
    client.join()
    assert result == [b"back"], result
    # the client's, too: the SYN-ACK had the option when it was sent again
    moved = counters.moved()
    assert moved.get("HsStarted") == 2, moved


def case_smc_plain_tcp():
    one((PLAIN_TCP, 1))


def case_tcp_fastopen():
    one((FASTOPEN, 5))


def case_not_plain_but_fastopen():
    """the listener goes on answering, as the one that is left asks for TCP"""
    one((FASTOPEN, 5), (PLAIN_TCP, 0))


sys.exit(cases.main(globals()))
