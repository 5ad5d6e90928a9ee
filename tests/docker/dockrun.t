#!/bin/sh
# SPDX-License-Identifier: MIT
# How sessions end, and what is known of it afterwards: by themselves, at the
# deadline, by the user, by somebody else, with the engine.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=tests/docker/lib.sh
. "$top/tests/docker/lib.sh"

clean_up () {
	docker ps -aq --filter "label=fuzzmill.campaign=real$$" |
	    xargs -r docker rm -f >/dev/null 2>&1
	forget_images
	forget_engines
}
at_exit=clean_up
need_probe
FUZZMILL_RETRY_MS=200
export FUZZMILL_RETRY_MS

# facts RUN FIELD...: their values, or null
facts () {
	r=$1
	shift
	for field in "$@"
	do
		fact "$r" "$field"
	done | xargs
}

files () {
	find "$1" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | xargs
}

host_pid () {
	docker inspect -f '{{.State.Pid}}' "$1"
}

# lifetime CONTAINER: in seconds
lifetime () {
	docker inspect -f '{{.State.StartedAt}} {{.State.FinishedAt}}' "$1" | {
		read -r from to
		echo $(($(date -d "$to" +%s) - $(date -d "$from" +%s)))
	}
}

is_ended () {
	test "$(docker inspect -f '{{.State.Running}}' "$1")" = false
}

# Sessions wait for a file in here.
mkdir gate
gate=$work/gate:/gate

# What takes long begins now and is looked at later.
launch 101 --exit-status --timeout 1 --grace 1 -- \
    /probe ignore 2 , ignore 15 , out up , pause
immune=$!
launch 102 --timeout 1 --grace 1 -- /probe ignore 2 , out up , pause
no_int=$!
launch 103 --exit-status --timeout 1 -- /probe out up , pause
by_int=$!
launch 104 --timeout 1 -- /probe trap 2 , out up , pause
trapped=$!

# Private engines: one where no campaign sweeps up what we leave, one that is
# killed, one that is stopped, one that is killed for good.
for name in e0 e1 e2 e3
do
	private_engine "$name" || skip_all 'no private engine'
	in_engine "$name" import_probe "$image"
done
launch_in e0 105 --timeout 2 --grace 1 -- \
    /probe ignore 2 , ignore 15 , out up , pause
orphaned=$!
launch_in e0 106 --timeout 600 -- /probe out up , pause
abandoned=$!
launch_in e1 111 --ro "$gate" -- /probe out up , await /gate/engines , exit 7
killed=$!
launch_in e2 112 --ro "$gate" -- /probe out up , await /gate/engines , exit 8
stopped=$!
launch_in e3 113 --timeout 2 --grace 1 --infra-wait 2 -- \
    /probe ignore 2 , ignore 15 , out up , pause
deserted=$!
began 111 112 113 105 106
is 'sessions begin in four engines' 0 $?
desert=$(in_engine e3 container 113)
desert_pid=$(in_engine e3 host_pid "$desert")
kill_engine e1
kill_engine e3
kill_engine e2 -TERM
orphan=$(in_engine e0 container 105)
kill -9 "$orphaned" "$abandoned"
orphan_since=$(date +%s)
launch_in e2 114 -- /probe exit 9
early=$!
launch_in e2 115 -- /probe exit 9
impatient=$!
until_true 100 grep -q 'waiting up to' 114.out
until_true 100 grep -q 'waiting up to' 115.out
kill -INT "$impatient"
ended 115 "$impatient"
touch gate/engines
private_engine e1
private_engine e2

# The end of a command.
for code in 0 1 3 124 137
do
	r=$((200 + code))
	session "$r" -- /probe exit "$code"
	is "exit $code is recorded, dockrun succeeds" "0 $code null null null false" \
	    "$(cat "$r.status") $(facts "$r" .exit_code .signal .exec_errno .stop \
	    .oom_killed)"
done
for sig in 6 9 11 15
do
	session "40$sig" -- /probe raise "$sig"
	is "signal $sig is recorded" "0 $((128 + sig)) $sig null null" \
	    "$(cat "40$sig.status") $(facts "40$sig" .exit_code .signal \
	    .exec_errno .stop)"
done
session 221 -- /nothing there
is 'a missing program' '0 127 null 2' \
    "$(cat 221.status) $(facts 221 .exit_code .signal .exec_errno)"
session 222 -- /plain
is 'a file that is no program' '0 126 null 13' \
    "$(cat 222.status) $(facts 222 .exit_code .signal .exec_errno)"
session 223 --exit-status -- /probe exit 3
is '--exit-status: a failed session' 1 "$(cat 223.status)"
session 224 --exit-status -- /probe exit 0
is '--exit-status: a good one' 0 "$(cat 224.status)"
session 225 -- probe out 'found in PATH'
is 'without a / the PATH is searched; / is not in it' '127 2' \
    "$(facts 225 .exit_code .exec_errno)"
run markrun runs/200 runs/203 runs/221 runs/222 runs/409
is 'each has its verdict' "\
[203] ✗ Failed: Container error (exit 3)
[221] ✗ Failed: Command cannot be run (No such file or directory)
[222] ✗ Failed: Command cannot be run (Permission denied)
[409] ✗ Failed: Container error (exit 137, signal 9)" \
    "$(printf '%s\n' "$out" | grep Failed)"
is 'and its marker' 'Exit code: 3' "$(head -n 1 runs/203/ERROR)"
session 200 -- /probe exit 0
is 'a directory with a verdict is refused' "73 dockrun: runs/200: has a \
verdict; \"markrun --retract runs/200\" gives it up" \
    "$(cat 200.status) $(cat 200.err)"
is 'and left alone' 'SUCCESS agent.err agent.out container.json result.json workspace' \
    "$(files runs/200)"

# What is in an image.
import_probe "$image-both" 'ENTRYPOINT ["/probe","out"]' 'CMD ["from the image"]'
import_probe "$image-cmd" 'CMD ["/probe","exit","9"]'
import_probe "$image-volume" 'VOLUME /data' 'CMD ["/probe","exit","0"]'
import_probe "$image-health" \
    'HEALTHCHECK --interval=1s CMD ["/probe","write","/workspace/fuzz/sick"]' \
    'ENV HOME=/home COLOR=red'
launch 235 --image "$image-health" -- /probe env HOME , env COLOR , sleep 3
health=$!
session 231 --image "$image-both" --
is 'ENTRYPOINT and CMD run when no command is given' 'from the image' \
    "$(said 231)"
session 232 --image "$image-both" -- /probe exit 4
is 'a command takes the place of both' '4 ' \
    "$(facts 232 .exit_code) $(said 232)"
session 233 --image "$image-cmd"
is 'CMD alone' 9 "$(facts 233 .exit_code)"
session 234 --image "$image-volume"
is 'VOLUME is refused by name' "78 dockrun: image \"$image-volume\" declares \
VOLUME /data, a writable place on the host's disk; build it without" \
    "$(cat 234.status) $(cat 234.err)"
is 'nothing is made' ' ' "$(container 234) $(files runs/234)"
session 236
is 'no command anywhere' "64 dockrun: no command given, and image \"$image\" \
has none" "$(cat 236.status) $(cat 236.err)"
session 237 --image fztest-real:none -- /probe
is 'no such image' '66 dockrun: no image "fztest-real:none" in the engine' \
    "$(cat 237.status) $(cat 237.err)"

# Standard input.
head -c 1000000 /dev/urandom >input
chmod 644 input
session 241 --stdin input -- /probe cat -
is 'a file arrives as it is' 0 "$(cmp input runs/241/agent.out >&2; echo $?)"
is 'and is named by its hash' "$(sha256sum input | cut -d' ' -f1)" \
    "$(facts 241 .stdin_sha256)"
session 242 -- /probe cat - , out end
is 'without one there is nothing to read' end "$(said 242)"
cp input secret-input
chmod 600 secret-input
session 243 --stdin secret-input -- /probe cat -
like 'one that the session cannot read is refused' '^77 dockrun: --stdin secret-input: the session is user [0-9:]* and cannot read it; try chmod a.r$' \
    "$(cat 243.status) $(cat 243.err)"
mkfifo pipe
for f in pipe root
do
	session 244 --stdin "$f" -- /probe cat -
	is "one that is no file is refused ($f)" \
	    "66 dockrun: --stdin $f: not a regular file" \
	    "$(cat 244.status) $(cat 244.err)"
done
cp input passing
launch 245 --stdin passing --ro "$gate" -- /probe out up , await /gate/245
passing=$!
began 245
rm passing
touch gate/245
ended 245 "$passing"
is 'one that vanishes meanwhile costs no session' "0 0 $(sha256sum input |
    cut -d' ' -f1)" "$(cat 245.status) $(facts 245 .exit_code .stdin_sha256)"

# Output.
for lane in 0 1
do
	i=$lane
	while test "$i" -lt 20
	do
		session "$((500 + i))" -- /probe out "line $i" , err "error $i" , \
		    put 1 end
		i=$((i + 2))
	done &
done
launch 251 -- /probe exit 0
empty=$!
launch 252 -- /probe fill 1 100000 0 , fill 2 3 0
nul=$!
launch 253 -- /probe put 1 'no newline' , put 2 'here neither'
bare=$!
launch 254 -- /probe weave 5000
woven=$!
ended 251 "$empty"
ended 252 "$nul"
ended 253 "$bare"
ended 254 "$woven"
is 'no output at all' '0 0 0 0' \
    "$(cat 251.status) $(facts 251 .output.stdout_bytes .output.stderr_bytes) $(
    stat -c %s runs/251/agent.out)"
head -c 100000 /dev/zero >zeros
is 'NUL bytes' '0 0 100000 3' "$(cmp zeros runs/252/agent.out >&2; echo $?) $(
    cat 252.status) $(facts 252 .output.stdout_bytes .output.stderr_kept)"
is 'no newline' 'no newline/here neither' \
    "$(cat runs/253/agent.out)/$(cat runs/253/agent.err)"
seq 5000 | sed 's/^/o/' >o
seq 5000 | sed 's/^/e/' >e
is 'two streams turn by turn stay apart and whole' '0 0' \
    "$(cmp o runs/254/agent.out >&2; echo $?) $(
    cmp e runs/254/agent.err >&2; echo $?)"
session 255 --max-log 1m -- /probe err before , \
    fill 1 100000000 120 , out after , pause
is 'over the limit the session is stopped' '0 dockrun log_quota 137 null' \
    "$(cat 255.status) $(facts 255 .stop.by .stop.why .exit_code .signal)"
is 'what fits is kept' '1048576 1048576 before' "$(facts 255 \
    .output.stdout_kept) $(stat -c %s runs/255/agent.out) $(
    cat runs/255/agent.err)"
is 'what came is counted' yes \
    "$(between 1048577 100000000 "$(facts 255 .output.stdout_bytes)")"
is 'at once' yes "$(between 0 8000 "$(facts 255 .duration_ms)")"
run markrun runs/255
is 'and judged so' '0 [255] ✗ Failed: Output over the limit of --max-log' \
    "$status $out"
session 256 --max-log 200m --timeout 100 -- /probe fill 1 104857600 120
is '100 MB below the limit' '0 0 104857600 104857600' \
    "$(cat 256.status) $(facts 256 .exit_code .output.stdout_bytes) $(
    stat -c %s runs/256/agent.out)"
rm runs/256/agent.out
API_KEY=sk-ant-0123456789abcdef
export API_KEY
session 257 --secret API_KEY --env COLOR=red -- /probe env API_KEY , \
    env COLOR , err "$API_KEY" , put 1 "<sk-ant-0123" , sleep 0.3 , \
    put 1 '456789abcdef>' , put 1 'sk-ant-0123'
is 'a secret is taken out, also in two pieces' \
    'env API_KEY=*** env COLOR=red <***>sk-ant-0123 ***' \
    "$(echo "$(said 257)" "$(cat runs/257/agent.err)" | xargs)"
is 'and is in no file' '' "$(grep -rl "$API_KEY" runs/257 257.*)"
session 258 --secret API_KEY --image "$API_KEY" -- /probe
is 'nor in a message' '66 dockrun: no image "***" in the engine' \
    "$(cat 258.status) $(cat 258.err)"
wait_for=
for i in $(seq 0 19)
do
	until_true 300 test -s "$((500 + i)).status"
	wait_for="$wait_for$(cat "$((500 + i)).status")$(facts $((500 + i)) \
	    .exit_code)$(printf 'line %d\nend' "$i" |
	    cmp - "runs/$((500 + i))/agent.out" 2>&1)$(echo "error $i" |
	    cmp - "runs/$((500 + i))/agent.err" 2>&1)"
done
is 'twenty that end at once, each with all it said' \
    0000000000000000000000000000000000000000 "$wait_for"

# Somebody else.
launch 261 --ro "$gate" -- /probe out up , await /gate/others , exit 5
removed=$!
launch 262 --ro "$gate" -- /probe out up , await /gate/others , exit 5
shot=$!
launch 263 --ro "$gate" -- /probe trap 15 , out up , await /gate/others , exit 5
asked=$!
began 261 262 263
session 263 -- /probe exit 0
is 'one dockrun per directory' "75 dockrun: $work/runs/263: another process \
is working on this run" "$(cat 263.status) $(cat 263.err)"
docker rm -f "$(container 261)" >/dev/null
docker kill "$(container 262)" >/dev/null
docker kill -s TERM "$(container 263)" >/dev/null
touch gate/others
ended 261 "$removed"
ended 262 "$shot"
ended 263 "$asked"
for r in 261 262 263
do
	is "$r is done again, to its own end" '0 5 null 2 ' "$(cat "$r.status") $(
	    facts "$r" .exit_code .stop .attempt) $(container "$r")"
	is "$r: the first attempt is kept, without facts" \
	    'agent.err agent.out workspace' "$(files "runs/$r/attempts/1")"
done
like 'removed: it says so' '^\[261\] the container was (removed|stopped) from outside; trying again \(1 of 3\)$' \
    "$(sed -n 2p 261.out)"
is 'killed: it says so' "[262] Starting...
[262] the container was stopped from outside; trying again (1 of 3)" \
    "$(cat 262.out)"

# The user.
launch 271 --grace 3 -- /probe out up , pause
by_int2=$!
launch 272 --grace 3 -- /probe ignore 2 , ignore 15 , out up , pause
twice=$!
launch 273 --grace 1 -- /probe out up , ignore 2 , pause
by_term=$!
launch 274 --grace 1 -- /probe out up , pause
by_hup=$!
began 271 272 273 274
kill -INT "$by_int2" "$twice"
kill -TERM "$by_term"
kill -HUP "$by_hup"
until_true 50 grep -q stopping 272.out
began_stop=$(date +%s)
kill -INT "$twice"
ended 272 "$twice"
took=$(($(date +%s) - began_stop))
ended 271 "$by_int2"
ended 273 "$by_term"
ended 274 "$by_hup"
is 'INT: stopped, removed, no facts' "130 agent.err agent.out workspace " \
    "$(cat 271.status) $(files runs/271) $(container 271)"
is 'INT: it says what it does' "[271] Starting...
[271] stopping, up to 8 s; again kills now" "$(cat 271.out)"
is 'INT: and why it ends' 'dockrun: interrupted' "$(cat 271.err)"
is 'INT twice: killed at once' '130 yes ' \
    "$(cat 272.status) $(between 0 2 "$took") $(container 272)"
is 'TERM' '143 agent.err agent.out workspace ' \
    "$(cat 273.status) $(files runs/273) $(container 273)"
is 'HUP' '143 ' "$(cat 274.status) $(container 274)"
run markrun runs/271
is 'no verdict on what was interrupted' "66 markrun: runs/271: no complete \
facts (container.json) to judge; the session is due again" "$status $err"
session 271 -- /probe exit 0
is 'the next one keeps it and goes on' '0 2 agent.err agent.out workspace' \
    "$(cat 271.status) $(facts 271 .attempt) $(files runs/271/attempts/1)"

# A hostile workspace.
mkdir host
echo 'of the host' >host/file
session 281 -- /probe mess "$work/host/file" , link "$work/host/file" \
    findings.jsonl , chmod . 0 , exit 3 &
session 282 -- /probe mess "$work/host/file" , fifo findings.jsonl , exit 4 &
session 283 -- /probe link "$work/host/file" ../SUCCESS , \
    write /workspace/fuzz/../result.json , exit 5 &
until_true 100 test -s 281.status
until_true 100 test -s 282.status
until_true 100 test -s 283.status
run timeout 20 markrun runs/281 runs/282 runs/283
is 'forged verdicts, links, pipes and depths change nothing' \
    '0 [281] ✗ Failed: Container error (exit 3)
[282] ✗ Failed: Container error (exit 4)
[283] ✗ Failed: Container error (exit 5)' "$status $out"
is 'nothing came of the links' 'null null 0' \
    "$(jq .findings.claimed runs/281/result.json runs/282/result.json \
    runs/283/result.json | xargs)"
is 'the file of the host is as it was' 'of the host' "$(cat host/file)"
is 'the verdicts are ours' 'ERROR agent.err agent.out container.json result.json workspace' \
    "$(files runs/281)"
is 'what the session left is there' yes \
    "$(test -e runs/282/workspace/SUCCESS && test -p runs/282/workspace/ERROR &&
    echo yes)"
run timeout 20 markrun --retract runs/281
is 'and can be put away' '0 attempts' "$status $(files runs/281)"
session 281 -- /probe exit 0
is 'and the run be done again' '0 2 0' \
    "$(cat 281.status) $(facts 281 .attempt .exit_code)"

# A caller who is not root.
# shellcheck disable=SC2031 # that was lost on purpose
socket=${DOCKER_HOST:-unix:///var/run/docker.sock}
mkdir -p bin nobody
cp "$B/bin/dockrun" "$B/bin/fzinit" "$B/bin/markrun" bin
chmod 755 . bin bin/*
chown 65534:65534 nobody
nobody () {
	setpriv --reuid 65534 --regid 65533 --groups "$(stat -L -c %g \
	    "${socket#unix://}")" "$@"
}
run nobody bin/dockrun --image "$image" --dir nobody/001 -- /probe ids , \
    create x , chmod . 0
is 'a caller who is not root' '0 [001] Starting... ' "$status $out $err"
like 'is who the session is' \
    '^ids: 65534 65534 65534 65533 65533 65533 groups 1 ' \
    "$(cat nobody/001/agent.out)"
is 'the workspace is his' '65534 65533 65534' "$(stat -c '%u %g' \
    nobody/001/workspace) $(stat -c %u nobody/001/workspace/x)"
run nobody bin/markrun nobody/001
like 'he judges it' '^0 \[001\] .*Done' "$status $out"
run nobody bin/markrun --retract nobody/001
is 'a workspace that closed itself can be put away' '0 attempts' \
    "$status $(files nobody/001)"

# Now the long ones: the deadline.
ended 235 "$health"
is 'HEALTHCHECK does not run' '0 ' "$(cat 235.status) $(files runs/235/workspace)"
is 'settings of the image stay' 'env HOME=/home env COLOR=red' \
    "$(said 235 | xargs)"
ended 101 "$immune"
ended 102 "$no_int"
ended 103 "$by_int"
ended 104 "$trapped"
is 'INT at the deadline' '124 130 2 dockrun timeout' "$(cat 103.status) $(
    facts 103 .exit_code .signal .stop.by .stop.why)"
is 'after a second' yes "$(between 1000 2900 "$(facts 103 .duration_ms)")"
is 'a command that ends by itself upon it is a timeout all the same' \
    '0 42 null dockrun timeout' "$(cat 104.status) $(facts 104 .exit_code \
    .signal .stop.by .stop.why)"
is 'TERM for one that ignores INT' '0 143 15 dockrun timeout yes' \
    "$(cat 102.status) $(facts 102 .exit_code .signal .stop.by .stop.why) $(
    between 2000 3900 "$(facts 102 .duration_ms)")"
is 'KILL for one that ignores both' '124 137 null dockrun timeout yes' \
    "$(cat 101.status) $(facts 101 .exit_code .signal .stop.by .stop.why) $(
    between 7000 8900 "$(facts 101 .duration_ms)")"
run markrun runs/101 runs/103
is 'both are timeouts' '[101] ✗ Failed: Timeout after 1s
[103] ✗ Failed: Timeout after 1s' "$out"
is 'with this marker' 'Timed out after 1s' "$(cat runs/101/TIMEOUT)"

# dockrun was killed.
old=$(in_engine e0 container 106)
is 'its container outlives it' true \
    "$(in_engine e0 docker inspect -f '{{.State.Running}}' "$old")"
in_engine e0 session 106 -- /probe exit 6
is 'the next dockrun takes its place' '0 6 2' \
    "$(cat 106.status) $(facts 106 .exit_code .attempt)"
is 'and removes the old container' '' "$(in_engine e0 container 106)"
is 'and keeps what there was' 'agent.err agent.out run.json workspace' \
    "$(files runs/106/attempts/1)"
in_engine e0 until_true 200 is_ended "$orphan"
is 'nobody comes: it ends by a deadline of its own' '99 yes' "$(in_engine e0 \
    docker inspect -f '{{.State.ExitCode}}' "$orphan") $(between 10 120 \
    $(($(date +%s) - orphan_since)))"
is 'which is a little after the last step of dockrun' yes "$(between 13 16 \
    "$(in_engine e0 lifetime "$orphan")")"
run markrun runs/105
is 'there is no verdict' 66 "$status"
in_engine e0 session 105 -- /probe exit 1
is 'it is done again' '0 1 2 ' "$(cat 105.status) $(facts 105 .exit_code \
    .attempt) $(in_engine e0 container 105)"

# The engine was.
ended 111 "$killed"
ended 112 "$stopped"
ended 113 "$deserted"
ended 114 "$early"
is 'begun without an engine: it waits' '0 9 1' \
    "$(cat 114.status) $(facts 114 .exit_code .attempt)"
like 'and says so once' "^\\[114\\] engine at $work/e2/sock: GET /_ping: .*; \
waiting up to (600|599) s\$" "$(sed 1d 114.out)"
is 'INT while it waits' '130 dockrun: interrupted' \
    "$(cat 115.status) $(cat 115.err)"
is 'killed and back: done again' '0 7 null 2 ' "$(cat 111.status) $(facts 111 \
    .exit_code .stop .attempt) $(in_engine e1 docker ps -aq)"
is 'killed and back: no facts of the first' 'up ' \
    "$(cat runs/111/attempts/1/agent.out) $(find runs/111/attempts/1 \
    -name container.json)"
is 'stopped and back: done again, maybe twice' '0 8 null yes ' \
    "$(cat 112.status) $(facts 112 .exit_code .stop) $(between 2 4 \
    "$(facts 112 .attempt)") $(in_engine e2 docker ps -aq)"
is 'stopped and back: that was not its own end' '' \
    "$(find runs/112/attempts/1 -name container.json)"
is 'gone for good: try later' 75 "$(cat 113.status)"
like 'gone for good: it names the socket' \
    "^dockrun: engine at $work/e3/sock: GET /_ping: " "$(cat 113.err)"
like 'gone for good: it says what is left' \
    '^\[113\] could not remove the container; the next campaign ' \
    "$(tail -n 1 113.out)"
is 'no facts, but who was there' 'agent.err agent.out run.json workspace' \
    "$(files runs/113)"
until_true 200 is_gone "$desert_pid"
is 'its container has ended all the same' 1 "$(is_gone "$desert_pid" 2>/dev/null;
    echo $((1 - $?)))"
private_engine e3
is 'by its own deadline' 99 "$(in_engine e3 docker inspect -f \
    '{{.State.ExitCode}}' "$desert")"
in_engine e3 session 113 -- /probe exit 2
is 'the next dockrun removes it and goes on' '0 2 2 ' "$(cat 113.status) $(
    facts 113 .exit_code .attempt) $(in_engine e3 docker ps -aq)"
is 'no container of ours is left' '' \
    "$(docker ps -aq --filter "label=fuzzmill.campaign=real$$")"
done_testing
