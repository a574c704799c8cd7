#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# layers.sh [BUILD-DIRECTORY] - does every file keep to its layer?
#
# Reads the comments "# layer N:", "# leaves:", "# control plane:" and
# "# module:" of Kbuild; a header belongs to the layer of the .c file of its
# name, or to the one whose comment block lists it after "headers:".  Fails on
# an #include of a higher layer, and, if a build directory is given, on a call
# of a function that a higher layer defines.  What is allowed beyond that is
# listed here, with its reason:
seams() {
	sed 's/#.*//' <<-'LIST'
	# file		what it may use		why
	include transport/loopback core/conn.h core/lgr.h core/buf.h	# embeds the core's objects
	include transport/rdma/* core/conn.h core/lgr.h core/buf.h	# embeds the core's objects
	LIST
}
# The seam is what xport.h declares: of all that lies above them transports use
# these functions and no others, and nothing but main.c uses a function of a
# transport: the core calls what struct smc_xport points to.
set -eu
cd "$(dirname "$0")/../.."

# lines "LAYER NAME" for objects (net/smc/ and .o removed) and listed headers
layer_list=$(awk '
	/^# layer [0-9]:/	{ layer = substr($3, 1, 1) }
	/^# leaves:/		{ layer = "leaf" }
	/^# control plane:/	{ layer = "control" }
	/^# module:/		{ layer = "module" }
	/^# headers:/		{ for (i = 3; i <= NF; i++) print layer, $i }
	/^smc(_diag)?-y/ {
		while (match($0, /[a-z0-9_\/]+\.o/)) {
			name = substr($0, RSTART, RLENGTH - 2)
			sub(/^net\/smc\//, "", name)
			print layer, name
			$0 = substr($0, RSTART + RLENGTH)
		}
	}
	/^$/ { }
' Kbuild)

# Names of the functions that a header declares: what stands before a "(" outside
# of comments, preprocessor lines and braces
declared() {
	awk '
		/^[[:space:]]*#/	{ next }
		{ text = text $0 "\n" }
		END {
			while ((at = index(text, "/*"))) {
				rest = substr(text, at + 2)
				text = substr(text, 1, at - 1) " " \
					substr(rest, index(rest, "*/") + 2)
			}
			n = split(text, c, "")
			for (i = 1; i <= n; i++) {
				if (c[i] == "{")
					depth++
				else if (c[i] == "}")
					depth--
				else if (depth)
					continue
				else if (c[i] ~ /[A-Za-z0-9_]/)
					word = word c[i]
				else if (c[i] == "(" && word ~ /^smc_/ && !inside++)
					print word
				else if (c[i] == ";")
					inside = 0
				if (c[i] !~ /[A-Za-z0-9_]/)
					word = ""
			}
		}'
}

files=$(git ls-files -co --exclude-standard net/smc | grep '\.[ch]$' |
	while read -r f; do [ ! -e "$f" ] || echo "$f"; done)

# shellcheck disable=SC2016
{
	echo "$layer_list" | sed 's/^/layer /'
	seams
	declared <net/smc/core/xport.h | sed 's/^/seam /'
	# shellcheck disable=SC2086
	grep -nE '^[[:space:]]*#[[:space:]]*include' $files |
		sed -E 's/^([^:]*):([0-9]+):.*include[[:space:]]*/inc \1 \2 /'
	if [ $# -gt 0 ]; then
		(cd "$1/net/smc" && find . -name '*.o' ! -name '*.mod.o') |
		sed 's,^\./,,' | sort | while read -r o; do
			[ -e "net/smc/${o%.o}.c" ] || continue
			nm "$1/net/smc/$o" | awk -v o="${o%.o}" '
				/ [TDRB] / { print "def", o, $NF }
				/ U smc_/ { print "use", o, $NF }'
		done
	fi
} | awk '
function fail(text) { print text; bad = 1 }
# layer of a file name below net/smc, without its extension
function layer_of(name, base) {
	if (name in layer)
		return layer[name]
	base = name
	sub(/\.[ch]$/, "", base)
	if (base in layer)
		return layer[base]
	if (base ~ /^transport\/rdma\//)
		return 1
	return "?"
}
function allowed(file, what,	i) {
	for (i = 1; i <= n_allow; i++)
		if (file ~ a_file[i] && what == a_what[i])
			return 1
	return 0
}
# may a file of layer l use one of layer m?
function below(l, m) {
	if (m == "leaf" || l == "module")
		return 1
	if (l == "leaf")
		return m == "0"
	if (m == "control" || m == "module")
		return l == m
	if (l == "control")
		return 1
	return m <= l
}
function resolve(from, name,	dir, path) {
	dir = from
	if (!sub(/\/[^\/]*$/, "/", dir))
		dir = ""
	path = dir name
	while (sub(/[^\/.]+\/\.\.\//, "", path))
		;
	if (!((path) in exists))
		path = name
	return path
}
function folder(name) { return name ~ /\// ? substr(name, 1, index(name, "/")) : name }

$1 == "layer" { layer[$3] = $2; next }
$1 == "seam" { seam[$2] = 1; next }
$1 == "include" {
	for (i = 3; i <= NF; i++) {
		n_allow++
		file = $2
		sub(/\*$/, ".*", file)	# transport/rdma/* or *
		a_file[n_allow] = "^" file "$"
		a_what[n_allow] = $i
	}
	next
}
$1 == "inc" { inc[++n_inc] = $0; f = $2; sub(/^net\/smc\//, "", f); next }
$1 == "def" { def[$3] = $2; next }
$1 == "use" { use[++n_use] = $0; next }

END {
	while (("git ls-files -co --exclude-standard net/smc" | getline f) > 0) {
		sub(/^net\/smc\//, "", f)
		exists[f] = 1
	}
	for (k = 1; k <= n_inc; k++) {
		split(inc[k], w, " ")
		from = w[2]
		sub(/^net\/smc\//, "", from)
		file = from
		sub(/\.[ch]$/, "", file)
		where = w[2] ":" w[3] ": "
		l = layer_of(from)
		if (l == "?") {
			if (!(from in told))
				fail(w[2] ": belongs to no layer of Kbuild")
			told[from] = 1
			continue
		}
		if (w[4] ~ /^</) {
			if (l == "0" && w[4] !~ /^<linux\/(types|errno|string|unaligned|smc_reason)\.h>$/)
				fail(where "layer 0 must not include " w[4])
			continue
		}
		name = w[4]
		gsub(/"/, "", name)
		to = resolve(from, name)
		m = layer_of(to)
		if (m == "?")
			fail(where name " belongs to no layer of Kbuild")
		else if (allowed(file, to))
			continue
		else if (m == "1" && l != "module" &&
			 folder(file) != folder(to) && file ".h" != to)
			fail(where "headers of transports are their own: " to)
		else if (l == "1" && m == "2")
			continue	# xport.h
		else if (!below(l, m))
			fail(where "layer " l " must not include " to " of layer " m)
	}
	for (k = 1; k <= n_use; k++) {
		split(use[k], w, " ")
		if (!(w[3] in def))
			continue
		l = layer_of(w[2])
		m = layer_of(def[w[3]])
		if (w[3] in seam && (l == "1" || l == "2"))
			continue
		if (m != "1" && below(l, m))
			continue
		if (m == "1" && (l == "module" ||
		    (l == "1" && folder(w[2]) == folder(def[w[3]]))))
			continue
		fail("net/smc/" w[2] ".c: layer " l " must not use " w[3] " of " def[w[3]] ".c, layer " m)
	}
	exit bad
}'
