#!/bin/sh
# SPDX-License-Identifier: MIT
# What a session without a network reaches through its relays, and how little
# else; what becomes of them when one of the processes involved is killed.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=tests/docker/lib.sh
. "$top/tests/docker/lib.sh"
command -v python3 >/dev/null || skip_all 'no python3'

answerer=
clean_up () {
	test -z "$answerer" || kill "$answerer" 2>/dev/null
	docker ps -aq --filter "label=fuzzmill.campaign=real$$" |
	    xargs -r docker rm -f >/dev/null 2>&1
	forget_images
}
at_exit=clean_up
mkdir root
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -static -o root/dial \
    "$top/tests/docker/dial.c" || skip_all 'no static C library'
need_probe
FUZZMILL_RETRY_MS=100
export FUZZMILL_RETRY_MS

"$top/tests/docker/answer.py" port "$work/db.sock" >sent 2>answer.err &
answerer=$!
until_true 100 test -s port || exit 99
port=$(cat port)
cat >relays <<-END
	127.0.0.1:8080 127.0.0.1:$port
	127.0.0.2:5432 127.0.0.1:$port
	127.0.0.3:3306 unix:$work/db.sock
	127.0.0.1:9000 127.0.0.1:1
END
printf '127.0.0.2 quest-postgres-test\n127.0.0.3 quest-mysql-test\n' >hosts
mkdir gate
gate=$work/gate:/gate
net="--relays relays --hosts hosts --proxy-log access.log"

# log_line ADDRESS RESULT: as squid writes them
log_line () {
	echo "1795000000.123 port=8080 client=$1 method=POST" \
	    "target=http://a/v1/messages status=200 result=$2 rule=-" \
	    "sni=- bump=- ms=5 up=10 down=20" >>access.log
}

# children PID: the processes it started
children () {
	ps -o pid= --ppid "$1" | xargs
}

# relay_of RUN PID: the relays' process; waits for it
relay_of () {
	until_true 100 test -e "runs/$1/run.json" || return
	children "$2"
}

files () {
	find "$1" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | xargs
}

# How many sockets of relays there are on the host, and can be connected to.
listeners () {
	find runs -path '*/.scratch/net/*' -type s | python3 -c '
import socket, sys
open = 0
paths = sys.stdin.read().split()
for path in paths:
    with socket.socket(socket.AF_UNIX) as s:
        open += s.connect_ex(path) == 0
print(len(paths), open)'
}

# -- what can be reached ----------------------------------------------------

log_line 127.64.0.1 TCP_MISS
# shellcheck disable=SC2086
launch 001 $net --ro "$gate" -- /dial put 127.0.0.1 8080 5 , \
    put quest-postgres-test 5432 1000 , put quest-mysql-test 3306 7 , \
    get 127.0.0.1 8080 70000 , out up , await /gate/one , out over
one=$!
# shellcheck disable=SC2086
launch 002 $net --ro "$gate" -- /dial put 127.0.0.1 8080 0 , out up , \
    await /gate/two
two=$!
until_true 200 grep -q up runs/001/agent.out
until_true 200 grep -q up runs/002/agent.out
source=$(jq -r .network.source runs/001/run.json)
source2=$(jq -r .network.source runs/002/run.json)
like 'a session has an address of its own' \
    '^127\.(6[4-9]|[7-9][0-9]|1[01][0-9]|12[0-7])\.[0-9]+\.[0-9]+$' "$source"
is 'and another one another' yes "$(test "$source" != "$source2" && echo yes)"
is 'where the log was at the start is known' \
    "$(head -n 1 access.log | wc -c)" \
    "$(jq .network.log_from runs/001/run.json)"
relay=$(relay_of 001 "$one")
like 'one process relays' '^[0-9]+$' "$relay"
kill -INT "$relay"
kill -TERM "$relay"
kill -HUP "$relay"
is 'it holds no file of ours' '' "$(find "/proc/$relay/fd" -lname "$work/*")"
log_line "$source" TCP_MISS
log_line "$source" TCP_DENIED
log_line "$source2" TCP_DENIED
log_line "${source}9" TCP_DENIED
printf '1795000000.123 port=8080 client=%s' "$source" >>access.log
touch gate/one
ended 001 "$one"
echo >>access.log
touch gate/two
ended 002 "$two"
is 'the sessions end well' '0 0' "$(cat 001.status 002.status | xargs)"
said 001 | sed -E 's/ [0-9a-f]{8} ([0-9a-f]{8}) / \1 /' >words
is 'an address is reached, from its own' \
    "put 127.0.0.1 8080: x 5 from $source" \
    "$(sed -n '1s/: [^ ]*/: x/p' words)"
is 'a name is reached' \
    "put quest-postgres-test 5432: x 1000 from $source" \
    "$(sed -n '2s/: [^ ]*/: x/p' words)"
is 'a unix socket is reached' 'put quest-mysql-test 3306: x 7 from unix' \
    "$(sed -n '3s/: [^ ]*/: x/p' words)"
is 'the sums are right' '1 1 1' "$(said 001 |
    sed -nE '/^put/s/^.*: ([0-9a-f]{8}) \1 .*/1/p' | xargs)"
is 'an answer comes whole' "$(sed -n 's/^sent 70000/70000/p' sent)" \
    "$(said 001 | sed -n 's/^get 127.0.0.1 8080: //p')"
is 'the other session comes from elsewhere' \
    "put 127.0.0.1 8080: 00000000 00000000 0 from $source2" \
    "$(said 002 | head -n 1)"
is 'its requests are counted, the denied ones too' "$source 2 1" \
    "$(fact 001 '.network | "\(.source) \(.requests) \(.denied)"')"
is 'up to the last whole line' "$(head -n 5 access.log | wc -c)" \
    "$(fact 001 .network.log_to)"
is "nobody counts another's" "$source2 1 1" \
    "$(fact 002 '.network | "\(.source) \(.requests) \(.denied)"')"
is 'nothing is left of the relays' \
    '0 0 agent.err agent.out container.json workspace' \
    "$(listeners) $(files runs/001)"
is 'nor the process' yes "$(is_gone "$relay" 2>/dev/null && echo yes)"

# -- bytes, many and in order -----------------------------------------------

# shellcheck disable=SC2086
session 003 $net -- /dial put 127.0.0.1 8080 100000000 , \
    get quest-mysql-test 3306 100000000 , put 127.0.0.2 5432 1
is '100 MB go through, each way' '0 1' "$(cat 003.status) \
$(said 003 | head -n 1 | grep -cE ': ([0-9a-f]{8}) \1 100000000 from 127\.')"
is 'byte by byte' "$(sed -n 's/^sent 100000000/100000000/p' sent)" \
    "$(said 003 | sed -n 's/^get quest-mysql-test 3306: //p')"
is 'and the next connection works' 1 "$(said 003 | sed -n 3p |
    grep -cE ': ([0-9a-f]{8}) \1 1 from 127\.')"

deep=$(printf 'a%.0s' $(seq 200))
mkdir "$deep"
echo "127.0.0.4:80 127.0.0.1:$port" >web
run dockrun --image "$image" --campaign "real$$" --timeout 60 --relays web \
    --dir "$deep/003" -- /dial put 127.0.0.4 80 3
is 'a run directory may have a long name, a relay a low port' '0  1' \
    "$status $err $(grep -cE '^put 127.0.0.4 80: .* 3 from 127\.' \
    "$deep/003/agent.out")"

# -- what cannot be reached -------------------------------------------------

host=$(ip -4 -o address show scope global 2>/dev/null |
    sed -n 's/.* inet \([0-9.]*\).*/\1/p;q')
# shellcheck disable=SC2086
session 004 $net -- /dial try 127.0.0.1 "$port" , try 127.0.0.2 8080 , \
    try 127.0.0.3 5432 , try "${host:-192.0.2.1}" "$port" , \
    put 127.0.0.1 9000 1 , out end
is "the host's own port is not there" "try 127.0.0.1 $port: ECONNREFUSED" \
    "$(said 004 | sed -n 1p)"
is 'nor a port of another name' \
    'try 127.0.0.2 8080: ECONNREFUSED|try 127.0.0.3 5432: ECONNREFUSED' \
    "$(said 004 | sed -n 2,3p | paste -sd '|')"
is "nor the host's address" \
    "try ${host:-192.0.2.1} $port: ENETUNREACH" "$(said 004 | sed -n 4p)"
like 'a target that is not there gives no answer' \
    '^put 127.0.0.1 9000: ([0-9a-f]{8} )?(ECONNRESET|EPIPE|EOF)$' \
    "$(said 004 | sed -n 5p)"
# shellcheck disable=SC2086
session 005 $net -- /probe net , ls /.fuzzmill/net , \
    write /.fuzzmill/net/0 , create /.fuzzmill/net/x , \
    remove /.fuzzmill/net/0 , move /.fuzzmill/net/0 /.fuzzmill/net/1 , \
    chmod /.fuzzmill/net/0 0 , link /dev/null /.fuzzmill/net/y , \
    cat /etc/hosts
is 'there is no interface but loopback' 'interfaces: lo' \
    "$(said 005 | sed -n 1p)"
is 'nothing leads elsewhere' 'elsewhere: ENETUNREACH' \
    "$(said 005 | sed -n 2p)"
is 'the sockets cannot be written, replaced or removed' \
    'ENXIO EROFS EROFS EROFS EROFS EROFS' \
    "$(said 005 | sed -nE 's/^(write|create|remove|move|chmod|link) .*: //p' |
    xargs)"
is 'the names are in /etc/hosts' 'quest-mysql-test quest-postgres-test' \
    "$(said 005 | grep -oE 'quest-[a-z-]*' | sort -u | xargs)"

# -- killed -------------------------------------------------------------------

# shellcheck disable=SC2086
session 006 $net -- /dial put 127.0.0.1 8080 1 , slay , \
    retry 127.0.0.1 8080 , put 127.0.0.2 5432 2 , slay , slay , \
    retry quest-mysql-test 3306 , get 127.0.0.1 8080 10
is 'who kills the relay inside has it back' \
    '0 slay: ok|retry 127.0.0.1 8080: ok|retry quest-mysql-test 3306: ok' \
    "$(cat 006.status) $({ said 006 | grep slay | head -n 1
    said 006 | grep retry; } | paste -sd '|')"
is 'as good as before' 1 "$(said 006 | grep -c '^get 127.0.0.1 8080: 10 ')"

# shellcheck disable=SC2086
launch 007 $net --ro "$gate" -- /dial put 127.0.0.1 8080 1 , out up , \
    await /gate/seven
seven=$!
until_true 200 grep -qs up runs/007/agent.out
relay=$(relay_of 007 "$seven")
kill -9 "$relay"
until_true 200 grep -q 'trying again' 007.out
is 'without its relays a session is tried again' "[007] the process that \
relays for the session has died; trying again (1 of 3)" \
    "$(grep 'trying again' 007.out)"
touch gate/seven
ended 007 "$seven"
is 'and has a verdict only of that' '0 0 2' \
    "$(cat 007.status) $(fact 007 .exit_code) $(fact 007 .attempt)"
is 'the first try is kept without facts' '' \
    "$(find runs/007/attempts -name container.json)"

# shellcheck disable=SC2086
launch 008 $net -- /dial put 127.0.0.1 8080 1 , out up , await /never
eight=$!
until_true 200 grep -qs up runs/008/agent.out
relay=$(relay_of 008 "$eight")
orphan=$(container 008)
is 'sockets are there' '4 4' "$(listeners)"
kill -9 "$eight"
wait "$eight" 2>/dev/null
is 'a killed dockrun takes its relays along' 0 \
    "$(until_true 50 is_gone "$relay"; echo $?)"
is 'nobody listens any more' '4 0' "$(listeners)"
docker rm -f "$orphan" >/dev/null 2>&1
# shellcheck disable=SC2086
session 008 $net -- /dial put 127.0.0.1 8080 1
is 'the next one clears up and works' \
    '0 agent.err agent.out attempts container.json workspace' \
    "$(cat 008.status) $(files runs/008)"
is 'sockets are not kept as an attempt' '' \
    "$(find runs/008/attempts -type s)"

# shellcheck disable=SC2086
launch 009 $net -- /dial put 127.0.0.1 8080 1 , out up , await /never
nine=$!
until_true 200 grep -qs up runs/009/agent.out
relay=$(relay_of 009 "$nine")
kill -INT "$nine"
ended 009 "$nine"
is 'INT ends it all' '130 yes 0 0' "$(cat 009.status) \
$(is_gone "$relay" 2>/dev/null && echo yes) $(listeners)"

session 010 --pids 100 -- /probe env FUZZMILL_NPROC , cat /etc/hosts
is 'without relays there is none' null "$(fact 010 .network)"
is 'nor a name' '' "$(said 010 | grep quest)"
is 'a session knows how many processes are for it' 'env FUZZMILL_NPROC=68' \
    "$(said 010 | head -n 1)"
is 'the server has nothing to complain of' '' "$(grep -v Errno answer.err |
    grep -c Traceback | grep -v '^0$')"
done_testing
