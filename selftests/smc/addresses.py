#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""addresses - a connection's set-up where the network device has many addresses

Each address is a GID of its port.  A handshake ranks them in turn until one
is the best that there can be: the first one, if TCP uses that.  To rank all takes
some time for each GID, but not for each pair of a GID and an address, also where
the GIDs are of two devices.  For a guest whose time is the number of its
instructions.
"""
import subprocess
import sys
import time

import cases
from counters import Counters, smc_socket, sysctl, wait_port
from limits import await_that, limit
from minitcp import read

# of 1024 GIDs of soft-RoCE
ADDRESSES = 900
ROUNDS = 10
# 2.4 (IPv4) and 6 with one walk of the addresses, 40 and more with one for each GID
FACTOR = 15
# 1.0, and 2.4 if all are ranked
FACTOR_FIRST = 2
PORTS = 7
# a client and a server of which no GID has the address
BETWEEN = "127.0.0.3", "127.0.0.2"
GID = "/sys/class/infiniband/{}/ports/1/gids/{}"


def set_up(family, client, server):
    """the seconds of the fastest handshake: beside others the kernel learns of
    addresses"""
    c = Counters()
    with smc_socket(family) as lst:
        lst.bind((server, 0))
        lst.listen(8)
        took = []
        for _ in range(ROUNDS):
            with smc_socket(family) as cli:
                cli.bind((client, 0))
                start = time.monotonic()
                cli.connect(lst.getsockname()[:2])
                srv, _ = lst.accept()
                took.append(time.monotonic() - start)
                srv.close()
    got = c.moved()
    assert got.get("HsServerSmcr") == ROUNDS, got
    return min(took)


def run(text):
    subprocess.run(text.split(), check=True)


def batch(what, prefix, *devices):
    """each device has one in turn"""
    lines = (f"address {what} {prefix.format(n >> 8, n & 255)} dev "
             f"{devices[n % len(devices)]}\n" for n in range(1, ADDRESSES + 1))
    subprocess.run(["ip", "-batch", "-"], input="".join(lines), text=True,
                   check=True)


def is_gid(port, n):
    return bool(read(GID.format(port, n)).strip("0:"))


def await_gids(port):
    await_that("no GIDs", lambda: is_gid(port, ADDRESSES), limit(60))


def new_port(netdev, change):
    """a port there learns of the addresses when it is made"""
    run("rdma link delete rxe0")
    change()
    run(f"rdma link add rxe0 type rxe netdev {netdev}")
    wait_port()


def many(family, ends, make, unmake, factor=FACTOR):
    sysctl("transports", "smcr")
    # the first ones make what is made once
    set_up(family, *ends)
    few = set_up(family, *ends)
    make()
    try:
        set_up(family, *ends)
        took = set_up(family, *ends)
    finally:
        unmake()
        sysctl("transports", "smcd smcr")
    print(f"# {few * 1e6:.0f} us, then {took * 1e6:.0f} us", flush=True)
    assert took < factor * few, f"{took / few:.1f} times"


def many_of(netdev, family, ends, prefix, factor=FACTOR):
    def addresses(what):
        new_port(netdev, lambda: batch(what, prefix, netdev))

    def make():
        addresses("add")
        await_gids("rxe0")

    many(family, ends, make, lambda: addresses("delete"), factor)
    assert not is_gid("rxe0", ADDRESSES)


def case_first():
    many_of("lo", 2, ("127.0.0.1",) * 2, "10.88.{}.{}/32", FACTOR_FIRST)


def case_other_ports():
    """the right one is found after those of other networks, of whose 1024 GIDs
    nearly all are empty"""
    def make():
        for n in range(1, PORTS + 1):
            run(f"ip link add other{n} type dummy")
            run(f"ip link set other{n} up")
            run(f"rdma link add rxe{n} type rxe netdev other{n}")
            await_that("not active", lambda n=n: "ACTIVE" in
                       read(f"/sys/class/infiniband/rxe{n}/ports/1/state"),
                       limit(60))
        # the last one
        new_port("lo", lambda: None)

    def unmake():
        for n in range(1, PORTS + 1):
            run(f"rdma link delete rxe{n}")
            run(f"ip link delete other{n}")

    many(2, ("127.0.0.1",) * 2, make, unmake, FACTOR_FIRST)


def case_v4():
    many_of("lo", 2, BETWEEN, "10.88.{}.{}/32")


def case_v6():
    """of another device than TCP's: its IPv4 GID is not the best there can be"""
    def other():
        run("ip link add two0 type dummy")
        run("ip address add 10.87.0.1/32 dev two0")
        run("ip link set two0 up")

    new_port("two0", other)
    try:
        many_of("two0", 10, ("::1",) * 2, "fd88::{:x}:{:x}/128")
    finally:
        new_port("lo", lambda: run("ip link delete two0"))


def case_younger_than_the_port():
    """a port that has no GID for IPv4 when it is made"""
    def other():
        run("ip link add two0 type dummy")
        run("ip link set two0 up")

    def gids():
        return sum(is_gid("rxe0", n) for n in range(16))

    new_port("two0", other)
    try:
        before = gids()
        run("ip address add 10.87.0.1/32 dev two0")
        await_that("no GID", lambda: gids() > before, limit(60))
        sysctl("transports", "smcr")
        set_up(2, "10.87.0.1", "10.87.0.1")
    finally:
        sysctl("transports", "smcd smcr")
        new_port("lo", lambda: run("ip link delete two0"))


def case_two_devices():
    """of another port, whose GIDs are of one and of the other in turn"""
    def make():
        run("ip link add two0 type dummy")
        run("ip link add link two0 name two0.5 type vlan id 5")
        for name in "two0", "two0.5":
            run(f"ip link set {name} up")
        run("rdma link add rxe2 type rxe netdev two0")
        # later: a port learns of those of a device together
        batch("add", "10.88.{}.{}/32", "two0", "two0.5")
        await_gids("rxe2")

    def unmake():
        run("rdma link delete rxe2")
        run("ip link delete two0")

    many(2, BETWEEN, make, unmake)


if __name__ == "__main__":
    sys.exit(cases.main(globals()))
