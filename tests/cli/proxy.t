#!/bin/sh
# SPDX-License-Identifier: MIT
# What proxy.sh refuses, and its supervisor, with a squid that is a script.
# The real one is in tests/net.
# shellcheck source=tests/cli/tap.sh disable=SC2154
. "$(dirname "$0")/tap.sh"

chmod 711 "$work" # root's squid is another user
dir=$work/proxy
gate=$((20000 + $$ % 10000))
at_exit="proxy sh $top/mk/proxy.sh down"
echo 'api api.example key=A_KEY POST /v1/messages' >policy

# proxy [NAME=VALUE...] WORD
proxy () {
	run env POLICY=policy PROXY_DIR="$dir" GATE_PORT="$gate" \
	    PROXY_PORT=$((gate + 10001)) SQUID="$work/squid" B="$B" \
	    XDG_CACHE_HOME="$work/cache" A_KEY=sk-secret-of-the-test "$@"
}

# What is in the proxy's directory, on one line.
left () {
	(cd "$dir" && find . -mindepth 1 | sort | sed 's/..//' | paste -s -d ' ')
}

# gone PID: dead, waited for or not
gone () {
	! grep -q '^State:.[^ZX]' "/proc/$1/status" 2>/dev/null
}

is_another () { # FILE PID
	! grep -q "^$2 " "$1"
}

# squid_is: a program in squid's place, whose text is standard input
squid_is () {
	rm -f squid
	{
		echo '#!/bin/sh'
		cat <<-'EOF'
		test "$1" != -v || exec echo 'configure options: --with-openssl'
		test "$1" != -k || exit 0
		EOF
		cat
	} >squid
	chmod 755 squid
}

proxy_sh=$top/mk/proxy.sh
squid_is </dev/null

run sh "$proxy_sh"
is 'no word: usage' '64 usage: proxy.sh up|check|reload|log|status|down' \
    "$status $err"
for word in check reload
do
	proxy sh "$proxy_sh" "$word"
	is "$word without a proxy" \
	    '69 ERROR: proxy: not running; type make proxy-up' "$status $err"
done
proxy sh "$proxy_sh" status
is 'status without a proxy' '0 proxy  down' "$status $out"
proxy sh "$proxy_sh" down
is 'down without a proxy' '0 proxy: was not running' "$status $out"
is 'none of them made anything' 1 "$(test -e "$dir"; echo $?)"

proxy A_KEY= sh "$proxy_sh" up
is 'no key: exit 78' 78 "$status"
is 'no key: says which' 'ERROR: Set A_KEY' "$err"
is 'no key: nothing left' .lock "$(left)"

for port in 0 x 80 65535 123456
do
	proxy GATE_PORT="$port" sh "$proxy_sh" up
	is "GATE_PORT=$port" \
	    "64 ERROR: GATE_PORT=$port: not a port from 1024 to 65534" \
	    "$status $err"
done
proxy GATE_PORT=4001 PROXY_PORT=4000 sh "$proxy_sh" up
is 'ports that meet' \
    '64 ERROR: GATE_PORT=4001: PROXY_PORT=4000 takes that and the next one' \
    "$status $err"
proxy PROXY_DIR=here sh "$proxy_sh" up
is 'a relative PROXY_DIR' 64 "$status"
proxy PROXY_DIR="$work/a b" sh "$proxy_sh" up
is 'a PROXY_DIR that squid would split' 64 "$status"
proxy PROXY_CA=/nowhere sh "$proxy_sh" up
is 'a CA that is not there' '66 ERROR: PROXY_CA=/nowhere: cannot be read' \
    "$status $err"
echo 'allow .com' >broken
proxy POLICY=broken sh "$proxy_sh" up
is 'a broken policy is refused with its line' 'yes yes' "$(
    test "$status" -ne 0 && echo yes) $(echo "$err" | grep -q 'broken:1' && echo yes)"
echo 'service db 5432 to 127.0.0.1:15432' >services
proxy POLICY=services A_KEY= sh "$proxy_sh" up
is 'a policy of services alone needs no squid and no key' \
    '0 proxy: services has neither api nor allow; none is needed' "$status $out$err"

printf '#!/bin/sh\necho "configure options: --with-gnutls"\n' >gnutls
chmod 755 gnutls
proxy SQUID="$work/gnutls" sh "$proxy_sh" up
is 'a squid of GnuTLS: refused' \
    "78 ERROR: SQUID=$work/gnutls: it is built with GnuTLS and verifies no certificate; leave SQUID empty to have squid-openssl fetched" \
    "$status $err"
is 'a squid of GnuTLS: no key left' .lock "$(left)"

# A listener of somebody else.
python3 -c 'import socket, sys, time
s = socket.socket()
s.bind(("0.0.0.0", int(sys.argv[1])))
s.listen()
open("listens", "w").close()
time.sleep(60)' "$gate" &
other=$!
until_true 50 test -e listens
proxy sh "$proxy_sh" up
is 'a taken port is named, with another to type' \
    "69 ERROR: port $gate: another program (user $(id -un)) listens there; put GATE_PORT = $((gate + 10000)) into conf/local.mk" \
    "$status $err"
is 'a taken port: no key left' .lock "$(left)"
kill "$other"
wait "$other" 2>/dev/null

# A squid that cannot live.
cat >die <<EOF
echo x >>"\$(dirname "\$3")/cache.log"
echo '2026/01/01 00:00:00| FATAL: no such luck' >&2
exit 1
EOF
squid_is <die
proxy sh "$proxy_sh" up
is 'a squid that dies: exit 69' 69 "$status"
is 'a squid that dies: its reason' \
    "ERROR: squid did not start: FATAL: no such luck; read $dir/cache.log" "$err"
is 'a squid that dies: was tried five times' 5 "$(grep -c x "$dir/cache.log")"
is 'a squid that dies: no key, no process' \
    '.lock access.log cache.log supervisor.log token' \
    "$(left)"

# A squid that refuses its configuration is not started.
cat >squid <<'EOF'
#!/bin/sh
test "$1" != -v || exec echo --with-openssl
echo '2026/01/01 00:00:00| FATAL: Bungled line 7'
exit 1
EOF
: >"$dir/cache.log"
proxy sh "$proxy_sh" up
is 'a bad configuration: refused' \
    '70 ERROR: squid refuses the configuration: FATAL: Bungled line 7' \
    "$status $err"

# A squid that lives and says what it was given; the ports are python's.
cat >serve.py <<'EOF'
import os, re, signal, socket, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
here = os.path.dirname(sys.argv[1])
conf = open(sys.argv[1]).read()
fds = sorted(map(int, os.listdir("/proc/self/fd")))[:-1]
with open(here + "/cache.log", "a") as log:
    log.write("environ %s\nfds %s\n" % (sorted(os.environ), fds))
socks = []
for port in re.findall(r"^http_port 127.0.0.1:(\d+)", conf, re.M):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", int(port)))
    s.listen()
    socks.append(s)
time.sleep(300)
EOF
squid_is <<EOF
exec python3 "$work/serve.py" "\$3"
EOF
chmod 644 serve.py
: >"$dir/cache.log"
# shellcheck disable=SC2016
proxy OTHER=x bash -c 'exec 7>held 9>held 13>held; exec sh "$0" up' "$proxy_sh"
is 'a squid that lives' "0 proxy: up on 127.0.0.1, ports $gate" "$status $out$err"
is 'it has no key in its environment, and nothing else of ours' \
    "environ ['LC_CTYPE', 'LD_LIBRARY_PATH', 'PATH', 'PWD']" \
    "$(grep environ "$dir/cache.log" | sed "s/'OLDPWD', //")"
is 'it has no descriptor of ours' 'fds [0, 1, 2]' "$(grep fds "$dir/cache.log")"
read -r supervisor _ <"$dir/pid"
is 'nor has its supervisor' '' \
    "$(find "/proc/$supervisor/fd" -lname '*held*')"
is "nor the key" '' "$(tr '\0' '\n' <"/proc/$supervisor/environ" |
    grep -e KEY -e secret -e OTHER)"
is 'it is in a session of its own' "$supervisor" \
    "$(sed 's/.*) //' "/proc/$supervisor/stat" | cut -d ' ' -f 4)"
is 'the key is in its file' 1 "$(grep -c sk-secret "$dir/key.conf")"
is 'in no other' key.conf "$(cd "$dir" && grep -l sk-secret -- * | paste -s -d ' ')"
is 'which only squid can read' '600 600 600' \
    "$(cd "$dir" && stat -c %a key.conf token.conf token | paste -s -d ' ')"
like 'the token is long' '^[0-9a-f]{64}$' "$(cat "$dir/token")"
token=$(cat "$dir/token")

proxy sh "$proxy_sh" up
is 'up again: says so' '0 proxy: already up' "$status $out$err"
proxy A_KEY= sh "$proxy_sh" up
is 'up again in a shell without the key' '0 proxy: already up' "$status $out$err"
proxy A_KEY=sk-another-key sh "$proxy_sh" up
is 'up with another key' \
    '75 ERROR: proxy: up with another policy or key; type make POLICY=policy proxy-reload' \
    "$status $err"
echo '# a comment' >>policy
proxy sh "$proxy_sh" up
is 'up with another policy' 75 "$status"
is 'all the same proxy' "$supervisor $token" \
    "$(cut -d ' ' -f 1 "$dir/pid") $(cat "$dir/token")"
proxy GATE_PORT=$((gate + 1)) sh "$proxy_sh" reload
is 'reload to another port is refused' \
    "64 ERROR: GATE_PORT=$((gate + 1)): the running proxy has another; type make proxy-down proxy-up" \
    "$status $err"
echo 'api api.example key=B_KEY POST /v1/messages' >policy
proxy A_KEY= sh "$proxy_sh" reload
is 'reload without a key it has is refused' '78 ERROR: Set B_KEY' "$status $err"
is 'and leaves the old one' 1 "$(grep -c sk-secret-of "$dir/key.conf")"
is 'and no half-made files' 1 "$(test -e "$dir/next"; echo $?)"
chmod 644 "$dir/key.conf"
echo 'api api.example key=A_KEY POST /v1/messages' >policy
proxy sh "$proxy_sh" check
is 'check: a key that others can read' \
    "77 ERROR: $dir/key.conf: not private to $(stat -c %U "$dir/key.conf"); type make proxy-down proxy-up" \
    "$status $err"

read -r old _ <"$dir/squid.pid"
kill -9 "$old"
until_true 50 grep -q 1 "$dir/restarts"
proxy sh "$proxy_sh" status
is 'a killed squid is counted' '0 proxy  up (restarted 1 time)' "$status $out"
until_true 50 is_another "$dir/squid.pid" "$old"
read -r new _ <"$dir/squid.pid"
proxy sh "$proxy_sh" down
is 'down' '0 proxy: stopped' "$status $out$err"
is 'down: no process' '0 0' "$(gone "$supervisor"; echo $?) $(gone "$new"
    echo $?)"
is 'down: logs, and the token of those who run' '.lock access.log cache.log supervisor.log token' \
    "$(left)"

for i in 1 2 3
do
	env POLICY=policy PROXY_DIR="$dir" GATE_PORT="$gate" \
	    SQUID="$work/squid" B="$B" A_KEY=sk-secret-of-the-test \
	    sh "$proxy_sh" up >"up$i" 2>&1 &
	eval "pid$i=\$!"
done
# shellcheck disable=SC2154
wait "$pid1" "$pid2" "$pid3"
is 'three at once are one' 'proxy: already up
proxy: already up
proxy: up on 127.0.0.1, ports '"$gate" "$(sort up1 up2 up3)"

# A pid file whose number is somebody else's now.
read -r supervisor _ <"$dir/pid"
kill -9 "$supervisor"
until_true 50 gone "$(cut -d ' ' -f 1 "$dir/squid.pid")"
is 'squid dies with its supervisor' 0 $?
sleep 60 &
other=$!
echo "$other 12345" >"$dir/pid"
proxy sh "$proxy_sh" down
is 'a stale pid file: not running' '0 proxy: was not running' "$status $out"
is 'a stale pid file: its number is left alone' 0 "$(kill -0 "$other"; echo $?)"
is 'a stale pid file: no key left' '.lock access.log cache.log supervisor.log token' \
    "$(left)"
kill "$other"
done_testing
