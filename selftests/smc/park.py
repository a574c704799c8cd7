# SPDX-License-Identifier: GPL-2.0
"""park - system calls that last as long as a test likes

They need a page that does not come (userfaultfd): setsockopt(IP_OPTIONS) as in
parked.c, or send().

Context: used by canary.py, hostile_llc.py, hslimit.py, ownedpath.py, ssview.py.
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
        self.pages = mmap.mmap(-1, 2 * PAGE,
                               mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.pages[:PAGE] = bytes([1]) * PAGE
        self.addr = PAGE + \
            ctypes.addressof(ctypes.c_char.from_buffer(self.pages))
        fcntl.ioctl(self.uffd, UFFDIO_REGISTER,
                    struct.pack("4Q", self.addr, PAGE, 1, 0))
        self.task, self.rc, self.errno = None, None, 0
        self.thread = threading.Thread(target=self.call, daemon=True)

    def call(self):
        self.task = threading.get_native_id()
        self.rc = self.system_call(self.sock.fileno())
        self.errno = ctypes.get_errno()

    def system_call(self, fd):
        """uses the page at self.addr, the one before it is ones"""
        return self.libc.setsockopt(fd, socket.IPPROTO_IP, socket.IP_OPTIONS,
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
        assert self.rc is not None
        self.ended()
        os.close(self.uffd)

    def ended(self):
        """looks at the result"""
        assert self.rc == 0, self.rc


class ParkedSend(Parked):
    """a page of ones is sent already, a page of zeros follows at the end"""
    def system_call(self, fd):
        return self.libc.send(fd, ctypes.c_void_p(self.addr - PAGE), 2 * PAGE,
                              socket.MSG_NOSIGNAL)

    def ended(self):
        """the connection may have ended meanwhile"""
