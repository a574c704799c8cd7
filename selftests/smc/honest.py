#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""honest ADDRESS COUNT FILE - streams of this host beside what a test does to it

COUNT connections, each both ways, until there is FILE.  FILE.there is made when
all are SMC's and data has moved.  The exit code is 0 if none was reset and the
SHA-256 of each direction is that of what was sent.
"""
import hashlib
import os
import random
import sys

from counters import ends, pair
from sockdiag import TCP, row_of


class Direction:
    def __init__(self, a, b):
        self.a, self.b, self.waits = a, b, 0
        self.sent, self.got = hashlib.sha256(), hashlib.sha256()

    def send(self, data):
        self.a.sendall(data)
        self.sent.update(data)
        self.waits = len(data)

    def receive(self):
        while self.waits:
            data = self.b.recv(self.waits)
            assert data, "end of file"
            self.got.update(data)
            self.waits -= len(data)


def main(address, count, stop):
    os.nice(10)                         # it is there to be disturbed
    rng = random.Random(os.environ.get("SMC_SEED"))
    pairs = [pair(address) for _ in range(count)]
    assert not any(row_of(cli).mode == TCP for cli, _ in pairs), "no SMC"
    both = [Direction(*way) for a, b in pairs for way in ((a, b), (b, a))]
    moved = 0
    while not moved or not os.path.exists(stop):
        for d in both:
            d.send(rng.randbytes(rng.randrange(1, 8192)))
        first, moved = not moved, moved + sum(d.waits for d in both)
        for d in both:
            d.receive()
        if first:
            with open(stop + ".there", "w", encoding="ascii"):
                pass
    assert all(d.sent.digest() == d.got.digest() for d in both), "wrong bytes"
    for p in pairs:
        ends(*p)
    print(f"# {count} honest streams, {moved >> 10} KiB, SHA-256 equal",
          flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
