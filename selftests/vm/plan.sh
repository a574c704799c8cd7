# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# plan.sh - which tests run, in which order, and how long they took before:
# sourced after lib.sh by run.sh and run-inner.sh.
#
# A plan is a file of lines "GUESTS MTU CPUS ICOUNT APPEND PEER MEM FILE", the
# longest test first; all words but the last are the key of a boot.  GUESTS is 1,
# 2, or 2-waits for a pair that leaves the machine to others.  A lane that runs a
# test takes its line away.

. "$vm_dir/../smc/rotate.sh"

history=$cache/seconds		# lines "K TEST SECONDS", the newest last

# is_late: no time for another test
is_late() {
	[ -n "${SMC_DEADLINE:-}" ] && [ "$(date +%s)" -ge "$SMC_DEADLINE" ]
}

# median K TEST: of what it took the last nine times; fails if never seen
median() {
	[ -e "$history" ] || return 1
	awk -v k="$1" -v t="$2" '$1 == k && $2 == t { print $3 }' "$history" |
		tail -n 9 | sort -n |
		awk '{ v[NR] = $1 } END { if (!NR) exit 1; print v[int((NR + 1) / 2)] }'
}

# plan_make K GUESTS NAMED TEST...: the plan on standard output; GUESTS empty:
# any; NAMED 0: without the tests that are left to check-long
plan_make() {
	_k=$1 _only=$2 _named=$3
	shift 3
	for _t; do
		case $_t in */*) ;; *) _t=$vm_dir/tests/${_t%.sh}.sh ;; esac
		[ -e "$_t" ] || die "no test $_t"
		_n=$(header "$_t" guests 1)
		[ -z "$_only" ] || [ "$_only" = "$_n" ] || continue
		is_for "$_t" "$_k" || continue
		if [ "$_named" = 0 ] && not_now "$_t" "$_k"; then
			echo "# not now: $(basename "$_t" .sh):" \
				"$(header "$_t" when)" >&2
			continue
		fi
		_p=$(header "$_t" peer no)
		[ "$_p" != "$_k" ] || _p=no
		[ "$_n,$(header "$_t" waits)" != 2,yes ] || _n=2-waits
		# a test never seen is taken for a long one
		_s=$(median "$_k" "$(basename "$_t" .sh)") ||
			_s=$(header "$_t" timeout 120)
		echo "$_s $_n $(header "$_t" mtu 1500) $(cpus_of "$_t" "$_k")" \
			"$(header "$_t" icount no) $(header "$_t" append no) $_p" \
			"$(header "$_t" mem no) $_t"
	done | sort -rn | cut -d' ' -f2-
}

# is_for TEST K: it is meant for this kernel
is_for() {
	case " $(header "$1" kernels any) " in
	*" any "* | *" $2 "*) return 0 ;;
	esac
	return 1
}

# when_of TEST K: "long" or "T/N", if the clause of its head's "when:" that is for
# K says so
when_of() {
	_w=$(header "$1" when)
	echo "${_w%%,*}" | tr ';' '\n' | awk -v k="$2" '
		NF == 1 { print $1; exit }
		{ for (i = 2; i <= NF; i++) if ($i == k) { print $1; exit } }'
}

# not_now TEST K: it is left to check-long, or this is another commit's turn.
# Where modes are not rotated every turn is now.
not_now() {
	_w=$(when_of "$1" "$2")
	case $_w in
	'') return 1 ;;
	long) [ -z "${LONG:-}" ] ;;
	[1-9]*/[1-9]*)
		[ "${SMC_MODES:-}" = rotate ] &&
			[ $((SMC_ROTATE % ${_w#*/})) != $((${_w%/*} - 1)) ] ;;
	*) die "$1: when: $_w" ;;
	esac
}

# plan_turns K: lines "GUESTS T/N SECONDS TEST" of the tests for K that are not left
# to check-long; SECONDS of one never seen are half of its limit and "?"
plan_turns() {
	for _t in "$vm_dir"/tests/*.sh; do
		_w=$(when_of "$_t" "$1")
		[ "$_w" != long ] && is_for "$_t" "$1" || continue
		_n=$(basename "$_t" .sh)
		_s=$(median "$1" "$_n") || _s="$(($(header "$_t" timeout 120) / 2))?"
		echo "$(header "$_t" guests 1) ${_w:-1/1} $_s $_n"
	done
}

# cpus_of TEST K: two virtual CPUs where a test asks for them and, where modes are
# rotated, in half of the turns, on the debug kernel in a quarter.  Guests with more
# CPUs than the host wait for CPUs that do not run: that is a third of their time.
cpus_of() {
	_c=$(header "$1" cpus)
	if [ -z "$_c" ]; then
		case $2,${SMC_MODES:-} in
		debug,*)
			_c=1
			[ "$(turn_of 4 "cpus $(basename "$1")")" != 0 ] || _c=2 ;;
		*,rotate)
			_c=$(($(turn_of 2 "cpus $(basename "$1")") + 1)) ;;
		*) _c=2 ;;
		esac
	fi
	echo "$_c"
}

# plan_key PLAN GUESTS: the key of the first test left
plan_key() {
	_l=$(flock "$1.lock" grep -m 1 "^$2 " "$1") || return 1
	echo "${_l% *}"
}

# plan_take PLAN KEY: take away the first test with this key and print it
plan_take() {
	! is_late || return 1
	# shellcheck disable=SC2016
	_t=$(flock "$1.lock" awk -v key="$2 " -v plan="$1" '
		!found && !index($0, key "/") { rest = rest $0 "\n"; next }
		found { rest = rest $0 "\n"; next }
		{ print $NF; found = 1 }
		END { printf "%s", rest >plan }' "$1")
	[ -n "$_t" ] && echo "$_t"
}

# plan_return PLAN KEY TEST: it was taken, and did not run
plan_return() {
	flock "$1.lock" sh -c 'echo "$1" >>"$0"' "$1" "$2 $3"
}

# plan_remember K RESULTS: keep the seconds of those that passed; name the ten
# slowest, and each that took three times its median or more
plan_remember() {
	awk '$1 == "ok" && $3 >= 10 { print $2, $3 }' "$2" |
	while read -r _t _s; do
		_m=$(median "$1" "$_t") || continue
		[ "$_s" -lt $((3 * _m)) ] || [ "$_m" -lt 5 ] ||
			echo "# slow: $_t took $_s s, $_m s as a rule"
	done
	awk -v k="$1" '$1 == "ok" { print k, $2, $3 }' "$2" >>"$history"
	[ "$(wc -l <"$2")" -lt 10 ] ||
		echo "# slowest: $(sort -k3rn "$2" | head -n 10 |
			awk '{ printf "%s%s %s s", (NR > 1 ? ", " : ""), $2, $3 }')"
}
