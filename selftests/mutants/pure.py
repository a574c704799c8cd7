#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""pure.py [FILE...] - do the unit tests notice?

Makes every mutant of the pure files of net/smc (those the unit tests link) that
cmutate.py knows, compiles each and runs the unit tests that link that file.  A
mutant that no test notices is printed, and has failed, unless it is in
pure.equivalent: the same program in other words.  One that is there although a
test notices it, or that does not exist any more, has failed too.

Each mutant runs without sanitizers first, which is quick and mostly enough,
then with them.  One whose optimised code is that of the original is skipped
without further words.  Runs on the host; ends with "N passed, N failed", and
", N skipped" if the time was not enough.
"""

import argparse
import collections
import concurrent.futures
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
import cmutate  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
UNIT = os.path.join(TOP, "selftests", "unit")
LIST = os.path.join(HERE, "pure.equivalent")
ENV = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP",
           ASAN_OPTIONS="symbolize=0:hard_rss_limit_mb=2048",
           UBSAN_OPTIONS="symbolize=0")
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

Job = collections.namedtuple("Job", "file mutant")


class Build:
    """The unit tests, built once by their Makefile, in one way."""

    def __init__(self, out, sanitize):
        self.out = out
        self.sanitize = sanitize
        self.tests = collections.defaultdict(list)  # object: [(test, objects)]
        self.flags = {}                             # object: its -I flags
        self.limit = {}                             # test: seconds of CPU
        make = ["make", "-s", "-C", UNIT, "O=" + out, "SAN=" + " ".join(sanitize)]
        plan = subprocess.run(make + ["-nB", "V=1", "build"], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        for line in plan.splitlines():
            if " -o " in line:
                self.plan(line.split())
        names = {os.path.basename(t)[len("unit_"):]
                 for ts in self.tests.values() for t, _ in ts}
        if not run(make + ["TESTS=" + " ".join(sorted(names)), "build"]):
            sys.exit("error: the unit tests do not build")

    def plan(self, words):
        """One command of make, which compiles or links."""
        target = words[words.index("-o") + 1]
        if target.startswith(self.out + "/net/"):
            self.flags[target] = [words[i] + words[i + 1] for i in
                                  range(len(words)) if words[i] == "-I"]
        elif target.startswith(self.out + "/unit_"):
            objects = [w for w in words if w.endswith(".o")]
            for obj in objects:
                if obj.startswith(self.out + "/net/"):
                    self.tests[obj].append((target, objects))

    def object(self, name):
        return "%s/net/%s.o" % (self.out, name)

    def baseline(self):
        """What each test takes; it has to pass."""
        for test in sorted({t for ts in self.tests.values() for t, _ in ts}):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            if not passes(test, 60):
                sys.exit("error: %s fails without a mutant" % test)
            took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            self.limit[test] = 2 + int(4 * took)

    def compile(self, name, source, obj, flags):
        """True if source, which stands for the file name, compiles."""
        where = os.path.dirname(os.path.join(TOP, "net/smc", name))
        return run(["cc", "-w", "-std=gnu11", "-iquote", where] + flags +
                   self.flags[self.object(name)] + ["-c", "-o", obj, source])


def run(argv):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, cwd=UNIT,
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def passes(test, limit):
    """Run a cmocka program for so many seconds of CPU at most, and no longer
    than until its first failure."""
    with subprocess.Popen(["sh", "-c", 'ulimit -t "$1"; exec "$0"', test,
                           str(limit)], stdin=subprocess.DEVNULL, env=ENV,
                          cwd=UNIT, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True,
                          errors="replace") as p:
        for line in p.stdout:
            if line.startswith("not ok"):
                p.kill()
                return False
        return p.wait() == 0


class Tester:
    """Makes one mutant after the other in a directory of its own per thread."""

    def __init__(self, tmp):
        self.tmp = tmp
        self.local = threading.local()
        self.builds = [Build(os.path.join(tmp, "plain"), []),
                       Build(os.path.join(tmp, "sanitize"), SANITIZE)]
        self.texts = {}
        self.original = {}
        for b in self.builds:
            b.baseline()

    def files(self):
        out = self.builds[0].object("")[:-len(".o")]
        return sorted(o[len(out):-2] for o in self.builds[0].tests)

    def text(self, name):
        if name not in self.texts:
            with open(os.path.join(TOP, "net/smc", name + ".c")) as f:
                self.texts[name] = f.read()
        return self.texts[name]

    def optimised(self, name, text):
        """The object code; the paths are the same for all of a thread."""
        d = self.local.dir
        source, obj = os.path.join(d, "mutant.c"), os.path.join(d, "fast.o")
        with open(source, "w") as f:
            f.write(text)
        if not self.builds[0].compile(name, source, obj, ["-O2"]):
            return None
        with open(obj, "rb") as f:
            return f.read()

    def noticed(self, build, name, source):
        d = self.local.dir
        obj, prog = os.path.join(d, "mutant.o"), os.path.join(d, "test")
        if not build.compile(name, source, obj, ["-O0"] + build.sanitize):
            return None
        tests = build.tests[build.object(name)]
        for test, objects in sorted(tests, key=lambda t: build.limit[t[0]]):
            objects = [obj if o == build.object(name) else o for o in objects]
            if not run(["cc"] + build.sanitize + ["-o", prog] + objects +
                       ["-lcmocka"]):
                return None
            if not passes(prog, build.limit[test]):
                return True
        return False

    def verdict(self, job):
        """"killed", "survived", "same" or "not compiled"."""
        if not hasattr(self.local, "dir"):
            self.local.dir = tempfile.mkdtemp(dir=self.tmp)
            self.local.original = {}
        name, text = job.file, self.text(job.file)
        source = os.path.join(self.local.dir, "mutant.c")
        with open(source, "w") as f:
            f.write(cmutate.apply(text, job.mutant))
        for build in self.builds:
            killed = self.noticed(build, name, source)
            if killed is None:
                return "not compiled"
            if killed:
                return "killed"
        if name not in self.local.original:
            self.local.original[name] = self.optimised(name, text)
        if self.optimised(name, cmutate.apply(text, job.mutant)) == \
                self.local.original[name]:
            return "same"
        return "survived"


def key(job):
    m = job.mutant
    return job.file, m.function, m.old_line, m.new_line


def equivalents():
    """The list: "FILE FUNCTION: REASON", "- old line", "+ new line" each."""
    found, head, old = set(), None, None
    with open(LIST) as f:
        for n, line in enumerate(f, 1):
            line = line.strip()
            if not line or line[0] == "#":
                continue
            if line[:2] == "- " and head:
                old = line[2:]
            elif line[:2] == "+ " and old:
                found.add((*head, old, line[2:]))
            elif line == "+" and old:
                found.add((*head, old, ""))
            else:
                m = re.match(r"(\S+) (\w*): \S", line)
                if not m:
                    sys.exit("error: %s:%d: %s" % (LIST, n, line))
                head, old = m.groups(), None
    return found


def show(job, what):
    m = job.mutant
    print("%s %s %s:\n\t- %s\n\t+ %s" % (what, job.file, m.function,
                                         m.old_line, m.new_line), flush=True)


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("file", nargs="*", help="as in ring or wire/clc; default: all")
    p.add_argument("--sample", type=int, metavar="N", help="only N of them")
    p.add_argument("--seed", help="in an order made from this word")
    p.add_argument("--shard", metavar="K/N", help="every Nth, from the Kth")
    p.add_argument("--budget", type=float, metavar="SECONDS",
                   help="begin none after that")
    p.add_argument("--jobs", type=int, default=2)
    return p.parse_args()


def choose(jobs, opt):
    if opt.seed is not None:
        random.Random(opt.seed).shuffle(jobs)
    if opt.shard:
        k, n = map(int, opt.shard.split("/"))
        if not 1 <= k <= n:
            sys.exit("error: shard %s" % opt.shard)
        jobs = jobs[k - 1::n]
    return jobs[:opt.sample]


def test_all(tester, jobs, listed, opt):
    """Counts of verdicts; those that failed are shown."""
    count = collections.Counter()
    end = time.monotonic() + opt.budget if opt.budget else None

    def one(job):
        return None if end and time.monotonic() > end else tester.verdict(job)

    with concurrent.futures.ThreadPoolExecutor(opt.jobs) as pool:
        for job, what in zip(jobs, pool.map(one, jobs)):
            if what == "survived" and key(job) in listed:
                what = "equivalent"
            elif what in ("killed", "not compiled") and key(job) in listed:
                show(job, "listed as equivalent, but " + what)
                what = "survived"
            elif what == "survived":
                show(job, what)
            count[what or "left"] += 1
    return count


def main():
    opt = options()
    start = time.monotonic()
    tmp = tempfile.mkdtemp()
    try:
        tester = Tester(tmp)
        files = [re.sub(r"^.*net/smc/|\.c$", "", f) for f in opt.file]
        if set(files) - set(tester.files()):
            sys.exit("error: the pure files are " + " ".join(tester.files()))
        jobs = [Job(f, m) for f in files or tester.files()
                for m in cmutate.mutants(tester.text(f))]
        listed = equivalents()
        stale = [e for e in listed - {key(j) for j in jobs}
                 if e[0] in (files or tester.files())]
        for e in stale:
            print("listed, but no mutant: %s %s:\n\t- %s\n\t+ %s" % e)
        count = test_all(tester, choose(jobs, opt), listed, opt)
    finally:
        shutil.rmtree(tmp)
    print("%d noticed, %d not; %d listed as equivalent, %d with the same code, "
          "%d do not compile; %d s" % (
              count["killed"], count["survived"], count["equivalent"],
              count["same"], count["not compiled"], time.monotonic() - start))
    failed = count["survived"] + len(stale)
    print("%d passed, %d failed%s" % (
        count["killed"], failed,
        ", %d skipped" % count["left"] if count["left"] else ""))
    return 1 if failed or not count["killed"] else 0


if __name__ == "__main__":
    sys.exit(main())
