# SPDX-License-Identifier: GPL-2.0
"""Mutants of one C file, made from its tokens.

mutants(text) gives every change this file knows, each as a Mutant.  A change
that does not compile costs time but does no harm; what matters is that none is
applied inside a comment, a string or a declaration, where it would change
nothing and then count as not noticed.
"""

import re
from dataclasses import dataclass

TOKEN = re.compile(r"""
    (?P<skip>\s+|\\\n|/\*.*?\*/|//[^\n]*)
  | (?P<pp>^[ \t]*\#[ \t]*define[ \t]+\w+(?:\([^)]*\))?|^[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<str>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
  | (?P<num>0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*)
  | (?P<id>[A-Za-z_]\w*)
  | (?P<op>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.X | re.S | re.M)

RELATIONS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="),
             ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
SWAPS = {"&&": "||", "||": "&&", "+": "-", "/": "*", "%": "/", "<<": ">>",
         ">>": "<<", "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|="}
MINMAX = {"min": "max", "max": "min", "min_t": "max_t", "max_t": "min_t",
          "min3": "max3"}
# What ends an operand of the operator, at the same depth of brackets
ENDS = {"?", ":", ";", ",", "=", "return", "<end>", "|=", "&=", "+=", "-="}
BELOW = {"||": ENDS, "&&": ENDS | {"||"},
         "|": ENDS | {"||", "&&", "==", "!=", "<", ">", "<=", ">="}}
TYPES = {"struct", "enum", "union", "const", "static", "unsigned", "int",
         "char", "long", "bool", "void", "u8", "u16", "u32", "u64", "size_t",
         "ssize_t", "else", "do", "goto", "default", "extern", "typedef"}
CONTROL = {"if", "for", "while", "switch", "case"}
OPEN = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    at: int
    end: int


@dataclass(frozen=True)
class Mutant:
    """A change: text[at:end] becomes new."""
    at: int
    end: int
    new: str
    function: str = ""
    old_line: str = ""
    new_line: str = ""


def tokens(text):
    """Tokens without comments; "<end>" closes each macro."""
    macro = False
    for m in TOKEN.finditer(text):
        kind, word = m.lastgroup, m.group()
        if macro and kind == "skip" and "\n" in word and \
                "\\" not in word and not word.startswith("/*"):
            yield Token("op", "<end>", m.start(), m.start())
            macro = False
        if kind == "pp":
            macro = "define" in word
            yield Token("pp", "<end>", m.start(), m.end())
        elif kind != "skip":
            yield Token(kind, word, m.start(), m.end())
    yield Token("op", "<end>", len(text), len(text))


class File:
    """The tokens of a file, with what surrounds each."""

    def __init__(self, text):
        self.text = text
        self.tok = list(tokens(text))
        self.match = {}         # bracket to bracket
        self.code = {}          # "{" to: does it begin statements?
        self.function = []      # of each token
        self._brackets()

    def _brackets(self):
        stack, name, macro = [], "", False
        for i, t in enumerate(self.tok):
            if t.kind == "pp":
                m = re.search(r"define\s+(\w+)", self.text[t.at:t.end])
                macro = bool(m)
                name = m.group(1) if m else ""
            elif t.text in OPEN:
                before = self.tok[i - 1].text if i else ""
                if t.text == "{":
                    inside = not stack or self.code.get(stack[-1])
                    self.code[i] = before in (")", "else", "do") or (
                        bool(stack) and inside and before in (";", "{", "}"))
                if t.text == "(" and not stack and not macro and \
                        self.tok[i - 1].kind == "id":
                    name = before
                if t.text == "{" and not stack and not macro and \
                        not self.code[i]:
                    name = self._array(i)
                stack.append(i)
            elif t.text in OPEN.values() and stack:
                self.match[i] = stack[-1]
                self.match[stack.pop()] = i
            self.function.append(name)
            if t.text == "<end>" and t.kind != "pp":
                name, macro = "", False

    def _array(self, i):
        """The name of the table whose "{" is token i."""
        names = []
        while i > 0 and self.tok[i].text not in (";", "<end>"):
            i -= 1
            if self.tok[i].text == "]":
                i = self.match.get(i, i)
            elif self.tok[i].kind == "id":
                names.append(self.tok[i].text)
        return names[0] if names else ""

    def operand(self, i, step):
        """The last token of the operand of operator i to its left or right."""
        ends = BELOW[self.tok[i].text] | {self.tok[i].text}
        j = i
        while True:
            t = self.tok[j + step].text
            if t in ends or t in OPEN and step < 0 or \
                    t in OPEN.values() and step > 0:
                return j
            j += step
            if t in OPEN or t in OPEN.values():
                j = self.match[j]

    def in_code(self, i):
        """Is token i in a block of statements, outside of brackets?"""
        depth = 0
        while i > 0:
            i -= 1
            t = self.tok[i].text
            if t in (")", "]", "}"):
                i = self.match.get(i, i)
            elif t == "{":
                return bool(self.code.get(i))
            elif t in ("(", "["):
                return False
        return depth > 0


class Mutator:
    def __init__(self, text):
        self.file = File(text)
        self.text = text
        self.tok = self.file.tok
        self.found = []

    def add(self, first, last, new):
        """Tokens first..last become new."""
        a, b = self.tok[first].at, self.tok[last].end
        if self.text[a:b] != new:
            self.found.append((a, b, new, self.file.function[first]))

    def part(self, first, last):
        return self.text[self.tok[first].at:self.tok[last].end]

    def relation(self, i):
        """Comparisons: the bound itself, and the opposite."""
        word = self.tok[i].text
        for new in RELATIONS[word]:
            self.add(i, i, new)
        # the bound one too low and one too high; one of them is above
        right = self.tok[i + 1]
        after = self.tok[i + 2].text
        if word in ("==", "!=") or right.kind != "id" or \
                not right.text.isupper() or after == "(":
            return
        self.add(i + 1, i + 1, "(%s %s 1)" % (
            right.text, "-" if word in ("<", ">=") else "+"))

    def number(self, i):
        t = self.tok[i]
        if self.tok[i - 1].text == "[" and not self.file.in_code(i - 1) and \
                self.tok[i + 2].text in ("=", ";"):
            return              # the size of a table
        digits = t.text.rstrip("uUlL")
        value = int(digits, 16) if digits[:2] in ("0x", "0X") else int(digits, 10)
        self.add(i, i, str(value + 1))
        if value:
            self.add(i, i, str(value - 1))

    def logic(self, i):
        """&&, || and | without the one or the other operand."""
        first, last = self.file.operand(i, -1), self.file.operand(i, 1)
        self.add(i, last, "")
        if self.tok[first - 1].text != self.tok[i].text:
            self.add(first, i, "")

    def condition(self, i):
        """The brackets of if, while and for."""
        opening = i + 1
        if self.tok[opening].text != "(":
            return
        first, last = opening + 1, self.file.match[opening] - 1
        if self.tok[i].text == "for":
            j = opening + 1
            semi = []
            while j <= last:
                if self.tok[j].text in OPEN:
                    j = self.file.match[j]
                if self.tok[j].text == ";":
                    semi.append(j)
                j += 1
            if len(semi) == 2 and semi[1] > semi[0] + 1:
                self.add(semi[0] + 1, semi[1] - 1, "0")
            return
        if self.tok[i].text not in ("if", "while"):
            return
        whole = self.part(first, last)
        self.add(first, last, "((%s), 0)" % whole)
        if self.tok[i].text == "if":
            self.add(first, last, "((%s), 1)" % whole)
        if "&&" in whole or "||" in whole:      # else relation() does it
            self.add(first, last, "!(%s)" % whole)

    def ternary(self, i):
        j = i
        while True:
            t = self.tok[j - 1].text
            if t in ENDS or t in OPEN:
                break
            j -= 1
            if t in OPEN.values():
                j = self.file.match[j]
        cond = self.part(j, i - 1)
        self.add(j, i - 1, "((%s), 0)" % cond)
        self.add(j, i - 1, "((%s), 1)" % cond)

    def call(self, i):
        """min(a, b) as max(a, b), as a, and as b."""
        word = self.tok[i].text
        if word in MINMAX:
            self.add(i, i, MINMAX[word])
        end = self.file.match[i + 1]
        args, j, start = [], i + 2, i + 2
        while j <= end:
            if j == end or self.tok[j].text == ",":
                args.append(self.part(start, j - 1))
                start = j + 1
            elif self.tok[j].text in OPEN:
                j = self.file.match[j]
            j += 1
        if word.endswith("_t"):
            args = args[1:]
        for arg in args:
            self.add(i, end, "(%s)" % arg)

    def name(self, i):
        word, before, after = (self.tok[j].text for j in (i, i - 1, i + 1))
        if word in ("true", "false"):
            self.add(i, i, "false" if word == "true" else "true")
        elif after == "(" and re.match(r"(min|max)(\d|_\w+)?$", word) and \
                self.file.in_code(i) or word in MINMAX and after == "(":
            self.call(i)
        elif re.match(r"E[A-Z]{3,}$", word) and before == "-":
            self.add(i, i, "EUNATCH")
        elif word.startswith("SMC_REASON_") and before != "case" and \
                word not in ("SMC_REASON_LIST", "SMC_REASON_NUM"):
            self.add(i, i, "SMC_REASON_SILENT"
                     if word == "SMC_REASON_OK" else "SMC_REASON_OK")

    def case(self, i):
        """A case without its label goes where its neighbour or default goes."""
        end = i
        while self.tok[end].text != ":":
            end += 1
        self.add(i, end, "")

    def rule(self, i):
        """RULE(need, next, do) of a table: without it, and another state."""
        end = self.file.match[i + 1]
        if self.tok[end + 1].text == ",":
            self.add(i, end + 1, "")
        comma = i
        while self.tok[comma].text != ",":
            comma += 1
        new = "SMC_PROCESSABORT" \
            if self.tok[comma + 1].text != "SMC_PROCESSABORT" else "SMC_CLOSED"
        self.add(comma + 1, comma + 1, new)

    def statement(self, i):
        """Remove the statement that starts at token i."""
        t = self.tok[i]
        if t.kind not in ("id", "op") or t.text in TYPES | CONTROL or \
                t.text in "{};:" or self.tok[i + 1].text == ":":
            return
        end = i
        while self.tok[end].text != ";":
            if self.tok[end].text in OPEN:
                end = self.file.match[end]
            end += 1
        if t.kind == "id" and t.text != "return" and \
                self.tok[i + 1].kind == "id":
            return              # a declaration
        # the end of a function that returns something is no place to arrive
        if t.text != "return" or not self.ends_function(end + 1):
            self.add(i, end, ";")
        if t.text != "return" or end == i + 1:
            return
        value = self.part(i + 1, end - 1)
        if value != "0" and "true" != value != "false":
            self.add(i + 1, end - 1, "0")
        if value not in ("0", "1", "true", "false") and value[0] != "-" and \
                value[:11] != "SMC_REASON_":
            self.add(i + 1, end - 1, "1")

    def ends_function(self, i):
        """Is there nothing between token i and the end of its function?"""
        while self.tok[i].text == "}":
            head = self.file.match[i] - 1
            if self.tok[head].text == ")" and \
                    self.tok[self.file.match[head] - 1].text not in CONTROL:
                return True
            i += 1
        return False

    def starts_statement(self, i):
        before = self.tok[i - 1].text
        if before in (";", "}", "else", "do"):
            return self.file.in_code(i)
        if before == "{":
            return bool(self.file.code.get(i - 1))
        if before == ")":
            word = self.tok[self.file.match[i - 1] - 1].text
            return word in CONTROL
        if before == ":":
            j = i - 2
            while self.tok[j].kind in ("id", "num") or \
                    self.tok[j].text in ("(", ")"):
                if self.tok[j].text in ("case", "default"):
                    return True
                j -= 1
        return False

    def declares(self, i):
        """Is the * at token i part of a type?"""
        return self.tok[i - 1].text in TYPES or \
            self.tok[i - 2].text in ("struct", "enum") or \
            self.tok[i + 1].text in ("const", ")", "*")

    def token(self, i):
        t = self.tok[i]
        binary = self.tok[i - 1].kind in ("id", "num") and \
            self.tok[i - 1].text != "return" or \
            self.tok[i - 1].text in (")", "]")
        if t.text in RELATIONS:
            self.relation(i)
        elif t.text in SWAPS and (binary or t.text not in "+"):
            self.add(i, i, SWAPS[t.text])
        elif t.text == "-" and binary:
            self.add(i, i, "+")
        elif t.text == "&" and binary:
            self.add(i, i, "|")
        elif t.text == "*" and binary and not self.declares(i):
            self.add(i, i, "+")
        elif t.text in ("!", "~"):
            self.add(i, i, "")
        elif t.text == "?":
            self.ternary(i)
        elif t.text == "case":
            self.case(i)
        elif t.text == "RULE" and self.tok[i + 1].text == "(" and \
                self.file.function[i]:
            self.rule(i)
        elif t.kind == "num":
            self.number(i)
        elif t.kind == "id":
            self.name(i)
        if t.text in BELOW and binary:
            self.logic(i)
        if t.text in CONTROL:
            self.condition(i)

    def run(self):
        for i in range(1, len(self.tok) - 1):
            self.token(i)
            if self.starts_statement(i):
                self.statement(i)
        return self.found


def squeeze(line):
    """Lines as one, for people and for the list of equivalents."""
    return re.sub(r"\s+", " ", re.sub(r"\\(\n|$)", " ", line)).strip()


def mutants(text):
    """Every mutant of a file, in its order, each changed text only once."""
    seen, names, result = set(), {}, []
    for a, b, new, function in sorted(set(Mutator(text).run())):
        changed = text[:a] + new + text[b:]
        if changed in seen:
            continue
        seen.add(changed)
        left = text.rfind("\n", 0, a) + 1
        right = text.find("\n", b)
        old_line = squeeze(text[left:right])
        new_line = squeeze(text[left:a] + new + text[b:right])
        key = (function, old_line, new_line)
        names[key] = names.get(key, 0) + 1
        if names[key] > 1:
            new_line += " (%d)" % names[key]
        result.append(Mutant(a, b, new, function, old_line, new_line))
    return result


def apply(text, m):
    return text[:m.at] + m.new + text[m.end:]
