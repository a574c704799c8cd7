# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# lib.sh - what every script of the laboratory shares: where things are, how
# a kernel name maps to a Debian suite, caching by recipe hash, and running a
# command inside a root.  Sourced, never run.

vm_dir=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
while [ ! -e "$vm_dir/lib.sh" ]; do vm_dir=$(dirname -- "$vm_dir"); done
tree=$(CDPATH='' cd -- "$vm_dir/../.." && pwd)
cache=${SMC_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/smc-lab}
mkdir -p "$cache"

say() { echo "lab: $*" >&2; }
die() { say "$*"; exit 1; }

# the suite of the root that has everything: QEMU and the kernel's source, too
lab_suite=trixie

# K (6.1, 6.12, 7.2, debug or kcsan) to the Debian suite whose root serves it
suite_of() {
	case $1 in
	6.1) echo bookworm ;;
	6.12 | debug | kcsan) echo $lab_suite ;;
	7.2) echo forky ;;
	*) die "unknown kernel '$1' (6.1, 6.12, 7.2, debug or kcsan)" ;;
	esac
}

# hash_of FILE... [-- TEXT...]: the short name of a recipe
hash_of() {
	_f=
	while [ $# -gt 0 ] && [ "$1" != -- ]; do _f="$_f $1"; shift; done
	# shellcheck disable=SC2086
	{ cat $_f; echo "$@"; } | sha256sum | cut -c1-12
}

# alone NAME: until this shell ends, which has one such lock at most
alone() {
	exec 9>"$cache/.lock-$1"
	flock -n 9 || { say "waiting for another $1"; flock 9; }
}

# in_root ROOT [--bind HOST:GUEST[:ro]]... -- COMMAND...: chroot with /proc,
# /dev and the binds, in a mount namespace of its own, so that nothing stays
# mounted whatever happens.
in_root() {
	_root=$1
	shift
	_b=
	while [ "$1" != -- ]; do
		[ "$1" = --bind ] || die "in_root: $1"
		_b="$_b $2"
		shift 2
	done
	shift
	ROOT=$_root BINDS=$_b unshare --mount --pid --fork --kill-child \
		sh "$vm_dir/in-root.sh" "$@"
}

# over ROOT NAME COMMAND...: in_root with the tree in /mnt/src, the network,
# and a place for what is written that is gone afterwards, but for /mnt/out, the
# directory $OUT of the host.  What apt fetches is kept in the cache.  Its caller
# has to be alone() with NAME.
over() {
	_work=$cache/$2 _apt=$cache/$2-archives _rc=0
	rm -rf "$_work"
	mkdir -p "$_work/upper/etc" "$_work/work" "$_work/merged" "$_apt/partial"
	cp /etc/resolv.conf "$_work/upper/etc/"
	_r=$1
	shift 2
	OVER=$_work in_root "$_r" --bind "$tree:/mnt/src:ro" \
		--bind "$_apt:/var/cache/apt/archives" \
		${OUT:+--bind "$OUT:/mnt/out"} -- "$@" || _rc=$?
	rm -rf "$_work"
	return $_rc
}

# new_run: a fresh directory for the logs and results of one run; the last
# twenty are kept
new_run() {
	mkdir -p "$cache/runs"
	find "$cache/runs" -mindepth 1 -maxdepth 1 -mmin +240 -printf '%T@ %p\n' |
		sort -rn | tail -n +21 | cut -d' ' -f2- | xargs -r rm -rf
	mktemp -d "$cache/runs/$(date +%m%d-%H%M%S)-XXXX"
}

# disk_of DIRECTORY FILE: a disk image that a guest can mount to see the
# directory.  To open a file over 9p takes three messages, and a program opens a
# dozen: on the debug kernel that was most of what a program took to start.
disk_of() {
	rm -f "$2.tmp"
	mkfs.erofs --quiet "$2.tmp" "$1" >&2 || die "no image of $1"
	mv "$2.tmp" "$2"
}

# stage_tree K RUN BUILD: build (unless BUILD is empty) and copy what the
# guests see as /lab, so that later builds and edits do not disturb the run
stage_tree() {
	if [ -n "$3" ]; then
		_out=$(sh "$vm_dir/build.sh" "$1") || die "build failed"
	else
		_out=$(build_dir "$1")
	fi
	mkdir -p "$2/lab" "$2/results"
	# shellcheck disable=SC2016
	flock -s "$_out.lock" sh -euc '
		{ tar -C "$1" -cf - --exclude="*.o" --exclude="*.ko" \
			--exclude="*.cmd" . || : >"$2/torn"; } | tar -C "$2" -xf -
		[ ! -e "$2/torn" ]
		for ko in "$1"/.strip/*.ko; do
			[ ! -e "$ko" ] || cp "$ko" "$2/"
		done' sh "$_out" "$2/lab" || die "no copy of $_out"
	sh "$vm_dir/host-setup.sh" >&2
	disk_of "$2/lab" "$2/lab.disk"
	# the disk of another run may take its place, of the same size (lab.py)
	[ "$(stat -c %s "$2/lab.disk")" -le $((96 << 20)) ] || die "lab.disk"
	truncate -s 96M "$2/lab.disk"
	mv "$2/lab.disk" "$2/lab/.disk"
}

build_dir() {
	echo "$cache/build/$1${SMC_GCOV:+-gcov}-$(echo "$tree" | sha256sum | cut -c1-8)"
}

# lab_slots 1|2|2-waits: guests that starve each other fail in ways no host does,
# so there are three places: a guest takes one, and so does a pair that waits, any
# other pair takes all.  Held until this shell ends.  They are taken behind a door,
# in the order of coming: a pair is not passed by guests that come later.
# LAB_PARALLEL=1 says there are processors enough.  The places are the machine's,
# whatever cache is used, where /run can be written.
lab_slots() {
	[ "${LAB_PARALLEL:-}" != 1 ] || return 0
	_dir=/run/smc-lab
	mkdir -p "$_dir" 2>/dev/null && [ -w "$_dir" ] || _dir=$cache
	exec 5>"$_dir/.lock-lab-1" 6>"$_dir/.lock-lab-2" 7>"$_dir/.lock-lab-3" \
		8>"$_dir/.lock-lab-door"
	flock 8
	if [ "$1" = 2 ]; then
		flock -n 5 || { say "waiting for other guests"; flock 5; }
		flock 6
		flock 7
	else
		until flock -n 5 || flock -n 6 || flock -n 7 || flock -w 2 5
		do :; done
	fi
	exec 8>&-
}

# scale_of K: the factor of all time limits
scale_of() {
	case $1 in
	debug | kcsan) echo $((4 * ${LAB_SCALE:-1})) ;;
	*) echo "${LAB_SCALE:-1}" ;;
	esac
}

# lab_up K RUN GUESTS LAB.PY-OPTIONS... -- COMMAND...; in a shell of its own
lab_up() {
	lab_slots "$3"
	_boot=$(sh "$vm_dir/boot.sh" "$1") || return
	_mem=1024
	[ "$1" = 6.12 ] || _mem=2560
	# for the programs in the guests (agent.py); and after how many seconds the
	# kernel complains that a network device cannot go, 10 by default
	_scale=$(scale_of "$1")
	_env="SMC_TEST_SCALE=$_scale"
	_sysctl=net.core.netdev_unregister_timeout_secs=$((10 * _scale))
	for _v in SMC_SEED SMC_ROTATE SMC_MODES SMC_GCOV SMC_SYN_OPTION; do
		eval "_w=\${$_v:-}"
		[ -z "$_w" ] || _env="$_env $_v=$(echo "$_w" | tr ' ' ,)"
	done
	_run=$2 _n=$3
	shift 3
	python3 "$vm_dir/lab.py" --boot "$_boot" --lab "$_run/lab" --run "$_run" \
		-n "${_n%-waits}" --mem "$_mem" --env "$_env" --sysctl "$_sysctl" "$@"
}

# header FILE NAME [DEFAULT]: the value of "# NAME: value" in a test's head
header() {
	_v=$(sed -n "s/^# $2: *//p; /^\$/q" "$1" | head -n 1)
	echo "${_v:-${3:-}}"
}
