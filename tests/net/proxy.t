#!/bin/sh
# SPDX-License-Identifier: MIT
# A real squid under its supervisor: what check proves, that it comes back,
# takes a new key in mid-stream, and leaves nothing behind.
# shellcheck source=tests/cli/tap.sh disable=SC2154
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=tests/net/lab.sh
. "$top/tests/net/lab.sh"

lab_up
lab_squid 'allow claude.ai'
url=http://127.0.0.1:$gate_port/v1/messages

# proxy WORD [NAME=VALUE]: leaves $out, $err, $status
proxy () {
	word=$1
	shift
	run lab_host env POLICY="$work/policy.conf" PROXY_DIR="$proxy" \
	    GATE_PORT="$gate_port" PROXY_PORT="$proxy_port" \
	    PROXY_CA="$world/ca.crt" PROXY_PROBE='{}' B="$B" \
	    ANTHROPIC_API_KEY="$real_key" "$@" sh "$top/mk/proxy.sh" "$word"
}

# ask [CURL-OPTION...]: the status of an answer
ask () {
	lab_host curl -q -s -m 20 -o answer -w '%{http_code}' "$@"
}

with_token () {
	ask -H "X-Api-Key: $token" "$@"
}

works () {
	test "$(with_token -d '{}' "$url")" = 200
}

# Every process on the machine's side of the link, but the lab's own.
processes () {
	for p in $(ip netns pids "${lab}h")
	do
		grep -q -e inet.py "/proc/$p/cmdline" 2>/dev/null || echo "$p"
	done
}

pid_in () {
	cut -d ' ' -f 1 "$proxy/$1"
}

keys_at_api () {
	jq -r 'select(.method) | .headers[] |
	    select((.[0] | ascii_downcase) == "x-api-key") | .[1]' \
	    "$world/api" | sort -u
}

is 'check: one line per proof' \
    "ok    squid runs as proxy and listens on 127.0.0.1 only: $gate_port $proxy_port $((proxy_port + 1))
ok    $work/policy.conf is in force
ok    only squid can read the key
ok    the gate refuses who has no token (403)
ok    the gate answers who has it, and refuses what is not listed (403)
ok    CONNECT to a host that is not allowed is refused (403)
ok    CONNECT to claude.ai passes (200)
ok    CONNECT to api.anthropic.com is refused on purpose: only the gate's key is used there
ok    api.anthropic.com takes the key (count_tokens: 200)" \
    "$(sed '/^proxy: up/d' proxy.out)"
is 'check asks nobody but the API' '' "$(escaped_packets)"
is 'check: the API has got one request' '/v1/messages/count_tokens' \
    "$(jq -r 'select(.method) | .path' "$world/api")"
is 'squid and all its children are not root' proxy \
    "$(for p in $(processes)
	do
		test "$p" = "$(pid_in pid)" ||
		    ! grep -q -a -e squid -e sed "/proc/$p/comm" ||
		    stat -c %U "/proc/$p"
	done | sort -u)"
is 'and can get no rights back' '0000000000000000 1' \
    "$(sed -n 's/^CapBnd:.//p; s/^NoNewPrivs:.//p' \
	"/proc/$(pid_in squid.pid)/status" | paste -s -d ' ')"
is 'it listens on loopback only' "127.0.0.1:$proxy_port
127.0.0.1:$((proxy_port + 1))
127.0.0.1:$gate_port" "$(lab_host ss -Hltnp |
    awk '/"squid"/ { print $4 }' | sort)"
is 'without the token' 403 "$(ask -d '{}' "$url")"
is 'with a wrong token' 403 "$(ask -H 'X-Api-Key: 00' -d '{}' "$url")"
is 'with the token' 200 "$(with_token -d '{}' "$url")"
is 'the API only ever saw the real key' "$real_key" "$(keys_at_api)"

found=
for p in $(processes)
do
	for file in cmdline environ
	do
		! grep -a -q -e "$real_key" -e "$token" "/proc/$p/$file" ||
		    found="$found $p/$file"
	done
done
is 'neither key nor token is in any command line or environment' '' "$found"
is 'the key is in one file' "$proxy/key.conf" "$(grep -rl "$real_key" "$proxy")"
is 'that another user cannot read' 1 "$(setpriv --reuid=65534 --regid=65534 \
    --clear-groups cat "$proxy/key.conf" >/dev/null 2>&1; echo $?)"

# squid dies.
old=$(pid_in squid.pid)
began=$(date +%s%N)
kill -9 "$old"
until_true 100 works
is 'killed: requests work again' 0 $?
like 'killed: within 5 s' '^[0-4]$' "$((($(date +%s%N) - began) / 1000000000))"
proxy status
is 'killed: counted' '0 proxy  up (restarted 1 time)' "$status $out$err"
proxy check
is 'killed: check is content' 0 "$status$err"
is 'killed: the token is the same' "$token" "$(cat "$proxy/token")"

# A new key while a stream runs, then the old one again.
echo '{"stream":true,"messages":[{"role":"user","content":"[[scn:slow:0.4]]"}]}' >slow
lab_host curl -q -s -m 60 -N -o stream -w '%{http_code}' \
    -H "X-Api-Key: $token" -d @slow "$url" >stream.status &
stream=$!
until_true 100 grep -q content_block_delta stream
proxy reload ANTHROPIC_API_KEY=sk-test-another-key
is 'reload' '0 proxy: the new policy and key are in force' "$status $out$err"
is 'reload: the stream was still running' 0 \
    "$(grep -c message_stop stream)"
: >"$world/api"
is 'reload: the next request gets 401, it has the other key' 401 \
    "$(with_token -d '{}' "$url")"
is 'reload: as the API saw' sk-test-another-key "$(keys_at_api)"
wait "$stream"
is 'reload: the stream came to its end' '200 1' \
    "$(cat stream.status) $(grep -c '^event: message_stop' stream)"
is 'reload: the same squid' 'restarted 1 time' "$(cd "$proxy" &&
    sed 's/^/restarted /; s/$/ time/' restarts)"
proxy check ANTHROPIC_API_KEY=sk-test-another-key
is 'a key that the API refuses: exit 77' 77 "$status"
is 'a key that the API refuses: what to do' \
    'ERROR: the API refuses ANTHROPIC_API_KEY (401): invalid x-api-key; set a good one and type make proxy-reload' \
    "$err"
proxy reload
is 'reload: the old key' 0 "$status$err"
is 'reload: works' 200 "$(with_token -d '{}' "$url")"

# A new policy.
cp policy.conf policy.good
echo 'allow .com' >>policy.conf
proxy reload
is 'a broken policy is refused' 1 "$((status != 0))"
is 'and the old one stays in force' 200 "$(with_token -d '{}' "$url")"
printf '%s\n' 'api api.anthropic.com key=ANTHROPIC_API_KEY POST /v1/messages' \
    'allow sub.allowed.example' >policy.conf
proxy check
is 'check: a policy that is not in force' \
    "75 ERROR: $work/policy.conf: not the policy that is in force; type make proxy-reload" \
    "$status $err"
proxy reload
is 'another policy' 0 "$status$err"
is 'what it does not list is refused now' 403 \
    "$(with_token -d '{}' "$url/count_tokens")"
proxy check
is 'our own 403 is told from one of the API' \
    "70 ERROR: the gate refuses POST /v1/messages/count_tokens; add it to the api line of $work/policy.conf" \
    "$status $err"
echo 'api api.anthropic.com key=ANTHROPIC_API_KEY POST /v1/messages POST /v1/messages/count_tokens' \
    >policy.conf
proxy reload
proxy check
is 'without allow lines there is no CONNECT port' \
    "0 ok    no allow line: there is no CONNECT port" \
    "$status $(echo "$out" | grep CONNECT)"
is 'and nobody listens there' '' \
    "$(lab_host ss -Hltn "sport = :$proxy_port or sport = :$((proxy_port + 1))" |
	grep 127.0.0.1)"
cp policy.good policy.conf
proxy reload
proxy check
is 'and back' 0 "$status$err"

# An API in trouble.
cat >status.py <<'EOF'
import http.server, socket, socketserver, ssl, sys
code = int(sys.argv[1])
class Answer(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = b'{"error":{"message":"planned\\n"}}'
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(code)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
class Quick(http.server.HTTPServer):
    def server_bind(self): # its own would look up the name
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        socketserver.TCPServer.server_bind(self)
server = Quick(("100.200.0.20", 443), Answer)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2], sys.argv[3])
server.socket = context.wrap_socket(server.socket, server_side=True)
print("ready", flush=True)
server.serve_forever()
EOF
for code in 403 429 529
do
	lab_stop_api
	: >ready
	nsenter --net="/run/netns/${lab}i" python3 status.py "$code" \
	    "$world/api.crt" "$world/api.key" >ready 2>&1 &
	api_pid=$!
	until_true 100 grep -q ready ready
	proxy check
	case $code in
	403) is '403 of the API' "77 ERROR: the API refuses ANTHROPIC_API_KEY (403): planned\\n; set a good one and type make proxy-reload" "$status $err" ;;
	*) is "$code of the API" "69 ERROR: api.anthropic.com cannot be reached now ($code): planned\\n; try again later" "$status $err" ;;
	esac
done
lab_stop_api
proxy check
is 'no API: exit 69' 69 "$status"
like 'no API: says so' '^ERROR: api.anthropic.com cannot be reached \(50[0-9], ERR_[A-Z_]*\); look at the network' "$err"
lab_api -c untrusted
: >"$world/api"
proxy check
is 'an API whose certificate is not trusted: exit 69' 69 "$status"
is 'an API whose certificate is not trusted: sees no key' '' "$(keys_at_api)"
lab_api
proxy check
is 'the API is back' 0 "$status$err"

# A squid that cannot come back.
cp "$proxy/squid.conf" conf.good
echo 'no_such_word on' >>"$proxy/squid.conf"
kill -9 "$(pid_in squid.pid)"
until_true 150 test -e "$proxy/gave-up"
is 'it gives up on a squid that cannot start' 0 $?
proxy status
like 'status says why' '^proxy  down \(.*unrecognized: .no_such_word.\); type make proxy-up$' "$out"
proxy check
like 'check says why' '^ERROR: proxy: squid gave up \(.*unrecognized: .no_such_word.\); type make proxy-up$' "$err"
proxy up
is 'up starts it again' "0 proxy: up on 127.0.0.1, ports $gate_port $proxy_port $((proxy_port + 1))" \
    "$status $out$err"
proxy check
is 'and check is content' 0 "$status$err"

# Started while there was no name server.
proxy down
ip -n "${lab}h" link set outward down
proxy up
is 'no network: up' 0 "$status$err"
until_true 150 grep -q "lookup for 'api.anthropic.com' failed" "$proxy/cache.log"
ip -n "${lab}h" link set outward up
ip -n "${lab}h" route add default via 100.200.255.254 dev outward onlink
proxy check
is 'the network is back: so is the API' 0 "$status$err"

proxy log
is 'the log names what was refused' 0 "$status$err"
like 'by name' 'proxy-check\.invalid' "$out"

proxy down
is 'down' '0 proxy: stopped' "$status $out$err"
is 'down: no process is left' '' "$(processes)"
is 'down: only logs are left, and the token' '.lock access.log cache.log supervisor.log token' \
    "$(cd "$proxy" && find . -mindepth 1 | sort | sed 's/..//' | paste -s -d ' ')"
is 'down: the key is nowhere' '' "$(grep -rl -e "$real_key" "$proxy")"

# The same for a plain user, from another clone.
mkdir -p home clone/build/bin
cp -r "$top/mk" clone/
cp "$B/bin/netpolicy" clone/build/bin/
chmod -R a+rX clone policy.conf
chown 65534:65534 home
proxy=$work/home/proxy
user () {
	run lab_host setpriv --reuid=65534 --regid=65534 --clear-groups \
	    env HOME="$work/home" POLICY="$work/policy.conf" \
	    PROXY_DIR="$proxy" GATE_PORT="$gate_port" \
	    PROXY_PORT="$proxy_port" PROXY_CA="$world/ca.crt" \
	    PROXY_PROBE='{}' B="$work/clone/build" \
	    ANTHROPIC_API_KEY="$real_key" sh "$work/clone/mk/proxy.sh" "$1"
}
user up
is 'a plain user: up' "0 proxy: up on 127.0.0.1, ports $gate_port $proxy_port $((proxy_port + 1))" \
    "$status $out$err"
user check
is 'a plain user: check' '0 9' "$status $(echo "$out" | grep -c '^ok')$err"
token=$(cat "$proxy/token")
is 'a plain user: a request' 200 "$(with_token -d '{}' "$url")"
user down
is 'a plain user: down' "0 proxy: stopped" "$status $out$err$(processes)"
is 'all this time the API only saw keys of ours' "$real_key" "$(keys_at_api)"
is 'and no packet went anywhere else' '' "$(escaped_packets |
    grep -v 'tcp 100\.200\.0\.2[01] 443')"
done_testing
