# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# apps.sh - unmodified programs over SMC: functions for tests/apps_*.sh and
# demo.sh, sourced after test-lib.sh.
#
# Each app_X starts the server in guest $srv and the client in guest $cli, both
# by $run (smc_run; empty for plain TCP), talks to address $addr, compares the
# data where the program does not, and ends both.  A non-zero return or fail()
# is a failed test.  They write below /tmp/app in the guests.

: "${srv:=A}" "${cli:=A}" "${addr:=127.0.0.1}"
: "${run=smc_run}"
# how much: the debug kernel looks for what goes wrong, not how fast
case $LAB_K in
debug | kcsan) : "${redis_n:=400}" "${iperf_mib:=4}" "${wrk_s:=20}" ;;
*) : "${redis_n:=2000}" "${iperf_mib:=16}" "${wrk_s:=3}" ;;
esac
smc=/lab/selftests/smc

# data files, the same in both guests: 300 kB that do not compress
app_prepare() {
	for x in $LAB_GUESTS; do
		g "$x" 'mkdir -p /tmp/app/www; cd /tmp/app
			python3 -c "
import random, sys
random.seed(7)
sys.stdout.buffer.write(random.randbytes(300000))" >www/data
			sha256sum <www/data >data.sum'
	done
}

# serve NAME PORT COMMAND: start a server and wait for its port
serve() {
	g "$srv" "cd /tmp/app; exec $run $3 >$1.log 2>&1" &
	server_pid=$!
	listening "$srv" "$2"
}

# unserve PATTERN [SIGNAL]: end it; programs differ in what they call success.
# The brackets keep the pattern from finding the shell that runs this line.
unserve() {
	g "$srv" "pkill -${2:-TERM} -f '[${1%"${1#?}"}]${1#?}' || :"
	wait "$server_pid" || :
}

app_redis() {
	serve redis 6379 "redis-server --port 6379 --bind $addr --save '' \
		--protected-mode no"
	g "$cli" "set -eu; cd /tmp/app
		c='$run redis-cli -h $addr'
		\$c set greeting hello | grep -q -x OK
		test \"\$(\$c get greeting)\" = hello
		\$c -x set blob <www/data | grep -q -x OK
		\$c strlen blob | grep -q -x 300000
		# redis-cli adds a newline
		\$c get blob | head -c 300000 | sha256sum | cmp - data.sum
		$run redis-benchmark -h $addr -t set,get -n $redis_n \
			-c 20 -d 100 --csv
		$run redis-benchmark -h $addr -t set,get -n $redis_n \
			-c 20 -d 100 -P 16 --csv" >"$LAB_RUN/redis.out" ||
		fail "redis: $(tail -n 5 "$LAB_RUN/redis.out")"
	[ "$(grep -c -E '^"(SET|GET)","[0-9]' "$LAB_RUN/redis.out")" = 4 ] ||
		fail "redis-benchmark: $(cat "$LAB_RUN/redis.out")"
	unserve redis-server
}

# iperf3 checks itself how many bytes arrived; ask for a number of them
app_iperf() {
	serve iperf3 5201 "iperf3 -s -p 5201"
	for dir in "" -R --bidir; do
		# Debian 12's, of one thread, ends --bidir when one end has
		# written all: what has arrived then may be nothing, by TCP too
		case $LAB_K$dir in
		6.1--bidir) least=0 ;;
		*) least=$(((iperf_mib << 19) + 1)) ;;
		esac
		g "$cli" "$run iperf3 -c $addr -p 5201 -P 8 $dir \
			-n ${iperf_mib}M -l 64K -J" \
			>"$LAB_RUN/iperf$dir.json" ||
			fail "iperf3 $dir: $(tail -n 5 "$LAB_RUN/iperf$dir.json")"
		python3 - "$LAB_RUN/iperf$dir.json" $least <<-'END' || fail "iperf3 $dir"
			import json, sys
			end = json.load(open(sys.argv[1]))["end"]
			# with --bidir there are two
			sums = [v for k, v in end.items() if k.startswith("sum_received")]
			print("iperf3 received", [(s["bytes"], s["bits_per_second"]) for s in sums])
			sys.exit(not sums or min(s["bytes"] for s in sums) < int(sys.argv[2]))
		END
	done
	unserve 'iperf3 -s'
}

app_memcached() {
	serve memcached 11211 "memcached -u nobody -l $addr -p 11211"
	g "$cli" "set -eu; cd /tmp/app
		cp www/data blob
		$run memccp --servers=$addr:11211 blob
		$run memccat --servers=$addr:11211 blob |
			head -c 300000 | sha256sum | cmp - data.sum
		$run memcslap --servers=$addr:11211 --concurrency=8 \
			--execute-number=50 --test=get" ||
		fail "memcached"
	unserve memcached
}

app_nginx() {
	g "$srv" "cat >/tmp/app/nginx.conf <<-END
		daemon off;
		worker_processes 2;
		pid /tmp/app/nginx.pid;
		error_log /tmp/app/nginx.err;
		events { worker_connections 256; }
		http {
			access_log off;
			client_body_temp_path /tmp/app/nb;
			proxy_temp_path /tmp/app/np;
			fastcgi_temp_path /tmp/app/nf;
			uwsgi_temp_path /tmp/app/nu;
			scgi_temp_path /tmp/app/ns;
			server { listen $addr:8080; root /tmp/app/www; }
		}
	END"
	serve nginx 8080 "nginx -c /tmp/app/nginx.conf"
	g "$cli" "set -eu; cd /tmp/app
		$run curl -sS http://$addr:8080/data | sha256sum | cmp - data.sum
		$run wrk -t 2 -c 16 -d ${wrk_s}s --timeout 60s \
			http://$addr:8080/data >wrk.out
		cat wrk.out
		! grep -q -e 'Socket errors' -e 'Non-2xx' wrk.out
		grep -q -E '[1-9][0-9]* requests in' wrk.out" ||
		fail "nginx and wrk"
	unserve 'nginx: master' QUIT
}

app_http() {
	serve http 8000 "python3 -m http.server -d www -b $addr 8000"
	g "$cli" "set -eu; cd /tmp/app
		for i in 1 2 3 4 5; do
			$run curl -sS http://$addr:8000/data | sha256sum |
				cmp - data.sum
		done" || fail "http.server and curl"
	unserve http.server
}

# rsync's daemon protocol through socat on both sides
app_rsync() {
	g "$srv" "mkdir -p /tmp/app/tree; cd /tmp/app/tree
		for i in 1 2 3; do head -c 100000 ../www/data |
			tail -c \$((i * 20000)) >file\$i; done
		printf '[tree]\npath=/tmp/app/tree\nread only=yes\nuid=0\nuse chroot=no\n' \
			>../rsyncd.conf
		printf '#!/bin/sh\nexec rsync --server --daemon --config=/tmp/app/rsyncd.conf .\n' \
			>../rsyncd.sh; chmod +x ../rsyncd.sh"
	g "$cli" "mkdir -p /tmp/app
		printf '#!/bin/sh\nexec $run socat STDIO TCP:$addr:8730\n' \
			>/tmp/app/rsh.sh; chmod +x /tmp/app/rsh.sh; rm -rf /tmp/app/copy"
	serve rsync 8730 "socat TCP-LISTEN:8730,fork,reuseaddr,bind=$addr \
		EXEC:/tmp/app/rsyncd.sh"
	g "$cli" "rsync -a --rsh=/tmp/app/rsh.sh x::tree/ /tmp/app/copy/" ||
		fail "rsync: $(g "$srv" 'cat /tmp/app/rsync.log')"
	equal "$(g "$srv" 'cd /tmp/app/tree; sha256sum *')" \
		"$(g "$cli" 'cd /tmp/app/copy; sha256sum *')" "rsync's copy"
	unserve TCP-LISTEN
}

apps="redis iperf memcached nginx http rsync"

# each_app CHECK: all of them, with counters marked before and CHECK after
each_app() {
	app_prepare
	for app in ${APPS:-$apps}; do
		for x in $LAB_GUESTS; do g "$x" "$smc/smcstat.sh mark"; done
		"app_$app"
		"$1" "$app"
		note "$app: ok"
	done
}
