# SPDX-License-Identifier: GPL-2.0
"""roce - one end of an RDMA connection, for a peer that says what it likes

RoCE version 2 by hand over the device of minitcp.py: messages of one packet,
each answered with an acknowledgement, nothing repeated; enough for a wire that
loses nothing.  What the kernel writes into memory is acknowledged and thrown
away.

Context: run by hostile_rdma.py; nothing here knows SMC.
"""
import queue
import struct
import zlib

PORT = struct.pack(">H", 4791)
SEND_ONLY, ACK = 0x04, 0x11
SEND_IMM, WRITE_IMM = 0x05, 0x0b
SENDS, WRITES = (0, 1, 2, 4), (6, 7, 8, 10)
HAS_RETH = (6, 10)
M24 = 0xFFFFFF


def icrc(ip, rest):
    """CRC over what no router changes"""
    ip = ip[:1] + b"\xff" + ip[2:8] + b"\xff" + ip[9:10] + b"\xff\xff" + ip[12:]
    udp, bth = rest[:8], rest[8:]
    crc = zlib.crc32(b"\xff" * 8 + ip + udp[:6] + b"\xff\xff" + bth[:4] +
                     b"\xff" + bth[5:])
    return struct.pack("<I", crc)


class Qp:
    """a reliable queue pair; what was sent to it is in @messages"""
    def __init__(self, net, number, psn):
        self.net, self.number, self.psn = net, number, psn
        self.peer, self.msn = None, 0
        self.messages = queue.Queue()
        self.acked = -1
        self.refuse = None      # the syndrome of a NAK
        net.udp[PORT] = self.on_packet

    def packet(self, opcode, psn, rest, ack_please):
        pad = -len(rest) % 4
        bth = struct.pack(">BBHII", opcode, 0x40 | pad << 4, 0xffff, self.peer,
                          ack_please << 31 | psn & M24)
        data = bth + rest + bytes(pad)
        udp = struct.pack(">HHHH", 0xd000, 4791, 8 + len(data) + 4, 0) + data
        head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp) + 4, 0,
                           0x4000, 64, 17, 0, self.net.ip, self.net.peer_ip)
        self.net.ip_packet(17, udp + icrc(head, udp))

    def send(self, data, opcode=SEND_ONLY, head=b""):
        """head: the headers that the opcode needs after BTH"""
        with self.net.cond:
            self.packet(opcode, self.psn, head + data, 1)
            self.psn += 1

    def on_packet(self, p):
        """by the thread of the device"""
        opcode, flags = p[0], p[1]
        number = int.from_bytes(p[5:8], "big")
        psn = int.from_bytes(p[9:12], "big")
        if number != self.number or self.peer is None:
            return
        if opcode == ACK:
            self.acked = psn
            return
        if self.refuse:
            self.packet(ACK, psn, struct.pack(">I", self.refuse << 24 |
                                              self.msn & M24), 0)
            return
        body = p[12:len(p) - 4 - (flags >> 4 & 3)]
        if opcode in SENDS:
            self.messages.put(body)
        elif opcode not in WRITES:
            return
        self.msn += 1
        self.packet(ACK, psn, struct.pack(">I", 0x1f << 24 | self.msn & M24), 0)
