#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# verdict.sh TEST [DMESG_OK] - ends every test, in each guest: nothing of it
# may be left.  All of it is in guest/verdict.py.
exec python3 /lab/selftests/vm/guest/verdict.py end "$@"
