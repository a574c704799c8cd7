#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# module.sh load ours|upstream|none - have this smc module loaded, or none
# module.sh rdma rxe|siw|lo|none    - have this RDMA port: rxe0/siw0 on eth0,
#                                     or rxe0 on lo
# module.sh unload                  - rmmod; its exit code is rmmod's
# Each changes only what is not so already.
set -eu

loaded() { grep -q "^$1 " /proc/modules; }

which_smc() {
	if ! loaded smc; then
		echo none
	elif [ -e /run/lab/upstream ]; then
		echo upstream
	else
		echo ours
	fi
}

unload() {
	if loaded smc_diag; then rmmod smc_diag; fi
	if loaded smc; then rmmod smc; fi
	rm -f /run/lab/upstream
}

load() {
	[ "$(which_smc)" != "$1" ] || return 0
	unload
	case $1 in
	ours)
		# insmod does not bring what the module needs: do it here
		for ko in /lab/smc.ko /lab/smc_diag.ko; do
			[ -e $ko ] || continue
			for d in $(modinfo -F depends $ko | tr , ' '); do
				[ "$d" = smc ] || modprobe "$d"
			done
			insmod $ko
		done ;;
	upstream)
		: >/run/lab/upstream
		modprobe --ignore-install smc
		modprobe --ignore-install smc_diag ;;
	esac
}

have_link() { rdma link show 2>/dev/null | grep -q "^link $1/1 .*netdev $2 "; }

rdma_port() {
	case $1 in
	none) want= ;;
	rxe) want="rxe0 rxe eth0" ;;
	siw) want="siw0 siw eth0" ;;
	lo) want="rxe0 rxe lo" ;;
	esac
	# shellcheck disable=SC2086
	set -- $want
	for link in $(rdma link show 2>/dev/null | sed 's/^link \([^/]*\).*/\1/'); do
		[ $# -eq 3 ] && [ "$link" = "$1" ] && have_link "$1" "$3" ||
			rdma link delete "$link"
	done
	[ $# -eq 3 ] || return 0
	if ! have_link "$1" "$3"; then
		modprobe ib_uverbs
		modprobe "rdma_$2" 2>/dev/null || modprobe "$2"
		rdma link add "$1" type "$2" netdev "$3"
	fi
	# an address may be a moment late in the GID table, the port in ACTIVE
	i=0
	until rdma link show "$1/1" | grep -q 'state ACTIVE'; do
		i=$((i + 1))
		[ $i -le 100 ] || { echo "$1 is not active"; exit 1; }
		sleep 0.1
	done
}

case $1 in
load) load "$2" ;;
unload) unload ;;
rdma) rdma_port "$2" ;;
which) which_smc ;;
*) exit 2 ;;
esac
