#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# kselftest.sh [-b] [-l] [SUITE[.MODE]...] - the suites of selftests/smc on
# this host, and against a second one (twohosts.sh), as kselftest runs them.
#   -b  build the programs first      -l  list the suites and what each lacks
# SUITE and MODE may have wildcards: "*.reference", "sockopts", "twohosts.*".
#
# A suite that changes nothing but a network namespace of its own runs there,
# so that no other program notices.  What would change the host (the module,
# net.smc.*, RDMA links, a security policy) is skipped unless SMC_DESTRUCTIVE=1.
# A suite for which the host lacks something is skipped with the reason.
#
# NETIF, LOCAL_V4, LOCAL_V6, REMOTE_V4, REMOTE_V6, REMOTE_TYPE and REMOTE_ARGS
# come from the environment or from selftests/smc/net.config; the README there
# explains them, and the files config and settings.
#
# Output is KTAP, what a suite prints stands indented by "# ", the last line is
# "N passed, N failed, N skipped".  Exit code: 1 if a suite failed, 4 if all
# were skipped, else 0.
set -u
dir=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
smc=$dir/smc top=${dir%/*} self=$dir/kselftest.sh
export PATH="$smc:$top/tools:$PATH:/usr/sbin:/sbin"
# root's code may not come from files that a test run leaves
export PYTHONDONTWRITEBYTECODE=1

# NAME MODES NEEDS COMMAND.  MODES are those of sockmodes.sh, or
#   own   in a namespace of its own     plain, smc   between two hosts
#   host  on the host itself: changes it
# NEEDS, separated by commas: a program in PATH, bin:PROGRAM of this tree,
# root, cgroup2, selinux, rdma (an RDMA port on NETIF that serves LOCAL_V4).
suites() {
	cat <<-END
	sockapi reference,smcd,tcp bin:sockapi sockapi
	sockconn reference,smcd,tcp,declined,smcr bin:sockconn,root sockconn
	socklisten reference,smcd,tcp,declined,smcr bin:socklisten,root socklisten
	sockopts reference,smcd,tcp,declined,smcr bin:sockopts sockopts
	sockgone reference,smcd,tcp bin:sockgone sockgone
	sockbusy reference,smcd,tcp,smcr bin:sockbusy sockbusy
	sockwait reference,smcd,tcp,smcr bin:sockwait,nft,ss sockwait
	sockintr reference,smcd,tcp,smcr bin:sockintr,root,nft,ip sockintr
	sockclose reference,smcd,tcp,declined,smcr bin:sockclose mode_sockclose.sh
	sockready reference,smcd,tcp,declined,smcr bin:sockready sockready
	sockmove reference,smcd,tcp,declined,smcr bin:sockmove sockmove
	sockuring reference,smcd,tcp,declined,smcr bin:sockuring sockuring
	sockaround reference,smcd,tcp,smcr bin:sockaround,root sockaround
	sockgroup reference,smcd,tcp,smcr bin:sockgroup,root,cgroup2 sockgroup
	owner smcd,tcp bash,nft,python3,cgroup2 owner.sh
	stream reference,smcd,tcp,declined,smcr bin:stream,bin:pingpong mode_stream.sh
	difftest reference,smcd,tcp,declined,smcr bin:difftest mode_difftest.sh
	wakeups reference,smcd,tcp,smcr bin:wakeups mode_wakeups.sh
	netns own bash,bin:stream,bin:smcss netns.sh
	ipsec own bash,bin:tcpecho,bin:smc_stats ipsec.sh
	fallback_strip own bash,nft,bin:tcpecho,bin:smcss fallback_strip.sh
	lateplain own python3,nft lateplain.py
	diag own python3,bin:smcss diag.py
	top own python3,bin:smcss,bin:smctop top.py
	many own python3,bin:smcss,prlimit,ss many.py rows 1000
	fallback_client host bash,python3,rdma-tool,bin:tcpecho fallback_client.sh
	fallback_server host bash,python3,rdma-tool,bin:tcpecho fallback_server.sh
	hostile_clc host bash,python3,rdma-tool,bin:tcpecho hostile_clc.sh
	destroy host python3,rdma destroy.py
	genl host python3,rdma genl.py
	churn host python3,rdma churn.py
	selinux host python3,selinux,secilc selinux.py
	twohosts_stream plain,smc bin:stream,remote twohosts.sh stream
	twohosts_pingpong plain,smc bin:pingpong,remote twohosts.sh pingpong
	twohosts_tcpecho plain,smc bin:tcpecho,remote twohosts.sh tcpecho
	END
}

note() { echo "# $*"; }
is_root() { [ "$(id -u)" = 0 ]; }
allowed() { [ "${SMC_DESTRUCTIVE:-}" = 1 ]; }
have_smc() { [ -e /proc/net/smc_stat ]; }

# --- what the host has ---------------------------------------------------

# kernel_config: that of the running kernel, if it can be found
kernel_config() {
	zcat /proc/config.gz 2>/dev/null ||
		cat "/boot/config-$(uname -r)" 2>/dev/null ||
		cat "/lib/modules/$(uname -r)/build/.config" 2>/dev/null
}

# Names what the file config asks for and the kernel has not.
check_config() {
	if ! kernel_config >"$tmp/config"; then
		note "config: that of this kernel is not to be found"
		return
	fi
	awk -F= 'NR == FNR { has[$1] = $2 ~ /^[ym]/; next }
		/^CONFIG_[A-Z0-9_]*=/ && !has[$1] { printf " %s", $1 }' \
		"$tmp/config" "$smc/config" >"$tmp/lacks"
	[ ! -s "$tmp/lacks" ] || note "config: the kernel lacks$(cat "$tmp/lacks")"
}

# A line of net.config is NAME=VALUE; no other names are taken from it.
read_net_config() {
	[ -e "$smc/net.config" ] || return 0
	while IFS='=' read -r name value; do
		value=${value#[\"\']}
		value=${value%[\"\']}
		case $name in
		NETIF | LOCAL_V4 | LOCAL_V6 | REMOTE_V4 | REMOTE_V6 | \
		REMOTE_TYPE | REMOTE_ARGS)
			export "$name=$value" ;;
		'' | '#'*) ;;
		*) note "net.config: $name means nothing here" ;;
		esac
	done <"$smc/net.config"
}

# lacks_smc: why sockets of ours are not possible
lacks_smc() {
	if have_smc; then
		return
	elif grep -qs '^smc ' /proc/modules; then
		echo "the smc module that is loaded is not this one"
	else
		echo "the smc module is not loaded"
	fi
}

# An RDMA port that is active and stands on NETIF; LOCAL_V4 gives it a GID.
lacks_rdma() {
	if [ -z "${NETIF:-}" ] || [ -z "${LOCAL_V4:-}" ]; then
		echo "NETIF and LOCAL_V4 do not say where the RDMA port is"
		return
	fi
	for gid in /sys/class/infiniband/*/ports/*/gid_attrs/ndevs/*; do
		[ -e "$gid" ] && [ "$(cat "$gid" 2>/dev/null)" = "$NETIF" ] &&
			return
	done
	echo "no RDMA device on $NETIF"
}

lacks_remote() {
	if [ -z "${NETIF:-}" ]; then
		echo "no second host: NETIF is not set"
	elif [ -z "${LOCAL_V4:-}" ] || [ -z "${REMOTE_V4:-}" ] &&
	     { [ -z "${LOCAL_V6:-}" ] || [ -z "${REMOTE_V6:-}" ]; }; then
		echo "no second host: neither LOCAL_V4 and REMOTE_V4 are set" \
			"nor LOCAL_V6 and REMOTE_V6"
	elif [ -z "${REMOTE_ARGS:-}" ]; then
		echo "no second host: REMOTE_ARGS is not set"
	else
		case ${REMOTE_TYPE:-} in
		ssh) lacks ssh ;;
		netns) lacks root ;;
		*) echo "REMOTE_TYPE is neither ssh nor netns" ;;
		esac
	fi
}

# lacks NEED: why it is not met; prints nothing if it is
lacks() {
	case $1 in
	root) is_root || echo "needs root" ;;
	smc) lacks_smc ;;
	destructive) allowed ||
		echo "changes this host: SMC_DESTRUCTIVE=1 allows that" ;;
	rdma) lacks_rdma ;;
	remote) lacks_remote ;;
	cgroup2) grep -qs ' cgroup2 ' /proc/mounts || echo "no cgroup2" ;;
	selinux) [ -d /sys/fs/selinux ] || echo "SELinux is not active" ;;
	rdma-tool) lacks rdma.program ;;
	bin:*) [ -x "$smc/${1#bin:}" ] || [ -x "$top/tools/${1#bin:}" ] ||
		echo "${1#bin:} is not built" ;;
	*) command -v "${1%.program}" >/dev/null ||
		echo "no program ${1%.program}" ;;
	esac
}

# needs_of MODE: what every suite needs in it
needs_of() {
	case $1 in
	reference) ;;
	smcd | tcp | declined | own) echo root smc ip sysctl ;;
	smcr) echo root smc destructive sysctl rdma ;;
	host) echo root smc destructive ip sysctl ;;
	plain) ;;
	smc) echo smc ;;
	esac
}

# why_not MODE NEEDS: the first need that is not met
why_not() {
	for need in $(needs_of "$1") $(echo "$2" | tr , ' '); do
		reason=$(lacks "$need")
		[ -z "$reason" ] || { echo "$reason"; return; }
	done
}

# --- building and the module ---------------------------------------------

# The kernel's kselftest.h, kselftest_harness.h and lib.mk
find_harness() {
	for k in "${KSELFTEST:-}" /usr/src/kselftest /usr/src/linux-source-* \
		 "${SMC_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/smc-lab}"/root-*/usr/src/kselftest; do
		[ -e "$k/tools/testing/selftests/kselftest_harness.h" ] &&
			return
	done
	return 1
}

build() {
	if find_harness; then
		make -s -C "$smc" KSELFTEST="$k" >"$tmp/build" 2>&1 || {
			sed 's/^/# /' "$tmp/build"
			echo "Bail out! selftests/smc does not build"
			exit 1
		}
	else
		note "the programs need the kselftest harness, which Debian has" \
			"in the package linux-source:" \
			"mkdir /usr/src/kselftest && tar -C /usr/src/kselftest" \
			"--strip-components=1 --wildcards" \
			"-xf /usr/src/linux-source-*.tar.xz" \
			"'*/tools/testing/selftests/kselftest*'" \
			"'*/tools/testing/selftests/lib.mk'" \
			"'*/scripts/subarch.include'" \
			"(or name another place with KSELFTEST=DIR)"
	fi
	make -s -C "$top/tools" >"$tmp/build" 2>&1 || {
		sed 's/^/# /' "$tmp/build"
		note "the tools do not build: see tools/Makefile for what they need"
	}
}

# With SMC_DESTRUCTIVE=1 the module is loaded: the one that "make install" has
# installed, or the one of the tree.
load_module() {
	! have_smc && allowed && is_root && ! grep -qs '^smc ' /proc/modules ||
		return 0
	case $(modinfo -F filename smc 2>/dev/null) in
	*/updates/*)
		modprobe -a smc smc_diag && loaded=1 ;;
	*)
		[ -e "$top/smc.ko" ] || return 0
		for dep in $(modinfo -F depends "$top/smc.ko" | tr , ' '); do
			modprobe "$dep"
		done
		insmod "$top/smc.ko" && loaded=1 && insmod "$top/smc_diag.ko" ;;
	esac
	[ -z "$loaded" ] || note "the smc module has been loaded"
}

# The last sockets may take a moment to go.
unload_module() {
	[ -n "$loaded" ] || return 0
	rmmod smc_diag
	tries=300
	until rmmod smc 2>"$tmp/rmmod"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || { note "$(cat "$tmp/rmmod")"; return; }
		sleep 0.1
	done
	note "the smc module has been unloaded"
}

# --- running ---------------------------------------------------------------

# inside COMMAND...: the part that runs as process 1 of namespaces of its own:
# whatever the suite leaves ends with them
inside() {
	set -e
	ip link set lo up
	# names of namespaces and files are the suite's own, too
	mkdir -p /run/netns
	mount -t tmpfs none /run/netns
	case $smc in
	/tmp/*) ;;
	*) mount -t tmpfs none /tmp ;;
	esac
	echo 1000000 >/proc/sys/net/ipv4/tcp_max_tw_buckets
	! have_smc || echo 20000 >/proc/sys/net/smc/handshake_timeout_ms
	set +e
	"$@"
	exit $?
}

own() {
	limited unshare -n -m -p --fork --kill-child --mount-proc \
		sh "$self" --inside "$@"
}

# As in the kernel's runner.sh: the inner timeout ends the whole process group,
# the outer one passes on the terminal's signals.
limited() {
	timeout --foreground "$limit" timeout -k 10 "$limit" "$@"
}

# play MODE COMMAND...
play() {
	mode=$1
	shift
	case $mode in
	reference | smcd | tcp | declined | smcr)
		export SMC_MODES="$mode" SMC_SKIPS=ok
		set -- sockmodes.sh -m "$mode" -w '>0' "$@" ;;
	plain | smc)
		prog=$1
		shift
		set -- "$prog" "$mode" "$@" ;;
	esac
	case $mode in
	smcd | tcp | declined | own) own "$@" ;;
	reference) if is_root; then own "$@"; else limited "$@"; fi ;;
	*) limited "$@" ;;
	esac
}

# one NUMBER NAME MODE NEEDS COMMAND...: a suite and its line
one() {
	title="$1 selftests: smc: $2.$3"
	mode=$3 reason=$(why_not "$3" "$4")
	if [ -n "$reason" ]; then
		echo "ok $title # SKIP $reason"
		skipped=$((skipped + 1))
		return
	fi
	shift 4
	echo "# timeout set to $limit"
	echo "# ${title#* }"
	{ play "$mode" "$@" 2>&1; echo $? >"$tmp/rc"; } </dev/null |
		tee "$tmp/out" | sed -u 's/^/# /'
	rc=$(cat "$tmp/rc")
	case $rc in
	0)
		echo "ok $title"
		passed=$((passed + 1))
		return ;;
	4)
		reason=$(sed -n 's/.*SKIP[: ]*\(.\)/\1/p' "$tmp/out" | tail -n 1)
		echo "ok $title # SKIP ${reason:-by its own verdict}"
		skipped=$((skipped + 1))
		return ;;
	124 | 137) echo "not ok $title # TIMEOUT $limit seconds" ;;
	*) echo "not ok $title # exit=$rc" ;;
	esac
	failed=$((failed + 1))
}

# chosen NAME.MODE PATTERN...: does one of the patterns mean it?
chosen() {
	full=$1
	shift
	[ $# -gt 0 ] || return 0
	for pattern; do
		# shellcheck disable=SC2254
		case $full in
		$pattern | $pattern.*) return 0 ;;
		esac
	done
	return 1
}

# plan PATTERN...: lines "NAME MODE NEEDS COMMAND"
plan() {
	suites | while read -r name modes needs command; do
		# no program is started for each line of the table
		IFS=,
		for mode in $modes; do
			unset IFS
			! chosen "$name.$mode" "$@" ||
				echo "$name $mode $needs $command"
		done
		unset IFS
	done
}

finish() {
	unload_module
	rm -rf "$tmp"
}

if [ "${1:-}" = --inside ]; then
	shift
	inside "$@"
fi
build='' list=''
while getopts bl o; do
	case $o in
	b) build=1 ;;
	l) list=1 ;;
	*) sed -n '4,21s/^# \{0,1\}//p' "$0"; exit 2 ;;
	esac
done
shift $((OPTIND - 1))

tmp=$(mktemp -d) loaded=
trap finish EXIT
trap 'exit 130' INT TERM
set -f
plan "$@" >"$tmp/plan"
set +f
[ -s "$tmp/plan" ] || { echo "no suite of that name"; exit 2; }
limit=$(sed -n 's/^timeout=//p' "$smc/settings")
limit=${kselftest_override_timeout:-${limit:-45}}
limit=$(awk "BEGIN { print int($limit * ${SMC_TEST_SCALE:-1}) }")

read_net_config
[ -n "$list" ] || echo "TAP version 13"
[ -z "$build" ] || build
if [ -n "$list" ]; then
	while read -r name mode needs command; do
		reason=$(why_not "$mode" "$needs")
		echo "$name.$mode${reason:+  # $reason}"
	done <"$tmp/plan"
	exit 0
fi
check_config
load_module
echo "1..$(wc -l <"$tmp/plan")"
passed=0 failed=0 skipped=0 number=0
while read -r name mode needs command <&3; do
	number=$((number + 1))
	# shellcheck disable=SC2086
	one $number "$name" "$mode" "$needs" $command
done 3<"$tmp/plan"
echo "# Totals: pass:$passed fail:$failed xfail:0 xpass:0 skip:$skipped error:0"
trap - EXIT
finish
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] || exit 1
[ $passed != 0 ] || exit 4
