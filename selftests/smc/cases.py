# SPDX-License-Identifier: GPL-2.0
"""cases - run the functions case_* of a test program

One "ok" or "not ok" line a case, with the lines a failure went through.
"""
import os
import resource
import sys
import threading


def in_child(fn):
    """fn in a child process; its exceptions count"""
    pid = os.fork()
    if not pid:
        try:
            fn()
            os._exit(0)
        except BaseException as e:      # pylint: disable=broad-except
            line = e.__traceback__
            while line.tb_next:
                line = line.tb_next
            print(f"# {e!r} (line {line.tb_lineno})", flush=True)
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


def main(functions):
    """all of globals(), or those named on the command line; the exit code"""
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
    wanted = sys.argv[1:]
    bad = 0
    for name, fn in list(functions.items()):
        if not name.startswith("case_") or wanted and name[5:] not in wanted:
            continue
        try:
            fn()
            print("ok", name[5:], flush=True)
        except Exception as e:          # pylint: disable=broad-except
            bad += 1
            lines = []
            line = e.__traceback__
            while line:
                lines.append(str(line.tb_lineno))
                line = line.tb_next
            print(f"not ok {name[5:]}: {e!r} (lines {' '.join(lines)})",
                  flush=True)
    return bad > 0


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
