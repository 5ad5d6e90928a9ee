# SPDX-License-Identifier: MIT
# Sourced by the scripts around squid: who runs, what listens, what it said.
# $dir is the proxy's directory.
# shellcheck disable=SC2154,SC2034

fail () { # STATUS MESSAGE
	printf 'ERROR: %s\n' "$2" >&2
	exit "$1"
}

# start_time PID: in ticks since boot; a number used again has another
start_time () {
	sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20
}

# is_alive PID: a zombie that nobody has waited for is not
is_alive () {
	case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in
	[ZX]* | '') return 1 ;;
	esac
}

# live_pid FILE: the process of a pid file, if it is still the same one
live_pid () {
	test -e "$dir/$1" && read -r pid began <"$dir/$1" || return
	case $pid,$began in
	*[!0-9,]* | ,* | *,) return 1 ;;
	esac
	test "$(start_time "$pid")" = "$began" && is_alive "$pid" &&
	    echo "$pid"
}

is_up () {
	live_pid pid >/dev/null
}

# squid's own last reason to end, in its log after byte $log_from; the log
# may quote what a session sent
log_from=0
last_words () {
	tail -c "+$((log_from + 1))" "$dir/cache.log" 2>/dev/null |
	    cat - "$dir/supervisor.log" |
	    grep -a -e 'FATAL:' -e 'unrecognized:' -e 'assertion failed' |
	    tail -n 1 |
	    tr -c '[:print:]\n' '?' | sed 's/^[0-9 :/]*| //' | cut -c 1-200
}

# True when squid could not look up the API's name when it last tried.  It
# answers 502 from then on, and asks again after an hour, or on HUP.
is_lost () {
	api=$(sed -n 's/^cache_peer \([^ ]*\) .*originserver.*/\1/p' \
	    "$dir/squid.conf")
	test -n "$api" || return
	case $(tail -c 65536 "$dir/cache.log" | grep -a \
	    -e "Configuring Parent $api/" -e "DNS lookup for '$api' failed" \
	    -e "No IP address found for '$api'" | tail -n 1) in
	*Configuring* | '') return 1 ;;
	esac
}

# The variable that the policy's api line names.
key_name () {
	sed -n 's/#.*//; s/^[[:space:]]*api[[:space:]].*[[:space:]]key=\([A-Z_][A-Z0-9_]*\).*/\1/p' \
	    "$POLICY"
}

# ports_of CONFIGURATION: those it listens on
ports_of () {
	sed -n 's/^http_port 127\.0\.0\.1:\([0-9]*\).*/\1/p' "$1"
}

# listeners PORT: address in hexadecimal and uid of each, IPv6 too
listeners () {
	awk -v port="$(printf %04X "$1")" '
	$4 == "0A" && substr($2, length($2) - 3) == port {
		print substr($2, 1, length($2) - 5), $8
	}' /proc/net/tcp /proc/net/tcp6 2>/dev/null
}

# True when squid, and nobody else, listens on all its ports on loopback.
listens () {
	for port in $(ports_of "$dir/squid.conf")
	do
		test "$(listeners "$port")" = "0100007F $squid_uid" || return
	done
}

# until_listens TENTHS: while there is a supervisor
until_listens () {
	tenths=$1
	until live_pid squid.pid >/dev/null && listens
	do
		tenths=$((tenths - 1))
		test "$tenths" -gt 0 && test ! -e "$dir/gave-up" || return
		sleep 0.1
	done
}

# Who squid is: never root.  To say how it is doing, nobody has to exist.
if test "$(id -u)" -eq 0
then
	squid_user=proxy
	squid_uid=$(id -u proxy 2>/dev/null) || test "${1:-}" = status ||
	    fail 69 'user proxy: there is none to run squid as; type adduser --system --group proxy'
	squid_gid=$(id -g proxy 2>/dev/null)
else
	squid_user=$(id -un)
	squid_uid=$(id -u)
	squid_gid=$(id -g)
fi
