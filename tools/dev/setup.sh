#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# setup.sh - install on the host what "make check" itself needs
#
# Compilers and libraries of the unit tests, of fuzzing and the tools, and the
# programs of the static checks.  Everything else is built and run inside the
# laboratory's roots, whose own host-setup.sh installs what makes and boots them.
# Does nothing when all is there.
set -eu

pkgs="gcc libc6-dev make pkgconf libcmocka-dev libnl-3-dev libnl-genl-3-dev
libncurses-dev python3 perl git patch xz-utils shellcheck codespell mandoc zsh
clang libclang-rt-dev libbpf-dev"
missing=
for p in $pkgs; do
	dpkg-query -W -f '${Status}' "$p" 2>/dev/null |
		grep -q 'ok installed' || missing="$missing $p"
done
if [ -n "$missing" ]; then
	[ "$(id -u)" = 0 ] ||
		{ echo "run as root: apt-get install$missing" >&2; exit 1; }
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q
	# shellcheck disable=SC2086
	apt-get install -y -q --no-install-recommends $missing
fi
sh "$(dirname "$0")/../../selftests/vm/host-setup.sh"
