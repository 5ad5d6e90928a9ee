#!/bin/sh
# SPDX-License-Identifier: MIT
# The CONNECT proxy: allowed names pass, by name and by TLS's own word, and
# no spelling, address or answer of a name server gets anywhere else.
# shellcheck source=tests/cli/tap.sh disable=SC2154
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=tests/net/lab.sh
. "$top/tests/net/lab.sh"

lab_up
attack_program
lab_squid 'allow claude.ai' 'allow .allowed.example'
requests=$(wc -l <"$world/api")
: >"$world/contacts"

python3 "$top/tests/net/tries.py" connect "$work/tries" "$token" \
    "$gate_port" "$proxy_port"
lab_host ./attack tries/connect.list >connect.seen
judge connect connect.seen

# curl does what a session's program does.
fetch () {
	lab_host curl -q -s -m 10 --cacert "$world/ca.crt" \
	    -x "http://127.0.0.1:$proxy_port" "$@" 2>&1
}
is 'an allowed site is read' reached "$(fetch https://claude.ai/)"
is 'another is not' '403 000' \
    "$(fetch -w '%{http_connect} %{http_code}' https://evil.example/)"
is 'nor the API itself' '403 000' \
    "$(fetch -w '%{http_connect} %{http_code}' https://api.anthropic.com/)"

is 'a tunnel only ever reached the allowed site' '100.200.0.21 443' \
    "$(cut -d ' ' -f 2,3 "$world/contacts" | sort -u)"
is 'no packet went anywhere else' '' "$(escaped_packets)"
is 'no other name was looked up, and none backwards' '' "$(escaped_names)"
is 'the API was not asked' "$requests" "$(wc -l <"$world/api")"
is 'no session can write lines of the log' '' "$(odd_lines)"
is 'the key was nowhere' 0 "$(cat "$proxy"/*.log "$world/contacts" |
    grep -c -e "$real_key")"

# The inner port is of the machine, not of a session, and no way round.
sed "s/127.0.0.1 $proxy_port /127.0.0.1 $((proxy_port + 1)) /" \
    tries/connect.list | grep -E "^(name-(evil|api)|address-0[0-9]|sni-[^n]|plain|get-evil|resolves)" >inner.list
: >"$world/contacts"
lab_host ./attack inner.list >inner.seen
is 'at the inner port nothing gets out either' '' "$(cut -d ' ' -f 2,3 \
    "$world/contacts" | sort -u)$(escaped_packets)"
is 'all was tried there' 'end of tries' "$(tail -n 1 inner.seen)"
done_testing
