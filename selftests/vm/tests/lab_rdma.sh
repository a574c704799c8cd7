# SPDX-License-Identifier: GPL-2.0
# The laboratory itself: RDMA flows between the guests over soft-RoCE.
# when: 1/2 debug
# guests: 2
# module: none

# a queue pair that waits 4 s for an answer: a loaded host is no lost packet
ping="ib_send_lat -d rxe0 -x 1 -u 20 -e -F -s 1024 -n 20"
g B "$ping" >"$LAB_RUN/ping-B" 2>&1 &
pid=$!
listening B 18515
g A "$ping 10.9.0.2" | tee "$LAB_RUN/ping-A"
grep -Eq '^ *1024 +20 ' "$LAB_RUN/ping-A" || fail "no 20 messages each way"
wait $pid || fail "the other end: $(cat "$LAB_RUN/ping-B")"
g A 'ping -c 1 -W 20 fd09::2' >/dev/null || fail "no IPv6"
equal B "$(g A "b hostname")" "guest A reaches B"
