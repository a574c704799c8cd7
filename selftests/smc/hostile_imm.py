# SPDX-License-Identifier: GPL-2.0
"""hostile_imm - data by WRITE WITH IMMEDIATE, with and without the agreement

Cases of hostile_rdma.py.  Between own peers the immediate data of a write takes
the place of a CDC that has nothing to say but "so many bytes more".
"""
from clcmsg import accept_r
from hostile import ANSWER, LIMIT, begin, gone, lab, lost, no_leak, part, \
    refused, said, stranger, third
from hostile_cdc import bulk, reset_for
from limits import await_that
from smcpeer import ADD_LINK, CONFIRM_LINK, DELETE_RKEY, IMM, Peer, Server, \
    stream

PIECE = 1000


def agreed(kind=Peer):
    """a host that has agreed on it, beside the others"""
    begin()
    peer = third(kind, features=IMM, answers=(DELETE_RKEY,))
    peer.connect()
    return peer


def ended(peer, conns=0, **want):
    """the peer has lost so many connections, and its link is well"""
    peer.alive(ANSWER)
    c = lab.moved()
    want["ConnAborted"] = conns
    got = {n: c.get(n, 0) for n in want}
    assert got == want and "LgrLost" not in c, c
    peer.round()
    part(peer)
    lab.honest.round()


def write(conn, n):
    """n bytes more, each piece by itself; the program reads them"""
    while n:
        piece = min(n, PIECE, conn.room - conn.sent % conn.room)
        conn.bare(stream(conn.seed, conn.sent, piece))
        conn.program_gets(piece)
        n -= piece


def case_imm_stream():
    """data both ways, several times through each ring; most of what the kernel
    sends has no CDC, but the end of a ring has, and after each third of one what it
    has read"""
    for kind in Peer, Server:
        peer = agreed(kind)
        conn = peer.conn
        bulk(conn, 3 * max(conn.size, conn.room), 3000)
        until = conn.got + 2 * conn.size
        while conn.got < until:
            write(conn, 500)
            conn.round(300)
            assert conn.sent - conn.taken < conn.room // 3, "no cursor"
        moved = lab.moved()
        assert conn.imms >= 30, conn.imms
        assert conn.imms <= moved["TxImm"] < moved["TxCdc"], moved
        assert moved["RxImm"] < moved["RxCdc"], moved
        ended(peer, RxImm=moved["RxImm"])


def case_imm_blocked():
    """the last bytes that fit say that we wait: what the program reads is told"""
    peer = agreed()
    conn = peer.another()
    while conn.sent < conn.room:
        piece = min(PIECE, conn.room - conn.sent)
        conn.bare(stream(conn.seed, conn.sent, piece))
    conn.program_gets(conn.room)
    conn.wait(lambda: conn.taken == conn.sent)
    # and the kernel says that it waits
    data = stream(~conn.seed, conn.read, 2 * conn.size)
    conn.sock.setblocking(False)
    sent = conn.sock.send(data)
    conn.sock.settimeout(LIMIT)
    conn.wait(lambda: conn.got == conn.size)
    assert sent > conn.size or conn.wanted & 0x80, sent
    assert conn.receive(sent) == data[:sent]
    conn.round()
    conn.close()
    ended(peer)


def case_imm_counted():
    """each has the number of a CDC: one that repeats the number before is old"""
    peer = agreed()
    conn = peer.another()
    write(conn, 100)
    conn.say()
    write(conn, 100)
    conn.seq -= 2
    conn.say(cons=(7, 1000))            # old: it is not looked at
    conn.seq += 1
    conn.round()
    conn.close()
    ended(peer, CdcOld=1, CdcForged=0)


def case_imm_forged():
    """no bytes, and more than there is room for"""
    peer = agreed()
    conns = [peer.another() for _ in range(3)]
    conns[0].round()
    conns[0].bare(b"")
    while conns[1].sent + PIECE <= conns[1].room:
        conns[1].bare(bytes(PIECE))
    at = conns[1].kernel
    peer.qp.write_imm(at.addr, at.key, bytes(PIECE), at.token)
    # a lie about what was written: whole writes, but to the same place
    at = conns[2].kernel
    for _ in range(conns[2].room // PIECE + 1):
        peer.qp.write_imm(at.addr, at.key, bytes(PIECE), at.token)
    peer.alive(ANSWER)                  # nothing is read before all has come
    for conn in conns:
        gone(conn)
        conn.forget()
    ended(peer, 3, CdcForged=3)
    no_leak()


def case_imm_tokens():
    """of no connection, of another group's, of one that has ended"""
    peer = agreed()
    conn = peer.another()
    ends = conn.kernel.token
    conn.round()
    conn.close()
    await_that("it stays", lambda: lab.moved().get("ConnDestroyed"), LIMIT)
    own = {c.kernel.token for c in peer.conns.values()}
    other = stranger(own | {ends})
    forged = [ends, other.kernel.token, max(own) + 7, 0x3fffffff, 0x40000000]
    at = peer.conn.kernel
    for token in forged:
        peer.qp.write_imm(at.addr, at.key, b"x", token)
    ended(peer, CdcUnknown=len(forged), CdcForged=0)
    other.round()
    if other is not lab.honest.conn:
        other.close()


def case_imm_early():
    """before the Confirm, in a group that has agreed"""
    peer = agreed()
    conn = peer.begun()
    conn.bare(stream(conn.seed, 0, 500))
    peer.alive(ANSWER)
    conn.tcp.send(accept_r(peer.args, 3, False, conn.end))
    conn.sock = peer.accept()
    conn.program_gets(500)
    conn.round()
    conn.close()
    ended(peer, CdcForged=0)


def case_imm_unasked():
    """without the agreement it is nothing, and the kernel does not do it: not
    offered, taken back in the Confirm, of a release without features"""
    peer = begin()
    at = peer.conn.kernel
    peer.round()
    peer.qp.write_imm(at.addr, at.key, b"x", at.token)
    said(peer)
    refused(LlcMalformed=1, CdcUnknown=0, RxImm=0, TxImm=0)
    for how in {"features": IMM}, {"features": IMM, "release": 0}:
        begin()
        other = third(answers=(DELETE_RKEY, ADD_LINK), **how)
        other.contact()
        other.conn.end.features = 0
        other.conn.tcp.send(accept_r(other.args, 3, True, other.conn.end))
        other.confirm(other.llc(CONFIRM_LINK))
        other.features = 0
        at = other.conn.kernel
        other.round()
        other.qp.write_imm(at.addr, at.key, b"x", at.token)
        ended(other, LlcMalformed=1, RxImm=0, TxImm=0)


def case_imm_long_token():
    """a token that leaves no room for the flags cannot be of a peer that has
    agreed: its connection is refused"""
    peer = agreed()
    conn = peer.begun()
    conn.end.token = 0x40000000
    reset_for(conn, peer.args, False)
    conn.forget()
    ended(peer)
    no_leak()
