#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""ctl.py [-t] GUEST COMMAND - run COMMAND with bash in GUEST (A or B).

On the host this is "g", its socket in LAB_CTL; in a guest "b", its socket
/run/lab/ctl.  Output and exit code are the command's; 125 means the guest is
gone.  When this program ends early, so does the command.  -t: on a terminal.
-i: standard input is passed on.
"""
import base64
import json
import os
import select
import signal
import socket
import sys


def main():
    args = sys.argv[1:]
    opts = ""
    while args and args[0].startswith("-"):
        opts += args.pop(0)[1:]
    guest, cmd = args[0], " ".join(args[1:])
    is_pty = "t" in opts
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(os.environ.get("LAB_CTL", "/run/lab/ctl"))

    def send(**msg):
        sock.sendall(json.dumps({"id": 1, **msg}).encode() + b"\n")

    run = {"t": "run", "guest": guest, "cmd": cmd, "pty": is_pty}
    if is_pty:
        import termios
        import tty
        size = os.get_terminal_size(0)
        run["size"] = (size.lines, size.columns)
        run["term"] = os.environ.get("TERM", "dumb")
        saved = termios.tcgetattr(0)
        tty.setraw(0)
    try:
        send(**run)
        inputs = [sock]
        if "i" in opts or is_pty:
            inputs.append(sys.stdin)
        else:
            send(t="in", d=None)
        return pump(sock, inputs, send)
    finally:
        if is_pty:
            termios.tcsetattr(0, termios.TCSADRAIN, saved)


def pump(sock, inputs, send):
    buf = b""
    while True:
        ready, _, _ = select.select(inputs, [], [])
        if sys.stdin in ready:
            data = os.read(0, 4096)
            send(t="in", d=base64.b64encode(data).decode() if data else None)
            if not data:
                inputs.remove(sys.stdin)
        if sock not in ready:
            continue
        data = sock.recv(65536)
        if not data:
            return 125
        buf += data
        *lines, buf = buf.split(b"\n")
        for line in lines:
            m = json.loads(line)
            if m["t"] == "out":
                os.write(1, base64.b64decode(m["d"]))
            elif m["t"] == "rc":
                return m["rc"]


signal.signal(signal.SIGTERM, lambda *a: sys.exit(143))
try:
    sys.exit(main())
except (KeyboardInterrupt, BrokenPipeError):
    sys.exit(130)
except (ConnectionError, FileNotFoundError):
    sys.exit(125)
