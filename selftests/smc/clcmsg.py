# SPDX-License-Identifier: GPL-2.0
"""clcmsg - CLC messages of a peer, as they should be and as they should not

RFC 7609 appendix A and the SMC version 2 documents.

Context: used by clcpeer.py and smcpeer.py; nothing here knows a network.
"""
import struct

from minitcp import MAGIC

UEID = b"SMCV2-DEFAULT-UEID"


def header(kind, length, flags, eye=MAGIC):
    return eye + struct.pack(">BHB", kind, length, flags)


class End:
    """what an Accept or Confirm says of the sender's end of a connection; no
    such queue pair and memory exist unless somebody makes them"""
    release = 1
    max_conns = 255
    features = 0
    qpn, psn = 0x77, 0x7c01f3
    key, addr, size_code = 0x1a2b, 0x1234000, 2
    token = 0x2a


def fce(end=End):
    """first-contact extension: direct, Linux, 1 link"""
    return bytes((0x80, 0x20 | end.release, 0, 0)) + b"clcpeer".ljust(32) + \
        struct.pack(">BBH", end.max_conns, 1, end.features) + bytes(12)


def proposal(args, end=End):
    """version 2, SMC-R only, one UEID"""
    gid = bytes(10) + b"\xff\xff" + args.ip
    ext = struct.pack(">BBBBHH", 1, 0, 0, end.release << 4, 0, 0) + gid + \
        struct.pack(">BBH", end.max_conns, 1, end.features) + bytes(12) + \
        args.ueid.ljust(32)
    base = bytes(8 + 16 + 6) + struct.pack(">H", 0)
    pointers = bytes(10) + struct.pack(">H", 28) + bytes(28)
    body = base + pointers + ext
    return header(1, 8 + len(body) + 4, 0x22) + body + MAGIC


def proposal_v1(mac, gid, prefix, bits):
    """version 1: a host with this port, in this subnet"""
    body = b"\x5a\x17" + mac + gid + mac + struct.pack(">H", 0) + \
        prefix + struct.pack(">BHB", bits, 0, 0)
    return header(1, 8 + len(body) + 4, 0x10) + body + MAGIC


def accept_r(args, kind=2, first=True, end=End):
    """Accept (or Confirm) of SMC-Rv2"""
    gid = bytes(10) + b"\xff\xff" + args.ip
    body = b"\x5a\x17" + args.mac + gid + args.mac + \
        end.qpn.to_bytes(3, "big") + struct.pack(
            ">IBIBBQI", end.key, 1, end.token, end.size_code << 4 | 3, 0,
            end.addr, end.psn) + args.ueid.ljust(32) + bytes(8)
    if first:
        body += fce(end)
        if kind == 3:
            body += b"\1\0\0\0" + gid
    return header(kind, 8 + len(body) + 4, 0x20 | first << 3) + body + MAGIC


def accept_d(args):
    """Accept of SMC-Dv2 over the loopback device: never offered by this
    host, so always wrong"""
    body = bytes(range(1, 9)) + bytes(range(9, 17)) + b"\0\x20\0\0" + \
        b"\0\0\1\0" + b"\xff\xff" + args.ueid.ljust(32) + bytes(8) + fce()
    eye = MAGIC[:3] + b"\xc4"
    return header(2, 8 + len(body) + 4, 0x29, eye) + body + eye


def decline(code=0x03030000, out_of_sync=False):
    return header(4, 44, 0x28 if out_of_sync else 0x20) + bytes(8) + \
        struct.pack(">IB", code, 0x20) + bytes(19) + MAGIC


def message(what, args, rng):
    name, _, rest = what.partition(":")
    if name == "hex":
        return bytes.fromhex(rest)
    if name == "text":
        return rest.encode()
    if name == "garbage":
        return bytes(rng.randrange(256) for _ in range(200))
    if name == "decline":
        return decline(int(rest, 0) if rest else 0x03030000)
    return {"proposal": lambda: proposal(args),
            "accept-r": lambda: accept_r(args),
            "accept-d": lambda: accept_d(args),
            "confirm": lambda: accept_r(args, 3)}[name]()


def mutate(msg, rng):
    """a hostile neighbour of msg: lengths, offsets and counts first"""
    m = bytearray(msg)
    how = rng.randrange(6)
    if how == 0:                      # the length field
        struct.pack_into(">H", m, 5, rng.choice(
            (0, 1, 7, 8, 11, 12, len(m) - 1, len(m) + 1, 652, 653, 4096,
             65535, rng.randrange(65536))))
    elif how == 1:                    # shorter or longer, field right
        m = m[:rng.randrange(8, len(m))] if rng.random() < .5 else \
            m + bytes(rng.randrange(256) for _ in range(rng.randrange(700)))
        struct.pack_into(">H", m, 5, min(len(m), 65535))
    elif how == 2:                    # an offset or count of a Proposal
        off = rng.choice((38, 39, 50, 51, 80, 81, 83, 86, 87, 45, 46, 7))
        if off < len(m):
            m[off] = rng.choice((0, 1, 8, 9, 40, 41, 127, 128, 255))
    elif how == 3:                    # any few bytes
        for _ in range(rng.randrange(1, 5)):
            m[rng.randrange(len(m))] = rng.randrange(256)
    elif how == 4:                    # type and flags
        m[4] = rng.randrange(8)
        m[7] = rng.randrange(256)
    else:                             # cut off, the rest never comes
        m = m[:rng.randrange(1, len(m))]
    return bytes(m)
