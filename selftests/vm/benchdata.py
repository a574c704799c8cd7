# SPDX-License-Identifier: GPL-2.0
"""benchdata - what bench.sh has measured, for bench-report.py and bench-page.py

A file has lines WAY PATTERN SIZE CONNS VALUE, or is JSON made from them.  A value
is nanoseconds (of a message, a round trip, a byte, a connection), or bytes of
memory.  Less is better.  Of lines that differ in nothing else the median counts.

Where instructions go is in another file, with lines WAY PATTERN SIZE CONNS NS and
those of each of PARTS, all of one message; or under "parts" of the same JSON.
"""
import json
import statistics

UNIT = {"latency": "one way, us", "rate": "round trips, 1000/s",
        "stream": "MB/s", "setup": "connection, us",
        "memory": "connection, KiB"}
LABEL = {"tcp": "TCP", "unix": "AF_UNIX", "smcd": "SMC-D",
         "own-smcd": "kernel's own SMC-D", "smcr": "SMC-R",
         "own-smcr": "kernel's own SMC-R", "verbs": "RDMA verbs alone",
         "fallback": "after fallback",
         "tcp-option": "TCP, option's hook", "smcd-option": "SMC-D, own option"}
# where an instruction is
PARTS = {"program": "program", "kernel": "kernel", "smc": "SMC module",
         "rdma": "RDMA core", "rxe": "soft-RoCE"}


def load(path):
    """{way: {(pattern, size, conns): value}}"""
    with open(path, encoding="ascii") as f:
        text = f.read()
    ways = {}
    if text.startswith("{"):
        for way, rows in json.loads(text)["ways"].items():
            ways[way] = {(p, s, c): value for p, s, c, value in rows}
        return ways
    for line in text.splitlines():
        way, pattern, size, conns, value = line.split()
        ways.setdefault(way, {}).setdefault(
            (pattern, int(size), int(conns)), []).append(float(value))
    return {way: {row: statistics.median(values) for row, values in rows.items()}
            for way, rows in ways.items()}


def load_parts(path):
    """{way: {(pattern, size, conns): (ns, {part: instructions})}}"""
    with open(path, encoding="ascii") as f:
        text = f.read()
    if text.startswith("{"):
        parts = json.loads(text).get("parts", {"ways": {}})["ways"]
        lines = [(way, *row) for way, rows in parts.items() for row in rows]
    else:
        lines = [line.split() for line in text.splitlines()]
    ways = {}
    for way, pattern, size, conns, ns, *counts in lines:
        if not counts:      # a line of the other file
            continue
        ways.setdefault(way, {})[pattern, int(size), int(conns)] = (
            float(ns), dict(zip(PARTS, map(float, counts), strict=True)))
    return ways


def off_by(ns, parts):
    """by how much parts miss their time, of which each instruction takes 1 ns,
    or 0.0 if it is little: they are counted by blocks, of which an interrupt may
    leave the rest for a second time"""
    off = sum(parts.values()) / ns - 1
    return off if abs(off) > 0.02 else 0.0


def shown(pattern, value):
    """in the unit of the pattern"""
    if pattern == "stream":
        return 1000 / value
    if pattern == "memory":
        return value / 1024
    return 1e6 / value if pattern == "rate" else value / 1000


def size_text(size):
    for unit, text in ((1 << 20, "M"), (1 << 10, "K")):
        if size >= unit and not size % unit:
            return f"{size // unit}{text}"
    return str(size)


def row_text(row):
    pattern, size, conns = row
    text = f"{pattern} {size_text(size)}"
    return text if conns == 1 else f"{text} x{conns}"
