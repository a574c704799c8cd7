# SPDX-License-Identifier: GPL-2.0
"""bpfopt - BPF programs of the root control group: one that adds an option to SYNs
or SYN-ACKs, and one that has connect() of some users go elsewhere

Written as instructions, so that no compiler is needed; libbpf loads them.
"""
import contextlib
import ctypes
import os
import struct

import cases

PROG_SOCK_OPS, ATTACH_SOCK_OPS, ALLOW_MULTI = 13, 3, 2
PROG_SOCK_ADDR, ATTACH_CONNECT4 = 18, 10
GET_UID_GID, USER_PORT = 15, 24         # a function, and an offset
# what the program is called for, the first two of which ask for the others
CONNECT, LISTEN, LENGTH, WRITE = 3, 11, 14, 15
WRITE_FLAG = 1 << 6
SET_FLAGS, STORE, RESERVE = 59, 143, 144        # functions
KIND = 200                                      # of no one
CGROUP = "/sys/fs/cgroup"


def insn(code, dst=0, src=0, off=0, imm=0):
    return struct.pack("=BBhi", code, src << 4 | dst, off, imm)


def copy(dst, src):
    return insn(0xBF, dst, src)


def put(dst, imm):
    return insn(0xB7, dst, 0, 0, imm)


def call(function):
    """with the context; and the program ends"""
    return copy(1, 6) + insn(0x85, imm=function) + put(0, 1) + insn(0x95)


def unless(op, block):
    """skip the block"""
    return insn(0x55, 2, 0, len(block) // 8, op) + block


def program(when, size):
    """@when: CONNECT or LISTEN"""
    option = copy(2, 10) + insn(0x07, 2, 0, 0, -40)
    for at in range(0, 40, 8):
        option += insn(0x7A, 10, 0, at - 40, 0)
    option += insn(0x72, 10, 0, -40, KIND) + insn(0x72, 10, 0, -39, size)
    return (copy(6, 1) + insn(0x61, 2, 1)
            + unless(when, put(2, WRITE_FLAG) + call(SET_FLAGS))
            + unless(LENGTH, put(2, size) + put(3, 0) + call(RESERVE))
            + unless(WRITE, option + put(3, size) + put(4, 0) + call(STORE))
            + put(0, 1) + insn(0x95))


def to_port(port):
    """connect() of all users but root goes to this port"""
    store = put(1, int.from_bytes(port.to_bytes(2, "big"), "little")) + \
        insn(0x63, 6, 1, USER_PORT)
    return (copy(6, 1) + insn(0x85, imm=GET_UID_GID)
            # the lower half
            + insn(0xBC, 0, 0) + insn(0x15, 0, 0, len(store) // 8, 0)
            + store + put(0, 1) + insn(0x95))


@contextlib.contextmanager
def attached(kind, where, code):
    try:
        bpf = ctypes.CDLL("libbpf.so.1", use_errno=True)
        group = os.open(CGROUP, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as e:
        raise cases.Skip(str(e)) from e
    # size, attempts, and the place that it is for
    opts = struct.pack("=QII", 16, 5, where)
    prog = bpf.bpf_prog_load(kind, b"program", b"GPL", code, len(code) // 8,
                             opts)
    assert prog >= 0, f"bpf_prog_load(): {prog}"
    rc = bpf.bpf_prog_attach(prog, group, where, ALLOW_MULTI)
    assert rc == 0, f"bpf_prog_attach(): {rc}"
    try:
        yield
    finally:
        bpf.bpf_prog_detach2(prog, group, where)
        os.close(group)
        os.close(prog)


def option(when, size):
    """sockets that connect or listen meanwhile have it in their segments, if
    there is room; 0: none"""
    if not size:
        return contextlib.nullcontext()
    return attached(PROG_SOCK_OPS, ATTACH_SOCK_OPS, program(when, size))


def redirected(port):
    """what to_port() says, meanwhile"""
    return attached(PROG_SOCK_ADDR, ATTACH_CONNECT4, to_port(port))
