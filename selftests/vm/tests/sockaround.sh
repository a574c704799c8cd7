# SPDX-License-Identifier: GPL-2.0
# Sockets of ours among processes, namespaces and control groups, and a
# firewall that asks for the owner: selftests/smc/sockaround.c, sockgroup.c and
# owner.sh.
# when: 1/2 6.12; 4/4 debug
# guests: 1
# timeout: 300
# rdma: lo
. "$(dirname "$0")/modes.sh"
g A 'grep -q " cgroup2 " /proc/mounts || {
	mkdir -p /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup; }'
# these kernels are built without Landlock
lacks=
case $LAB_K in debug | kcsan) lacks='-T landlock' ;; esac
# shellcheck disable=SC2086
in_modes sockaround -w '>0' -p 0 sockaround $lacks
in_modes sockgroup -w '>0' -p 0 sockgroup
in_modes owner -m 'smcd smcr tcp' -w =1 -p 0 owner.sh
in_modes_end
