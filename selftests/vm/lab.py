#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""lab.py --boot DIR --lab DIR --run DIR [options] -- COMMAND...

Boots one or two guests, runs COMMAND on the host while they live, ends them
and exits with COMMAND's code.  COMMAND drives the guests with "g A CMD" and
"g B CMD" (this directory is first in its PATH); it finds LAB_RUN, the run
directory (console-A.log, results/), and LAB_GUESTS ("A" or "A B").

 --boot DIR   from boot.sh: vmlinuz, initrd, disk, emulator, saved
 --lab DIR    the built tree the guests see as /lab
 --peer DIR,DIR   boot and lab of guest B, if it has another kernel
 --run DIR    where console logs and results go
 -n 1|2       guests       --mtu N   of eth0        --mem MIB   of each
 --icount sleep=off|on   virtual time counts instructions, 1 ns each, on one
              thread of the host; idle guests leap to their next timer, or
              wait for it in the host's time
 --append S   more kernel command line
 --env "SMC_X=Y ..."    for the environment of commands in the guests
 --sysctl "X=Y ..."     kernel parameters from the beginning
 --cpus N     of each guest
 --accel A    tcg (default) or kvm
 --plugin S   "-plugin S" of the emulator; of the host's files, those in the run
              directory are in /mnt/run there
 --qemu P     program in the emulator's root

A guest boots once.  When its agent runs, and before it has seen anything of
this run, QEMU writes its state to a file in the boot directory; later guests
with the same kernel and options begin with that.  Not with a plugin or another
QEMU.

How it works: each guest's agent (guest/agent.py) is at the other end of a
virtio serial port; messages are lines of JSON (see there).  Clients connect
to the socket LAB_CTL and speak the same; a "run" goes to the agent of its
"guest" under an id of ours, and the answers find the way back by that id.
A client may itself sit in a guest and come through its agent ("up").
QEMU runs inside a root that has it (in-root.sh), whatever the host and the
guests' root are: the same version everywhere, and not older than 8.1, which
mended the emulation of code that another CPU patches.  All that it is given of the host are
descriptors and the directories it shares.  The wire between two guests is a
pair of connected datagram sockets, one descriptor for each: a sender that is
faster than its peer waits until there is room, without a spin and a loss.
When a guest dies every command in it and in the other one, which may wait for
it, ends with code 125, and new ones do so at once.
"""
import argparse
import asyncio
import base64
import ctypes
import hashlib
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from contextlib import suppress

HERE = os.path.dirname(os.path.abspath(__file__))
# seconds; ten times what an idle machine needs
BOOT_LIMIT = 240 * int(os.environ.get("LAB_SCALE") or 1)
GONE = 125
CRASHES = (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL)
SO_SNDBUFFORCE = 32
WIRE_BYTES = 4 << 20    # what one direction of the wire holds, in skb memory
QEMU = "qemu-system-x86_64"
SAVED_MAX = 32          # saved states of one kernel that are kept


def say(text):
    print("lab: " + text, file=sys.stderr, flush=True)


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    os.setpgid(0, 0)        # a ^C is for the command, not for the guests


def prune(saved):
    """Keep the newest states, and no NAME.PID of a save that was cut off.
    Another lab.py may do the same, or rename what it has saved."""
    states = []
    for x in os.scandir(saved):
        pid = x.name.partition(".")[2]
        with suppress(FileNotFoundError):
            if pid and not os.path.exists("/proc/" + pid):
                os.unlink(x)
            else:
                states.append((x.stat().st_mtime, x.path))
    for _, path in sorted(states)[:-SAVED_MAX]:
        with suppress(FileNotFoundError):
            os.unlink(path)


class Monitor:
    """QEMU's monitor, which speaks JSON (QMP)"""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    async def answer(self):
        while True:
            line = await self.reader.readline()
            if not line:
                raise ConnectionError("QEMU is gone")
            m = json.loads(line)
            if "error" in m:
                raise RuntimeError(m["error"]["desc"])
            if "return" in m:
                return m["return"]

    async def do(self, command, **arguments):
        self.writer.write(json.dumps({"execute": command,
                                      "arguments": arguments}).encode())
        return await self.answer()

    async def begin(self):
        await self.do("qmp_capabilities")
        # pages have fixed places in the file, and there is none for empty ones
        await self.do("migrate-set-capabilities", capabilities=[
            {"capability": "mapped-ram", "state": True}])

    async def moved(self):
        while True:
            status = (await self.do("query-migrate")).get("status")
            if status == "completed":
                return
            if status in ("failed", "cancelled"):
                raise RuntimeError(f"the state was not moved: {status}")
            await asyncio.sleep(0.05)


class Guest:
    def __init__(self, lab, name, boot, tree):
        self.lab, self.name = lab, name
        self.modules = os.path.exists(boot + "/modules")
        self.saved = os.path.realpath(boot) + "/saved"
        # what QEMU sees of the host; bind mounts that end with it
        binds = [(boot, "boot:ro"), (tree, "lab:ro"), (lab.args.run, "run"),
                 (self.saved, "saved")]
        self.binds = " ".join(f"{os.path.realpath(x)}:/mnt/{y}"
                              for x, y in binds)
        self.writer = None
        loop = asyncio.get_running_loop()
        self.booted, self.ready = loop.create_future(), loop.create_future()
        self.jobs = {}          # our id -> (answer function, client's id)
        self.next_id = 1
        self.qemu = None
        self.log = f"{lab.args.run}/qemu-{name}.log"
        self.crash = ""         # how QEMU ended, if it crashed at boot
        self.state = None       # the file of its saved state
        self.restored = False   # it begins with that
        self.wires = []         # a socket for each NIC

    def state_file(self):
        """Where the state is saved of guests that are like this one"""
        a = self.lab.args
        if a.plugin or a.accel != "tcg" or a.qemu != QEMU:
            return None
        recipe = repr(self.qemu_args(lambda _: "")).encode()
        return f"{self.saved}/{hashlib.sha256(recipe).hexdigest()[:12]}"

    # messages

    def send(self, msg):
        if self.writer:
            self.writer.write(json.dumps(msg).encode() + b"\n")

    async def agent(self, reader, writer):
        self.writer = writer
        async for line in reader:
            try:
                m = json.loads(line)
            except ValueError:
                continue
            if m["t"] == "booted":
                self.booted.set_result(True)
            elif m["t"] == "ready":
                self.ready.set_result(True)
            elif m.get("up"):
                self.lab.request(m, self.send, ("up", self.name))
            elif m["id"] in self.jobs:
                answer, cid = self.jobs[m["id"]]
                if m["t"] == "rc":
                    del self.jobs[m["id"]]
                answer({**m, "id": cid})

    def run(self, m, answer, owner):
        if self.writer is None or self.lab.broken:
            answer({"t": "rc", "id": m["id"], "rc": GONE})
            return
        jid, self.next_id = self.next_id, self.next_id + 1
        self.jobs[jid] = (answer, m["id"])
        self.lab.owners[(owner, m["id"])] = (self, jid)
        self.send({**m, "id": jid})

    # life

    def qemu_args(self, fd=socket.socket.fileno):
        a = self.lab.args
        n = "AB".index(self.name) + 1
        append = (f"console=ttyS0 loglevel=5 panic=-1 oops=panic nokaslr "
                  f"hung_task_panic=1 watchdog_thresh=30 mitigations=off "
                  f"rcupdate.rcu_cpu_stall_timeout=60 random.trust_cpu=on "
                  # a busy host is late with the ticks that are counted at boot
                  f"no_timer_check "
                  f"log_buf_len=4M lab.name={self.name} lab.mtu={a.mtu} "
                  + "".join(f"sysctl.{x} " for x in a.sysctl.split()))
        if a.icount == "sleep=off":
            append += "lab.icount "     # time leaps: see verdict.py
        else:
            # Debian's default, a fifth of the instructions of a boot; where
            # instructions are counted it is left as its users have it
            append += "init_on_alloc=0 "
        args = [a.qemu, "-nodefaults", "-no-user-config",
                "-display", "none", "-no-reboot", "-M", "q35",
                "-m", str(a.mem), "-kernel", "/mnt/boot/vmlinuz",
                "-initrd", "/mnt/boot/initrd", "-append", append + a.append,
                "-serial", f"file:/mnt/run/console-{self.name}.log",
                "-device", "virtio-rng-pci", "-device", "virtio-serial-pci",
                "-chardev", f"socket,id=agent,fd={fd(self.port)}",
                "-device", "virtserialport,chardev=agent,name=agent",
                "-chardev", f"socket,id=monitor,fd={fd(self.monitor_port)}",
                "-mon", "chardev=monitor,mode=control",
                "-smp", str(a.cpus)]
        if a.icount:
            args += ["-accel", "tcg,thread=single",
                     "-icount", "shift=0," + a.icount]
        else:
            args += ["-accel", "tcg,thread=multi" if a.accel == "tcg"
                     else a.accel]
        args += ["-cpu", "max,erms=off,fsrm=off,fsrs=off,fzrm=off" if a.accel == "tcg"
                 else "host"]
        if a.plugin:
            args += ["-plugin", a.plugin]
        disks = [("root", "/mnt/boot/disk"), ("lab", "/mnt/lab/.disk")]
        if self.modules:
            disks.append(("modules", "/mnt/boot/modules"))
        for disk, path in disks:
            args += ["-drive", f"if=none,id={disk},format=raw,readonly=on,"
                     f"file={path}", "-device", f"virtio-blk-pci,drive={disk}"]
        args += ["-virtfs", "local,path=/mnt/run/results,mount_tag=results,"
                 "security_model=none,multidevs=remap"]
        for i, wire in enumerate(self.wires):
            args += ["-netdev", f"dgram,id=n{i},local.type=fd,"
                     f"local.str={fd(wire)}",
                     "-device", f"virtio-net-pci,netdev=n{i},romfile=,"
                     f"mac=52:54:00:09:{i:02x}:{n:02x},host_mtu={a.mtu}"]
        return args

    async def boot(self):
        """Until the agent runs, which has not seen anything of this run"""
        monitor = Monitor(*await asyncio.open_unix_connection(
            sock=self.monitor, limit=1 << 24))
        await monitor.begin()
        at = "file:/mnt/saved/"
        if self.restored:
            await monitor.do("migrate-incoming",
                             uri=at + os.path.basename(self.state))
            await monitor.moved()
            await monitor.do("cont")
            with suppress(FileNotFoundError):
                os.utime(self.state)
        else:
            if not await self.booted:
                raise ConnectionError("QEMU is gone")
            if self.state:
                await self.save(monitor, at)

    async def save(self, monitor, at):
        mine = f"{self.state}.{os.getpid()}"
        await monitor.do("stop")
        await monitor.do("migrate", uri=at + os.path.basename(mine))
        await monitor.moved()
        await monitor.do("cont")
        with suppress(FileNotFoundError):
            os.rename(mine, self.state)
        prune(self.saved)

    async def up(self):
        try:
            await self.boot()
        except ConnectionError:
            # it is ending: how decides whether it is booted again
            await asyncio.shield(self.watcher)
            raise
        self.send({"t": "begin", "env": self.lab.env, "time": time.time(),
                   "random": base64.b64encode(os.urandom(64)).decode()})
        if not await self.ready:
            raise ConnectionError("QEMU is gone")

    async def start(self):
        host, self.port = socket.socketpair()
        self.monitor, self.monitor_port = socket.socketpair()
        reader, writer = await asyncio.open_unix_connection(
            sock=host, limit=1 << 24)
        self.talk = asyncio.create_task(self.agent(reader, writer))
        fds = [self.port, self.monitor_port, *self.wires]
        self.state = self.state_file()
        self.restored = self.state and os.path.exists(self.state)
        incoming = ["-incoming", "defer"] if self.restored else []
        with open(self.log, "w") as log:
            self.qemu = await asyncio.create_subprocess_exec(
                "unshare", "--mount", "--pid", "--fork", "--kill-child",
                "sh", HERE + "/in-root.sh", *self.qemu_args(), *incoming,
                stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "ROOT": self.lab.emulator,
                     "BINDS": self.binds},
                pass_fds=[x.fileno() for x in fds],
                preexec_fn=die_with_parent)
        for x in fds:
            x.close()
        self.watcher = asyncio.create_task(self.watch())

    async def watch(self):
        rc = await self.qemu.wait()
        if not self.lab.ending:
            say(f"guest {self.name} is gone (qemu exit code {rc}), "
                f"see {self.lab.args.run}/console-{self.name}.log")
        if not self.ready.done():
            if -rc in CRASHES:
                with open(self.log, errors="replace") as f:
                    self.crash = f"signal {-rc} {f.read().strip()}"
            self.ready.set_result(False)
        if not self.booted.done():
            self.booted.set_result(False)
        self.lab.broken = True
        for guest in self.lab.guests.values():
            guest.end_jobs()

    def end_jobs(self):
        for answer, cid in self.jobs.values():
            answer({"t": "rc", "id": cid, "rc": GONE})
        self.jobs.clear()


class Lab:
    def __init__(self, args):
        self.args = args
        self.ending = False
        self.broken = False     # a guest has died
        self.guests = {}
        self.owners = {}        # (client, its id) -> (guest, our id)
        self.sockets = tempfile.mkdtemp(prefix="smclab-")
        self.emulator = os.path.realpath(args.boot + "/emulator")
        # the agents have it from us: a guest may be older than this run
        self.env = {k: v.replace(",", " ") for k, _, v in
                    (x.partition("=") for x in args.env.split())}

    def lay_wires(self):
        for _ in range(self.args.nics):
            ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            for end in ends:
                end.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, WIRE_BYTES)
            # the end of a guest that is not there closes, and swallows all
            for guest, end in zip(self.guests.values(), ends):
                guest.wires.append(end)

    def request(self, m, answer, owner):
        """One message of a client: a new command or something for one."""
        if m["t"] == "run":
            m = {k: v for k, v in m.items() if k != "up"}
            guest = self.guests.get(m.pop("guest", ""))
            if guest is None:
                answer({"t": "rc", "id": m["id"], "rc": GONE})
                return
            guest.run(m, answer, owner)
            return
        guest, jid = self.owners.get((owner, m["id"]), (None, 0))
        if guest:
            guest.send({"t": m["t"], "id": jid, "d": m.get("d")})

    async def client(self, reader, writer):
        ids = set()

        def answer(m):
            if m["t"] == "rc":
                ids.discard(m["id"])
            if not writer.is_closing():
                writer.write(json.dumps(m).encode() + b"\n")

        try:
            async for line in reader:
                m = json.loads(line)
                ids.add(m["id"])
                self.request(m, answer, writer)
        except ConnectionError:
            pass
        for cid in list(ids):
            self.request({"t": "kill", "id": cid}, answer, writer)
        writer.close()

    async def boot(self):
        """Boot the guests, a second time if the emulator itself crashes or a
        saved state cannot be used.

        Nothing that is tested runs in a guest before its agent answers.  QEMU
        10.0 rarely fails an assertion of its own there (iotlb_to_section(), one
        boot of some thousand).  The file "again" in the run directory gets a
        line for each; run.sh counts them.
        """
        if await self.boot_once():
            return True
        await self.end_guests()
        again = False
        for g in self.guests.values():
            why = g.crash or (g.restored and "a saved state is of no use")
            if not why:
                continue
            again = True
            say(f"booting again, guest {g.name}: {why}")
            with open(self.args.run + "/again", "a") as f:
                print(g.name, why, file=f)
            if g.restored:
                with suppress(FileNotFoundError):
                    os.unlink(g.state)
        if not again:
            return False
        self.guests.clear()
        self.broken = self.ending = False
        return await self.boot_once()

    async def boot_once(self):
        start = time.monotonic()
        a = self.args
        trees = [(a.boot, a.lab), a.peer or (a.boot, a.lab)]
        for name, (boot, tree) in zip("AB"[:a.n], trees):
            self.guests[name] = Guest(self, name, boot, tree)
        self.lay_wires()
        await asyncio.gather(*(g.start() for g in self.guests.values()))
        try:
            await asyncio.wait_for(
                asyncio.gather(*(g.up() for g in self.guests.values())),
                BOOT_LIMIT)
        except (asyncio.TimeoutError, OSError, RuntimeError) as e:
            say(f"boot failed: {e!r}, see {self.args.run}/console-*.log")
            return False
        say(f"{' and '.join(self.guests)} up in "
            f"{time.monotonic() - start:.1f} s")
        return True

    async def end_guests(self):
        self.ending = True
        for g in self.guests.values():
            if g.qemu and g.qemu.returncode is None:
                g.qemu.kill()
            if g.qemu:
                await g.watcher

    async def main(self):
        await asyncio.start_unix_server(self.client, self.sockets + "/ctl",
                                        limit=1 << 24)
        stop = asyncio.Event()
        # a script that was killed leaves no laboratory behind
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
        for s in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(s, stop.set)
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT,
                                                      lambda: None)
        try:
            if not await self.boot():
                return GONE
            env = {**os.environ, "LAB_CTL": self.sockets + "/ctl",
                   "LAB_RUN": self.args.run,
                   "LAB_GUESTS": " ".join(self.guests),
                   "LAB_PYTHON": sys.executable,
                   "PATH": HERE + ":" + os.environ["PATH"]}
            cmd = await asyncio.create_subprocess_exec(
                *self.args.command, env=env)
            done = asyncio.create_task(cmd.wait())
            await asyncio.wait([done, asyncio.create_task(stop.wait())],
                               return_when=asyncio.FIRST_COMPLETED)
            if not done.done():
                cmd.terminate()
                await done
            return cmd.returncode
        finally:
            await self.end_guests()
            shutil.rmtree(self.sockets, ignore_errors=True)


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--boot", required=True)
    p.add_argument("--lab", required=True)
    p.add_argument("--peer", type=lambda s: s.split(","))
    p.add_argument("--run", required=True)
    p.add_argument("-n", type=int, default=1, choices=(1, 2))
    p.add_argument("--mtu", type=int, default=1500)
    p.add_argument("--nics", type=int, default=1)
    p.add_argument("--mem", type=int, default=1024)
    p.add_argument("--cpus", type=int, default=2)
    p.add_argument("--icount", default="",
                   choices=("", "sleep=on", "sleep=off"))
    p.add_argument("--append", default="")
    p.add_argument("--env", default="")
    p.add_argument("--sysctl", default="")
    p.add_argument("--accel", default="tcg")
    p.add_argument("--plugin")
    p.add_argument("--qemu", default=QEMU)
    p.add_argument("command", nargs="+")
    return p.parse_args()


args = parse()
os.makedirs(args.run + "/results", exist_ok=True)
rc = asyncio.run(Lab(args).main())
sys.exit(rc if rc >= 0 else 128 - rc)
