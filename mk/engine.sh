#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes sure that a Docker Engine answers, and starts one where it may.
#
# usage: engine.sh [--check | --socket | --wanted]
#   --check   starts nothing; prints what is wrong and, below it, the fix
#   --socket  prints the path of the engine's socket
#   --wanted  true when an engine would have to be started here
# Exits 69 when no engine answers, 77 without permission, 78 for a DOCKER_HOST
# that cannot be used.
#
# DOCKER_HOST     unix:// and a path; another than the default is never started
# FZ_ENGINE_WAIT  seconds to wait for a started engine (60)
# FZ_ROOT         goes in front of every absolute path; for tests
set -u
LC_ALL=C
export LC_ALL
: "${FZ_ROOT:=}"
PATH=$PATH:$FZ_ROOT/usr/sbin:$FZ_ROOT/sbin
mode=${1:-start}
log=$FZ_ROOT/var/log/fuzzmill-dockerd.log
pidfile=$FZ_ROOT/var/run/docker.pid

# fail STATUS WHAT FIX
fail () {
	case $mode in
	--check) printf '%s\n' "$2" "$3" ;;
	start) printf '%s\n' "setup: $2" "  fix: $3" >&2 ;;
	esac
	exit "$1"
}

answers () {
	test -e "$sock" || return
	if command -v curl >/dev/null
	then
		curl -s -f -m 5 -o /dev/null --noproxy '*' \
		    --unix-socket "$sock" http://localhost/_ping
	else
		DOCKER_HOST=unix://$sock timeout 5 docker version \
		    >/dev/null 2>&1
	fi
}

fail_denied () {
	group=$(stat -c %G "$sock")
	fix="sudo usermod -aG $group $(id -un), log in again (as good as root)"
	test "$group" != root || fix="do it as root"
	fail 77 "no permission to use $sock" "$fix"
}

# A zombie, or another program that got the number, is no dockerd.
is_live_dockerd () {
	case $1 in
	'' | *[!0-9]*) return 1 ;;
	esac
	proc=$FZ_ROOT/proc/$1
	test "$(cat "$proc/comm" 2>/dev/null)" = dockerd &&
	    ! grep -q '^State:[[:space:]]*[ZX]' "$proc/status"
}

# True when no dockerd has the pid file (any more).
drop_stale_pidfile () {
	test -e "$pidfile" || return 0
	if is_live_dockerd "$(cat "$pidfile")"
	then
		return 1
	fi
	rm -f "$pidfile"
	echo "setup: removed stale $pidfile"
}

# Leaves the pid in $pid.  A long-lived daemon gets neither our descriptors (a
# jobserver, a lock) nor our environment (a key), only the proxies it may need.
start_dockerd () {
	set -- PATH="$PATH" HOME=/root
	for name in HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy \
	    no_proxy
	do
		value=
		eval "value=\${$name:-}"
		test -z "$value" || set -- "$@" "$name=$value"
	done
	env -i "$@" "$(command -v bash || echo sh)" -c \
	    "$(cat "$(dirname "$0")/detach.sh")" sh dockerd \
	    </dev/null >>"$log" 2>&1 &
	pid=$!
}

# fail_start WHAT: ends with what the engine said last
fail_start () {
	tail -n 15 "$log" 2>/dev/null | sed 's/^/  | /' >&2
	fail 69 "$1" "read $log, then make doctor"
}

# wait_ready [PID]: until the engine answers or process PID is gone
wait_ready () {
	limit=${FZ_ENGINE_WAIT:-60}
	end=$(($(date +%s) + limit))
	until answers
	do
		if test -n "${1:-}" && ! kill -0 "$1" 2>/dev/null
		then
			fail_start "dockerd ended before it answered"
		fi
		test "$(date +%s)" -lt "$end" ||
		    fail_start "no answer on $sock within $limit s"
		sleep 0.1
	done
}

start_engine () {
	if test -d "$FZ_ROOT/run/systemd/system"
	then
		systemctl start docker || fail 69 \
		    "systemctl start docker failed" "journalctl -u docker -n 30"
		wait_ready
		echo "setup: started docker (systemctl start docker)"
		return
	fi
	command -v dockerd >/dev/null ||
	    fail 69 "there is no dockerd" "apt-get install docker.io"
	if drop_stale_pidfile
	then
		start_dockerd
		wait_ready "$pid"
		echo "setup: started dockerd (log: $log)"
	else
		wait_ready
	fi
}

case ${DOCKER_HOST:-} in
'' | unix:///var/run/docker.sock | unix:///run/docker.sock)
	sock=$FZ_ROOT/var/run/docker.sock
	ours=1
	;;
unix:///*)
	sock=${DOCKER_HOST#unix://}
	ours=
	;;
*)
	fail 78 "DOCKER_HOST=$DOCKER_HOST: the engine must be on a unix socket" \
	    "unset DOCKER_HOST, or set it to unix:///path/of/docker.sock"
	;;
esac
case $mode in
--socket)
	echo "$sock"
	exit
	;;
start | --check | --wanted) ;;
*)
	echo "usage: engine.sh [--check | --socket | --wanted]" >&2
	exit 64
	;;
esac
if answers
then
	test "$mode" != --wanted
	exit
fi
test ! -e "$sock" || test -w "$sock" || fail_denied
test -n "$ours" || fail 69 "no engine answers on DOCKER_HOST=$DOCKER_HOST" \
    "start that engine, or unset DOCKER_HOST"
test "$mode" != --wanted || exit 0
test "$(id -u)" -eq 0 ||
    fail 77 "no engine answers on unix://$sock" "sudo make setup"
test "$mode" = start ||
    fail 69 "no engine answers on unix://$sock" "make setup"
# Two setups at once must not start two engines.
exec 9>"$FZ_ROOT/run/fuzzmill-engine.lock" && flock 9
answers || start_engine
