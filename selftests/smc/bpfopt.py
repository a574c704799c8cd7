# SPDX-License-Identifier: GPL-2.0
"""bpfopt - a BPF program that adds an option to SYNs or SYN-ACKs

Written as instructions, so that no compiler is needed; libbpf loads it.
"""
import contextlib
import ctypes
import os
import struct

import cases

PROG_SOCK_OPS, ATTACH_SOCK_OPS, ALLOW_MULTI = 13, 3, 2
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


@contextlib.contextmanager
def option(when, size):
    """sockets that connect or listen meanwhile have it in their segments, if
    there is room; 0: none"""
    if not size:
        yield
        return
    try:
        bpf = ctypes.CDLL("libbpf.so.1", use_errno=True)
        group = os.open(CGROUP, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as e:
        raise cases.Skip(str(e)) from e
    code = program(when, size)
    prog = bpf.bpf_prog_load(PROG_SOCK_OPS, b"option", b"GPL", code,
                             len(code) // 8, None)
    assert prog >= 0, f"bpf_prog_load(): {prog}"
    rc = bpf.bpf_prog_attach(prog, group, ATTACH_SOCK_OPS, ALLOW_MULTI)
    assert rc == 0, f"bpf_prog_attach(): {rc}"
    try:
        yield
    finally:
        bpf.bpf_prog_detach2(prog, group, ATTACH_SOCK_OPS)
        os.close(group)
        os.close(prog)
