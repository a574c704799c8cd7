#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""bench-page - plots and tables of Documentation/networking/smc/performance.rst

    write [FILE]    from performance.json beside it, which FILE of "make bench"
                    replaces
    check           are they made from it, and do the parts of a message add up
                    to it?  Part of "make check-static"

The same figures make the same bytes: nothing here depends on the day or the
machine.
"""
import json
import math
import os
import sys

from benchdata import (LABEL, PARTS, load, load_parts, off_by, row_text, shown,
                       size_text)

HERE = os.path.dirname(os.path.abspath(__file__))
DOC = os.path.normpath(HERE + "/../../Documentation/networking/smc")
DATA = DOC + "/performance.json"
PAGE = DOC + "/performance.rst"

# Colours of Okabe and Ito, told apart by the colour-blind; ours are solid
STYLE = {"tcp": ("#000000", ""), "fallback": ("#000000", "2 4"),
         "unix": ("#009e73", ""), "verbs": ("#cc79a7", "2 4"),
         "smcd": ("#0072b2", ""), "own-smcd": ("#56b4e9", "7 4"),
         "smcr": ("#d55e00", ""), "own-smcr": ("#e69f00", "7 4")}
OURS = ("smcd", "smcr")
# file, pattern, what is fixed (size or connections), title, unit
PLOTS = (
    ("latency", "latency", "conns", 1,
     "Latency of a message over its size", "µs one way"),
    ("stream", "stream", "conns", 1,
     "Throughput of a connection over the size of writes", "MB/s"),
    ("streams", "stream", "size", 16384,
     "Throughput of writes of 16 KiB over the number of connections", "MB/s"),
    ("rate", "rate", "size", 64,
     "Round trips of 64 bytes over the number of connections",
     "1000 round trips a second"),
)
BELOW = ("Two processes on one host with one CPU. Time is instructions, 1 ns "
         "each; SMC-R over soft-RoCE.")
WIDTH, HEIGHT = 820, 470
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 58, 54
LABEL_ROOM = 15         # from one label to the next


def points_of(rows, pattern, fixed, value):
    """[(size or connections, value in the unit of the plot)]"""
    at = 2 if fixed == "size" else 1
    return sorted((row[at], shown(pattern, v)) for row, v in rows.items()
                  if row[0] == pattern and row[3 - at] == value)


def decades(low, high):
    """1, 2 and 5 times powers of ten that frame low and high"""
    marks = [m * 10.0 ** e for e in range(-4, 8) for m in (1, 2, 5)]
    first = max(m for m in marks if m <= low)
    last = min(m for m in marks if m >= high)
    return [m for m in marks if first <= m <= last]


def spread(places):
    """[(y, what)] with the y of labels that do not cover each other"""
    places = sorted(places)
    ys = [y for y, _ in places]
    for _ in range(200):
        for i in range(len(ys) - 1):
            lack = LABEL_ROOM - (ys[i + 1] - ys[i])
            if lack > 0.01:
                ys[i] -= lack / 2
                ys[i + 1] += lack / 2
    return [(y, what) for y, (_, what) in zip(ys, places)]


class Svg:
    def __init__(self, title):
        self.out = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
            f'height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
            'font-family="DejaVu Sans, Verdana, sans-serif" font-size="12">',
            f"<title>{title}</title>",
            '<rect width="100%" height="100%" fill="#ffffff"/>']

    def line(self, x1, y1, x2, y2, color, width=1.0):
        self.out.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" '
                        f'y2="{y2:.1f}" stroke="{color}" '
                        f'stroke-width="{width}"/>')

    def text(self, x, y, text, anchor="start", more=""):
        self.out.append(f'<text x="{x:.1f}" y="{y:.1f}" '
                        f'text-anchor="{anchor}"{more}>{text}</text>')

    def path(self, points, color, dash, width):
        at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = f' stroke-dasharray="{dash}"' if dash else ""
        self.out.append(f'<polyline points="{at}" fill="none" '
                        f'stroke="{color}" stroke-width="{width}"{dash}/>')

    def dot(self, x, y, color):
        self.out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" '
                        f'fill="{color}"/>')

    def end(self):
        return "\n".join(self.out + ["</svg>", ""])


def axes(svg, x_at, y_at, xs, ys, x_name, unit):
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    for y in ys:
        heavy = math.log10(y) % 1 < 1e-9
        svg.line(LEFT, y_at(y), right, y_at(y), "#cccccc" if heavy else
                 "#eeeeee")
        svg.text(LEFT - 8, y_at(y) + 4, f"{y:g}", "end")
    free = 0        # to the right of the last number
    for x in xs:
        svg.line(x_at(x), TOP, x_at(x), bottom, "#eeeeee")
        if x_at(x) - 18 >= free:
            svg.text(x_at(x), bottom + 18, size_text(x), "middle")
            free = x_at(x) + 18
    svg.line(LEFT, bottom, right, bottom, "#000000")
    svg.line(LEFT, TOP, LEFT, bottom, "#000000")
    svg.text((LEFT + right) / 2, bottom + 38, x_name, "middle")
    svg.text(0, 0, unit, "middle",
             f' transform="translate(18 {(TOP + bottom) / 2:.1f}) rotate(-90)"')


def plot(ways, pattern, fixed, value, title, unit):
    lines = {way: points_of(ways[way], pattern, fixed, value)
             for way in STYLE if way in ways}
    lines = {way: points for way, points in lines.items() if len(points) > 1}
    if not lines:
        sys.exit(f"no figures for the plot: {title}")
    xs = sorted({x for points in lines.values() for x, _ in points})
    all_y = [y for points in lines.values() for _, y in points]
    ys = decades(min(all_y), max(all_y))

    def x_at(x):
        part = math.log(x / xs[0]) / math.log(xs[-1] / xs[0])
        return LEFT + 14 + part * (WIDTH - LEFT - RIGHT - 28)

    def y_at(y):
        part = math.log(y / ys[0]) / math.log(ys[-1] / ys[0])
        return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)

    svg = Svg(title)
    svg.text(LEFT, 24, title, more=' font-size="16" font-weight="bold"')
    svg.text(LEFT, 42, BELOW, more=' fill="#555555"')
    axes(svg, x_at, y_at, xs, ys, "connections" if fixed == "size" else
         "bytes of a message" if pattern == "latency" else "bytes of a write",
         unit)
    ends = []
    for way, points in lines.items():
        color, dash = STYLE[way]
        at = [(x_at(x), y_at(y)) for x, y in points]
        svg.path(at, color, dash, 2.6 if way in OURS else 1.6)
        for x, y in at:
            svg.dot(x, y, color)
        ends.append((at[-1][1], way))
    for y, way in spread(ends):
        end = next(e for e, w in ends if w == way)
        color = STYLE[way][0]
        svg.line(WIDTH - RIGHT - 8, end, WIDTH - RIGHT + 14, y, color, 0.8)
        svg.text(WIDTH - RIGHT + 18, y + 4, LABEL[way], more=f' fill="{color}"')
    return svg.end()


# What the page compares: way, with which other
PAIRS = (("smcd", "tcp"), ("smcd", "own-smcd"), ("smcr", "tcp"),
         ("smcr", "own-smcr"), ("fallback", "tcp"))
ROWS = (("latency", 64, 1), ("latency", 4096, 1), ("latency", 32768, 1),
        ("latency", 1 << 20, 1),
        ("stream", 1024, 1), ("stream", 16384, 1), ("stream", 131072, 1),
        ("stream", 16384, 16), ("rate", 64, 4), ("rate", 64, 64),
        ("setup", 64, 1), ("memory", 64, 256))
# ours, and the kernel's own that it is compared with
PARTS_PAIRS = (("smcr", "own-smcr"), ("smcd", "own-smcd"))
UNITS = {"latency": "µs", "stream": "MB/s", "rate": "k/s", "setup": "µs",
         "memory": "KiB"}


def rst_table(head, body):
    widths = [max(len(line[i]) for line in [head] + body)
              for i in range(len(head))]
    rule = "  ".join("=" * w for w in widths)

    def row(cells):
        return "  ".join(f"{c:{w}}" for c, w in zip(cells, widths)).rstrip()

    return "\n".join([rule, row(head), rule] + [row(b) for b in body] + [rule])


def ratio(ways, way, other, row):
    if other in ways and row in ways[way] and row in ways[other]:
        return ways[way][row] / ways[other][row]
    return None


def figures(ways):
    """the table of ratios"""
    pairs = [p for p in PAIRS if p[1] in ways]
    head = ["", "TCP"]
    for way, other in pairs:
        # "SMC-R : kernel's own"
        name = LABEL[other].replace(LABEL[way], "").strip()
        head.append(f"{LABEL[way]} : {name}")
    body = []
    for row in ROWS:
        if row not in ways["tcp"]:
            continue
        tcp = shown(row[0], ways["tcp"][row])
        cells = [row_text(row), f"{tcp:.{1 if tcp < 100 else 0}f} "
                 f"{UNITS[row[0]]}"]
        for way, other in pairs:
            r = ratio(ways, way, other, row)
            text = "" if r is None else f"{r:.2f}"
            cells.append(f"**{text}**" if r and r > 1.005 else text)
        body.append(cells)
    return rst_table(head, body)


def option(ways):
    """what it costs that this module writes the SYN option"""
    if "tcp-option" not in ways:
        return ""
    row = ("latency", 64, 1)
    packet = ways["tcp-option"][row] - ways["tcp"][row]
    setup = ratio(ways, "smcd-option", "smcd", ("setup", 64, 1))
    return ("\n\nWhere this module writes the SYN option itself, as on a kernel "
            "without\nCONFIG_SMC, each packet of a namespace with a listener of "
            f"ours takes {packet:.0f} ns\nmore, and setting up a connection of "
            f"SMC-D {setup:.2f} of what it takes otherwise.")


def behind(ways):
    """where we take more than the kernel's own, and SMC-D more than TCP"""
    out = []
    for way, other in PAIRS[:2] + PAIRS[3:4]:
        rows = [(ratio(ways, way, other, row), row) for row in ways[way]]
        text = [f"{row_text(row)} ({r:.2f})" for r, row in rows
                if r and r > 1.005]
        if other in ways:
            out.append(f"{LABEL[way]} against {LABEL[other]}: "
                       f"{', '.join(text) or 'nowhere'}.")
    return out


def wrapped(text, width=78):
    lines, line = [], "-"
    for word in text.split():
        if len(line) + 1 + len(word) > width:
            lines.append(line)
            line = " "
        line += " " + word
    return "\n".join(lines + [line])


def parts_table(parts):
    """the instructions of a message, by where they are"""
    rows = {row: None for of in parts.values() for row in of}
    body = []
    for row in rows:
        for way in (w for w in LABEL if row in parts.get(w, ())):
            counts = parts[way][row][1]
            body.append([row_text(row), LABEL[way],
                         f"{sum(counts.values()):.0f}"] +
                        [f"{n:.0f}" for n in counts.values()])
    return rst_table(["", "", "all", *PARTS.values()], body)


def parts_pairs(parts):
    return [p for p in PARTS_PAIRS if p[0] in parts and p[1] in parts]


def bound(parts, way, other, row):
    """of the SMC module: its part of all, all to the other's, and that without it"""
    ours, own = (sum(parts[w][row][1].values()) for w in (way, other))
    module = parts[way][row][1]["smc"]
    return module / ours, ours / own, (ours - module) / own


def bounds(parts):
    pairs = parts_pairs(parts)
    head = [""]
    for way, _ in pairs:
        head += [f"{LABEL[way]}: module", "ours : own", "without it : own"]
    body = []
    for row in parts[pairs[0][0]]:
        cells = [row_text(row)]
        for way, other in pairs:
            if row in parts[way] and row in parts[other]:
                share, now, without = bound(parts, way, other, row)
                cells += [f"{100 * share:.0f} %", f"{now:.2f}", f"{without:.2f}"]
            else:
                cells += [""] * 3
        body.append(cells)
    return rst_table(head, body)


def bounds_said(parts):
    """the ends of the columns of bounds()"""
    out = []
    for way, other in parts_pairs(parts):
        shares, least = [], []
        for row in parts[way].keys() & parts[other].keys():
            share, _, without = bound(parts, way, other, row)
            shares.append(share)
            least.append(without)
        out.append(f"{LABEL[way]}: the module is {100 * min(shares):.0f} to "
                   f"{100 * max(shares):.0f} % of all instructions. One that took "
                   f"no instructions at all would be {min(least):.2f} to "
                   f"{max(least):.2f} times the kernel's own.")
    return "\n".join(wrapped(text) for text in out)


def parts_text(parts, commit):
    if not parts_pairs(parts):
        return "Not measured."
    return (parts_table(parts) + f"\n\nMeasured on {commit}. What that leaves to "
            f"a better module:\n\n{bounds(parts)}\n\n{bounds_said(parts)}")


def files():
    """{path: what it must contain}"""
    ways = load(DATA)
    out = {f"{DOC}/performance-{name}.svg": plot(ways, *rest)
           for name, *rest in PLOTS}
    with open(DATA, encoding="ascii") as f:
        of = json.load(f)
    with open(PAGE, encoding="utf-8") as f:
        page = f.read()
    sections = {
        "figures": figures(ways) + f"\n\nMeasured on {of['commit']}, Linux "
                   f"{of['kernel']}." + option(ways),
        "behind": "\n".join(wrapped(text) for text in behind(ways)),
        "parts": parts_text(load_parts(DATA), of.get("parts", of)["commit"]),
    }
    for name, text in sections.items():
        begin, end = f".. {name} begin\n", f".. {name} end\n"
        before, rest = page.split(begin)
        page = f"{before}{begin}\n{text}\n\n{end}{rest.split(end)[1]}"
    out[PAGE] = page
    return out


def incomplete(parts):
    """1 if something of a message is in no part, or in two"""
    rc = 0
    for way, rows in parts.items():
        for row, (ns, counts) in rows.items():
            if off_by(ns, counts):
                print(f"{way} {row_text(row)}: its parts are not its time")
                rc = 1
    return rc


def main():
    what, args = sys.argv[1], sys.argv[2:]
    if what not in ("write", "check"):
        sys.exit(__doc__)
    if what == "write" and args:
        with open(args[0], encoding="ascii") as f:
            text = f.read()
        with open(DATA, "w", encoding="ascii") as f:
            f.write(text)
    rc = incomplete(load_parts(DATA))
    for path, text in files().items():
        if what == "write":
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            continue
        try:
            with open(path, encoding="utf-8") as f:
                same = f.read() == text
        except FileNotFoundError:
            same = False
        if not same:
            print(f"{os.path.relpath(path)}: not what performance.json makes: "
                  "make bench-plots")
            rc = 1
    return rc


if __name__ == "__main__":
    sys.exit(main())
