# SPDX-License-Identifier: GPL-2.0
"""limits - SMC_TEST_SCALE says how much longer than usual a limit is here

What a test sets to see it happen is no limit; see also lib/wait.h.
"""
import os
import time

SCALE = float(os.environ.get("SMC_TEST_SCALE") or 1)


def limit(seconds):
    return seconds * SCALE


def await_that(what, is_so, seconds):
    """@seconds are a limit already; @what, or what it returns, is said if it is
    not so by then"""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, what() if callable(what) else what
        time.sleep(0.005)
