#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Tests of the rules of smc_run that need no SMC in the kernel: what is refused
# in a file, which connections are denied, and what the kernel is then asked.

cd "$(dirname "$0")/.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0
lib=$PWD/libsmc-preload.so
unset SMC_DEBUG SMC_RCVBUF SMC_SNDBUF SMC_RUN_CONF LD_PRELOAD

. tests/fake.sh

# rules: standard input is the file
rules() { cat >"$tmp/conf"; }

# under KERNEL ARGUMENT...: asked, printed and said go to files
under() {
	kernel=$1
	shift
	FAKE_KERNEL=$kernel SMC_RUN_CONF=$tmp/conf LD_PRELOAD=$lib:$tmp/fake.so \
		"${program:-$tmp/call}" "$@" \
		3>"$tmp/asked" >"$tmp/printed" 2>"$tmp/raw" ||
		echo "status $?" >>"$tmp/asked"
	sed "s/ fd [0-9]*:/ fd N:/; s|$tmp|TMP|" "$tmp/raw" >"$tmp/said"
}

# verdicts CALL...: "smc" or "tcp" for each call of the form OP,ADDRESS,PORT
verdicts() {
	# shellcheck disable=SC2046 # words
	set -- $(printf '+%s ' "$@" | tr , ' ')
	under both 2,1,0 "$@"
	awk '/^setsockopt\(286, 256, 1\)$/ { tcp = 1; next }
		/^(connect|listen) / { print (tcp ? "tcp" : "smc"), $0; tcp = 0;
			next }
		!/^socket/ { print }' "$tmp/asked" >"$tmp/verdicts"
	cat "$tmp/raw" >>"$tmp/verdicts"
}

# --- what the kernel is asked --------------------------------------------------

rules <<'END'
deny 10.0.0.0/8
END
under both 2,1,0 +connect 10.1.2.3 80 2,1,0 +connect 11.1.2.3 80
expect 'a denied connection asks for plain TCP, others for nothing' \
	"$tmp/asked" <<'END'
socket(2, 0x1, 256)
setsockopt(286, 256, 1)
connect 10.1.2.3 80
socket(2, 0x1, 256)
connect 11.1.2.3 80
END
cp "$tmp/asked" "$tmp/free"
FAKE_SANDBOX=1 under both 2,1,0 +connect 10.1.2.3 80 2,1,0 +connect 11.1.2.3 80
expect 'the same in a sandbox' "$tmp/asked" <"$tmp/free"
expect 'errno is left alone' "$tmp/printed" <<'END'
ok errno 77
ok errno 77
ok errno 77
ok errno 77
END
expect 'nothing is said' "$tmp/said" </dev/null

under own 2,1,0 +connect 10.1.2.3 80 +listen 10.0.0.0 1
expect "the kernel's own SMC is asked by way of Fast Open" "$tmp/asked" <<'END'
socket(2, 0x1, 256)
setsockopt(286, 256, 1)
setsockopt(6, 34, 0)
connect 10.1.2.3 80
setsockopt(286, 256, 1)
setsockopt(6, 34, 0)
listen 10.0.0.0 1
END

under none 2,1,0 +connect 10.1.2.3 80
expect 'a TCP socket is not changed' "$tmp/asked" <<'END'
socket(2, 0x1, 256)
socket(43, 0x1, 0)
socket(2, 0x1, 0)
setsockopt(286, 256, 1)
connect 10.1.2.3 80
END
expect 'errno is left alone when the kernel knows no SMC' "$tmp/printed" <<'END'
ok errno 77
ok errno 77
END
under late 2,1,0 +connect 10.1.2.3 80
expect 'a refusal of the kernel is not the caller'\''s' "$tmp/printed" <<'END'
ok errno 77
ok errno 77
END

under both +connect 10.1.2.3 80 +listen 10.1.2.3 80
expect 'what is no socket fails as it did' "$tmp/printed" <<'END'
failed errno 9
failed errno 9
END

rules <<'END'
deny listen 10.0.0.0/8
END
SMC_DEBUG=1 under both 2,1,0 +connect 10.1.2.3 80 +listen 10.1.2.3 81 \
	10,1,0 +listen ::ffff:10.9.9.9 7
expect 'SMC_DEBUG names the line' "$tmp/said" <<'END'
libsmc-preload: 1 rules for call in TMP/conf
libsmc-preload: fd N: SMC, family 2
libsmc-preload: fd N: plain TCP, line 1, on 10.1.2.3 port 81
libsmc-preload: fd N: SMC, family 10
libsmc-preload: fd N: plain TCP, line 1, on ::ffff:10.9.9.9 port 7
END
SMC_DEBUG=1 under late 2,1,0 +listen 10.1.2.3 81
expect 'SMC_DEBUG says when it is too late' "$tmp/said" <<'END'
libsmc-preload: 1 rules for call in TMP/conf
libsmc-preload: fd N: SMC, family 2
libsmc-preload: fd N: too late for TCP, line 1, on 10.1.2.3 port 81
END

for all in 'deny any' 'deny port 0-65535' 'deny port 1
deny connect any
deny listen any'; do
	echo "$all" | rules
	under both 2,1,6 10,1,0 +connect ::1 80
	expect "TCP from the start: $all" "$tmp/asked" <<'END'
socket(2, 0x1, 6)
socket(10, 0x1, 0)
connect ::1 80
END
done

# --- which rule decides --------------------------------------------------------

rules <<'END'
# the first that fits decides
allow connect 10.0.0.1
deny connect 10.0.0.0/30	# this host's neighbours
deny 192.168.0.0/17:80-90
deny port 22
allow	listen port 6379-6381
deny listen any
deny [fd00::/8]:443
deny fe80::/10
deny 172.16.0.5
END
verdicts connect,10.0.0.1,1 connect,10.0.0.2,1 connect,10.0.0.4,1 \
	connect,192.168.127.255,80 connect,192.168.127.255,90 \
	connect,192.168.127.255,91 connect,192.168.0.0,79 \
	connect,192.168.128.0,80 connect,1.2.3.4,22 connect,::1,22 \
	connect,1.2.3.4,23 listen,0.0.0.0,6379 listen,::,6381 \
	listen,0.0.0.0,6382 listen,10.0.0.1,22 connect,fdff::1,443 \
	connect,fdff::1,444 connect,fc00::1,443 connect,febf::1,1 \
	connect,fec0::1,1 connect,::ffff:10.0.0.3,1 \
	connect,::ffff:172.16.0.5,9 connect,172.16.0.4,9
expect 'addresses, prefixes, ports' "$tmp/verdicts" <<'END'
smc connect 10.0.0.1 1
tcp connect 10.0.0.2 1
smc connect 10.0.0.4 1
tcp connect 192.168.127.255 80
tcp connect 192.168.127.255 90
smc connect 192.168.127.255 91
smc connect 192.168.0.0 79
smc connect 192.168.128.0 80
tcp connect 1.2.3.4 22
tcp connect ::1 22
smc connect 1.2.3.4 23
smc listen 0.0.0.0 6379
smc listen :: 6381
tcp listen 0.0.0.0 6382
tcp listen 10.0.0.1 22
tcp connect fdff::1 443
smc connect fdff::1 444
smc connect fc00::1 443
tcp connect febf::1 1
smc connect fec0::1 1
tcp connect ::ffff:10.0.0.3 1
tcp connect ::ffff:172.16.0.5 9
smc connect 172.16.0.4 9
END

rules <<'END'
allow connect 0.0.0.0/0
deny connect ::/0
deny listen any
END
verdicts connect,9.9.9.9,9 connect,::ffff:9.9.9.9,9 connect,2000::1,9 \
	listen,::,9
expect 'IPv4 and IPv6 as a whole' "$tmp/verdicts" <<'END'
smc connect 9.9.9.9 9
smc connect ::ffff:9.9.9.9 9
tcp connect 2000::1 9
tcp listen :: 9
END

# --- before the rules are read -------------------------------------------------

# A library of the program that opens a connection when it is loaded.
cat >"$tmp/early.c" <<'END'
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
__attribute__((constructor))
static void early(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(1) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	connect(fd, (struct sockaddr *)&in, sizeof(in));
	listen(fd, 5);
}
END
${CC:-cc} -fPIC -shared -o "$tmp/libearly.so" "$tmp/early.c" &&
	${CC:-cc} -Wall -Wextra -D_GNU_SOURCE -o "$tmp/late" \
		tests/call_socket.c -Wl,--no-as-needed "$tmp/libearly.so" ||
	exit 1
echo 'deny connect port 2' | rules
program=$tmp/late under both 2,1,0 +connect 1.1.1.1 2
expect 'sockets of a constructor are TCP' "$tmp/asked" <<'END'
socket(2, 0x1, 0)
connect 0.0.0.0 1
listen ? 0
socket(2, 0x1, 256)
setsockopt(286, 256, 1)
connect 1.1.1.1 2
END

# --- programs ------------------------------------------------------------------

rules <<'END'
allow connect port 5
[other]
deny any
[c?ll nothing]
deny connect port 1-5
[*]
deny connect port 7
END
verdicts connect,1.1.1.1,5 connect,1.1.1.1,4 connect,1.1.1.1,7 \
	connect,1.1.1.1,8
expect 'a heading is for the programs it names' "$tmp/verdicts" <<'END'
smc connect 1.1.1.1 5
tcp connect 1.1.1.1 4
tcp connect 1.1.1.1 7
smc connect 1.1.1.1 8
END
cp "$tmp/call" "$tmp/other"
program=$tmp/other verdicts connect,1.1.1.1,5 connect,1.1.1.1,8
expect 'another program has other rules' "$tmp/verdicts" <<'END'
smc connect 1.1.1.1 5
tcp connect 1.1.1.1 8
END
printf '#!/bin/sh\n:\n' >"$tmp/script"
chmod +x "$tmp/script"
printf '[script]\ndeny port 1\n' | rules
SMC_DEBUG=1 program=$tmp/script under both
sed -n 's/ for .*//p' "$tmp/said" | head -1 >"$tmp/out"
expect 'a script has its own name' "$tmp/out" <<'END'
libsmc-preload: 1 rules
END

cp "$tmp/script" "$tmp/replicate-database.py"
printf '[replicate-database.py]\ndeny port 1\n' | rules
SMC_DEBUG=1 program=$tmp/replicate-database.py under both
sed -n 's/ for .*//p' "$tmp/said" | head -1 >"$tmp/out"
expect 'also one of more than 15 characters' "$tmp/out" <<'END'
libsmc-preload: 1 rules
END

# --- mistakes ------------------------------------------------------------------

rules <<'END'
deny port 22
allow 10.0.0.0/8:80-90
deny lisen any
deny 10.0.0.1/8
deny [fd00::/8]:443 x
deny [fd00::/8]:70000
[a/b]
[]
[x
forbid any
deny
END
under both 2,1,0 +connect 1.2.3.4 80
expect 'each mistake is named' "$tmp/said" <<'END'
smc_run: TMP/conf:3: not an address: 'lisen'
smc_run: TMP/conf:4: the address has bits beyond its prefix: '10.0.0.1'
smc_run: TMP/conf:5: too much in this line: 'x'
smc_run: TMP/conf:6: not a port or a range of ports: '70000'
smc_run: TMP/conf:7: the name of a program has no directory: 'a/b'
smc_run: TMP/conf:8: a heading needs the name of a program
smc_run: TMP/conf:9: a heading is '[PROGRAM ...]': '[x'
smc_run: TMP/conf:10: expected 'allow', 'deny' or '[PROGRAM]': 'forbid'
smc_run: TMP/conf:11: expected an address, 'port' or 'any'
smc_run: TMP/conf: not used; all connections are plain TCP
END
expect 'a program with a bad file works, over TCP' "$tmp/asked" <<'END'
socket(2, 0x1, 0)
connect 1.2.3.4 80
END
for bad in 'port 80-' 'port 9-8' 'port' 'port -1' 'port 80x' '10.0.0.0/33' \
	'10.0.0.0/' '10.0.0/24' '::1/129' '1.2.3.4:' '[::1]80' 'host' \
	'::ffff:1.2.3.4' 'any any' 'connect' 'connect listen any'; do
	echo "deny $bad" | rules
	under both
	sed -n 's/^smc_run: TMP.conf:1: .*/mistake/p' "$tmp/said" >"$tmp/out"
	expect "a mistake: deny $bad" "$tmp/out" <<'END'
mistake
END
done
printf 'deny port 1\n\033[2Jx\n' | rules
under both
expect 'nothing but text is quoted' "$tmp/said" <<'END'
smc_run: TMP/conf:2: expected 'allow', 'deny' or '[PROGRAM]': '?[2Jx'
smc_run: TMP/conf: not used; all connections are plain TCP
END
head -c 3000 /dev/zero | rules
under both
expect 'binary data is no file of rules' "$tmp/said" <<'END'
smc_run: TMP/conf:1: not a line of text, or too long
smc_run: TMP/conf: not used; all connections are plain TCP
END
seq 257 | sed 's/^/deny port /' | rules
under both
expect 'there is an end to rules' "$tmp/said" <<'END'
smc_run: TMP/conf:257: too many rules for one program
smc_run: TMP/conf: not used; all connections are plain TCP
END
printf '[none]\r\ndeny any\r\n[*]\r\ndeny port 9' | rules
verdicts connect,1.2.3.4,9
expect 'line ends of other systems, and none at the end' "$tmp/verdicts" <<'END'
tcp connect 1.2.3.4 9
END
rm "$tmp/conf"
under both 2,1,0
expect 'a file that is missing is a mistake' "$tmp/said" <<'END'
smc_run: TMP/conf: No such file or directory; all connections are plain TCP
END
expect 'and all is TCP' "$tmp/asked" <<'END'
socket(2, 0x1, 0)
END

# --- real sockets --------------------------------------------------------------

# A real connection, begun without waiting, in an epoll set before connect().
cat >"$tmp/echo.py" <<'END'
import select, socket
srv = socket.create_server(("127.0.0.1", 0))
c = socket.socket()
c.setblocking(False)
c.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
ep = select.epoll()
ep.register(c, select.EPOLLOUT)
ep.poll(0)
c.connect_ex(srv.getsockname())
s = srv.accept()[0]
assert ep.poll(10) == [(c.fileno(), select.EPOLLOUT)]
assert c.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
assert c.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
assert not c.get_inheritable() and c.getblocking() is False
c.send(b"there")
s.send(s.recv(9))
ep.modify(c, select.EPOLLIN)
assert ep.poll(10) and c.recv(9) == b"there"
print("good")
END
for rule in 'deny any' 'deny 127.0.0.0/8' 'deny listen port 1-65535' \
	'allow any' 'nonsense'; do
	echo "$rule" | rules
	SMC_RUN_CONF=$tmp/conf LD_PRELOAD=$lib python3 "$tmp/echo.py" \
		>"$tmp/out" 2>"$tmp/err" || cat "$tmp/err" >>"$tmp/out"
	expect "a program works under: $rule" "$tmp/out" <<'END'
good
END
done

# Pointers to nothing, and an address at the end of a page.
cat >"$tmp/fault.py" <<'END'
import ctypes, mmap, os, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
page = mmap.PAGESIZE
srv = socket.create_server(("127.0.0.1", 0))
m = mmap.mmap(-1, 2 * page)
at = ctypes.addressof(ctypes.c_char.from_buffer(m))
assert not libc.mprotect(ctypes.c_void_p(at + page), page, 0)
m[page - 16:page] = struct.pack("=H", socket.AF_INET) + struct.pack(
    "!H4s8s", srv.getsockname()[1], bytes([127, 0, 0, 1]), b"")
def connect(where, size):
    s = socket.socket()
    rc = libc.connect(s.fileno(), ctypes.c_void_p(where), size)
    return os.strerror(ctypes.get_errno()) if rc else "good"
print(connect(1, 16), connect(0, 16), connect(at + page - 16, 17),
      connect(at + page - 16, 16), connect(at + page - 16, 129), sep="\n",
      flush=True)
os._exit(0)
END
echo 'deny port 1' | rules
SMC_RUN_CONF=$tmp/conf LD_PRELOAD=$lib python3 "$tmp/fault.py" >"$tmp/out" 2>&1
expect 'a bad pointer is an error, not the end' "$tmp/out" <<'END'
Bad address
Bad address
Bad address
good
Invalid argument
END

# A filter that kills for a debugger's calls, as SystemCallFilter=~process_vm_readv.
cat >"$tmp/killed.py" <<'END'
import ctypes, platform, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
NO_NEW_PRIVS, SECCOMP, FILTER = 38, 22, 2
LOAD, IS, RETURN, KILL, ALLOW = 0x20, 0x15, 0x06, 0x80000000, 0x7fff0000
readv = 310 if platform.machine() == "x86_64" else 270
code = b"".join(struct.pack("=HBBI", *i) for i in (
    (LOAD, 0, 0, 0), (IS, 0, 1, readv), (RETURN, 0, 0, KILL),
    (RETURN, 0, 0, ALLOW)))
held = ctypes.create_string_buffer(code)
prog = struct.pack("@HP", 4, ctypes.addressof(held))
srv = socket.create_server(("127.0.0.1", 0))
assert not libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0)
assert not libc.prctl(SECCOMP, FILTER, prog, 0, 0)
socket.create_connection(srv.getsockname())
print("good")
END
SMC_RUN_CONF=$tmp/conf LD_PRELOAD=$lib python3 "$tmp/killed.py" >"$tmp/out" 2>&1
expect 'a filter that kills for odd calls kills nothing' "$tmp/out" <<'END'
good
END

# --- smc_run -------------------------------------------------------------------

# A build tree in which the kernel seems to have SMC.
mkdir "$tmp/tree"
sed "s|/sys/module/smc|$tmp|; s|=/etc/smc_run.conf|=$tmp/default|" \
	smc_run >"$tmp/tree/smc_run"
chmod +x "$tmp/tree/smc_run"
cp libsmc-preload.so "$tmp/tree/"

# run ARGUMENT...: what smc_run says, and its status
run() {
	(cd "$tmp" && tree/smc_run "$@") >"$tmp/raw" 2>&1
	echo "status $?" >>"$tmp/raw"
	sed "s|$tmp|TMP|g" "$tmp/raw" >"$tmp/out"
}

echo 'deny any' | rules
run -T -c conf
expect 'smc_run -T finds no mistake' "$tmp/out" <<'END'
smc_run: TMP/conf: no mistake found
status 0
END
# bash has something to say of a locale that is not there
mkdir "$tmp/bash"
ln -s "$(command -v bash)" "$tmp/bash/sh"
PATH=$tmp/bash:$PATH LC_ALL=xx_XX.none run -T -c conf
expect 'smc_run -T takes no word of the shell for a mistake' "$tmp/out" <<'END'
smc_run: TMP/conf: no mistake found
status 0
END
SMC_RUN_CONF=$tmp/conf run -T
expect 'smc_run -T takes the file of the environment' "$tmp/out" <<'END'
smc_run: TMP/conf: no mistake found
status 0
END
run -T
expect 'smc_run -T without a file' "$tmp/out" <<'END'
smc_run: TMP/default: No such file or directory; all connections are plain TCP
status 125
END
printf 'deny any\n[prog]\nwhat\n' | rules
SMC_DEBUG=1 run -d -T -c conf
expect 'smc_run -T finds mistakes in all parts' "$tmp/out" <<'END'
smc_run: TMP/conf:3: expected 'allow', 'deny' or '[PROGRAM]': 'what'
smc_run: TMP/conf: not used; all connections are plain TCP
status 125
END
# shellcheck disable=SC2016 # for the shell that is started
run -c conf sh -c 'echo "$SMC_RUN_CONF"; exit 3' 2>&1
grep -v ':3:\|not used' "$tmp/out" >"$tmp/out2"
expect 'smc_run -c: the whole path, and a bad file ends nothing' \
	"$tmp/out2" <<'END'
TMP/conf
status 3
END
run -c nonesuch true
expect 'smc_run -c: no such file' "$tmp/out" <<'END'
smc_run: -c nonesuch: cannot be read
status 125
END
run -c
expect 'smc_run -c: file missing' "$tmp/out" <<'END'
smc_run: -c needs an argument; smc_run -h explains
status 125
END

# --- the example of a service --------------------------------------------------

# What Debian's unit for Redis has of restrictions, and our drop-in.
mkdir "$tmp/units"
cp -r examples/redis-server.service.d "$tmp/units/"
cat >"$tmp/units/redis-server.service" <<'END'
[Service]
Type=notify
ExecStart=/bin/true
PrivateDevices=true
CapabilityBoundingSet=
MemoryDenyWriteExecute=true
NoNewPrivileges=true
ProtectKernelModules=true
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
NoExecPaths=/
ExecPaths=/usr/bin/redis-server /usr/lib /lib
END
# verified NAME: systemd-analyze has the text on standard input to say
verified() {
	SYSTEMD_UNIT_PATH=$tmp/units: systemd-analyze verify --man=no \
		redis-server.service >"$tmp/raw" 2>&1
	sed "s|$tmp|TMP|g" "$tmp/raw" | grep redis-server >"$tmp/out"
	expect "$1" "$tmp/out"
}

if command -v systemd-analyze >"$tmp/null"; then
	verified 'systemd finds no fault with the drop-in' </dev/null
	echo 'ExecPath=/x' >>"$tmp/units/redis-server.service.d/smc.conf"
	verified 'systemd reads the drop-in' <<END
TMP/units/redis-server.service.d/smc.conf:$(wc -l \
	<"$tmp/units/redis-server.service.d/smc.conf"): \
Unknown key 'ExecPath' in section [Service], ignoring.
END
else
	echo 'systemd-analyze is not installed: the drop-in is not verified'
fi

echo "policy: $passed passed, $failed failed"
[ $failed -eq 0 ]
