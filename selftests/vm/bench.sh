#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# bench.sh - "make bench": what messages, streams and connections cost on one
# host: TCP, AF_UNIX, ours, RDMA verbs and the kernel's own SMC, in one boot of a
# guest whose time is the number of its instructions; the kernel's own SMC-D has
# one for itself.  Then, in two more boots, where the instructions of a message go:
# program, kernel, SMC module, RDMA core and soft-RoCE.
#   ROWS=short   a few rows only
# Prints a table and the file with the figures, for "make bench-compare" and
# "make bench-plots".
set -eu
. "$(dirname "$0")/lib.sh"

run=$(new_run)
own=$(sh "$vm_dir/own-lo.sh")
stage_tree 6.12 "$run" 1
cp -r "$own" "$run/lab/own-lo"
rows=${ROWS:-all}
export LAB_K=6.12 LAB_RUN="$run" ROWS WAYS

# guest [LAB.PY-OPTION]: measure WAYS
guest() {
	(lab_up 6.12 "$run" 1 --icount=sleep=off --cpus=1 "$@" -- sh -eu -c \
		'. "$0"; . "$1"' "$vm_dir/test-lib.sh" "$vm_dir/bench-inner.sh" >&2)
}

# boot WAY...: measure these
boot() {
	WAYS=$* ROWS=$rows
	guest
	cat "$run/results/bench.txt" >>"$run/bench.txt"
}

# parts WAY...: count where their instructions are
parts() {
	WAYS=$* ROWS=parts
	guest --plugin=/mnt/run/bench-plugin.so,out=/mnt/run/span
}

plugin() {
	in_root "$(sh "$vm_dir/root.sh" $lab_suite)" \
		--bind "$tree/selftests:/mnt/selftests:ro" --bind "$run:/mnt/run" -- \
		gcc -shared -fPIC -O2 -Wall -Werror -o /mnt/run/bench-plugin.so \
		/mnt/selftests/vm/bench-plugin.c
}

plugin
# only one of the kernel's own in a boot: it cannot be unloaded at once
boot tcp unix smcd smcr fallback option own-smcr verbs
boot own-smcd
parts tcp smcd smcr own-smcr
parts own-smcd
rc=0
python3 "$vm_dir/bench-parts.py" "$run/spans" >"$run/parts.txt" || rc=1
report=$vm_dir/bench-report.py
# the last commit of what is measured
commit=$(git -C "$tree" log -1 --format=%h --abbrev=7 -- net include Kbuild)
git -C "$tree" diff --quiet HEAD -- net include Kbuild || commit=$commit-changed
name=$cache/bench-$commit.json
python3 "$report" json "$run/bench.txt" "$commit" \
	"$(cat "$run/results/kernel")" "$run/parts.txt" >"$name.new"
mv "$name.new" "$name"
python3 "$report" table "$name"
echo "$name"
exit $rc
