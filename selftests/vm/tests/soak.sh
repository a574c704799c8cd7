# SPDX-License-Identifier: GPL-2.0
# Connections over RDMA, shared memory and TCP come and go for twenty minutes
# ($SECONDS_OF_SOAK), and all dumps are read: the kernel's memory does not grow.
# when: long, it is meant to
# guests: 1
# timeout: 1800
# rdma: lo
s=/lab/selftests/smc
# KiB that the kernel cannot reclaim, when what is freed later has been
used() {
	g A "sleep 5; echo 3 >/proc/sys/vm/drop_caches
		awk '/^(SUnreclaim|Percpu|VmallocUsed|KernelStack):/ { n += \$2 }
			END { print n }' /proc/meminfo"
}
g A "$s/churn.py 60" || fail 'at the start'
before=$(used)
g A "$s/churn.py ${SECONDS_OF_SOAK:-1200}" || fail 'later'
after=$(used)
note "$before KiB, then $after KiB"
[ "$after" -lt $((before + 2048)) ] || fail "$((after - before)) KiB more"
