#!/bin/sh
# SPDX-License-Identifier: MIT
# Live sessions are listed, orphans swept up, and nobody else is touched.
# Its orphans are anybody's: run it where no campaign begins meanwhile, or
# with DOCKER_HOST naming an engine of its own.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"

docker version >/dev/null 2>&1 || skip_all 'no engine, or no docker client'
cc=${CC:-cc}
image=fzps-test:$$
campaign=$(printf '%016x' $$)
other=f$(printf '%015x' $$)
procs=

clean_up () {
	docker ps -aq --filter "label=fzps.test=$$" |
	    xargs -r docker rm -f >/dev/null 2>&1
	docker rmi "$image" >/dev/null 2>&1
	# shellcheck disable=SC2086
	test -z "$procs" || kill -9 $procs 2>/dev/null
}
at_exit=clean_up

# owner PID: the word dockrun would put into a label
owner () {
	echo "$(cat /proc/sys/kernel/random/boot_id)/$(
	    readlink "/proc/$1/ns/pid")/$1/$(
	    sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f20)"
}

# session RUN CAMPAIGN OWNER [ARGUMENT...]: a container as dockrun makes it
session () {
	r=$1 c=$2 o=$3
	shift 3
	docker run -d --network none --memory 64m --label "fzps.test=$$" \
	    --name "fz-$r-$c" --label fuzzmill=1 --label "fuzzmill.run=$r" \
	    --label "fuzzmill.campaign=$c" ${o:+--label "fuzzmill.owner=$o"} \
	    "$image" /idle "$@"
}

# ours: names of the test's containers
ours () {
	docker ps -a --format '{{.Names}}' --filter "label=fzps.test=$$" |
	    sort | tr '\n' ' '
}

campaign_in () {
	mkdir -p "$1"
	printf '{"_schema":"fz-campaign/1","id":"%s","runs":9,"inputs":{}}\n' \
	    "$2" >"$1/campaign.json"
}

run fzps --help
is '--help succeeds' 0 "$status"
like '--help goes to stdout' '^usage: fzps ' "$out"
run fzps --version
like '--version names the program' '^fzps [^ ]+$' "$out"
for wrong in --kill '--reap --kill runs' '--json --reap' 'a b' --frob
do
	# shellcheck disable=SC2086
	run fzps $wrong
	is "misuse: $wrong" 64 "$status"
	is "nothing on stdout: $wrong" '' "$out"
done
run env DOCKER_HOST="unix://$work/none" fzps
is 'no engine: 69' 69 "$status"
like 'and the socket is named' "^fzps: engine at $work/none: " "$err"
run env DOCKER_HOST=tcp://127.0.0.1:1 fzps
is 'an engine over TCP is refused' 78 "$status"
run fzps nowhere
is 'a missing RUNDIR' "66 fzps: nowhere: No such file or directory" \
    "$status $err"
mkdir empty
run fzps empty
is 'a RUNDIR without a campaign' \
    '66 fzps: empty: no campaign has been begun here' "$status $err"
echo '{"_schema":"fz-campaign/2"}' >empty/campaign.json
run fzps --kill empty
is 'a newer campaign' 65 "$status"

cat >idle.c <<'END'
#include <unistd.h>
int
main(int argc, char *argv[])
{
	(void)argv;
	while (argc > 1)
		;
	return pause();
}
END
$cc -static -O0 -o idle idle.c || skip_all 'no static C library'
tar c idle | docker import - "$image" >/dev/null || skip_all 'no import'
campaign_in runs "$campaign"
campaign_in others "$other"
sleep 1000 &
live=$!
procs=$live
alive=$(owner "$live")
sleep 1000 &
gone=$!
dead=$(owner "$gone")
kill "$gone"
wait "$gone" 2>/dev/null

run fzps runs
is 'none of this campaign' '0 no sessions are running' "$status $out"
run fzps --json runs
is 'none as JSON' '{"_schema":"fz-ps/1","sessions":[]}' "$out"
run fzps --kill runs
is 'none to kill' '0 no sessions are running' "$status $out"

c1=$(session 1000 "$campaign" "$alive")
c2=$(session 007 "$campaign" "$dead" burn)
c3=$(session 008 "$campaign" '')
c4=$(session 009 "$campaign" "${alive%/*}/1")
session 001 "$other" "$alive" >/dev/null
docker stop -t 0 "$c3" >/dev/null
run fzps runs
is 'sessions are listed' 0 "$status"
is 'the columns' 'RUN CONTAINER STATE AGE CPU% MEMORY PIDS OWNER' \
    "$(sed -n 1p .out | tr -s ' ')"
is 'ordered by run, this campaign only' 'RUN 007 008 009 1000' \
    "$(cut -d' ' -f1 .out | tr '\n' ' ' | sed 's/ $//')"
size='[0-9]+\.[0-9][KM]/64\.0M'
short () {
	printf %.12s "$1"
}
like 'an idle one' "^1000 +$(short "$c1") running +[0-9]+s +0\.[0-9] +$size \
+1 $live\$" "$(grep ^1000 .out)"
like 'a busy one of a dead owner' "^007 +$(short "$c2") running +[0-9]+s \
+[0-9]{2,3}\.[0-9] +$size +1 dead\$" "$(grep ^007 .out)"
like 'a stopped one with no owner' \
    "^008 +$(short "$c3") exited +[0-9]+s +- +- +- -\$" "$(grep ^008 .out)"
like 'a pid of another process is a dead owner' \
    "^009 +$(short "$c4") running .* dead\$" "$(grep ^009 .out)"

run fzps --json runs
is 'the same as JSON' '0 007 008 009 1000' \
    "$status $(jq -r '[.sessions[].run] | join(" ")' .out)"
is 'facts of one' "$campaign $c1 fz-1000-$campaign running 67108864 1 $live \
true" "$(jq -r '.sessions[3] | [.campaign, .container, .name, .state,
    .memory_limit_bytes, .pids, .owner_pid, .owner_alive] |
    map(tostring) | join(" ")' .out)"
is 'a dead owner has no pid' 'null false' \
    "$(jq -r '.sessions[0] | "\(.owner_pid) \(.owner_alive)"' .out)"
is 'what is unknown is null' 'null null null null null' \
    "$(jq -r '.sessions[1] | [.cpu_milli, .memory_bytes, .pids, .owner_pid,
    .owner_alive] | map(tostring) | join(" ")' .out)"
run fzps
like 'without RUNDIR all campaigns are shown' '^001 ' "$out"
if test -c /dev/full
then
	fzps runs >/dev/full 2>.err
	is 'a full disk is no success' \
	    '74 fzps: stdout: No space left on device' "$? $(cat .err)"
fi

# The engine takes a second or two for each.
many=e$(printf '%015x' $$)
campaign_in many "$many"
for r in 001 002 003 004 005 006 007 008
do
	session $r "$many" "$alive"
done >ids
begun=$(date +%s)
run fzps many
took=$(($(date +%s) - begun))
is 'usage of all' 8 "$(grep -c "$size +1 $live\$" -E .out)"
is 'is asked for at the same time' yes \
    "$(test "$took" -lt 8 && echo yes || echo "$took s")"
xargs docker rm -f <ids >/dev/null

# Owners of another pid namespace, another boot, or of no sense at all.
far=$(echo "$alive" | sed 's/pid:\[[0-9]*\]/pid:[1]/')
old=00000000-0000-0000-0000-000000000000/${alive#*/}
session 010 "$campaign" "$far" >/dev/null
session 011 "$campaign" "$old" >/dev/null
session 012 "$campaign" 'a/b/c' >/dev/null
run fzps --reap nowhere
is 'orphans are removed' 0 "$status"
is 'and named, these and no others' "removed orphan fz-007-$campaign (its \
dockrun is gone)
removed orphan fz-009-$campaign (its dockrun is gone)
removed orphan fz-011-$campaign (its dockrun is gone)" \
    "$(grep -e "$campaign" -e "$other" .out)"
is 'owners alive or unknown keep theirs' "fz-001-$other fz-008-$campaign \
fz-010-$campaign fz-012-$campaign fz-1000-$campaign " "$(ours)"
run fzps --reap
is 'a second time there is nothing to say' '' \
    "$(grep -e "$campaign" -e "$other" .out)"

i=0
while test $i -lt 5
do
	session 020 "$campaign" "$dead" >/dev/null
	fzps --reap >/dev/null 2>one &
	first=$!
	fzps --reap >/dev/null 2>two
	status=$?
	wait "$first" || status=$?
	test "$status" = 0 || cat one two
	i=$((i + 1))
done >both.log
is 'two sweepers do not stumble' '' "$(cat both.log)"

i=0
while test $i -lt 5
do
	session 021 "$campaign" "$alive" >/dev/null
	fzps runs >one 2>&1 &
	first=$!
	docker rm -f "fz-021-$campaign" >/dev/null
	wait "$first" || cat one
	i=$((i + 1))
done >vanish.log
is 'one that vanishes meanwhile is no error' '' "$(cat vanish.log)"

# A dockrun as far as signals go: the first is patience, the second the end.
cat >dockrun-like <<'END'
#!/bin/sh
trap 'n=$((n + 1)); echo TERM >>"$1.signals"' TERM
n=0
: >"$1.ready"
while test $n -lt 2
do
	sleep 0.05
done
docker rm -f "$2" >/dev/null
END
chmod +x dockrun-like
docker ps -aq --filter "label=fuzzmill.campaign=$campaign" |
    xargs docker rm -f >/dev/null
for r in 031 032
do
	./dockrun-like "$r" "fz-$r-$campaign" &
	procs="$procs $!"
	until_true 50 test -e "$r.ready"
	session "$r" "$campaign" "$(owner $!)" >/dev/null
done
session 033 "$campaign" "$dead" >/dev/null
session 034 "$campaign" "$far" >/dev/null
session 035 "$campaign" '' >/dev/null
docker stop -t 0 "fz-035-$campaign" >/dev/null
begun=$(date +%s)
run fzps --kill runs
took=$(($(date +%s) - begun))
is 'a campaign is killed' 0 "$status"
is 'a line per run' '[031] killed
[032] killed
[033] killed
[034] killed
[035] killed' "$(sort .out)"
is 'no error' '' "$err"
is 'each dockrun was asked twice' 4 "$(cat 031.signals 032.signals | wc -l)"
is 'nobody was waited for in vain' yes \
    "$(test "$took" -le 8 && echo yes || echo "$took s")"
is 'only the other campaign is left' "fz-001-$other " "$(ours)"
is 'and its owner, whose pid was in a far label' 0 \
    "$(kill -0 "$live"; echo $?)"

# Deaf to everything: the container goes nevertheless.
sh -c 'trap "" TERM; : >deaf.ready; while :; do sleep 0.2; done' &
deaf=$!
procs="$procs $deaf"
until_true 50 test -e deaf.ready
session 036 "$campaign" "$(owner "$deaf")" >/dev/null
begun=$(date +%s)
run fzps --kill runs
took=$(($(date +%s) - begun))
is 'a deaf dockrun loses its container' '0 [036] killed' "$status $out"
is 'after 15 seconds' yes \
    "$(test "$took" -ge 14 && test "$took" -le 20 && echo yes || echo "$took")"
is 'the process itself is left alone' 0 "$(kill -0 "$deaf"; echo $?)"
kill -9 "$deaf"
wait "$deaf" 2>/dev/null

# An engine that misbehaves.
# fake CALL=KIND COMMAND...
fake () {
	bad_call=$1
	shift
	/usr/bin/python3 "$top/tests/fake/engine.py" --sock "$work/e.sock" \
	    --log e.log --state e.json --run-ms 60000 \
	    --misbehave "$bad_call" >/dev/null 2>&1 &
	engine=$!
	until_true 50 curl -sf --unix-socket e.sock http://d/_ping
	f=http://d/v1.41/containers
	id=$(curl -s --unix-socket e.sock -H 'Content-Type: application/json' \
	    -d "{\"Image\":\"demo\",\"Labels\":{\"fuzzmill\":\"1\",
	    \"fuzzmill.run\":\"\\u001b[2J\",\"fuzzmill.owner\":\"$dead\"}}" \
	    "$f/create?name=fz-001-00000000" | jq -r .Id)
	curl -s --unix-socket e.sock -X POST "$f/$id/start"
	run env DOCKER_HOST="unix://$work/e.sock" "$@"
	kill "$engine"
	wait "$engine" 2>/dev/null
}

while read -r bad_call option wanted
do
	fake "$bad_call" fzps "$option"
	is "$bad_call with $option: $wanted" "$wanted" "$status"
done <<'END'
list=500 --json 75
list=half --json 69
list=cut --reap 69
list=huge --json 76
list=hugeok --json 76
list=garbage --reap 76
list=badhttp --json 69
remove=500 --reap 75
remove=cut --reap 69
remove=404 --reap 0
END
for kind in 500 garbage half huge notjsonobj
do
	fake "stats=$kind" fzps
	like "stats=$kind: the session is listed, its usage unknown" \
	    '^- .* running +[0-9]+s +- +- +- dead$' "$out"
done
fake stats=404 fzps
is 'stats=404: it has just ended' '0 no sessions are running' "$status $out"
fake ping=version fzps
is 'an engine too old is refused' 78 "$status"
done_testing
