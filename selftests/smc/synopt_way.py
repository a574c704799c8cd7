#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""synopt_way - the module's own SYN option, and what is on its way

As synopt.py, but c and s are connected by a bridge in r.  What passes there is
captured by tcpdump and judged by tshark.

Of a packet whose checksum a device is to make, on a veth, only the sum of the
pseudo header can be judged.  The ports of the bridge have no such offload: what
they send is complete, in whichever way the module has left it to them.

Needs root, ip, nft, ethtool, tcpdump and tshark.
"""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import bpfopt
import cases
from limits import await_that, limit
from synopt import (ADDRESSES, IP4, IP6, OFFER, SYN_OPTIONS, Inside, Wire,
                    finish, listener, make, offload, once, pair, run,
                    run_between, sysctl, translating)

FIELDS = ("vlan.id", "tcp.flags.ack", "ip.checksum.status",
          "tcp.checksum.status", "tcp.hdr_len", "tcp.options",
          "tcp.options.experimental.exid", "tcp.options.experimental.data",
          "_ws.malformed", "_ws.expert.message")
END = b"the end of the capture"
VLAN, HIDDEN = 7, 6


def net(address, number):
    """the host's address in another network"""
    return address.replace("98.5.", f"98.{number}.") \
        .replace("98:5:", f"98:{number}:")


class Capture:
    """what passes the bridge's port to c or s"""
    def __init__(self, port):
        if not shutil.which("tcpdump") or not shutil.which("tshark"):
            raise cases.Skip("no tcpdump or no tshark")
        fd, self.file = tempfile.mkstemp(suffix=".pcap")
        os.close(fd)
        # pylint: disable-next=consider-using-with
        self.tcpdump = subprocess.Popen(
            ["ip", "netns", "exec", "r", "tcpdump", "-U", "--immediate-mode",
             "-Z", "root", "-i", port, "-w", self.file],
            stderr=subprocess.PIPE, text=True)
        for line in self.tcpdump.stderr:
            if "listening on" in line:
                break

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tcpdump.kill()
        self.tcpdump.wait()
        self.tcpdump.stderr.close()
        os.unlink(self.file)

    def is_over(self):
        with open(self.file, "rb") as f:
            return END in f.read()

    def packets(self):
        """SYNs and SYN-ACKs, as tshark sees them"""
        with Inside("c"), socket.socket(socket.AF_INET,
                                        socket.SOCK_DGRAM) as sock:
            sock.sendto(END, (IP4["s"], 9))
        await_that("the end of the capture", self.is_over, limit(20))
        self.tcpdump.send_signal(signal.SIGINT)
        self.tcpdump.wait()
        fields = [word for field in FIELDS for word in ("-e", field)]
        out = subprocess.run(
            ["tshark", "-r", self.file, "-o", "tcp.check_checksum:TRUE",
             "-o", "ip.check_checksum:TRUE", "-Y", "tcp.flags.syn == 1",
             "-T", "fields", *fields], check=True, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        return [dict(zip(FIELDS, line.split("\t")))
                for line in out.splitlines()]


def judge(packets, syn, synack, vlan=""):
    """those of a connection to each address; @syn, @synack: is its checksum left
    to a device?"""
    acks = [p["tcp.flags.ack"] in ("1", "True") for p in packets]
    assert acks == [False, True] * len(ADDRESSES), packets
    for ack, p in zip(acks, packets):
        options = bytes.fromhex(p["tcp.options"].replace(":", ""))
        is_partial = "Partial (pseudo header)" in p["_ws.expert.message"]
        assert p["vlan.id"] == vlan and not p["_ws.malformed"], p
        # IPv6 has none
        assert p["ip.checksum.status"] in ("1", ""), p
        assert p["tcp.checksum.status"] == "1", p
        assert is_partial == (synack if ack else syn), p
        assert int(p["tcp.hdr_len"]) == 20 + len(options), p
        assert options.endswith(OFFER), p
        assert p["tcp.options.experimental.exid"] == "0xe2d4", p
        assert p["tcp.options.experimental.data"] == "c3d9", p
    # two of the three connections are IPv4's
    assert sum(bool(p["ip.checksum.status"]) for p in packets) == 4, packets


def case_offloaded():
    with Capture("c") as at_c, Capture("s") as at_s:
        for family, to in ADDRESSES:
            assert once(family, to) == {True, False}, to
        judge(at_c.packets(), syn=True, synack=False)
        judge(at_s.packets(), syn=False, synack=True)


def case_not_offloaded():
    offload("off")
    try:
        with Capture("c") as at_c:
            for family, to in ADDRESSES:
                assert once(family, to) == {False}, to
            judge(at_c.packets(), syn=False, synack=False)
    finally:
        offload("on")


def tagged(state):
    """through the VLAN, with this offload"""
    offload(state)
    with Capture("s") as at_s:
        for family, to in ADDRESSES:
            once(family, net(to, VLAN), dev="eth0.7")
        judge(at_s.packets(), syn=False, synack=state == "on", vlan=str(VLAN))


def case_vlan():
    for ns in "cs":
        run(f"ip -n {ns} link add link eth0 name eth0.7 type vlan id {VLAN}; "
            f"ip -n {ns} address add {net(IP4[ns], VLAN)}/24 dev eth0.7; "
            f"ip -n {ns} address add {net(IP6[ns], VLAN)}/64 dev eth0.7 nodad; "
            f"ip -n {ns} link set eth0.7 up")
    try:
        tagged("on")
        tagged("off")
    finally:
        offload("on")
        for ns in "cs":
            run(f"ip -n {ns} link delete eth0.7")


def case_masquerade():
    """a network behind c: address and port of its connections change in c, after
    the option has come"""
    hidden = [net(a, HIDDEN) for a in (IP4["c"], IP6["c"])]
    run(f"ip -n c address add {hidden[0]}/32 dev lo; "
        f"ip -n c address add {hidden[1]}/128 dev lo")
    try:
        with translating("c", f"""table inet t {{
                chain c {{
                    type nat hook postrouting priority 100;
                    ip saddr {hidden[0]} meta l4proto tcp \
                        masquerade to :20000-20100;
                    ip6 saddr {hidden[1]} meta l4proto tcp \
                        masquerade to :20000-20100;
                }}
                chain d {{
                    type filter hook output priority 0;
                    ct state invalid drop;
                }}
                chain e {{
                    type filter hook input priority 0;
                    ct state invalid drop;
                }}
            }}"""):
            for state in "on", "off":
                offload(state)
                for family, to in ADDRESSES:
                    masqueraded(family, to, hidden)
    finally:
        offload("on")
        run(f"ip -n c address del {hidden[0]}/32 dev lo; "
            f"ip -n c address del {hidden[1]}/128 dev lo")


def masqueraded(family, to, hidden):
    wire = Wire()
    lsock = listener(socket.AF_INET6)
    client = make("c", family)
    source = hidden[1] if to == IP6["s"] else hidden[0]
    client.bind(("::ffff:" + source if "ffff" in to else source, 0))
    server = pair(lsock, client, to, True)
    address, port = server.getpeername()[:2]
    assert address in (IP6["c"], "::ffff:" + IP4["c"]), address
    assert 20000 <= port <= 20100, port
    finish(client, server, lsock)
    wire.expect([True], [True])


def lengths(when, size):
    """the lengths of the options of a SYN and a SYN-ACK, with another option of
    this size; those with the offer"""
    found = set()
    with bpfopt.option(when, size):
        for family, to in ADDRESSES:
            wire = Wire()
            lsock = listener(socket.AF_INET6)
            client = make("c", family)
            has_room = 4 + (size + 3 & ~3) + len(OFFER) <= 40
            finish(pair(lsock, client, to, has_room), client, lsock)
            is_syn = when == bpfopt.CONNECT
            wire.expect([has_room or not is_syn], [has_room])
            found.add(wire.lengths["syn" if is_syn else "synack"][0])
    assert len(found) == 1, found
    return found.pop(), has_room


def case_full():
    """every length that options can have, beside which the offer has room or has
    not; then it is plain TCP"""
    for name in SYN_OPTIONS:
        sysctl("c", name, 0)
    try:
        for when in bpfopt.CONNECT, bpfopt.LISTEN:
            got = [lengths(when, size) for size in range(0, 37, 4)]
            assert got == [(n, True) for n in range(12, 41, 4)] + \
                [(36, False), (40, False)], got
            # padded by TCP
            assert lengths(when, 26) == (40, True)
            assert lengths(when, 29) == (36, False)
    finally:
        for name in SYN_OPTIONS:
            sysctl("c", name, 1)


def by_bridge():
    run("ip -n r link add br0 type bridge && ip -n r link set br0 up")
    for ns in "cs":
        run(f"ip -n {ns} link add eth0 type veth peer name {ns} netns r; "
            f"ip netns exec r ethtool -K {ns} tx off >/dev/null; "
            f"ip -n r link set {ns} master br0 up")


if __name__ == "__main__":
    sys.exit(run_between("crs", by_bridge, globals()))
