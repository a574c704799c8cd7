#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""ownedpath - an RDMA device is removed while a program owns a connecting socket

The client's handshake has chosen a path over the device and waits for the
Accept.  A system call owns the socket for as long as the program likes, so the
handshake cannot go on.  Needs what hostile_rdma.py needs, and removes clcrxe.
"""
import subprocess

import cases
from counters import Counters, sysctl
from limits import await_that, limit
from minitcp import Net
from park import Parked
from smcpeer import KERNEL, Server

LIMIT = limit(90)         # the path is let go after 26 s


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
