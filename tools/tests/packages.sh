#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# packages.sh - what the packages smc-dkms say of the module that is loaded when
# they have installed another one; /sys and modinfo are not the real ones
cd "$(dirname "$0")/../.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0

loaded=$tmp/loaded
sed "s|/sys/module/smc|$loaded|g" tools/packaging/loaded >"$tmp/say"
chmod +x "$tmp/say"
sed "/^#DEBHELPER#/d; s|/usr/share/smc-dkms/loaded|$tmp/say|" \
	debian/smc-dkms.postinst >"$tmp/deb"
{
	echo 'set -e'
	sed -n '/^%post -n smc-dkms/,/^%preun/p' tools/packaging/smc.spec |
		sed '/^%\(post\|preun\)/d; s/%{version}/0.1/g; s/%%/%/g'
} | sed "s|%{_datadir}/smc-dkms/loaded|$tmp/say|; s|/lib/modules|$tmp/no|g" \
	>"$tmp/rpm"
printf '#!/bin/sh\necho "$*" >>%s\nexit 1\n' "$tmp/asked" >"$tmp/dkms"
printf '#!/bin/sh\nexit 1\n' >"$tmp/modinfo"
chmod +x "$tmp/dkms" "$tmp/modinfo"

# installed VERSION SRCVERSION: "" for a module without
installed() {
	cat >"$tmp/modinfo" <<END
#!/bin/sh
case \$* in
'-F version smc') echo $1 ;;
'-F srcversion smc') echo $2 ;;
*) exit 1 ;;
esac
END
}

# says TEXT: each of the two; "" for nothing
says() {
	for kind in deb rpm; do
		PATH=$tmp:$PATH sh "$tmp/$kind" configure >"$tmp/out" 2>&1
		rc=$?
		if [ $rc = 0 ] && [ "$(cat "$tmp/out")" = "$1" ]; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
			echo "FAIL $kind: status $rc, not '$1':"
			cat "$tmp/out"
		fi
	done
}

remedy='is loaded; for this one: rmmod smc_diag smc; modprobe smc; sysctl -r ^net.smc --system'
remedy="$remedy; reboot if it is in use"
# no module is loaded, and none could be built
says ''
# for RPM: only kernels that have their headers
builds() {
	: >"$tmp/asked"
	PATH=$tmp:$PATH sh "$tmp/rpm" >/dev/null
	if [ "$(sed -n 's/^install .* -k //p' "$tmp/asked")" = "$1" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL rpm: DKMS builds not for '$1': $(cat "$tmp/asked")"
	fi
}

builds ''
mkdir -p "$tmp/no/6.8" "$tmp/no/6.9/build"
builds 6.9
rm -r "$tmp/no"
mkdir "$loaded"
says ''
installed 0.1 1A3F
says "smc-dkms: the kernel's own smc $remedy"
echo 0.1 >"$loaded/version"
echo 1A3F >"$loaded/srcversion"
# the same, another one, the kernel's own
says ''
installed 0.1 E287
says "smc-dkms: smc as it was before $remedy"
installed '' E287
says ''

echo "packages: $passed passed, $failed failed"
[ $failed = 0 ]
