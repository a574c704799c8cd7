#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""bench-parts - where the instructions go that bench-plugin.c has counted

    bench-parts.py DIR

DIR is from bench-inner.sh: "list" has lines WAY PATTERN SIZE CONNS VALUE COUNT of
bench.c, WAY.PATTERN.SIZE.CONNS what the plugin has counted in it, WAY.modules is
/proc/modules of that time, and WAY.symbols of /proc/kallsyms what begins with
crc32, each symbol with the one after it.  Prints lines WAY PATTERN SIZE CONNS NS
and the instructions in each of PARTS (benchdata.py), all of one message.  Exit
code 1 if a row's do not add up to its time, of which each takes 1 ns.
"""
import bisect
import sys

from benchdata import PARTS, off_by, row_text

MODULES = {"smc": "smc", "smc_diag": "smc",
           "ib_core": "rdma", "ib_uverbs": "rdma", "ib_cm": "rdma",
           "iw_cm": "rdma", "rdma_cm": "rdma", "rdma_ucm": "rdma",
           "rdma_rxe": "rxe", "ip6_udp_tunnel": "rxe", "udp_tunnel": "rxe"}


def part_of(module):
    # no other program of the rows that are measured makes checksums of this kind
    return "rxe" if module.startswith("crc32") else MODULES.get(module, "kernel")


def read_map(path):
    """[(begin, end, part)] in order, of what is not the kernel's own"""
    ranges = []
    with open(path + ".modules", encoding="ascii") as f:
        for line in f:
            name, size, *_, base = line.split(" (")[0].split()
            # all the module has, and its code comes first
            ranges.append((int(base, 16), int(base, 16) + int(size),
                           part_of(name)))
    with open(path + ".symbols", encoding="ascii") as f:
        symbols = [line.split() for line in f if line != "--\n"]
    for (begin, _, name, *module), (end, *_) in zip(symbols, symbols[1:]):
        if name.startswith("crc32") and not module:
            ranges.append((int(begin, 16), int(end, 16), "rxe"))
    return sorted(ranges)


def count(path, ranges):
    """{part: instructions}"""
    begins = [begin for begin, *_ in ranges]
    sums = dict.fromkeys(PARTS, 0)
    with open(path, encoding="ascii") as f:
        for line in f:
            addr, num = (int(word, 16) for word in line.split())
            i = bisect.bisect_right(begins, addr) - 1
            if not addr:
                part = "program"
            elif i >= 0 and addr < ranges[i][1]:
                part = ranges[i][2]
            else:
                part = "kernel"
            sums[part] += num
    return sums


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    base, rc = sys.argv[1], 0
    with open(base + "/list", encoding="ascii") as f:
        lines = [line.split() for line in f]
    for way, pattern, size, conns, value, num in lines:
        sums = count(f"{base}/{way}.{pattern}.{size}.{conns}",
                     read_map(f"{base}/{way}"))
        ns = float(value) * (int(size) if pattern == "stream" else 1)
        sums = {part: n / int(num) for part, n in sums.items()}
        print(way, pattern, size, conns, f"{ns:.1f}",
              *(f"{sums[part]:.1f}" for part in PARTS))
        off = off_by(ns, sums)
        if off:
            print(f"{way} {row_text((pattern, int(size), int(conns)))}: its parts "
                  f"are {100 * off:+.1f} % off its time", file=sys.stderr)
            rc = 1
    return rc


if __name__ == "__main__":
    sys.exit(main())
