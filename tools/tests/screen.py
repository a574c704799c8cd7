#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""screen.py - the tools on a terminal: keys of smctop, colours of smcss

Each program runs on a pseudo-terminal of its own, from recordings.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = os.path.dirname(HERE)
LIMIT_S = 20
passed = failed = 0


def check(what, good, seen=b""):
    global passed, failed
    if good:
        passed += 1
        return
    failed += 1
    print("FAIL %s; on the screen: %r" % (what, bytes(seen)))


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, command, size=(24, 120), **env):
        self.seen = bytearray()
        self.master, slave = pty.openpty()
        self.resize(size)
        kept = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        self.process = subprocess.Popen(
            command, cwd=TOOLS, stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True, env={**kept, "TERM": "xterm", **env})
        os.close(slave)

    def read(self, until=None):
        """Read up to a text, or to the end; was it there?"""
        end = time.monotonic() + LIMIT_S
        while until is None or until not in self.seen:
            ready = select.select([self.master], [], [],
                                  max(0, end - time.monotonic()))[0]
            try:
                data = os.read(self.master, 65536) if ready else b""
            except OSError:     # the other end is closed
                data = b""
            if not data:
                return until is None
            self.seen += data
        return True

    def expect(self, what, text):
        check(what, self.read(text), self.seen)

    def key(self, key, forget=True):
        if forget:
            self.seen.clear()
        os.write(self.master, key)

    def resize(self, size):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ,
                    struct.pack("HHHH", *size, 0, 0))

    def status(self):
        try:
            return self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "hangs"

    def end(self, what, status=0):
        self.read()
        rc = self.status()
        check("%s: status %s" % (what, rc), rc == status, self.seen)
        os.close(self.master)


def pack(tmp, *names):
    """Recordings, in the order in which they are looked at."""
    out = []
    for name in names:
        out.append(os.path.join(tmp, name + ".nl"))
        subprocess.run([sys.executable, os.path.join(HERE, "pack.py"),
                        os.path.join(HERE, "data", name + ".txt"), out[-1]],
                       check=True)
    return ":".join(out)


def smctop_keys(replay):
    t = Terminal(["./smctop", "-d", "0.2"], SMC_TOOLS_REPLAY=replay)
    t.expect("title", b"3 SMC-R, 2 SMC-D, 1 TCP")
    t.expect("rates", b"14.3M")         # 3 MB in 0.2 s
    t.expect("bottom", b"by rate, every 0.2 s")
    t.key(b"p")
    t.expect("pause", b"paused")
    t.key(b"g")
    t.expect("links", b"00000100+1")
    t.expect("heading of links", b"LG-ID")
    t.key(b"\t")
    t.expect("connections", b"Local Address")
    t.key(b"a")
    t.expect("TCP", b"PEER_NO_SMC")
    t.key(b"s")
    t.expect("next order", b"sent")
    t.key(b"+")
    t.expect("delay", b"3")
    # arrows as a terminal sends them in the mode that was chosen
    t.key(b"\x1b[6~\x1b[5~\x1bOB\x1bOA-")
    t.expect("arrows end nothing", b"m2")
    t.key(b"q")
    t.end("quit")


def smctop_scrolls(replay):
    t = Terminal(["./smctop", "-d", "0.2"], SMC_TOOLS_REPLAY=replay)
    t.expect("rates", b"14.3M")
    t.key(b"p")
    t.expect("pause", b"paused")
    # as many rows as connections there are, one of which is not shown
    t.key(b"\x1bOB" * 6 + b"+")
    t.expect("all keys are read", b"m3")
    t.seen.clear()
    # what is drawn anew is all that is there
    t.resize((25, 120))
    t.process.send_signal(signal.SIGWINCH)
    t.expect("the last row stays", b"[2001:db8::2]:50000")
    t.key(b"q")
    t.end("quit")


def smctop_ends(replay, gone):
    t = Terminal(["./smctop"], SMC_TOOLS_REPLAY=replay)
    t.expect("start", b"Local Address")
    t.process.send_signal(signal.SIGTERM)
    t.end("SIGTERM")
    t = Terminal(["./smctop", "-d", "0.1"], SMC_TOOLS_REPLAY=gone)
    t.expect("start", b"Local Address")
    t.end("module goes", 1)
    check("message", b"smctop: the kernel module smc_diag" in t.seen, t.seen)
    t = Terminal(["./smctop"], SMC_TOOLS_REPLAY=replay)
    t.expect("start", b"Local Address")
    os.close(t.master)
    check("ends with its terminal", t.status() == 0)
    t = Terminal(["./smctop"], SMC_TOOLS_REPLAY=replay, TERM="nonesuch")
    t.end("strange terminal", 1)
    check("message", b"set TERM" in t.seen, t.seen)
    # smaller than what is shown
    t = Terminal(["./smctop"], size=(5, 20), SMC_TOOLS_REPLAY=replay)
    t.expect("small", b"smctop")
    t.key(b"g")
    t.key(b"q")
    t.end("small")


def colours(replay):
    def run(*options, **env):
        t = Terminal(["./smcss", *options], SMC_TOOLS_REPLAY=replay, **env)
        t.end("smcss")
        check("smcss prints", b"SMCR" in t.seen, t.seen)
        return b"\x1b[32m" in t.seen

    check("colours on a terminal", run())
    check("none with -c=never", not run("-c=never"))
    check("none with NO_COLOR", not run(NO_COLOR="1"))
    check("an empty NO_COLOR counts for nothing", run(NO_COLOR=""))
    check("-c overrides NO_COLOR", run("-c", NO_COLOR="1"))
    check("none on a dumb terminal", not run(TERM="dumb"))


def smctop_colours(replay):
    for option, colour in ("-c=auto", True), ("-c=never", False):
        t = Terminal(["./smctop", "-d", "0.2", option],
                     SMC_TOOLS_REPLAY=replay)
        t.expect("rates", b"14.3M")
        t.key(b"q", forget=False)
        t.end("smctop " + option)
        check("smctop " + option, (b"\x1b[32m" in t.seen) == colour, t.seen)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        looks = pack(tmp, "top1", "top2")
        smctop_keys(looks)
        smctop_scrolls(looks)
        smctop_ends(looks, pack(tmp, "top1", "top2", "chk_nodiag"))
        colours(pack(tmp, "sockets"))
        smctop_colours(looks)
    print("screen: %d passed, %d failed" % (passed, failed))
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
