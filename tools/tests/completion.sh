#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# completion.sh - what bash offers after the beginning of a command line
cd "$(dirname "$0")/.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
PATH=$PWD:$PATH
passed=0
failed=0

python3 tests/pack.py tests/data/full.txt "$tmp/full.nl" || exit 1
export SMC_TOOLS_REPLAY=$tmp/full.nl
# shellcheck source=SCRIPTDIR/../completion/smc-tools.bash
. completion/smc-tools.bash

# offers WORDS... : EXPECTED...: the last of WORDS is being written
offers() {
	local words=() cur prev got want

	while [ "$1" != : ]; do
		words+=("$1")
		shift
	done
	shift
	want=$(printf '%s\n' "$@" | sort)
	COMP_WORDS=("${words[@]}")
	COMP_CWORD=$((${#words[@]} - 1))
	COMPREPLY=()
	cur=${words[COMP_CWORD]}
	prev=${words[COMP_CWORD - 1]}
	case ${words[0]} in
	smc_run) _smc_run smc_run "$cur" "$prev" ;;
	*) _smc_complete "${words[0]}" "$cur" "$prev" ;;
	esac
	got=$(printf '%s\n' "${COMPREPLY[@]}" | sort)
	if [ "$got" = "$want" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL ${words[*]}"
		diff <(echo "$want") <(echo "$got")
	fi
}

offers smcr '' : info linkgroup device stats ueid help
offers smcd se : seid
offers smcr -d l : linkgroup
offers smcr -j : -json
offers smcr linkgroup li : link-show
offers smcr linkgroup show '' : all netdev ibdev 00000100 00000200
offers smcd linkgroup show 0 : 00000301 00000302
offers smcd device l :
offers smcr -d stats '' : show reset json help
offers smcr ueid del R : RACK.7
offers smcr device netdev l : lo
offers smcd seid e : enable
offers smc_pnet -d '' : NET1 NET2
offers smc_pnet -P '' : 1 2
offers smc_pnet --i : --interface --ibdevice --ibport
offers smc_rnics --I : --IB-dev
offers smcss --s : --smcr --smcd --state
offers smcss --co : --color
offers smcss -m s : smcr smcd
offers smcss --state app : appclosewait1 appclosewait2 appfinclosewait1
offers smc_chk --se : --server
echo '127.0.0.1 smchost' >"$tmp/hosts"
HOSTFILE=$tmp/hosts
offers smc_chk -C smch : smchost
offers smc_chk --connect smch : smchost
offers smc_chk smch : smchost
offers smc_chk -p smch :
offers smc_stats --p : --prometheus --pretty
offers smc_run - : -c -d -r -t -T -v -h --cgroup --all --off --status --force
offers smc_run --o : --off
mkdir -p "$tmp/sys/fs/cgroup/system.slice/a.service"
SMC_TOOLS_ROOT=$tmp offers smc_run --cgroup sys : system.slice
SMC_TOOLS_ROOT=$tmp offers smc_run --off --cgroup system.slice/ : \
	system.slice/a.service
: >"$tmp/rules.conf"
offers smc_run -c "$tmp/ru" : "$tmp/rules.conf"
offers smc_run -T -c "$tmp/ru" : "$tmp/rules.conf"
offers smc_run -r 1 :
offers smc_run -d -c x smc_rni : smc_rnics
offers smctop -s '' : rate sent received unsent address
offers smctop --i : --iterations

# Names of the kernel are words, not text for the shell.
# shellcheck disable=SC2016,SC2317 # the text of a name; completion calls it
ls() {
	case $1 in
	/sys/class/net) printf '%s\n' 'e$(touch${IFS}ran)' 'e*' lo ;;
	/sys/class/infiniband) echo '`touch${IFS}ran`' ;;
	/sys/bus/pci/slots) printf '%s\n' 4 '$(touch${IFS}ran)' ;;
	esac
}
cd "$tmp" || exit 1
# shellcheck disable=SC2016
{
offers smc_pnet -I '' : 'e\$\(touch\$\{IFS\}ran\)' 'e\*' lo
offers smc_pnet -I 'e\$' : 'e\$\(touch\$\{IFS\}ran\)'
offers smc_chk -i 'e*' : 'e\*'
offers smcr device ibdev '' : '\`touch\$\{IFS\}ran\`'
offers smc_rnics -e '' : 4 '\$\(touch\$\{IFS\}ran\)'
}
unset -f ls
if [ -e "$tmp/ran" ]; then
	failed=$((failed + 1))
	echo 'FAIL the name of an interface was run'
else
	passed=$((passed + 1))
fi

echo "completion: $passed passed, $failed failed"
[ $failed -eq 0 ]
