#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""portgids - which GIDs of a port are a peer's, and which are of one device

Needs what linkdown.py needs, and badverbs (vm/planted) on clcrxe.
"""
import glob
import os
import socket
import subprocess

import cases
from badverbs import bad
from clcmsg import proposal_v1
from counters import limits
from hostile import plain
from limits import await_that
from linkdown import LIMIT, Link, served
from minitcp import read
from smcpeer import KERNEL, PORT, Server
from sockdiag import fallback

# of smc_reason.h
CNFERR, BADPORT, INTERR = 0x03000000, 0x0a0f0005, 0x09990000


def ip(text):
    subprocess.run(["ip"] + text.split(), check=True)


def mapped(address):
    """the GID of an IPv4 address"""
    return bytes(10) + b"\xff\xff" + socket.inet_aton(address)


def v1_gids():
    """the network device of each GID of version 1"""
    port_dir = "/sys/class/infiniband/clcrxe/ports/1/"
    found = {}
    for path in glob.glob(port_dir + "gid_attrs/types/*"):
        n = os.path.basename(path)
        try:
            if read(path) == "IB/RoCE v1":
                gid = read(port_dir + "gids/" + n).replace(":", "")
                found[bytes.fromhex(gid)] = read(port_dir +
                                                 "gid_attrs/ndevs/" + n)
        except OSError:                         # there is none
            pass
    return found


def case_own_port():
    """SMC-R version 1, and a peer that says that it has a port of ours, with or
    without our MAC address: what is written to it would come back to us"""
    def address(verb, last):
        subprocess.run(["ip", "address", verb, f"10.99.0.{last}/24", "dev",
                        "clc0"], check=True)

    def gids():
        """of version 1, but for those of a link-local address"""
        return sum(g[10:14] == b"\xff\xff\x0a\x63" for g in v1_gids())

    def answer(last, mac):
        """why a Proposal is declined"""
        tcp = Link.net.connect(PORT, True, LIMIT)
        tcp.send(proposal_v1(mac, mapped(f"10.99.0.{last}"),
                             bytes((10, 99, 0, 0)), 24))
        msg = tcp.recv(28, LIMIT)
        assert msg[4] == 4, msg.hex()
        with lst.accept()[0] as srv:
            why = fallback(srv)
        tcp.rst()
        return why

    Link.begin()
    bad("event", "v1_on")
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 256) as lst:
        lst.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        lst.settimeout(LIMIT)
        lst.bind((KERNEL, PORT))
        lst.listen(8)
        try:
            for last in 7, 8:           # one is the server's
                address("add", last)
                await_that("no GID", lambda n=last - 6: gids() == n, LIMIT)
            for mac in Link.net.peer_mac, Link.net.MAC:
                for last in 7, 8:
                    why = answer(last, mac)
                    assert why == BADPORT, hex(why)
            # the peer's own: as far as soft-RoCE's queue pair for registrations
            why = answer(2, Link.net.MAC)
            assert why == INTERR, hex(why)
        finally:
            for last in 7, 8:
                address("delete", last)
            await_that("GIDs stay", lambda: not gids(), LIMIT)
            bad("event", "v1_off")


def case_no_prefix():
    """A client that has version 1 alone, and whose address is in no subnet of the
    device: it proposes nothing."""
    Link.begin()
    net, own, gid = Link.net, "10.97.0.1", mapped("10.99.0.7")
    peer = Server(net, up=False)
    bad("event", "v1_on")
    ip("address add 10.99.0.7/24 dev clc0")
    ip(f"address add {own}/32 dev lo")
    ip(f"route add 10.99.0.2/32 dev clc0 src {own}")
    try:
        await_that("no GID", lambda: v1_gids().get(gid) == "clc0", LIMIT)
        net.peer_ip = socket.inet_aton(own)
        conn = peer.new_link()
        # it offers shared memory to any server
        with limits(transports="smcr"):
            conn.sock, conn.tcp = peer.dial()
            assert peer.clc(conn.tcp, 1) is None, "a Proposal"
            plain(conn)
        why = fallback(conn.sock)
        assert why == CNFERR, hex(why)
        conn.forget()
    finally:
        net.peer_ip = socket.inet_aton(KERNEL)
        ip("route delete 10.99.0.2/32 dev clc0")
        ip(f"address delete {own}/32 dev lo")
        ip("address delete 10.99.0.7/24 dev clc0")
        await_that("GIDs stay", lambda: gid not in v1_gids(), LIMIT)
        bad("event", "v1_off")
    peer.lst.close()


def case_one_device():
    """Where a port has GIDs of several network devices, those of version 1 and 2
    in a Proposal are of one, as is the MAC address."""
    def serve(ours, kernels, mac):
        net.peer_mac, net.peer_ip = mac, socket.inet_aton(kernels)
        peer.ip = socket.inet_aton(ours)
        net.ips.add(peer.ip)

    Link.begin()
    first, gid = mapped("10.99.0.8"), mapped("10.98.0.1")
    net, mac = Link.net, Link.net.peer_mac
    peer = Server(net, up=False)
    bad("event", "v1_on")
    # an address of the lower device has the lower index
    ip("address add 10.99.0.8/24 dev clc0")
    await_that("no GID", lambda: v1_gids().get(first) == "clc0", LIMIT)
    ip("link add mac9 link clc0 type macvlan mode bridge")
    try:
        ip("link set mac9 up")
        ip("address add 10.98.0.1/24 dev mac9")
        await_that("no GID", lambda: v1_gids().get(gid) == "mac9", LIMIT)
        mac9 = bytes.fromhex(read("/sys/class/net/mac9/address")
                             .replace(":", ""))
        serve("10.98.0.2", "10.98.0.1", mac9)
        sock, tcp = peer.call()
        devices = v1_gids()
        sock.close()
        tcp.rst()
    finally:
        serve("10.99.0.2", KERNEL, mac)
        ip("link delete mac9")
        # an event may have given each of them a GID of version 1
        for last in 8, 1:
            ip(f"address delete 10.99.0.{last}/24 dev clc0")
        await_that("GIDs stay", lambda: not any(
            g[10:12] == b"\xff\xff" for g in v1_gids()), LIMIT)
        bad("event", "v1_off")
        ip(f"address add {KERNEL}/24 dev clc0")
        await_that("no GID", served, LIMIT)
    offer = peer.offer
    assert offer[32:38] == mac9, offer.hex()
    assert devices.get(offer[16:32]) == "mac9", (offer[16:32].hex(), devices)


if __name__ == "__main__":
    raise SystemExit(cases.main(globals()))
