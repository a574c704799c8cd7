#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# static.sh [CHECK...] - checks that run nothing; "static.sh list" lists them
#
# Each check is a function below, prints what is wrong and returns non-zero
# for that.  A check whose program is missing is skipped, which is a failure
# where CI is set: setup.sh installs them all.  "build", "headers" and "options" are
# for kernel K (6.12), "clang" and "sparse" for K or, if it is not set, the one whose
# turn it is (SMC_ROTATE).  What belongs to a kernel (headers, checkpatch,
# kernel-doc, sparse) comes from the laboratory's root.  What options, clang, sparse
# and checkpatch have passed before is not checked again: the cache has a list.
# The last line is "N passed, N failed" (", N skipped").
set -u
cd "$(dirname "$0")/../.." || exit 1
top=$PWD
vm_dir=$top/selftests/vm
cache=${SMC_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/smc-lab}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

k=${K:-6.12}
all="build clang layers size scc spdx headers options sparse checkpatch shellcheck python codespell heads shards mutants counters plots"

# git refuses a tree of another user: without a list nothing would be checked
git ls-files >/dev/null ||
	{ echo "git has no list of the files"; echo "0 passed, 1 failed"; exit 1; }

# files PATTERN: tracked or new, existing, whose names match
files() {
	git ls-files -co --exclude-standard | grep -E "$1" |
		while read -r f; do [ ! -f "$f" ] || echo "$f"; done
}

# need PROGRAM: skip this check without it
need() {
	command -v "$1" >/dev/null || { echo "$1 is not installed"; return 4; }
}

lab() { sh -euc '. "$0"; "$@"' "$vm_dir/lib.sh" "$@"; }

# The kernel that was chosen, or whose turn it is
turn() {
	case ${K:-$((${SMC_ROTATE:-0} % 3))} in
	0) echo 6.12 ;;
	1) echo 6.1 ;;
	2) echo 7.2 ;;
	*) echo "$K" ;;
	esac
}

# build_dir [KERNEL]: the build directory of the module, compiled if need be
build_dir() {
	on=${1:-$k}
	[ -s "$tmp/build-$on" ] || sh "$vm_dir/build.sh" "$on" module \
		>"$tmp/build-$on" 2>"$tmp/build.err" || {
		cat "$tmp/build.err"
		rm -f "$tmp/build-$on"
		return 1
	}
	build=$(tail -1 "$tmp/build-$on")
}

# in_build COMMAND: in that kernel's root, the build directory is /mnt/out
in_build() {
	lab in_root "$(sh "$vm_dir/root.sh" "$(lab suite_of "$on")")" \
		--bind "$build:/mnt/out" --bind "$top/tools/dev:/mnt/dev:ro" \
		-- "$@"
}

# unchecked CHECK ROOT: those of the lines on standard input, "SUM FILE", that have
# not passed this check before, by the programs in ROOT.  They have when it passes.
unchecked() {
	recipe=$({ cat tools/dev/static.sh tools/dev/checkpatch.ignore
		stat -c '%n %Y' "$2.ok"; } | sha256sum | cut -c1-12)
	touch "$cache/passed"
	sed "s/^/$1 $recipe /" | grep -vxF -f "$cache/passed" | tee -a "$tmp/fresh" |
		cut -d' ' -f3-
}

# module_passed CHECK: the module as a whole has, on kernel $on, with these flags
module_passed() {
	root=$(sh "$vm_dir/root.sh" "$(lab suite_of "$on")") || return
	! files '^(Kbuild|(net|include)/.*\.[ch]|selftests/vm/build-inside\.sh)$' |
		xargs sha256sum | sha256sum | unchecked "$1" "$root" | grep -q .
}

# W=1 and kernel-doc without a warning
check_build() { build_dir; }

check_clang() {
	on=$(turn)
	echo "clang: kernel $on"
	module_passed clang || sh "$vm_dir/build.sh" "$on" clang 2>&1
}

# Also that the list of layers in overview.rst is the one of Kbuild
check_layers() {
	sh tools/dev/layer-list.sh check || return
	build_dir && sh tools/dev/layers.sh "$build"
}

check_size() {
	need python3 || return
	files '\.(c|h|sh|py)$' | xargs python3 tools/dev/cmetrics.py size
}

# Files that need each other, by #include and by the symbols of their objects
check_scc() {
	need python3 || return
	build_dir || return
	files '^net/.*\.[ch]$' | xargs python3 tools/dev/cmetrics.py includes &&
		python3 tools/dev/cmetrics.py calls "$build"
}

# The licence is named in the first line, or after "#!" in the second
check_spdx() {
	files '(\.(c|h|sh|py|rst|config)|Makefile|Kbuild)$' |
	while read -r f; do
		head -2 "$f" | grep -q 'SPDX-License-Identifier: GPL-2.0' ||
			echo "$f: no SPDX-License-Identifier"
	done >"$tmp/spdx"
	cat "$tmp/spdx"
	[ ! -s "$tmp/spdx" ]
}

# Every header can be included first
check_headers() {
	build_dir || return
	in_build sh /mnt/dev/headers.sh /mnt/out
}

# The module compiles without what a kernel need not have, each commit one of them
check_options() {
	set -- IPV6 MEMCG NETFILTER XFRM SYSCTL
	shift $((${SMC_ROTATE:-0} % $#))
	echo "without $1"
	on=$k
	! module_passed "without-$1" || return 0
	build_dir && in_build sh /mnt/dev/without.sh /mnt/out "$1"
}

check_sparse() {
	on=$(turn)
	! module_passed sparse || return 0
	build_dir "$on" || return
	sh "$vm_dir/build.sh" "$on" sparse >"$tmp/sparse" 2>&1 ||
		{ cat "$tmp/sparse"; return 1; }
	! grep -E '(warning|error):' "$tmp/sparse"
}

# The kernel's checkpatch.pl, out of its source package, kept in the cache
get_checkpatch() {
	root=$(sh "$vm_dir/root.sh" trixie) || return
	tar=$(ls "$root"/usr/src/linux-source-*.tar.xz) || return
	cp=$cache/checkpatch-$(basename "$root")
	[ ! -e "$cp/.ok" ] || return 0
	mkdir -p "$cp"
	tar -xf "$tar" -C "$cp" --strip-components=2 --no-anchored \
		--wildcards 'scripts/checkpatch.pl' 'scripts/spelling.txt' \
		'scripts/const_structs.checkpatch' && touch "$cp/.ok"
}

# patch_check PATTERN OPTION...: checkpatch.pl on the files PATTERN.
# trace.h is in the layout of all trace headers, which it dislikes.
patch_check() {
	files "$1" | grep -v '/trace\.h$' | xargs sha256sum |
		unchecked "checkpatch${2:-}" "$root" | sed "s,^[0-9a-f]*  ,$top/," \
		>"$tmp/list"
	shift
	(cd "$cp" && xargs -r -n 40 -P "$(nproc)" perl ./checkpatch.pl --no-tree --terse \
		--show-types --no-summary --quiet --file "$@" \
		--ignore "$(sed 's/[[:space:]]*#.*//; /^$/d' \
			"$top/tools/dev/checkpatch.ignore" | paste -sd,)" \
		<"$tmp/list") 2>&1 |
		sed -e "s,^$top/,," -e '/^find: ./d' -e '/^Use of uninit/d'
}

# --strict in the module; errors and warnings in programs
check_checkpatch() {
	need perl || return
	get_checkpatch || return
	{
		patch_check '^(net|include)/.*\.[ch]$' --strict
		patch_check '^(tools|selftests)/.*\.[ch]$'
	} >"$tmp/checkpatch"
	! grep . "$tmp/checkpatch"
}

# SC3013: dash and busybox know test -nt.  Scripts without "#!" are sourced, with
# variables of the scripts that source them.
check_shellcheck() {
	need shellcheck || return
	: >"$tmp/run"
	: >"$tmp/sourced"
	files '' | grep -v '\.[ch]$' | while read -r f; do
		line=$(head -c 100 "$f" | tr -d '\0' | head -1)
		case $line in
		'#!'*bash | '#!'*/sh) echo "$f" >>"$tmp/run" ;;
		'#!'*) ;;
		*) case $f in *.sh) echo "$f" >>"$tmp/sourced" ;; esac ;;
		esac
	done
	set -- -n 20 -P "$(nproc)" shellcheck -x -S warning --source-path=SCRIPTDIR
	xargs "$@" -e SC3013 <"$tmp/run" &&
		xargs "$@" -e SC2148,SC2034,SC2154 <"$tmp/sourced"
}

check_python() {
	need python3 || return
	files '\.py$' | xargs python3 -c '
import ast, sys
for path in sys.argv[1:]:
    ast.parse(open(path).read(), path)'
}

check_codespell() {
	need codespell || return
	files '' | grep -v -e '/golden/' -e 'debug\.config$' |
		xargs codespell -q 7 -I tools/dev/codespell.ignore
}

# What a guest test says in its head is understood (run.sh lists the words), and
# what is left to check-long has a reason
check_heads() {
	for f in selftests/vm/tests/*.sh; do
		awk -v f="$f" '
			$0 == "" || !/^#/ { exit }
			/^# [a-z]+: / {
				word = $2; sub(":", "", word)
				if (index(" guests kernels timeout module rdma mtu " \
					"when cpus icount waits mem append peer shows dmesg unfit ",
					" " word " ") == 0)
					print f ": " word ": is no word of a head"
				if (word == "when" && /long/ && !index($0, ","))
					print f ": when: long without a reason"
			}' "$f"
	done >"$tmp/heads"
	! grep . "$tmp/heads"
}

# Each test that is left to check-long is run by a shard on a kernel where it is.
# Those of the KCSAN kernel are left out (shards.sh).
check_shards() {
	grep -l '^# when:.*long' selftests/vm/tests/*.sh |
		xargs grep -L '^# when:.*long kcsan,' | sort >"$tmp/long"
	# shellcheck disable=SC2016
	for shard in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
		LONG='' K='' LIST=$tmp/long sh -euc '
		. "$0"
		. "$vm_dir/plan.sh"
		. tools/dev/shards.sh
		budget_left() { echo 1; }
		guests() { stage guests sh selftests/vm/run.sh -k "$1"; }
		stage() {
			[ "$3" = selftests/vm/run.sh ] || return 0
			shift 3
			k=6.12 only= OPTIND=1
			while getopts k:n: o; do
				case $o in k) k=$OPTARG ;; n) only=$OPTARG ;; esac
			done
			shift $((OPTIND - 1))
			named=$#
			[ $named != 0 ] || set -- $(cat "$LIST")
			for t; do
				t=selftests/vm/tests/$(basename "$t" .sh).sh
				[ "$(when_of "$t" "$k")" = long ] || continue
				is_for "$t" "$k" || continue
				case ${only:-any} in
				any | "$(header "$t" guests 1)") ;;
				*) continue ;;
				esac
				[ $named = 0 ] && not_now "$t" "$k" || echo "$t"
			done
		}
		shard "$1/13"' "$vm_dir/lib.sh" "$shard" || return
	done | sort -u | comm -23 "$tmp/long" - |
		sed 's/$/: when: long, and no shard runs it/' >"$tmp/unrun"
	! grep . "$tmp/unrun"
}

# Each mutant's patch applies and names a test: found before hours of running
check_mutants() {
	need patch || return
	sh selftests/mutants/run.sh --check >"$tmp/mutants" && return
	cat "$tmp/mutants"
	return 1
}

# Each counter of stats.h is named by a test, or excused in "exceptions" as
# "counter:NAME 0 REASON".  Those of a transport count without Smcr or Smcd.
check_counters() {
	sed -n 's/^[[:space:]]*X([A-Z0-9_]*, "\([A-Za-z0-9]*\)",.*/\1/p' \
		net/smc/stats.h | sort >"$tmp/counters"
	[ -s "$tmp/counters" ] || { echo "no list in stats.h"; return 1; }
	files '^selftests/(smc|vm)/.*\.(sh|py|c)$' |
		xargs sed '/^[[:space:]]*\(#\|\*\|\/\*\)/d' |
		grep -oE '[A-Za-z0-9]+' | sed 's/^Smc[rd]\(.\)/\1/' |
		sort -u >"$tmp/words"
	sed -n 's/^counter:\([A-Za-z0-9]*\) 0 .*/\1/p' tools/dev/exceptions |
		sort >"$tmp/excused"
	{
		comm -23 "$tmp/counters" "$tmp/words" |
			comm -23 - "$tmp/excused" |
			sed 's/$/: no test names this counter/'
		comm -12 "$tmp/excused" "$tmp/words" |
			sed 's/$/: its exception is not needed any more/'
		comm -23 "$tmp/excused" "$tmp/counters" |
			sed 's/$/: there is no such counter to except/'
	} >"$tmp/unnamed"
	! grep . "$tmp/unnamed"
}

# The plots and tables of performance.rst are those of its figures
check_plots() {
	need python3 || return
	python3 selftests/vm/bench-page.py check
}

[ "${1:-}" != list ] || { echo "$all"; exit 0; }
[ $# -gt 0 ] || eval "set -- $all"
passed=0 failed=0 skipped=0
for check; do
	start=$(date +%s)
	: >"$tmp/fresh"
	check_"$check" >"$tmp/out" 2>&1
	case $? in
	0)
		cat "$tmp/fresh" >>"$cache/passed"
		passed=$((passed + 1))
		printf 'ok      %-30s %3d s\n' "$check" $(($(date +%s) - start))
		;;
	4)
		if [ -n "${CI:-}" ]; then
			failed=$((failed + 1))
		else
			skipped=$((skipped + 1))
		fi
		echo "SKIP    $check: $(cat "$tmp/out")"
		;;
	*)
		failed=$((failed + 1))
		echo "FAIL    $check"
		head -40 "$tmp/out" | sed 's/^/        /'
		;;
	esac
done
echo "$passed passed, $failed failed$([ $skipped = 0 ] || echo ", $skipped skipped")"
[ $failed = 0 ]
