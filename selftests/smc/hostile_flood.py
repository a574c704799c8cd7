# SPDX-License-Identifier: GPL-2.0
"""hostile_flood - too much, too far, and nothing at all

Cases of hostile_rdma.py: messages back to back, accesses to what is not the
peer's, and a peer that acknowledges or answers nothing.
"""
import struct
import threading
import time

from clcmsg import accept_r, proposal
from counters import Counters, await_ends, limits
from hostile import ANSWER, LIMIT, LONG, SLOW, STREAMS, begin, elsewhere, \
    end_group, gone, group_lost, lab, lost, no_leak, refused, said, waiting
from hostile_llc import answered, of_any_kind
from limits import await_that, limit
from minitcp import Timeout
from roce import ADD, READ, RNR, reth
from smcpeer import ADD_LINK, CDC, DELETE_LINK, DELETE_RKEY, RESPONSE, \
    TEST_LINK, cdc, message
from steps import calls_of

MANY = 48 if SLOW else 250 if LONG else 96      # connections of a group
# forged messages
CROWD = 250 if LONG and not SLOW else 16        # of new ones beside a deaf device
CDCS = 100000 if LONG and STREAMS else \
    (100000 if LONG else 1000) // (10 if LONG and SLOW else 2 if SLOW else 1)
LLCS = CDCS // 5 if LONG else CDCS // 2
LLC_QUEUE, TX_SLOTS = 64, 36                    # SMC_RDMA_ of rdma.h


def all_keys(count=126, length=512):
    """as many as a receive of 512 bytes holds"""
    return message(DELETE_RKEY, 0, struct.pack(
        f">B3x{count}I", count, *range(1, count + 1)), length)


def case_keys_cost():
    """255 keys are looked for in one walk over the connections, as one key is"""
    peer = begin(release=0, answers=(DELETE_RKEY, ADD_LINK))
    conns = [peer.another() for _ in range(MANY)]
    assert all(conns), "declined"
    said(peer)
    with calls_of("smc_llc_deletes_rkey") as calls:
        for n in 1, 255:
            before = calls()
            peer.qp.send(all_keys(n, 1028))
            said(peer)
            looked = calls() - before
            print(f"# {n} keys: {looked} looks", flush=True)
            assert looked == 1 + MANY, (n, looked)
    conns[-1].round()
    refused(ConnAborted=0)
    end_group()


def beside(flood, count, least=3):
    """flood(i) for each i below @count in another thread, and then on until the
    honest peer's data has moved so many rounds at least meanwhile"""
    errors, times = [], []
    over = threading.Event()

    def run():
        try:
            i = 0
            while not over.is_set() and (i < count or len(times) < least):
                flood(i)
                i += 1
        except Exception as e:          # pylint: disable=broad-except
            errors.append(e)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        while thread.is_alive():
            start = time.monotonic()
            lab.honest.round()
            times.append(time.monotonic() - start)
    finally:
        over.set()
        thread.join()
    assert not errors, errors
    longest = max(times, default=0)
    print(f"# {len(times)} rounds beside, the longest {longest:.2f} s",
          flush=True)
    assert longest < ANSWER, longest
    # the processors are given back
    start = time.monotonic()
    said(lab.peer)
    assert time.monotonic() - start < ANSWER
    assert not waiting()
    lab.honest.round()


def case_flood_keys():
    peer = begin()
    data = all_keys()

    beside(lambda _: peer.qp.send(data), LLCS)
    peer.round()
    refused(LlcMalformed=0)


def case_flood_llc():
    """requests that are answered, and answers without requests"""
    peer = begin()
    tests = message(TEST_LINK, 0, b"x" * 16), message(DELETE_RKEY, RESPONSE), \
        message(TEST_LINK, RESPONSE)

    beside(lambda i: peer.qp.send(tests[i % 3]), LLCS)
    peer.round()
    refused(LlcMalformed=0)


def case_queue_full():
    """The peer's device takes no answer: so many requests as the queue has places
    and the link has slots wait for that, and the others are counted.  When it
    takes them again, each that waited has its answer."""
    peer = begin()
    count = 400
    peer.qp.mute = True
    for i in range(count):
        peer.qp.send(message(TEST_LINK, 0, b"x" * 16))
        if i % 100 == 0:
            lab.honest.round()
    assert peer.qp.await_acks(LIMIT) is None
    elsewhere()
    lab.honest.round()
    dropped = lab.moved().get("LlcDropped", 0)
    peer.qp.mute = False
    answers = sum(data[0] == TEST_LINK for data in said(peer))
    print(f"# {dropped} dropped, {answers} answered", flush=True)
    assert dropped + answers == count and \
        LLC_QUEUE <= answers <= LLC_QUEUE + TX_SLOTS, (dropped, answers)
    peer.round()
    refused(LlcMalformed=0)


def case_flood_cdc():
    """of no connection, of an old sequence, and news that are none"""
    peer = begin()
    conn = peer.another()
    conn.round()
    prod, cons = (0, conn.sent), (0, conn.read)
    token = conn.kernel.token.to_bytes(4, "big")

    def flood(i):
        if i % 3 == 0:
            peer.qp.send(cdc(conn.seq, b"\xff" * 4, (0, 0), (0, 0)))
        elif i % 3 == 1:
            peer.qp.send(cdc(conn.seq - 1, token, prod, cons))
        else:                   # please announce, I am blocked
            conn.seq += 1
            peer.qp.send(cdc(conn.seq, token, prod, cons, (0x90, 0)))

    beside(flood, CDCS)
    conn.round()
    conn.close()
    peer.round()
    refused(CdcForged=0)


def case_random():
    """any CDC and any LLC message; then there is another connection"""
    conns = []

    def random_cdc(conn):
        """more often right than wrong in each field, so that some live"""
        rng = lab.rng
        end = conn.kernel
        size = rng.choice((conn.room, conn.size))
        odd = (0, 1, 255, 2**15, 2**16 - 1), \
            (0, 1, 999, size - 1, size, size + 1, 2**31, 2**32 - 1)
        right = (0, 0)
        prod, cons = (right if rng.random() < .8 else
                      tuple(map(rng.choice, odd)) for _ in range(2))
        conn.seq += rng.choice((1, 1, 1, 0, 7, 2**15))
        data = bytearray(cdc(
            conn.seq, rng.choice((end.token, end.token, end.token + 1, 0,
                                  rng.getrandbits(32))).to_bytes(5, "big")[1:],
            prod, cons, (rng.choice((0, 0x80, 0x10, 0x60, 0xff)),
                         rng.choice((0,) * 9 + (0x80, 0x40, 0x20, 0x1f)))))
        if rng.random() < .1:
            data[rng.randrange(len(data))] = rng.randrange(256)
        # the first connection stays
        if data[4:8] == peer.token:
            data[4] = 0xff
        return bytes(data[:rng.choice((44, 44, 44, 26, 25))])

    def random_llc():
        data = bytearray(lab.rng.choice(llcs))
        for _ in range(lab.rng.randrange(4)):
            if data:
                data[lab.rng.randrange(min(len(data), 44))] = \
                    lab.rng.randrange(256)
        # to end the group is no forgery, and a CDC is not meant
        if data and data[0] in (DELETE_LINK, CDC):
            data[0] = TEST_LINK
        return bytes(data)

    peer = begin()
    llcs = [data for data, _ in [*of_any_kind(), *answered()]]
    turns, forged = CDCS // 100, 0
    count = 100 + LLCS // turns
    for i in range(turns):
        def flood(i):
            peer.qp.send(random_cdc(conns[0]) if i < 100 else random_llc())

        conns.append(peer.another())
        assert conns[0], "declined"
        before = lab.moved().get("CdcForged", 0)
        if i % 10:
            for n in range(count):
                flood(n)
        else:
            beside(flood, count, 0)
        said(peer)
        forged += lab.moved().get("CdcForged", 0) - before
        conns.pop().ruin()
        peer.round()
        lab.honest.round()
    moved = lab.moved()
    assert "LgrLost" not in moved, moved
    print("#", ", ".join(f"{n} {moved.get(n)}" for n in (
        "CdcForged", "CdcUnknown", "CdcOld", "CdcMalformed", "LlcMalformed",
        "LlcDropped")), flush=True)
    # four of five connections end by a forged cursor, the others by a flag
    print(f"# {forged} of {turns} connections forged", flush=True)
    assert forged >= max(1, turns // 4), forged
    no_leak()
    end_group()


# ---- what the peer may not touch ----

def past_end(conn):
    conn.peer.qp.write(conn.kernel.addr + conn.room - 4, conn.kernel.key,
                       b"x" * 8)


def before_begin(conn):
    conn.peer.qp.write(conn.kernel.addr - 4, conn.kernel.key, b"x" * 8)


def foreign_key(conn):
    other = lab.honest.conn.kernel
    conn.peer.qp.write(other.addr, other.key, b"x" * 8)


def unknown_key(conn):
    conn.peer.qp.write(conn.kernel.addr, conn.kernel.key ^ 0x5a, b"x" * 8)


def retired_key(conn):
    """the kernel's request to forget it has been answered"""
    peer = conn.peer
    second = peer.another()
    second.ruin()
    key = second.kernel.key.to_bytes(4, "big")
    await_that("its key stays", lambda: key in peer.deleted, LIMIT)
    said(peer)
    peer.qp.write(second.kernel.addr, second.kernel.key, b"x" * 8)


def read_ring(conn):
    conn.peer.qp.send(b"", READ, reth(conn.kernel.addr, conn.kernel.key, 8))


def add_to_ring(conn):
    conn.peer.qp.send(b"", ADD, struct.pack(
        ">QIQQ", conn.kernel.addr, conn.kernel.key, 1, 0))


def too_long(conn):
    """longer than any receive"""
    conn.peer.qp.send(bytes(5000))


def forbidden(access, ends=1):
    def case():
        peer = begin()
        access(peer.conn)
        try:
            done = peer.qp.await_acks(ANSWER) is None
        except Timeout:
            # the queue pair was gone before its device could refuse it
            done = False
        assert not done, "it was let through"
        gone(peer.conn, ConnectionAbortedError)
        group_lost("LinkDownQueue", ends)
    return case


case_write_past_end = forbidden(past_end)
case_write_before_begin = forbidden(before_begin)
case_write_foreign_key = forbidden(foreign_key)
case_write_unknown_key = forbidden(unknown_key)
case_write_retired_key = forbidden(retired_key, 2)
case_read = forbidden(read_ring)
case_atomic = forbidden(add_to_ring)
case_too_long = forbidden(too_long)


# ---- nothing at all ----

def at_once(fn, *args):
    start = time.monotonic()
    fn(*args)
    seconds = time.monotonic() - start
    assert seconds < limit(1), f"{seconds:.1f} s"


def speak(peer):
    """The link is given up when ten seconds pass without a word and nothing is
    taken; a busy host needs seconds for a step."""
    peer.qp.send(message(TEST_LINK, RESPONSE))


def crowd(peer, count):
    """connections that begin while the peer's device is as it is now: into the
    group, then into no group or another; and their listener goes"""
    some = []
    for _ in range(count):
        tcp = peer.net.connect(peer.port, True, LIMIT, peer.ip)
        tcp.send(proposal(peer.args, peer.new_end(1)))
        some.append(tcp)
        speak(peer)
    for tcp in some[::2]:
        assert peer.clc(tcp, 2), "declined"
        tcp.send(accept_r(peer.args, 3, False, peer.new_end()))
        speak(peer)
    for step in elsewhere, lab.honest.round, lambda: at_once(peer.lst.close), \
            elsewhere, lab.honest.round:
        step()
        speak(peer)
    for tcp in some:
        tcp.rst()
    peer.listen()


def deaf(how):
    """a peer whose device takes nothing: others go on, and so does it when it
    takes again, as if nothing had been"""
    def case():
        peer = begin()
        conn = peer.another()
        how(peer.qp, True)
        peer.qp.send(message(TEST_LINK))        # the answer is awaited
        data = [lab.rng.randbytes(5000) for _ in range(2)]
        for c, d in zip((peer.conn, conn), data):
            c.sock.sendall(d)
        crowd(peer, CROWD)
        moved = lab.moved()
        assert "LgrLost" not in moved, moved
        how(peer.qp, False)
        for c, d in zip((peer.conn, conn), data):
            assert c.receive(len(d)) == d
        peer.round()
        conn.close()
        lab.honest.round()
        no_leak()
        end_group()
    return case


def mute(qp, on):
    qp.mute = on


def rnr(qp, on):
    qp.refuse = RNR if on else None


def slow(qp, on):
    """a receive every 9 s"""
    def post():
        while qp.receives is not None:
            qp.receives += 1
            time.sleep(9)

    qp.receives = 0 if on else None
    if on:
        threading.Thread(target=post, daemon=True).start()


case_mute = deaf(mute)
case_no_receives = deaf(rnr)
case_few_receives = deaf(slow)


def for_ever():
    """then the link is given up, as if its peer had gone"""
    for how in mute, rnr:
        peer = begin()
        how(peer.qp, True)
        peer.qp.send(message(TEST_LINK))
        peer.conn.sock.sendall(b"x" * 5000)
        peer.conn.sock.settimeout(limit(60))
        gone(peer.conn, TimeoutError)
        group_lost("LinkDownStuck")


def few_for_ever():
    """A receive every 9 s is progress, and the link stays.  But the last messages
    of a connection may take no longer than two minutes."""
    peer = begin()
    qp, conn = peer.qp, peer.another()
    conn.round()
    slow(qp, True)
    try:
        # their answers take more than three minutes
        counters = Counters()
        for _ in range(24):
            qp.send(message(TEST_LINK))
        await_that("no answers", lambda:
                   counters.moved().get("WrPosted", 0) >= 24, LIMIT)
        # the two minutes of an orphan would come before
        with limits(orphan_timeout_s=1):
            conn.forget()

        def is_over():
            lab.honest.round()
            time.sleep(1)
            return "LgrLost" in lab.moved()

        start = time.monotonic()
        await_that("the link stays", is_over, 60 + limit(120))
        took = time.monotonic() - start
        assert took >= 120, f"given up after {took:.0f} s"
    finally:
        slow(qp, False)
    gone(peer.conn, TimeoutError)
    group_lost("LinkDownDetach")


if LONG:
    case_deaf_for_ever = for_ever
    case_few_for_ever = few_for_ever


def case_silent_handshakes():
    """silence in each state of a handshake: others are made, the listener goes
    at once, and so do they"""
    peer = begin()

    def opened():
        return peer.net.connect(peer.port, True, LIMIT, peer.ip)

    def proposed(tcp):
        tcp.send(proposal(peer.args, peer.new_end(1)))
        return peer.clc(tcp, 2)

    tcps = []
    for i in range(24):
        tcps.append(opened())
        if i % 3:
            assert proposed(tcps[-1]), "declined"
        if i % 3 == 2:
            tcps[-1].send(accept_r(peer.args, 3, False, peer.new_end())[:-9])
    elsewhere()
    lab.honest.round()
    peer.round()
    at_once(peer.lst.close)
    elsewhere()
    await_ends("handshakes", lab.moved, LIMIT)
    for tcp in tcps:
        tcp.rst()
    peer.listen()
    no_leak()
    lost(0)
