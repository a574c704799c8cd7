# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# shards.sh - what takes long, in thirteen parts that each end within their
# budget; sourced by check.sh, which has stage() and the deadline.
#
#   1 2 3  mutants of the module, a third each, and ten minutes of those of the
#          pure files, a sample made from SMC_SEED: the rest counts as skipped
#   4      debug kernel, one guest: all modes of every suite, but
#   5 13   debug kernel: hostile peers, mixed outcomes and removals in full
#          numbers (100,000 CDC and 20,000 LLC messages, 10,000 connections,
#          60 removals; 20,000 handshakes)
#   6      debug kernel, two guests
#   7      Debian's kernel: 20,000 scripts of difftest a mode, 10^6 messages
#   8      KCSAN kernel, one guest at a time: SMC-D and SMC-R.  Not what is "long"
#          there: it waits for time limits, has no threads or starts programs,
#          and the rest takes the whole of the budget
#   9      Debian's kernel: the other long tests, a soak, 1,000 silent and 1,000 slow
#          peers among them, and fuzzing
#   10 11  kernels 6.1 and 7.2 whole: static checks, all tests in all modes
#   12     the packages: signed, installed, upgraded, purged in three suites
#
# static.sh sees that each test that is "long" on a kernel has a shard.
# selftests/shards.passed says which shard last passed on which commit.

in_numbers="hostile_rdma removal mixed"
handshakes=hostile_clc

# the_others: tests that are in neither
the_others() {
	for _t in selftests/vm/tests/*.sh; do
		_t=$(basename "$_t" .sh)
		case " $in_numbers $handshakes " in *" $_t "*) ;; *) echo "$_t" ;; esac
	done
}

# whole K: another kernel than Debian's, as the gate has Debian's
whole() {
	export K="$1"
	stage static sh tools/dev/static.sh
	guests "$1"
}

shard() {
	export SMC_MODES=all
	_shard=${1%/13}
	case $_shard in
	[123])
		stage mutants-pure sh -c 'nice python3 selftests/mutants/pure.py \
			--shard "$0/3" --seed "$SMC_SEED" --budget 600' "$_shard"
		stage mutants sh -c 'sh selftests/mutants/run.sh \
			--shard "$0/3" --budget "$1"' "$_shard" "$(budget_left)" ;;
	4)
		export LONG=1
		# shellcheck disable=SC2046
		stage debug-one sh selftests/vm/run.sh -k debug -n 1 \
			$(the_others) ;;
	5)
		# the numbers take two processors: no second guest beside
		export LONG=1 LANES=1
		# shellcheck disable=SC2086
		stage debug-numbers sh selftests/vm/run.sh -k debug $in_numbers ;;
	6)
		export LONG=1
		stage debug-two sh selftests/vm/run.sh -k debug -n 2 ;;
	7)
		export LONG=1
		stage long-scripts sh selftests/vm/run.sh difftest wakeups ;;
	8)
		# a race takes two processors: no second guest beside
		export SMC_MODES="smcd smcr" LANES=1
		stage kcsan sh selftests/vm/run.sh -k kcsan -n 1 ;;
	9)
		export LONG=1
		stage fuzz make -s -C selftests/fuzz gate T=600
		stage long-6.12 sh selftests/vm/run.sh rdma_waves \
			rdma_stream churn hostile_rdma removal slow_peers \
			many_setup steps soak ;;
	10) whole 6.1 ;;
	11) whole 7.2 ;;
	12)
		stage packages-signed sh selftests/vm/sign-check.sh
		stage packages-guest sh selftests/vm/deb-guest.sh
		stage packages sh selftests/vm/deb-check.sh ;;
	13)
		export LONG=1 LANES=1
		stage debug-handshakes sh selftests/vm/run.sh -k debug \
			$handshakes ;;
	*) echo "SHARD=1/13 to 13/13" >&2; exit 2 ;;
	esac
}

# shard_passed SHARD PASSED: write it down, in place of what was there
shard_passed() {
	_f=selftests/shards.passed
	{
		grep -v "^$1 " $_f 2>/dev/null
		echo "$1 $(git rev-parse --short=12 HEAD) $(date -u +%F)" \
			"$2 passed"
	} | sort >"$tmp/shards" && cp "$tmp/shards" $_f
}
