#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Tests of libsmc-preload.so and smc_run that need no SMC in the kernel: a fake
# kernel stands behind the library and writes down what it was asked for.

cd "$(dirname "$0")/.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0

. tests/fake.sh

# under KERNEL ARGUMENT...: asked, printed and said go to files
under() {
	kernel=$1
	shift
	FAKE_KERNEL=$kernel \
	LD_PRELOAD=$PWD/libsmc-preload.so:$tmp/fake.so \
		"$tmp/call" "$@" 3>"$tmp/asked" >"$tmp/printed" 2>"$tmp/raw"
	sed 's/ fd [0-9]*:/ fd N:/' "$tmp/raw" >"$tmp/said"
}

# Families 2 and 10, types 1 stream and 2 datagram, 0x800 nonblock, 0x80000
# close-on-exec, protocol 6 TCP.

under both 2,1,0 2,1,6 10,1,0 2,0x80801,6
expect 'TCP becomes IPPROTO_SMC, flags are kept' "$tmp/asked" <<'END'
socket(2, 0x1, 256)
socket(2, 0x1, 256)
socket(10, 0x1, 256)
socket(2, 0x80801, 256)
END
expect 'errno is left alone on success' "$tmp/printed" <<'END'
ok errno 77
ok errno 77
ok errno 77
ok errno 77
END
expect 'nothing is said without SMC_DEBUG' "$tmp/said" </dev/null

under both 2,2,0 2,2,17 1,1,0 2,5,132 2,1,132 16,3,0 10,2,17 2,3,6
expect 'everything else is left alone' "$tmp/asked" <<'END'
socket(2, 0x2, 0)
socket(2, 0x2, 17)
socket(1, 0x1, 0)
socket(2, 0x5, 132)
socket(2, 0x1, 132)
socket(16, 0x3, 0)
socket(10, 0x2, 17)
socket(2, 0x3, 6)
END

under family 2,1,6 10,1,6 2,1,0
expect 'without IPPROTO_SMC it is AF_SMC, asked for once' "$tmp/asked" <<'END'
socket(2, 0x1, 256)
socket(43, 0x1, 0)
socket(43, 0x1, 1)
socket(43, 0x1, 0)
END

under none 2,0x80001,6 10,1,0 2,1,6
expect 'without SMC it is TCP, and SMC was asked for once' "$tmp/asked" <<'END'
socket(2, 0x80001, 256)
socket(43, 0x80001, 0)
socket(2, 0x80001, 6)
socket(10, 0x1, 0)
socket(2, 0x1, 6)
END
expect 'errno is left alone by the failed attempts' "$tmp/printed" <<'END'
ok errno 77
ok errno 77
ok errno 77
END

under full 2,1,6 2,1,6
expect 'want of descriptors is not want of SMC' "$tmp/asked" <<'END'
socket(2, 0x1, 256)
socket(43, 0x1, 0)
socket(2, 0x1, 6)
socket(2, 0x1, 256)
socket(43, 0x1, 0)
socket(2, 0x1, 6)
END
expect 'a failure has the errno of TCP' "$tmp/printed" <<'END'
failed errno 24
failed errno 24
END

under both 2,0x40000001,0 2,1,6
expect 'a mistake of the program is not want of SMC' "$tmp/asked" <<'END'
socket(2, 0x40000001, 256)
socket(43, 0x40000001, 0)
socket(2, 0x40000001, 0)
socket(2, 0x1, 256)
END
expect 'and has the errno of TCP' "$tmp/printed" <<'END'
failed errno 22
ok errno 77
END
under barred 2,1,0 2,1,6
expect 'a refusal for TCP, too, is not want of SMC' "$tmp/asked" <<'END'
socket(2, 0x1, 256)
socket(43, 0x1, 0)
socket(2, 0x1, 0)
socket(2, 0x1, 256)
END

under none 2,1,0 +fork 2,1,0
expect 'a child knows what its parent found out' "$tmp/asked" <<'END'
socket(2, 0x1, 256)
socket(43, 0x1, 0)
socket(2, 0x1, 0)
socket(2, 0x1, 0)
END

SMC_SNDBUF=16K SMC_RCVBUF=20000 under both 2,1,0 +buffers
expect 'buffer sizes are set' "$tmp/printed" <<'END'
ok errno 77
buffers 16384 20000
END

SMC_DEBUG=1 SMC_SNDBUF=2047M SMC_RCVBUF=2047M under both 2,1,0
sed 's/is [0-9]*, /is less, /' "$tmp/said" >"$tmp/limits"
expect 'SMC_DEBUG tells of a size that the kernel limits' "$tmp/limits" <<'END'
libsmc-preload: fd N: SO_SNDBUF is less, not 2146435072: net.core.wmem_max
libsmc-preload: fd N: SO_RCVBUF is less, not 2146435072: net.core.rmem_max
libsmc-preload: fd N: SMC, family 2
END

SMC_SNDBUF=16Q SMC_RCVBUF=-5 under both 2,1,0
expect 'what is no size is ignored aloud' "$tmp/said" <<'END'
libsmc-preload: SMC_SNDBUF=16Q is not a size, ignored
libsmc-preload: SMC_RCVBUF=-5 is not a size, ignored
END

SMC_DEBUG=1 under both 2,1,0 10,1,6 2,2,0
expect 'SMC_DEBUG tells of SMC sockets' "$tmp/said" <<'END'
libsmc-preload: fd N: SMC, family 2
libsmc-preload: fd N: SMC, family 10
END
SMC_DEBUG=1 under none 2,1,0 2,1,0
expect 'SMC_DEBUG tells of TCP sockets' "$tmp/said" <<'END'
libsmc-preload: no family 2 protocol 256 in this kernel
libsmc-preload: no family 43 protocol 0 in this kernel
libsmc-preload: fd N: TCP, family 2
libsmc-preload: fd N: TCP, family 2
END
SMC_DEBUG=1 under both 2,1,0
expect 'errno is left alone with SMC_DEBUG too' "$tmp/printed" <<'END'
ok errno 77
END

# --- smc_run --------------------------------------------------------------

# fake_run TREE LOADED [MODULES]: a build tree of its own, in which the kernel
# seems to have SMC or not, and these modules to be installed
fake_run() {
	mkdir -p "$tmp/$1"
	sed "s|/sys/module/smc|$2|; s|/proc/net/protocols|$tmp/no|
		s|^sr_modules=.*|sr_modules=${3:-$tmp/no}|" \
		smc_run >"$tmp/$1/smc_run"
	chmod +x "$tmp/$1/smc_run"
	cp libsmc-preload.so "$tmp/$1/"
}

fake_run tree "$tmp"
run=$tmp/tree/smc_run
lib=$tmp/tree/libsmc-preload.so
# shellcheck disable=SC2016 # for the shell that is started
show='echo "$LD_PRELOAD|$SMC_DEBUG|$SMC_RCVBUF|$SMC_SNDBUF|$*"'

unset SMC_DEBUG SMC_RCVBUF SMC_SNDBUF LD_PRELOAD
"$run" sh -c "$show" x a 'b c' >"$tmp/out" 2>&1
expect 'smc_run preloads the library beside it' "$tmp/out" <<END
$lib||||a b c
END

LD_PRELOAD=$tmp/fake.so FAKE_KERNEL=both "$run" -d -r 1M -t 64k \
	sh -c "$show" x -r 5 >"$tmp/out" 2>/dev/null 3>/dev/null
expect 'smc_run keeps LD_PRELOAD and passes its options on' "$tmp/out" <<END
$lib:$tmp/fake.so|1|1M|64k|-r 5
END

ln -sf "$run" "$tmp/link"
"$tmp/link" sh -c "$show" >"$tmp/out" 2>&1
expect 'smc_run finds the library through a symbolic link' "$tmp/out" <<END
$lib||||
END

# status WANT NAME COMMAND...
status() {
	want=$1
	name=$2
	shift 2
	"$@" >"$tmp/out" 2>&1
	got=$?
	if [ $got -eq "$want" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL $name: status $got, not $want"
		cat "$tmp/out"
	fi
}

status 7 'smc_run returns the status of the command' "$run" sh -c 'exit 7'
# shellcheck disable=SC2016 # for the shell that is started
version=1 config=2 test=3 lib=4 opt=5 do=6 "$run" \
	sh -c 'echo "$version $config $test $lib $opt $do"' >"$tmp/out" 2>&1
expect 'smc_run leaves the environment of the command alone' "$tmp/out" <<'END'
1 2 3 4 5 6
END
status 127 'smc_run: no such command' "$run" "$tmp/nonesuch"
status 125 'smc_run: no command' "$run"
status 125 'smc_run: bad size' "$run" -r 1G true
status 125 'smc_run: bad size' "$run" -t K true
status 125 'smc_run: size missing' "$run" -r
status 125 'smc_run: unknown option' "$run" -x true
status 0 'smc_run -h' "$run" -h
status 0 'smc_run -v' "$run" -v
status 0 'smc_run -V' "$run" -V

fake_run 'a b' "$tmp"
status 125 'smc_run: a path the linker cannot take' "$tmp/a b/smc_run" true
rm "$tmp/a b/libsmc-preload.so"
status 125 'smc_run: library missing' "$tmp/a b/smc_run" true

# The module does not load: modprobe fails.
mkdir "$tmp/bin"
printf '#!/bin/sh\necho "modprobe $*" >>"%s/tried"\necho no key\nexit 1\n' \
	"$tmp" >"$tmp/bin/modprobe"
chmod +x "$tmp/bin/modprobe"
# modules NAME LINE...: what is installed
modules() {
	mkdir -p "$tmp/$1/6.9"
	printf '%s\n' "$@" | tail -n +2 >"$tmp/$1/6.9/modules.dep"
}
modules empty 'kernel/drivers/hwmon/applesmc.ko:' 'kernel/x.ko: kernel/smc.ko'
modules own 'kernel/net/smc/smc.ko.xz: kernel/ib_core.ko.xz'
modules both 'updates/dkms/smc_diag.ko: updates/dkms/smc.ko' \
	'updates/dkms/smc.ko: kernel/ib_core.ko'
fake_run bare "$tmp/no"
fake_run missing "$tmp/no" "$tmp/empty/6.9"
fake_run there "$tmp/no" "$tmp/both/6.9"
PATH=$tmp/bin:$PATH status 125 'smc_run: no module' "$tmp/bare/smc_run" true
if [ "$(id -u)" -eq 0 ]; then
	expect 'smc_run tries to load the module' "$tmp/tried" <<'END'
modprobe smc
END
	said=': no key'
	want=125
else
	said=
	want=0
fi
expect 'smc_run says that the command was not started' "$tmp/out" <<END
smc_run: the kernel module smc is not loaded (modprobe smc$said); true was not started
END
PATH=$tmp/bin:$PATH status 125 'smc_run: no module for this kernel' \
	"$tmp/missing/smc_run" true
expect 'smc_run says how to build the module' "$tmp/out" <<'END'
smc_run: there is no module smc for Linux 6.9: install its headers (linux-headers-6.9 or kernel-devel-6.9), then dkms autoinstall -k 6.9, or make clean all install in the source (Linux 6.1, 6.6 and later); true was not started
END
printf '%s\n' CONFIG_64BIT=y '# CONFIG_INFINIBAND is not set' >"$tmp/config"
mkdir "$tmp/empty/6.9-cloud-arm64"
cp "$tmp/empty/6.9/modules.dep" "$tmp/empty/6.9-cloud-arm64/"
fake_run cloud "$tmp/no" "$tmp/empty/6.9-cloud-arm64"
fake_run lacking "$tmp/no" "$tmp/empty/6.9"
for i in cloud lacking; do
	sed -i "s|^sr_config=.*|sr_config=$tmp/config|" "$tmp/$i/smc_run"
	PATH=$tmp/bin:$PATH "$tmp/$i/smc_run" true 2>&1
done >"$tmp/out"
expect 'smc_run says that the kernel lacks InfiniBand' "$tmp/out" <<'END'
smc_run: there is no module smc for Linux 6.9-cloud-arm64: cloud kernels have no InfiniBand: install linux-image-arm64 and linux-headers-arm64, and boot it; true was not started
smc_run: there is no module smc for Linux 6.9: this kernel has no InfiniBand: boot one that has CONFIG_INFINIBAND; true was not started
END
# another user's program loads it when it opens a socket
PATH=$tmp/bin:$PATH status $want 'smc_run: module installed' \
	"$tmp/there/smc_run" true

# Which module it is: ours has a version.
mkdir "$tmp/ours" "$tmp/theirs"
echo 9.8 >"$tmp/ours/version"
fake_run tree1 "$tmp/ours"
fake_run tree2 "$tmp/theirs" "$tmp/both/6.9"
fake_run tree3 "$tmp/theirs" "$tmp/own/6.9"
fake_run tree4 "$tmp/theirs"
for i in 1 2 3 4; do
	"$tmp/tree$i/smc_run" -d true 2>&1
done >"$tmp/out"
expect 'smc_run -d tells which module is loaded' "$tmp/out" <<'END'
smc_run: module smc 9.8
smc_run: this is the kernel's own smc; for this module: rmmod smc_diag smc; modprobe smc; sysctl -r ^net.smc --system; reboot if it is in use
smc_run: this is the kernel's own smc; for this module: install its headers (linux-headers-6.9 or kernel-devel-6.9), then dkms autoinstall -k 6.9, or make clean all install in the source (Linux 6.1, 6.6 and later)
smc_run: this is the kernel's own smc; for this module: rmmod smc_diag smc; modprobe smc; sysctl -r ^net.smc --system; reboot if it is in use
END
# an update installs another one
echo 1A3F >"$tmp/ours/srcversion"
fake_run tree5 "$tmp/ours" "$tmp/both/6.9"
for new in 1A3F E287 ''; do
	printf '#!/bin/sh\n[ "$*" = "-F srcversion smc" ] && echo %s\n' \
		"$new" >"$tmp/bin/modinfo"
	chmod +x "$tmp/bin/modinfo"
	PATH=$tmp/bin:$PATH "$tmp/tree5/smc_run" -d true 2>&1
	# what is installed is not ours
	PATH=$tmp/bin:$PATH "$tmp/tree1/smc_run" -d true 2>&1
done >"$tmp/out"
expect 'smc_run -d tells that another module is installed' "$tmp/out" <<'END'
smc_run: module smc 9.8
smc_run: module smc 9.8
smc_run: module smc 9.8; another one is installed: rmmod smc_diag smc; modprobe smc; sysctl -r ^net.smc --system; reboot if it is in use
smc_run: module smc 9.8
smc_run: module smc 9.8
smc_run: module smc 9.8
END
"$tmp/tree2/smc_run" true >"$tmp/out" 2>&1
expect 'smc_run says nothing about the module without -d' "$tmp/out" </dev/null

# --- the drop-in for services, as it is -----------------------------------

dropin=examples/redis-server.service.d/smc.conf
sed -n '/^Environment=LD_PRELOAD=/d; s/^Environment=//p' $dropin >"$tmp/environment"
(
	while read -r line; do
		# shellcheck disable=SC2163 # a line is NAME=VALUE
		export "$line"
	done <"$tmp/environment"
	under both 2,1,6
)
expect 'the drop-in names no file that is missing' "$tmp/said" </dev/null
expect 'a service with the drop-in has SMC' "$tmp/asked" <<'END'
socket(2, 0x1, 256)
END
# it would be the whole list of a unit that has none
grep '^RestrictAddressFamilies=' $dropin >"$tmp/out"
expect 'the drop-in takes no address family away' "$tmp/out" </dev/null

# --- a warning of a newer compiler ends the checks, and no user's make ------

for werror in '' 1; do
	env -u MAKEFLAGS -u WERROR make -n -B ${werror:+WERROR=1} smcr.o |
		grep -c -e ' -Werror '
done >"$tmp/out"
expect 'warnings are errors with WERROR alone' "$tmp/out" <<'END'
0
1
END

# --- install --------------------------------------------------------------

make -s install DESTDIR="$tmp/root" PREFIX=/usr LIBDIR=/usr/lib/x \
	VERSION=9.8 >"$tmp/out" 2>&1
(cd "$tmp/root" && find . ! -type d | sort) >"$tmp/files"
# what needs clang and libbpf may not have been built
grep -v '/smc_activate$' "$tmp/files" >"$tmp/always"
expect 'make install puts all files' "$tmp/always" <<'END'
./usr/bin/smc_chk
./usr/bin/smc_pnet
./usr/bin/smc_rnics
./usr/bin/smc_run
./usr/bin/smc_stats
./usr/bin/smcd
./usr/bin/smcr
./usr/bin/smcss
./usr/bin/smctop
./usr/lib/x/libsmc-preload.so
./usr/share/bash-completion/completions/smc_chk
./usr/share/bash-completion/completions/smc_pnet
./usr/share/bash-completion/completions/smc_rnics
./usr/share/bash-completion/completions/smc_run
./usr/share/bash-completion/completions/smc_stats
./usr/share/bash-completion/completions/smcd
./usr/share/bash-completion/completions/smcr
./usr/share/bash-completion/completions/smcss
./usr/share/bash-completion/completions/smctop
./usr/share/man/man7/af_smc.7
./usr/share/man/man8/smc_chk.8
./usr/share/man/man8/smc_pnet.8
./usr/share/man/man8/smc_rnics.8
./usr/share/man/man8/smc_run.8
./usr/share/man/man8/smc_stats.8
./usr/share/man/man8/smcd.8
./usr/share/man/man8/smcr.8
./usr/share/man/man8/smcss.8
./usr/share/man/man8/smctop.8
./usr/share/zsh/site-functions/_smc-tools
END
make -s --no-print-directory --eval 'named:; @echo $(activate:%=./usr/libexec/%)' named |
	grep . >"$tmp/built"
grep '/smc_activate$' "$tmp/files" >"$tmp/out"
expect 'make install puts smc_activate if it can be built' "$tmp/out" <"$tmp/built"
"$tmp/root/usr/bin/smc_run" -v >"$tmp/out" 2>&1
expect 'the installed smc_run knows its version' "$tmp/out" <<'END'
smc_run 9.8
END
grep -c "^sr_libdir='/usr/lib/x'" "$tmp/root/usr/bin/smc_run" >"$tmp/out"
expect 'the installed smc_run knows its library' "$tmp/out" <<'END'
1
END

make -s --no-print-directory uninstall DESTDIR="$tmp/root" PREFIX=/usr \
	LIBDIR=/usr/lib/x >"$tmp/out" 2>&1
find "$tmp/root" ! -type d >>"$tmp/out"
expect 'make uninstall leaves no file' "$tmp/out" </dev/null

# what is on, is on in this system, not in a directory of files for another one
mkdir -p "$tmp/here/libexec" "$tmp/away$tmp/here/libexec"
printf '#!/bin/sh\necho "smc_activate $*"\n' >"$tmp/here/libexec/smc_activate"
chmod +x "$tmp/here/libexec/smc_activate"
cp -p "$tmp/here/libexec/smc_activate" "$tmp/away$tmp/here/libexec/"
make -s --no-print-directory uninstall PREFIX="$tmp/here" DESTDIR="$tmp/away" \
	>"$tmp/out" 2>&1
make -s --no-print-directory uninstall PREFIX="$tmp/here" DESTDIR= \
	>>"$tmp/out" 2>&1
find "$tmp/here" "$tmp/away" -type f >>"$tmp/out"
expect 'make uninstall turns off what is on' "$tmp/out" <<'END'
smc_activate off
END

echo "preload: $passed passed, $failed failed"
[ $failed -eq 0 ]
