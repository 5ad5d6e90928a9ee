#!/bin/sh
# SPDX-License-Identifier: MIT
# dockrun against an engine that does what a test wants, good and bad.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"
for tool in python3 jq curl
do
	command -v $tool >/dev/null || skip_all "no $tool"
done
fake=$top/tests/fake
golden=$top/tests/golden
engines=
at_exit=stop_engines
stop_engines () {
	# shellcheck disable=SC2086
	kill $engines 2>/dev/null
	wait
}
secret=swordfish-42-swordfish
export SECRET_WORD="$secret"

# -- scenes: an engine each, then a dockrun each, all at the same time -----

# scene NAME ENGINE-OPTION... [-- DOCKRUN-OPTION...]
scene () {
	name=$1
	line="--sock $1/sock --log $1/log --state $1/state"
	shift
	while test $# -gt 0 && test "$1" != --
	do
		line="$line $1"
		shift
	done
	echo "$line" >>scenes
	test $# = 0 || shift
	mkdir -p "$name"
	printf '%s\n' "$@" >"$name/options"
	echo "$name" >>names
}

# raise: starts the engines of all scenes so far
raise () {
	: >ready
	"$fake/engine.py" --many scenes >ready &
	engines="$engines $!"
	until_true 100 test -s ready || exit 99
	rm scenes
}

# play: runs a dockrun for each of them
play () {
	xargs -P 16 -n 1 sh "$fake/play.sh" <names
	rm names
}

# plainly FILE...: what differs from run to run, replaced
plainly () {
	sed -E 's/fz-[0-9]+-[0-9a-f]{8}/NAME/g; s/([a-f])\1{63}/ID/g
	    s|engine at [^ ]*/sock|engine at SOCK|g
	    s|"fuzzmill.owner":"[^"]*"|"fuzzmill.owner":"OWNER"|g
	    s|"User":"[0-9]+:[0-9]+"|"User":"UID:GID"|g
	    s|,"FUZZMILL_NPROC=224"||
	    s|"Source":"[^"]*/bin/fzinit"|"Source":"INIT"|g
	    s|"Source":"[^"]*/(001/[^"]*)"|"Source":"DIR/\1"|g' "$@"
}

# inside DIR: the names in it
inside () {
	find "$1" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | xargs
}

# facts NAME JQ-FILTER
facts () {
	jq -c "$2" "$1/001/container.json" 2>&1
}

# sent NAME: the calls of a scene without what is in them
sent () {
	sed -n 's|^[A-Z]* /v1.4[14]/||; s|^[A-Z]* /_|_|; /^{/d
	    s|^containers/||; s|^\([^?]*\)?.*signal=\(.*\)|\1 \2|; s|?.*||
	    s|^[^/]*/||; p' "$1/log" | tr '\n' ' '
}

calls='ping image create inspect1 attach wait start inspect2 remove'
kinds='silence 500 half cut cutafter huge hugeok garbage notjsonobj version
badhttp'
for kind in $kinds
do
	for call in $calls
	do
		echo "$call=$kind"
	done
done >matrix
printf '%s\n' attach=midcut attach=badframe wait=midcut inspect1=404 \
    attach=404 wait=404 start=404 inspect2=404 >>matrix

printf '127.0.0.1:8080 127.0.0.1:9\n127.0.0.2:5432 unix:/no/sock\n' >relays
printf '127.0.0.2 quest-db\n127.0.0.1 quest-proxy\n' >hosts

# Those that take longest come first.
scene ladder --ignore-signals --run-ms 60000 -- --timeout 1 --grace 1
while read -r trouble
do
	scene "$trouble" --run-ms 20 --misbehave "$trouble" -- \
	    --relays ../relays
	scene "$trouble:1" --run-ms 20 --misbehave "$trouble:1" -- \
	    --infra-wait 9
done <matrix

printf 'first line\nsecond, not ended' >out.txt
printf 'a warning\n' >err.txt
scene healthy --run-ms 300 --out-file out.txt --err-file err.txt
echo 'a line of somebody else' >access.log
scene relayed --run-ms 300 -- --relays ../relays --hosts ../hosts \
    --proxy-log ../access.log
scene relay-refused --relay-errno 13 --exit 96 -- --relays ../relays
scene relayed-no-log --exit 1 -- --relays ../relays --proxy-log ../none.log
scene old-api --api 1.40
scene new-api --api 1.44
scene no-image -- --image missing
scene failing --exit 3
scene failing-told --exit 3 -- --exit-status
scene fine-told -- --exit-status
scene late-told --run-ms 60000 -- --exit-status --timeout 1
scene no-command --exec-errno 2 --exit 127
scene oom --oom
scene no-init --no-init
scene volume --image-volume
scene mount --add-mount
scene quota --out-file /dev/zero --run-ms 60000 -- --max-log 1m
i=0
while test $i -lt 3000
do
	i=$((i + 1))
	echo "$i: key=$secret; swordfish-42-swordfisch"
done >talk.txt
printf %s "$secret" >>talk.txt
(printf %s "$secret$secret"; tail -c 90000 talk.txt; printf sword) >talk2.txt
scene redacted --out-file talk.txt --err-file talk2.txt -- \
    --secret SECRET_WORD

# Every field that is asked for can be forgotten by an engine.
jq -r 'def full: . as $v | [null, false, 0, "", [], {}] | index([$v]) | not;
    (.HostConfig | to_entries[] | select(.value | full) | .key),
    (to_entries[] | select(.value | full) | "Config." + .key)' \
    "$golden/request.json" | grep -v '^Config.HostConfig$' >fields
while read -r field
do
	scene "drop-$field" --drop "$field" -- --hosts ../hosts
done <fields
raise
play

# -- a session as it should be --------------------------------------------

is 'a session' '0 ' "$(cat healthy/status healthy/err | tr '\n' ' ' |
    sed 's/ $//') "
is 'tells its start' '[001] Starting...' "$(cat healthy/out)"
# attach and wait go out together; both must be there before the start.
is 'these are its calls' "$(cat "$golden/session.log")" \
    "$(plainly healthy/log | awk '/wait\?/ { wait = $0; next }
	/start$/ { print wait } { print }')"
is 'and its facts' "$(cat "$golden/container.json")" \
    "$(jq '.started_at |= (test("^20..-..-..T..:..:..Z$")) |
	.finished_at |= (test("^20..-..-..T..:..:..Z$")) |
	.started_ms |= (. > 1e12) | .duration_ms |= (. >= 200 and . < 900) |
	.user |= test("^[1-9][0-9]*:[1-9][0-9]*$")' \
    healthy/001/container.json)"
is 'its output is kept' 0 "$(cmp out.txt healthy/001/agent.out; echo $?)"
is 'and its errors' 0 "$(cmp err.txt healthy/001/agent.err; echo $?)"
is 'nothing is left in the engine' \
    '{"containers": [], "created": 1, "removed": 1}' "$(cat healthy/state)"
is 'nor in the directory' 'agent.err agent.out container.json workspace' \
    "$(inside healthy/001)"

# -- with something to reach ------------------------------------------------

is 'a session with relays' '0 ' "$(cat relayed/status relayed/err |
    tr '\n' ' ' | sed 's/ $//') "
sed -n '/create?/{n;p;q}' relayed/log >body
is 'fzinit is told where to listen' "--relay=127.0.0.1:8080=/.fuzzmill/net/0 \
--relay=127.0.0.2:5432=/.fuzzmill/net/1" \
    "$(jq -r '.Entrypoint | map(select(startswith("--relay"))) | join(" ")' body)"
is 'the sockets are there, read-only' 'true true' \
    "$(jq -r '.HostConfig.Mounts[] | select(.Target == "/.fuzzmill/net") |
    "\(.ReadOnly) \(.Source | endswith("/relayed/001/.scratch/net"))"' body)"
is 'names are given' '["quest-db:127.0.0.2","quest-proxy:127.0.0.1"]' \
    "$(jq -c .HostConfig.ExtraHosts body)"
is 'there still is no network' none "$(jq -r .HostConfig.NetworkMode body)"
is 'its part of the log is recorded' \
    '{"requests":0,"denied":0,"answers":{},"log_from":24,"log_to":24}' \
    "$(facts relayed '.network | del(.source)')"
like 'and where its requests come from' \
    '^"127\.(6[4-9]|[7-9][0-9]|1[01][0-9]|12[0-7])\.[0-9]+\.[0-9]+"$' \
    "$(facts relayed .network.source)"
is 'a log that is not there is not known' \
    '0 {"requests":null,"denied":null,"answers":null,"log_from":null,"log_to":null}' \
    "$(cat relayed-no-log/status) \
$(facts relayed-no-log '.network | del(.source)')"
is 'nothing of it is left' 'agent.err agent.out container.json workspace' \
    "$(inside relayed/001)"
is 'without its relays there is no session' "78 dockrun: a relay cannot \
listen inside the container: Permission denied; see the file of --relays" \
    "$(cat relay-refused/status) $(cat relay-refused/err)"
is 'and no fact, and no second try' 'not one, 1' \
    "$(find relay-refused -name container.json | grep . || echo not one), \
$(grep -c /start relay-refused/log)"
is 'whatever the engine did, no relay is left' ' 0' \
    "$(find . -path '*/.scratch*') $(find /proc/[0-9]*/cwd -maxdepth 0 \
    -lname "$(pwd -P)/*" 2>/dev/null | wc -l)"
is 'an engine that forgets the names is refused' "78 dockrun: the engine \
changed HostConfig.ExtraHosts: asked for [\"quest-db:127.0.0.2\",\
\"quest-proxy:127.0.0.1\"], made null; the container was not started" \
    "$(cat drop-ExtraHosts/status) $(cat drop-ExtraHosts/err)"

is 'an old engine is refused' "78 dockrun: the engine speaks API 1.40; 1.41 \
(Docker 20.10) is needed" "$(cat old-api/status old-api/err | tr '\n' ' ' |
    sed 's/ $//')"
is 'and asked nothing more' 'GET /_ping' "$(cat old-api/log)"
is 'a new one is spoken to in 1.44' '0 /_ping /v1.44' \
    "$(cat new-api/status) $(sed -n 's|^[A-Z]* \(/[^/]*\).*|\1|p' \
    new-api/log | sort -u | tr '\n' ' ' | sed 's/ $//')"
is 'a missing image is told' '66 dockrun: no image "missing" in the engine' \
    "$(cat no-image/status) $(cat no-image/err)"
is 'and nothing is created' '_ping missing/json ' "$(sent no-image)"
is 'a session that fails is a fact' '0 3 null null' \
    "$(cat failing/status) $(facts failing .exit_code) \
$(facts failing .stop) $(facts failing .signal)"
is '--exit-status tells a failure' 1 "$(cat failing-told/status)"
is 'a success' 0 "$(cat fine-told/status)"
is 'and a timeout' 124 "$(cat late-told/status)"
is 'which was by INT' '{"by":"dockrun","why":"timeout"} 130 2' \
    "$(facts late-told .stop) $(facts late-told .exit_code) \
$(facts late-told .signal)"
is 'a command that cannot be run is a fact' '0 2 127' \
    "$(cat no-command/status) $(facts no-command .exec_errno) \
$(facts no-command .exit_code)"
is 'so is memory that ran out' '0 true 137' \
    "$(cat oom/status) $(facts oom .oom_killed) $(facts oom .exit_code)"
is 'without fzinit there are no facts' \
    '75 dockrun: fzinit did not come up in the container' \
    "$(cat no-init/status) $(cat no-init/err)"
is 'not one' '' "$(find no-init -name container.json)"

# -- an engine that made something else -----------------------------------

refused_start () {
	is "$1: refused" 78 "$(cat "$1/status")"
	is "$1: not started" 0 "$(grep -c /start "$1/log")"
	is "$1: nothing left" 0 "$(jq '.containers | length' "$1/state")"
	is "$1: no facts" '' "$(find "$1" -name container.json)"
}
for field in Memory MemorySwap NanoCpus PidsLimit ReadonlyRootfs CapDrop \
    SecurityOpt NetworkMode IpcMode CgroupnsMode Tmpfs Ulimits Mounts \
    LogConfig MaskedPaths ReadonlyPaths Config.User Config.Entrypoint \
    Config.Cmd Config.Env Config.Labels
do
	grep -qx "$field" fields || is "$field is asked for" yes no
done
while read -r field
do
	case $field in
	Config.Env) message='the engine dropped HOME from the environment' ;;
	Config.*) message="the engine changed $field: asked for" ;;
	*) message="the engine changed HostConfig.$field: asked for" ;;
	esac
	refused_start "drop-$field"
	case $(cat "drop-$field/err") in
	"dockrun: $message"*) is "drop-$field: named" yes yes ;;
	*) is "drop-$field: named" "$message" "$(cat "drop-$field/err")" ;;
	esac
done <fields
refused_start volume
is 'the volume is named' 'dockrun: image "fake" declares VOLUME /data, a '\
"writable place on the host's disk; build it without" "$(cat volume/err)"
is 'and no container was even made' 0 "$(grep -c create volume/log)"
refused_start mount
is 'the mount is named' "dockrun: the engine added a mount at /foreign (a \
VOLUME of the image?); the container was not started" "$(cat mount/err)"

# -- output ---------------------------------------------------------------

is 'too much output is a fact' '0 {"by":"dockrun","why":"log_quota"}' \
    "$(cat quota/status) $(facts quota .stop)"
is 'the file is exactly as long as allowed' 1048576 \
    "$(wc -c <quota/001/agent.out)"
is 'which the facts tell' 1048576 "$(facts quota .output.stdout_kept)"
is 'as they tell what was more' true \
    "$(facts quota '.output.stdout_bytes > 1048576')"
like 'it was killed at once' 'start kill 9 json' "$(sent quota)"
is 'secrets are removed from the output' \
    "$(sed "s/$secret/***/g" talk.txt | cksum)" \
    "$(cksum <redacted/001/agent.out)"
is 'and from the errors' "$(sed "s/$secret/***/g" talk2.txt | cksum)" \
    "$(cksum <redacted/001/agent.err)"
is 'what was seen is counted before that' "$(wc -c <talk.txt)" \
    "$(facts redacted .output.stdout_bytes)"
is 'no file of the run has one' '' "$(grep -rl "$secret" redacted/001)"
is 'nor a message' '' "$(grep -l "$secret" redacted/out redacted/err)"

# -- deadlines ------------------------------------------------------------

is 'a deaf session ends too' '0 {"by":"dockrun","why":"timeout"} 137' \
    "$(cat ladder/status) $(facts ladder .stop) $(facts ladder .exit_code)"
is 'by INT, TERM, KILL' '_ping fake/json create json attach wait start '\
'kill 2 kill 15 kill 9 json ID ' "$(plainly ladder/log >ladder/plain
    mv ladder/plain ladder/log; sent ladder | sed 's/NAME/ID/')"
is 'after 1, 1 and 5 seconds' true \
    "$(facts ladder '.duration_ms >= 7000 and .duration_ms < 9000')"

# -- trouble with each call -----------------------------------------------

# expect CALL KIND: sets $code and $message, patterns for what dockrun says
expect () {
	case $1 in
	ping) path='GET /_ping' ;;
	image) path='GET /v1.41/images/fake/json' ;;
	create) path='POST /v1.41/containers/create[?]name=NAME' ;;
	inspect?) path='GET /v1.41/containers/ID/json' ;;
	remove) path='DELETE /v1.41/containers/NAME[?]force=1&v=1' ;;
	*) path="POST /v1.41/containers/ID/$1*" ;;
	esac
	message="engine at SOCK: $path: ?*"
	code=75
	case $1=$2 in
	ping=version)
		code=78
		message='the engine speaks API 1.30; 1.41 (Docker 20.10) is needed' ;;
	*=500 | *=version | attach=huge | wait=huge)
		message="${1%[12]}: engine says 500: *" ;;
	*=404)
		message='*' ;;
	attach=silence | wait=silence)
		message="engine: no answer to POST /v1.41/containers/ID/$call?*" ;;
	attach=midcut)
		message="the session's output was cut in the middle" ;;
	attach=notjsonobj)
		message="*attach ended*|the session's output was cut*" ;;
	attach=garbage | attach=hugeok | attach=badframe)
		code=76 message='*attach*' ;;
	wait=garbage | wait=notjsonobj)
		code='7[56]' message='*wait*' ;;
	*=huge | *=hugeok)
		code=76 message="$path: answer too long" ;;
	create=garbage | create=notjsonobj)
		code=76
		message="create: the engine's answer has no container id" ;;
	*=garbage | *=notjsonobj)
		code=76 message="${1%[12]}: the engine's answer: ?*" ;;
	*=badhttp)
		code='7[56]' ;;
	esac
}

# fits PATTERNS TEXT
fits () {
	rest=$1
	while :
	do
		# shellcheck disable=SC2254
		case $2 in
		${rest%%|*}) return 0 ;;
		esac
		case $rest in
		*\|*) rest=${rest#*|} ;;
		*) return 1 ;;
		esac
	done
}

# summary NAME: status, containers left, facts, anything that should be gone
summary () {
	got=none
	test ! -e "$1/status" || read -r got <"$1/status"
	read -r left <"$1/state"
	case $left in
	'{"containers": []'*) left=none ;;
	*) left=some ;;
	esac
	if test -e "$1/001/container.json"
	then
		had=facts
	else
		had='no facts'
	fi
	for file in run.json .scratch result.json SUCCESS ERROR TIMEOUT
	do
		test ! -e "$1/001/$file" || had="$had, $file"
	done
	for file in "$1"/001/attempts/*/container.json
	do
		test ! -e "$file" || had="$had, $file"
	done
}

plainly -i ./*=*/err ./*=*/out
while IFS='=' read -r call kind
do
	name=$call=$kind
	expect "$call" "$kind"
	case $name in
	ping=garbage | ping=notjsonobj | start=garbage | start=notjsonobj)
		# Only the head of these answers means something.
		code=0 message='' ;;
	esac
	summary "$name"
	read -r text <"$name/err"
	text=${text#dockrun: }
	case $call=$code in
	remove=*)
		case $kind in
		500 | cut | huge | silence | version | badhttp)
			{ read -r text && read -r text; } <"$name/out"
			is "$name: the facts are complete, it is told" \
			    '0 some facts [001] could not remove the '\
'container; the next campaign or "fzps --reap" does' "$got $left $had $text" ;;
		*)
			is "$name: was done, whatever the answer" \
			    '0 none facts' "$got $left $had" ;;
		esac
		summary "$name:1"
		is "$name: once is overcome" '0 none facts' "$got $left $had"
		continue ;;
	*=0)
		is "$name: is no trouble" '0 none facts ' \
		    "$got $left $had $text" ;;
	*)
		# shellcheck disable=SC2254
		case $got in
		$code) got=$code ;;
		esac
		is "$name: no facts, no verdict, nothing left" \
		    "$code none no facts" "$got $left $had"
		if fits "$message" "$text"
		then
			is "$name: is named" yes yes
		else
			is "$name: is named" "$message" "$text"
		fi ;;
	esac
	summary "$name:1"
	{ read -r text && read -r text; } <"$name:1/out"
	case $name=$code in
	ping=version=*)
		is "$name: once is enough" '78 none no facts' \
		    "$got $left $had"
		continue ;;
	esac
	is "$name: once is overcome" '0 none facts' "$got $left $had"
	test "$code" != 0 || continue
	case $call in
	ping | image) then='; waiting up to [89] s' ;;
	*) then='; trying again (1 of 3)' ;;
	esac
	# shellcheck disable=SC2295
	first=${text%$then}
	if fits "$message" "${first#'[001] '}" && test "$first" != "$text"
	then
		is "$name: and told" yes yes
	else
		is "$name: and told" "$message$then" "$text"
	fi
done <matrix
is 'the attempt that was cut is kept' 'agent.err agent.out workspace' \
    "$(inside attach=midcut:1/001/attempts/1)"
is 'and counted' 2 "$(facts attach=midcut:1 .attempt)"
is 'no container has the name of another' '' \
    "$(grep -h '"created"' wait=500/state | grep -v '"created": 4')"

# -- signals, and an engine that comes late -------------------------------

FUZZMILL_RETRY_MS=10
export FUZZMILL_RETRY_MS
# begin NAME DOCKRUN-OPTION...: in the background, as $pid
begin () {
	name=$1
	shift
	DOCKER_HOST=unix://$work/$name/sock \
	    env --default-signal=INT dockrun --image fake --dir "$name/001" \
	    "$@" -- /agent >"$name/out" 2>"$name/err" &
	pid=$!
}
is_running () {
	grep -q running "$1/state"
}
scene term --run-ms 60000
scene int --run-ms 60000
scene hup --run-ms 60000
scene twice --run-ms 60000 --ignore-signals
scene nohup --run-ms 300
scene stopped --run-ms 60000
scene removed --run-ms 60000
rm names
raise
for case in term:TERM:143 int:INT:130 hup:HUP:143
do
	name=${case%%:*}
	signal=${case#*:}
	begin "$name" --grace 3
	until_true 50 is_running "$name"
	kill "-${signal%:*}" "$pid"
	wait "$pid"
	is "$name: the status tells" "${signal#*:}" $?
	is "$name: it is told" "[001] Starting...
[001] stopping, up to 8 s; again kills now" "$(cat "$name/out")"
	is "$name: and why it ended" 'dockrun: interrupted' "$(cat "$name/err")"
	summary "$name"
	is "$name: no facts, nothing left" 'none no facts' "$left $had"
	like "$name: the session got INT" 'start kill 2 json' "$(sent "$name")"
done
begin twice --grace 600
until_true 50 is_running twice
kill -TERM "$pid"
until_true 50 grep -q 'signal=2' twice/log
kill -TERM "$pid"
wait "$pid"
is 'a second signal: the status is the same' 143 $?
like 'and the session was killed at once' 'start kill 2 kill 9 json' \
    "$(sent twice)"
is 'and removed' 0 "$(jq '.containers | length' twice/state)"
DOCKER_HOST=unix://$work/nohup/sock nohup dockrun --image fake \
    --dir nohup/001 -- /agent >nohup/out 2>nohup/err &
pid=$!
until_true 50 is_running nohup
kill -HUP $pid
wait $pid
is 'a signal that was ignored stays ignored' '0 0' \
    "$? $(facts nohup .exit_code)"

# somebody NAME CURL-OPTION... PATH-AFTER-THE-NAME
somebody () {
	begin "$1"
	until_true 50 is_running "$1"
	container=$(jq -r '.containers[0].name' "$1/state")
	curl -s --unix-socket "$1/sock" -X "$2" \
	    "http://fake/v1.41/containers/$container$3"
	until_true 50 grep -q 'trying again' "$1/out"
	kill -TERM "$pid"
	wait "$pid"
	is "$1 by somebody else: no facts" '' \
	    "$(find "$1/001" -name container.json)"
}
somebody stopped POST '/kill?signal=TERM'
is 'it is told' '[001] the container was stopped from outside; trying again '\
'(1 of 3)' "$(sed -n 2p stopped/out)"
somebody removed DELETE '?force=1'
is 'that too' '[001] the container was removed from outside; trying again '\
'(1 of 3)' "$(sed -n 2p removed/out)"

mkdir late none
begin late --infra-wait 20
until_true 50 grep -q waiting late/out
like 'an engine that is not there is waited for' \
    "^\[001\] engine at $work/late/sock: .*; waiting up to (19|20) s\$" \
    "$(sed -n 2p late/out)"
scene late2
sed 's/late2/late/g' scenes >s && mv s scenes
raise
wait "$pid"
is 'and used when it comes' '0 0' "$? $(facts late .exit_code)"
begin none --infra-wait 0
wait "$pid"
is 'or not waited for at all' 75 $?
like 'its socket is named' "^dockrun: engine at $work/none/sock: GET /_ping: " \
    "$(cat none/err)"
is 'at once: nothing is tried again' '[001] Starting...' "$(cat none/out)"
begin none --infra-wait 1
wait "$pid"
is 'a second is a second' 1 "$(grep -c 'waiting up to 1 s' none/out)"
is 'not one for each try' 2 "$(wc -l <none/out)"
begin none --infra-wait 60
until_true 50 grep -q waiting none/out
kill -TERM "$pid"
wait "$pid"
is 'waiting can be interrupted' '143 dockrun: interrupted' \
    "$? $(cat none/err)"
done_testing
