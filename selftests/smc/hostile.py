# SPDX-License-Identifier: GPL-2.0
"""hostile - what the cases of hostile_rdma.py share, and linkdown.py

lab.peer is the hostile host.  lab.honest is another one with a group of its
own: after each case its data moves as before.  SMC_SEED is the seed of what is
random.  HOSTILE_LONG=1: the full numbers, for make check-long; less of all on
a kernel that checks a lot.  HOSTILE_STREAMS=N: N streams of this host (honest.py)
go on beside, over the same port, for cases that do not count every message.
"""
import glob
import os
import queue
import random
import select
import socket
import struct
import subprocess
import time

from counters import Counters, read
from limits import await_that, limit
from minitcp import Net
from roce import SEND_ONLY
from smcpeer import DELETE_RKEY, HONEST, KERNEL, PORT, TEST_LINK, Peer, cdc, \
    message, numbers

LIMIT = limit(20)
ANSWER = limit(5)               # many cases may have to wait for it
LONG = bool(os.environ.get("HOSTILE_LONG"))
SLOW = limit(1) > 1
SEED = int(os.environ.get("SMC_SEED") or 1)
RING = 32768                    # half of it is a ring of the kernel
STREAMS = int(os.environ.get("HOSTILE_STREAMS") or 0)
HOLD = "/tmp/honest"            # ends them


class Lab:
    """the hosts, and the counters since begin()"""
    def __init__(self):
        self.net = self.honest = self.peer = self.counters = None
        self.others = []
        self.rng = random.Random(SEED)
        self.streams, self.links, self.conns = None, 0, 0   # and what is theirs

    def up(self):
        print(f"# SMC_SEED={SEED}{' HOSTILE_LONG=1' if LONG else ''}",
              flush=True)
        self.net = Net("clc0", "10.99.0.2", KERNEL)
        if STREAMS:
            self.begin_streams()
        self.honest = Peer(self.net, RING, 9, PORT + 1, HONEST)

    def begin_streams(self):
        for name in HOLD, HOLD + ".there":
            if os.path.exists(name):
                os.unlink(name)
        # pylint: disable=consider-using-with
        self.streams = subprocess.Popen([
            os.path.dirname(os.path.abspath(__file__)) + "/honest.py", KERNEL,
            str(STREAMS), HOLD])
        await_that("no streams", lambda: os.path.exists(HOLD + ".there"),
                   limit(60))
        self.links, self.conns = links(), open_conns()

    def end_streams(self):
        """false: they were disturbed"""
        with open(HOLD, "w", encoding="ascii"):
            pass
        return not self.streams.wait(limit(60))

    def down(self):
        for p in self.peer, self.honest:
            if p:
                p.leave()
        return not self.streams or self.end_streams()

    def moved(self):
        return self.counters.moved()


lab = Lab()


def begin(**how):
    """a hostile peer that has been honest until now; how: as for Peer"""
    if lab.peer and (how or lab.peer.conn.bad or lab.peer.qp.error is not None):
        end_group()
    if not lab.peer:
        lab.peer = Peer(lab.net, RING, **{"answers": (DELETE_RKEY,), **how})
    lab.honest.round()
    lab.counters = Counters()
    return lab.peer


def links():
    c = read()
    return c["LinkCreated"] - c["LinkDestroyed"]


def open_conns():
    c = read()
    return c["ConnCreated"] - c["ConnDestroyed"]


def third(kind=Peer, host=3, **how):
    """one more host"""
    peer = kind(lab.net, RING, host, PORT - 1 + host, up=False, **how)
    lab.others.append(peer)
    return peer


def stranger(tokens):
    """a connection of the honest host with none of these tokens: those of each
    group begin with 1"""
    conn = lab.honest.conn
    while conn.kernel.token in tokens:
        conn = lab.honest.another()
    return conn


def part(peer):
    """its group ends, with the last word of the peer if it can be heard"""
    lab.others.remove(peer)
    peer.leave()
    left = lab.links + 1 + bool(lab.peer) + \
        sum(p.conn is not None for p in lab.others)
    await_that("the link stays", lambda: links() == left, LIMIT)
    no_leak()


def end_group():
    peer, lab.peer = lab.peer, None
    if peer:
        lab.others.append(peer)
    while lab.others:
        part(lab.others[-1])


def guarded(case):
    """the next case begins with a new group if this one fails"""
    def run():
        start = time.monotonic()
        try:
            case()
            print(f"# {time.monotonic() - start:.1f} s", flush=True)
        except BaseException:
            try:
                end_group()
            except Exception as e:      # pylint: disable=broad-except
                print(f"# and then: {e!r}", flush=True)
            raise
    return run


def said(peer, seconds=ANSWER):
    """what the kernel has said until it answers this question, which is asked
    again as long as the kernel's queue may have been full"""
    got = []
    end = time.monotonic() + seconds
    name = struct.pack(">Q", 0x736d63)
    while True:
        # the answer to the last question: none is left for who asks next
        mark = name + struct.pack(">Q", next(numbers))
        peer.qp.send(message(TEST_LINK, 0, mark))
        try:
            while True:
                data = peer.qp.messages.get(timeout=seconds / 10)
                if data[0] == TEST_LINK and data[4:20] == mark:
                    return got
                # a question may be answered after the next one was asked
                if data[0] != TEST_LINK or data[4:12] != name:
                    got.append(data)
        except queue.Empty:
            assert time.monotonic() < end, "no answer"


def gone(conn, error=ConnectionResetError):
    """the program hears that its connection has ended"""
    try:
        while conn.sock.recv(65536):
            pass
        raise AssertionError("end of file, no error")
    except error:
        pass


def plain(conn):
    """the connection is TCP's, for both programs"""
    conn.sock.settimeout(LIMIT)
    assert select.select([], [conn.sock], [], LIMIT)[1], "connect() goes on"
    err = conn.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    assert not err, os.strerror(err)
    conn.tcp.send(b"to the kernel")
    assert conn.sock.recv(100) == b"to the kernel"
    conn.sock.sendall(b"to the peer")
    assert conn.tcp.recv(11, LIMIT) == b"to the peer"


def refused(**want):
    """what happened meanwhile, and that it did no harm"""
    lab.peer.alive(ANSWER)
    c = lab.moved()
    got = {n: c.get(n, 0) for n in want}
    assert got == want, c
    assert "ConnAborted" not in c and "LgrLost" not in c, c
    lab.honest.round()


def lost(conns, **want):
    """just so many connections have been lost, and no link"""
    lab.peer.alive(ANSWER)
    c = lab.moved()
    want["ConnAborted"] = conns
    got = {n: c.get(n, 0) for n in want}
    assert got == want and "LgrLost" not in c, c
    lab.peer.round()
    lab.honest.round()


def group_lost(cause, conns=1):
    """the group of the hostile peer has ended, with its connections"""
    await_that("the link stays", lambda: lab.moved().get("LinkDestroyed"),
               LIMIT)
    c = lab.moved()
    downs = {n: v for n, v in c.items() if n.startswith("LinkDown")}
    assert downs == {cause: 1}, downs
    assert c["LgrLost"] == 1 and c["ConnAborted"] == conns, c
    lab.peer.disconnect()
    lab.peer.lst.close()
    lab.peer = None
    no_leak()
    lab.honest.round()


def no_leak():
    """just the connections that have not ended are left"""
    hosts = [p for p in (lab.honest, lab.peer, *lab.others) if p]

    await_that("connections stay", lambda: open_conns() == lab.conns +
               sum(len(p.conns) for p in hosts), LIMIT)


def workers():
    """kernel workers in a function of the module: who, and where"""
    found = set()
    for path in glob.glob("/proc/[0-9]*"):
        try:
            with open(path + "/comm", encoding="ascii") as f:
                if not f.read().startswith("kworker/"):
                    continue
            with open(path + "/stack", encoding="ascii") as f:
                stack = f.read()
        except OSError:
            continue
        if "[smc]" in stack:
            found.add((path, stack))
    return found


def waiting():
    """those that sit there at two looks"""
    found = workers()
    time.sleep(0.5)
    return found & workers()


def elsewhere():
    """connections of this host that are none of the peer's business, at once"""
    for protocol in 256, 0:
        start = time.monotonic()
        lst, cli = (socket.socket(socket.AF_INET, socket.SOCK_STREAM, p)
                    for p in (256, protocol))
        for s in lst, cli:
            s.settimeout(ANSWER)
        lst.bind(("127.0.0.1", 0))
        lst.listen(1)
        cli.connect(lst.getsockname())
        srv = lst.accept()[0]
        srv.settimeout(ANSWER)
        for a, b in (cli, srv), (srv, cli):
            a.sendall(b"hello")
            assert b.recv(5) == b"hello"
        for s in lst, cli, srv:
            s.close()
        took = time.monotonic() - start
        assert took < ANSWER, f"{took:.1f} s for a connection elsewhere"


def forge(seq, token=None, prod=0, cons=0, kind=b"\xfe\x2c"):
    """a CDC to the first connection of the peer, or to another"""
    lab.peer.qp.send(cdc(seq, token or lab.peer.token, (0, prod), (0, cons),
                         kind=kind), SEND_ONLY)
