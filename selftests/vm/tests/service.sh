# SPDX-License-Identifier: GPL-2.0
# A service of systemd gets SMC from a drop-in, as services.rst says: Debian's own
# unit of Redis, with all its restrictions, under a systemd of its own (in
# namespaces; the network is the guest's).  Without the module it is plain TCP.
# Nothing can be installed among the modules of the debug kernel.
# when: 4/8 6.12
# kernels: 6.12
# guests: 1
# timeout: 600
# rdma: none
bin=/usr/local/bin

# in_systemd CMD: where that systemd is the first process
in_systemd() {
	g A "nsenter -t \$(cat /tmp/systemd.pid) -a sh -c '$1'"
}

# ask HOW VALUE: a client, run by HOW, stores VALUE and reads it
ask() {
	got=$(g A "$1 redis-cli -h 127.0.0.1 set key $2 >/dev/null &&
		$1 redis-cli -h 127.0.0.1 get key") || fail "redis-cli"
	equal "$2" "$got" "what Redis answers"
}

# What "make install" does, but for compiling.  The laboratory's own module and
# rule are in the way.
g A 'module.sh unload
	mv /etc/modprobe.d/lab.conf /tmp/
	install -D -t /lib/modules/$(uname -r)/updates /lab/smc.ko /lab/smc_diag.ko
	depmod -a
	cp -r /lab/tools /tmp/ && make -s -C /tmp/tools -o all install &&
	mkdir -p /etc/systemd/system &&
	cp -r /lab/tools/examples/redis-server.service.d /etc/systemd/system/' ||
	fail 'make install'
case $(g A 'modinfo -n smc') in
*/updates/smc.ko*) ;;
*) fail "modprobe would load $(g A 'modinfo -n smc')" ;;
esac

# the kernel looks for smc_diag once there is smc: a tool has both loaded
g A "$bin/smcss -a && grep -q '^smc_diag ' /proc/modules" ||
	fail 'smcss before there is a socket'
g A 'rmmod smc_diag && rmmod smc' || fail 'rmmod'

# udev would rename the guest's devices
g A 'cat >/tmp/init <<END
mount -t tmpfs tmpfs /run
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p /run/systemd/system
for u in systemd-udevd.service systemd-udev-trigger.service; do
	ln -s /dev/null /run/systemd/system/\$u
done
exec /usr/lib/systemd/systemd --system --unit=basic.target
END
	container=lab setsid unshare --pid --mount --cgroup --uts --ipc --fork \
		--kill-child --mount-proc sh /tmp/init \
		>/tmp/systemd.out 2>&1 </dev/null &
	until pgrep -x systemd >/tmp/systemd.pid; do sleep 0.1; done' ||
	fail 'systemd'
wait_for 200 A 'nsenter -t $(cat /tmp/systemd.pid) -a \
	systemctl is-system-running | grep -q "running\|degraded"'

in_systemd 'systemctl start redis-server' ||
	fail "$(in_systemd 'systemctl status redis-server; journalctl -u redis-server')"
g A 'grep -q "^smc " /proc/modules' || fail 'the service loads no module'
g A 'sysctl -q net.smc.transports=smcd net.smc.handshake_timeout_ms=20000'
listening A 6379
ask "$bin/smc_run" first
g A "{ echo 'set key second'; sleep 600; } | $bin/smc_run nc 127.0.0.1 6379" &
client=$!
wait_for 60 A "$bin/smcss | grep -q '127.0.0.1:6379 .*SMCD'"
g A "$bin/smcss" >"$LAB_RUN/results/smcss"
cat "$LAB_RUN/results/smcss"
# the service's end belongs to the service
inode=$(awk '/^ACTIVE/ && $4 == "127.0.0.1:6379" { print $3 + 0 }' \
	"$LAB_RUN/results/smcss")
g A "ls -l /proc/\$(pgrep -x redis-server)/fd | grep -qF 'socket:[$inode]'" ||
	fail "inode $inode is not the service's"
kill $client
wait $client || :
# a client that has never heard of SMC
ask '' third
in_systemd 'systemctl stop redis-server' || fail 'systemctl stop'
equal success "$(in_systemd 'systemctl show -P Result redis-server')" \
	'how the service ended'
wait_for 60 A "$bin/smcss -a >/tmp/out && ! grep -q :6379 /tmp/out"

# no module to be had: the service starts all the same
g A 'rmmod smc_diag; rmmod smc; mv /tmp/lab.conf /etc/modprobe.d/' ||
	fail 'rmmod'
in_systemd 'systemctl start redis-server' || fail 'start without the module'
listening A 6379
ask '' fourth
g A '! grep -q "^smc " /proc/modules' || fail 'the module is there'
in_systemd 'systemctl stop redis-server'
g A 'kill $(cat /tmp/systemd.pid)
	rm -r /lib/modules/$(uname -r)/updates; depmod -a
	make -s -C /tmp/tools uninstall'
