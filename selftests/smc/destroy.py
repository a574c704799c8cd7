#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""destroy - SOCK_DESTROY: programs see what they see of TCP sockets

Each scenario_* is played with TCP sockets and with ours over SMC-D, SMC-R and
in fallback; what was observed has to be equal.  case_* have what TCP has not.
Needs the module, root, an RDMA port (hostenv.py), and no SMC sockets of
others.  "destroy.py -p" only prints what TCP does.
"""
import errno
import os
import select
import socket
import subprocess
import sys
import threading
import time

import cases
import hostenv
from clcmsg import decline
from counters import Counters, limits as settings
from limits import await_that, limit
from minitcp import Net, tap
from namespaces import unshare
from sockdiag import PROTO_SMC, SMCD, SMCR, TCP, destroy, dump, row_of, sock_id

SO_COOKIE, SO_PEEK_OFF = 57, 42
LIMIT = limit(60)
POLL = select.POLLIN | select.POLLOUT | select.POLLRDHUP


class Kind:
    """what a scenario is played with"""
    def __init__(self, name, proto, transports, mode, host):
        self.name, self.proto, self.mode = name, proto, mode
        self.transports, self.host = transports, host

    def begin(self):
        if self.mode is None:
            return
        with open("/proc/sys/net/smc/transports", "w", encoding="ascii") as f:
            f.write(self.transports + "\n")

    def socket(self):
        s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, self.proto)
        s.settimeout(LIMIT)
        return s

    def listener(self):
        lst = self.socket()
        lst.bind((self.host, 0))
        lst.listen(8)
        return lst

    def client(self, lst):
        cli = self.socket()
        cli.connect(lst.getsockname())
        return cli

    def pair(self):
        with self.listener() as lst:
            cli = self.client(lst)
            srv, _ = lst.accept()
        srv.settimeout(LIMIT)
        cli.sendall(b"x")
        assert srv.recv(10) == b"x"
        if self.mode is not None:
            assert row_of(cli).mode == self.mode, row_of(cli).mode
        return cli, srv

    def destroy(self, s, smc=True):
        return outcome(destroy, sock_id(s.getsockname(), peer_of(s)),
                       smc and self.mode is not None)


KINDS = (Kind("tcp", 0, "", None, "127.0.0.1"),
         Kind("smcd", PROTO_SMC, "smcd", SMCD, "127.0.0.1"),
         Kind("smcr", PROTO_SMC, "smcr", SMCR, hostenv.LOCAL_V4),
         Kind("fallback", PROTO_SMC, "", TCP, "127.0.0.1"))


class Sink:
    """a listener whose queue is full: it does not answer"""
    def __enter__(self):
        self.socks = [socket.create_server(("127.0.0.1", 0), backlog=0)]
        addr = self.socks[0].getsockname()
        while len(self.socks) < 8:
            s = socket.socket()
            s.settimeout(limit(1))
            self.socks.append(s)
            try:
                s.connect(addr)
            except TimeoutError:
                return addr
        raise AssertionError("the queue never fills")

    def __exit__(self, *_):
        for s in self.socks:
            s.close()


def outcome(fn, *args):
    """what a call returned, or the name of its error"""
    try:
        return fn(*args)
    except OSError as e:
        return errno.errorcode.get(e.errno, repr(e))


def peer_of(s):
    try:
        return s.getpeername()
    except OSError:
        return None


def so_error(s):
    no = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    return errno.errorcode.get(no, no)


def mask(s, until=select.POLLHUP):
    """events, once all of @until are among them"""
    p = select.poll()
    p.register(s, POLL)
    end = time.monotonic() + LIMIT
    while True:
        got = dict(p.poll(int(LIMIT * 1000))).get(s.fileno(), 0)
        if got & until == until:
            return [n for n in ("IN", "OUT", "PRI", "ERR", "HUP", "RDHUP")
                    if got & getattr(select, "POLL" + n)]
        assert time.monotonic() < end, f"events {got:#x}, wanted {until:#x}"
        time.sleep(0.01)


def blocked(fn, *args):
    """fn in a thread, which sleeps by now; a function for its outcome"""
    got = []
    ready = threading.Event()

    def run():
        tid.append(threading.get_native_id())
        ready.set()
        got.append(outcome(fn, *args))

    tid = []
    t = threading.Thread(target=run, daemon=True)
    t.start()
    ready.wait()
    end = time.monotonic() + LIMIT
    # asleep, and not on its way there
    calls = 0
    while calls < 5 and time.monotonic() < end and not got:
        with open(f"/proc/self/task/{tid[0]}/stat", encoding="ascii") as f:
            asleep = f.read().rsplit(")", 1)[1].split()[0] == "S"
        calls = calls + 1 if asleep else 0
        time.sleep(0.01)
    assert got or calls == 5, "neither asleep nor back"

    def result():
        t.join(LIMIT)
        assert got, "still blocked"
        return got[0]
    return result


def after(s, *calls):
    """events, then the outcome of each call"""
    seen = [mask(s)]
    for call in calls:
        if call == "recv":
            seen.append(outcome(s.recv, 100))
        elif call == "send":
            seen.append(outcome(s.send, b"y"))
        elif call == "error":
            seen.append(so_error(s))
        elif call == "peer":
            seen.append(outcome(s.getpeername))
    return seen + [mask(s)]


def scenario_recv(k):
    cli, srv = k.pair()
    return [k.destroy(cli), after(cli, "recv", "recv", "send", "peer"),
            after(srv, "recv", "recv", "send", "peer")]


def scenario_send(k):
    cli, srv = k.pair()
    return [k.destroy(srv), after(srv, "send", "send", "recv"),
            after(cli, "send", "send", "recv")]


def scenario_error(k):
    cli, srv = k.pair()
    done = k.destroy(cli)
    # the end of the TCP connection below brings the error a second time
    await_that("TCP's end", lambda: not established(srv.getsockname()[1]),
               LIMIT)
    return [done, after(cli, "error", "error", "recv", "send"),
            after(srv, "error", "error", "recv", "send")]


def scenario_unread(k):
    cli, srv = k.pair()
    srv.send(b"a" * 150)
    while len(cli.recv(200, socket.MSG_PEEK)) < 150:
        time.sleep(0.01)
    return [k.destroy(cli), after(cli, "recv", "recv", "recv", "recv"),
            after(srv, "recv")]


def scenario_peer_unread(k):
    cli, srv = k.pair()
    cli.send(b"a" * 150)
    while len(srv.recv(200, socket.MSG_PEEK)) < 150:
        time.sleep(0.01)
    return [k.destroy(cli), after(srv, "recv", "recv", "recv", "recv")]


def scenario_reader(k):
    cli, srv = k.pair()
    cli.settimeout(None)
    srv.settimeout(None)
    mine, other = blocked(cli.recv, 100), blocked(srv.recv, 100)
    return [k.destroy(cli), mine(), other()]


def scenario_writer(k):
    cli, srv = k.pair()
    cli.settimeout(None)
    mine = blocked(cli.sendall, bytes(64 << 20))
    return [k.destroy(cli), mine(), mask(srv)]


def scenario_shut(k):
    cli, srv = k.pair()
    cli.shutdown(socket.SHUT_WR)
    return [mask(srv, select.POLLRDHUP), k.destroy(cli),
            after(cli, "recv", "recv", "send"), after(srv, "send", "send")]


def scenario_peer_shut(k):
    cli, srv = k.pair()
    srv.shutdown(socket.SHUT_WR)
    return [mask(cli, select.POLLRDHUP), k.destroy(cli),
            after(cli, "send", "send", "recv"), after(srv, "recv", "recv")]


def scenario_over(k):
    """both directions are shut down: what ends then is no error"""
    cli, srv = k.pair()
    ident = sock_id(cli.getsockname(), cli.getpeername())
    cli.shutdown(socket.SHUT_WR)
    mask(srv, select.POLLRDHUP)
    srv.shutdown(socket.SHUT_WR)
    seen = [mask(cli), mask(srv)]
    # TCP may have nothing left to destroy
    outcome(destroy, ident, k.mode is not None)
    return seen + [after(s, "error", "recv", "recv", "send")
                   for s in (cli, srv)]


def case_unsent():
    """both directions are shut down, but the peer has not got all"""
    for k in KINDS:
        # with shared memory it has: what is written is with it at once
        if k.name == "smcd":
            continue
        k.begin()
        cli, srv = k.pair()
        srv.shutdown(socket.SHUT_WR)
        mask(cli, select.POLLRDHUP)
        cli.settimeout(None)
        # it sleeps when no buffer has room
        writer = blocked(cli.sendall, bytes(64 << 20))
        cli.shutdown(socket.SHUT_WR)
        writer()
        k.destroy(cli)
        error = so_error(cli)
        assert error == "ECONNABORTED", (k.name, error)
        cli.close()
        srv.close()


def established(port):
    """has a TCP connection of this host's IPv4 this port?"""
    with open("/proc/self/net/tcp", encoding="ascii") as f:
        return any(words[1].endswith(f":{port:04X}") and words[3] == "01"
                   for words in map(str.split, f))


def scenario_name(k):
    """each end's own name and SO_PEEK_OFF stay"""
    ends = k.pair()
    names = [s.getsockname() for s in ends]
    set_off = [outcome(s.setsockopt, socket.SOL_SOCKET, SO_PEEK_OFF, 3)
               for s in ends]
    seen = [set_off, k.destroy(ends[0]), *map(mask, ends)]
    # a TCP connection below is reset a little later
    for _, port in names:
        await_that("TCP's end", lambda p=port: not established(p), LIMIT)
    for s, name in zip(ends, names):
        seen += [s.getsockname() == name, so_error(s),
                 outcome(s.getsockopt, socket.SOL_SOCKET, SO_PEEK_OFF)]
    return seen


def scenario_twice(k):
    cli, srv = k.pair()
    ident = sock_id(cli.getsockname(), cli.getpeername())
    smc = k.mode is not None
    return [outcome(destroy, ident, smc), after(cli, "recv"), after(srv),
            outcome(destroy, ident, smc)]


def scenario_among_many(k):
    """of ends that share a port the one whose peer is named, and no other"""
    def connected():
        cli = k.client(lst)
        srv = lst.accept()[0]
        srv.settimeout(LIMIT)
        return cli, srv

    gone = 20, 30
    with k.listener() as lst:
        port = lst.getsockname()[1]
        pairs = [connected() for _ in range(50)]
        if k.mode is not None:
            modes = [r.mode for r in dump() if r.dport == port]
            assert modes == [k.mode] * len(pairs), modes
        # a client, then a server, whose port is the listener's, too
        seen = [k.destroy(pairs[n][end]) for end, n in enumerate(gone)]
        pairs.append(connected())
    seen += [after(s, "recv", "recv") for n in gone for s in pairs[n]]
    for n, ends in enumerate(pairs):
        for a, b in (ends, ends[::-1]):
            if n not in gone:
                a.sendall(b"alive")
                assert b.recv(10) == b"alive", n
    return seen


def scenario_cookie(k):
    cli, _ = k.pair()
    cookie = cli.getsockopt(socket.SOL_SOCKET, SO_COOKIE, 8)
    wrong = bytes([cookie[0] ^ 1]) + cookie[1:]
    seen = []
    for c in wrong, cookie:
        seen.append(outcome(destroy,
                            sock_id(cli.getsockname(), cli.getpeername(), c),
                            k.mode is not None))
    return seen + [after(cli, "recv")]


def scenario_listener(k):
    lst = k.listener()
    lst.settimeout(None)
    addr = lst.getsockname()
    waits = blocked(lst.accept)
    seen = [k.destroy(lst), waits(), after(lst, "error", "recv", "send"),
            outcome(lst.accept)]
    with k.socket() as cli:
        seen.append(outcome(cli.connect, addr))
    return seen + [outcome(lst.listen, 8)]


def scenario_pending(k):
    lst = k.listener()
    cli = k.client(lst)
    mask(lst, select.POLLIN)
    return [k.destroy(lst), after(cli, "recv", "recv"), outcome(lst.accept)]


def scenario_unaccepted(k):
    lst = k.listener()
    cli = k.client(lst)
    mask(lst, select.POLLIN)
    ident = sock_id(cli.getpeername(), cli.getsockname())
    seen = [outcome(destroy, ident, k.mode is not None)]
    srv, _ = lst.accept()
    srv.settimeout(LIMIT)
    return seen + [after(srv, "recv", "recv"), after(cli, "recv", "recv")]


def scenario_reset_unaccepted(k):
    """no SOCK_DESTROY: a client that is gone when it is accepted"""
    lst = k.listener()
    cli = k.client(lst)
    mask(lst, select.POLLIN)
    cli.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                   b"\1\0\0\0\0\0\0\0")
    cli.close()
    time.sleep(0.2)         # either way is right, this one is meant
    srv, _ = lst.accept()
    srv.settimeout(LIMIT)
    return [after(srv, "recv", "recv", "send")]


def scenario_connecting(k):
    seen = []
    with Sink() as addr:
        for call in "error", "recv", "send":
            s = k.socket()
            s.setblocking(False)
            seen.append(outcome(s.connect, addr))
            seen.append(outcome(destroy, sock_id(s.getsockname(), addr),
                                k.mode is not None))
            seen.append(after(s, call, "error", "recv"))
    return seen


def scenario_connect_blocks(k):
    with Sink() as addr, k.socket() as s:
        s.settimeout(None)
        s.bind(("127.0.0.1", 0))
        waits = blocked(s.connect, addr)
        return [outcome(destroy, sock_id(s.getsockname(), addr),
                        k.mode is not None), waits(), so_error(s)]


def scenario_orphan(k):
    """closed, and the peer does not read what was written: a reset, or the
    whole of it and a clean end if all was with the peer already (SMC-D)"""
    cli, srv = k.pair()
    cli.setblocking(False)
    sent, received = 0, 0
    try:
        while True:
            sent += cli.send(bytes(65536))
    except BlockingIOError:
        pass
    ident = sock_id(cli.getsockname(), cli.getpeername())
    cli.close()
    # a closed socket that is plain TCP is the TCP socket alone
    seen = [outcome(destroy, ident, k.mode in (SMCD, SMCR))]
    mask(srv)
    while True:
        got = outcome(srv.recv, 1 << 20)
        if got == b"" and received == sent:
            got = "ECONNRESET"
        if not isinstance(got, bytes) or not got:
            return seen + [got]
        received += len(got)


def kinds_compare(name, fn):
    want = None
    for k in KINDS:
        k.begin()
        got = fn(k)
        if want is None:
            want = got
        assert got == want, f"{name}, {k.name}: {got}, TCP: {want}"


def compared(name, fn):
    return lambda: kinds_compare(name, fn)


def unaccepted(dev, net, defer):
    """one that is silent after its offer, and is not accepted yet; @defer: it has
    declined, and cannot be before its first data.  @dev remains"""
    host, far = f"10.{net}.0.1", f"10.{net}.0.2"
    want = scenario_unaccepted(KINDS[0])[:2]
    try:
        tap(dev, host)
    except subprocess.CalledProcessError as e:
        raise cases.Skip("no TAP device") from e
    peer = Net(dev, far, host)
    KINDS[1].begin()
    counters = Counters()
    with settings(handshake_timeout_ms=int(limit(300))), \
            KINDS[1].socket() as lst:
        lst.bind((host, 0))
        lst.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, defer)
        lst.listen(8)
        cli = peer.connect(lst.getsockname()[1], True, LIMIT)
        if defer:
            # TCP has made no child yet
            cli.send(decline())
            await_that("not declined",
                       lambda: counters.moved().get("HsServerTcp"), LIMIT)
            assert not select.select([lst], [], [], 0)[0], "not deferred"
        else:
            mask(lst, select.POLLIN)
        ident = sock_id(lst.getsockname(), (far, cli.lport))
        got = [outcome(destroy, ident)]
        mask(lst, select.POLLIN)
        srv, _ = lst.accept()
    srv.settimeout(limit(5))
    got.append(after(srv, "recv", "recv"))
    assert got == want, f"{got}, TCP: {want}"


def case_unaccepted_late():
    """a client that is silent after its offer, and is not accepted yet"""
    unaccepted("late0", 99, 0)


def case_unaccepted_deferred():
    """a client that has declined, and TCP_DEFER_ACCEPT waits for its data"""
    unaccepted("defer0", 98, int(2 * LIMIT))


def case_unaccepted_deferred_smc():
    """a client over SMC, while TCP_DEFER_ACCEPT waits for its data"""
    k = KINDS[1]
    want = scenario_unaccepted(KINDS[0])[:2]
    k.begin()
    with k.socket() as lst:
        lst.bind((k.host, 0))
        lst.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT,
                       int(2 * LIMIT))
        lst.listen(8)
        cli = k.client(lst)
        port = cli.getsockname()[1]

        def child():
            return [r for r in dump() if r.dport == port and r.mode == k.mode]

        await_that("no child over SMC", child, LIMIT)
        assert not select.select([lst], [], [], 0)[0], "not deferred"
        got = [outcome(destroy, sock_id(cli.getpeername(),
                                        cli.getsockname()))]
        mask(lst, select.POLLIN)
        srv, _ = lst.accept()
    srv.settimeout(LIMIT)
    got.append(after(srv, "recv", "recv"))
    assert got == want, f"{got}, TCP: {want}"


def case_rights():
    """only CAP_NET_ADMIN, only in its own namespace"""
    k = KINDS[1]
    k.begin()
    cli, srv = k.pair()

    def other():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        assert k.destroy(cli) == "EPERM"

    def elsewhere():
        unshare()
        assert k.destroy(cli) == "ENOENT"

    cases.in_child(other)
    cases.in_child(elsewhere)
    cli.send(b"alive")
    assert srv.recv(10) == b"alive"


def case_nothing():
    """not connected, not listening: nothing to end"""
    with KINDS[1].socket() as s:
        assert outcome(destroy, row_of(s).id) == "ENOENT"
        s.bind(("127.0.0.1", 0))
        assert outcome(destroy, row_of(s).id) == "ENOENT"
        s.listen(1)
        assert s.getsockname()


def case_short():
    for n in 0, 44:
        assert outcome(destroy, bytes(n)) == "EINVAL"


def case_races():
    """destroyed while it connects, transfers and closes"""
    stop = threading.Event()
    killed, errors = [0], []

    def killer():
        try:
            while not stop.is_set():
                for row in dump():
                    if outcome(destroy, row.id) is None:
                        killed[0] += 1
        except Exception as e:          # pylint: disable=broad-except
            errors.append(e)

    def play(k):
        try:
            cli, srv = k.pair()
            with cli, srv:
                for _ in range(5):
                    cli.send(b"z" * 1000)
                    srv.recv(1000)
        except (OSError, AssertionError):
            pass                # killed on the way, or not found any more

    t = threading.Thread(target=killer)
    t.start()
    end = time.monotonic() + LIMIT
    try:
        for k in KINDS[1:]:
            k.begin()
            for _ in range(40):
                play(k)
        # where the one is run little beside the other it takes longer
        while killed[0] <= 20 and t.is_alive() and time.monotonic() < end:
            play(k)
    finally:
        stop.set()
        t.join()
    assert not errors, errors
    assert killed[0] > 20, killed


def main():
    table = {}
    for name, fn in list(globals().items()):
        if name.startswith("scenario_"):
            if sys.argv[1:] == ["-p"]:
                print(name[9:], *fn(KINDS[0]), sep="\n    ")
            table["case_" + name[9:]] = compared(name[9:], fn)
    if sys.argv[1:] == ["-p"]:
        return 0
    table |= {n: f for n, f in globals().items() if n[:5] == "case_"}
    return cases.main(table)


if __name__ == "__main__":
    sys.exit(main())
