#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""churn [SECONDS] - everything is dumped 10 times a second, for 20 s by
default, while connections of all kinds come and go

Every dump is read to its end: sockets with all attributes and with a filter,
every command of the two generic netlink families, the counters.  Needs the
module, root, and an RDMA port (hostenv.py).  What is sent follows from SMC_SEED.
"""
import os
import random
import signal
import socket
import struct
import sys
import time

import cases
import hostenv
import sockdiag
from genetlink import Genl, PNET, P_ADD, P_FLUSH, P_GET, attrs_of, num, pnet
from limits import limit
from sockdiag import MODES, PROTO_SMC, SMCD, SMCR, TCP

SMC_GENL = "SMC_GEN_NETLINK"
GETS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16)
RATE = 10


def churn(how, address, tcp):
    """connections, some of them short, until killed"""
    rand = random.Random(how + os.environ.get("SMC_SEED", ""))
    lst = socket.socket(socket.AF_INET, socket.SOCK_STREAM, PROTO_SMC)
    lst.bind((address, 0))
    lst.listen(64)
    keep = []
    while True:
        cli = socket.socket(socket.AF_INET, socket.SOCK_STREAM,
                            0 if tcp else PROTO_SMC)
        cli.settimeout(limit(60))
        cli.connect(lst.getsockname())
        srv, _ = lst.accept()
        srv.settimeout(limit(60))
        data = rand.randbytes(rand.randrange(1, 3000))
        cli.sendall(data)
        got = b""
        while len(got) < len(data):
            more = srv.recv(3000)
            assert more, f"{how}: end of file"
            got += more
        assert got == data, how
        keep.append((cli, srv))
        if len(keep) > rand.randrange(8):
            for s in keep.pop(0):
                s.close()


class Reader:
    def __init__(self):
        self.genl, self.pnet = Genl(SMC_GENL), Genl(PNET)
        self.rows = {SMCR: 0, TCP: 0, SMCD: 0}
        self.groups = 0

    def all(self):
        for row in sockdiag.dump(0xff):
            self.rows[row.mode] += row.state == sockdiag.ACTIVE
        for row in sockdiag.dump(0, filters=sockdiag.attr(
                MODES, struct.pack("=I", 1 << SMCD))):
            assert row.mode == SMCD
        for cmd in GETS:
            for _, data in self.genl.dump(cmd):
                self.groups += set(attrs_of(data)) == {2}
        for _, data in self.pnet.dump(P_GET):
            assert num(attrs_of(data)[4]) in (1, 255)
        with open("/proc/net/smc_stat", encoding="ascii") as f:
            assert f.read()


def transports(value):
    with open("/proc/sys/net/smc/transports", "w", encoding="ascii") as f:
        f.write(value + "\n")


def start(how, address, tcp):
    """a child that churns"""
    pid = os.fork()
    if not pid:
        try:
            churn(how, address, tcp)
        except BaseException as e:      # pylint: disable=broad-except
            print(f"# {how}: {e!r}", flush=True)
        os._exit(1)
    return pid


def case_churn():
    seconds = float(sys.argv[1]) if sys.argv[1:] else 20
    Genl(PNET).do(P_ADD, pnet("NET", hostenv.NETIF, hostenv.rdma_device()))
    pids = [start("rdma", hostenv.LOCAL_V4, False),
            start("lo", "127.0.0.1", False),
            start("tcp", "127.0.0.1", True)]
    reader = Reader()
    done, late = 0, 0
    begin = time.monotonic()
    # emulated and loaded a round may take long: then it takes longer, not less
    while time.monotonic() < begin + seconds or done < RATE * seconds / 10:
        # both ends are on this host, where SMC-D comes first; a handshake
        # that meets the change is TCP
        transports("smcr" if (time.monotonic() - begin) % 2 < 1 else "smcd")
        reader.all()
        done += 1
        due = begin + (done + late) / RATE
        while due < time.monotonic():
            late += 1
            due += 1 / RATE
        time.sleep(max(0, due - time.monotonic()))
    for pid in pids:
        assert os.waitpid(pid, os.WNOHANG)[0] == 0, "a churner has ended"
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
    transports("smcd smcr")
    Genl(PNET).do(P_FLUSH)
    print(f"# SMC_SEED={os.environ.get('SMC_SEED', '')}: {done} rounds, "
          f"{late} beats missed, rows {reader.rows}, {reader.groups} groups")
    assert all(reader.rows.values()) and reader.groups


sys.exit(cases.main(globals(), []))
