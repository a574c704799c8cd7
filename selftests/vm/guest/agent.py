#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""agent.py - runs commands in a guest for the host, and relays for "b".

It speaks lines of JSON on the virtio port "agent" with lab.py on the host:
  {"t":"run","id":N,"cmd":S,"pty":bool}     run S with bash, in a session
  {"t":"in","id":N,"d":base64|null}         its standard input (null: end)
  {"t":"kill","id":N}                       end its whole session
"@verdict ARGUMENTS" as S is verdict.py in a fork, without a new program.
and answers {"t":"out","id":N,"d":base64} and {"t":"rc","id":N,"rc":N}.
Before that it says {"t":"booted"}, waits for {"t":"begin"}, which may come to a
copy of this guest in another QEMU (lab.py), and says {"t":"ready"}.

Programs in the guest reach the other guest through /run/lab/ctl (the command
"b"): what comes in there with "guest" set goes to the host as it is, the ids
made unique, and the answers come back the same way.
"""
import base64
import ctypes
import glob
import json
import os
import pty
import selectors
import signal
import shlex
import socket
import struct
import subprocess
import sys
import fcntl
import termios
import time
import traceback

import verdict

CTL = "/run/lab/ctl"
P9 = "trans=virtio,version=9p2000.L,msize=262144"
MS_RDONLY = 1
BLKFLSBUF = 0x1261          # linux/fs.h
RNDADDENTROPY = 0x40085203  # linux/random.h
RNDRESEEDCRNG = 0x5207
LIBC = ctypes.CDLL(None, use_errno=True)
PATH = "/lab/selftests/vm/guest:/lab/tools:/usr/local/sbin:/usr/sbin:" \
       "/usr/bin:/sbin:/bin"
# what every command gets, and what comes with {"t":"begin"}
ENV = {"PATH": PATH, "HOME": "/root", "LC_ALL": "C.UTF-8", "LAB": "/lab"}


def find_port():
    for d in glob.glob("/sys/class/virtio-ports/*"):
        with open(d + "/name") as f:
            if f.read().strip() == "agent":
                return os.open("/dev/" + os.path.basename(d), os.O_RDWR)
    raise SystemExit("no agent port")


def mount(what, where, fs, flags=0, data=""):
    if LIBC.mount(*(x.encode() for x in (what, where, fs)), flags,
                  data.encode()):
        err = ctypes.get_errno()
        raise OSError(err, os.strerror(err), where)


def begin(m):
    """This guest, which may be a copy, gets what is its own"""
    ENV.update(m["env"])
    time.clock_settime(time.CLOCK_REALTIME, m["time"])
    bits = base64.b64decode(m["random"])
    with open("/dev/urandom", "wb") as f:
        fcntl.ioctl(f, RNDADDENTROPY,
                    struct.pack("ii", len(bits) * 8, len(bits)) + bits)
        fcntl.ioctl(f, RNDRESEEDCRNG)
    # the disk that is there now
    with open("/dev/vdb", "rb") as f:
        fcntl.ioctl(f, BLKFLSBUF)
    mount("/dev/vdb", "/lab", "erofs", MS_RDONLY)
    mount("results", "/results", "9p", 0, P9)


class Lines:
    """A file descriptor that gives whole lines of JSON."""

    def __init__(self, fd):
        self.fd, self.buf = fd, b""

    def read(self):
        data = os.read(self.fd, 65536)
        if not data:
            return None
        self.buf += data
        *lines, self.buf = self.buf.split(b"\n")
        return [json.loads(x) for x in lines if x]

    def write(self, msg):
        data = memoryview(json.dumps(msg).encode() + b"\n")
        while data:
            data = data[os.write(self.fd, data):]


class Fork:
    """verdict.main in a child, which looks like a Popen from outside."""

    def __init__(self, cmd, stdin, stdout):
        self.pid = os.fork()
        if self.pid:
            return
        rc = 1
        try:
            os.setsid()
            for fd, to in (stdin, 0), (stdout, 1), (stdout, 2):
                os.dup2(fd, to)
            os.closerange(3, 256)
            os.environ.update(ENV)
            sys.stdout = open(1, "w", closefd=False)
            rc = verdict.main(shlex.split(cmd)[1:])
        except BaseException:
            traceback.print_exc(file=sys.stdout)
        finally:
            sys.stdout.flush()
            os._exit(rc)

    def wait(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class Agent:
    def __init__(self):
        self.sel = selectors.DefaultSelector()
        self.host = Lines(find_port())
        self.jobs = {}          # id -> Popen, with .lab_in and .lab_out
        self.relays = {}        # id at the host -> (client, its id)
        self.next_relay = 1
        self.watch(self.host.fd, self.from_host)
        srv = socket.socket(socket.AF_UNIX)
        srv.bind(CTL)
        srv.listen(16)
        self.watch(srv.fileno(), lambda: self.accept(srv))

    def watch(self, fd, fn):
        self.sel.register(fd, selectors.EVENT_READ, fn)

    def loop(self):
        self.host.write({"t": "booted"})
        while True:
            for key, _ in self.sel.select():
                # one before it in this round may have closed the descriptor
                if self.sel.get_map().get(key.fd) is key:
                    key.data()

    # commands from the host

    def from_host(self):
        for m in self.host.read() or []:
            if m["t"] == "begin":
                begin(m)
                self.host.write({"t": "ready"})
            elif m["t"] == "run":
                self.run(m)
            elif m["t"] in ("out", "rc"):
                self.answer(m)
            elif m["id"] in self.jobs:
                job = self.jobs[m["id"]]
                if m["t"] == "kill":
                    self.kill(job, signal.SIGTERM)
                elif m["t"] == "in":
                    self.feed(job, m["d"])

    @staticmethod
    def kill(job, sig):
        try:
            os.killpg(job.pid, sig)
        except ProcessLookupError:
            pass

    @staticmethod
    def feed(job, data):
        try:
            if data is not None:
                os.write(job.lab_in, base64.b64decode(data))
            elif not job.lab_pty:
                os.close(job.lab_in)
                job.lab_in = -1     # its number is another's from now on
        except OSError:
            pass

    def run(self, m):
        env = {**ENV, "TERM": m.get("term", "dumb")}
        is_pty = bool(m.get("pty"))
        if is_pty:
            out, slave = pty.openpty()
            rows, cols = m.get("size", (24, 80))
            fcntl.ioctl(slave, termios.TIOCSWINSZ,
                        struct.pack("HHHH", rows, cols, 0, 0))
            job = subprocess.Popen(
                ["setsid", "-c", "bash", "-c", m["cmd"]], stdin=slave,
                stdout=slave, stderr=slave, env=env, cwd="/tmp",
                start_new_session=True)
            os.close(slave)
            job.lab_in = out
        else:
            out, w = os.pipe()
            r, job_in = os.pipe()
            if m["cmd"].startswith("@verdict "):
                job = Fork(m["cmd"], r, w)
            else:
                job = subprocess.Popen(
                    ["bash", "-c", m["cmd"]], stdin=r, stdout=w, stderr=w,
                    env=env, cwd="/tmp", start_new_session=True)
            os.close(w)
            os.close(r)
            job.lab_in = job_in
        job.lab_pty, job.lab_out = is_pty, out
        self.jobs[m["id"]] = job
        self.watch(out, lambda: self.output(m["id"], out))
        self.watch_exit(m["id"], job)

    def watch_exit(self, jid, job):
        pidfd = os.pidfd_open(job.pid)
        self.watch(pidfd, lambda: self.exited(jid, job, pidfd))

    def output(self, jid, fd):
        try:
            data = os.read(fd, 32768)
        except OSError:         # a pty whose other end is closed
            data = b""
        if data:
            self.host.write({"t": "out", "id": jid,
                             "d": base64.b64encode(data).decode()})
        else:
            self.sel.unregister(fd)
        return bool(data)

    def exited(self, jid, job, pidfd):
        """The command ended: its output so far, then its code.  What it
        left running keeps no one waiting."""
        self.sel.unregister(pidfd)
        os.close(pidfd)
        rc = job.wait()
        os.set_blocking(job.lab_out, False)
        try:
            while job.lab_out in self.sel.get_map() and \
                    self.output(jid, job.lab_out):
                pass
        except BlockingIOError:
            pass
        if job.lab_out in self.sel.get_map():
            self.sel.unregister(job.lab_out)
        os.close(job.lab_out)
        if not job.lab_pty:
            try:
                os.close(job.lab_in)
            except OSError:
                pass
        del self.jobs[jid]
        self.host.write({"t": "rc", "id": jid,
                         "rc": rc if rc >= 0 else 128 - rc})

    # clients in this guest that want the other one

    def accept(self, srv):
        sock, _ = srv.accept()
        client = Lines(sock.fileno())
        client.sock = sock
        self.watch(client.fd, lambda: self.from_client(client))

    def from_client(self, client):
        msgs = client.read()
        if msgs is None:
            self.sel.unregister(client.fd)
            for rid, (c, _) in list(self.relays.items()):
                if c is client:
                    self.host.write({"t": "kill", "id": rid, "up": 1})
                    del self.relays[rid]
            client.sock.close()
            return
        for m in msgs:
            if m["t"] == "run":
                rid, self.next_relay = self.next_relay, self.next_relay + 1
                self.relays[rid] = (client, m["id"])
                self.host.write({**m, "id": rid, "up": 1})
                continue
            for rid, (c, cid) in self.relays.items():
                if c is client and cid == m["id"]:
                    self.host.write({**m, "id": rid, "up": 1})

    def answer(self, m):
        client, cid = self.relays.get(m["id"], (None, 0))
        if client is None:
            return
        if m["t"] == "rc":
            del self.relays[m["id"]]
        try:
            client.write({**m, "id": cid})
        except OSError:
            pass


Agent().loop()
