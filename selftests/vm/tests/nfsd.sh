# SPDX-License-Identifier: GPL-2.0
# A listener of ours that the kernel's NFS server has taken: selftests/smc/nfsd.py.
# when: 1/2 6.12
# kernels: 6.1 6.12 7.2
# guests: 1
# rdma: none
g A 'modprobe nfsd && { mountpoint -q /proc/fs/nfsd ||
	mount -t nfsd nfsd /proc/fs/nfsd; }' || fail 'no nfsd'
rc=0
g A 'sysctl -q net.smc.handshake_timeout_ms=20000 && /lab/selftests/smc/nfsd.py' ||
	rc=$?
g A 'umount /proc/fs/nfsd; rmmod nfsd'
[ $rc = 0 ] || fail "nfsd.py"
