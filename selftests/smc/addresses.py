#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""addresses - a connection's set-up where the network device has many addresses

Each address is a GID of the port on lo, and every handshake ranks them all.  That
takes some time for each GID, but not for each pair of a GID and an address.  For
a guest whose time is the number of its instructions.
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
GID = "/sys/class/infiniband/rxe0/ports/1/gids/{}"


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


def addresses(what, prefix):
    """a port on lo learns of them when it is made"""
    lines = (f"address {what} {prefix.format(n >> 8, n & 255)} dev lo\n"
             for n in range(1, ADDRESSES + 1))
    subprocess.run(["rdma", "link", "delete", "rxe0"], check=True)
    subprocess.run(["ip", "-batch", "-"], input="".join(lines), text=True,
                   check=True)
    subprocess.run(["rdma", "link", "add", "rxe0", "type", "rxe",
                    "netdev", "lo"], check=True)
    wait_port()


def is_gid(n):
    return bool(read(GID.format(n)).strip("0:"))


def many(family, address, prefix):
    sysctl("transports", "smcr")
    # the first ones make what is made once
    set_up(family, address)
    few = set_up(family, address)
    addresses("add", prefix)
    try:
        await_that("no GIDs", lambda: is_gid(ADDRESSES), limit(60))
        set_up(family, address)
        took = set_up(family, address)
    finally:
        addresses("delete", prefix)
        sysctl("transports", "smcd smcr")
    assert not is_gid(ADDRESSES)
    print(f"# {few * 1e6:.0f} us, with {ADDRESSES} addresses more "
          f"{took * 1e6:.0f} us", flush=True)
    assert took < FACTOR * few, f"{took / few:.1f} times"


def case_v4():
    many(2, "127.0.0.1", "10.88.{}.{}/32")


def case_v6():
    many(10, "::1", "fd88::{:x}:{:x}/128")


if __name__ == "__main__":
    sys.exit(cases.main(globals()))
