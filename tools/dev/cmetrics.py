#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""cmetrics.py - sizes of the sources, and cycles among them.

  cmetrics.py size FILE...   files over 800 lines, C functions over 80
  cmetrics.py top FILE...    the 20 longest functions
  cmetrics.py calls BUILD    cycles of calls, as the symbols of the objects in a
                             build directory tell: fails above three files.
                             Prints each cycle, and what to cut first
  cmetrics.py includes FILE...  include cycles across folders, or of more than
                             three files inside one

Limits that are exceeded for a good reason are listed, with the reason, in
tools/dev/exceptions: "FILE[:FUNCTION] LIMIT REASON", one a line; those of
counters are for static.sh.  "cycle:FILE LIMIT REASON" is the length of the cycle
of calls that FILE is in: when it gets shorter, the limit has to follow.
"""

import os
import re
import subprocess
import sys

FILE_MAX = 800
FUNCTION_MAX = 80
CYCLE_MAX = 3
HERE = os.path.dirname(os.path.abspath(__file__))

# the last identifier before the first parenthesis of a definition's head
NAME = re.compile(r'(\w+)\s*\(')


def exceptions(kind=''):
    """What may be longer: {"file[:function]": limit}; or the exceptions that
    begin with "kind:", without that."""
    limits = {}
    with open(os.path.join(HERE, 'exceptions'), encoding='utf-8') as file:
        for number, line in enumerate(file, 1):
            line = line.split('#', 1)[0].strip()
            if not line:
                continue
            words = line.split(None, 2)
            if len(words) < 3 or not words[1].isdigit():
                sys.exit(f'exceptions:{number}: FILE[:FUNCTION] LIMIT REASON')
            found, name = re.match(r'(?:(counter|cycle):)?(.*)',
                                   words[0]).groups('')
            if found == kind:
                limits[name] = int(words[1])
    return limits


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read().split('\n')


def functions(lines):
    """(name, first line, length) of each function: kernel style puts the
    braces of a function, and of nothing else that has a parameter list before
    it, into the first column."""
    start = None
    for number, line in enumerate(lines):
        if line == '{':
            first = number
            while first and lines[first - 1] and \
                    not lines[first - 1].startswith((' */', '}', '#', '/*')):
                first -= 1
            head = ' '.join(lines[first:number])
            name = NAME.search(head)
            start = (name.group(1) if name else head, first)
        elif line.startswith('}') and start:
            yield start[0], start[1] + 1, number - start[1] + 1
            start = None


def size(paths):
    limits = exceptions()
    used = set()
    bad = 0

    def check(what, where, length, limit):
        nonlocal bad
        if length <= limit:
            return
        if length <= limits.get(what, 0):
            used.add(what)
            return
        print(f'{where}: {what} has {length} lines, at most '
              f'{max(limit, limits.get(what, 0))}')
        bad += 1

    for path in paths:
        lines = read(path)
        check(path, path, len(lines) - 1, FILE_MAX)
        if path.endswith(('.c', '.h')):
            for name, first, length in functions(lines):
                check(f'{path}:{name}', f'{path}:{first}', length,
                      FUNCTION_MAX)
    for what in sorted(set(limits) - used):
        print(f'tools/dev/exceptions: {what} is not needed any more')
        bad += 1
    return bad


def top(paths):
    every = [(length, path, name) for path in paths
             for name, _, length in functions(read(path))]
    for length, path, name in sorted(every, reverse=True)[:20]:
        print(f'{length:4} {path} {name}')
    return 0


def module_of(path):
    return re.sub(r'\.[ch]$', '', path)


def include_graph(paths):
    """{module: modules it includes}; a module is a .c with its own header."""
    known = {os.path.normpath(path) for path in paths}
    graph = {}
    for path in known:
        edges = graph.setdefault(module_of(path), set())
        for line in read(path):
            match = re.match(r'#include "(.*)"', line)
            if not match:
                continue
            for base in (os.path.dirname(path), 'net/smc'):
                target = os.path.normpath(os.path.join(base, match.group(1)))
                if target in known:
                    if module_of(target) != module_of(path):
                        edges.add(module_of(target))
                    break
    return graph


def components(graph):
    """Strongly connected components (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = []
            while not component or component[-1] != node:
                component.append(stack.pop())
            found.append(component)

    for node in graph:
        if node not in index:
            visit(node)
    return [component for component in found if len(component) > 1]


def includes(paths):
    bad = 0
    for component in components(include_graph(paths)):
        folders = {os.path.dirname(node) for node in component}
        if len(folders) > 1 or len(component) > CYCLE_MAX:
            print('include cycle:', ' '.join(sorted(component)))
            bad += 1
    return bad


def symbols(path):
    """(defined, used) global symbols of an object."""
    defined, used = set(), set()
    listing = subprocess.run(['nm', '-g', path], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    for line in listing.splitlines():
        *_, kind, name = line.split()
        (used if kind in 'Uwv' else defined).add(name)
    return defined, used


def call_graph(build):
    """{file: {file it needs: symbols}} of the objects that have a source."""
    owner, uses = {}, {}
    for folder, _, names in os.walk(os.path.join(build, 'net')):
        for name in names:
            path = os.path.join(folder, name)
            source = os.path.relpath(path, build)[:-1] + 'c'
            if not name.endswith('.o') or not os.path.exists(source):
                continue
            defined, uses[source] = symbols(path)
            owner.update(dict.fromkeys(defined, source))
    graph = {}
    for source, used in uses.items():
        edges = graph.setdefault(source, {})
        for name in sorted(used):
            if owner.get(name, source) != source:
                edges.setdefault(owner[name], []).append(name)
    return graph


def longest(graph):
    return max(map(len, components(graph)), default=1)


def cuts(graph, limit):
    """Edges (file, file, symbols) to cut, one after the other, until no cycle
    is longer than @limit: of all edges the one that shortens the longest cycle
    most for its number of symbols, and where none does the one with the fewest
    symbols."""
    graph = {source: dict(edges) for source, edges in graph.items()}
    while (before := longest(graph)) > limit:
        best = None
        members = set(max(components(graph), key=len))
        for source in sorted(members):
            for target in sorted(members & set(graph[source])):
                names = graph[source].pop(target)
                gain = before - longest(graph)
                graph[source][target] = names
                rank = (-gain / len(names), len(names))
                if best is None or rank < best[0]:
                    best = rank, source, target, names
        _, source, target, names = best
        del graph[source][target]
        yield source, target, names, longest(graph)


def calls(arguments):
    graph = call_graph(arguments[0])
    if not graph:
        sys.exit(f'{arguments[0]}: no objects of these sources')
    limits = exceptions('cycle')
    wrong, report = [], []
    for component in sorted(components(graph), key=len, reverse=True):
        length = len(component)
        known = [name for name in limits if name in component]
        limit = max([CYCLE_MAX] + [limits.pop(name) for name in known])
        report.append(f'{length} files in a cycle, at most {limit}: '
                      f'{" ".join(sorted(component))}')
        if length > limit:
            wrong.append(report[-1])
        elif known and length < limit:
            wrong.append(f'tools/dev/exceptions: cycle:{known[0]} is {length} '
                         f'now')
        inside = {source: {target: used
                           for target, used in graph[source].items()
                           if target in component} for source in component}
        report += [f'  {left:2} after {source} -> {target}: {" ".join(used)}'
                   for source, target, used, left in cuts(inside, CYCLE_MAX)]
    wrong += [f'tools/dev/exceptions: cycle:{name} is not needed any more'
              for name in limits]
    print('\n'.join(wrong + report))
    return len(wrong)


def main():
    verbs = {'size': size, 'top': top, 'calls': calls, 'includes': includes}
    if len(sys.argv) < 3 or sys.argv[1] not in verbs:
        sys.exit(__doc__)
    sys.exit(1 if verbs[sys.argv[1]](sys.argv[2:]) else 0)


if __name__ == '__main__':
    main()
