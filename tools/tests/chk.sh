#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Tests of the connections of smc_chk, on a kernel that is not there
# (fake_socket.c): what it is asked for, and what is said of what fails.

cd "$(dirname "$0")/.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0
LC_ALL=C
export LC_ALL
unset SMC_TOOLS_REPLAY SMC_TOOLS_ROOT

. tests/fake.sh

# chk KERNEL ERRNO ARGUMENT...: what it asked for and what it said, but for what
# the real kernel says of a connection
chk() {
	kernel=$1
	FAKE_CONNECT=$2
	[ -z "$FAKE_CONNECT" ] || export FAKE_CONNECT
	shift 2
	FAKE_KERNEL=$kernel LD_PRELOAD=$tmp/fake.so \
		./smc_chk -l "$@" 3>"$tmp/raw" >"$tmp/said" 2>&1
	unset FAKE_CONNECT
	grep -e '^connect' -e '^socket(\(2\|10\|43\),' "$tmp/raw" >"$tmp/asked"
	sed '/^Result/,$d' "$tmp/said" | tr -s ' ' >"$tmp/steps"
}

chk both '' -C 127.0.0.1:80
expect '-C takes a port' "$tmp/asked" <<'END'
socket(2, 0x80001, 256)
connect 127.0.0.1 80
END
chk both '' -p 81 -C ::1
expect '-C takes an IPv6 address' "$tmp/asked" <<'END'
socket(10, 0x80001, 256)
connect ::1 81
END
chk both '' -C '[::1]:82'
expect '-C takes an IPv6 address and a port' "$tmp/asked" <<'END'
socket(10, 0x80001, 256)
connect ::1 82
END

chk family '' 127.0.0.1:80
expect 'AF_SMC is tried where there is no IPPROTO_SMC' "$tmp/asked" <<'END'
socket(2, 0x80001, 256)
socket(43, 0x80001, 0)
connect 127.0.0.1 80
END
expect 'AF_SMC is SMC, too' "$tmp/steps" <<'END'
Address 127.0.0.1 port 80
Connection established
END
chk family '' '[::1]:80'
expect 'AF_SMC over IPv6' "$tmp/asked" <<'END'
socket(10, 0x80001, 256)
socket(43, 0x80001, 1)
connect ::1 80
END
chk none '' 127.0.0.1:80
head -n 2 "$tmp/steps" >"$tmp/out"
expect 'no SMC at all' "$tmp/out" <<'END'
Address 127.0.0.1 port 80
SMC in this kernel no: Protocol not supported
END

# EINPROGRESS is what connect() says when SO_SNDTIMEO is over
chk both 115 127.0.0.1:80
expect 'no answer' "$tmp/steps" <<'END'
Address 127.0.0.1 port 80
Connection failed: Connection timed out
The same with TCP failed: Connection timed out
 -> on the way: this is no matter of SMC
END
chk both 1 127.0.0.1:80
expect 'EPERM has a reason' "$tmp/steps" <<'END'
Address 127.0.0.1 port 80
Connection failed: Operation not permitted
The same with TCP failed: Operation not permitted
 -> on this host: a firewall, or a policy for this program, forbids it
END
chk both 1 -j 127.0.0.1:80
expect 'EPERM has a reason with -j' "$tmp/steps" <<'END'
smc_chk: cannot connect: Operation not permitted
END
chk barred '' 127.0.0.1:80
head -n 2 "$tmp/steps" >"$tmp/out"
expect 'the socket is forbidden' "$tmp/out" <<'END'
Address 127.0.0.1 port 80
Connection failed: Operation not permitted
END
chk both 111 127.0.0.1:80
expect 'nothing listens' "$tmp/steps" <<'END'
Address 127.0.0.1 port 80
Connection failed: Connection refused
The same with TCP failed: Connection refused
 -> on the peer: nothing listens there, start smc_chk -S
END
chk both '' -i no-such-dev 127.0.0.1:80
expect 'no such interface' "$tmp/steps" <<'END'
Address 127.0.0.1 port 80
smc_chk: cannot use interface no-such-dev: No such device
END

echo "chk: $passed passed, $failed failed"
[ $failed -eq 0 ]
