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
import time

import cases
from badverbs import bad
from counters import RDMA, await_ends, pair, sysctl
from limits import await_that, limit
from minitcp import Net
from planted import Planted
from smcpeer import KERNEL, TEST_LINK, Peer, message
from sockdiag import SMCR, row_of

LIMIT = limit(60)
SLOWRXE = Planted("slowrxe")
told = SLOWRXE.read


def address(verb):
    subprocess.run(["ip", "address", verb, KERNEL + "/24", "dev", "clc0"],
                   check=True)


def packet_while_link_ends(receive, end_link):
    """receive() has a packet received by the link"""
    # what has been received is done with
    time.sleep(limit(0.2))
    SLOWRXE.write("pause", 1)
    thread = threading.Thread(target=receive)
    thread.start()
    try:
        await_that("no pause", lambda: told("paused") == "1", LIMIT)
        end_link()
        await_that("not to RESET", lambda: told("resets") == "1" or
                   told("paused") == "2", LIMIT)
        # time to do it wrong
        time.sleep(limit(0.5))
        assert told("paused") == "1", "the pause was too short"
        assert told("early") == "N", "destroyed below the receiver"
        assert told("resets") == "1", told("resets")
    finally:
        SLOWRXE.write("pause", 0)
        thread.join()
    await_ends("links", seconds=LIMIT)
    assert told("paused") == "2"
    assert told("resets") == "2", "what came meanwhile may stay"


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
    assert told("worker") == "Y"


if __name__ == "__main__":
    raise SystemExit(cases.main(globals()))
