#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""hostile_rdma - a peer that breaks the rules on an RDMA link

It is behind a TAP device (minitcp.py, roce.py), connects to a server of this
host, confirms the link as it should and then sends what no peer may.  Each
message is refused and counted, and harms nothing; only an impossible cursor
ends its connection.  It also has what each end may do with a link: ask whether
the other is still there, and end it.  Needs the module, root, the device clc0
and the RDMA port clcrxe on it.
"""
import argparse
import os
import socket
import struct
import sys
import time

import cases
from clcpeer import UEID, accept_r, decline, proposal
from counters import Counters, sysctl
from limits import limit
from minitcp import MAGIC, Net
from roce import SEND_IMM, WRITE_IMM, Qp

KERNEL, PORT = "10.99.0.1", 7600
QPN, PSN = 0x77, 0x7c01f3               # those of accept_r()
CONFIRM_LINK, DELETE_LINK, CONFIRM_RKEY, TEST_LINK = 0x21, 0x24, 0x26, 0x27
RESPONSE, NO_EYEC, DL_ALL = 0x80, 0x03, 0x40
FIRST = 0x08                            # an Accept of a new group
LIMIT = limit(20)
ANSWER = limit(5)                       # many cases may have to wait for it


class Peer:
    """one connection over RDMA at a time, as honest as can be"""
    def __init__(self, net=None, ring=131072):
        self.net = net or Net("clc0", "10.99.0.2", KERNEL)
        self.args = argparse.Namespace(ip=self.net.ip, mac=self.net.MAC,
                                       ueid=UEID)
        self.lst = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 256)
        self.lst.settimeout(LIMIT)
        self.lst.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.lst.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ring)
        self.lst.bind((KERNEL, PORT))
        self.lst.listen(1)
        self.connect()

    def connect(self):
        """the first connection of a new group"""
        self.tcp, acc = self.proposed()
        assert acc, "declined"
        self.qp = Qp(self.net, QPN, PSN)
        self.qp.peer = int.from_bytes(acc[38:41], "big")
        self.token = acc[46:50]
        self.tcp.send(accept_r(self.args, 3))
        request = self.llc(CONFIRM_LINK)
        self.qp.send(request[:3] + bytes([RESPONSE | NO_EYEC]) + self.net.MAC +
                     bytes(10) + b"\xff\xff" + self.net.ip +
                     QPN.to_bytes(3, "big") + request[29:30] +
                     b"\0\0\0\7\2\xff" + bytes(8))
        self.sock = self.lst.accept()[0]
        self.sock.settimeout(LIMIT)

    def proposed(self, ip=None):
        """a connection by TCP and the Accept, None for a Decline"""
        tcp = self.net.connect(PORT, True, LIMIT, ip)
        assert tcp.option, "no SMC"
        tcp.send(proposal(self.args))
        head = tcp.recv(8, LIMIT)
        kind, length = struct.unpack(">BH", head[4:7])
        assert head[:4] == MAGIC and kind in (2, 4), head.hex()
        msg = head + tcp.recv(length - 8, LIMIT)
        return tcp, msg if kind == 2 else None

    def another(self):
        """one more connection on the link; None if it is declined"""
        tcp, acc = self.proposed()
        if acc:
            tcp.send(accept_r(self.args, 3, False))
        sock = self.lst.accept()[0]
        if acc:
            return tcp, sock
        tcp.rst()
        sock.close()
        return None

    def llc(self, kind, seconds=LIMIT):
        """the next message of this kind"""
        end = time.monotonic() + seconds
        while True:
            left = max(0, end - time.monotonic())
            data = self.qp.messages.get(timeout=left)
            if data[0] == kind:
                return data

    def disconnect(self):
        self.tcp.rst()
        self.sock.close()

    def alive(self):
        """the link answers, so that it has seen all that was sent before"""
        self.qp.send(bytes([TEST_LINK, 44]) + bytes(2) + b"0123456789abcdef" +
                     bytes(24))
        assert self.llc(TEST_LINK, ANSWER)[4:20] == b"0123456789abcdef"

    def cdc(self, seq, token=None, prod=0, cons=0, kind=b"\xfe\x2c"):
        self.qp.send(kind + struct.pack(">H4s2xHI2xHI", seq,
                                        token or self.token, 0, prod, 0, cons) +
                     bytes(20))

    def refused(self, **want):
        """what happened meanwhile, and that it did no harm"""
        self.alive()
        c = self.counters.moved()
        got = {n: c.get(n, 0) for n in want}
        assert got == want, c
        assert "ConnAborted" not in c and "LgrLost" not in c, c


def begin():
    peer.counters = Counters()


def case_link():
    begin()
    peer.alive()
    with open("/proc/net/smc_stat") as f:
        assert "HsServerSmcr" in f.read()


def case_llc_malformed():
    begin()
    peer.qp.send(bytes([TEST_LINK]) + bytes(19))
    peer.refused(LlcMalformed=1)


def case_opcodes():
    """what uses up a receive and is no SEND: nothing in its buffer is a message,
    neither what came nor what has been there before"""
    begin()
    request = bytes([TEST_LINK, 44]) + bytes(42)
    for _ in range(260):                # one is in each buffer
        peer.alive()
    peer.counters = Counters()
    peer.qp.send(request, SEND_IMM, bytes(4))
    peer.qp.send(b"", WRITE_IMM, bytes(16 + 4))
    peer.refused(LlcMalformed=2)
    assert peer.qp.messages.empty(), "an answer"


def case_llc_unasked():
    """answers without a request, and a message of version 1"""
    begin()
    peer.qp.send(bytes([CONFIRM_RKEY, 44, 0, RESPONSE]) + bytes(40))
    peer.qp.send(bytes([CONFIRM_LINK, 44, 0, RESPONSE | NO_EYEC]) + bytes(40))
    peer.qp.send(bytes([0x07, 44]) + bytes(42))
    peer.refused(LlcDropped=3, LlcMalformed=0)


def case_cdc_malformed():
    begin()
    peer.cdc(1, kind=b"\xfe\x2d")
    peer.qp.send(b"\xfe\x2c" + bytes(18))
    peer.refused(CdcMalformed=2, RxCdc=0)


def case_cdc_unknown():
    begin()
    peer.cdc(1, token=bytes(x ^ 255 for x in peer.token))
    peer.refused(CdcUnknown=1, RxCdc=0)


def case_cdc_old():
    begin()
    peer.cdc(5)
    peer.cdc(4)
    peer.cdc(5)
    peer.refused(CdcOld=1, RxCdc=2)


def case_third_host():
    """one with another address, which says that it is the peer and that the
    group has to end, is not let into the group and ends nothing"""
    begin()
    tcp, acc = peer.proposed(socket.inet_aton("10.99.0.3"))
    assert acc and acc[7] & FIRST, "it may join"
    tcp.send(decline(0x04000000, True))
    peer.lst.accept()[0].close()
    tcp.rst()
    peer.refused()


def case_out_of_step():
    """the peer itself says so: the group gets no connection any more, and the
    link, which answers, stays"""
    begin()
    tcp, acc = peer.proposed()
    assert acc and not acc[7] & FIRST, "it may not join"
    tcp.send(decline(0x04000000, True))
    peer.lst.accept()[0].close()
    tcp.rst()
    question = peer.llc(TEST_LINK)
    peer.qp.send(question[:3] + bytes([RESPONSE]) + question[4:])
    peer.refused()
    tcp, acc = peer.proposed()
    assert acc and acc[7] & FIRST, "the group is still used"
    tcp.rst()                   # it waits for a Confirm: nothing to accept


def case_silence():
    """a peer that says nothing is asked, and kept as long as it answers"""
    begin()
    sysctl("smcr_testlink_time", 1)
    try:
        for _ in range(2):
            question = peer.llc(TEST_LINK)
            assert not question[3] & RESPONSE, question.hex()
            peer.qp.send(question[:3] + bytes([RESPONSE]) + question[4:])
    finally:
        sysctl("smcr_testlink_time", 0)
    peer.refused()


def connection_ends(error):
    """the program hears of it"""
    try:
        data = peer.sock.recv(1)
        raise AssertionError(f"no error, but {data}")
    except error:
        pass


def case_delete_link():
    """the peer ends the group, with the link that carries the message: the
    server says so, too, and the connection ends"""
    begin()
    peer.qp.send(bytes([DELETE_LINK, 44, 0, DL_ALL]) + bytes(40))
    connection_ends(ConnectionAbortedError)
    answer = peer.llc(DELETE_LINK)
    assert answer[3] & (DL_ALL | RESPONSE) == DL_ALL, answer.hex()
    end = time.monotonic() + LIMIT
    while peer.counters.moved().get("LinkDestroyed") != 1:
        assert time.monotonic() < end, peer.counters.moved()
        time.sleep(0.02)
    c = peer.counters.moved()
    assert c["LinkDownPeer"] == c["LgrLost"] == 1, c


def case_cdc_forged():
    """acknowledges bytes that were never sent"""
    peer.disconnect()
    peer.connect()
    begin()
    peer.cdc(6, cons=1000)
    peer.alive()
    c = peer.counters.moved()
    assert c["CdcForged"] == c["ConnAborted"] == 1 and "LgrLost" not in c, c
    connection_ends(ConnectionResetError)


if __name__ == "__main__":
    peer = Peer()
    bad = cases.main(globals())
    peer.disconnect()
    peer.lst.close()
    sys.exit(bad)
