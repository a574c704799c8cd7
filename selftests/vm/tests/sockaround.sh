# SPDX-License-Identifier: GPL-2.0
# Sockets of ours among processes, namespaces and control groups, and a
# firewall that asks for the owner: selftests/smc/sockaround.c, sockgroup.c and
# owner.sh.
# guests: 1
# timeout: 900
# rdma: lo
s=/lab/selftests/smc
bad=

g A 'grep -q " cgroup2 " /proc/mounts || {
	mkdir -p /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup; }'

# in_mode TRANSPORTS ADDRESS COUNTERS
in_mode() {
	for prog in sockaround sockgroup owner.sh; do
		note "$prog: '$1'"
		g A "sysctl -q net.smc.transports='$1'
			$s/smcstat.sh mark; SMC_HOST=$2 $s/$prog" \
			>"$LAB_RUN/out" || bad="$bad $prog:$1"
		cat "$LAB_RUN/out"
		# all that is needed is here
		! grep SKIP "$LAB_RUN/out" || bad="$bad skip:$1"
		g A "$s/smcstat.sh expect '$3'" || bad="$bad counters:$1"
	done
}

in_mode smcd 127.0.0.1 'HsClientSmcd>0 HsServerSmcd>0 HsClientTcp=0'
in_mode smcr 10.9.0.1 'HsClientSmcr>0 HsServerSmcr>0 HsClientTcp=0'
in_mode '' 127.0.0.1 'HsClientTcp>0 HsClientSmcd=0'
g A "sysctl -q net.smc.transports='smcd smcr'"
[ -z "$bad" ] || fail "$bad"
