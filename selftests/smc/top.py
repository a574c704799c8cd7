#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""top - smcss and smctop tell of live connections what is true

Needs the module and root.  TOP_MODE says what connections have to use, SMC-D
or SMC-R, TOP_ADDRESS on which address of this host.  One "ok" or "not ok" line
a case; the exit code says whether all were ok.
"""
import contextlib
import json
import os
import select
import socket
import subprocess
import sys

import cases
from limits import await_that, limit

PROTO_SMC = 256
MODE = os.environ.get("TOP_MODE", "SMC-D")
ADDRESS = os.environ.get("TOP_ADDRESS", "127.0.0.1")
TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "../../tools")
sys.path.append(os.path.join(TOOLS, "tests"))
import screen


def tool(*command):
    run = subprocess.run([os.path.join(TOOLS, command[0]), *command[1:]],
                         stdout=subprocess.PIPE, check=True, timeout=limit(120))
    return run.stdout.decode()


def rows(*command):
    return json.loads(tool(*command))


class Pair:
    """Two connected sockets of this process."""

    def __init__(self):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM,
                           PROTO_SMC) as lsock:
            lsock.bind((ADDRESS, 0))
            lsock.listen()
            self.client = socket.socket(socket.AF_INET, socket.SOCK_STREAM,
                                        PROTO_SMC)
            self.client.connect(lsock.getsockname())
            self.server = lsock.accept()[0]
        self.port = self.server.getsockname()[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()
        self.server.close()

    def both(self, found):
        """The rows of client and server"""
        client = [r for r in found if r["peer"]["port"] == self.port]
        server = [r for r in found if r["local"]["port"] == self.port]
        assert len(client) == len(server) == 1, found
        return client[0], server[0]


def case_info():
    with Pair() as p:
        p.client.sendall(bytes(1000))
        assert select.select([p.server], [], [], limit(30))[0]
        c, s = p.both(rows("smcss", "-j"))
        assert c["mode"] == s["mode"] == MODE, (c, s)
        assert c["inode"] == os.fstat(p.client.fileno()).st_ino
        assert c["local"]["address"] == s["peer"]["address"] == ADDRESS
        cc, sc = c["connection"], s["connection"]
        assert cc["peer_unread_bytes"] == sc["unread_bytes"] == 1000, (c, s)
        assert cc["unsent_bytes"] == sc["unsent_bytes"] == 0
        assert cc["peerbuf_bytes"] == sc["rcvbuf_bytes"] > 0
        assert sc["peerbuf_bytes"] == cc["rcvbuf_bytes"] > 0
        assert int(cc["token"], 16) and int(sc["token"], 16)
        part = "dmb" if MODE == "SMC-D" else "link"
        assert c[part]["gid"] == s[part]["peer_gid"]
        assert s[part]["gid"] == c[part]["peer_gid"]
        if MODE == "SMC-D":
            assert c["dmb"]["token"] == s["dmb"]["peer_token"]
            groups = {r["lg_id"] for r in rows("smcd", "-j", "linkgroup")}
            assert {c["dmb"]["lg_id"], s["dmb"]["lg_id"]} <= groups
        else:
            assert c["link"]["role"] == "CLNT" and s["link"]["role"] == "SERV"
        text = tool("smcss", "-i", "-P", "%s:%d" % (ADDRESS, p.port))
        assert "1000 not read by the peer" in text, text


def case_filters():
    with Pair() as p:
        def count(*options):
            return len(rows("smcss", "-j", *options))

        port = str(p.port)
        mode = MODE.lower().replace("-", "")
        other = "smcr" if mode == "smcd" else "smcd"
        assert count("-t", port) == 2
        assert count("-L", ":" + port) == 1
        assert count("-P", "%s/32:%s" % (ADDRESS, port)) == 1
        assert count("-t", port, "-P", ADDRESS + "/8") == 2
        assert count("-t", port, "-P", "192.0.2.0/24") == 0
        assert count("-t", port, "-m", mode) == 2
        assert count("-t", port, "-m", other + ",tcp") == 0
        assert count("-t", port, "-s", "active") == 2
        assert count("-t", port, "-s", "listen,init") == 0


def sleeps(process):
    """between two looks"""
    with open(f"/proc/{process.pid}/stack", encoding="ascii") as f:
        return "nanosleep" in f.read()


def case_rates():
    """All is sent and received between the two looks: what they say is exact."""
    count, size = 50, 10000
    with Pair() as p, subprocess.Popen(
            [os.path.join(TOOLS, "smctop"), "-j", "-n", "1", "-d",
             str(limit(5))], stdout=subprocess.PIPE) as top:
        await_that("no first look", lambda: sleeps(top), limit(60))
        for _ in range(count):
            p.client.sendall(bytes(size))
            assert len(p.server.recv(size, socket.MSG_WAITALL)) == size
        assert sleeps(top), "too late for the second look"
        look = json.load(top.stdout)
    c, s = p.both(look["connections"])
    assert look["interval_ms"] >= limit(5) * 1000
    rate = count * size * 1000 // look["interval_ms"]
    assert c["sent_per_s"] == s["received_per_s"] == rate, (rate, look)
    assert c["received_per_s"] == s["sent_per_s"] == 0
    link, = [r for r in look["links"] if r["lg_id"] == c["lg_id"]]
    assert link["sent_per_s"] >= c["sent_per_s"] and link["mode"] == MODE
    totals = look["totals"]
    mine = totals[MODE.lower().replace("-", "")]
    assert mine["sent_per_s"] == rate, (rate, totals)
    assert totals["cdc_sent_per_s"] > 0
    assert (totals["work_requests_per_s"] > 0) == (MODE == "SMC-R"), totals


def case_stall():
    with Pair() as p:
        p.client.setblocking(False)

        def is_full():
            with contextlib.suppress(BlockingIOError):
                while True:
                    p.client.send(bytes(1 << 20))
            c, s = (r["connection"] for r in p.both(rows("smcss", "-j")))
            return s["unread_bytes"] == s["rcvbuf_bytes"] and \
                (MODE == "SMC-D" or c["unsent_bytes"] > 0)

        await_that("there is still room", is_full, limit(60))
        c, s = p.both(rows("smctop", "-jn1", "-d", "0.5")["connections"])
        assert c["stalled_out"] and s["stalled_in"], (c, s)
        assert not c["stalled_in"] and not s["stalled_out"], (c, s)
        assert c["sent_per_s"] == s["received_per_s"] == 0
        ring = p.both(rows("smcss", "-j"))[1]["connection"]["rcvbuf_bytes"]
        assert s["unread_bytes"] == ring, (s, ring)
        assert (c["unsent_bytes"] > 0) == (MODE == "SMC-R"), c
        text = tool("smctop", "-bn1", "-d", "0.1")
        assert " out " in text and " in " in text, text


def case_text():
    with Pair() as p:
        text = tool("smctop", "-b", "-n", "2", "-d", "0.1")
        assert text.count("\nMode ") == 2 and str(p.port) in text, text
        text = tool("smctop", "-b", "-n", "1", "-d", "0.1", "-g")
        assert "\nLG-ID " in text and MODE in text, text


def case_screen():
    """What the keys do is tested with recordings; here it is the real thing."""
    with Pair() as p:
        t = screen.Terminal(["./smctop", "-d", "0.2"])
        t.expect("connection", b":%d" % p.port)
        t.expect("mode", MODE.encode())
        t.key(b"g")
        t.expect("links", b"LG-ID")
        t.expect("mode", MODE.encode())
        t.key(b"q")
        t.end("smctop")
    assert not screen.failed


if __name__ == "__main__":
    sys.exit(cases.main(globals()))
