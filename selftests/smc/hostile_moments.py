# SPDX-License-Identifier: GPL-2.0
"""hostile_moments - LLC messages at moments when nothing is expected

Cases of hostile_rdma.py.  Each kind, as a request and as an answer, comes in a
group without connections, while the peer's device acknowledges nothing, and
while the link is being taken down; DELETE LINK also instead of the confirmation.
The kernel is the server, and the client.  hostile_llc.py has the other states.
"""
import select
import struct
import time

from clcmsg import accept_r, decline, proposal
from counters import Counters, limits
from hostile import ANSWER, LIMIT, begin, gone, lab, links, no_leak, part, \
    plain, said, third
from hostile_llc import ANSWERED, DROPPED, MALFORMED, NEGATIVE, NOTHING, \
    OTHER_LINK, say, unconfirmed
from limits import await_that, limit
from minitcp import Reset
from park import Parked
from smcpeer import ADD_LINK, CONFIRM_LINK, CONFIRM_RKEY, DELETE_LINK, \
    DELETE_RKEY, DL_ALL, FIRST, NO_EYEC, REJECT, REQ_ADD_LINK, RESPONSE, \
    TEST_LINK, Peer, Server, message
from sockdiag import fallback
from traced import Traced

# of smc_reason.h
LINK_PEER, TIMEOUT_CL, PEERDECL = 0x0a18000d, 0x02010000, 0x05000000
PROGRAM, LOST_PATH = 0x30000, 0x10000           # of DELETE LINK
BOTH = Peer, Server


def each_kind(role):
    """as a request and as an answer, and what it is to the other end of a link
    that is confirmed"""
    rest = bytes([OTHER_LINK]) + b"\xff" * 39
    to_client, to_server = (ANSWERED, NOTHING) if role is Server else \
        (NOTHING, ANSWERED)
    for kind, flags, request, answer in (
            (CONFIRM_LINK, NO_EYEC, DROPPED, DROPPED),
            (ADD_LINK, 0, to_client, NOTHING),
            (ADD_LINK, REJECT, to_client, NOTHING),
            (DELETE_LINK, 0, to_client, NOTHING),
            (REQ_ADD_LINK, 0, to_server, NOTHING),
            (CONFIRM_RKEY, 0, ANSWERED, DROPPED),
            (CONFIRM_RKEY, NEGATIVE, ANSWERED, DROPPED),
            (TEST_LINK, 0, ANSWERED, NOTHING),
            (DELETE_RKEY, 0, ANSWERED, DROPPED),
            (0x23, 0, MALFORMED, MALFORMED)):
        yield message(kind, flags, rest), request
        yield message(kind, flags | RESPONSE, rest), answer
    yield bytes([TEST_LINK & 15, 44]) + bytes(42), DROPPED      # version 1


def answers(role, got):
    """just to the requests that have one, in their order"""
    want = [data[0] for data, what in each_kind(role) if what == ANSWERED]
    assert [m[0] for m in got if m[3] & RESPONSE] == want == \
        [m[0] for m in got], [m.hex() for m in got]


def counted(counters, table):
    """what each of these should be counted as"""
    moved, kinds = counters.moved(), [what for _, what in table]
    return all(moved.get(n, 0) == kinds.count(n) for n in (MALFORMED, DROPPED))


def ended(counters, cause, conns=0):
    """the one link that has ended since then, with so many connections (None: its
    handshake may count as one)"""
    await_that("the link stays", lambda: counters.moved().get("LinkDestroyed"),
               LIMIT)
    moved = counters.moved()
    downs = {n: v for n, v in moved.items() if n.startswith("LinkDown")}
    assert downs == {cause: 1}, downs
    assert conns is None or moved.get("ConnAborted", 0) == conns, moved
    lab.honest.round()


def delete(flags=0, link=1, reason=PROGRAM):
    return message(DELETE_LINK, flags, struct.pack(">BI", link, reason))


def up(role):
    """one more host, with a connection"""
    peer = third(role, answers=(DELETE_RKEY,))
    peer.connect()
    peer.round()
    return peer


def idle(role):
    """one more host, with a group and no connection any more"""
    peer = up(role)
    peer.conn.close()
    no_leak()
    return peer


def case_llc_idle():
    """the group stays, and is used again"""
    begin()
    for role in BOTH:
        peer = idle(role)
        for _ in range(2):
            answers(role, say(peer, each_kind(role)))
            conn = peer.another()
            conn.round()
            conn.close()
            no_leak()
        part(peer)


def case_delete_link_idle():
    """a link without connections ends as any other: the server says so, too, and
    the client answers if it is about the link alone"""
    begin()
    for role in BOTH:
        for flags in 0, DL_ALL:
            peer = idle(role)
            counters = Counters()
            peer.qp.send(delete(flags))
            if role is Peer:
                answer = peer.llc(DELETE_LINK, ANSWER)
                assert answer[3] & (DL_ALL | RESPONSE) == DL_ALL, answer.hex()
            elif not flags:
                answer = peer.llc(DELETE_LINK, ANSWER)
                assert answer[3] & RESPONSE, answer.hex()
            ended(counters, "LinkDownPeer")
            part(peer)


def case_llc_mute():
    """the answers come when the peer's device takes them; DELETE LINK ends the
    group all the same"""
    begin()
    for role in BOTH:
        peer, table = up(role), list(each_kind(role))
        counters = Counters()
        peer.qp.mute = True
        for data, _ in table:
            peer.qp.send(data)
        await_that("not taken", lambda c=counters, t=table: counted(c, t),
                   LIMIT)
        lab.honest.round()
        peer.qp.mute = False
        answers(role, said(peer))
        peer.round()
        counters = Counters()
        peer.qp.mute = True
        for data, _ in table:
            peer.qp.send(data)
        peer.qp.send(delete())
        gone(peer.conn, ConnectionAbortedError)
        ended(counters, "LinkDownPeer", 1)
        assert counted(counters, table), counters.moved()
        part(peer)


def at_goodbye(peer, said_then, mute):
    """with the kernel's DELETE LINK: all of these come before it is acknowledged,
    which is never if the peer is mute"""
    def take(p):
        if p[0] == DELETE_LINK and not peer.qp.mute and said_then:
            for data in said_then:
                peer.qp.send(data)
            said_then.clear()
            peer.qp.mute = mute
        return peer.on_message(p)

    peer.qp.take = take


def retiring(role, mute, end, retire):
    """a link that is taken down for want of connections"""
    peer = up(role)
    # an answer to DELETE RKEY may be one: idle rings are given up before
    table = [(data, what) for data, what in each_kind(role)
             if data[0] != DELETE_RKEY or not data[3] & RESPONSE]
    counters = Counters()
    at_goodbye(peer, [data for data, _ in table] + end, mute)
    with Traced("smc_link_state") as trace:
        retire(peer)
        ended(counters, "LinkDownIdle")
        told = trace.count("active -> dead", "GOING")
    assert told == 1, told
    if mute:
        assert counted(counters, table), counters.moved()
    assert "LgrLost" not in counters.moved(), counters.moved()
    assert peer.llc(DELETE_LINK, ANSWER)[3] & DL_ALL
    part(peer)


def gives_way(peer):
    """there is no room for another group"""
    peer.conn.close()
    no_leak()
    with limits(max_groups=links()):
        other = third(host=4)
        other.connect()
    other.round()


def is_closed(peer):
    """the last connection of a group that the peer has called out of step"""
    tcp, acc = peer.proposed()
    assert acc, "declined"
    tcp.send(decline(0x04000000, True))
    peer.lst.accept()[0].close()
    tcp.rst()
    peer.llc(TEST_LINK)
    peer.conn.close()


def case_llc_retiring():
    """the link ends at once, or after a second if that is what the peer wants"""
    begin()
    for role, retire in (Peer, gives_way), (Server, gives_way), \
            (Peer, is_closed):
        for mute, end in (True, []), (True, [delete()]), \
                (False, [delete(DL_ALL)]):
            retiring(role, mute, end, retire)
            if retire is gives_way:
                part(lab.others[-1])


# ---- DELETE LINK instead of the confirmation ----

def deleted_early(role, data, why, diagnosis=None):
    """a host that says so, and then why, by a Decline of its own; the handshake
    does not wait for its limit"""
    counters = Counters()
    if role is Peer:
        peer = unconfirmed(host=5)
        peer.qp.send(data)
        assert peer.llc(DELETE_LINK, ANSWER)[3] & DL_ALL
    else:
        peer = third(role, host=6)
        peer.contact()
        peer.qp.send(data)
    tcp = peer.conn.tcp
    if diagnosis:
        await_that("the link stays", lambda: counters.moved().get("LgrLost"),
                   LIMIT)
        tcp.send(decline(diagnosis))
    else:
        assert peer.clc(tcp, 3) is None, "no Decline"
    if role is Peer:
        peer.conn.sock = peer.accept()
    plain(peer.conn)
    assert fallback(peer.conn.sock) == why, hex(fallback(peer.conn.sock))
    peer.conn.forget()
    return peer


def declined(role, peer):
    """no link is tried again: TCP at once"""
    counters = Counters()
    if role is Peer:
        tcp, acc = peer.proposed()
        assert not acc, "it gets a link"
        sock = peer.accept()
    else:
        sock, tcp = peer.dial()
        peer.clc(tcp, 1)
    assert counters.moved().get("HsNoLink") == 1, counters.moved()
    sock.close()
    tcp.rst()


def case_delete_link_early():
    """The peer ends the link that is being confirmed: the program has TCP at once
    and the reason, and the next connection a link.  Only if the peer says that
    the path is lost, or declines because it has waited in vain, the next one is
    not tried."""
    begin()
    for role in BOTH:
        with limits(fallback_memory_s=600):
            for data in delete(), delete(DL_ALL, 0):
                counters = Counters()
                peer = deleted_early(role, data, LINK_PEER)
                ended(counters, "LinkDownPeer", None)
                peer.connect()
                peer.round()
                assert "HsNoLink" not in counters.moved(), counters.moved()
                part(peer)
        for data, why, diagnosis, cause in (
                (delete(reason=LOST_PATH), TIMEOUT_CL, None, "LinkDownSetup"),
                (delete(), PEERDECL, TIMEOUT_CL, "LinkDownPeer")):
            with limits(fallback_memory_s=600):
                counters = Counters()
                peer = deleted_early(role, data, why, diagnosis)
                ended(counters, cause, None)
                declined(role, peer)
            # a link makes it forgotten, when our end knows of it
            peer.connect()
            peer.round()
            part(peer)


# ---- a handshake in the last place ----

def case_decline_owned():
    """the link fails, and the peer's Decline comes while a system call owns the
    socket, until the time is over in which one is waited for: it is heard all the
    same, and the kernel does not decline into the program's stream"""
    begin()
    with limits(handshake_timeout_ms=int(limit(2000))):
        counters, peer = Counters(), third(Server)
        peer.contact()
        conn = peer.conn
        with Parked(conn.sock):
            conn.tcp.send(decline(TIMEOUT_CL))
            await_that("the link stays", lambda:
                       counters.moved().get("LgrDestroyed"), LIMIT)
            time.sleep(2)       # it waits for one
        plain(conn)
    assert fallback(conn.sock) == PEERDECL, hex(fallback(conn.sock))
    conn.forget()
    part(peer)


def case_first_resets():
    """several connections of one host wait for the first one's link, and the first
    is reset: one of the others makes the next group, and the rest join it"""
    begin()
    counters, peer = Counters(), third()
    peer.contact()              # and no Confirm
    offers = []
    for _ in range(8):
        tcp = peer.net.connect(peer.port, True, LIMIT, peer.ip)
        tcp.send(proposal(peer.args, peer.new_end(1)))
        offers.append(tcp)
    await_that("they do not wait", lambda:
               counters.moved().get("HsStarted") == 9, LIMIT)
    peer.conn.tcp.rst()
    await_that("no Accept", lambda: any(tcp.rx for tcp in offers), LIMIT)
    conn = peer.new_link()
    conn.tcp = next(tcp for tcp in offers if tcp.rx)
    offers.remove(conn.tcp)
    acc = peer.clc(conn.tcp, 2)
    assert acc and acc[7] & FIRST, "declined, or not a new group"
    conn.learn(acc)
    peer.meet(conn)
    conn.tcp.send(accept_r(peer.args, 3, True, conn.end))
    peer.confirm(peer.llc(CONFIRM_LINK))
    conn.round()
    for tcp in offers:
        acc = peer.clc(tcp, 2)
        assert acc and not acc[7] & FIRST, "a group of its own"
    assert counters.moved()["LgrCreated"] == 2, counters.moved()
    for tcp in offers:
        tcp.rst()
    part(peer)


def case_data_behind_proposal():
    """a Proposal that waits for the link of another, and data behind it: a
    reset, and no program gets the data without the Proposal"""
    begin()
    counters, peer = Counters(), third()
    peer.contact()              # and no Confirm yet
    tcp = peer.net.connect(peer.port, True, LIMIT, peer.ip)
    tcp.send(proposal(peer.args, peer.new_end(1)))
    await_that("it does not wait", lambda:
               counters.moved().get("HsStarted") == 2, LIMIT)
    tcp.send(b"GET / HTTP/1.0\r\n\r\n")
    try:
        raise AssertionError(f"an answer: {tcp.recv_some(LIMIT).hex()}")
    except Reset:
        pass
    assert not select.select([peer.lst], [], [], 0)[0], "accepted"
    assert counters.moved().get("HsServerErr") == 1, counters.moved()
    peer.conn.tcp.send(accept_r(peer.args, 3, True, peer.conn.end))
    peer.confirm(peer.llc(CONFIRM_LINK))
    peer.round()
    part(peer)
