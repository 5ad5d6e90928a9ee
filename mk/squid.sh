#!/bin/sh
# SPDX-License-Identifier: MIT
# Finds a squid that verifies certificates, or unpacks Debian's squid-openssl
# into a cache.  It is never installed: no service starts, no other squid goes.
#
# usage: squid.sh [--find | --fetch]
#   --find   fetches nothing
#   --fetch  gets the version apt-get knows now, also when an older is there
# Prints the path of the program.  Exits 69 when there is none, 78 when SQUID
# cannot be used.
#
# SQUID           a squid of your own, built with OpenSSL
# XDG_CACHE_HOME  place of the cache; without it HOME/.cache, and for root
#                 /var/cache, because squid's user may not look into /root
# FZ_ROOT         goes in front of /var; for tests
set -u
LC_ALL=C
export LC_ALL
mode=${1:-}
why='cannot be fetched; type apt-get update, then make setup-agent, or set SQUID=/path/of/squid'

fail () { # STATUS MESSAGE
	printf 'ERROR: %s\n' "$2" >&2
	exit "$1"
}

common=${FZ_ROOT:-}/var/cache/fuzzmill
if test -n "${XDG_CACHE_HOME:-}"
then
	cache=$XDG_CACHE_HOME/fuzzmill
elif test "$(id -u)" -eq 0
then
	cache=$common
else
	cache=${HOME:-/nonexistent}/.cache/fuzzmill
fi

# libraries_of PROGRAM: where those that came with it are, for the loader
libraries_of () {
	for dir in "${1%/usr/sbin/squid}"/usr/lib/*-linux-gnu*
	do
		test ! -d "$dir" || echo "$dir"
	done
}

# verdict_on PROGRAM: what is wrong with it, or nothing
verdict_on () {
	if test ! -x "$1" || test -d "$1"
	then
		echo 'there is no such program'
		return
	fi
	if ! said=$(LD_LIBRARY_PATH=$(libraries_of "$1") "$1" -v 2>&1)
	then
		echo "it does not run: $(echo "$said" | tail -n 1 | cut -c 1-200)"
		return
	fi
	case $said in
	*--with-openssl*) ;;
	*--with-gnutls*)
		echo 'it is built with GnuTLS and verifies no certificate' ;;
	*) echo 'it is not built with OpenSSL' ;;
	esac
}

# The newest in the cache that works; its libraries may have gone since.
find_cached () {
	for version in $(for place in "$cache" "$common"
	do
		printf '%s\n' "$place"/squid-[0-9]* | sed 's/.*\/squid-//'
	done | sort -ruV)
	do
		program=$cache/squid-$version/usr/sbin/squid
		test -x "$program" ||
		    program=$common/squid-$version/usr/sbin/squid
		if test -x "$program" && test -z "$(verdict_on "$program")"
		then
			echo "$program"
			return
		fi
	done
	return 1
}

# The version: the one apt-get would get now
candidate () {
	apt-cache policy squid-openssl 2>/dev/null |
	    sed -n 's/^ *Candidate: \([0-9][^ ]*\)$/\1/p' | tr -c 'A-Za-z0-9.+~\n-' _
}

# download PACKAGE...: into the current directory, and unpacked below new
download () {
	apt-get -q download "$@" >>log 2>&1 </dev/null || return
	mkdir -p debs
	for deb in ./*.deb
	do
		dpkg -x "$deb" new >>log 2>&1 && mv "$deb" debs/ || return
	done
}

lacks_libraries () {
	LD_LIBRARY_PATH=$(libraries_of new/usr/sbin/squid) \
	    ldd new/usr/sbin/squid 2>&1 | grep -q 'not found'
}

# The libraries that the unpacked packages depend on and nobody has.
wanted_libraries () {
	for deb in debs/*.deb
	do
		dpkg-deb -f "$deb" Depends
	done | tr ',' '\n' | sed 's/^ *\([^ :]*\).*/\1/' | sort -u |
	    grep '^lib' | grep -v -e '-perl$' | while read -r name
	do
		ls "debs/${name}"_*.deb >/dev/null 2>&1 ||
		    dpkg-query -W -f '${Status}' "$name" 2>/dev/null |
		    grep -q ' installed$' || echo "$name"
	done
}

# Complete or not at all: another fetch may be at the same work.
fetch_into () { # DIRECTORY; in an empty one of our own
	download squid-openssl squid-common squid-langpack || return
	rounds=5
	while lacks_libraries
	do
		rounds=$((rounds - 1))
		names=$(wanted_libraries)
		test "$rounds" -gt 0 && test -n "$names" || return
		# shellcheck disable=SC2086 # names of packages
		download $names || return
	done
	test -z "$(verdict_on "$PWD/new/usr/sbin/squid")" || return
	chmod -R u+w,go-w,a+rX new || return
	mv -T new "$1" 2>>log || test -x "$1/usr/sbin/squid"
}

# In a directory that anyone may enter: apt-get's own user writes there.
fetch () {
	version=$(candidate)
	test -n "$version" || return
	mkdir -p "$cache" || return
	place=$cache/squid-$version
	test ! -x "$place/usr/sbin/squid" ||
	    test -n "$(verdict_on "$place/usr/sbin/squid")" || return 0
	echo "setup: fetching squid-openssl $version into $place" >&2
	stage=$(mktemp -d "$cache/.squid.XXXXXX") || return
	trap 'rm -rf "$stage"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' HUP TERM
	test ! -e "$place" || mv "$place" "$stage/broken"
	if ! (cd "$stage" && fetch_into "$place")
	then
		tail -n 5 "$stage/log" 2>/dev/null | sed 's/^/  | /' >&2
		return 1
	fi
}

case $mode in
'' | --find | --fetch) ;;
*)
	echo 'usage: squid.sh [--find | --fetch]' >&2
	exit 64
	;;
esac
if test -n "${SQUID:-}"
then
	trouble=$(verdict_on "$SQUID")
	test -z "$trouble" || fail 78 \
	    "SQUID=$SQUID: $trouble; leave SQUID empty to have squid-openssl fetched"
	echo "$SQUID"
	exit
fi
if test "$mode" != --fetch && find_cached
then
	exit
fi
test "$mode" != --find ||
    fail 69 "squid: none in $cache; type make setup-agent"
# An older one that works is better than none.
(umask 022; fetch)
find_cached || fail 69 "squid-openssl: $why"
