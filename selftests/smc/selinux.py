#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""selinux.py - SELinux asks of our sockets what it asks of TCP's

Loads the policy selinux.cil and does the same as a confined program with a TCP
socket and with each kind of ours: what TCP may, ours may, and no more.  The
guest must have been started with lsm=selinux.
"""
import contextlib
import ctypes
import errno
import os
import re
import socket
import struct
import subprocess
import sys

import cases

HERE = os.path.dirname(os.path.abspath(__file__))
SELINUX = "/sys/fs/selinux"
AF_SMC, IPPROTO_SMC = 43, 256
OPEN, SHUT, OPEN_BIND, SHUT_BIND = 7801, 7802, 7803, 7804
KINDS = ("tcp", "ipproto", "afsmc")
libc = ctypes.CDLL(None, use_errno=True)
tap = cases.Tap(13)
check = tap.check


def new_socket(kind, is_v6=False):
    family = socket.AF_INET6 if is_v6 else socket.AF_INET
    if kind == "afsmc":
        return socket.socket(AF_SMC, socket.SOCK_STREAM, int(is_v6))
    return socket.socket(family, socket.SOCK_STREAM,
                         IPPROTO_SMC if kind == "ipproto" else 0)


def in4(port):
    return struct.pack("=HH4s8x", socket.AF_INET, socket.htons(port),
                       b"\x7f\0\0\1")


def in6(port, host="::1"):
    return struct.pack("=HHI16sI", socket.AF_INET6, socket.htons(port), 0,
                       socket.inet_pton(socket.AF_INET6, host), 0)


def call(name, sock, addr):
    """bind() or connect() with the bytes of an address: "0" or the error."""
    rc = getattr(libc, name)(sock.fileno(), addr, len(addr))
    return errno.errorcode[ctypes.get_errno()] if rc else "0"


def attempts(kind):
    """What a program is told, call after call."""
    said = []

    def do(sock, *calls):
        said.append(" ".join(call(*c[:1], sock, c[1]) for c in calls))
        sock.close()

    do(new_socket(kind), ("connect", in4(OPEN)))
    do(new_socket(kind), ("connect", in4(SHUT)), ("connect", in4(OPEN)),
       ("connect", in4(SHUT)))
    sock = new_socket(kind)
    sock.setblocking(False)
    do(sock, ("connect", in4(SHUT)))
    do(new_socket(kind), ("bind", in4(SHUT_BIND)), ("bind", in4(OPEN_BIND)),
       ("connect", in4(SHUT)))
    do(new_socket(kind, True), ("connect", in6(SHUT)), ("connect", in6(OPEN)))
    # without the scope, as in RFC 2133
    do(new_socket(kind, True), ("connect", in6(SHUT)[:24]),
       ("connect", in6(OPEN)[:24]))
    do(new_socket(kind, True), ("connect", in6(SHUT, "::ffff:127.0.0.1")),
       ("connect", in6(OPEN, "::ffff:127.0.0.1")))
    do(new_socket(kind, True), ("bind", in6(SHUT_BIND)),
       ("bind", in6(OPEN_BIND)))
    # an address that says no family, and ones too short or of another kind
    do(new_socket(kind), ("connect", bytes(16)), ("bind", bytes(16)))
    do(new_socket(kind), ("connect", in4(SHUT)[:8]), ("bind", in4(SHUT)[:8]),
       ("connect", in6(SHUT)[:20]), ("connect", in4(OPEN)))
    # accept() gives a child the class that its listener was created with
    with new_socket(kind) as lst, new_socket(kind) as cli:
        lst.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        said.append(call("bind", lst, in4(OPEN_BIND)))
        if not libc.listen(lst.fileno(), 1):
            said.append(call("connect", cli, in4(OPEN_BIND)))
            child = libc.accept(lst.fileno(), None, None)
            do(socket.socket(fileno=child), ("connect", bytes(16)),
               ("connect", in4(SHUT)))
    return said


def confined(domain, work):
    """@work() as a program in @domain; what it returns, as text."""
    rd, wr = os.pipe()
    pid = os.fork()
    if not pid:
        with open("/proc/thread-self/attr/current", "w") as f:
            f.write(f"u:r:{domain}:s0")
        try:
            text = repr(work())
        except OSError as e:
            text = errno.errorcode[e.errno]
        os.write(wr, text.encode())
        os._exit(0)
    os.close(wr)
    with open(rd, "rb") as f:
        text = f.read().decode()
    os.waitpid(pid, 0)
    return text


@contextlib.contextmanager
def enforcing():
    """A policy cannot be taken back, but it need not be obeyed."""
    if not os.path.exists(SELINUX + "/load"):
        subprocess.run(["mount", "-t", "selinuxfs", "selinuxfs", SELINUX],
                       check=True)
    with open(SELINUX + "/policyvers") as f:
        version = f.read()
    subprocess.run(["secilc", "-c", version, "-o", "/tmp/policy",
                    "-f", "/tmp/contexts", HERE + "/selinux.cil"], check=True)
    with open("/tmp/policy", "rb") as f:
        policy = f.read()
    with open(SELINUX + "/load", "wb", buffering=0) as f:
        f.write(policy)
    with open(SELINUX + "/enforce", "w") as f:
        f.write("1")
    try:
        yield
    finally:
        with open(SELINUX + "/enforce", "w") as f:
            f.write("0")


def denials(pattern):
    """Of the audit's messages about sockets, those with @pattern."""
    log = subprocess.run(["dmesg"], check=True, capture_output=True,
                         text=True).stdout
    return len(re.findall(r"avc: +denied .*" + pattern, log))


def listeners():
    """Unconfined ones that accept nothing, each port on both families."""
    for port in OPEN, SHUT:
        sock = new_socket("ipproto", True)
        sock.bind(("::", port))
        sock.listen(64)
        yield sock


def main():
    servers = list(listeners())
    told = {}
    with enforcing():
        check("the programs are confined",
              confined("prog_t", lambda: open(
                  "/proc/thread-self/attr/current").read()) ==
              repr("u:r:prog_t:s0\0"))
        for kind in KINDS:
            before = denials("{ name_connect }.*tclass=tcp_socket")
            told[kind] = confined("prog_t", lambda: attempts(kind))
            count = denials("{ name_connect }.*tclass=tcp_socket") - before
            print("#", kind, told[kind], count, "denials")
            check(f"{kind}: the audit tells of name_connect", count > 0)
        check("TCP is refused what the policy refuses",
              told["tcp"].count("EACCES") >= 8)
        check("TCP may do what the policy allows",
              told["tcp"].startswith("['0', 'EACCES 0 "))
        for kind in KINDS[1:]:
            check(f"{kind}: all as TCP", told[kind] == told["tcp"])

        for kind in KINDS[1:]:
            check(f"{kind}: no socket without its class",
                  confined("plain_t", lambda: attempts(kind)) == "EACCES")
            # AF_SMC is refused at once, IPPROTO_SMC when it is to be TCP's
            said = confined("smconly_t", lambda: attempts(kind))
            check(f"{kind}: nothing without that of TCP",
                  "EACCES" in said and
                  not re.search(r"\b0\b", re.sub("'0 (0|EACCES)'", "", said)))
        # what smc_run does about it
        out = confined("plain_t", lambda: subprocess.run(
            [HERE + "/../../tools/smc_run", "-d", sys.executable, "-c",
             f"import socket; socket.create_connection(('::1', {OPEN}))"],
            capture_output=True, text=True, check=True).stderr)
        check("smc_run: plain TCP where there is no class", ": TCP, " in out)
        print("#", out.replace("\n", "\n# "))
    for sock in servers:
        sock.close()
    sys.exit(tap.end())


main()
