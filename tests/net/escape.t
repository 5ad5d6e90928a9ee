#!/bin/sh
# SPDX-License-Identifier: MIT
# From inside real sessions: every way out that we know of is tried, and the
# world is asked what it saw.  The table of tries is left in the log.
# shellcheck source=tests/cli/tap.sh disable=SC2154
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=tests/net/lab.sh
. "$top/tests/net/lab.sh"

docker version >/dev/null 2>&1 || skip_all 'no engine, or no docker client'
image=fztest-net:$$
at_exit="docker rmi -f $image >/dev/null 2>&1; $at_exit"
lab_up
attack_program
lab_squid 'allow claude.ai' 'allow .allowed.example' \
    'service quest-postgres-test 5432 to 127.0.0.1:8443'
requests=$(wc -l <"$world/api")
: >"$world/contacts"

# What the sessions bring along.
sed -n 's/^\([a-z][^|]*|.*\)|\([a-z]* .*\)$/\1|\2/p' \
    "$top/tests/net/direct.txt" >direct.want
mkdir -p root/tries tries runs
for group in gate connect
do
	python3 "$top/tests/net/tries.py" "$group" root/tries "$token" 8080 \
	    3128 /tries
	mv "root/tries/$group.want" tries/
done
mv direct.want tries/
sed 's/^\([^|]*\)|.*|\([^|]*\)$/\1 \2/' tries/direct.want >root/tries/direct.list
{
	printf 'POST /v1/messages HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\n' "$token"
	printf 'Content-Length: 80\r\nX-Try: stream\r\n\r\n'
	printf '%-80s' '{"stream":true,"messages":[{"role":"user","content":"[[scn:slow:0.4]]"}]}'
} >root/tries/stream
{
	cat root/tries/direct.list
	echo 'service say 127.0.0.2 5432 /tries/good'
	echo 'dump dump /workspace/fuzz/dump'
	echo 'hold wait /workspace/fuzz/go'
	echo 'stream say 127.0.0.1 8080 /tries/stream'
	echo 'hold-2 wait /workspace/fuzz/again'
	echo 'after say 127.0.0.1 8080 /tries/good'
	echo 'after-evil say 127.0.0.1 8080 /tries/path-files'
	echo 'after-tunnel say 127.0.0.1 3128 /tries/name-evil'
} >root/tries/one.list
cat root/tries/gate.list >root/tries/two.list
{
	echo 'offer offer 7777 @fzlab-other'
	cat root/tries/connect.list
	echo 'hold wait /workspace/fuzz/go'
} >root/tries/three.list
cp attack root/attack
tar -C root -c . | docker import - "$image" >/dev/null || skip_all 'no import'
for type in relays hosts env
do
	netpolicy gen -t "$type" --gate-port "$gate_port" \
	    --proxy-port "$proxy_port" "$work/policy.conf" >"$type.gen"
done

# session RUN LIST: in the background
session () {
	ANTHROPIC_API_KEY=$token lab_host dockrun --image "$image" \
	    --campaign "net$$" --timeout 100 --dir "runs/$1" --relays relays.gen \
	    --hosts hosts.gen --env-file env.gen --proxy-log "$proxy/access.log" \
	    --secret ANTHROPIC_API_KEY -- /attack "/tries/$2" \
	    >"$1.out" 2>"$1.err"
	echo $? >"$1.status"
}

# has RUN NAME: its try was made
has () {
	grep -q "^$2 " "runs/$1/agent.out"
}

at_exit="docker ps -aq --filter label=fuzzmill.campaign=net$$ |
    xargs -r docker rm -f >/dev/null 2>&1; $at_exit"
lab_host python3 -c 'import socket
s = socket.socket(socket.AF_UNIX)
s.bind("\0fzlab-host")
s.listen()
s.accept()' &
session 003 three.list &
three=$!
until_true 200 has 003 offer
session 001 one.list &
one=$!
session 002 two.list &
two=$!
until_true 300 has 001 dump
docker ps -q --filter "label=fuzzmill.campaign=net$$" |
    xargs docker inspect >inspected
key_holders >holders
holders "$token" cmdline >token-holders
is 'three sessions were looked at' 3 "$(jq length inspected)"

wait "$two"
touch runs/001/workspace/go
until_true 100 grep -q '"slow"' "$world/api"
until_true 100 test -s "$proxy/squid.pid"
kill -9 "$(sed 's/ .*//' "$proxy/squid.pid")"
until_true 100 lab_proxy check
touch runs/001/workspace/again
touch runs/003/workspace/go
wait "$one" "$three"

for run in 001 002 003
do
	is "$run ended well" '0 ' "$(cat $run.status $run.err | paste -s -d ' ' |
	    sed 's/^0$/0 /')"
	cp "runs/$run/agent.out" "$run.seen"
done
if test "$bad" -gt 0
then
	done_testing
	exit
fi
judge direct 001.seen
judge gate 002.seen
judge connect 003.seen
like 'a stream was cut when squid was killed' '^stream (200|closed)$' \
    "$(grep '^stream ' 001.seen)"
is 'the next squid serves the same session' 'after 200' "$(grep '^after ' 001.seen)"
is 'and refuses the same things' 'after-evil 403
after-tunnel 403' "$(grep '^after-' 001.seen)"

is 'the one service is reached' 'service 200' "$(grep '^service ' 001.seen)"
is 'by that session' "tcp 127.0.0.1 8443 from $(jq -r .network.source \
    runs/001/container.json)" "$(grep ' from ' "$world/host")"

is 'a tunnel only ever reached the allowed site' '100.200.0.21 443' \
    "$(cut -d ' ' -f 2,3 "$world/contacts" | sort -u)"
is 'no packet went anywhere else, and no listener of the host heard a thing' \
    '' "$(escaped_packets)"
is 'no other name was looked up' '' "$(escaped_names)"
is 'the API was only asked what the policy lists' "POST /v1/messages
POST /v1/messages/count_tokens
POST /v1/messages?beta=true" "$(jq -r 'select(.method) |
    "\(.method) \(.path)"' "$world/api" | sort -u)"
is 'always with the real key, and no other' "$real_key" "$(jq -r '.headers[]? |
    select((.[0] | ascii_downcase) == "x-api-key" or
    (.[0] | ascii_downcase) == "authorization") | .[1]' "$world/api" | sort -u)"
like 'it was asked' '^[1-9][0-9]*$' $(($(wc -l <"$world/api") - requests))

is 'the key is in nothing that a session has left' '' \
    "$(grep -rlF -e "$real_key" runs ./*.out ./*.err inspected root)"
is 'nor in a log' '' "$(grep -lF -e "$real_key" "$proxy"/*.log "$world/contacts")"
is 'nor in a process, but the API' '' "$(cat holders)"
is 'the token is in no argument' '' "$(cat token-holders)"
is 'nor in what a session has left, but its own files' '' \
    "$(grep -rlF -e "$token" runs | grep -v '/workspace/')"
like 'the dump is one' 'ANTHROPIC_API_KEY=' "$(tr '\0' '\n' <runs/001/workspace/dump)"

like 'refusals are counted' '^[1-9][0-9]+$' \
    "$(jq .network.denied runs/002/container.json)"
for run in 001 002 003
do
	source=$(jq -r .network.source "runs/$run/container.json")
	is "$run: as many as the log has" "$(grep -a " client=$source " \
	    "$proxy/access.log" | grep -ac -e 'result=TCP_DENIED' \
	    -e 'bump=terminate' -e 'status=405 ')" "$(jq .network.denied "runs/$run/container.json")"
done
is 'no session can write lines of the log' '' "$(odd_lines)"
is 'each session has its own source' 3 \
    "$(jq -r .network.source runs/*/container.json | sort -u | wc -l)"
is 'and every line of the log names one' '' "$(sed -n 's/.* client=\([^ ]*\) .*/\1/p' \
    "$proxy/access.log" | sort -u | grep -v -e '^127\.0\.0\.1$' |
    grep -vxF "$(jq -r .network.source runs/*/container.json)")"
is 'no container is left' '' "$(docker ps -aq --filter "label=fuzzmill.campaign=net$$")"

tries=$(cat ./*.table | grep -vc '^try ')
sed 's/^/# /' ./*.table
echo "# $tries tries, $bad of all checks failed"
done_testing
