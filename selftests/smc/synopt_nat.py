#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""synopt_nat - the SYN option, and a router that translates addresses

As synopt.py, with either writer of the option, but c and s are connected by a
router, r, which translates addresses and ports of one end or of both, lowers the
MSS in SYNs, and drops what its connection tracking finds invalid.

Needs root, ip, nft and ethtool.
"""
import socket
import sys

from synopt import (ADDRESSES, IP4, IP6, Inside, Wire, finish, listener, make,
                    offload, pair, run, run_between, translating)

# r has two in the network of c and s: next to c, and next to s
R4 = {"c": "10.98.5.8", "s": "10.98.5.9"}
R6 = {"c": "fd98:5::8", "s": "fd98:5::9"}
OTHER = {"c": "s", "s": "c"}
PORTS = range(20000, 20101)
MASQUERADE = f"""
    chain a {{
        type nat hook postrouting priority 100;
        oif s meta l4proto tcp masquerade to :{PORTS[0]}-{PORTS[-1]};
    }}"""
DNAT = f"""
    chain b {{
        type nat hook prerouting priority -100;
        ip daddr {R4["c"]} tcp dport 7001 dnat ip to {IP4["s"]}:7000;
        ip6 daddr {R6["c"]} tcp dport 7001 dnat ip6 to [{IP6["s"]}]:7000;
    }}"""
FORWARD = """
    chain f {
        type filter hook forward priority 0;
        ct state invalid drop;
        tcp flags & syn == syn tcp option maxseg size set 1200;
    }"""


def translated(rules, to, port, source):
    """@source: of which host the server sees the addresses"""
    with translating("r", f"table inet t {{{rules}{FORWARD}\n}}"):
        try:
            for state in "on", "off":
                offload(state)
                for family, real in ADDRESSES:
                    once(family, real.replace(IP4["s"], to[0])
                         .replace(IP6["s"], to[1]), port, source)
        finally:
            offload("on")


def once(family, to, port, source):
    wire = Wire()
    lsock = listener(socket.AF_INET6)
    client = make("c", family)
    server = pair(lsock, client, to, True, port)
    address, number = server.getpeername()[:2]
    assert address in (source[1], "::ffff:" + source[0]), address
    assert (number in PORTS) == (source[0] == R4["s"]), number
    finish(client, server, lsock)
    wire.expect([True], [True])


def case_masquerade():
    translated(MASQUERADE, (IP4["s"], IP6["s"]), 7000, (R4["s"], R6["s"]))


def case_dnat():
    translated(DNAT, (R4["c"], R6["c"]), 7001, (IP4["c"], IP6["c"]))


def case_both():
    translated(MASQUERADE + DNAT, (R4["c"], R6["c"]), 7001,
               (R4["s"], R6["s"]))


def route():
    """the ends are no neighbours, though of one network"""
    for ns, other in OTHER.items():
        run(f"ip -n {ns} route add {IP4[other]}/32 via {R4[ns]}; "
            f"ip -n {ns} route add {IP6[other]}/128 via {R6[ns]}")


def by_router():
    for name in "net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding":
        with Inside("r"), open("/proc/sys/" + name, "w",
                               encoding="ascii") as f:
            f.write("1")
    for ns in "cs":
        run(f"ip -n {ns} link add eth0 type veth peer name {ns} netns r; "
            f"ip -n r link set {ns} up; "
            f"ip -n r address add {R4[ns]}/32 dev {ns}; "
            f"ip -n r address add {R6[ns]}/128 dev {ns} nodad; "
            f"ip -n r route add {IP4[ns]}/32 dev {ns}; "
            f"ip -n r route add {IP6[ns]}/128 dev {ns}")


if __name__ == "__main__":
    sys.exit(run_between("crs", by_router, globals(), route))
