#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# deb-check-inside.sh SUITE - the part of deb-check.sh that runs in the root,
# whose tree is /mnt/src.  Says "ok WHAT" or "FAIL WHAT" for each step.
set -u
debs=/mnt/src/deb/$1
version=$(sed -n 's/^smc-version := //p' /mnt/src/Kbuild)
export DEBIAN_FRONTEND=noninteractive INITRD=No

ok() { echo "ok $*"; }
bad() { echo "FAIL $*"; }

# check WHAT COMMAND...
check() {
	what=$1
	shift
	if "$@"; then
		ok "$what"
	else
		bad "$what"
		return 1
	fi
}

# apt WHAT ARGUMENT...: what fails here leaves nothing to look at
apt() {
	what=$1
	shift
	echo "== $what"
	apt-get -y -o APT::Keep-Downloaded-Packages=true "$@" </dev/null ||
		{ bad "$what"; exit 1; }
}

# Every file but logs, caches, dpkg's own, the key that DKMS makes when it first
# signs, and the links to the newest kernel; what depmod made with its content.
list() {
	find / -xdev \( -path /proc -o -path /dev -o -path /sys -o -path /tmp -o \
		-path /mnt -o -path /run -o -path /var/log -o -path /var/cache \
		-o -path /var/lib/apt -o -path /var/lib/dpkg -o \
		-path '/var/lib/dkms/mok.*' -o -path '/vmlinuz*' \) -prune -o \
		! -type d -printf '%y %m %u:%g %p %l\n' -o \
		-printf '%y %m %u:%g %p\n' | sort
	md5sum /lib/modules/*/modules.* | sort -k 2
}

# built KERNEL: both modules are there and what modprobe takes, without a warning
built() {
	dir=/lib/modules/$1/updates/dkms
	for m in smc smc_diag; do
		case $(modinfo -k "$1" -n $m) in
		"$dir/$m.ko"*) ok "$1: $m of DKMS is the one that loads" ;;
		*) bad "$1: $m is $(modinfo -k "$1" -n $m)" ;;
		esac
		check "$1: $m has the version" \
			[ "$(modinfo -k "$1" -F version $m)" = "$version" ]
		check "$1: $m is signed" [ "$(modinfo -k "$1" -F signer $m)" ]
	done
	for alias in net-pf-43 net-pf-2-proto-256-type-1; do
		modprobe -S "$1" --show-depends $alias >/tmp/depends
		check "$1: $alias loads it" grep -q "$dir/smc.ko" /tmp/depends
	done
	log=/var/lib/dkms/smc/$version/$1/x86_64/log/make.log
	check "$1: DKMS has a log" test -s "$log"
	! grep -i -e warning -e error "$log" || bad "$1: warnings"
}

# fits KERNEL MODULE: the name in it by which smc and smc_diag find each other
fits() {
	set -- /lib/modules/"$1"/updates/dkms/"$2".ko*
	case $1 in
	*.xz) xz -dc "$1" ;;
	*) cat "$1" ;;
	esac >/tmp/module.ko
	nm /tmp/module.ko | grep -o 'smc_sock_abort_[0-9]*$' | sort -u
}

# next_version: smc-dkms of a higher version, with another structure, in
# /tmp/next.deb
next_version() {
	dpkg-deb -R $debs/smc-dkms_*.deb /tmp/next
	cd /tmp/next || exit
	mv "usr/src/smc-$version" "usr/src/smc-$version.1"
	rm DEBIAN/md5sums
	sed -i "s/\b$version\b/&.1/" DEBIAN/control DEBIAN/postinst DEBIAN/prerm \
		usr/src/smc-*/Kbuild usr/src/smc-*/dkms.conf
	sed -i 's/^struct smc_row {$/&int next_version;/' usr/src/smc-*/net/smc/sock/sock.h
	cd / && dpkg-deb -b /tmp/next /tmp/next.deb
}

# gone KERNEL: modprobe takes the kernel's own, if it has one
gone() {
	case $(modinfo -k "$1" -n smc 2>/dev/null) in
	*updates*) bad "$1: smc is still there" ;;
	*) ok "$1: smc is gone" ;;
	esac
}

apt 'update' update
sh /mnt/src/selftests/vm/deb-kernels.sh >/tmp/out
old=$(head -n 1 /tmp/out)
new=$(tail -n 1 /tmp/out)
echo "== kernels $old and $new"
both="linux-image-$old linux-headers-$old"
next="linux-image-$new linux-headers-$new"
# shellcheck disable=SC2086
apt 'kernels' install --no-install-recommends $both $next dkms \
	openssl
need=$(dpkg-deb -f $debs/smc-tools_*.deb Depends | sed 's/([^)]*)//g; s/,/ /g')
# shellcheck disable=SC2086
apt 'dependencies of the tools' install --no-install-recommends $need
list >/tmp/before
# shellcheck disable=SC2086
apt 'back to the older kernel' purge $next

# the kernel's own smc seems to be loaded, and this kernel to run
mkdir -p /sys/module/smc
printf '#!/bin/sh\nexec /sbin/modinfo -k %s "$@"\n' "$old" >/usr/local/bin/modinfo
chmod +x /usr/local/bin/modinfo
apt 'install' -o "DPkg::Path=/usr/local/bin:$PATH" install \
	--no-install-recommends $debs/smc-*.deb >/tmp/out 2>&1
cat /tmp/out
check "says that the kernel's own smc is loaded" \
	grep -q "^smc-dkms: the kernel's own smc is loaded; .*modprobe smc" /tmp/out
rm -r /sys/module /usr/local/bin/modinfo
built "$old"

# what stands before /lib/modules/.../updates in depmod's own order
echo 'search built-in updates' >/etc/depmod.d/test.conf
depmod "$old"
case $(modinfo -k "$old" -n smc) in
*/updates/dkms/*) ok 'depmod is told to prefer it' ;;
*) bad 'the override of depmod' ;;
esac
rm /etc/depmod.d/test.conf
depmod "$old"

LD_PRELOAD=libsmc-preload.so /bin/true 2>/tmp/out
check 'the library is where the linker trusts it' test ! -s /tmp/out
check 'smc_run' [ "$(smc_run -v)" = "smc_run $version" ]
lib=$(sed -n "s/^sr_libdir='\(.*\)'/\1/p" /usr/bin/smc_run)
check 'smc_run finds its library' test -e "$lib/libsmc-preload.so"
check 'smc_run finds what loads BPF programs' \
	test -x "$(sed -n "s/^sr_libexecdir='\(.*\)'/\1/p" /usr/bin/smc_run)/smc_activate"
for t in smcss smctop smcr smcd smc_chk smc_pnet smc_rnics smc_stats; do
	check "$t" [ "$($t -v)" = "$t $version" ]
	check "$t: completion" \
		test -e /usr/share/bash-completion/completions/$t
done
doc=/usr/share/doc/smc-tools/examples
for f in /usr/share/man/man8/smc_run.8.gz /usr/share/man/man7/af_smc.7.gz \
	 /usr/share/zsh/vendor-completions/_smc-tools $doc/sysctl.d/smc.conf; do
	check "$f" test -e $f
done
grep -o '/usr[^ ]*\.so' $doc/redis-server.service.d/smc.conf >/tmp/named
check 'the drop-in names the library' [ "$(sort -u /tmp/named)" = \
	"$lib/libsmc-preload.so" ]

# shellcheck disable=SC2086
apt 'a newer kernel' install --no-install-recommends $next
built "$new"
built "$old"
apt 'the same once more' install --reinstall $debs/smc-dkms_*.deb
built "$new"
# by name, as apt keeps what the newest kernels depend on
# shellcheck disable=SC2046
apt 'the older kernel goes' purge --autoremove \
	$(dpkg-query -W -f '${Package} ' "linux-*-$old")
check "$old leaves nothing" test ! -e "/lib/modules/$old" ||
	find "/lib/modules/$old"
check "$old leaves nothing in DKMS" test ! -e "/var/lib/dkms/smc/$version/$old"
# shellcheck disable=SC2086
apt 'and comes back' install --no-install-recommends $both
built "$old"

loaded=$(fits "$new" smc)
check 'smc_diag fits smc' test "$loaded" -a "$(fits "$new" smc_diag)" = "$loaded"
next_version
apt 'a newer version' install --no-install-recommends /tmp/next.deb
rm -r /tmp/next /tmp/next.deb
check 'no source of the older version' test ! -e "/usr/src/smc-$version"
check 'nothing of it in DKMS' test ! -e "/var/lib/dkms/smc/$version"
version=$version.1
built "$old"
built "$new"
check 'and that of another version does not' test "$(fits "$new" smc_diag)" != \
	"$loaded"

apt 'purge' purge smc-dkms smc-tools
gone "$old"
gone "$new"
list >/tmp/after
check 'nothing is left' diff /tmp/before /tmp/after
