#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""gidslot - a chosen GID is not what it was when the link is made

The client's handshake has chosen a GID by its number in the port's table, and
waits for the Accept.  Needs what hostile_rdma.py needs.
"""
import subprocess

import cases
from clcmsg import accept_r
from counters import Counters, sysctl
from limits import await_that, limit
from minitcp import Net, read
from smcpeer import KERNEL, Server

LIMIT = limit(30)
PORT = "/sys/class/infiniband/clcrxe/ports/1/"
GID = "0000:0000:0000:0000:0000:ffff:0a63:0001"
NEW_MAC = "fe80:0000:0000:0000:0000:00ff:fe00:9977"


def run(text):
    for line in text.strip().splitlines():
        subprocess.run(line.split(), check=True)


def gids():
    """by number"""
    found = {}
    for n in range(32):
        try:
            found[n] = read(f"{PORT}gids/{n}")
        except OSError:         # it is going, or its device is
            pass
    return found


def slots():
    """the device of each slot with the GID, by number"""
    found = {}
    for n, gid in gids().items():
        try:
            if gid == GID:
                found[n] = read(f"{PORT}gid_attrs/ndevs/{n}")
        except OSError:         # as above
            pass
    return found


class Waiting:
    """a client that waits for the Accept"""
    net = None

    def __init__(self):
        # the most that there is
        sysctl("handshake_timeout_ms", 60000)
        Waiting.net = Waiting.net or Net("clc0", "10.99.0.2", KERNEL)
        self.peer = Server(self.net, up=False)
        self.count = Counters()
        self.conn = self.peer.new_link()
        self.conn.sock, self.conn.tcp = self.peer.call()

    def becomes_tcp(self, why):
        conn = self.conn
        conn.tcp.send(accept_r(self.peer.args, 2, True, conn.end))
        assert not self.peer.clc(conn.tcp, 3), why
        conn.sock.settimeout(LIMIT)
        conn.tcp.send(b"plain")
        assert conn.sock.recv(5) == b"plain"
        got = self.count.moved()
        assert got.get("HsClientTcp") == 1 and "LinkCreated" not in got, got
        conn.forget()
        conn.sock.close()


def case_mac():
    """The device gets another MAC address: the Proposal told the old one."""
    client = Waiting()
    before = slots()
    run("ip link set clc0 address 02:00:00:00:99:77")
    client.net.peer_mac = bytes.fromhex("020000009977")
    # all GIDs go and come back
    await_that("no GID of the new address", lambda: NEW_MAC in gids().values(),
               LIMIT)
    assert slots() == before, (slots(), before)
    client.becomes_tcp("a Confirm of a link with the old MAC address")


def case_taken():
    """The address goes, a container on the same device gets the same one, and
    with it the slot; then the host has its address back, in another slot.  With
    the old number the packets would be the container's."""
    run("""ip netns add taken
        ip link add mac9 link clc0 type macvlan mode bridge
        ip link set mac9 netns taken
        ip -n taken link set mac9 up""")
    try:
        client = Waiting()
        slot, = slots()

        run(f"ip address delete {KERNEL}/24 dev clc0")
        await_that("the GID stays", lambda: not slots(), LIMIT)
        run(f"ip -n taken address add {KERNEL}/24 dev mac9")
        await_that("not the container's", lambda: slots() == {slot: "mac9"},
                   LIMIT)
        run(f"ip address add {KERNEL}/24 dev clc0")
        await_that("the host has none", lambda: "clc0" in slots().values(),
                   LIMIT)

        client.becomes_tcp("a Confirm with the container's GID")
    finally:
        run("ip netns delete taken")


if __name__ == "__main__":
    raise SystemExit(cases.main(globals()))
