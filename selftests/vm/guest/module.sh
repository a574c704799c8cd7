#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# module.sh load ours|upstream|none - have this smc module loaded, or none
# module.sh rdma rxe|siw|lo|none    - have this RDMA port: rxe0/siw0 on eth0,
#                                     or rxe0 on lo
# module.sh unload                  - rmmod; its exit code is rmmod's
# Each changes only what is not so already.  SMC_SYN_OPTION: what is to write the
# SYN option with our module, if not what the module chooses.
set -eu

# what is built in has no such file
loaded() { [ -e "/sys/module/$1/initstate" ]; }

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
	[ ! -e /run/lab/upstream ] || rm /run/lab/upstream
}

# needed KO: load what it needs
needed() {
	for d in $(modinfo -F depends "$1" | tr , ' '); do
		[ "$d" = smc ] || loaded "$d" || modprobe "$d"
	done
	: >"/run/lab/${1##*/}"
}

load() {
	[ "$(which_smc)" != "$1" ] || return 0
	unload
	case $1 in
	ours)
		# insmod does not bring what the module needs: done here, once
		for ko in /lab/smc.ko /lab/smc_diag.ko; do
			[ -e $ko ] || continue
			[ -e "/run/lab/${ko##*/}" ] || needed $ko
			[ $ko = /lab/smc.ko ] && p=${SMC_SYN_OPTION:-} || p=
			insmod $ko ${p:+"syn_option=$p"}
		done ;;
	upstream)
		: >/run/lab/upstream
		modprobe --ignore-install smc
		modprobe --ignore-install smc_diag ;;
	esac
}

# the files of an RDMA device, read without starting a program
port=/sys/class/infiniband

on_netdev() {
	read -r is <"$port/$1/ports/1/gid_attrs/ndevs/0" && [ "$is" = "$2" ]
} 2>/dev/null

rdma_port() {
	case $1 in
	none) name='' dev='' ;;
	rxe) name=rxe0 type=rxe dev=eth0 ;;
	siw) name=siw0 type=siw dev=eth0 ;;
	lo) name=rxe0 type=rxe dev=lo ;;
	esac
	for link in "$port"/*; do
		[ -e "$link" ] || continue
		link=${link##*/}
		[ "$link" = "$name" ] && on_netdev "$link" "$dev" ||
			rdma link delete "$link"
	done
	[ -n "$name" ] || return 0
	if [ ! -e "$port/$name" ]; then
		modprobe ib_uverbs
		modprobe "rdma_$type" 2>/dev/null || modprobe "$type"
		rdma link add "$name" type "$type" netdev "$dev"
	fi
	# the port may be a moment late to become active
	i=0
	until read -r state <"$port/$name/ports/1/state" &&
	      [ "$state" = "4: ACTIVE" ]; do
		i=$((i + 1))
		[ $i -le $((100 * ${SMC_TEST_SCALE:-1})) ] ||
			{ echo "$name is not active"; exit 1; }
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
