# SPDX-License-Identifier: GPL-2.0
"""benchdata - what bench.sh has measured, for bench-report.py and bench-page.py

A file has lines WAY PATTERN SIZE CONNS VALUE, or is JSON made from them.  A value
is nanoseconds (of a message, a round trip, a byte, a connection), or bytes of
memory.  Less is better.  Of lines that differ in nothing else the median counts.
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
