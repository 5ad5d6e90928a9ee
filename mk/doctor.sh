#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints everything on this machine that would hinder a campaign, with fixes.
#
# usage: doctor.sh
# Exits 1 when there is a problem; warnings alone are 0.
#
# WORKERS MEMORY RUNDIR TARGET  as for make
# POLICY                        empty: no agent needs a network
# PROXY_DIR GATE_PORT PROXY_PORT SQUID  see proxy.sh
# B                             build directory, for netpolicy
# DOCKER_HOST                   see engine.sh
# FZ_ROOT                       goes in front of absolute paths; for tests
set -u
LC_ALL=C
: "${FZ_ROOT:=}" "${B:=build}"
export LC_ALL FZ_ROOT
here=$(dirname "$0")
rundir=${RUNDIR:-fuzz/runs}
workers=${WORKERS:-3}
memory=${MEMORY:-2g}
policy=${POLICY:-}
problems=0
warnings=0

# say problem|warning|note WHAT FIX
say () {
	printf '%s: %s\n  fix: %s\n' "$1" "$2" "$3"
	case $1 in
	problem) problems=$((problems + 1)) ;;
	warning) warnings=$((warnings + 1)) ;;
	esac
}

# count NUMBER NOUN
count () {
	case $1 in
	1) echo "1 $2" ;;
	*) echo "$1 $2s" ;;
	esac
}

check_packages () {
	missing=$(sh "$here/needs.sh" check)
	extra=
	level=warning
	test -z "$policy" || level=problem
	while read -r purpose name package why
	do
		case $purpose in
		demo) say problem "$name is missing ($why)" \
		    "sudo make setup, or apt-get install ${package##*/}" ;;
		agent) say $level "$name is missing ($why)" \
		    "sudo make setup-agent, or apt-get install ${package##*/}" ;;
		check) extra="$extra $name" ;;
		esac
	done <<-EOF
	$missing
	EOF
	test -z "$extra" ||
	    say warning "missing for make check:$extra" "sudo make setup-check"
}

# check_free WHAT FREE LOW LOWEST FIX
check_free () {
	case $2 in
	'' | *[!0-9]*) return ;;
	esac
	if test "$2" -lt "$4"
	then
		say problem "$1" "$5"
	elif test "$2" -lt "$3"
	then
		say warning "$1" "$5"
	fi
}

# check_disk DIR WHOSE FIX: against 5 and 1 GB, 100,000 and 10,000 files
check_disk () {
	dir=$1
	while test ! -d "$dir"
	do
		dir=$(dirname "$dir")
	done
	free=$(df -P -k "$dir" | awk 'NR == 2 { print $4 }')
	check_free "$((${free:-0} / 1000)) MB left for $2 on the disk of $1" \
	    "$free" 5000000 1000000 "$3"
	# File systems without a fixed number of inodes show 0 of 0.
	free=$(df -P -i "$dir" | awk 'NR == 2 && $2 > 0 { print $4 }')
	check_free "$free inodes left for $2 on the disk of $1" \
	    "$free" 100000 10000 "$3"
}

# check_holes COMPONENT VERSION
check_holes () {
	found=$(sh "$here/holes.sh" "$1" "$2")
	test -n "$found" || return
	while read -r level fixed what
	do
		say "$level" "$what" "upgrade $1 to $fixed or later"
	done <<-EOF
	$found
	EOF
}

# get PATH: the engine's answer with its headers
get () {
	curl -s -i -m 10 --noproxy '*' --unix-socket "$sock" \
	    "http://localhost$1" | tr -d '\r'
}

# version_of COMPONENT: as the engine names it
version_of () {
	echo "$versions" |
	    sed -n "s/.*\"Name\":\"$1\",\"Version\":\"\([^\"]*\)\".*/\1/p"
}

check_engine () {
	if ! trouble=$(sh "$here/engine.sh" --check)
	then
		say problem "$(echo "$trouble" | sed -n 1p)" \
		    "$(echo "$trouble" | sed -n 2p)"
		return
	fi
	command -v curl >/dev/null || return
	sock=$(sh "$here/engine.sh" --socket)
	api=$(get /_ping | sed -n 's/^[Aa][Pp][Ii]-[Vv]ersion: *//p')
	case $api in
	1.4[1-9] | 1.[5-9][0-9] | 1.[1-9][0-9][0-9] | [2-9].*) ;;
	*) say problem "the engine speaks API ${api:-unknown}, older than 1.41" \
	    "upgrade it to Docker 20.10 or later" ;;
	esac
	versions=$(get /version)
	check_holes docker "$(version_of Engine)"
	check_holes runc "$(version_of runc)"
	root=$(get /info | sed -n 's/.*"DockerRootDir":"\([^"]*\)".*/\1/p')
	test ! -d "${root:-/nonexistent}" ||
	    check_disk "$root" "docker's images" "docker system prune"
}

# Prints what all workers may take and what is there, in GiB, and how many
# workers fit; fails on words that are no numbers.
plan_memory () {
	echo "$workers $memory" | awk -v free="$1" '
	length($0) > 18 || $1 !~ /^[0-9]+$/ { exit 1 }
	$2 !~ /^[0-9]+[bkmgBKMG]?$/ { exit 1 }
	{
		kib["k"] = 1; kib["m"] = 1024; kib["g"] = 1048576
		unit = tolower(substr($2, length($2)))
		one = ($2 + 0) * (unit in kib ? kib[unit] : 1 / 1024)
		if (one == 0)
			exit 1
		printf "%.1f %.1f %d\n", $1 * one / kib["g"], \
		    free / kib["g"], free / one
	}'
}

check_memory () {
	free=$(awk '/^MemAvailable:/ { print $2 }' "$FZ_ROOT/proc/meminfo")
	if ! plan=$(plan_memory "$free")
	then
		say problem "WORKERS=$workers MEMORY=$memory: not a number and a size" \
		    "make WORKERS=3 MEMORY=2g doctor"
		return
	fi
	fit=${plan##* }
	plan=${plan% *}
	test "$fit" -lt "$workers" || return
	fix="WORKERS=$fit, or a smaller MEMORY"
	test "$fit" -gt 0 || fix="a smaller MEMORY"
	what="$workers workers of $memory may take ${plan% *} GiB"
	say problem "$what, ${plan#* } GiB are free" "$fix"
}

check_cgroups () {
	groups=$FZ_ROOT/sys/fs/cgroup
	for name in memory pids cpu
	do
		test -d "$groups/$name" ||
		    grep -q -w "$name" "$groups/cgroup.controllers" \
		    2>/dev/null ||
		    say problem "no cgroup controller $name: its limit cannot be set" \
		    "mount it, or boot with cgroup_enable=$name"
	done
}

check_squid () {
	trouble=$(sh "$here/squid.sh" --find 2>&1 >/dev/null) && return
	trouble=${trouble#ERROR: }
	case $trouble in
	*'; '*) say problem "${trouble%%; *}" "${trouble#*; }" ;;
	*) say problem "$trouble" "make setup-agent" ;;
	esac
}

# key_of POLICY: the variable its api line names
key_of () {
	sed -n 's/^[[:space:]]*api[[:space:]].*[[:space:]]key=\([A-Z_][A-Z0-9_]*\).*/\1/p' "$1"
}

# check_port NAME PORT: free, as long as no proxy of ours runs
check_port () {
	owner=$(awk -v port="$(printf %04X "$2")" '
	$4 == "0A" && substr($2, length($2) - 3) == port { print $8; exit }
	' "$FZ_ROOT/proc/net/tcp" "$FZ_ROOT/proc/net/tcp6" 2>/dev/null)
	test -z "$owner" || say problem \
	    "port $2: another program (uid $owner) listens there" \
	    "set $1 to a free port (conf/local.mk keeps it)"
}

check_network () {
	test -n "$policy" || return
	check_squid
	if test ! -r "$policy"
	then
		say problem "POLICY=$policy: cannot be read" \
		    "write it, or leave POLICY out"
		return
	fi
	if test -x "$B/bin/netpolicy" &&
	    ! trouble=$("$B/bin/netpolicy" lint "$policy" 2>&1)
	then
		say problem "$(echo "$trouble" | head -n 1)" "edit $policy"
	fi
	case $(sh "$here/proxy.sh" status) in
	'proxy  up'*) return ;;
	esac
	check_port GATE_PORT "${GATE_PORT:-8080}"
	check_port PROXY_PORT "${PROXY_PORT:-3128}"
	for name in $(key_of "$policy")
	do
		value=
		eval "value=\${$name:-}"
		test -n "$value" || say note "$name is not set" \
		    "export $name=... before make proxy-up"
	done
}

check_packages
check_engine
check_network
check_memory
check_disk "$rundir" "runs" "make room there, or set RUNDIR elsewhere"
check_cgroups
test -z "${TARGET:-}" || test -e "$TARGET" ||
    say warning "TARGET=$TARGET does not exist" \
    "set it to the directory to fuzz (conf/local.mk keeps it)"
case $problems,$warnings in
0,0) echo "no problems" ;;
0,*) echo "no problems, $(count "$warnings" warning)" ;;
*) echo "$(count "$problems" problem), $(count "$warnings" warning)" ;;
esac
test "$problems" -eq 0
