# SPDX-License-Identifier: GPL-2.0
"""offering - a client on a TAP device that offers SMC, and listeners for it

Context: imported by urgent.py and late.py, which call begin() first.
"""
import argparse
import socket

from clcmsg import UEID, proposal
from counters import smc_socket
from limits import limit
from minitcp import Net, tap
from sockdiag import TCP, row_of

KERNEL, PEER, PORT = "10.99.0.1", "10.99.0.2", 7740
LIMIT = limit(20)
AT_ONCE = limit(2)


class Host:
    """behind the device"""
    net = None


def begin():
    tap("clc0", KERNEL)
    Host.net = Net("clc0", PEER, KERNEL)


def clc_args():
    """for the functions of clcmsg.py"""
    return argparse.Namespace(ip=Host.net.ip, mac=Net.MAC, ueid=UEID)


def a_proposal():
    return proposal(clc_args())


def listener(inline=0):
    """with SO_OOBINLINE or without it"""
    lst = smc_socket()
    lst.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    lst.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, inline)
    lst.bind((KERNEL, PORT + inline))
    lst.listen(64)
    return lst


class Client:
    """it has offered SMC, and says nothing"""
    def __init__(self, lst):
        self.lst = lst
        self.tcp = Host.net.connect(lst.getsockname()[1], True, LIMIT)
        assert self.tcp.option, "no SMC"
        self.srv = None

    def accept(self, others={}):        # pylint: disable=dangerous-default-value
        """others: they are accepted in any order"""
        while self.tcp.lport not in others:
            srv, address = self.lst.accept()
            others[address[1]] = srv
        self.srv = others.pop(self.tcp.lport)
        self.srv.settimeout(LIMIT)
        assert row_of(self.srv).mode == TCP
