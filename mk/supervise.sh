# SPDX-License-Identifier: MIT
# Keeps squid running until it is told to end.  Started by proxy.sh, with an
# empty environment and no descriptors of anybody else.
#
# usage: supervise.sh DIRECTORY COMMAND...
# Leaves in DIRECTORY: pid and squid.pid (number and start time of the
# process), restarts (how often), gave-up (why, when COMMAND cannot live).
set -u
dir=$1
shift
# shellcheck source=mk/proxy-lib.sh
. "$(dirname "$0")/proxy-lib.sh"

# A life shorter than this many seconds is a failed start; after so many in a
# row another try would only burn time.
short=2
most=5

# remember FILE PID
remember () {
	echo "$2 $(start_time "$2")" >"$dir/$1.new" &&
	    mv "$dir/$1.new" "$dir/$1"
}

# A trap interrupts wait without an end of the child.
wait_for_child () {
	while kill -0 "$child" 2>/dev/null
	do
		wait "$child"
		ended=$?
	done
}

give_up () {
	reason=$(last_words)
	printf '%s\n' "${reason:-exit status $ended}" >"$dir/gave-up.new" &&
	    mv "$dir/gave-up.new" "$dir/gave-up"
	rm -f "$dir/squid.pid" "$dir/pid"
	exit 1
}

keep_running () { # COMMAND...
	restarts=0
	failures=0
	while :
	do
		test -z "$stopping" || exit 0
		began=$(date +%s)
		"$@" &
		child=$!
		remember squid.pid "$child"
		# The order to end may have come between the two lines above.
		test -z "$stopping" || kill -INT "$child" 2>/dev/null
		wait_for_child
		test -z "$stopping" || exit 0
		echo "$(date '+%F %T') squid $child ended with status $ended"
		failures=$((failures + 1))
		test $(($(date +%s) - began)) -lt "$short" || failures=0
		test "$failures" -lt "$most" || give_up
		restarts=$((restarts + 1))
		echo "$restarts" >"$dir/restarts"
		sleep 0.3
	done
}

# Looks after the API's name as long as we live; each HUP fills squid's log.
keep_found () {
	pause=5
	while sleep "$pause" && is_alive $$
	do
		if ! is_lost || ! squid=$(live_pid squid.pid)
		then
			pause=5
			continue
		fi
		echo "$(date '+%F %T') the API's name was not found; HUP"
		kill -HUP "$squid"
		test "$pause" -ge 20 || pause=$((pause * 2))
	done
}

# Everything in our group, which is our own: keep_found and its sleep.
take_along () {
	trap '' TERM
	test "$(sed 's/.*) //' "/proc/$$/stat" | cut -d ' ' -f 3)" != $$ ||
	    kill -TERM 0
}

child=
ended=
stopping=
# On INT squid ends at once; on TERM it would wait for open connections.
trap 'stopping=1; test -z "$child" || kill -INT "$child" 2>/dev/null' TERM
trap '' HUP INT
log_from=$(stat -c %s "$dir/cache.log")
remember pid $$
trap take_along EXIT
keep_found &
keep_running "$@"
