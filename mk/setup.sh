#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what a purpose lacks on this machine, then sees to an engine.
#
# usage: setup.sh demo|agent|check|bench
# Exits 69 when something cannot be had, 77 when only root could get it.
#
# B            directory that takes setup.log (build)
# DOCKER_HOST  see engine.sh
# FZ_ROOT      goes in front of every absolute path; for tests
set -u
LC_ALL=C
: "${FZ_ROOT:=}" "${B:=build}"
export LC_ALL FZ_ROOT
here=$(dirname "$0")
log=$B/setup.log

# Waits for another apt-get to end, and never removes a package, such as
# another vendor's engine, to make room.
apt () {
	DEBIAN_FRONTEND=noninteractive apt-get -q -y \
	    -o DPkg::Lock::Timeout=120 "$@" >>"$log" 2>&1 </dev/null
}

apt_install () {
	apt install --no-install-recommends --no-remove "$@"
}

apt_update () {
	echo "setup: updating the package lists"
	apt update
}

# choose A/B: the first if this Debian has it, else the last
choose () {
	if test "${1%%/*}" != "$1" &&
	    apt-cache show "${1%%/*}" 2>/dev/null | grep -q .
	then
		echo "${1%%/*}"
	else
		echo "${1##*/}"
	fi
}

# packages_of LIST: their names on one line
packages_of () {
	echo "$1" | while read -r _ _ package _
	do
		choose "$package"
	done | sort -u | paste -s -d ' '
}

# Where there is no systemd, docker.io would run its init script, and the
# script's failure would become the package's.
forbid_services () {
	policy=$FZ_ROOT/usr/sbin/policy-rc.d
	if test -d "$FZ_ROOT/run/systemd/system" || test -e "$policy"
	then
		return
	fi
	trap 'rm -f "$policy"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' HUP TERM
	printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy"
}

open_log () {
	mkdir -p "$B" && rm -f "$log" && : >"$log" || exit 73
	# After "sudo make setup" the user must still be able to build.
	chown --reference="$here" "$B" "$log"
}

# install_all LIST: together, or where that fails one by one, so that one bad
# name does not keep the others away
install_all () {
	updated=
	if ! ls "$FZ_ROOT"/var/lib/apt/lists/*_Packages* >/dev/null 2>&1
	then
		apt_update
		updated=1
	fi
	packages=$(packages_of "$1")
	echo "setup: installing $packages (log: $log)"
	forbid_services
	# shellcheck disable=SC2086
	apt_install $packages && return
	test -n "$updated" || apt_update
	for package in $packages
	do
		apt_install "$package"
	done
}

# report BEFORE AFTER: what became of each thing that was missing
report () {
	echo "$1" | while read -r purpose name package why
	do
		package=$(choose "$package")
		if echo "$2" | grep -q "^$purpose $name "
		then
			echo "setup: could not install $package ($why)" >&2
		else
			echo "setup: installed $package ($why)"
		fi
	done
}

# show LIST COLUMN
show () {
	echo "$1" | while read -r _ name package why
	do
		test "$2" = name || name=${package##*/}
		printf '  %-22s %s\n' "$name" "$why"
	done
}

# finish PURPOSE: what is no package.  squid is unpacked, never installed, so
# anybody can have it; root can help an apt-get that knows no package.
finish () {
	case $1 in
	demo | bench) ;;
	*)
		how=
		test "$1" != agent || how=--fetch
		sh "$here/squid.sh" $how >/dev/null || {
			test "$(id -u)" -eq 0 && open_log && apt_update &&
			    sh "$here/squid.sh" >/dev/null
		} || exit 69
		;;
	esac
	sh "$here/engine.sh"
	exit
}

case ${1:-} in
demo) target=setup ;;
agent) target=setup-agent ;;
check) target=setup-check ;;
bench) target=setup-bench ;;
*)
	echo "usage: setup.sh demo|agent|check|bench" >&2
	exit 64
	;;
esac
missing=$(sh "$here/needs.sh" "$1")
if test -z "$missing"
then
	finish "$1"
fi
if ! command -v apt-get >/dev/null
then
	echo "setup: not a Debian (no apt-get); install these yourself:" >&2
	show "$missing" name >&2
	exit 69
fi
if test "$(id -u)" -ne 0
then
	echo "setup: missing:" >&2
	show "$missing" package >&2
	echo "type: sudo make $target" >&2
	exit 77
fi
open_log
install_all "$missing"
left=$(sh "$here/needs.sh" "$1")
report "$missing" "$left"
if test -n "$left"
then
	tail -n 15 "$log" | sed 's/^/  | /' >&2
	echo "type: apt-get update && apt-get install $(packages_of "$left")" >&2
	exit 69
fi
finish "$1"
