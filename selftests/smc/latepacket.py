#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""latepacket - a link ends while soft-RoCE is receiving a packet

The module slowrxe (selftests/vm/planted) makes the receiver pause between its
two steps.  Meanwhile the link ends: its queue pair is not destroyed before the
receiver is done.  Needs what hostile_rdma.py needs, an RDMA port rxe0 on lo that
serves 10.9.0.1, slowrxe, the module badverbs on rxe0, and two CPUs.
"""
import subprocess
import threading

import cases
from badverbs import bad
from counters import RDMA, Counters, await_ends, pair, sysctl
from limits import await_that, limit
from minitcp import Net
from smcpeer import KERNEL, TEST_LINK, Peer, message
from sockdiag import SMCR, row_of

LIMIT = limit(60)
PAUSE_MS = int(limit(1500))     # enough for a link to end
PARAMETERS = "/sys/module/slowrxe/parameters/"


def number(name):
    with open(PARAMETERS + name, encoding="ascii") as f:
        return int(f.read())


def address(verb):
    subprocess.run(["ip", "address", verb, KERNEL + "/24", "dev", "clc0"],
                   check=True)


def packet_while_link_ends(receive, end_link):
    """receive() has a packet received by the link"""
    before, early = number("over"), number("early")
    count = Counters()
    with open(PARAMETERS + "ms", "w", encoding="ascii") as f:
        f.write(str(PAUSE_MS))
    thread = threading.Thread(target=receive)
    thread.start()
    await_that("no pause", lambda: number("paused") > before, LIMIT)
    end_link()
    await_that("the link stays", lambda: count.moved().get("LgrLost"), LIMIT)
    assert number("over") == before, "too late for the receiver"
    await_ends("links", seconds=LIMIT)
    thread.join()
    await_that("the pause stays", lambda: number("over") > before, LIMIT)
    assert number("early") == early, "destroyed below the receiver"


def case_far():
    """the receiver is a soft interrupt"""
    peer = Peer(Net("clc0", "10.99.0.2", KERNEL))
    peer.round()
    try:
        packet_while_link_ends(
            lambda: peer.qp.send(message(TEST_LINK, 0, b"0123456789abcdef")),
            lambda: address("delete"))
    finally:
        address("add")
    peer.leave()


def case_near():
    """both ends are of one port: the receiver is the sender's work"""
    sysctl("transports", "smcr")
    cli, srv = pair(RDMA)
    assert row_of(cli).mode == SMCR, "no SMC-R"
    packet_while_link_ends(lambda: cli.send(b"x"),
                           lambda: bad("event", "fatal"))
    for sock in cli, srv:
        sock.close()


if __name__ == "__main__":
    raise SystemExit(cases.main(globals()))
