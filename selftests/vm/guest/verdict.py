#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""verdict.py begin TEST MODULE RDMA | end TEST [DMESG_OK [LEAKS]]

begin, before a test, in each guest: the module and the RDMA port the test
asks for, and the numbers "end" compares with.

end (also by verdict.sh), after every test: whatever the test found, nothing
may be left of it.  Prints a line for each complaint, exit code 1 if there is
any.  In order: the test's processes and its changes to the network go; then,
within LIMIT seconds, so do all sockets; /proc/net/smc_stat has every counter
of stats.h, and created equals destroyed; rmmod succeeds within RMMOD_LIMIT; the
RDMA resources are those from before; no TCP socket and no network namespace is
left; kmemleak, scanned twice, finds nothing; dmesg is clean, which has unequal
counters of a namespace that ended, the module's at rmmod; lockdep is on.
Only dmesg, lockdep and unloading count in a guest that ran the kernel's own smc.
DMESG_OK is a regular expression for lines the test means to provoke; LEAKS is
"now" or "later": the next test looks for leaks of this one, too.

In the environment: SMC_TEST_SCALE, the factor of all limits;
LAB_PATIENCE=SECONDS, nothing is waited for any longer.

Python, because starting a process is slow in an emulated debug kernel: the
agent runs this in a fork of itself ("@verdict ..." as the command), and few
programs are started.
"""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import kcsan
import netlink

# seconds, scaled
LIMIT = 30          # for sockets to go: orphans may linger 10
RMMOD_LIMIT = 5
HANGS = 60          # a program that has not ended by then does not
STATE = "/run/lab/"
HERE = "/lab/selftests/vm/guest/"   # the agent has a copy of this file
STATS = "/lab/net/smc/stats.h"
PATIENCE = float(os.environ.get("LAB_PATIENCE", "inf"))
LEAK = "/sys/kernel/debug/kmemleak"
IS_DEBUG = os.path.exists("/proc/config.gz")
# not where time counts instructions: it leaps ahead while the guest has nothing
# to do but wait for the host, for a program's file, say
with open("/proc/cmdline") as cmdline:
    IS_VIRTUAL_TIME = "lab.icount" in cmdline.read().split()

BAD = re.compile(
    r"BUG:|KASAN|KFENCE|KCSAN|UBSAN|WARNING:|Oops|RIP:|Call Trace:|"
    r"ref_tracker:|unreferenced object|blocked for more than|"
    r"possible circular|suspicious RCU|sleeping function|DMA-API|"
    r"unregister_netdevice: waiting|CQ overrun|refcount_t:|"
    r"Objects remaining|soft lockup|rcu.*stall|ODEBUG:|imbalance|"
    r"smc: unequal|locking correctness validator")

complaints = 0


def complain(text):
    global complaints
    complaints += 1
    print(f"verdict: {os.uname().nodename}: {text}", flush=True)


def read(path, default=""):
    try:
        with open(path, errors="replace") as f:
            return f.read()
    except OSError:
        return default


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def scaled(seconds):
    """A limit; all are longer for a debug kernel (scale_of in lib.sh)."""
    scale = float(os.environ.get("SMC_TEST_SCALE", "1"))
    return min(seconds * scale, PATIENCE)


def run(*cmd):
    """Exit code and output; None as code and a complaint if it hangs."""
    # not as a context, whose end would wait for it
    p = subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         stdin=subprocess.DEVNULL, text=True, errors="replace")
    try:
        out, _ = p.communicate(
            timeout=None if IS_VIRTUAL_TIME else scaled(HANGS))
    except subprocess.TimeoutExpired:
        complain(f"does not end: {' '.join(cmd)}\n"
                 + read(f"/proc/{p.pid}/stack"))
        return None, ""
    return p.returncode, out


def within(seconds, condition):
    """Poll until the condition holds; False if it does not in time."""
    end = time.monotonic() + scaled(seconds)
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def which_smc():
    """As "module.sh which" has it"""
    if not os.path.exists("/sys/module/smc/initstate"):
        return "none"
    return "upstream" if os.path.exists(STATE + "upstream") else "ours"


# what a test may leave behind, and that ends here

def processes():
    """pid -> (name, state, parent, session) of all but kernel threads"""
    out = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        text = read(path)
        if not text:
            continue
        name = text[text.index("(") + 1:text.rindex(")")]
        state, ppid, _, sid = text[text.rindex(")") + 2:].split()[:4]
        pid = int(text.split()[0])
        if pid != 2 and int(ppid) != 2:
            out[pid] = (name, state, int(ppid), int(sid))
    return out


def strays():
    """All but init, this script's session and those it comes from."""
    procs = processes()
    keep, pid = {1}, os.getpid()
    session = procs[pid][3]
    while pid in procs:
        keep.add(pid)
        pid = procs[pid][2]
    return [p for p, (_, state, _, sid) in procs.items()
            if p not in keep and sid != session and state != "Z"]


def kill_strays(sig):
    for pid in strays():
        try:
            os.kill(pid, sig)
        except ProcessLookupError:
            pass


def end_processes():
    kill_strays(signal.SIGTERM)
    if within(2, lambda: not strays()):
        return
    kill_strays(signal.SIGKILL)
    if not within(20, lambda: not strays()):
        for pid in strays():
            cmd = read(f"/proc/{pid}/cmdline").replace("\0", " ")
            complain(f"process {pid} does not die: {cmd}\n"
                     + read(f"/proc/{pid}/stack"))


def restore_network():
    for ns in glob.glob("/run/netns/*"):
        run("ip", "netns", "delete", os.path.basename(ns))
    before = read(STATE + "links-before").split()
    for dev in os.listdir("/sys/class/net"):
        if before and dev not in before:
            run("ip", "link", "delete", dev)
    # asking a kernel without it would load it; debug kernels have it built in
    if (os.path.exists("/sys/module/nf_tables") or IS_DEBUG) and \
            netlink.has_nft_tables():
        run("nft", "flush", "ruleset")
    for dev, kind in netlink.qdiscs():
        if kind in ("netem", "clsact", "ingress", "tbf", "prio"):
            run("tc", "qdisc", "delete", "dev", dev,
                kind if kind in ("clsact", "ingress") else "root")
    for dev in "lo", "eth0":
        flags = read(f"/sys/class/net/{dev}/flags")
        if flags and not int(flags, 16) & 1:
            run("ip", "link", "set", dev, "up")


# what must be gone by itself

def sockets():
    """Sockets of any SMC protocol, orphans included."""
    rows = [x.split() for x in read("/proc/net/protocols").splitlines()]
    return sum(int(r[2]) for r in rows if r and r[0].startswith("SMC"))


def counters():
    rows = [x.split() for x in read("/proc/net/smc_stat").splitlines()]
    return {r[0]: int(r[1]) for r in rows if len(r) == 2 and r[1].isdigit()}


def vanished():
    """Counters of stats.h that the module does not show"""
    part = re.split(r"#define SMC_(?:STAT|TECH)_LIST\(X\)", read(STATS))[1:]
    host, tech = (re.findall(r'X\(\w+,\s*"(\w+)"', x) for x in part)
    names = set(host + [x + n for x in ("Smcr", "Smcd") for n in tech])
    return sorted(names - set(counters()))


def unequal():
    """Pairs of /proc/net/smc_stat that must be equal once no socket is left.
    Link groups and what is theirs stay for the next connection, until rmmod,
    when the module itself compares all pairs ("smc: unequal" in dmesg)."""
    v = counters()
    out = []
    pairs = [(n, n[:-7] + "Destroyed") for n in v if n.endswith("Created")]
    for a, b in pairs + [("HsStarted", "HsEnded"),
                         ("WrPosted", "WrCompleted")]:
        if a not in v or b not in v or v[a] == v[b]:
            continue
        if not re.match("Lgr|Link|Buf", a) or v[a] < v[b]:
            out.append(f"{a} {v[a]} {b} {v[b]}")
    return ", ".join(out)


def check_counters(test):
    if vanished():
        complain("counters have vanished: " + " ".join(vanished()))
    if not within(10, lambda: not unequal()):
        complain("unequal: " + unequal())
    if os.path.exists("/proc/net/smc_stat"):
        shutil.copyfile("/proc/net/smc_stat",
                        f"/results/smc_stat.{test}.{os.uname().nodename}")


def unload():
    names = [x for x in ("smc_diag", "smc")
             if os.path.exists(f"/sys/module/{x}/initstate")]
    start = time.monotonic()
    code, out = run("rmmod", *names)
    took = time.monotonic() - start
    if code:
        complain(f"rmmod: {out.strip()} (refcount "
                 f"{read('/sys/module/smc/refcnt').strip()})")
    elif took > scaled(RMMOD_LIMIT) and not IS_VIRTUAL_TIME:
        complain(f"rmmod took {took:.1f} s")


def check_rdma():
    before = read(STATE + "rdma-before")
    if not within(10, lambda: netlink.rdma_in_use() == before):
        complain(f"rdma resources before:\n{before}"
                 f"after:\n{netlink.rdma_in_use()}")


def objects(*slabs):
    """Objects in use.  Without the shrinking those that a processor, or KASAN,
    keeps for later count, too."""
    for x in slabs:
        write(f"/sys/kernel/slab/{x}/shrink", "1")
    return sum(int(read(f"/sys/kernel/slab/{x}/objects").split()[0])
               for x in slabs)


def orphans():
    return int(re.search(r"^TCP:.* orphan (\d+)", read("/proc/net/sockstat"),
                         re.M)[1])


def sockets_with_owner():
    """counted when no orphan ends meanwhile"""
    while True:
        before = orphans()
        sockets = objects("TCP", "TCPv6")
        if orphans() == before:
            return sockets - before


def left_over():
    """TCP sockets, but for orphans, which may have to wait for their peer, and
    sockets that every network namespace has, closed ones included, as long as
    there is a reference"""
    return {"TCP sockets": sockets_with_owner(),
            "sockets of network namespaces": objects("RAWv6")}


def check_left_over():
    before = json.loads(read(STATE + "objects-before", "{}"))
    now = {}

    def gone():
        now.update(left_over())
        return all(now[x] <= n for x, n in before.items())
    # an orphan repeats its last bytes for up to 100 s, and has its namespace
    if not within(20, gone) and not (orphans() and within(110, gone)):
        complain(", ".join(f"{x}: {n} before, {now[x]} after"
                           for x, n in before.items() if now[x] > n) +
                 f"; {orphans()} orphans of TCP")


def check_leaks(since):
    """Objects without a pointer to them; all was freed by "since"."""
    if not os.path.exists(LEAK):
        return
    # The first scan notes checksums, the second reports what has not changed
    # and was older than 5 s when it began.
    write(LEAK, "scan")
    time.sleep(max(0, since + 5.2 - time.monotonic()))
    write(LEAK, "scan")
    text = read(LEAK)
    if text:
        complain("kmemleak:\n" + "\n".join(text.splitlines()[:60]))


def check_lockdep():
    """After a report, or out of room, it stops looking."""
    stats = read("/proc/lockdep_stats")
    if stats and not re.search(r"^ *debug_locks: +1$", stats, re.M):
        complain("lockdep is off")


def dmesg():
    """The kernel's log, a string a line, time in front."""
    fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    lines = []
    while True:
        try:
            record = os.read(fd, 8192).decode(errors="replace")
        except BlockingIOError:
            break
        except BrokenPipeError:     # overtaken by the ring buffer
            continue
        head, text = record.split(";", 1)
        lines.append(f"[{int(head.split(',')[2]) / 1e6:12.6f}] "
                     + text.split("\n")[0])
    os.close(fd)
    return lines


def note_races(races):
    """Of the kernel itself; not what is looked for here."""
    if races:
        print(f"# kcsan: {len(races)} data races elsewhere,",
              sum(below for _, below in races), "of them below calls of ours")
    for text, below in sorted(set(races)):
        print(f"#   {text}{', below us' * below}")


def check_dmesg(test, dmesg_ok):
    lines = dmesg()
    mark = "] lab: begin " + test
    # from the last beginning of this test; all of it if that is lost
    start = max((i for i, x in enumerate(lines) if x.endswith(mark)),
                default=0)
    lines, races = kcsan.drop_foreign(lines[start:])
    note_races(races)
    lines = [x for x in lines
             if not dmesg_ok or not re.search(dmesg_ok, x)]
    first = next((i for i, x in enumerate(lines) if BAD.search(x)), None)
    if first is not None:
        complain("dmesg:\n" + "\n".join(lines[first:first + 80]))


def end(test, dmesg_ok="", leaks="now"):
    which = which_smc()
    end_processes()
    restore_network()
    if which == "ours":
        if not within(LIMIT, lambda: sockets() == 0):
            complain(f"{sockets()} sockets left")
        check_counters(test)
        unload()
        unloaded = time.monotonic()
        check_rdma()
        check_left_over()
        if leaks == "now":
            check_leaks(unloaded)
    elif which == "upstream":
        if not within(LIMIT, lambda: not run(
                "sh", HERE + "module.sh", "unload")[0]):
            complain("the kernel's own smc does not unload")
    check_dmesg(test, dmesg_ok)
    check_lockdep()


def begin(test, module, rdma):
    for args in ("rdma", rdma), ("load", "none"):
        if args == ("load", which_smc()):
            continue
        code, out = run("sh", HERE + "module.sh", *args)
        if code:
            complain(f"module.sh {args}: {out}")
    write(STATE + "rdma-before", netlink.rdma_in_use())
    write(STATE + "links-before", " ".join(os.listdir("/sys/class/net")))
    write(STATE + "objects-before", json.dumps(left_over()))
    # what the kernel and rxe leak by themselves is not the module's
    if os.path.exists(LEAK):
        write(LEAK, "clear")
    write("/dev/kmsg", f"lab: begin {test}\n")
    if module != "none":
        code, out = run("sh", HERE + "module.sh", "load", module)
        if code:
            complain(f"loading {module}: {out}")


def main(args):
    {"begin": begin, "end": end}[args[0]](*args[1:])
    sys.stdout.flush()
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
