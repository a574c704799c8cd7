#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# bench.sh - "make bench": what messages, streams and connections cost on one
# host: TCP, AF_UNIX, ours, RDMA verbs and the kernel's own SMC, in one boot of a
# guest whose time is the number of its instructions; the kernel's own SMC-D has
# one for itself.
#   ROWS=short   a few rows only
# Prints a table and the file with the figures, for "make bench-compare" and
# "make bench-plots".
set -eu
. "$(dirname "$0")/lib.sh"

run=$(new_run)
own=$(sh "$vm_dir/own-lo.sh")
stage_tree 6.12 "$run" 1
cp -r "$own" "$run/lab/own-lo"
export LAB_K=6.12 LAB_RUN="$run" ROWS="${ROWS:-all}" WAYS

# boot WAY...: measure these
boot() {
	WAYS=$*
	(lab_up 6.12 "$run" 1 --icount=sleep=off --cpus=1 -- sh -eu -c \
		'. "$0"; . "$1"' "$vm_dir/test-lib.sh" "$vm_dir/bench-inner.sh" >&2)
	cat "$run/results/bench.txt" >>"$run/bench.txt"
}

# only one of the kernel's own in a boot: it cannot be unloaded at once
boot tcp unix smcd smcr fallback option own-smcr verbs
boot own-smcd
report=$vm_dir/bench-report.py
# the last commit of what is measured
commit=$(git -C "$tree" log -1 --format=%h --abbrev=7 -- net include Kbuild)
git -C "$tree" diff --quiet HEAD -- net include Kbuild || commit=$commit-changed
name=$cache/bench-$commit.json
python3 "$report" json "$run/bench.txt" "$commit" \
	"$(cat "$run/results/kernel")" >"$name.new"
mv "$name.new" "$name"
python3 "$report" table "$name"
echo "$name"
