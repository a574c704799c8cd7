# SPDX-License-Identifier: GPL-2.0
"""netlink.py - tables of the kernel, read without starting a program."""
import errno
import socket
import struct

REQUEST_DUMP = 0x301
ERROR, DONE = 2, 3
NETFILTER, RDMA = 12, 20
RES_GET, RES_CQ_GET = (5 << 10) + 9, (5 << 10) + 12


def dump(protocol, kind, payload=b""):
    """The payload of every answer to a request for a whole table."""
    answers = []
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol) as sock:
        sock.settimeout(30)
        sock.send(struct.pack("=IHHII", 16 + len(payload), kind, REQUEST_DUMP,
                              1, 0) + payload)
        while True:
            data = sock.recv(1 << 16)
            while data:
                length, kind = struct.unpack_from("=IH", data)
                if kind == DONE:
                    return answers
                if kind == ERROR:
                    error, = struct.unpack_from("=i", data, 16)
                    raise OSError(-error, "netlink")
                answers.append(data[16:length])
                data = data[(length + 3) & ~3:]


def attrs(data):
    """(type, value) of each attribute"""
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        yield kind & 0x3fff, data[4:length]
        data = data[(length + 3) & ~3:]


def text(value):
    return value.split(b"\0")[0].decode()


def qdiscs():
    """(device, kind) of every queueing discipline"""
    out = []
    for answer in dump(socket.NETLINK_ROUTE, 38, bytes(20)):
        index, = struct.unpack_from("=i", answer, 4)
        out.append((socket.if_indextoname(index),
                    text(dict(attrs(answer[20:]))[1])))
    return out


def has_nft_tables():
    return bool(dump(NETFILTER, (10 << 8) + 1, bytes(4)))


def rdma_in_use():
    """What is in use on the RDMA devices, a line for each kind of object.
    A pooled completion queue belongs to ib_core and stays with the device: one
    counts only while it has users.  A device made anew has another index, the
    same name."""
    lines = []
    try:
        answers = dump(RDMA, RES_GET)
    except OSError as e:
        if e.errno != errno.EPROTONOSUPPORT:
            raise
        return ""       # ib_core is not loaded
    for answer in answers:
        dev = dict(attrs(answer))
        name = text(dev[2])
        for _, entry in attrs(dev[15]):
            entry = dict(attrs(entry))
            if text(entry[17]) != "cq":
                lines.append(f"{name} {text(entry[17])} "
                             f"{struct.unpack('=Q', entry[18])[0]}\n")
        for cqs in dump(RDMA, RES_CQ_GET, struct.pack("=HH", 8, 1) + dev[1]):
            for _, entry in attrs(dict(attrs(cqs)).get(35, b"")):
                entry = dict(attrs(entry))
                users, = struct.unpack("=Q", entry[38])
                if users:
                    owner = text(entry.get(29, b"")) or "a process"
                    lines.append(f"{name} cq of {owner}, users {users}\n")
    return "".join(lines)
