# SPDX-License-Identifier: MIT
# Sourced by every TAP script.  Gives each script an empty directory of its
# own and prints the Test Anything Protocol.  $top is the project, $B the
# build directory whose programs are tested (tests run with it in PATH).
set -u
n=0
bad=0
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 99
B=${B:-$top/build}
case $B in /*) ;; *) B=$top/$B ;; esac
PATH=$B/bin:$PATH
export B PATH
work=$(mktemp -d "${TMPDIR:-/tmp}/fztest.XXXXXX") || exit 99
at_exit=:
trap 'eval "$at_exit"; cd / && rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
cd "$work" || exit 99

# is DESCRIPTION WANTED ACTUAL
is () {
	n=$((n + 1))
	if test "$2" = "$3"
	then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf '%s\n' "wanted: $2" "got:    $3" | sed 's/^/# /'
		bad=$((bad + 1))
	fi
}

# like DESCRIPTION EXTENDED-REGEX ACTUAL
like () {
	if printf '%s\n' "$3" | grep -Eq -e "$2"
	then
		is "$1" yes yes
	else
		is "$1" "something like $2" "$3"
	fi
}

# run COMMAND...: leaves $out, $err and $status for is()
# shellcheck disable=SC2034
run () {
	"$@" >.out 2>.err
	status=$?
	out=$(cat .out)
	err=$(cat .err)
}

# until_true TENTHS COMMAND...: waits for an event, never for a time
until_true () {
	tenths=$1
	shift
	while ! "$@" >/dev/null 2>&1
	do
		tenths=$((tenths - 1))
		test "$tenths" -gt 0 || return 1
		sleep 0.1
	done
}

# skip_all REASON: with STRICT=1 a skipped test is a failed test
skip_all () {
	if test -n "${STRICT:-}"
	then
		echo "1..1"
		echo "not ok 1 - $1"
		exit 1
	fi
	echo "1..0 # SKIP $1"
	exit 0
}

done_testing () {
	echo "1..$n"
	test "$bad" -eq 0
}
