#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""tcpend - the end of TCP below an SMC connection means nothing to programs

FIN of TCP may overtake the last RDMA write (RFC 7609, section 4.7).  Here the
segments are forged (forge.py): the TCP connection is closed, reset or written
to below a connection that both programs go on with.  Each segment meets each
end of a connection over shared memory and over RDMA in each SITUATION, and
/proc/net/tcp says that TCP has taken it.

While nothing has ever come from the peer by SMC, a reset or bytes do count: the
peer may have given up after its last message of the handshake.

tcpend.py [smcd | smcr | CASE...]: all cases, those of one kind, or these.

Needs the module, root, an RDMA port (hostenv.py), and no SMC sockets of others.
"""
import errno
import fcntl
import os
import select
import signal
import socket
import struct
import sys
import termios
import time

import cases
from counters import Counters
from destroy import KINDS, LIMIT, mask, outcome, so_error
from forge import PSH, Tcp, Wire, await_tcp
from sockdiag import ACTIVE, dump, row_of

F_SETSIG = 10
POLL_IN, POLL_PRI = 0x41, 0x82          # the bands of SIGIO
SIOCATMARK = 0x8905
RING = 65536
IN, OUT = select.EPOLLIN, select.EPOLLOUT
NEWS = IN | select.EPOLLPRI | select.EPOLLRDHUP         # and ERR, HUP
wire = Wire()


def pattern(count, first=0):
    return bytes((first + i * 7 + (i >> 8)) & 0xff for i in range(count))


def receive(sock, count):
    """so many bytes, fewer at the end of file"""
    got = b""
    while len(got) < count:
        part = sock.recv(count - len(got))
        if not part:
            break
        got += part
    return got


class End:
    """one end of a connection, and what it is called"""
    def __init__(self, sock, mode):
        self.sock, self.mode = sock, mode
        self.local, self.peer = sock.getsockname(), sock.getpeername()
        self.names = self.local, self.peer
        # a connect() that was waited for is reported once more
        outcome(sock.connect, self.peer)

    def check(self, events=("OUT",)):
        """nothing of what has happened to TCP is seen"""
        sock = self.sock
        assert so_error(sock) == 0
        assert mask(sock, 0) == list(events), mask(sock, 0)
        assert (sock.getsockname(), sock.getpeername()) == self.names
        row = row_of(sock)
        assert (row.mode, row.state) == (self.mode, ACTIVE), vars(row)
        # with a time limit Python would wait for bytes first
        old = sock.gettimeout()
        sock.settimeout(0)
        got = [outcome(*call) for call in (
            (sock.connect, self.peer), (sock.listen, 1),
            (sock.recv, 1, socket.MSG_OOB),
            (fcntl.ioctl, sock, SIOCATMARK, bytes(4)),
            # tcpi_state
            (sock.getsockopt, socket.IPPROTO_TCP, socket.TCP_INFO, 1))]
        assert got == ["EISCONN", "EINVAL", "EINVAL", bytes(4), b"\1"], got
        if "IN" not in events:
            assert outcome(sock.recv, 1) == "EAGAIN"
        sock.settimeout(old)


class Blocked:
    """a call in a process of its own, which sleeps in it by now"""
    def __init__(self, call, *args):
        rd, wr = os.pipe()
        ready, go = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.write(go, b"x")
            os.write(wr, repr(outcome(call, *args)).encode())
            os._exit(0)
        os.close(wr)
        os.close(go)
        os.read(ready, 1)
        os.close(ready)
        self.pipe = rd
        self.asleep()

    def back(self, seconds=0):
        return bool(select.select([self.pipe], [], [], seconds)[0])

    def asleep(self):
        """a woken process is not, unless it sleeps again"""
        end = time.monotonic() + LIMIT
        while True:
            assert not self.back(), f"came back: {os.read(self.pipe, 999)}"
            with open(f"/proc/{self.pid}/stat", encoding="ascii") as f:
                if f.read().rsplit(")", 1)[1].split()[0] == "S":
                    return
            assert time.monotonic() < end, "does not sleep"

    def result(self):
        assert self.back(LIMIT), "still blocked"
        return os.read(self.pipe, 1 << 16).decode()

    def end(self):
        os.close(self.pipe)
        if not self.back_gone():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    def back_gone(self):
        return os.waitpid(self.pid, os.WNOHANG)[0] != 0


def last_words(end):
    """the peer has finished: all of it is read, and the end"""
    assert receive(end.sock, 10) == b"last words"
    assert end.sock.recv(1) == b""
    assert mask(end.sock, select.POLLRDHUP) == ["IN", "OUT", "RDHUP"]
    assert so_error(end.sock) == 0


class Play:
    """a connection, the end that a segment is for, and the other one"""
    def __init__(self, kind, segment, is_server):
        kind.begin()
        self.segment = segment
        self.counters = Counters()
        cli, srv = (End(s, kind.mode) for s in kind.pair())
        srv.sock.sendall(b"y")
        assert cli.sock.recv(10) == b"y"
        self.me, self.other = (srv, cli) if is_server else (cli, srv)

    def hit(self):
        self.segment(self.me, self.other)

    def check(self):
        self.me.check()
        self.other.check()

    def quiet(self):
        """what one end has sent the other one has"""
        end = time.monotonic() + LIMIT
        while True:
            c = self.counters.moved()
            if c["TxCdc"] == c["RxCdc"]:
                return
            assert time.monotonic() < end, c
            time.sleep(0.001)

    def trade(self):
        """bytes, both ways, more than once round a ring"""
        for n in range(5):
            for a, b in (self.me, self.other), (self.other, self.me):
                a.sock.sendall(pattern(RING // 4, n))
                assert receive(b.sock, RING // 4) == pattern(RING // 4, n)

    def end(self, orderly=True):
        """both close, in an orderly way"""
        me, other = self.me, self.other
        if orderly:
            me.sock.sendall(b"last words")
            me.sock.shutdown(socket.SHUT_WR)
            last_words(other)
            other.sock.sendall(b"last words")
            other.sock.close()
            assert receive(me.sock, 11) == b"last words"
            assert so_error(me.sock) == 0
        me.sock.close()
        self.clean()

    def clean(self):
        """nothing was aborted, nothing was TCP, and all is gone"""
        end = time.monotonic() + LIMIT
        while self.counters.moved().get("ConnDestroyed") != 2:
            assert time.monotonic() < end, self.counters.moved()
            time.sleep(0.001)
        got = self.counters.moved()
        assert not got.get("ConnAborted"), got
        assert got["ConnCreated"] == 2, got
        assert not got.get("HsClientTcp") and not got.get("HsServerTcp"), got


# What happens to TCP.

def fin(me, _):
    wire.fin(*me.names)


def fin_both(me, other):
    wire.fin(*me.names)
    wire.fin(*other.names)


def reset(me, _):
    wire.reset(*me.names)


def reset_both(me, other):
    wire.reset(*me.names)
    wire.reset(*other.names)


def fin_reset(me, _):
    wire.fin(*me.names)
    wire.reset(*me.names)


def data(me, _):
    wire.data(*me.names)


def data_unseen(me, _):
    """the connection ends, and may do so before it is looked at"""
    wire.send(*me.names, PSH, b"forged")


def data_fin(me, _):
    wire.data(*me.names)
    wire.fin(*me.names)


def urgent(me, _):
    wire.urgent(*me.names)


SEGMENTS = (fin, fin_both, reset, reset_both, fin_reset, data, data_fin, urgent)


# What the programs do meanwhile.

def in_recv(p):
    """both wait for data"""
    waiting = []
    for end in p.me, p.other:
        end.sock.settimeout(None)
        waiting.append(Blocked(end.sock.recv, 10))
    p.hit()
    for w in waiting:
        w.asleep()
    for w, peer in zip(waiting, (p.other, p.me)):
        peer.sock.sendall(b"at last")
        assert w.result() == "b'at last'"
        w.end()
    p.check()
    p.trade()
    p.end()


def in_send(p):
    """the peer's ring is full"""
    p.me.sock.settimeout(None)
    w = Blocked(p.me.sock.sendall, pattern(5 * RING))
    p.hit()
    w.asleep()
    assert receive(p.other.sock, 5 * RING) == pattern(5 * RING)
    assert w.result() == "None"
    w.end()
    p.check()
    p.trade()
    p.end()


def in_poll(p):
    """poll() sleeps, epoll has no event"""
    ends = {e.sock.fileno(): e for e in (p.me, p.other)}
    poll = select.poll()
    level, edge = select.epoll(), select.epoll()
    p.quiet()
    for fd in ends:
        poll.register(fd, NEWS)
        level.register(fd, NEWS)
        edge.register(fd, NEWS | OUT | select.EPOLLET)
    assert sorted(edge.poll(0)) == sorted((fd, OUT) for fd in ends)
    assert not edge.poll(0)
    # sends wake the pollers of the peer only
    w = Blocked(poll.poll)
    p.hit()
    w.asleep()
    assert not level.poll(0)
    assert not edge.poll(0), "an edge without a reason"
    p.check()
    w.asleep()
    p.other.sock.sendall(b"news")
    fd = p.me.sock.fileno()
    assert w.result() == repr([(fd, IN)])
    w.end()
    assert level.poll(LIMIT) == [(fd, IN)]
    assert (fd, IN | OUT) in edge.poll(LIMIT)
    assert p.me.sock.recv(10) == b"news"
    assert not level.poll(0)
    p.check()
    for e in level, edge:
        e.close()
    p.trade()
    p.end()


def signals():
    """(signal, descriptor, band) of each that waits"""
    got = []
    while True:
        info = signal.sigtimedwait(ASYNC, 0)
        if not info:
            return got
        got.append((info.si_signo, info.si_band))


ASYNC = {signal.SIGIO, signal.SIGURG, signal.SIGRTMIN + 1}


# What TCP itself signals, past the socket's callbacks: a FIN, and urgent data.
BY_TCP = {fin: [POLL_IN], fin_both: [POLL_IN, POLL_IN], fin_reset: [POLL_IN],
          data_fin: [POLL_IN], urgent: [POLL_PRI]}


def in_signal(p):
    """SIGIO and SIGURG are wanted; there is none but TCP's own"""
    signal.pthread_sigmask(signal.SIG_BLOCK, ASYNC)
    p.quiet()
    for s in p.me.sock, p.other.sock:
        fcntl.fcntl(s, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(s, F_SETSIG, signal.SIGRTMIN + 1)
        flags = fcntl.fcntl(s, fcntl.F_GETFL)
        fcntl.fcntl(s, fcntl.F_SETFL, flags | os.O_ASYNC)
    signals()
    p.hit()
    got = signals()
    # to the owner of the file that netfilter wants
    got = [band for number, band in got if number != signal.SIGURG]
    assert got == BY_TCP.get(p.segment, []), f"signals: {got}"
    p.check()
    assert not signals()
    p.other.sock.sendall(b"news")
    info = signal.sigtimedwait(ASYNC, LIMIT)
    assert info and info.si_signo == signal.SIGRTMIN + 1, info
    assert info.si_band & IN, info
    assert p.me.sock.recv(10) == b"news"
    for s in p.me.sock, p.other.sock:
        flags = fcntl.fcntl(s, fcntl.F_GETFL)
        fcntl.fcntl(s, fcntl.F_SETFL, flags & ~os.O_ASYNC)
    signals()
    p.trade()
    p.end()


def with_unread(p):
    """both have bytes that the program has not read"""
    for a, b in (p.me, p.other), (p.other, p.me):
        a.sock.sendall(pattern(RING // 2, 3))
        mask(b.sock, select.POLLIN)
    p.hit()
    for e in p.me, p.other:
        e.check(("IN", "OUT"))
    for e in p.me, p.other:
        assert receive(e.sock, RING // 2) == pattern(RING // 2, 3)
    p.check()
    p.trade()
    p.end()


def half_closed(p):
    """this end has finished, the other one goes on"""
    p.me.sock.sendall(b"last words")
    p.me.sock.shutdown(socket.SHUT_WR)
    last_words(p.other)
    # TCP's own FIN follows
    await_tcp(*p.me.names, lambda t: t.state == Tcp.FIN_WAIT2)
    await_tcp(*p.other.names, lambda t: t.state == Tcp.CLOSE_WAIT)
    p.hit()
    p.other.sock.sendall(pattern(RING // 2) + b"last words")
    assert receive(p.me.sock, RING // 2) == pattern(RING // 2)
    assert p.me.sock.getpeername() == p.me.peer
    assert p.other.sock.getpeername() == p.other.peer
    p.other.sock.shutdown(socket.SHUT_WR)
    assert receive(p.me.sock, 11) == b"last words"
    assert so_error(p.me.sock) == so_error(p.other.sock) == 0
    p.other.sock.close()
    p.end(orderly=False)


def half_closed_by_peer(p):
    """the other end has finished, this one goes on"""
    p.other.sock.sendall(b"last words")
    p.other.sock.shutdown(socket.SHUT_WR)
    last_words(p.me)
    await_tcp(*p.me.names, lambda t: t.state == Tcp.CLOSE_WAIT)
    p.hit()
    assert mask(p.me.sock, 0) == ["IN", "OUT", "RDHUP"]
    assert p.me.sock.recv(1) == b""
    p.me.sock.sendall(pattern(RING // 2) + b"last words")
    assert receive(p.other.sock, RING // 2) == pattern(RING // 2)
    p.me.sock.close()
    assert receive(p.other.sock, 11) == b"last words"
    assert so_error(p.other.sock) == 0
    p.other.sock.close()
    p.clean()


def then_close(p):
    """this end closes, the other one reads all of it"""
    p.hit()
    p.me.sock.sendall(pattern(RING // 2) + b"last words")
    p.me.sock.close()
    assert receive(p.other.sock, RING // 2) == pattern(RING // 2)
    last_words(p.other)
    p.other.sock.close()
    p.clean()


def then_peer_closes(p):
    p.hit()
    p.other.sock.sendall(pattern(RING // 2) + b"last words")
    p.other.sock.close()
    assert receive(p.me.sock, RING // 2) == pattern(RING // 2)
    last_words(p.me)
    p.me.sock.close()
    p.clean()


SITUATIONS = (in_recv, in_send, in_poll, in_signal, with_unread, half_closed,
              half_closed_by_peer, then_close, then_peer_closes)


# After TCP's own FIN an end takes nothing but a reset.
AFTER_FIN = {half_closed: (fin, reset, reset_both, fin_reset, data, data_fin,
                           urgent),
             half_closed_by_peer: (reset, reset_both)}


def case_of(kind, segment, situation):
    def case():
        for is_server in False, True:
            situation(Play(kind, segment, is_server))
    return case


# Before anything has come by way of SMC.

def first(kind):
    """ends of a connection that has carried nothing"""
    kind.begin()
    with kind.listener() as lst:
        cli = kind.client(lst)
        srv, _ = lst.accept()
    srv.settimeout(LIMIT)
    return [End(s, kind.mode) for s in (cli, srv)]


def fin_first(kind):
    """means nothing even then"""
    for which in 0, 1:
        c = Counters()
        ends = first(kind)
        me, other = ends[which], ends[not which]
        fin(me, other)
        me.check()
        other.sock.sendall(b"first")
        assert me.sock.recv(10) == b"first"
        me.check()
        other.check()
        me.sock.sendall(b"second")
        assert other.sock.recv(10) == b"second"
        me.sock.close()
        assert other.sock.recv(1) == b""
        other.sock.close()
        end = time.monotonic() + LIMIT
        while c.moved().get("ConnDestroyed") != 2:
            assert time.monotonic() < end, c.moved()
            time.sleep(0.001)
        assert not c.moved().get("ConnAborted"), c.moved()


def counts_first(segment):
    """a segment that ends the connection then"""
    def play(kind):
        for which in 0, 1:
            ends = first(kind)
            me, other = ends[which], ends[not which]
            me.sock.settimeout(None)
            w = Blocked(me.sock.recv, 10)
            segment(me, other)
            assert w.result() == "'ECONNRESET'"
            w.end()
            assert mask(me.sock) == ["IN", "OUT", "HUP", "RDHUP"]
            assert outcome(other.sock.recv, 10) == "ECONNRESET"
            for e in ends:
                e.sock.close()
    return play


def unaccepted(segment):
    """the accepted end is none yet, but has received by way of SMC"""
    def play(kind):
        kind.begin()
        c = Counters()
        with kind.listener() as lst:
            cli = End(kind.client(lst), kind.mode)
            assert mask(lst, select.POLLIN) == ["IN"]
            cli.sock.sendall(b"early")
            end = time.monotonic() + LIMIT
            while c.moved().get("RxBytes") != 5:
                assert time.monotonic() < end, c.moved()
                time.sleep(0.001)
            # otherwise TCP sends it again and is answered with a true reset
            await_tcp(*cli.names, lambda t: t.unacked == 0)
            segment(cli.peer, cli.local)
            srv, name = lst.accept()
        assert name == cli.local
        srv.settimeout(LIMIT)
        srv = End(srv, kind.mode)
        assert srv.names == (cli.peer, cli.local)
        srv.check(("IN", "OUT"))
        assert srv.sock.recv(10) == b"early"
        srv.check()
        srv.sock.sendall(b"late")
        assert cli.sock.recv(10) == b"late"
        cli.sock.close()
        assert srv.sock.recv(1) == b""
        srv.sock.close()
        assert not c.moved().get("ConnAborted"), c.moved()
    return play


SPECIAL = {
    "fin_first": fin_first,
    "reset_first": counts_first(reset),
    "data_first": counts_first(data_unseen),
    "fin_unaccepted": unaccepted(wire.fin),
    "reset_unaccepted": unaccepted(wire.reset),
    "data_unaccepted": unaccepted(wire.data),
}


def main():
    wanted = sys.argv[1:]
    names = wanted if wanted in (["smcd"], ["smcr"]) else ["smcd", "smcr"]
    table = {}
    for kind in KINDS:
        if kind.name not in names:
            continue
        for segment in SEGMENTS:
            for situation in SITUATIONS:
                if segment not in AFTER_FIN.get(situation, SEGMENTS):
                    continue
                name = f"case_{kind.name}_{segment.__name__}_{situation.__name__}"
                table[name] = case_of(kind, segment, situation)
        for name, play in SPECIAL.items():
            table[f"case_{kind.name}_{name}"] = \
                lambda kind=kind, play=play: play(kind)
    return cases.main(table, [] if wanted == names else wanted)


if __name__ == "__main__":
    sys.exit(main())
