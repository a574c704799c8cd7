#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""pack.py DESCRIPTION OUTPUT - make a recording of netlink messages

A description has one thing a line, indentation does not matter:
  family NAME                  the family that answers from here on
  ask COMMAND                  which request is answered by what follows
  message COMMAND              starts a message of the answer
  ATTRIBUTE TYPE VALUE         u8 u16 u32 u64 be32 str (NUL-terminated) hex;
                               =FORMAT of Python's struct, with its values
  ATTRIBUTE {  ...  }          nest
  sock STATE MODE UID INODE SRC SPORT DST DPORT IF
                               starts a message of sock_diag
  error ERRNO [TEXT]           the request fails; TEXT is the kernel's sentence
  done ERRNO [TEXT]            the same at the end of a list
  # comment
Names are those of include/uapi/linux/smc.h and smc_diag.h; numbers do as well.  The tools
read the result with SMC_TOOLS_REPLAY (tools/lib/replay.c).
"""
import os
import re
import socket
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
HEADERS = ["../../include/uapi/linux/smc.h",
           "../../include/uapi/linux/smc_diag.h"]
FAMILIES = {"SMC_GEN_NETLINK": 1, "SMC_PNETID": 2, "sock_diag": 3}
STARTS = ("family", "ask", "message", "sock", "error", "done")
NLM_F_MULTI, NLM_F_ACK_TLVS, NLM_F_CAPPED = 2, 0x200, 0x100
NLMSG_ERROR, NLMSG_DONE = 2, 3
FIRST_FAMILY, NLA_F_NESTED = 0x20, 0x8000
NLMSGERR_ATTR_MSG = 1


def constants():
    """Members of the enums of the headers, by name."""
    text = ""
    for header in HEADERS:
        with open(os.path.join(HERE, header), encoding="ascii") as f:
            text += re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    found = {"SOCK_DIAG_BY_FAMILY": 20}
    for body in re.findall(r"enum\s*\w*\s*\{(.*?)\}", text, flags=re.S):
        value = 0
        for member in filter(None, (m.strip() for m in body.split(","))):
            name, _, given = (s.strip() for s in member.partition("="))
            if "- 1" in given:
                continue
            value = int(given, 0) if given else value
            found[name] = value
            value += 1
    return found


NAMES = constants()


def number(word):
    return NAMES[word] if word in NAMES else int(word, 0)


def attribute(kind, payload):
    data = struct.pack("=HH", 4 + len(payload), kind) + payload
    return data + bytes(-len(data) % 4)


def payload_of(kind, value):
    if kind == "str":
        return value.encode("latin-1").decode("unicode_escape").encode(
            "latin-1") + b"\0"
    if kind[0] == "=":
        words = value.split()
        letters = re.sub("[^A-Za-z]", "", kind)
        return struct.pack(kind, *[
            w.encode() if letters[i] == "s" else int(w, 0)
            for i, w in enumerate(words)])
    if kind == "hex":
        return bytes.fromhex(value)
    if kind == "be32":
        return struct.pack(">I", int(value, 0))
    code = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q"}[kind]
    return struct.pack("=" + code, int(value, 0))


def attributes(lines):
    """Attributes up to the end of the nest or the next message."""
    data = b""
    while lines:
        words = lines[0].split(None, 2)
        if words[0] == "}":
            lines.pop(0)
            return data
        if words[0] in STARTS:
            return data
        lines.pop(0)
        if words[1] == "{":
            data += attribute(number(words[0]) | NLA_F_NESTED,
                              attributes(lines))
        else:
            value = words[2] if len(words) > 2 else ""
            data += attribute(number(words[0]), payload_of(words[1], value))
    return data


def netlink(kind, flags, seq, sender, body):
    data = struct.pack("=IHHII", 16 + len(body), kind, flags, seq, sender)
    data += body
    return data + bytes(-len(data) % 4)


def address(text):
    """Four words; IPv4 takes the first one."""
    family = socket.AF_INET6 if ":" in text else socket.AF_INET
    return socket.inet_pton(family, text).ljust(16, b"\0")


def sock(state, mode, uid, inode, src, sport, dst, dport, ifindex):
    """struct smc_diag_msg"""
    return struct.pack("=BBBB", 2, int(state), int(mode), 0) + struct.pack(
        "!HH", int(sport), int(dport)) + address(src) + address(
        dst) + struct.pack("=I8sIQ", int(ifindex), b"", int(uid), int(inode))


def pack(lines):
    out, sender, seq = b"", 0, 0
    while lines:
        words = lines.pop(0).split(None, 2)
        if words[0] == "family":
            sender = FAMILIES[words[1]]
            # an unsolicited message: the family is there
            out += netlink(FIRST_FAMILY, 0, 0, sender, b"")
        elif words[0] == "ask":
            seq = number(words[1])
        elif words[0] == "message":
            body = struct.pack("=BBH", number(words[1]), 1, 0)
            body += attributes(lines)
            out += netlink(FIRST_FAMILY, NLM_F_MULTI, seq, sender, body)
        elif words[0] == "sock":
            words = (words + [""])[1:]
            body = sock(*" ".join(words).split()) + attributes(lines)
            out += netlink(FIRST_FAMILY, NLM_F_MULTI, seq, sender, body)
        elif words[0] in ("error", "done"):
            kind, flags = NLMSG_DONE, NLM_F_MULTI
            body = struct.pack("=i", -int(words[1]))
            if words[0] == "error":
                kind, flags = NLMSG_ERROR, NLM_F_CAPPED
                body += struct.pack("=IHHII", 16, 0, 0, seq, 0)
            if len(words) > 2:
                flags |= NLM_F_ACK_TLVS
                body += attribute(NLMSGERR_ATTR_MSG,
                                  payload_of("str", words[2]))
            out += netlink(kind, flags, seq, sender, body)
        else:
            raise ValueError("what is '%s'?" % words[0])
    return out


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="ascii") as f:
        lines = [s.strip() for s in f]
    lines = [s for s in lines if s and not s.startswith("#")]
    with open(sys.argv[2], "wb") as f:
        f.write(pack(lines))


if __name__ == "__main__":
    main()
