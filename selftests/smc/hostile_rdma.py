#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""hostile_rdma - a peer that breaks the rules on an RDMA link

It is a host behind a TAP device (smcpeer.py), honest at first, which then says
what no peer may.  That is refused and counted, and harms at most what is its
own: an impossible cursor ends its connection, a forbidden access its link.
Another host's data moves on all the while.  Needs the module, root, the device
clc0 and the RDMA port clcrxe on it.

The cases here are about single messages, and the handshake beside a link; those
of hostile_cdc.py, hostile_llc.py, hostile_moments.py and hostile_flood.py follow.
"""
import socket
import struct
import sys

import cases
import hostile_cdc
import hostile_flood
import hostile_imm
import hostile_llc
import hostile_moments
from clcmsg import decline
from counters import Counters, sysctl
from hostile import ANSWER, begin, end_group, forge, gone, group_lost, \
    guarded, lab, lost, refused, said
from roce import SEND_IMM, SEND_INV, WRITE_IMM
from smcpeer import CONFIRM_LINK, CONFIRM_RKEY, DELETE_LINK, DL_ALL, FIRST, \
    NO_EYEC, RESPONSE, TEST_LINK, message


def case_link():
    end_group()
    counters = Counters()
    begin()
    lab.peer.alive()
    moved = counters.moved()
    assert moved["HsServerSmcr"] == moved["LinkCreated"] == 1, moved


def case_llc_malformed():
    begin()
    lab.peer.qp.send(bytes([TEST_LINK]) + bytes(19))
    refused(LlcMalformed=1)


def case_opcodes():
    """what uses up a receive and is no SEND: nothing in its buffer is a
    message, neither what came nor what has been there before"""
    peer = begin()
    for _ in range(260):                # one is in each buffer
        peer.qp.send(message(TEST_LINK))
    said(peer)
    begin()
    peer.qp.send(message(TEST_LINK), SEND_IMM, bytes(4))
    peer.qp.send(b"", WRITE_IMM, bytes(16 + 4))
    refused(LlcMalformed=2)
    assert peer.qp.messages.empty(), "an answer"


def case_invalidate():
    """SEND_WITH_INV of a ring's key, and of none: the link ends"""
    for key, cause in (None, "LinkDownPeer"), (0xffffff00, "LinkDownQueue"):
        peer = begin()
        peer.qp.send(message(TEST_LINK), SEND_INV,
                     struct.pack(">I", key or peer.conn.kernel.key))
        group_lost(cause)


def case_llc_unasked():
    """answers without a request, and a message of version 1"""
    peer = begin()
    peer.qp.send(message(CONFIRM_RKEY, RESPONSE))
    peer.qp.send(message(CONFIRM_LINK, RESPONSE | NO_EYEC))
    peer.qp.send(bytes([0x07, 44]) + bytes(42))
    refused(LlcDropped=3, LlcMalformed=0)


def case_cdc_malformed():
    peer = begin()
    forge(1, kind=b"\xfe\x2d")
    peer.qp.send(b"\xfe\x2c" + bytes(18))
    refused(CdcMalformed=2, RxCdc=0)


def case_cdc_unknown():
    peer = begin()
    forge(1, token=bytes(x ^ 255 for x in peer.token))
    refused(CdcUnknown=1, RxCdc=0)


def case_cdc_old():
    peer = begin()
    seq = peer.conn.seq
    forge(seq + 5)
    forge(seq + 4)
    forge(seq + 5)
    refused(CdcOld=1, RxCdc=2)
    peer.conn.seq += 5


def case_third_host():
    """one with another address, which says that it is the peer and that the
    group has to end, is not let into the group and ends nothing"""
    peer = begin()
    tcp, acc = peer.proposed(socket.inet_aton("10.99.0.3"))
    assert acc and acc[7] & FIRST, "it may join"
    tcp.send(decline(0x04000000, True))
    peer.lst.accept()[0].close()
    tcp.rst()
    refused()


def case_out_of_step():
    """the peer itself says so: the group gets no connection any more, and the
    link, which answers, stays"""
    peer = begin()
    tcp, acc = peer.proposed()
    assert acc and not acc[7] & FIRST, "it may not join"
    tcp.send(decline(0x04000000, True))
    peer.lst.accept()[0].close()
    tcp.rst()
    question = peer.llc(TEST_LINK)
    peer.qp.send(question[:3] + bytes([RESPONSE]) + question[4:])
    refused()
    tcp, acc = peer.proposed()
    assert acc and acc[7] & FIRST, "the group is still used"
    tcp.rst()                   # it waits for a Confirm: nothing to accept
    end_group()


def case_silence():
    """a peer that says nothing is asked, and kept as long as it answers"""
    peer = begin()
    sysctl("smcr_testlink_time", 1)
    try:
        for _ in range(2):
            question = peer.llc(TEST_LINK)
            assert not question[3] & RESPONSE, question.hex()
            peer.qp.send(question[:3] + bytes([RESPONSE]) + question[4:])
    finally:
        sysctl("smcr_testlink_time", 0)
    refused()


def case_delete_link():
    """the peer ends the group, with the link that carries the message: the
    server says so, too, and the connection ends"""
    peer = begin()
    peer.qp.send(message(DELETE_LINK, DL_ALL))
    gone(peer.conn, ConnectionAbortedError)
    answer = peer.llc(DELETE_LINK)
    assert answer[3] & (DL_ALL | RESPONSE) == DL_ALL, answer.hex()
    group_lost("LinkDownPeer")


def case_cdc_forged():
    """acknowledges bytes that were never sent; only its connection ends"""
    peer = begin()
    conn = peer.another()
    conn.say(cons=(0, 1000))
    gone(conn)
    conn.forget()
    lost(1, CdcForged=1)


if __name__ == "__main__":
    table = {}
    for functions in (globals(), *(vars(m) for m in (
            hostile_cdc, hostile_imm, hostile_llc, hostile_moments,
            hostile_flood))):
        table.update((n, guarded(f)) for n, f in functions.items()
                     if n.startswith("case_"))
    lab.up()
    bad = cases.main(table)
    sys.exit(bad if lab.down() else 1)
