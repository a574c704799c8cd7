#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""zsh.py - what zsh makes of the beginning of a command line and a tab

A real zsh on a terminal, which finds the completion as an installed one.
"""
import os
import shutil
import subprocess
import sys
import tempfile

import screen

FILE = "completion/_smc-tools"

# the beginning, and what has to appear after it
CASES = [
    ("smcr link", ["group"]),
    ("smcd se", ["id"]),
    ("smcr ", ["info", "linkgroup", "device", "stats", "ueid"]),
    ("smcr -d l", ["inkgroup"]),
    ("smcr -j", ["son"]),
    ("smcr linkgroup li", ["nk-show"]),
    ("smcd linkgroup show 0", ["00000301", "00000302"]),
    ("smcr ueid del R", ["ACK.7"]),
    ("smcr device n", ["etdev"]),
    ("smcd seid en", ["able"]),
    ("smc_pnet -d ", ["NET1", "NET2"]),
    ("smc_pnet --inte", ["rface"]),
    ("smc_rnics --I", ["B-dev"]),
    ("smcss --lis", ["tening"]),
    ("smcss --co", ["lor"]),
    ("smcss --l", ["--listening", "--local", "only sockets that listen"]),
    ("smcss -m ", ["smcr", "smcd", "tcp"]),
    ("smcss --state appf", ["inclosewait1"]),
    ("smctop -s un", ["sent"]),
    ("smc_chk --ser", ["ver"]),
    ("smc_stats --prom", ["etheus"]),
    ("smc_run -d smc_rn", ["ics"]),
    ("smc_run -d -c golden smcto", ["p"]),
    ("smc_run -", ["test the file of rules"]),
]


def main():
    if not shutil.which("zsh"):
        print("zsh is not installed\nzsh: 0 passed, 1 failed")
        sys.exit(1)
    rc = subprocess.run(["zsh", "-n", FILE], cwd=screen.TOOLS, check=False)
    screen.check("zsh -n", rc.returncode == 0)
    with tempfile.TemporaryDirectory() as tmp:
        shell = screen.Terminal(
            ["zsh", "-f", "-i"], size=(50, 120), HOME=tmp, ZDOTDIR=tmp,
            SMC_TOOLS_REPLAY=screen.pack(tmp, "full"),
            PATH=screen.TOOLS + ":" + os.environ["PATH"])
        shell.key(b"setopt no_list_ambiguous; fpath=(%s/completion $fpath)\n"
                  b"autoload -Uz compinit; compinit -u -D; PS1='re''ady>'\n"
                  % screen.TOOLS.encode())
        shell.expect("zsh begins", b"ready>")
        for begin, words in CASES:
            # on a clean line of a clean screen; then nothing else appears
            shell.key(b"\x15\x0c" + begin.encode())
            shell.expect("'%s' is echoed" % begin, begin.split()[-1].encode())
            shell.key(b"\t")
            for word in words:
                shell.expect("'%s': %s" % (begin, word), word.encode())
        shell.key(b"\x15exit\n")
        shell.end("zsh")
    print("zsh: %d passed, %d failed" % (screen.passed, screen.failed))
    sys.exit(screen.failed != 0)


if __name__ == "__main__":
    main()
