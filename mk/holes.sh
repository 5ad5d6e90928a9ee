#!/bin/sh
# SPDX-License-Identifier: MIT
# Lists the known holes of an engine part's version.
#
# usage: holes.sh docker|runc VERSION
# Prints a line per hole: level, first version without it, what it is.
set -u
LC_ALL=C
export LC_ALL

# Component, first version that has the hole, first that does not, Debian's
# patched build of an older version or -, level, what it is.
holes () {
	fds="CVE-2024-21626: a session can reach the host's files"
	mounts="CVE-2025-31133, -52565, -52881: a hostile image can get out"
	dns="CVE-2024-29018: DNS leaves internal networks (not with NET=none)"
	authz="CVE-2024-41110: authorization plugins can be bypassed"
	cat <<-EOF
	runc   0      1.1.12  1.1.5+ds1-1+deb12u1 problem $fds
	runc   0      1.2.8   - warning $mounts
	runc   1.3.0  1.3.3   - warning $mounts
	docker 0      23.0.11 - warning $dns
	docker 24.0.0 25.0.5  - warning $dns
	docker 0      23.0.15 20.10.24+dfsg1-1+deb12u1 warning $authz
	docker 24.0.0 25.0.6  - warning $authz
	docker 26.0.0 26.1.5  - warning $authz
	docker 27.0.0 27.1.1  - warning $authz
	EOF
}

is_older () {
	test "$1" != "$2" &&
	    test "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1"
}

# The engine names the version without Debian's revision, which has the fixes.
full_version () {
	package=$1
	test "$package" != docker || package=docker.io
	installed=$(dpkg-query -W -f '${Version}' "$package" 2>/dev/null)
	case $installed in
	"$2"-*) echo "$installed" ;;
	*) echo "$2" ;;
	esac
}

# is_patched FULL DEBIAN_FIX
is_patched () {
	case $1 in
	"${2%%-*}"-*) ! is_older "$1" "$2" ;;
	*) return 1 ;;
	esac
}

if test $# -ne 2
then
	echo "usage: holes.sh docker|runc VERSION" >&2
	exit 64
fi
full=$(full_version "$1" "$2")
plain=${2#v}
plain=${plain%%[-+~]*}
holes | while read -r component from fixed debian level what
do
	if test "$component" != "$1" || is_older "$plain" "$from" ||
	    ! is_older "$plain" "$fixed" || is_patched "$full" "$debian"
	then
		continue
	fi
	echo "$level $fixed $1 $full has $what"
done
