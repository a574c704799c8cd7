# SPDX-License-Identifier: GPL-2.0
"""hostile_llc - every LLC message in every state of a link

Cases of hostile_rdma.py.  What each message does is in the tables here: it is
answered, counted as malformed or as dropped, or it means nothing.
"""
import fcntl
import os
import struct
import subprocess

from clcmsg import accept_r, decline
from counters import Counters, sysctl
from hostile import ANSWER, LIMIT, begin, end_group, gone, group_lost, lab, \
    lost, no_leak, part, plain, refused, said, third
from limits import await_that, limit
from park import Parked
from smcpeer import ADD_LINK, CONFIRM_LINK, CONFIRM_RKEY, DELETE_LINK, \
    DELETE_RKEY, NO_EYEC, REJECT, REQ_ADD_LINK, RESPONSE, TEST_LINK, Peer, \
    Server, message
from sockdiag import fallback
from traced import Traced

ANSWERED, MALFORMED, DROPPED, NOTHING = "answered", "LlcMalformed", \
    "LlcDropped", "nothing"
NEGATIVE, RETRY = 0x20, 0x10
OTHER_LINK = 9
EYE_CATCHERS = 0x03050000       # SMC_REASON_RMBE_EC
TUNSETIFF, TUNSETLINK = 0x400454CA, 0x400454CD
IFF_TUN_NO_PI, ARPHRD_TUNNEL6 = 0x1001, 769


def say(peer, table):
    """the messages, and what they do: no more of them at a time than the
    kernel's queue holds"""
    counters = Counters()
    table = list(table)
    want = [what for _, what in table]
    got = []
    while table:
        for data, _ in table[:30]:
            peer.qp.send(data)
        del table[:30]
        got += said(peer)
    c = counters.moved()
    for name in MALFORMED, DROPPED:
        assert c.get(name, 0) == want.count(name), (name, want.count(name), c)
    return got


def of_any_kind():
    """types that there are not, lengths that cannot be"""
    known = {1, 2, 4, 5, 6, 7, 9}
    for kind in range(16):
        if kind not in known:
            yield message(0x20 | kind), MALFORMED
            yield message(0x20 | kind, RESPONSE), MALFORMED
        # version 1
        v1 = kind in known - {5} | {3}
        yield bytes([kind, 44]) + bytes(42), DROPPED if v1 else MALFORMED
        yield bytes([kind, 43]) + bytes(42), MALFORMED
    for high in 0x30, 0x40, 0x80, 0xf0:
        yield message(high | 7), MALFORMED
    for length in 0, 1, 2, 26, 43:
        yield message(TEST_LINK)[:length], MALFORMED
        yield message(DELETE_RKEY)[:length], MALFORMED
    for field in 0, 1, 43:
        yield struct.pack("<BH41x", TEST_LINK, field), MALFORMED


def answer_less(confirm_request, add_link):
    """what has no answer; the parameters: what becomes of these"""
    for count in 0, 1, 8, 9, 255:
        body = bytes([count]) + b"\xff" * 39
        for flags in RESPONSE, RESPONSE | NEGATIVE | RETRY | REJECT | 0x0f:
            yield message(CONFIRM_RKEY, flags, body), DROPPED
            yield message(DELETE_RKEY, flags, body), DROPPED
            yield message(TEST_LINK, flags, body), NOTHING
            yield message(DELETE_LINK, flags, body), NOTHING
            yield message(ADD_LINK, flags, body), NOTHING
            yield message(REQ_ADD_LINK, flags, body), NOTHING
    yield message(CONFIRM_LINK, NO_EYEC), confirm_request
    yield message(ADD_LINK, 0, b"\xff" * 40), add_link


def answered():
    """requests with counts and lengths at each limit and past it"""
    for count in 0, 1, 2, 3, 255:
        yield message(CONFIRM_RKEY, 0, bytes([count]) + b"\xee" * 39), \
            RESPONSE | (NEGATIVE | RETRY if count > 2 else 0)
    for count in 0, 1, 8, 9, 10, 126, 255:
        head = bytes([count, 0, 0, 0])
        yield message(DELETE_RKEY, 0, head + b"\xee" * 36), RESPONSE
        # as many as a receive of 512 bytes holds
        keys = b"\xee" * 4 * min(count, 126)
        yield message(DELETE_RKEY, 0, head + keys, 8 + max(36, len(keys))), \
            RESPONSE
    for length in 44, 45, 47, 511, 512:
        yield message(TEST_LINK, 0, b"\x11" * (length - 4), length), RESPONSE
    # the length is what the device says, not the message
    for field in 44, 45, 65535:
        yield struct.pack("<BH41x", TEST_LINK, field), RESPONSE


def case_llc_table():
    """each kind on an active link of a server"""
    peer = begin()
    say(peer, of_any_kind())
    got = say(peer, answer_less(DROPPED, NOTHING))
    assert not got, [m.hex() for m in got]
    for request, flags in answered():
        peer.qp.send(request)
        reply = peer.qp.messages.get(timeout=ANSWER)
        assert (reply[0], reply[3], len(reply)) == (request[0], flags, 44), \
            (request.hex(), reply.hex())
        if request[0] != DELETE_RKEY:
            assert reply[4:] == request[4:44], (request.hex(), reply.hex())
    for count in 0, 1, 8, 9, 255:
        peer.qp.send(message(REQ_ADD_LINK, 0, bytes(20) + bytes([count]), 500))
        reply = peer.qp.messages.get(timeout=ANSWER)
        assert reply[0] == REQ_ADD_LINK and reply[3] & RESPONSE, reply.hex()
    peer.round()
    lab.counters = Counters()
    refused()


def case_llc_table_client():
    """each kind on an active link of a client"""
    begin()
    peer = third(Server)
    peer.connect()
    say(peer, of_any_kind())
    got = say(peer, answer_less(DROPPED, ANSWERED))
    assert [(m[0], m[3] & (RESPONSE | REJECT)) for m in got] == \
        [(ADD_LINK, RESPONSE | REJECT)], [m.hex() for m in got]
    for length in 44, 71, 72, 73, 88, 500:
        body = b"\xff" * (length - 4)
        peer.qp.send(message(ADD_LINK, 0, body, length))
        reply = peer.llc(ADD_LINK, ANSWER)
        assert reply[3] & (RESPONSE | REJECT) == RESPONSE | REJECT, reply.hex()
    for flags in 0, 0x20:
        peer.qp.send(message(DELETE_LINK, flags, bytes([OTHER_LINK])))
        reply = peer.llc(DELETE_LINK, ANSWER)
        assert reply[3] & RESPONSE and reply[5:9] == b"\0\x10\0\0", reply.hex()
    peer.qp.send(message(REQ_ADD_LINK))
    peer.round()
    peer.alive(ANSWER)
    assert peer.qp.messages.empty()
    # this link: answered, then it ends
    peer.qp.send(message(DELETE_LINK, 0, b"\1\xff\xff\xff\xff"))
    reply = peer.llc(DELETE_LINK, ANSWER)
    assert reply[3] & RESPONSE and reply[5:9] == bytes(4), reply.hex()
    gone(peer.conn, ConnectionAbortedError)
    part(peer)
    lab.peer.round()
    lab.honest.round()


def early(peer):
    """all but CONFIRM LINK, which would not be early; what becomes of each
    depends on the state"""
    for data, _ in [*of_any_kind(), *answer_less(0, 0), *answered()]:
        if data[:1] != bytes([CONFIRM_LINK]):
            peer.qp.send(data)
    assert peer.qp.await_acks(LIMIT) is None


def case_llc_early():
    """each kind before the link is confirmed, and before there is one"""
    begin()
    peer = third()
    peer.contact()
    # the kernel's queue pair is not set up: nothing hears it
    for data, _ in answered():
        peer.qp.packet(4, peer.qp.psn, data[:512], 1)
    peer.conn.tcp.send(accept_r(peer.args, 3, True, peer.conn.end))
    request = peer.llc(CONFIRM_LINK)
    early(peer)
    said(peer)
    say(peer, [(message(CONFIRM_LINK, NO_EYEC, peer.link_self(1)), DROPPED)])
    peer.confirm(request)
    said(peer)
    peer.round()
    early(peer)
    said(peer)
    peer.round()
    refused()
    part(peer)


def case_llc_early_client():
    """the same with the kernel as the client, which waits for CONFIRM LINK"""
    begin()
    peer = third(Server)
    peer.contact()
    counters = Counters()
    peer.qp.send(message(CONFIRM_LINK, RESPONSE | NO_EYEC, peer.link_self(1)))
    await_that("it is taken", lambda: counters.moved().get(DROPPED) == 1, LIMIT)
    early(peer)
    peer.confirm()
    said(peer)
    # a second one
    peer.qp.send(message(CONFIRM_LINK, NO_EYEC, peer.link_self(2)))
    peer.round()
    refused()
    part(peer)


def remote(kind):
    """a host behind a gateway, with our MAC address"""
    peer = third(kind, answers=lab.honest.answers)
    peer.args.mac = lab.net.peer_mac
    peer.args.ip = peer.ip = bytes((10, 98, 0, 3))
    lab.net.ips.add(peer.ip)
    return peer


def case_same_mac():
    """behind a gateway nothing is sent to the MAC address of a peer: it may be
    ours, or none"""
    route = "10.98.0.0/24", "via", "10.99.0.2"
    subprocess.run(("ip", "route", "add", *route), check=True)
    try:
        for kind in Peer, Server:
            begin()
            peer = remote(kind)
            peer.connect()
            peer.round()
            refused()
            part(peer)
    finally:
        subprocess.run(("ip", "route", "delete", *route), check=True)


def no_link(**args):
    """a client and a server to which the kernel makes no link; args: what they say
    of themselves"""
    begin()
    peer = third()
    vars(peer.args).update(args)
    peer.contact()
    peer.conn.tcp.send(accept_r(peer.args, 3, True, peer.conn.end))
    assert peer.clc(peer.conn.tcp, 3) is None, "no Decline"
    peer.accept().close()
    part(peer)
    peer = third(Server)
    vars(peer.args).update(args)
    conn = peer.new_link()
    assert peer.called(conn, True) is None, "no Decline"
    conn.forget()
    part(peer)
    assert lab.moved()["LinkDownSetup"] == 2, lab.moved()
    lab.honest.round()


def case_same_mac_near():
    """on the same wire: what is sent there stays in our device"""
    no_link(mac=lab.net.peer_mac)


def case_wide_gateway():
    """the peer's port is behind a gateway whose address is longer than those of
    Ethernet, as with IPoIB and some tunnels"""
    fd = os.open("/dev/net/tun", os.O_RDWR)
    try:
        fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", b"wide",
                                               IFF_TUN_NO_PI))
        fcntl.ioctl(fd, TUNSETLINK, ARPHRD_TUNNEL6)
        for what in ("address", "add", "10.97.0.1/24", "dev", "wide"), \
                ("link", "set", "wide", "up"), \
                ("route", "add", "10.98.0.0/24", "via", "10.97.0.2"):
            subprocess.run(("ip", *what), check=True)
        no_link(ip=bytes((10, 98, 0, 3)))
    finally:
        os.close(fd)


def case_confirm_refused():
    """answers to CONFIRM LINK that end the handshake, and no other one"""
    begin()
    peer = third()
    peer.contact()
    peer.conn.tcp.send(accept_r(peer.args, 3, True, peer.conn.end))
    peer.llc(CONFIRM_LINK)
    peer.qp.send(message(CONFIRM_LINK, RESPONSE))       # has eye catchers
    assert peer.clc(peer.conn.tcp, 3) is None, "no Decline"
    with peer.accept() as srv:
        why = fallback(srv)
    assert why == EYE_CATCHERS, hex(why)
    part(peer)
    assert lab.moved()["LinkDownSetup"] == 1, lab.moved()
    peer = third(Server)
    peer.contact()
    peer.qp.send(message(CONFIRM_LINK, 0, peer.link_self(1)))
    assert peer.clc(peer.conn.tcp, 2) is None, "no Decline"
    plain(peer.conn)
    why = fallback(peer.conn.sock)
    assert why == EYE_CATCHERS, hex(why)
    peer.conn.forget()
    part(peer)
    assert lab.moved()["LinkDownSetup"] == 2, lab.moved()
    lab.peer.round()
    lab.honest.round()


def unconfirmed(**how):
    """a host that has got the request, and does not answer"""
    peer = third(**how)
    peer.contact()
    peer.conn.tcp.send(accept_r(peer.args, 3, True, peer.conn.end))
    peer.llc(CONFIRM_LINK)
    return peer


def case_unconfirmed():
    """A host that does not confirm its link gets none for a while, if it did not
    close the connection before it was time: and no other host."""
    begin()
    sysctl("handshake_timeout_ms", int(limit(2000)))
    sysctl("fallback_memory_s", 600)
    try:
        peer = unconfirmed()
        peer.conn.tcp.rst()
        part(peer)
        peer = unconfirmed()
        assert peer.clc(peer.conn.tcp, 3) is None, "no Decline"
        peer.accept().close()
        tcp, answer = peer.proposed()
        assert not answer, "it gets a link"
        peer.accept().close()
        tcp.rst()
        part(peer)
        c = lab.moved()
        # the first one's reset may be noticed after its DELETE LINK
        downs = c["LinkDownSetup"] + c.get("LinkDownPeer", 0)
        assert downs == 2 and c["HsNoLink"] == 1, c
        end_group()
        begin()
        lab.peer.round()
    finally:
        sysctl("handshake_timeout_ms", 20000)
        sysctl("fallback_memory_s", 0)


def case_decline_after_link():
    """the link is confirmed and the peer declines all the same, before the program
    is told of either: it has TCP, and no error"""
    begin()
    peer = third(Server)
    peer.contact()
    conn = peer.conn
    with Parked(conn.sock):
        peer.confirm()
        conn.tcp.send(decline())
        peer.alive(ANSWER)
    plain(conn)
    conn.forget()
    part(peer)
    assert lab.moved()["LinkDownSetup"] == 1, lab.moved()
    lab.honest.round()


def case_delete_link_odd():
    """of a link that is not there, as an answer, for any reason: nothing.  Of
    this link: the group ends, and no other"""
    peer = begin()
    for reason in 0, 1, 0x10000, 0x60000, 0x100000, 0xffffffff:
        for flags in 0, 0x20, RESPONSE, RESPONSE | 0x60:
            peer.qp.send(message(DELETE_LINK, flags, struct.pack(
                ">BI", OTHER_LINK, reason)))
    peer.round()
    refused(LlcDropped=0, LlcMalformed=0)
    assert peer.qp.messages.empty(), peer.qp.messages.get().hex()
    second = peer.another()
    lab.counters = Counters()
    peer.qp.send(message(DELETE_LINK, 0, b"\1\xff\xff\xff\xff"))
    for conn in peer.conn, second:
        gone(conn, ConnectionAbortedError)
    group_lost("LinkDownPeer", 2)


def case_delete_rkey():
    """keys in use: their connections end.  Keys of none, of another group, and
    more than the message has: nothing"""
    peer = begin()
    first, second, last = (peer.another() for _ in range(3))
    keys = [second.end.key, last.end.key, second.end.key,
            lab.honest.conn.end.key, 0, 0xffffffff]
    # the last one's is beyond the message
    peer.qp.send(message(DELETE_RKEY, 0, struct.pack(
        ">B3x10I", 255, *[0x77] * 9, last.end.key))[:44])
    peer.alive(ANSWER)
    last.round()
    last.close()
    no_leak()
    lab.counters = Counters()
    with Traced("smc_state") as trace:
        peer.qp.send(message(DELETE_RKEY, 0, struct.pack(
            ">B3x126I", 126, *(keys * 21)), 512))
        reply = peer.llc(DELETE_RKEY, ANSWER)
        told = trace.count("event=killed", "PEERPROTO")
    assert reply[3] & RESPONSE and reply[4] == 126, reply.hex()
    assert told == 1, told
    gone(second)
    first.round()
    lost(1)
    first.close()
    second.forget()


def case_delete_rkey_long():
    """255 keys, in a group without the agreement on one link: its receives are
    as long as any message"""
    peer = begin(release=0, answers=(DELETE_RKEY, ADD_LINK))
    conn = peer.another()
    data = message(DELETE_RKEY, 0, struct.pack(
        ">B3x255I", 255, *range(1, 255), conn.end.key), 1028)
    peer.qp.send(data[:-4])             # all but the last
    conn.round()
    peer.qp.send(data.ljust(4224, b"\xff"))
    gone(conn)
    conn.forget()
    lost(1, LlcMalformed=0)
    end_group()


def case_delete_rkey_many():
    """the rings of connections that end together: eight keys in a request, each
    once, and the same keys if it is repeated; freed when it is answered"""
    peer = begin(answers=())
    conns = [peer.another() for _ in range(11)]
    keys = {c.kernel.key.to_bytes(4, "big") for c in conns}
    asked = []
    first = None
    for conn in conns:
        conn.ruin()
        first = first or peer.llc(DELETE_RKEY)
    await_that("rings are in use", lambda:
               lab.moved().get("ConnDestroyed", 0) == len(conns), LIMIT)
    for n in 1, 8, 2:
        request, first = first or peer.llc(DELETE_RKEY), None
        assert request[4] == n, request.hex()
        asked += (request[a:a + 4] for a in range(8, 8 + 4 * n, 4))
        if n == 1:
            # not answered for two seconds
            again = peer.llc(DELETE_RKEY)
            assert again == request, again.hex()
            peer.qp.send(message(DELETE_RKEY, RESPONSE, request[4:12]))
        peer.qp.send(message(DELETE_RKEY, RESPONSE, request[4:12]))
    assert len(asked) == 11 and set(asked) == keys, asked
    # the second answer is late
    lost(11, LlcDropped=1)
    no_leak()
    end_group()


def case_delete_rkey_answers():
    """answers to DELETE RKEY before there is a request, and more of them than
    requests: counted, and no ring is freed for them"""
    peer = begin(answers=())
    conn = peer.another()
    conn.ruin()
    request = peer.llc(DELETE_RKEY)
    for _ in range(5):
        peer.qp.send(message(DELETE_RKEY, RESPONSE, request[4:12]))
    lost(1, LlcDropped=4)
    no_leak()
    peer.round()
    end_group()
