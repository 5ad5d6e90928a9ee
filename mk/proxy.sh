#!/bin/sh
# SPDX-License-Identifier: MIT
# squid between the sessions and the world: one supervised process on this
# host, on loopback, that holds the key.
#
# usage: proxy.sh up|check|reload|log|status|down
# Exits 64 for a wrong setting, 69 when it cannot run, 77 when the API refuses
# the key, 78 for a bad policy or a missing key.
#
# POLICY      who may be reached (conf/policy.conf)
# PROXY_DIR   what it reads and writes (/run/fuzzmill-proxy, or below HOME)
# GATE_PORT   of the API's gate (8080)
# PROXY_PORT  for CONNECT (3128); the next one is used too
# PROXY_CA    a CA file in place of the system's
# SQUID       see squid.sh
# PROXY_PROBE body of one free request that check sends to the API
# RUNDIR ALL  for log: whose requests; 1 = also those that were let through
# B           build directory, for netpolicy
set -u
LC_ALL=C
umask 077
here=$(cd "$(dirname "$0")" && pwd) || exit
: "${POLICY:=conf/policy.conf}" "${GATE_PORT:=8080}" "${PROXY_PORT:=3128}"
: "${PROXY_CA:=}" "${SQUID:=}" "${RUNDIR:=fuzz/runs}" "${ALL:=}" "${B:=build}"
if test -z "${PROXY_DIR:-}"
then
	PROXY_DIR=${HOME:-/nonexistent}/.cache/fuzzmill/proxy
	test "$(id -u)" -ne 0 || PROXY_DIR=/run/fuzzmill-proxy
fi
export LC_ALL POLICY PROXY_DIR
dir=$PROXY_DIR
netpolicy=$B/bin/netpolicy
# shellcheck source=mk/proxy-lib.sh
. "$here/proxy-lib.sh"

# check_port NAME VALUE
check_port () {
	case $2 in
	'' | *[!0-9]* | 0* | ??????*) ;;
	*) test "$2" -lt 1024 || test "$2" -gt 65534 || return 0 ;;
	esac
	fail 64 "$1=$2: not a port from 1024 to 65534"
}

check_settings () {
	case $dir in
	/*[!A-Za-z0-9._/+@~-]* | [!/]* | /)
		fail 64 "PROXY_DIR=$dir: an absolute path of letters, digits and ._/+@~- only" ;;
	esac
	check_port GATE_PORT "$GATE_PORT"
	check_port PROXY_PORT "$PROXY_PORT"
	case $GATE_PORT in
	"$PROXY_PORT" | $((PROXY_PORT + 1)))
		fail 64 "GATE_PORT=$GATE_PORT: PROXY_PORT=$PROXY_PORT takes that and the next one" ;;
	esac
	test -z "$PROXY_CA" || test -r "$PROXY_CA" ||
	    fail 66 "PROXY_CA=$PROXY_CA: cannot be read"
	test -x "$netpolicy" || fail 69 "$netpolicy is not built; type make"
	"$netpolicy" lint "$POLICY" >/dev/null || exit
	if ! grep -q -E '^[[:space:]]*(api|allow)[[:space:]]' "$POLICY"
	then
		echo "proxy: $POLICY has neither api nor allow; none is needed"
		exit 0
	fi
}

# Others may pass through, so that squid finds its files, and see nothing.
open_dir () {
	if ! mkdir -p "$dir" || ! chmod 711 "$dir"
	then
		fail 73 "PROXY_DIR=$dir: cannot be made; set another"
	fi
	test "$(stat -c %u "$dir")" = "$(id -u)" ||
	    fail 77 "PROXY_DIR=$dir: belongs to $(stat -c %U "$dir"); set another"
	exec 9>"$dir/.lock" || exit 73
	flock -w 60 9 || fail 75 "$dir: another proxy-up or proxy-down is at work there"
}

# The words that start $squid: with its user's rights, an empty environment,
# and the libraries that came with it.  It dies with its supervisor.
squid_command () {
	set -- --no-new-privs --pdeathsig TERM
	test "$(id -u)" -ne 0 || set -- "$@" --reuid="$squid_uid" \
	    --regid="$squid_gid" --clear-groups --inh-caps=-all \
	    --bounding-set=-all
	root=${squid%/usr/sbin/squid}
	libraries=
	for path in "$root"/usr/lib/*-linux-gnu*
	do
		test ! -d "$path" || libraries=$path
	done
	echo "setpriv $* env -i PATH=/usr/bin:/bin LD_LIBRARY_PATH=$libraries $squid"
}

have_squid () {
	squid=$(SQUID=$SQUID sh "$here/squid.sh") || exit
	case $squid in
	/*[!A-Za-z0-9._/+@~-]* | [!/]*)
		fail 78 "SQUID=$squid: an absolute path of letters, digits and ._/+@~- only" ;;
	esac
	command=$(squid_command)
	# shellcheck disable=SC2086 # words
	$command -v >/dev/null 2>&1 ||
	    fail 77 "$squid: user $squid_user may not run it; set SQUID or XDG_CACHE_HOME to a place that user can reach"
}

# own FILE...: for squid alone
own () {
	chmod 600 "$@" && chown "$squid_uid:$squid_gid" "$@" || exit 73
}

# keep_key DIRECTORY: without one in this shell, the proxy's own is meant
keep_key () {
	name=$(key_name)
	eval "test -z \"\${$name:-}\"" && test -e "$dir/key.conf" &&
	    test "$(cat "$dir/key.name" 2>/dev/null)" = "$name" &&
	    cp -p "$dir/key.conf" "$1/key.conf"
}

# write_key DIRECTORY: from the environment, which then forgets it
write_key () {
	rm -f "$1/key.conf"
	key_name >"$1/key.name"
	keep_key "$1" || "$netpolicy" gen -t key "$POLICY" >"$1/key.conf" || {
		status=$?
		rm -f "$1/key.conf"
		exit "$status"
	}
	forget_key
}

forget_key () {
	for name in $(key_name) \
	    ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN
	do
		unset "$name"
	done
}

# write_conf DIRECTORY FILE: squid.conf for that place
write_conf () {
	root=${squid%/usr/sbin/squid}
	"$netpolicy" gen -t squid --dir "$1" --gate-port "$GATE_PORT" \
	    --proxy-port "$PROXY_PORT" ${PROXY_CA:+--ca "$PROXY_CA"} \
	    ${root:+--squid-root "$root"} "$POLICY" >"$2" || exit
	chmod 644 "$2"
}

# The one that sessions have goes on, whatever happens to squid.
write_token () {
	token=$(cat "$dir/token" 2>/dev/null)
	test "${#token}" -eq 64 || token=$(od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n')
	test "${#token}" -eq 64 || fail 71 '/dev/urandom gives no token'
	echo "$token" >"$dir/token"
	echo "acl token req_header X-Api-Key ^$token\$" >"$dir/token.conf"
	own "$dir/token.conf"
}

# Never shown to anybody: squid must have one to look at a ClientHello.
write_certificate () { # DIRECTORY
	if test -e "$1/peek.pem" || ! grep -q 'peek\.pem' "$1/squid.conf"
	then
		return
	fi
	openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=peek \
	    -keyout "$1/peek.key" -out "$1/peek.crt" >"$1/openssl.log" 2>&1 ||
	    fail 69 "openssl made no certificate: $(tail -n 1 "$1/openssl.log")"
	cat "$1/peek.key" "$1/peek.crt" >"$1/peek.pem" && own "$1/peek.pem"
	rm -f "$1/peek.key" "$1/peek.crt" "$1/openssl.log"
}

# What it shares in memory has this name; another squid's is "squid".
service () {
	echo "fuzzmill$(echo "$dir" | cksum | cut -d ' ' -f 1)"
}

# squid dies of a bad configuration, so it is asked before it has to live
# with it.  parse DIRECTORY
parse () {
	# shellcheck disable=SC2086 # words
	said=$($command -k parse -f "$1/squid.conf" -n "$(service)" 2>&1) && return
	fail 70 "squid refuses the configuration: $(echo "$said" |
	    grep -a -m 1 -e FATAL -e ERROR | sed 's/.*| //' | cut -c 1-200)"
}

# is_same: what is running is what would be started now
is_same () {
	mkdir -p "$dir/next" && write_conf "$dir" "$dir/next/squid.conf"
	cmp -s "$dir/next/squid.conf" "$dir/squid.conf" || return
	# Without a key in this shell, the proxy's own is meant.
	"$netpolicy" gen -t key "$POLICY" >"$dir/next/key.conf" 2>/dev/null ||
	    return 0
	cmp -s "$dir/next/key.conf" "$dir/key.conf"
}

# need_free NAME PORT...: a taken one is named with another to type
need_free () {
	name=$1
	shift
	for port in "$@"
	do
		owner=$(listeners "$port" | sed -n '1s/.* //p')
		test -n "$owner" || continue
		other=$((port + 10000))
		test "$other" -lt 65000 || other=$((port - 10000))
		fail 69 "port $port: another program (user $(id -un "$owner" 2>/dev/null || echo "$owner")) listens there; put $name = $other into conf/local.mk"
	done
}

need_ports () {
	for wanted in $(ports_of "$dir/squid.conf")
	do
		case $wanted in
		"$GATE_PORT") need_free GATE_PORT "$wanted" ;;
		*) need_free PROXY_PORT "$PROXY_PORT" $((PROXY_PORT + 1)) ;;
		esac
	done
}

# A log goes on where it was: runs know their part of it by offset.
start () {
	for log in access.log cache.log
	do
		touch "$dir/$log" && own "$dir/$log"
	done
	log_from=$(stat -c %s "$dir/cache.log")
	rm -f "$dir/gave-up" "$dir/pid" "$dir/squid.pid"
	echo 0 >"$dir/restarts"
	echo "$squid" >"$dir/squid"
	sha256sum <"$POLICY" | cut -d ' ' -f 1 >"$dir/policy.sha256"
	# shellcheck disable=SC2086 # words
	env -i PATH="$PATH" HOME=/ "$(command -v bash || echo sh)" -c \
	    "$(cat "$here/detach.sh")" sh sh "$here/supervise.sh" "$dir" \
	    $command -N -f "$dir/squid.conf" -n "$(service)" \
	    </dev/null >"$dir/supervisor.log" 2>&1 &
	until_listens 150 && return
	reason=$(cat "$dir/gave-up" 2>/dev/null || last_words)
	stop
	fail 69 "squid did not start: ${reason:-no answer within 15 s}; read $dir/cache.log"
}

# wait_gone PID TENTHS
wait_gone () {
	tenths=$2
	while is_alive "$1"
	do
		tenths=$((tenths - 1))
		test "$tenths" -gt 0 || return
		sleep 0.1
	done
}

# Ends both and forgets the key.  The logs stay, and the token, which opens
# nothing but this proxy: sessions may outlive it.
stop () {
	squid_pid=$(live_pid squid.pid)
	if supervisor=$(live_pid pid)
	then
		kill -TERM "$supervisor" 2>/dev/null
		wait_gone "$supervisor" 80 || kill -KILL "$supervisor" 2>/dev/null
	fi
	if test -n "$squid_pid" && test "$(live_pid squid.pid)" = "$squid_pid"
	then
		wait_gone "$squid_pid" 20 || kill -KILL "$squid_pid" 2>/dev/null
		wait_gone "$squid_pid" 50
	fi
	rm -rf "$dir/next"
	for file in key.conf key.name token.conf peek.pem squid.conf \
	    policy.sha256 pid squid.pid restarts gave-up squid
	do
		rm -f "$dir/$file"
	done
}

say_other () {
	ports=$(ports_of "$dir/squid.conf" | paste -s -d ' ')
	case " $ports " in
	*" $GATE_PORT "* | *" $PROXY_PORT "*)
		fail 75 "proxy: up with another policy or key; type make POLICY=$POLICY proxy-reload" ;;
	esac
	fail 75 "proxy: up on other ports ($ports); put GATE_PORT and PROXY_PORT into conf/local.mk, or type make proxy-down"
}

up () {
	check_settings
	open_dir
	if is_up
	then
		squid=$(cat "$dir/squid")
		is_same
		same=$?
		rm -rf "$dir/next"
		test "$same" -eq 0 || say_other
		echo 'proxy: already up'
		exit 0
	fi
	stop
	trap 'stop' EXIT
	trap 'exit 130' INT
	trap 'exit 143' HUP TERM
	write_key "$dir"
	own "$dir/key.conf"
	have_squid
	write_conf "$dir" "$dir/squid.conf"
	need_ports
	write_token
	write_certificate "$dir"
	parse "$dir"
	start
	trap - EXIT
	echo "proxy: up on 127.0.0.1, ports $(ports_of "$dir/squid.conf" | paste -s -d ' ')"
}

need_up () {
	test -d "$dir" && is_up && return
	test ! -s "$dir/gave-up" || fail 69 \
	    "proxy: squid gave up ($(cat "$dir/gave-up")); type make proxy-up"
	fail 69 'proxy: not running; type make proxy-up'
}

# Running sessions know the ports.
need_same_ports () {
	for port in $(ports_of "$1")
	do
		ports_of "$dir/squid.conf" | grep -q -x "$port" && continue
		case $port in
		"$GATE_PORT") fail 64 "GATE_PORT=$port: the running proxy has another; type make proxy-down proxy-up" ;;
		esac
		need_free PROXY_PORT "$port"
	done
}

# marks: how often squid has opened its ports, by its log
marks () {
	grep -a -c 'Accepting .* connections at' "$dir/cache.log"
}

# True when squid has read its configuration since $marks, or is a new one.
is_reread () {
	test "$(live_pid squid.pid)" != "$old" ||
	    test "$(marks)" -ge "$enough"
}

reload_squid () {
	until_listens 50
	old=$(live_pid squid.pid) || fail 69 'proxy: squid is not running; type make proxy-check'
	enough=$(($(marks) + $(ports_of "$dir/squid.conf" | wc -l)))
	kill -HUP "$old"
	tenths=150
	until is_reread
	do
		tenths=$((tenths - 1))
		test "$tenths" -gt 0 || fail 69 "proxy: squid $old does not read its configuration; type make proxy-down proxy-up"
		sleep 0.1
	done
	until_listens 100 || fail 69 "proxy: squid does not listen after the reload; read $dir/cache.log"
}

reload () {
	check_settings
	test -d "$dir" || need_up
	open_dir
	need_up
	next=$dir/next
	rm -rf "$next"
	mkdir "$next" && chmod 711 "$next" || exit 73
	trap 'rm -rf "$next"' EXIT
	write_key "$next"
	own "$next/key.conf"
	squid=$(cat "$dir/squid")
	command=$(squid_command)
	write_conf "$next" "$next/squid.conf"
	need_same_ports "$next/squid.conf"
	test ! -e "$dir/peek.pem" || cp -p "$dir/peek.pem" "$next/peek.pem"
	write_certificate "$next"
	cp -p "$dir/token.conf" "$next/token.conf" || exit 73
	parse "$next"
	write_conf "$dir" "$next/final"
	mv "$next/key.conf" "$next/key.name" "$dir" || exit 73
	test ! -e "$next/peek.pem" || mv "$next/peek.pem" "$dir/peek.pem"
	mv "$next/final" "$dir/squid.conf" || exit 73
	sha256sum <"$POLICY" | cut -d ' ' -f 1 >"$dir/policy.sha256"
	reload_squid
	echo 'proxy: the new policy and key are in force'
}

down () {
	if test ! -d "$dir"
	then
		echo 'proxy: was not running'
		exit 0
	fi
	open_dir
	said='proxy: was not running'
	! is_up || said='proxy: stopped'
	stop
	echo "$said"
}

# One line for make status.
status () {
	if test -d "$dir" && is_up
	then
		times=$(cat "$dir/restarts" 2>/dev/null)
		case ${times:-0} in
		0) echo 'proxy  up' ;;
		1) echo 'proxy  up (restarted 1 time)' ;;
		*) echo "proxy  up (restarted $times times)" ;;
		esac
	elif test -s "$dir/gave-up"
	then
		printf 'proxy  down (%s); type make proxy-up\n' \
		    "$(cat "$dir/gave-up")"
	else
		echo 'proxy  down'
	fi
}

show_log () {
	test -e "$dir/access.log" || fail 66 "$dir/access.log: there is none; type make proxy-up"
	test -x "$netpolicy" || fail 69 "$netpolicy is not built; type make"
	set -- audit -f "$POLICY"
	test ! -d "$RUNDIR" || set -- "$@" --runs "$RUNDIR"
	test -z "$ALL" || set -- "$@" --all
	exec "$netpolicy" "$@" "$dir/access.log"
}

check () {
	check_settings
	forget_key
	need_up
	# shellcheck source=mk/proxy-check.sh
	. "$here/proxy-check.sh"
	prove_all
}

case ${1:-} in
up | check | reload | down | status) "$1" ;;
log) show_log ;;
*)
	echo 'usage: proxy.sh up|check|reload|log|status|down' >&2
	exit 64
	;;
esac
