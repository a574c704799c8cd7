# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# shellcheck disable=SC2154
#
# fake.sh - for tests of the preloaded library: a socket() that is not the
# kernel's and a program that calls it, built in $tmp, and the comparison.
# Sourced in tools/; counts in $passed and $failed.

${CC:-cc} -Wall -Wextra ${WERROR:+-Werror} -D_GNU_SOURCE -fPIC -shared \
	-o "$tmp/fake.so" tests/fake_socket.c || exit 1
${CC:-cc} -Wall -Wextra ${WERROR:+-Werror} -D_GNU_SOURCE -o "$tmp/call" \
	tests/call_socket.c || exit 1

# expect NAME FILE: the text on standard input is what the file holds
expect() {
	cat >"$tmp/want"
	if diff -u "$tmp/want" "$2" >"$tmp/diff"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL $1"
		cat "$tmp/diff"
	fi
}
