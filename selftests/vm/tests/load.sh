# SPDX-License-Identifier: GPL-2.0
# Loading: a socket() of any of the four kinds loads our module, installed in
# updates/, and not the kernel's own; it can be loaded and unloaded over and
# over; the kernel's own and ours do not fit beside each other; after "make
# uninstall" modules.dep of no kernel names ours.
# when: 2/2 6.12; 2/4 debug; long kcsan, a minute for what has no threads
# guests: 1
# rdma: none
# module: none

g A '
set -u
bad=0
fail() { echo "FAIL: $*"; bad=1; }
# A small tree of modules in the place of the real one (depmod of all takes
# minutes here), with what the kernel has of SMC and, in updates/, what we have;
# and no rule that keeps programs from loading smc.
release=$(uname -r)
dir=/tmp/m/lib/modules/$release
mkdir -p $dir/kernel $dir/updates /tmp/m/none
cp /lib/modules/$release/modules.builtin* /lib/modules/$release/modules.order $dir
modprobe -C /tmp/m/none --show-depends smc_diag | sed "s/^insmod //" |
	xargs cp -t $dir/kernel
cp /lab/smc.ko /lab/smc_diag.ko $dir/updates
depmod -b /tmp/m -a
mount --bind /tmp/m/lib/modules /lib/modules
mount --bind /tmp/m/none /etc/modprobe.d
trap "umount /etc/modprobe.d /lib/modules" EXIT

# what is ours has this file, the kernel'"'"'s own does not
ours() { [ -e /proc/net/smc_stat ]; }

for kind in "43, 1, 0" "43, 1, 1" "2, 1, 256" "10, 1, 256"; do
	python3 -c "import socket; socket.socket($kind)" ||
		fail "socket($kind)"
	grep -q "^smc " /proc/modules || fail "socket($kind) loads nothing"
	ours || fail "socket($kind) loads another smc"
	rmmod smc || fail "rmmod after socket($kind)"
	ours && fail "smc_stat is still there"
done
python3 -c "import socket
try:
	socket.socket(43, 2, 0)
	raise SystemExit(1)
except OSError as e:
	raise SystemExit(e.errno not in (93, 94))" || fail "datagram socket"
rmmod smc 2>/dev/null

i=0
while [ $i -lt 10 ]; do
	insmod /lab/smc.ko || fail "load $i"
	rmmod smc || fail "unload $i"
	i=$((i + 1))
done

# a namespace with settings and counters goes, and so does the module
insmod /lab/smc.ko
ip netns add x
ip netns exec x sysctl -q net.smc.transports=smcd || fail "sysctl in x"
ip netns delete x
insmod /lab/smc_diag.ko || fail "smc_diag"
rmmod smc 2>/dev/null && fail "smc goes before smc_diag"
rmmod smc_diag && rmmod smc || fail "unload both"

other=/lib/modules/9.9-other
mkdir -p $other/updates
cp /lab/smc.ko $other/updates
touch $other/modules.order $other/modules.builtin
depmod -a ${other##*/}
for kernel in $other /lib/modules/$release; do
	grep -q "^updates/smc.ko:" $kernel/modules.dep || fail "no smc in $kernel"
done
make -s -C /lab uninstall PREFIX=/tmp/none || fail "make uninstall"
for kernel in $other /lib/modules/$release; do
	! grep "^updates/smc" $kernel/modules.dep || fail "still in $kernel"
done
exit $bad
'
