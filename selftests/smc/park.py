# SPDX-License-Identifier: GPL-2.0
"""park - a system call that owns a socket as long as a test likes

It is setsockopt(IP_OPTIONS) with a page that does not come (userfaultfd), as in
parked.c.

Context: used by hostile_llc.py.
"""
import ctypes
import fcntl
import mmap
import os
import socket
import struct
import threading

from limits import await_that, limit

NR_USERFAULTFD = {"x86_64": 323, "aarch64": 282}
UFFDIO_API, UFFDIO_REGISTER, UFFDIO_ZEROPAGE = 0xc018aa3f, 0xc020aa00, 0xc020aa04
LIMIT = limit(20)
PAGE = mmap.PAGESIZE


class Parked:
    """with Parked(sock): the socket is owned"""
    def __init__(self, sock):
        self.sock = sock
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.uffd = self.libc.syscall(NR_USERFAULTFD[os.uname().machine],
                                      os.O_CLOEXEC | os.O_NONBLOCK)
        assert self.uffd >= 0, os.strerror(ctypes.get_errno())
        fcntl.ioctl(self.uffd, UFFDIO_API, struct.pack("3Q", 0xaa, 0, 0))
        self.page = mmap.mmap(-1, PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.addr = ctypes.addressof(ctypes.c_char.from_buffer(self.page))
        fcntl.ioctl(self.uffd, UFFDIO_REGISTER,
                    struct.pack("4Q", self.addr, PAGE, 1, 0))
        self.task, self.rc = None, None
        self.thread = threading.Thread(target=self.call, daemon=True)

    def call(self):
        self.task = threading.get_native_id()
        self.rc = self.libc.setsockopt(self.sock.fileno(), socket.IPPROTO_IP,
                                       socket.IP_OPTIONS,
                                       ctypes.c_void_p(self.addr), 4)

    def waits(self):
        """for the page"""
        if not self.task:
            return False
        with open(f"/proc/self/task/{self.task}/stack", encoding="ascii") as f:
            return "handle_userfault" in f.read()

    def __enter__(self):
        self.thread.start()
        await_that("the page came", self.waits, LIMIT)
        return self

    def __exit__(self, *_):
        fcntl.ioctl(self.uffd, UFFDIO_ZEROPAGE,
                    struct.pack("2QQq", self.addr, PAGE, 0, 0))
        self.thread.join(LIMIT)
        assert self.rc == 0, self.rc
        os.close(self.uffd)
