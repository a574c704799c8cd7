#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""nfsd - a listener of ours that the kernel's NFS server has taken

It puts its own callbacks into the children, which a connection of ours would not
call.  Needs the module, root, and the nfsd file system.
"""
import os
import struct
import sys

import cases
from counters import LIMIT, Counters, smc_socket
from sockdiag import TCP, row_of

NFSD = "/proc/fs/nfsd/"
NFS, VERSION = 100003, 4


def put(name, text):
    """one write each time that it is opened"""
    fd = os.open(NFSD + name, os.O_WRONLY)
    os.write(fd, f"{text}\n".encode())
    os.close(fd)


def null_call(sock, xid):
    """the procedure that does nothing, and its answer"""
    call = struct.pack(">10I", xid, 0, 2, NFS, VERSION, *[0] * 5)
    sock.sendall(struct.pack(">I", 1 << 31 | len(call)) + call)
    answer = b""
    while len(answer) < 28:
        more = sock.recv(100)
        assert more, "closed"
        answer += more
    assert struct.unpack(">7I", answer) == (1 << 31 | 24, xid, 1, 0, 0, 0, 0), \
        answer.hex()


def case_listener():
    """its children are plain TCP, and each call is answered"""
    counters = Counters()
    with smc_socket() as lst:
        lst.bind(("127.0.0.1", 0))
        lst.listen()
        address = lst.getsockname()
        put("versions", "-3 +4")
        put("portlist", lst.fileno())
        put("threads", "1")
    try:
        with smc_socket() as cli:
            cli.settimeout(LIMIT)
            cli.connect(address)
            for xid in range(1, 5):
                null_call(cli, xid)
            assert row_of(cli).mode == TCP
    finally:
        put("threads", "0")
    moved = counters.moved()
    assert moved["HsServerTcp"] == 1, moved


if __name__ == "__main__":
    sys.exit(cases.main(globals()))
