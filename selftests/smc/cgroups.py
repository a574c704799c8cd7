#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""cgroups - rings are charged to the control group of the program

Over shared memory and over RDMA.  Needs the module, root, cgroup2, an RDMA port
on lo that serves 10.9.0.1, and no SMC sockets of others.
"""
import contextlib
import os
import sys

import cases
from accounts import BY, RING, rings_free, smc
from counters import sysctl

GROUP = "/sys/fs/cgroup/smccgroups"


def read_number(name):
    with open(f"{GROUP}/{name}", encoding="ascii") as f:
        return int(f.read())


def move_to(group):
    """this process"""
    with open(f"{group}/cgroup.procs", "w", encoding="ascii") as f:
        f.write("0")


@contextlib.contextmanager
def control_group():
    with open("/sys/fs/cgroup/cgroup.subtree_control", "w",
              encoding="ascii") as f:
        f.write("+memory")
    os.mkdir(GROUP)
    try:
        yield
    finally:
        os.rmdir(GROUP)         # its processes have been waited for


def case_cgroup():
    """rings are charged to it, as kernel memory: whether TCP's memory is (not
    with cgroup v1, nor with cgroup.memory=nosocket) makes no difference"""
    def member(address, want, rings):
        move_to(GROUP)
        before = read_number("memory.current")
        held = [smc(address, want) for _ in range(16)]
        grown = read_number("memory.current") - before
        print("#", grown, "bytes for", len(held), "connections", flush=True)
        # each processor has a stock of its own
        assert grown >= len(held) * rings * RING * 1024 * 3 // 4, grown

    for name, how in BY.items():
        sysctl("transports", name)
        rings_free()
        with control_group():
            cases.in_child(lambda how=how: member(*how))


if __name__ == "__main__":
    bad = cases.main(globals(), before=rings_free)
    sysctl("transports", "smcd smcr")
    sys.exit(bad)
