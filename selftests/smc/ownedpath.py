#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""ownedpath - an RDMA device is removed while a handshake cannot go on

Its client is silent behind the Accept ("silent"); or the client's handshake has
chosen a path over the device and waits for the Accept, and a system call owns the
socket for as long as the program likes ("removed").  Needs what hostile_rdma.py
needs, and each case removes clcrxe.
"""
import subprocess

import cases
from counters import Counters, sysctl
from limits import await_that, limit
from minitcp import Net
from park import Parked
from smcpeer import HONEST, KERNEL, Peer, Server

LIMIT = limit(90)         # the path is let go after 26 s


def case_silent():
    """the server waits three minutes for the Confirm: its device does not"""
    sysctl("handshake_timeout_ms", 60000)
    peer = Peer(Net("clc0", "10.99.0.2", KERNEL), answers=HONEST)
    counters = Counters()
    # the first connection has handed its path to the group
    assert peer.begun(), "declined"
    subprocess.run(["rdma", "link", "delete", "clcrxe"], check=True,
                   timeout=limit(30))
    moved = counters.moved()
    assert moved["HsStarted"] == 1 and "HsEnded" not in moved, moved
    for conn in list(peer.conns.values()):
        conn.forget()
    await_that("the handshake goes on", lambda:
               counters.moved().get("HsEnded"), LIMIT)


def case_removed():
    # enough for the program to be there first; the device goes after it
    sysctl("handshake_timeout_ms", 20000)
    counters = Counters()
    peer = Server(Net("clc0", "10.99.0.2", KERNEL), up=False)
    sock, tcp = peer.call()
    with Parked(sock):
        # not a context: it would be waited for before the page comes
        cmd = subprocess.Popen(["rdma", "link", "delete", "clcrxe"])
        await_that("the device stays", lambda: cmd.poll() is not None, LIMIT)
        moved = counters.moved()
    assert moved["HsStarted"] == 1 and "HsEnded" not in moved, moved
    assert cmd.returncode == 0, cmd.returncode
    sock.close()
    tcp.rst()


if __name__ == "__main__":
    raise SystemExit(cases.main(globals()))
