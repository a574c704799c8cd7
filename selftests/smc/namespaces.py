# SPDX-License-Identifier: GPL-2.0
"""namespaces - what os.unshare() and os.setns() do from Python 3.12 on"""
import ctypes
import os

NET, USER = 0x40000000, 0x10000000      # CLONE_NEW*

libc = ctypes.CDLL(None, use_errno=True)


def _done(rc):
    if rc:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def unshare(kinds=NET):
    """this process has a namespace of its own"""
    _done(libc.unshare(kinds))


def setns(fd):
    """the network namespace of this file"""
    _done(libc.setns(fd, NET))


def enter(name):
    """the network namespace that "ip netns" calls so"""
    with open("/run/netns/" + name, "rb") as f:
        setns(f.fileno())
