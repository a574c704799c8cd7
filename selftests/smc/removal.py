#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""removal EVENTS - what SMC stands on goes away in random order, under load

Pairs of processes send each other streams without a pause: by SMC-R over rxe0 on
lo and over rxe1, whose network device d0 may go; by SMC-D between the network
namespaces n1 and n2.  Meanwhile an RDMA device, network device, namespace,
process or the module goes and comes back, addresses and MTUs change, a port goes
down and up.  A stream arrives as it was sent (SHA-256), or both ends get an error;
none is cut short without one, and none hangs.  In the end each place has SMC as
before.  SMC_SEED: what happens, and what is sent.  Needs the module, root, an
RDMA port rxe0 on lo, and no SMC sockets of others.
"""
import collections
import hashlib
import itertools
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import time

import cases
from counters import read, sysctl
from limits import SCALE, await_that, limit
from namespaces import enter
from sockdiag import PROTO_SMC, SMCD, SMCR, row_of

EVENTS = int(sys.argv[1]) if sys.argv[1:] else 11
SEED = int(os.environ.get("SMC_SEED") or 1)
MODULE = os.path.dirname(os.path.abspath(__file__)) + "/../vm/guest/module.sh"
LOG = "/tmp/removal.log"
HEAD = struct.Struct("=8sII")           # name, bytes to the server and back
HANGS = limit(60)
GIVE_UP = int(limit(4))                 # a network that is gone, in seconds
PAIRS = 2                               # at each place

Place = collections.namedtuple("Place", "name port address client server")
PLACES = (Place("lo", 7900, "10.9.0.1", None, None),
          Place("d0", 7910, "10.95.0.1", None, None),
          Place("veth", 7920, "10.97.0.2", "n1", "n2"))


longest = [0, ""]                       # command, in seconds


def run(*words, may_fail=False):
    """a command, before the load: it would wait for twelve busy processes"""
    start = time.monotonic()
    done = subprocess.run(["nice", "-n", "-15", *" ".join(words).split()],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    assert may_fail or not done.returncode, f"{words}: {done.stdout}"
    longest[:] = max(longest, [time.monotonic() - start, " ".join(words)])
    return done


# ---- a process of a pair ----

class Ended(Exception):
    """What came of a stream: equal; late, an error after all was verified;
    error; short, an end of file before the end; wrong; hung."""


def data(name, end, count):
    return random.Random(name + end).randbytes(count)


def with_digest(some):
    return some + hashlib.sha256(some).digest()


def receive(sock, count):
    got = bytearray()
    while len(got) < count:
        some = sock.recv(min(count - len(got), 65536))
        if not some:
            raise Ended("short")
        got += some
    return bytes(got)


def verified(sock, count):
    got = receive(sock, count + 32)
    if with_digest(got[:-32]) != got:
        raise Ended("wrong")


def as_client(sock, name, up, down):
    sock.sendall(HEAD.pack(name, up, down) + with_digest(data(name, b"c", up)))
    verified(sock, down)
    sock.sendall(b"!")


def as_server(sock, names):
    name, up, down = HEAD.unpack(receive(sock, HEAD.size))
    names.append(name)
    verified(sock, up)
    sock.sendall(with_digest(data(name, b"s", down)))
    try:
        receive(sock, 1)
    except (Ended, OSError) as e:
        if isinstance(e, TimeoutError) and not e.errno:
            raise
        raise Ended("late") from e


def outcome(stream, *args):
    try:
        stream(*args)
        return "equal"
    except Ended as e:
        return str(e)
    except OSError as e:
        # the kernel's ETIMEDOUT has a number, that of settimeout() has none
        if isinstance(e, TimeoutError) and not e.errno:
            return "hung"
        return "error"


def smc_socket():
    """a network that has gone is an error soon, also for one that only waits"""
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, PROTO_SMC)
    s.settimeout(HANGS)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    for what, value in ((socket.TCP_USER_TIMEOUT, 1000 * GIVE_UP),
                        (socket.TCP_KEEPIDLE, GIVE_UP),
                        (socket.TCP_KEEPINTVL, 1), (socket.TCP_KEEPCNT, 3)):
        s.setsockopt(socket.IPPROTO_TCP, what, value)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return s


class Worker:
    """one end of a pair, until SIGTERM"""
    def __init__(self, place, number, end):
        self.place, self.number, self.end = place, number, end
        self.port = place.port + number
        self.goes_on = True
        self.log = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        netns = getattr(place, end)
        if netns:
            enter(netns)
        signal.signal(signal.SIGTERM, self.stop)

    def stop(self, *_):
        self.goes_on = False

    def say(self, name, how):
        os.write(self.log, f"{self.place.name}{self.number} {self.end} "
                 f"{name.hex()} {how}\n".encode())

    def client(self):
        rng = random.Random(f"{SEED} {self.port} {os.getpid()}")
        while self.goes_on:
            with smc_socket() as s:
                try:
                    s.connect((self.place.address, self.port))
                except TimeoutError as e:
                    if not e.errno:
                        self.say(b"connect", "hung")
                    continue
                except OSError:
                    time.sleep(0.05)
                    continue
                name = rng.randbytes(8)
                self.say(name, outcome(
                    as_client, s, name,
                    *(int(2 ** rng.uniform(4, 18)) for _ in range(2))))

    def server(self):
        with smc_socket() as lst:
            lst.bind(("0.0.0.0", self.port))
            lst.listen(8)
            lst.settimeout(0.3)
            while self.goes_on:
                try:
                    s, _ = lst.accept()
                except OSError:
                    continue
                with s:
                    s.settimeout(HANGS)
                    names = []
                    how = outcome(as_server, s, names)
                    if names:
                        self.say(names[0], how)


# ---- all processes ----

class Load:
    def __init__(self):
        self.pids, self.killed = {}, collections.Counter()

    def start(self, key):
        pid = os.fork()
        if not pid:
            code = 1
            try:
                place, number, end = key
                worker = Worker(place, number, end)
                getattr(worker, end)()
                code = 0
            except BaseException as e:  # pylint: disable=broad-except
                print(f"# {key}: {e!r}", flush=True)
            os._exit(code)
        self.pids[key] = pid

    def start_all(self):
        for place in PLACES:
            for number in range(PAIRS):
                for end in "server", "client":
                    if (place, number, end) not in self.pids:
                        self.start((place, number, end))

    def kill(self, is_meant=lambda key: True):
        for key in [k for k in self.pids if is_meant(k)]:
            pid = self.pids.pop(key)
            os.kill(pid, signal.SIGKILL)
            self.killed[f"{key[0].name}{key[1]}"] += 1
            os.waitpid(pid, 0)

    def stop(self):
        for pid in self.pids.values():
            os.kill(pid, signal.SIGTERM)
        for key, pid in self.pids.items():
            end = time.monotonic() + 2 * HANGS
            while os.waitpid(pid, os.WNOHANG)[0] != pid:
                assert time.monotonic() < end, f"{key} does not end"
                time.sleep(0.01)
        self.pids = {}


def judge(killed):
    """both ends of each stream say what may be said together"""
    streams, missing = collections.defaultdict(dict), collections.Counter()
    seen = collections.Counter()
    with open(LOG, encoding="ascii") as f:
        for line in f:
            pair, end, name, how = line.split()
            streams[pair, name][end] = how
    for (pair, name), ends in streams.items():
        cli, srv = ends.get("client"), ends.get("server")
        seen[cli, srv] += 1
        # of an end that was killed the other one may see an end of file
        gone = (cli is None or srv is None) and killed[pair]
        missing[pair] += cli is None
        assert not {"wrong", "hung"} & {cli, srv}, (pair, name, cli, srv)
        assert gone or "short" not in (cli, srv), (pair, name, cli, srv)
        if cli == "equal":
            assert srv in ("equal", "late") or srv is None and killed[pair], \
                (pair, name, srv)
        elif cli:
            assert srv != "equal", (pair, name, cli)
    for pair, count in missing.items():
        assert count <= killed[pair], f"{pair}: {count} streams have one end"
    print("#", ", ".join(f"{c}/{s} {n}" for (c, s), n in sorted(
        seen.items(), key=str)), flush=True)
    return seen


# ---- what goes and comes back ----

class Host:
    def __init__(self, rng):
        self.rng, self.load = rng, Load()
        self.moved = collections.Counter()
        self.settings()
        self.make_d0()
        self.make_namespaces()
        self.load.start_all()

    @staticmethod
    def settings():
        sysctl("transports", "smcr")
        sysctl("handshake_timeout_ms", int(2000 * min(SCALE, 2)))
        # a link is made again after one that failed
        sysctl("fallback_memory_s", 0)

    @staticmethod
    def make_d0():
        run("ip link add d0 mtu 4200 type dummy")
        run("ip address add 10.95.0.1/24 dev d0")
        run("ip link set d0 up")
        run("rdma link add rxe1 type rxe netdev d0")

    @staticmethod
    def make_veth():
        run("ip -n n1 link add eth0 type veth peer name eth0 netns n2")
        for n in "12":
            run(f"ip -n n{n} address add 10.97.0.{n}/24 dev eth0")
            run(f"ip -n n{n} link set eth0 up")

    def make_namespaces(self):
        for n in "n1", "n2":
            if not os.path.exists(f"/run/netns/{n}"):
                run(f"ip netns add {n}")
                run(f"ip -n {n} link set lo up")
        self.make_veth()

    def note_counters(self):
        for name, value in read().items():
            self.moved[name] += value

    def pause(self):
        time.sleep(self.rng.uniform(0, 0.6))

    def rdma(self):
        run("rdma link delete rxe0")
        self.pause()
        run("rdma link add rxe0 type rxe netdev lo")

    def netdev(self):
        run("ip link delete d0")
        self.pause()
        self.make_d0()

    def veth(self):
        run("ip -n n1 link delete eth0")
        self.pause()
        self.make_veth()

    def namespace(self):
        self.load.kill(lambda key: getattr(key[0], key[2]) == "n2")
        run("ip netns delete n2")
        # its end of the pair goes with it, when its last socket has gone
        run("ip -n n1 link delete eth0", may_fail=True)
        self.pause()
        self.make_namespaces()

    def process(self):
        victim = self.rng.choice(sorted(self.load.pids))
        self.load.kill(lambda key: key == victim)

    def module(self):
        """refused as long as sockets are open, and done when they have gone"""
        assert run(MODULE, "unload", may_fail=True).returncode, "unloaded"
        self.note_counters()
        self.load.kill()
        await_that("the module stays", lambda: not run(
            MODULE, "unload", may_fail=True).returncode, HANGS)
        run(MODULE, "load ours")
        self.settings()

    def address(self):
        for what in "add", "delete":
            run(f"ip address {what} 10.95.0.9/24 dev d0")
            self.pause()

    def only_address(self):
        for what in "delete", "add":
            run(f"ip address {what} 10.95.0.1/24 dev d0")
            self.pause()

    def mtu(self):
        run("ip link set d0 mtu", str(self.rng.choice((1280, 1500, 4200, 9000))))

    def port(self):
        for _ in range(self.rng.randrange(1, 4)):
            for how in "down", "up":
                run(f"ip link set d0 {how}")
                time.sleep(self.rng.uniform(0, 0.2))

    def events(self):
        """all of them, and again in another order"""
        kinds = [self.rdma, self.netdev, self.veth, self.namespace,
                 self.process, self.process, self.module, self.address,
                 self.only_address, self.mtu, self.port]
        while True:
            self.rng.shuffle(kinds)
            yield from kinds

    def one(self, event):
        event()
        self.load.start_all()
        self.pause()
        return event.__name__

    def end(self):
        self.load.stop()
        self.note_counters()


def again(place, want):
    """a connection there has SMC"""
    def inside(netns):
        if netns:
            enter(netns)

    def connected():
        with smc_socket() as cli:
            try:
                cli.connect((place.address, place.port))
            except OSError:
                return False
            srv, _ = lst.accept()
            with srv:
                return row_of(cli).mode == want

    inside(place.server)
    with smc_socket() as lst:
        lst.bind(("0.0.0.0", place.port))
        lst.listen(8)
        inside(place.client)
        await_that(f"{place.name}: no SMC", connected, HANGS)


def case_removal():
    print(f"# SMC_SEED={SEED}", flush=True)
    if os.path.exists(LOG):
        os.unlink(LOG)
    host = Host(random.Random(SEED))
    done = collections.Counter(map(host.one, itertools.islice(
        host.events(), EVENTS)))
    host.end()
    print(f"# {dict(done)}, the longest command {longest[0]:.1f} s: "
          f"{longest[1]}", flush=True)
    seen = judge(host.load.killed)
    print("#", ", ".join(f"{n} {host.moved[n]}" for n in (
        "HsClientSmcr", "HsClientTcp", "LgrLost", "LinkDownRemoved",
        "LinkDownGid", "ConnAborted")), flush=True)
    assert seen["equal", "equal"] > EVENTS, seen
    assert host.moved["HsClientSmcr"] > EVENTS, "hardly any SMC-R"
    assert host.moved["LinkDownRemoved"], "no link was there"
    for place, want in zip(PLACES, (SMCR, SMCR, SMCD)):
        cases.in_child(lambda p=place, w=want: again(p, w))
    sysctl("transports", "smcd smcr")
    run("ip link delete d0")
    for n in "n1", "n2":
        run(f"ip netns delete {n}")


if __name__ == "__main__":
    sys.exit(cases.main(globals(), []))
