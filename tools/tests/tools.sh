#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tools.sh [-u] - output of the tools from recorded netlink messages
#
# data/NAME.txt describes a recording, which pack.py makes; of several, with
# colons between, smctop sees the next one each time it looks.  cases/*.cases are
# lists of command lines, the recording each one reads before it; what it
# prints, what it says, its exit status and the requests it sent are compared
# with golden/*.out.  Output of commands with -j, and of "stats json", is also
# read with another JSON parser.  -u writes the golden files anew: read the
# difference before it goes in.
cd "$(dirname "$0")" || exit 1
update=${1:-}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
tests=$PWD
version=$(sed -n 's/^smc-version := //p' ../../Kbuild)
passed=0
failed=0
TZ=UTC LC_ALL=C TMPDIR=$tmp
export TZ LC_ALL TMPDIR

for d in data/*.txt; do
	name=${d##*/}
	python3 pack.py "$d" "$tmp/${name%.txt}.nl" || exit 1
done

# Roots with /sys and /proc: "PATH CONTENT" or "PATH -> TARGET" a line
roots=
for d in data/root*.list; do
	root=$tmp/${d##*/}
	root=${root%.list}
	case $root in
	*/root_*) ;;
	*) roots=${roots:+$roots:}$root ;;
	esac
	while read -r path content; do
		case $path in
		'' | '#'*) continue ;;
		esac
		mkdir -p "$root${path%/*}"
		case $content in
		'-> '*) ln -s "${content#-> }" "$root$path" ;;
		*) printf '%b\n' "$content" >"$root$path" ;;
		esac
		case $path in
		*/sbin/*) chmod +x "$root$path" ;;
		esac
	done <"$d"
done

bad() {
	failed=$((failed + 1))
	echo "FAIL $*"
}

# one RECORDING[:RECORDING...] COMMAND...: what one command line does
one() {
	rec=$1
	shift
	rm -f "$tmp/sent"
	echo "\$ $rec: $*"
	# a recording may have a root of its own
	at=$roots
	[ ! -e "$tmp/root_$rec" ] || at=$tmp/root_$rec
	replay=$tmp/$(echo "$rec" | sed "s,:,.nl:$tmp/,g").nl
	SMC_TOOLS_REPLAY=$replay SMC_TOOLS_SENT=$tmp/sent \
	SMC_TOOLS_ROOT=$at PATH=$tests/..:$PATH \
		"$@" >"$tmp/out" 2>"$tmp/err"
	rc=$?
	sed "s/^\(smc[a-z_]*\) $version\$/\1 VERSION/" "$tmp/out"
	sed 's/^/! /' "$tmp/err"
	grep -v ' dump [0-9]* $' "$tmp/sent" 2>"$tmp/null" | sed 's/^/> /'
	echo "= $rc"
	case " $* " in
	*" -j"* | *json*)
		# several documents, one a line, are what smctop prints
		[ $rc -ne 0 ] || python3 -m json.tool <"$tmp/out" >"$tmp/null" 2>&1 ||
		python3 -m json.tool --json-lines <"$tmp/out" >"$tmp/null" ||
			echo "NOT JSON"
		;;
	esac
}

for c in cases/*.cases; do
	name=${c##*/}
	name=${name%.cases}
	rm -f "$tmp"/.smcstats*
	while read -r rec args; do
		case $rec in
		'' | '#'*) continue ;;
		esac
		# shellcheck disable=SC2086
		one "$rec" $args </dev/null
	done <"$c" >"$tmp/$name.out"
	[ "$update" != -u ] || cp "$tmp/$name.out" "golden/$name.out"
	grep -q 'NOT JSON' "$tmp/$name.out" && bad "$name: not JSON"
	grep -q '^= 1[0-9][0-9]$' "$tmp/$name.out" && bad "$name: crash"
	if diff -u "golden/$name.out" "$tmp/$name.out" >"$tmp/diff"; then
		passed=$((passed + $(grep -c '^\$ ' "$tmp/$name.out")))
	else
		bad "$name"
		cat "$tmp/diff"
	fi
done

# A recording cut short anywhere is no reason to crash or hang.
for cut in 1 15 17 40 100 333 801; do
	head -c "$cut" "$tmp/full.nl" >"$tmp/cut.nl"
	for args in info linkgroup 'linkgroup link-show' device ueid; do
		# shellcheck disable=SC2086
		SMC_TOOLS_REPLAY=$tmp/cut.nl timeout 10 ../smcr $args \
			>"$tmp/null" 2>&1
		if [ $? -le 2 ]; then
			passed=$((passed + 1))
		else
			bad "smcr $args of a recording of $cut bytes"
		fi
	done
done

# What cannot be written is an error.
if [ -e /dev/full ]; then
	for args in 'smcr device' 'smcr -v' 'smcd -h' 'smcss -v' 'smcss -h' \
		    'smc_chk -v' 'smc_pnet -h' 'smc_rnics -v' 'smc_stats -h' \
		    'smctop -v'; do
		# shellcheck disable=SC2086
		if SMC_TOOLS_REPLAY=$tmp/full.nl ../$args >/dev/full 2>"$tmp/err"
		then
			bad "$args: no complaint about a full disk"
		else
			passed=$((passed + 1))
		fi
	done
fi

# The file of "stats reset" is not written through a symbolic link.
rm -f "$tmp"/.smcstats*
echo precious >"$tmp/precious"
ln -s "$tmp/precious" "$tmp/.smcstats.u$(id -u)"
SMC_TOOLS_REPLAY=$tmp/stats.nl ../smcr stats reset >"$tmp/null"
if [ "$(cat "$tmp/precious")" = precious ] &&
   [ ! -L "$tmp/.smcstats.u$(id -u)" ]; then
	passed=$((passed + 1))
else
	bad 'stats reset wrote through a symbolic link'
fi

# It counts for one boot and one load of the module.
# fallbacks: what is left of the server's after the reset
fallbacks() {
	SMC_TOOLS_REPLAY=$tmp/reasons.nl SMC_TOOLS_ROOT=$tmp/boot \
		../smcr -d stats | sed -n 's/.*(client \(.*\), server \(.*\))$/\2/p' |
		tail -1
}
id=$tmp/boot/proc/sys/kernel/random/boot_id
mkdir -p "${id%/*}" "$tmp/boot/sys/module/smc"
rm -f "$tmp"/.smcstats*
echo 1-2-3 >"$id"
SMC_TOOLS_REPLAY=$tmp/reasons.nl SMC_TOOLS_ROOT=$tmp/boot \
	../smcr stats reset >"$tmp/null"
got=$(fallbacks)
echo 1-2-4 >"$id"
got="$got $(fallbacks)"
echo 1-2-3 >"$id"
got="$got $(fallbacks)"
mkdir "$tmp/boot/sys/module/new"
rmdir "$tmp/boot/sys/module/smc"
mv "$tmp/boot/sys/module/new" "$tmp/boot/sys/module/smc"
got="$got $(fallbacks)"
if [ "$got" = '0 20 0 20' ]; then
	passed=$((passed + 1))
else
	bad "stats reset of another boot, or load of the module: $got"
fi

echo "tools: $passed passed, $failed failed"
[ $failed -eq 0 ]
