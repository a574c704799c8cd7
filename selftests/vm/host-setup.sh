#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# host-setup.sh - install on the host what the laboratory itself needs
#
# Only the tools that make roots and run guests: everything a test or a build
# uses lives in the Debian roots (root.sh).  Does nothing when all is there.
set -eu

pkgs="mmdebstrap cpio zstd util-linux debian-archive-keyring erofs-utils xz-utils"
missing=
for p in $pkgs; do
	dpkg-query -W -f '${Status}' "$p" 2>/dev/null |
		grep -q 'ok installed' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

[ "$(id -u)" = 0 ] || { echo "run as root: apt-get install$missing" >&2; exit 1; }
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
# shellcheck disable=SC2086
apt-get install -y -q --no-install-recommends $missing
