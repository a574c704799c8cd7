# SPDX-License-Identifier: GPL-2.0
# The laboratory itself: RDMA flows between the guests over soft-RoCE.
# guests: 2
# module: none

g B 'ibv_rc_pingpong -d rxe0 -g 1 -n 100' >"$LAB_RUN/pingpong-B" 2>&1 &
listening B 18515
g A 'ibv_rc_pingpong -d rxe0 -g 1 -n 100 10.9.0.2' | tee "$LAB_RUN/pingpong-A"
grep -q '100 iters' "$LAB_RUN/pingpong-A" || fail "no 100 iterations"
g A 'ping -c 1 -W 20 fd09::2' >/dev/null || fail "no IPv6"
equal B "$(g A "b hostname")" "guest A reaches B"
