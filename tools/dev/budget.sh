# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# budget.sh - the time a check may take; sourced.
#
# SMC_DEADLINE (seconds of the epoch) is when no test begins any more; it is
# two minutes before the budget is over, so that what runs then can end and be
# counted.

# budget_set LIMIT: 80m, 4800s or 4800; a deadline that is there already stays
# if it is earlier
budget_set() {
	case $1 in
	*m) _b=$((${1%m} * 60)) ;;
	*) _b=${1%s} ;;
	esac
	_d=$(($(date +%s) + _b - 120))
	if [ -z "${SMC_DEADLINE:-}" ] || [ "$SMC_DEADLINE" -gt $_d ]; then
		SMC_DEADLINE=$_d
	fi
	export SMC_DEADLINE
}

# budget_left [MORE]: seconds until the deadline and MORE, at least one
budget_left() {
	_l=$((SMC_DEADLINE + ${1:-0} - $(date +%s)))
	echo $((_l > 0 ? _l : 1))
}
