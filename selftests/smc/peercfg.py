#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""peercfg - configure the kernel's own SMC of the other guest

  peercfg.py ueid [add|del NAME]         list, add, remove
  peercfg.py pnet [add ID NETDEV IBDEV PORT | flush]
  peercfg.py links                       link groups of SMC-R, one a line
  peercfg.py socks                       sockets: state mode reason peer

Generic netlink SMC_GEN_NETLINK and SMC_PNETID and sock_diag family 43 as
include/uapi/linux/smc.h, smc_diag.h have them; works on ours as well.
"""
import errno
import os
import socket
import struct
import sys

from limits import limit

NETLINK_SOCK_DIAG, NETLINK_GENERIC = 4, 16
REQUEST, ACK, ROOT, DUMP = 1, 4, 0x100, 0x300
GET_LGR_SMCR, DUMP_UEID, ADD_UEID, REMOVE_UEID = 2, 9, 10, 11
PNET_GET, PNET_ADD, PNET_FLUSH = 1, 2, 4
STATES = {1: "ACTIVE", 2: "INIT", 7: "CLOSED", 10: "LISTEN",
          20: "PEERCLOSEWAIT1", 21: "PEERCLOSEWAIT2", 22: "APPCLOSEWAIT1",
          23: "APPCLOSEWAIT2", 24: "APPFINCLOSEWAIT", 25: "PEERFINCLOSEWAIT",
          26: "PEERABORTWAIT", 27: "PROCESSABORT"}
MODES = {0: "SMCR", 1: "TCP", 2: "SMCD"}


def attr(kind, data):
    n = 4 + len(data)
    return struct.pack("=HH", n, kind) + data + bytes(-n % 4)


def attrs(data):
    out = {}
    while len(data) >= 4:
        n, kind = struct.unpack("=HH", data[:4])
        if n < 4:
            break
        out.setdefault(kind & 0x3FFF, data[4:n])
        data = data[(n + 3) & ~3:]
    return out


def text(data):
    return data.split(b"\0")[0].decode()


class Netlink:
    def __init__(self, proto):
        self.s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, proto)
        self.s.settimeout(limit(20))
        self.s.bind((0, 0))

    def ask(self, kind, flags, body):
        """payloads of the answers; raises OSError"""
        self.s.send(struct.pack("=IHHII", 16 + len(body), kind, flags, 1, 0)
                    + body)
        out = []
        while True:
            data = self.s.recv(1 << 16)
            while data:
                n, kind, mflags = struct.unpack("=IHH", data[:8])
                body, data = data[16:n], data[(n + 3) & ~3:]
                if kind == 3:
                    return out
                if kind == 2:
                    err = -struct.unpack("=i", body[:4])[0]
                    if err:
                        raise OSError(err, os.strerror(err))
                    return out
                out.append(body)
                if not mflags & 2 and not flags & ACK:
                    return out


class Genl(Netlink):
    def __init__(self, name):
        super().__init__(NETLINK_GENERIC)
        try:
            got = self.ask(16, REQUEST, struct.pack("=BBxx", 3, 1) +
                           attr(2, name.encode() + b"\0"))
        except FileNotFoundError:
            sys.exit(f"no netlink family {name}: is the smc module loaded?")
        self.family = struct.unpack("=H", attrs(got[0][4:])[1])[0]

    def call(self, cmd, payload=b"", flags=REQUEST | ACK):
        got = self.ask(self.family, flags,
                       struct.pack("=BBxx", cmd, 1) + payload)
        return [attrs(g[4:]) for g in got]

    def dump(self, cmd):
        return self.call(cmd, b"", REQUEST | DUMP)


def ueid(args):
    g = Genl("SMC_GEN_NETLINK")
    if args:
        cmd = {"add": ADD_UEID, "del": REMOVE_UEID}[args[0]]
        try:
            g.call(cmd, attr(1, args[1].encode().ljust(32) + b"\0"))
        except OSError as e:
            if e.errno != (errno.EEXIST if cmd == ADD_UEID else errno.ENOENT):
                raise
    for a in g.dump(DUMP_UEID):
        if 1 in a:
            print(text(a[1]).rstrip())


def pnet(args):
    g = Genl("SMC_PNETID")
    if args and args[0] == "flush":
        g.call(PNET_FLUSH)
    elif args:
        _, name, eth, ib, port = args
        try:
            g.call(PNET_ADD, attr(1, name.encode() + b"\0") +
                   attr(2, eth.encode() + b"\0") +
                   attr(3, ib.encode() + b"\0") +
                   attr(4, struct.pack("=B", int(port))))
        except FileExistsError:
            pass
    for a in g.dump(PNET_GET):
        if 1 in a:
            print(text(a[1]), text(a[2]), text(a[3]), a[4][0])


def links(_args):
    for a in Genl("SMC_GEN_NETLINK").dump(GET_LGR_SMCR):
        if 2 in a:
            n = attrs(a[2])
            print("lgr %08x role %s type %d connections %d" % (
                struct.unpack("=I", n[1])[0],
                "server" if n[2][0] else "client", n[3][0],
                struct.unpack("=I", n[6])[0]))


def socks(_args):
    req = struct.pack("=BxxB", 43, 0xB) + bytes(48)
    for m in Netlink(NETLINK_SOCK_DIAG).ask(20, REQUEST | ROOT, req):
        state, mode = m[1], m[2]
        dport = struct.unpack(">H", m[6:8])[0]
        a = attrs(m[64:])
        reason, peer = struct.unpack("=II", a[5]) if 5 in a else (0, 0)
        print(STATES.get(state, state), MODES.get(mode, mode),
              f"0x{reason:08x}", f"0x{peer:08x}", dport)


def main():
    commands = {"ueid": ueid, "pnet": pnet, "links": links, "socks": socks}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        print(__doc__)
        return 0 if "-h" in sys.argv else 1
    commands[sys.argv[1]](sys.argv[2:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
