#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""cgroups - rings are charged to the control group of the program

Over shared memory and over RDMA.  Where there is no room in it a connection is
plain TCP.  Needs the module, root, cgroup2 (or the memory controller of version
1 at $SMC_CGROUP_V1: then only the cases case_cgroup, case_cgroup_that_is_full and
case_cgroup_of_a_first_contact), an RDMA port on lo that serves 10.9.0.1, the device
clc0 and a port on it (accounts.py), no SMC sockets of others, and a kernel that
does not charge TCP's memory (cgroup.memory=nosocket): TCP has processes killed for
its own.
"""
import contextlib
import os
import select
import signal
import socket
import subprocess
import sys

import cases
import hostile_smcd
from accounts import BY, MEM, RDMA, RING, accepted, counters_reach, mode, \
    rings_free, smc, works
from counters import LIMIT, Counters, smc_socket, sysctl, wait_port
from hostile import workers
from limits import await_that
from minitcp import Net, tap
from namespaces import setns, unshare
from smcpeer import HONEST, KERNEL, PORT, Peer
from sockdiag import FALLBACK, SMCR, TCP, row_of

V1 = os.environ.get("SMC_CGROUP_V1")
ROOT = V1 or "/sys/fs/cgroup"
GROUP = ROOT + "/smccgroups"
CURRENT, MOST, UNLIMITED = \
    ("memory.usage_in_bytes", "memory.limit_in_bytes", "-1") if V1 else \
    ("memory.current", "memory.max", "max")
SNDBUFFORCE, RCVBUFFORCE = 32, 33
PEERS = 8
RECEIVES = 512                  # KiB of a group that may get long messages


def read_number(name):
    with open(f"{GROUP}/{name}", encoding="ascii") as f:
        return int(f.read())


def move_to(group):
    """this process"""
    with open(f"{group}/cgroup.procs", "w", encoding="ascii") as f:
        f.write("0")


@contextlib.contextmanager
def control_group():
    if not V1:
        with open(ROOT + "/cgroup.subtree_control", "w",
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
        before = read_number(CURRENT)
        held = [smc(address, want) for _ in range(16)]
        grown = read_number(CURRENT) - before
        print("#", grown, "bytes for", len(held), "connections", flush=True)
        # each processor has a stock of its own
        assert grown >= len(held) * rings * RING * 1024 * 3 // 4, grown

    for name, how in BY.items():
        sysctl("transports", name)
        rings_free()
        with control_group():
            cases.in_child(lambda how=how: member(*how))


def case_cgroup_of_a_first_contact():
    """the receives of a link group are charged to that of the first connection:
    here to servers, whose clients are of release 0"""
    def server():
        net = Net("clc0", "10.99.0.2", KERNEL)
        move_to(GROUP)
        peers = [Peer(net, RING * 1024, n + 2, PORT + n, HONEST, release=0,
                      up=False) for n in range(PEERS)]
        # what this program needs from now on is not the group's
        move_to(ROOT)
        c = Counters()
        before = read_number(CURRENT)
        for p in peers:
            p.connect()
        grown = read_number(CURRENT) - before
        print("#", grown, "bytes for", PEERS, "groups", flush=True)
        for p in peers:
            p.leave()
        counters_reach(c, LgrDestroyed=PEERS)
        # and the rings of a connection each; kmalloc() of a debug kernel takes
        # twice as much
        want = PEERS * (2 * RING + RECEIVES) * 1024
        assert want * 3 // 4 <= grown <= want * 5 // 2, want

    sysctl("transports", "smcr")
    with control_group():
        cases.in_child(server)


def limit_to(memory, name=MOST):
    with open(f"{GROUP}/{name}", "w", encoding="ascii") as f:
        f.write(str(memory))


def case_cgroup_that_is_removed():
    """its idle rings are given back when others are, and so is its memory,
    although their link group has connections"""
    def member(address, want, rings):
        move_to(GROUP)
        held = [smc(address, want) for _ in range(rings)]
        for s in sum(held, ()):
            s.close()

    def dying():
        with open(ROOT + "/cgroup.stat", encoding="ascii") as f:
            stat = dict(line.split() for line in f)
        return int(stat["nr_dying_descendants"])

    def another(how, before):
        for s in smc(*how[:2]):
            s.close()
        return dying() <= before

    for name, how in BY.items():
        sysctl("transports", name)
        rings_free()
        held = smc(*how[:2])
        before, c = dying(), Counters()
        with control_group():
            cases.in_child(lambda how=how: member(*how))
            counters_reach(c, ConnDestroyed=2 * how[2])
            moved = c.moved()
            assert moved["BufCreated"] > moved.get("BufDestroyed", 0), moved
        # it is offline somewhat later than it is gone
        await_that("it stays", lambda how=how, before=before:
                   another(how, before), LIMIT)
        for s in held:
            s.close()


def case_cgroup_that_a_listener_outlives():
    """its children are charged to it all the same, and use their rings again"""
    for name, how in BY.items():
        sysctl("transports", name)
        rings_free()
        held = smc(*how[:2])
        with control_group():
            move_to(GROUP)
            lst = smc_socket()
            move_to(ROOT)
            lst.bind((how[0], 0))
            lst.listen()
        c = Counters()
        for n in range(1, 21):
            ends = accepted(lst, smc_socket())
            assert mode(ends[0]) == how[1]
            for s in ends:
                s.close()
            counters_reach(c, ConnDestroyed=2 * n)
        moved = c.moved()
        assert moved["BufCreated"] == how[2], moved
        for s in *held, lst:
            s.close()


def pressed():
    """how many processes have been killed in it, and how often it was full"""
    name = "memory.oom_control" if V1 else "memory.events"
    with open(f"{GROUP}/{name}", encoding="ascii") as f:
        events = {k: int(n) for k, n in map(str.split, f)}
    return events["oom_kill"], \
        read_number("memory.failcnt") if V1 else events["max"]


@contextlib.contextmanager
def bystander():
    """a process of the group with nothing to do, which must not be killed"""
    pid = os.fork()
    if not pid:
        signal.pause()
        os._exit(0)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGTERM)
        status = os.waitpid(pid, 0)[1]
    assert os.WTERMSIG(status) == signal.SIGTERM, "it has been killed before"


def case_cgroup_that_is_full():
    """the next connections are TCP, with a reason; none fails, nobody is killed"""
    def owner(address, want, rings):
        move_to(GROUP)
        lst = smc_socket()
        lst.bind((address, 0))
        lst.listen(64)
        clients = [smc_socket() for _ in range(32)]
        with bystander():
            # what this program needs from now on is not the group's
            move_to(ROOT)
            limit_to(read_number(CURRENT) + 8 * rings * RING * 1024)
            for cli in clients:
                cli.connect(lst.getsockname())
            limit_to(UNLIMITED)
        servers = {at: s for s, at in (lst.accept() for _ in clients)}
        held = [(cli, servers[cli.getsockname()]) for cli in clients]
        for cli, srv in held:
            srv.settimeout(LIMIT)
            works(cli, srv)
        modes = [mode(cli) for cli, _ in held]
        print("#", modes.count(want), "of", len(modes), flush=True)
        assert 4 <= modes.count(want) < 16 and modes[-1] == TCP, modes
        for cli, srv in held:
            assert mode(cli) == mode(srv)
            if mode(cli) == TCP:
                whys = [row_of(s, 1 << FALLBACK - 1).u32(FALLBACK, at)
                        for s in (cli, srv) for at in (0, 4)]
                assert MEM in whys, [hex(w) for w in whys]
        killed, full = pressed()
        print("# full", full, "times,", killed, "killed", flush=True)
        assert full and not killed
        for s in sum(held, ()):
            s.close()

    for name, how in BY.items():
        sysctl("transports", name)
        rings_free()
        with control_group():
            cases.in_child(lambda how=how: owner(*how))


def sleep_of(path):
    """which of its sleeps the worker is in for what it has charged, or None"""
    try:
        with open(path + "/stack", encoding="ascii") as f:
            if "mem_cgroup_handle_over_high" not in f.read():
                return None
        with open(path + "/status", encoding="ascii") as f:
            status = dict(x.split(":", 1) for x in f)
    except OSError:
        return None
    # D: it has left the processor
    return status["voluntary_ctxt_switches"] if "D" in status["State"] else None


def asleep():
    """how many workers of the module sleep so at the same time"""
    found = {path: sleep_of(path) for path, _ in workers()}
    # all first looks are before the second ones
    return sum(sleep is not None and sleep_of(path) == sleep
               for path, sleep in found.items())


def case_cgroup_that_is_throttled():
    """whoever charges it sleeps for seconds: it has more handshakes than a
    workqueue runs at a time, which take turns, and those of others are made"""
    def owner(address, want, _):
        # the first connection of a link group is waited for by others
        group = smc(address, want)
        move_to(GROUP)
        lst = smc_socket()
        lst.bind(("0.0.0.0", 0))
        lst.listen(4096)
        # as many as an address may have
        clients = [(smc_socket(), at) for _ in range(200)
                   for at in {address, RDMA}]
        # this program does not sleep
        move_to(ROOT)
        limit_to(0, "memory.high")
        for cli, at in clients:
            cli.setblocking(False)
            cli.connect_ex((at, lst.getsockname()[1]))
        seen = []

        def look():
            seen.append(asleep())
            return seen[-1]

        await_that("a worker that sleeps", look, LIMIT)
        for _ in range(16):
            for s in smc(address, want):
                s.close()
            look()
        print(f"# asleep at a time: {seen}", flush=True)
        limit_to("max", "memory.high")
        servers = [lst.accept()[0] for _ in clients]
        for s in *servers, *(cli for cli, _ in clients), *group, lst:
            s.close()
        assert max(seen) == 1, "they do not take turns"

    for name, how in BY.items():
        sysctl("transports", name)
        rings_free()
        with control_group():
            cases.in_child(lambda how=how: owner(*how))


def slow_first_contact():
    """client and listener of the group, to be connected"""
    lst = smc_socket()
    # more than the kernel lets pass without a sleep
    for opt in SNDBUFFORCE, RCVBUFFORCE:
        lst.setsockopt(socket.SOL_SOCKET, opt, 1 << 20)
    lst.bind((RDMA, 0))
    lst.listen(8)
    return smc_socket(), lst


def throttle(cli, lst):
    """the group, and connect these: for seconds its rings are being made"""
    c = Counters()
    limit_to(0, "memory.high")
    cli.setblocking(False)
    cli.connect_ex(lst.getsockname())
    await_that("no link group", lambda: c.moved().get("LgrCreated"), LIMIT)


def no_link_group():
    """none is left that a first contact could use"""
    sysctl("transports", "smcr")
    subprocess.run(["rdma", "link", "delete", "rxe0"], check=True)
    subprocess.run(["rdma", "link", "add", "rxe0", "type", "rxe",
                    "netdev", "lo"], check=True)
    wait_port()


def case_first_contact_that_is_throttled():
    """its rings take seconds, for which the others with the peer do not wait"""
    def owner():
        move_to(GROUP)
        cli, lst = slow_first_contact()
        # this program does not sleep
        move_to(ROOT)
        throttle(cli, lst)
        ends = smc(RDMA, SMCR)
        assert not select.select([lst], [], [], 0)[0], "it has waited"
        limit_to("max", "memory.high")
        srv, _ = lst.accept()
        for s in *ends, srv, cli, lst:
            s.close()

    no_link_group()
    with control_group():
        cases.in_child(owner)


def case_shared_group_has_room_first():
    """where a handshake may not charge the group it makes none over shared memory:
    others would join that, and end with it"""
    def owner():
        move_to(GROUP)
        slow = slow_first_contact()
        with open("/proc/self/ns/net", "rb") as home:
            # there is no group over shared memory in a new namespace
            unshare()
            tap("shared0", hostile_smcd.KERNEL)
            net = Net("shared0", hostile_smcd.PEER, hostile_smcd.KERNEL)
            lst = hostile_smcd.listener(hostile_smcd.KERNEL,
                                        hostile_smcd.VICTIM)
            move_to(ROOT)
            ism = hostile_smcd.own_ism(net)
            with open("/proc/self/ns/net", "rb") as there:
                setns(home.fileno())
                throttle(*slow)
                setns(there.fileno())
        c = Counters()
        # its time is over while the other one is still at it; however slow we
        # are, its Proposal is there when that begins
        sysctl("handshake_timeout_ms", "200")
        tcp = net.connect(hostile_smcd.VICTIM, True, LIMIT,
                          data=hostile_smcd.proposal_d(ism))
        msg = hostile_smcd.message(tcp)
        moved = c.moved()
        limit_to("max", "memory.high")
        assert msg[4] == 4 and int.from_bytes(msg[16:20], "big") == MEM, \
            msg.hex()
        assert "LgrCreated" not in moved, moved
        tcp.rst()
        for s in *slow, lst:
            s.close()

    no_link_group()
    with control_group():
        cases.in_child(owner)


if __name__ == "__main__":
    bad = cases.main(globals(), before=rings_free)
    sysctl("transports", "smcd smcr")
    sys.exit(bad)
