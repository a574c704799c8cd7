#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# kernels.sh - kernels that the module is not for: make says so in a sentence,
# and DKMS passes them over
cd "$(dirname "$0")/../.." || exit 1
passed=0
failed=0

# check WHAT COMMAND...
check() {
	what=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL $what"
	fi
}

pattern=$(sed -n 's/^BUILD_EXCLUSIVE_KERNEL="\(.*\)"$/\1/p' \
	tools/packaging/dkms.conf)

# DKMS asks bash, whose expressions are those of grep -E
matches() { echo "$1" | grep -Eq "$pattern"; }
passed_over() { ! matches "$1"; }

for k in 6.1.0-25-amd64 6.1.115 6.1-rc8 6.6.30 6.8.0-31-generic \
	6.12.118+deb13-amd64 6.12-amd64 7.2.1+deb14-amd64 7.2-rc1 10.0.1; do
	check "$k: not built" matches "$k"
done
for k in 5.15.0-91-generic 5.10.0-8-amd64 6.0.0-6-amd64 6.2.0-39-generic \
	6.3.0-2-amd64 6.4.0-4-amd64 6.5.0-14-generic 4.18.0-553.el8_10.x86_64; do
	check "$k: built" passed_over "$k"
done

# says SENTENCE VARIABLE...: kbuild without a kernel
says() {
	sentence=$1
	shift
	make -s -f Kbuild src=. srctree=/nonexistent CONFIG_MODULES=y "$@" \
		2>&1 | grep -Fq "*** $sentence.  Stop."
}

check "an old kernel" says \
	"This kernel is too old for SMC, which needs Linux 6.6 or a recent 6.1" \
	CONFIG_64BIT=y CONFIG_INFINIBAND=m
check "a cloud kernel" says \
	"SMC needs a kernel with CONFIG_INFINIBAND, which cloud kernels lack" \
	CONFIG_64BIT=y
check "a 32-bit kernel" says "SMC needs a kernel for a 64-bit processor"

echo "kernels: $passed passed, $failed failed"
[ $failed = 0 ]
