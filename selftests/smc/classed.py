#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""classed - data to an echo server and back, on a socket with an option set

  classed.py tos|tclass|priority|ifindex VALUE ADDRESS PORT

The family is that of ADDRESS; the socket is IPPROTO_SMC.
"""
import socket
import sys

IPPROTO_SMC = 256
SO_BINDTOIFINDEX = 62
OPTIONS = {"tos": (socket.IPPROTO_IP, socket.IP_TOS),
           "tclass": (socket.IPPROTO_IPV6, socket.IPV6_TCLASS),
           "priority": (socket.SOL_SOCKET, socket.SO_PRIORITY),
           "ifindex": (socket.SOL_SOCKET, SO_BINDTOIFINDEX)}


def main():
    option, value, address, port = sys.argv[1:]
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    data = bytes(range(256)) * 200
    with socket.socket(family, socket.SOCK_STREAM, IPPROTO_SMC) as s:
        s.setsockopt(*OPTIONS[option], int(value))
        s.connect((address, int(port)))
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
        got = b"".join(iter(lambda: s.recv(65536), b""))
    sys.exit(got != data)


if __name__ == "__main__":
    main()
