#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""gidslot - the slot of a chosen GID is given to another network namespace

The client's handshake has chosen a GID by its number in the port's table, and
waits for the Accept.  Meanwhile the address goes, a container on the same device
gets the same one, and with it the slot; then the host has its address back, in
another slot.  With the old number the packets would be the container's.  Needs
what hostile_rdma.py needs.
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


def run(text):
    for line in text.strip().splitlines():
        subprocess.run(line.split(), check=True)


def slots():
    """the device of each slot with the GID, by number"""
    found = {}
    for n in range(32):
        try:
            if read(f"{PORT}gids/{n}") == GID:
                found[n] = read(f"{PORT}gid_attrs/ndevs/{n}")
        except OSError:         # it is going, or its device is
            pass
    return found


def case_taken():
    sysctl("handshake_timeout_ms", 20000)
    run("""ip netns add taken
        ip link add mac9 link clc0 type macvlan mode bridge
        ip link set mac9 netns taken
        ip -n taken link set mac9 up""")
    try:
        peer = Server(Net("clc0", "10.99.0.2", KERNEL), up=False)
        slot, = slots()
        count = Counters()
        conn = peer.new_link()
        conn.sock, conn.tcp = peer.call()

        run(f"ip address delete {KERNEL}/24 dev clc0")
        await_that("the GID stays", lambda: not slots(), LIMIT)
        run(f"ip -n taken address add {KERNEL}/24 dev mac9")
        await_that("not the container's", lambda: slots() == {slot: "mac9"},
                   LIMIT)
        run(f"ip address add {KERNEL}/24 dev clc0")
        await_that("the host has none", lambda: "clc0" in slots().values(),
                   LIMIT)

        conn.tcp.send(accept_r(peer.args, 2, True, conn.end))
        assert not peer.clc(conn.tcp, 3), "a Confirm with the container's GID"
        conn.sock.settimeout(LIMIT)
        conn.tcp.send(b"plain")
        assert conn.sock.recv(5) == b"plain"
        got = count.moved()
        assert got.get("HsClientTcp") == 1 and "LinkCreated" not in got, got
        conn.forget()
        conn.sock.close()
    finally:
        run("ip netns delete taken")


if __name__ == "__main__":
    raise SystemExit(cases.main(globals()))
