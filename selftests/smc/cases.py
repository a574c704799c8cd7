# SPDX-License-Identifier: GPL-2.0
"""cases - run the functions case_* of a test program

TAP: the plan, then one "ok" or "not ok" line a case, with the lines a failure
went through.
"""
import os
import resource
import sys
import threading


class Skip(Exception):
    """What a case needs is not there.  A run with such a case has the exit
    code 4, which counts as failed where everything should be there."""


def in_child(fn):
    """fn in a child process; its exceptions count"""
    pid = os.fork()
    if not pid:
        try:
            fn()
            os._exit(0)
        except Skip as e:
            print(f"# {e}", flush=True)
            os._exit(4)
        except BaseException as e:      # pylint: disable=broad-except
            line = e.__traceback__
            while line.tb_next:
                line = line.tb_next
            print(f"# {e!r} (line {line.tb_lineno})", flush=True)
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code == 4:
        raise Skip("see above")
    assert code == 0, f"the child ended with {code}"


class Tap:
    """numbered lines after a plan, which end() compares with what came"""
    def __init__(self, planned):
        self.planned, self.done, self.bad, self.skipped = planned, 0, 0, 0
        print(f"TAP version 13\n1..{planned}", flush=True)

    def check(self, what, is_good, why=""):
        self.done += 1
        self.bad += not is_good
        print("ok" if is_good else "not ok", self.done, what,
              why and f"# {why}", flush=True)

    def end(self):
        """the exit code"""
        if self.done != self.planned:
            print(f"# {self.done} of {self.planned} were run", flush=True)
        if self.bad or self.done != self.planned or not self.done:
            return 1
        return 4 if self.skipped else 0


def main(functions, wanted=None, before=lambda: None):
    """all of globals(), or those named on the command line, before() ahead of
    each; the exit code"""
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
    table = {n[5:]: f for n, f in functions.items() if n.startswith("case_")}
    wanted = sys.argv[1:] if wanted is None else wanted
    for name in wanted:
        if name not in table:
            print(f"Bail out! no case {name}: {' '.join(table)}")
            return 2
    tap = Tap(len(wanted or table))
    for name in wanted or table:
        try:
            before()
            table[name]()
            tap.check(name, True)
        except Skip as e:
            tap.skipped += 1
            tap.check(name, True, f"SKIP {e}")
        except Exception as e:          # pylint: disable=broad-except
            lines = []
            line = e.__traceback__
            while line:
                lines.append(str(line.tb_lineno))
                line = line.tb_next
            tap.check(name, False, f"{e!r} (lines {' '.join(lines)})")
    return tap.end()


def meanwhile(count, start, work):
    """work() while count threads each do start()() over and over, in all at
    least count times"""
    stop = threading.Event()
    errors, done = [], [0]

    def loop():
        try:
            again = start()
            while not stop.is_set():
                again()
                done[0] += 1
        except Exception as e:          # pylint: disable=broad-except
            errors.append(e)

    threads = [threading.Thread(target=loop) for _ in range(count)]
    for t in threads:
        t.start()
    try:
        work()
    finally:
        stop.set()
        for t in threads:
            t.join()
    assert not errors, errors
    assert done[0] >= count
