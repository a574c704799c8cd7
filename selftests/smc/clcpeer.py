#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""clcpeer - a peer that speaks SMC's handshake as badly as told.

A host of its own behind a TAP device (minitcp.py), so that it can offer or
answer the SMC option on SYN and SYN-ACK and then do anything.

  clcpeer.py [options] server PORT STEP...    the kernel connects to it
  clcpeer.py [options] client PORT STEP...    it connects to the kernel
  clcpeer.py [options] fuzz-server PORT       answers with mutated Accepts
  clcpeer.py [options] fuzz-client PORT       sends mutated Proposals/Confirms
  clcpeer.py [options] serve 0                one after the other as standard
                   input says: a line "FILE<TAB>ARGUMENT<TAB>..." each, output
                   to FILE, then the exit code to standard output

The steps are for a connection on which both sides had the option; a
connection without it (the kernel came back as plain TCP) goes to the
program at once.  Steps:

  recv:TYPE        read one CLC message: proposal accept confirm decline any
  send:WHAT        proposal accept-r accept-d confirm decline[:CODE]
                   garbage, hex:BYTES, text:WORD
  send-mut:WHAT:OFF=HEX,...   the same with bytes at OFF replaced
  send-split:WHAT:OFF:SECONDS  in two pieces with a pause between
  expect:HEX       exactly these bytes come
  wait:SECONDS     rst     fin
  unlisten         from now on the port refuses connections
  silent           nothing until the other side ends the connection
  expect-end[:S]   the kernel resets or closes within S seconds (10), scaled
  app              be the program: a server echoes what it gets (after a
                   greeting with -g) until end of file; a client sends -b
                   bytes and wants them back (after the greeting with -g)

Lines on standard output, one a connection, and a summary at the end:
  clcpeer: connections=N option=N plain=N bad=N
Exit 0 when as many connections as -n ended as scripted.
"""
import argparse
import contextlib
import itertools
import os
import random
import struct
import sys
import threading
import time
import traceback

from clcmsg import UEID, accept_d, accept_r, decline, message, mutate, proposal
from limits import limit
from minitcp import MAGIC, Net, Reset, Timeout, tap

GREETING = b"220 this server speaks first\r\n"
TYPES = {"proposal": 1, "accept": 2, "confirm": 3, "decline": 4}
NAMES = {v: k for k, v in TYPES.items()}


class Wrong(Exception):
    """The kernel did what the script did not expect."""


# ---- what happens on a connection ----

class Peer:
    def __init__(self, args, net):
        self.args = args
        self.rng = random.Random(args.seed)
        self.net = net
        args.mac = self.net.MAC
        args.ip = self.net.ip
        self.lock = threading.Lock()
        self.ended = threading.Semaphore(0)
        self.counts = {"connections": 0, "option": 0, "plain": 0, "bad": 0}

    def log(self, text):
        with self.lock:
            print("clcpeer: " + text, flush=True)

    def recv_message(self, c, want):
        head = c.recv(8, limit(10))
        if len(head) < 8:
            raise Wrong(f"end of file after {head.hex()}, not {want}")
        if head[:3] != MAGIC[:3]:
            raise Wrong(f"{head.hex()} is no CLC message")
        length = struct.unpack(">H", head[5:7])[0]
        msg = head + c.recv(length - 8, limit(10))
        name = NAMES.get(head[4], str(head[4]))
        if want not in ("any", name):
            raise Wrong(f"got {name} {msg.hex()}, not {want}")
        self.log(f"received {name}, {length} bytes" +
                 (f", diagnosis 0x{msg[16:20].hex()}"
                  if name == "decline" else ""))
        return msg

    def step(self, c, step):
        name, _, rest = step.partition(":")
        if name == "recv":
            self.recv_message(c, rest)
        elif name == "send":
            c.send(message(rest, self.args, self.rng))
        elif name == "send-mut":
            what, _, changes = rest.rpartition(":")
            m = bytearray(message(what, self.args, self.rng))
            for change in changes.split(","):
                off, value = change.split("=")
                value = bytes.fromhex(value)
                m[int(off):int(off) + len(value)] = value
            c.send(bytes(m))
        elif name == "send-split":
            what, off, seconds = rest.rsplit(":", 2)
            m = message(what, self.args, self.rng)
            c.send(m[:int(off)])
            time.sleep(float(seconds))
            c.send(m[int(off):])
        elif name == "expect":
            want = bytes.fromhex(rest)
            got = c.recv(len(want))
            if got != want:
                raise Wrong(f"got {got.hex()}, not {rest}")
        elif name == "wait":
            time.sleep(float(rest))
        elif name == "rst":
            c.rst()
        elif name == "fin":
            c.fin()
        elif name == "unlisten":
            self.net.listening.pop(self.args.port, None)
        elif name == "silent":
            self.until_end(c, 60)
        elif name == "expect-end":
            self.until_end(c, float(rest or 10))
        elif name == "app":
            self.app(c)
        else:
            raise SystemExit(f"unknown step {step}")

    def until_end(self, c, seconds):
        try:
            c.wait_eof(limit(seconds))
            c.fin()
        except Reset:
            pass

    def app(self, c):
        if self.args.command == "server":
            self.app_server(c)
        else:
            self.app_client(c)

    def app_server(self, c, first=b""):
        if self.args.greet:
            c.send(GREETING)
        total = len(first)
        if first:
            c.send(first)
        while True:
            data = c.recv_some(limit(60))
            if not data:
                break
            total += len(data)
            c.send(data)
        c.wait_sent()
        c.fin()
        self.log(f"program: echoed {total} bytes")

    def app_client(self, c):
        n = self.args.bytes
        data = (MAGIC + bytes((i * 167) & 255 for i in range(n)))[:n]
        t = time.monotonic()
        if self.args.greet:
            got = c.recv(len(GREETING), limit(30))
            if got != GREETING:
                raise Wrong(f"greeting was {got.hex()}")
        c.send(data)
        got = c.recv(n, limit(30))
        if got != data:
            raise Wrong(f"program: {len(got)} bytes, differ: {got[:64].hex()}")
        c.fin()
        rest = c.wait_eof(limit(20))
        if rest:
            raise Wrong(f"program: {len(rest)} bytes too many")
        ms = (time.monotonic() - t) * 1000
        self.log(f"program: {n} bytes right after {ms:.0f} ms")

    def run(self, c, steps):
        kind = "option" if c.option else "plain"
        try:
            for step in steps if c.option else ["app"]:
                self.step(c, step)
            result = "ok"
        except Wrong as e:
            result = str(e)
        except Timeout:
            result = f"nothing came in step {step}"
        except Reset:
            result = f"reset in step {step}"
        with self.lock:
            self.counts["connections"] += 1
            self.counts[kind] += 1
            self.counts["bad"] += result != "ok"
        self.log(f"connection with {kind}: {result} "
                 f"({(time.monotonic() - c.start) * 1000:.0f} ms)")
        self.ended.release()

    # ---- commands ----

    def server(self):
        self.net.listen(self.args.port, not self.args.no_option,
                        lambda c: self.run(c, self.args.step))
        self.log("listening")
        if self.args.ready:
            open(self.args.ready, "w").close()
        try:
            for _ in range(self.args.number):
                if not self.ended.acquire(timeout=self.args.limit):
                    self.log(f"only {self.counts['connections']} connections "
                             f"in {self.args.limit} s")
                    return 1
        finally:
            self.net.listening.pop(self.args.port, None)
        return self.summary()

    def client(self):
        for _ in range(self.args.number):
            try:
                c = self.net.connect(self.args.port, not self.args.no_option)
            except (Reset, Timeout) as e:
                self.log(f"connect failed: {type(e).__name__}")
                return 1
            self.run(c, self.args.step)
        return self.summary()

    def summary(self):
        self.log(" ".join(f"{k}={v}" for k, v in self.counts.items()))
        return 1 if self.counts["bad"] else 0

    def rng_of(self, number):
        """For one connection of several at a time: what it sends does not
        depend on the others."""
        return random.Random(self.args.seed << 32 | number)

    def fuzz_server(self):
        """Every connection with the option gets a mutated Accept (or
        something worse); without it, the program.  The program too where
        the kernel answers with Decline or the message was one after all:
        the connection is TCP then, as with any server."""
        numbers = itertools.count()

        def answer(c):
            rng = self.rng_of(next(numbers))
            self.recv_message(c, "proposal")
            base = rng.choice((accept_r(self.args),
                               accept_d(self.args), decline()))
            msg = mutate(base, rng)
            self.log(f"sending {msg.hex()}")
            c.send(msg)
            # end of file only where the message cannot be complete
            if len(msg) < max(8, struct.unpack(">H", msg[5:7].rjust(2))[0]) \
                    and rng.random() < .5:
                c.fin()
                return self.until_end(c, 20)
            first = c.recv(8, limit(20))
            if first[:5] == MAGIC + b"\3":           # a Confirm
                c.recv(struct.unpack(">H", first[5:7])[0] - 8)
                first = c.recv(8, limit(20))
            if len(first) < 8:
                return c.fin()
            if first[:7] in (MAGIC + b"\4\0\x1c", MAGIC + b"\4\0\x2c"):
                c.recv(first[6] - 8)
                first = b""
            self.app_server(c, first)

        def each(c):
            if c.option:
                try:
                    answer(c)
                except (Wrong, Timeout, Reset):
                    pass
                with self.lock:
                    self.counts["connections"] += 1
                    self.counts["option"] += 1
            else:
                self.run(c, ["app"])

        self.args.command = "server"
        self.net.listen(self.args.port, True, each)
        self.log("listening")
        if self.args.ready:
            open(self.args.ready, "w").close()
        ended, since = 0, time.monotonic()
        while not os.path.exists(self.args.stop):
            time.sleep(.1)
            if self.counts["connections"] != ended:
                ended, since = self.counts["connections"], time.monotonic()
            if time.monotonic() - since > self.args.limit:
                self.log(f"only {ended} connections")
                return 1
        self.net.listening.pop(self.args.port, None)
        return self.summary()

    def fuzz_client(self):
        """Mutated Proposals and Confirms; every tenth connection is honest
        plain TCP and must work."""
        from concurrent.futures import ThreadPoolExecutor
        self.args.command = "client"
        outcomes = {}

        def one(i):
            if i % 10 == 9:
                c = self.net.connect(self.args.port, False, limit(10))
                self.run(c, ["app"])
                return
            c = self.net.connect(self.args.port, True, limit(10))
            what = self.fuzz_one(c, self.rng_of(i)) if c.option else \
                "no option"
            with self.lock:
                outcomes[what] = outcomes.get(what, 0) + 1
                self.counts["connections"] += 1
                self.counts["option"] += c.option

        with ThreadPoolExecutor(self.args.jobs) as pool:
            # what one of them raises is raised here
            list(pool.map(one, range(self.args.number)))
        self.log("outcomes: " + ", ".join(
            f"{k} {v}" for k, v in sorted(outcomes.items())))
        if outcomes.get("hung") or outcomes.get("no option"):
            self.counts["bad"] += 1
        return self.summary()

    def fuzz_one(self, c, rng):
        """What came of it, in a word.  "hung" is the one that must not be:
        we close our side after the answer, so the kernel has no reason to
        keep the connection longer than its deadlines."""
        try:
            if rng.random() < .6:
                c.send(mutate(proposal(self.args), rng))
            else:
                c.send(proposal(self.args))
                if self.recv_message(c, "any")[4] == 2:
                    c.send(mutate(accept_r(self.args, 3), rng))
            c.fin()
            got = c.wait_eof(limit(20))
            c.rst()
            # shorter: the program's echo of a message that was cut
            if got[:3] == MAGIC[:3] and len(got) >= 8:
                return NAMES.get(got[4], "odd")
            return "closed" if not got else "data"
        except Reset:
            return "reset"
        except Wrong:
            return "data"
        except Timeout:
            c.rst()
            return "hung"


def parser():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    env = os.environ.get
    p.add_argument("-i", "--interface", default=env("SMC_TAP", "clc0"),
                   help="TAP device, made if it does not exist")
    p.add_argument("-a", "--address", default=env("SMC_PEER_V4", "10.99.0.2"),
                   help="its own")
    p.add_argument("-k", "--kernel", default=env("SMC_TAP_V4", "10.99.0.1"),
                   help="the kernel's address")
    p.add_argument("-n", "--number", type=int, default=1,
                   help="of connections")
    p.add_argument("-j", "--jobs", type=int, default=1,
                   help="connections at a time of fuzz-client")
    p.add_argument("-g", "--greet", action="store_true",
                   help="the server speaks first")
    p.add_argument("-b", "--bytes", type=int, default=1000)
    p.add_argument("-o", "--no-option", action="store_true",
                   help="neither offer nor answer the option")
    p.add_argument("-u", "--ueid", default=UEID, type=str.encode)
    p.add_argument("-s", "--seed", type=int, default=1)
    p.add_argument("-l", "--limit", type=float, default=limit(120),
                   help="seconds without an ended connection")
    p.add_argument("-r", "--ready", help="file made when listening")
    p.add_argument("-e", "--stop", default="",
                   help="file that ends fuzz-server")
    p.add_argument("command", choices=("server", "client", "fuzz-server",
                                       "fuzz-client", "serve"))
    p.add_argument("port", type=int)
    p.add_argument("step", nargs="*")
    return p


def play(args, net):
    return getattr(Peer(args, net), args.command.replace("-", "_"))()


def serve(parse, net):
    """Lines of standard input, see above; -i, -a and -k are what they were."""
    for line in sys.stdin:
        name, *words = line.rstrip("\n").split("\t")
        with open(name, "w") as out, contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(out):
            try:
                rc = play(parse(words), net)
            except SystemExit as e:
                rc = e.code
            except Exception:           # pylint: disable=broad-except
                traceback.print_exc()
                rc = 1
        print(rc, flush=True)
    return 0


def main():
    parse = parser().parse_args
    args = parse()
    if not os.path.exists(f"/sys/class/net/{args.interface}"):
        tap(args.interface, args.kernel)
    net = Net(args.interface, args.address, args.kernel)
    return serve(parse, net) if args.command == "serve" else play(args, net)


if __name__ == "__main__":
    sys.exit(main())
