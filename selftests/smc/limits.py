# SPDX-License-Identifier: GPL-2.0
"""limits - SMC_TEST_SCALE says how much longer than usual a limit is here

What a test sets to see it happen is no limit; see also lib/wait.h.
"""
import os

SCALE = float(os.environ.get("SMC_TEST_SCALE") or 1)


def limit(seconds):
    return seconds * SCALE
