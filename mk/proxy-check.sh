# SPDX-License-Identifier: MIT
# Sourced by proxy.sh: proofs that the running squid does what the policy
# says.  One line per proof; the first that fails ends it.
# shellcheck disable=SC2154 # dir, GATE_PORT and others are proxy.sh's

ok () {
	echo "ok    $1"
}

# ask [CURL-OPTION...]: leaves $code and, when squid itself answered and not
# the other side, its reason in $mine.  Options with secrets come on stdin.
ask () {
	: >"$tmp/head"
	code=$(curl -q -s -m 30 --noproxy '*' -o "$tmp/body" -D "$tmp/head" \
	    -w '%{http_code}' "$@")
	mine=$(tr -d '\r' <"$tmp/head" |
	    sed -n 's/^[Xx]-[Ss]quid-[Ee]rror: *\([A-Z_]*\).*/\1/p' | tail -n 1)
}

# With the token of the sessions, which no argument list may show.
ask_with_token () {
	printf 'header = "X-Api-Key: %s"\n' "$(cat "$dir/token")" >"$tmp/conf"
	ask -K - "$@" <"$tmp/conf"
	rm -f "$tmp/conf"
}

# connect HOST PORT: $code of a CONNECT.  What follows is no TLS, so squid
# ends it there, and nobody outside is asked.
connect () {
	code=$(echo proxy-check | curl -q -s -m 10 -o "$tmp/body" -p \
	    --noproxy '' -x "http://127.0.0.1:$PROXY_PORT" \
	    -w '%{http_connect}' "telnet://$1:$2" 2>/dev/null)
}

# log_mark, then rule_of TARGET: which rule the log names for it since then
log_mark () {
	from=$(stat -c %s "$dir/access.log")
}

rule_of () {
	tail -c "+$((from + 1))" "$dir/access.log" |
	    sed -n "s/.* target=[^ ]*$1 .* rule=\\([a-z0-9-]*\\).*/\\1/p" | tail -n 1
}

# One entry of a policy that lint has passed: first_rule WORD
first_rule () {
	awk -v word="$1" '
	$1 == word {
		port = 443
		for (i = 3; i <= NF && $i !~ /^#/; i++)
			if ($i ~ /^port=/)
				port = substr($i, 6)
		sub(/^\./, "", $2)
		print $2, port
		exit
	}' "$POLICY"
}

prove_process () {
	until_listens 50 || fail 69 \
	    "proxy: squid is not on its ports, or somebody else is; read $dir/cache.log"
	for port in $(ports_of "$dir/squid.conf")
	do
		ports="${ports:-}${ports:+ }$port"
	done
	owner=$(stat -c %u "/proc/$(live_pid squid.pid)")
	test "$owner" = "$squid_uid" ||
	    fail 70 "proxy: squid runs as uid $owner; type make proxy-down proxy-up"
	ok "squid runs as $squid_user and listens on 127.0.0.1 only: $ports"
}

prove_policy () {
	test "$(sha256sum <"$POLICY" | cut -d ' ' -f 1)" = "$(cat "$dir/policy.sha256")" ||
	    fail 75 "$POLICY: not the policy that is in force; type make proxy-reload"
	test -z "$gate" || case " $ports " in
	*" $GATE_PORT "*) ;;
	*) fail 64 "GATE_PORT=$GATE_PORT: the running proxy has $ports; type make proxy-down proxy-up" ;;
	esac
	test -z "$allowed" || case " $ports " in
	*" $PROXY_PORT "*) ;;
	*) fail 64 "PROXY_PORT=$PROXY_PORT: the running proxy has $ports; type make proxy-down proxy-up" ;;
	esac
	ok "$POLICY is in force"
}

prove_private () {
	for file in key.conf token.conf
	do
		test "$(stat -c '%F %u %a' "$dir/$file")" = "regular file $squid_uid 600" ||
		    fail 77 "$dir/$file: not private to $squid_user; type make proxy-down proxy-up"
	done
	test "$(stat -c '%F %u %a' "$dir/token")" = "regular file $(id -u) 600" ||
	    fail 77 "$dir/token: not private; type make proxy-down proxy-up"
	ok 'only squid can read the key'
}

prove_gate () {
	url=http://127.0.0.1:$GATE_PORT
	ask -d '{}' "$url/v1/messages"
	test "$code,$mine" = 403,ERR_ACCESS_DENIED ||
	    fail 70 "the gate answers $code without the token, not 403; type make proxy-down"
	ok 'the gate refuses who has no token (403)'
	log_mark
	ask_with_token "$url/proxy-check"
	test "$code,$mine" = 403,ERR_ACCESS_DENIED ||
	    fail 70 "the gate answers $code for a path that the policy does not list; type make proxy-down"
	# The log tells which rule it was: with a good token, not that one.
	rule=$(rule_of proxy-check)
	case $rule in
	'' | - | *token*) fail 70 "the gate does not know its own token (rule ${rule:-unknown}); type make proxy-down proxy-up" ;;
	esac
	ok 'the gate answers who has it, and refuses what is not listed (403)'
}

prove_connect () {
	connect proxy-check.invalid 443
	test "$code" = 403 ||
	    fail 70 "CONNECT to a host that is not allowed: $code, not 403; type make proxy-down"
	ok 'CONNECT to a host that is not allowed is refused (403)'
	# The way to the inner port is not known before its first use.
	log_mark
	for try in 1 2 3 4 5 6 7 8 9 10
	do
		# shellcheck disable=SC2086 # host and port
		connect $allowed
		test "$code" != 200 || break
		test "$code" != 403 || break
		sleep 0.3
	done
	case $code,$(rule_of ":${allowed#* }") in
	403,*-address) fail 69 "${allowed% *}: allowed, but the name has no public IPv4 address here; look at the resolver, then type make proxy-check" ;;
	esac
	test "$code" = 200 ||
	    fail 69 "CONNECT to ${allowed% *} (allowed): $code after $try tries; read $dir/cache.log"
	ok "CONNECT to ${allowed% *} passes (200)"
	test -n "$gate" || return 0
	# shellcheck disable=SC2086 # host and port
	connect $gate
	test "$code" = 403 ||
	    fail 70 "CONNECT to ${gate% *}: $code, not 403; type make proxy-down"
	ok "CONNECT to ${gate% *} is refused on purpose: only the gate's key is used there"
}

send_probe () {
	ask_with_token -H 'content-type: application/json' \
	    -H 'anthropic-version: 2023-06-01' --data-raw "$PROXY_PROBE" \
	    "http://127.0.0.1:$GATE_PORT/v1/messages/count_tokens"
}

# What the API said, for a person: one line of plain text.
answer () {
	tr -c '[:print:]' ' ' <"$tmp/body" |
	    sed -n 's/.*"message": *"\([^"]*\)".*/\1/p' | cut -c 1-160
}

# squid's own 5xx: the way is not known yet, or not found; the supervisor
# makes squid look for it again.
prove_api () {
	for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25
	do
		send_probe
		case $code,$mine in
		5??,ERR_*) ;;
		*) break ;;
		esac
		test "$try" -lt 5 || is_lost || break
		sleep 1
	done
	host=${gate% *}
	case $code,$mine in
	200,) ok "$host takes the key (count_tokens: 200)" ;;
	401, | 403,) fail 77 "the API refuses $(key_name) ($code): $(answer); set a good one and type make proxy-reload" ;;
	403,*) fail 70 "the gate refuses POST /v1/messages/count_tokens; add it to the api line of $POLICY" ;;
	000,) fail 69 "$host cannot be reached: no answer within 30 s" ;;
	*,?*) fail 69 "$host cannot be reached ($code, $mine); look at the network, then type make proxy-check" ;;
	429, | 5??,) fail 69 "$host cannot be reached now ($code): $(answer); try again later" ;;
	*) fail 70 "$host answers $code to the probe: $(answer)" ;;
	esac
}

prove_all () {
	tmp=$(mktemp -d "${TMPDIR:-/tmp}/fzproxy.XXXXXX") || exit 73
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' HUP TERM
	gate=$(first_rule api)
	allowed=$(first_rule allow)
	prove_process
	prove_policy
	prove_private
	test -z "$gate" || prove_gate
	if test -n "$allowed"
	then
		prove_connect
	else
		ok 'no allow line: there is no CONNECT port'
	fi
	test -z "$gate" || test -z "${PROXY_PROBE:-}" || prove_api
}
