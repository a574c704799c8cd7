# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Completion of the SMC tools for bash; installed once under each name.
# Tests: tools/tests/completion.sh.

# words after the object of smcr and smcd
_smc_commands() {
	case $1:$2 in
	*:info) echo 'show help' ;;
	smcr:linkgroup) echo 'show link-show all netdev ibdev help' ;;
	smcd:linkgroup) echo 'show all help' ;;
	smcr:device) echo 'show all netdev ibdev help' ;;
	smcd:device) echo 'show all help' ;;
	*:stats) echo 'show reset json help' ;;
	*:ueid) echo 'show add del flush help' ;;
	smcd:seid) echo 'show enable disable help' ;;
	esac
}

_smc_netdevs() {
	ls /sys/class/net 2>/dev/null
}

_smc_ibdevs() {
	ls /sys/class/infiniband 2>/dev/null
}

# link groups, or UEIDs, as the tool lists them
_smc_lgs() {
	"$1" linkgroup show 2>/dev/null | sed 1d | cut -d' ' -f1
}

# The words that begin with what is written.  "compgen -W" would expand them,
# and a name from the kernel may look like a command substitution.
_smc_reply() {
	local words=() word quoted

	COMPREPLY=()
	# no NUL is found, which read reports
	IFS=$' \t\n' read -r -d '' -a words <<<"$1" || :
	for word in "${words[@]}"; do
		printf -v quoted %q "$word"
		if [[ $word == "$2"* || $quoted == "$2"* ]]; then
			COMPREPLY+=("$quoted")
		fi
	done
}

_smc_object() {
	local tool=$1 cur=$2 prev=$3 i object='' options
	local objects='info linkgroup device stats ueid help'

	[ "$tool" = smcr ] || objects="$objects seid"
	options='-absolute -color -details -json -pretty -version -help'
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-*) ;;
		*)
			object=${COMP_WORDS[i]}
			break
			;;
		esac
	done
	if [ -z "$object" ]; then
		case $cur in
		-*) _smc_reply "$options" "$cur" ;;
		*) _smc_reply "$objects" "$cur" ;;
		esac
		return
	fi
	case $prev in
	netdev) _smc_reply "$(_smc_netdevs)" "$cur" ;;
	ibdev) _smc_reply "$(_smc_ibdevs)" "$cur" ;;
	del) _smc_reply "$("$tool" ueid 2>/dev/null)" "$cur" ;;
	show | link-show)
		case $object in
		linkgroup)
			_smc_reply "all netdev ibdev $(_smc_lgs "$tool")" "$cur"
			;;
		device) _smc_reply 'all netdev ibdev' "$cur" ;;
		esac
		;;
	"$object") _smc_reply "$(_smc_commands "$tool" "$object")" "$cur" ;;
	esac
}

# options as the usage text has them
_smc_options() {
	"$1" -h 2>/dev/null | sed -n 's/^  \(-[^ ]*\( -[^ ]*\)*\).*/\1/p' |
		sed 's/,//g; s/\[[^ ]*//g'
}

_smc_complete() {
	local tool=${1##*/} cur=$2 prev=$3

	COMPREPLY=()
	case $tool in
	smcr | smcd)
		_smc_object "$tool" "$cur" "$prev"
		return
		;;
	esac
	case $tool:$prev in
	smc_pnet:-I | smc_pnet:--interface | smc_chk:-i | smc_chk:--interface)
		_smc_reply "$(_smc_netdevs)" "$cur"
		;;
	smc_pnet:-D | smc_pnet:--ibdevice)
		_smc_reply "$(_smc_ibdevs)" "$cur"
		;;
	smc_pnet:-P | smc_pnet:--ibport)
		_smc_reply '1 2' "$cur"
		;;
	smc_pnet:-d | smc_pnet:--delete | smc_pnet:-s | smc_pnet:--show)
		_smc_reply "$(smc_pnet 2>/dev/null | cut -d' ' -f1 | sort -u)" "$cur"
		;;
	smcss:-s | smcss:--state)
		_smc_reply 'active closed listen init peerclosewait1 peerclosewait2
			appclosewait1 appclosewait2 appfinclosewait1
			peerfinclosewait peerabortwait processabort' "$cur"
		;;
	smcss:-m | smcss:--mode)
		_smc_reply 'smcr smcd tcp' "$cur"
		;;
	smctop:-s | smctop:--sort)
		_smc_reply 'rate sent received unsent address' "$cur"
		;;
	smc_rnics:-[ed] | smc_rnics:--enable | smc_rnics:--disable)
		_smc_reply "$(ls /sys/bus/pci/slots 2>/dev/null)" "$cur"
		;;
	smc_chk:-p | smc_chk:--port) ;;
	smc_chk:-C | smc_chk:--connect)
		mapfile -t COMPREPLY < <(compgen -A hostname -- "$cur")
		;;
	*)
		case $tool:$cur in
		*:-*) _smc_reply "$(_smc_options "$tool")" "$cur" ;;
		smc_chk:*)
			mapfile -t COMPREPLY < <(compgen -A hostname -- "$cur")
			;;
		esac
		;;
	esac
}

# cgroups, below the one that is written already
_smc_cgroups() {
	local at=${SMC_TOOLS_ROOT:-}/sys/fs/cgroup/

	mapfile -t COMPREPLY < <(cd "$at" 2>/dev/null && compgen -d -- "$1")
}

# smc_run: its options, then the command with its own completion
_smc_run() {
	local i

	for ((i = 1; i <= COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-r | -t) ((i++)) ;;
		--cgroup)
			if ((++i == COMP_CWORD)); then
				_smc_cgroups "$2"
				return
			fi
			;;
		-c)
			if ((++i == COMP_CWORD)); then
				mapfile -t COMPREPLY < \
					<(compgen -f -- "$2")
				return
			fi
			;;
		-*) ;;
		*)
			if declare -F _command_offset >/dev/null; then
				_command_offset "$i"
			elif ((i == COMP_CWORD)); then
				mapfile -t COMPREPLY < \
					<(compgen -c -- "${COMP_WORDS[i]}")
			fi
			return
			;;
		esac
	done
	case $3 in
	-r | -t) ;;
	*)
		_smc_reply '-c -d -r -t -T -v -h --cgroup --all --off --status
			--force' "$2"
		;;
	esac
}

complete -F _smc_complete smcr smcd smcss smctop smc_pnet smc_rnics smc_chk \
	smc_stats
complete -F _smc_run smc_run
