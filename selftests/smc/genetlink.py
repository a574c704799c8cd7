#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""genetlink - generic netlink for the tests: requests, replies, attributes

As a program it changes the table of networks, or says whether SMC takes the
first port of an RDMA device for active (the device itself may say so earlier):

  genetlink.py add NAME ETH|- [DEV [PORT]]
  genetlink.py flush
  genetlink.py active DEV
"""
import os
import socket
import struct
import sys

from limits import limit

REQUEST, ACK, DUMP = 1, 4, 0x300
ERROR, DONE = 2, 3
GENL_CTRL, GETFAMILY = 16, 3
PNET = "SMC_PNETID"
P_GET, P_ADD, P_DEL, P_FLUSH = range(1, 5)
DEV_SMCR, PORT1, IB_NAME, STATE = 6, 8, 10, 4
FBACK = 8                       # a command, and the nest of its answers


class NlError(OSError):
    def __init__(self, no, text):
        super().__init__(no, os.strerror(no))
        self.text = text


def attrs_of(data):
    """{type: payload}; types are told without NLA_F_NESTED"""
    found = {}
    while len(data) >= 4:
        n, kind = struct.unpack("=HH", data[:4])
        assert 4 <= n <= len(data), "attribute length"
        pad = data[n:(n + 3) & ~3]
        assert not any(pad), "padding not cleared"
        kind &= 0x3fff
        assert kind not in found, f"attribute {kind} twice"
        found[kind] = data[4:n]
        data = data[(n + 3) & ~3:]
    assert not data
    return found


def attr(kind, payload):
    n = 4 + len(payload)
    return struct.pack("=HH", n, kind) + payload + bytes(-n % 4)


def num(payload):
    return int.from_bytes(payload, sys.byteorder)


def text(payload):
    assert payload[-1:] == b"\0" and b"\0" not in payload[:-1], payload
    return payload[:-1].decode()


class Genl:
    def __init__(self, name=None, bufsize=1 << 16):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.sock.settimeout(limit(60))
        self.sock.setsockopt(270, 10, 1)        # NETLINK_CAP_ACK
        self.sock.setsockopt(270, 11, 1)        # NETLINK_EXT_ACK
        self.bufsize = bufsize
        self.seq = 0
        self.family = GENL_CTRL
        if name:
            got = self.do(GETFAMILY, attr(2, name.encode() + b"\0"))
            self.info = attrs_of(got[0][1])
            self.family = num(self.info[1])

    def send(self, cmd, flags, payload=b""):
        self.seq += 1
        self.sock.send(struct.pack("=IHHIIBBH", 20 + len(payload), self.family,
                                   flags, self.seq, 0, cmd, 1, 0) + payload)

    def replies(self):
        """(cmd, attribute bytes) until DONE or ERROR"""
        while True:
            data = self.sock.recv(self.bufsize)
            while data:
                n, kind, flags, seq, _ = struct.unpack("=IHHII", data[:16])
                assert seq == self.seq
                body, data = data[16:n], data[(n + 3) & ~3:]
                if kind == ERROR:
                    no = -struct.unpack_from("=i", body)[0]
                    if no:
                        said = attrs_of(body[20:]) if flags & 0x200 else {}
                        raise NlError(no, text(said[1]) if 1 in said else "")
                    return
                if kind == DONE:
                    no = -struct.unpack_from("=i", body)[0]
                    if no:
                        raise NlError(no, "")
                    return
                assert kind == self.family
                yield body[0], body[4:]

    def do(self, cmd, payload=b""):
        self.send(cmd, REQUEST | ACK, payload)
        return list(self.replies())

    def dump(self, cmd, payload=b""):
        self.send(cmd, REQUEST | DUMP, payload)
        return list(self.replies())

    def rows(self, cmd, nest):
        """attributes of each message's one nest"""
        got = []
        for rcmd, data in self.dump(cmd):
            assert rcmd == cmd, (rcmd, cmd)
            outer = attrs_of(data)
            assert set(outer) == {nest}, outer
            got.append(attrs_of(outer[nest]))
        return got


def fallbacks(reason):
    """so many connections of this namespace are TCP's for it, of either role"""
    return sum(num(row[256]) for row in Genl("SMC_GEN_NETLINK").rows(FBACK, 8)
               if num(row[4]) == reason)


def pnet(name=None, eth=None, dev=None, port=None):
    """attributes of a request to SMC_PNETID"""
    data = b""
    for kind, value in ((1, name), (2, eth), (3, dev)):
        if value is not None:
            data += attr(kind, value.encode("latin1") + b"\0")
    return data + (attr(4, bytes([port])) if port is not None else b"")


def port_active(name):
    """the first port of this RDMA device, as SMC has it"""
    return any(num(attrs_of(row[PORT1])[STATE]) == 1
               for row in Genl("SMC_GEN_NETLINK").rows(DEV_SMCR, DEV_SMCR)
               if text(row[IB_NAME]) == name)


def main():
    args = sys.argv[1:]
    if args[:1] == ["flush"] and len(args) == 1:
        Genl(PNET).do(P_FLUSH)
    elif args[:1] == ["active"] and len(args) == 2:
        sys.exit(not port_active(args[1]))
    elif args[:1] == ["add"] and 3 <= len(args) <= 5:
        name, eth, dev, port = args[1:] + [None] * (5 - len(args))
        Genl(PNET).do(P_ADD, pnet(name, None if eth == "-" else eth, dev,
                                  int(port) if port else None))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
