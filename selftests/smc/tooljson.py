#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""tooljson.py EXPRESSION COMMAND... - check the JSON a tool prints

Runs COMMAND and evaluates EXPRESSION, in which "rows" is what it printed.
Prints both and fails if the expression is not true or the output is no JSON.
"""
import json
import subprocess
import sys

run = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, check=False)
try:
    rows = json.loads(run.stdout)
except ValueError:
    sys.exit("%s: no JSON: %r" % (sys.argv[2:], run.stdout))
# in brackets an expression may have several lines
if not eval("(" + sys.argv[1] + ")", {"rows": rows}):
    sys.exit("%s: not %s: %s" % (" ".join(sys.argv[2:]), sys.argv[1], rows))
