#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""corpus.py unpack DIRECTORY FILE... | pack FILE DIRECTORY

The inputs of a fuzz target as text: one a line in hex digits, after an
optional name; "#" begins a comment.  unpack makes a file of each line in an
empty DIRECTORY, pack writes FILE from the files of DIRECTORY, shortest first.
"""
import hashlib
import os
import shutil
import sys

HEAD = """# SPDX-License-Identifier: GPL-2.0
# Inputs that reach all the code fuzzing has reached, in hex: "make corpus".
"""


def inputs(path):
    with open(path) as f:
        for line in f:
            words = line.split("#")[0].split()
            if words:
                yield bytes.fromhex(words[-1])


def unpack(directory, *files):
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    for path in files:
        for data in inputs(path):
            name = hashlib.sha1(data).hexdigest()
            with open(os.path.join(directory, name), "wb") as f:
                f.write(data)


def pack(path, directory):
    found = set()
    for name in os.listdir(directory):
        with open(os.path.join(directory, name), "rb") as f:
            found.add(f.read())
    with open(path, "w") as f:
        f.write(HEAD)
        for data in sorted(found - {b""}, key=lambda x: (len(x), x)):
            f.write(data.hex() + "\n")


if __name__ == "__main__":
    {"unpack": unpack, "pack": pack}[sys.argv[1]](*sys.argv[2:])
