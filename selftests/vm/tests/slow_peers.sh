# SPDX-License-Identifier: GPL-2.0
# Silent peers and such that send a byte a second, at both ends of handshakes:
# honest connections do not wait for them (selftests/smc/slowpeers.py).  1,000 of
# each with LONG=1.
# when: 1/2 6.12; long debug kcsan, takes minutes there
# guests: 1
# timeout: 240
# cpus: 1
# icount: sleep=off
# rdma: none
n=100
[ -z "${LONG:-}" ] || n=1000
g A "modprobe tun && ip tuntap add dev clc0 mode tap &&
	ip address add 10.99.0.1/24 dev clc0 && ip link set clc0 up &&
	ip route add 10.100.0.0/16 dev clc0 &&
	/lab/selftests/smc/slowpeers.py $n"
