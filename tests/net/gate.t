#!/bin/sh
# SPDX-License-Identifier: MIT
# The gate: who may pass, what reaches the API, and that nothing else does.
# shellcheck source=tests/cli/tap.sh disable=SC2154
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=tests/net/lab.sh
. "$top/tests/net/lab.sh"

lab_up
attack_program
lab_squid '# nobody else'
url=http://127.0.0.1:$gate_port/v1/messages
: >"$world/api" # what proxy-check asked

# at_api FILTER: over all requests that the API has got
at_api () {
	jq -rc "select(.method) | $1" "$world/api" | sort -u
}

# values HEADER: in all of them
values () {
	at_api ".headers[] | select((.[0] | ascii_downcase) == \"$1\") | .[1]"
}

# ask FILE: status of a request with that body; the answer is in "answer"
ask () {
	# Not from the address that all others come from.
	lab_host curl -q -s -m 20 --interface 127.64.0.9 -o answer -w '%{http_code}' \
	    -H "X-Api-Key: $token" -d "@$1" "$url"
}

# stream FILE: its events as they come
stream () {
	lab_host curl -q -s -m 20 -N -H "X-Api-Key: $token" -d "@$1" "$url"
}

python3 "$top/tests/net/tries.py" gate "$work/tries" "$token" "$gate_port" \
    "$proxy_port"
lab_host ./attack tries/gate.list >gate.seen
judge gate gate.seen

is 'the API was only asked what the policy lists' \
    "POST /v1/messages
POST /v1/messages/count_tokens
POST /v1/messages?beta=true" "$(at_api '"\(.method) \(.path)"')"
is 'always with the real key' "$real_key" "$(values x-api-key)"
is 'once per request' 1 "$(at_api '[.headers[] |
    select((.[0] | ascii_downcase) == "x-api-key")] | length')"
is 'never with other credentials' '' "$(values authorization)$(values cookie
    )$(values proxy-authorization)"
is 'as itself, whatever Host a session names' api.anthropic.com "$(values host)"
is 'with no word of where it came from' '' "$(values x-forwarded-for
    )$(values via)"
is 'and no smuggled request' '' "$(values x-try | grep smuggled)"
is 'the token and stolen keys are not in what the API got' 0 \
    "$(grep -c -e "$token" -e sk-stolen "$world/api")"
is 'no session can write lines of the log' '' "$(odd_lines)"
is 'no packet went anywhere else' '' "$(escaped_packets)"
is 'no other name was looked up' '' "$(escaped_names)"

echo '{"stream":true,"messages":[{"role":"user","content":"[[scn:slow:0.4]]"}]}' >slow
stream slow | while IFS= read -r line
do
	case $line in data:*) date +%s%N ;; esac
done >moments
like 'events come one by one' '^[6-9]$|^[1-9][0-9]$' "$(awk 'NR > 1 &&
    $1 - last > 2e8 && $1 - last < 8e8 { n++ } { last = $1 } END { print n + 0 }' moments)"

{
	printf 'POST /v1/messages HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\n' "$token"
	printf 'Content-Length: 104857600\r\nConnection: close\r\n\r\n'
} >tries/flood
echo "flood flood 127.0.0.1 $gate_port tries/flood 100" >flood.list
requests=$(wc -l <"$world/api")
lab_host ./attack flood.list >flood.seen
like '100 MB are refused' '^flood 413 ' "$(head -n 1 flood.seen)"
is 'before they reach the API' "$requests" "$(wc -l <"$world/api")"
squid_pid=$(sed 's/ .*//' "$proxy/squid.pid")
like 'and squid does not keep them' '^[1-9][0-9]?$' \
    "$(awk '/VmRSS/ { print int($2 / 1024) }' "/proc/$squid_pid/status")"

mkfifo hold
echo "loris loris 127.0.0.1 $gate_port 400" >loris.list
lab_host ./attack loris.list <hold >loris.seen &
exec 3>hold
until_true 100 grep -q '^loris 400' loris.seen
is '400 half requests are held' 'loris 400' "$(cat loris.seen)"
echo '{"messages":[{"role":"user","content":"[[scn:plain]]"}]}' >plain
began=$(date +%s%N)
is 'another client is served' 200 "$(ask plain)"
like 'at once' '^[0-9]{1,3}$' $((($(date +%s%N) - began) / 1000000))
exec 3>&-

echo '{"stream":true,"messages":[{"role":"user","content":"[[scn:slow:0.3]]"}]}' >slow
stream slow >part &
curl_pid=$!
until_true 100 grep -q message_start part
kill -9 "$squid_pid"
wait "$curl_pid"
is 'a killed squid cuts the stream' 0 "$(grep -c message_stop part)"
until_true 100 lab_proxy check
is 'another squid serves' 200 "$(ask plain)"
is 'it still wants the token' 403 \
    "$(lab_host curl -q -s -o answer -w '%{http_code}' -d @plain "$url")"
is 'and the same key is used' "$real_key" "$(values x-api-key)"

for cert in untrusted site
do
	lab_api -c "$cert"
	: >"$world/api"
	like "certificate $cert: the client gets an error" '^50[0-9]$' \
	    "$(ask plain)"
	is "certificate $cert: the key is not sent" 0 \
	    "$(grep -c -e "$real_key" "$world/api")"
done
is 'squid says that it was the certificate' yes "$(grep -qi certificate answer && echo yes)"
lab_api
served () {
	test "$(ask plain)" = 200
}
until_true 100 served
is 'with the right one it is served again' 200 "$(ask plain)"

is 'the key is in no log' 0 "$(cat "$proxy"/*.log "$world/contacts" |
    grep -c -e "$real_key")"
is 'nor the token in that of requests' 0 "$(grep -c -e "$token" "$proxy/access.log")"
is 'nor the key in a process, but the API' '' "$(key_holders)"
is 'no packet went anywhere else in all this' '' "$(escaped_packets)"
done_testing
