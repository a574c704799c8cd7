#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""addresses - a connection's set-up where the network device has many addresses

Each address is a GID of the port on lo, and every handshake ranks them all.  That
takes some time for each GID, but not for each pair of a GID and an address, also
where the GIDs are of two devices.  For a guest whose time is the number of its
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
GID = "/sys/class/infiniband/{}/ports/1/gids/{}"


def set_up(family, address):
    """the seconds of a handshake"""
    c = Counters()
    with smc_socket(family) as lst:
        lst.bind((address, 0))
        lst.listen(8)
        took = 0
        for _ in range(ROUNDS):
            with smc_socket(family) as cli:
                start = time.monotonic()
                cli.connect(lst.getsockname()[:2])
                srv, _ = lst.accept()
                took += time.monotonic() - start
                srv.close()
    got = c.moved()
    assert got.get("HsServerSmcr") == ROUNDS, got
    return took / ROUNDS


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


def addresses(what, prefix):
    """a port on lo learns of them when it is made"""
    run("rdma link delete rxe0")
    batch(what, prefix, "lo")
    run("rdma link add rxe0 type rxe netdev lo")
    wait_port()


def many(family, address, make, unmake):
    sysctl("transports", "smcr")
    # the first ones make what is made once
    set_up(family, address)
    few = set_up(family, address)
    make()
    try:
        set_up(family, address)
        took = set_up(family, address)
    finally:
        unmake()
        sysctl("transports", "smcd smcr")
    print(f"# {few * 1e6:.0f} us, with {ADDRESSES} addresses more "
          f"{took * 1e6:.0f} us", flush=True)
    assert took < FACTOR * few, f"{took / few:.1f} times"


def many_of_lo(family, address, prefix):
    def make():
        addresses("add", prefix)
        await_gids("rxe0")

    many(family, address, make, lambda: addresses("delete", prefix))
    assert not is_gid("rxe0", ADDRESSES)


def case_v4():
    many_of_lo(2, "127.0.0.1", "10.88.{}.{}/32")


def case_v6():
    many_of_lo(10, "::1", "fd88::{:x}:{:x}/128")


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

    many(2, "127.0.0.1", make, unmake)


if __name__ == "__main__":
    sys.exit(cases.main(globals()))
