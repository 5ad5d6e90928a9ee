#!/bin/sh
# SPDX-License-Identifier: MIT
# What a person does to a running campaign from another terminal.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=tests/docker/campaign.sh
. "$top/tests/docker/campaign.sh"
prepare

# starts: the runs that the last command began
starts () {
	sed -n 's/^\[\([0-9]*\)\] Starting.*/\1/p' .out | sort | paste -s -d ' '
}

# One run.
run fz RUNS=6 COMMAND='/agent 003=3' run RUN=003
is 'run RUN=003 runs it' '0 003' "$status $(starts)"
is 'and no other' 003 "$(done_of runs)"
run fz RUNS=6 COMMAND='/agent 003=3' run RUN=003
is 'a run with a verdict is not run again' "0 [003] has a verdict; to give it \
up: $B/bin/markrun --retract $work/runs/003" "$status $out"
run fz RUNS=6 COMMAND='/agent 003=3' run RUN=007
is 'a run beyond the last is refused' "2 ERROR: RUN=007: this campaign has \
the runs 001 to 006; RUNS=7 adds it" "$status $(sed -n 1p .err)"
is 'and not made' '' "$(find runs -name 007)"

# Again, but only what failed in that way.
run fz COMMAND='/agent 003=3 005=4' campaign
is 'the rest' '0 001 002 004 005 006' "$status $(starts)"
run fz COMMAND='/agent 005=4' STATUS=error retry
is 'retry STATUS=error: those' '0 003 005' "$status $(starts)"
is 'the attempt is kept whole' "$(printf '%s\n' ERROR agent.err agent.out \
    container.json result.json workspace)" "$(find runs/003/attempts/1 \
    -mindepth 1 -maxdepth 1 -printf '%f\n' | LC_ALL=C sort)"
is 'with its mark' 'Exit code: 3' "$(sed -n 1p runs/003/attempts/1/ERROR)"
is 'the run has one mark, the new one' SUCCESS \
    "$(basename runs/003/[A-Z]*)"
is 'the joblog has every attempt' 8 "$(tries_of runs)"
run fz COMMAND=/agent REASON=exit_nonzero retry
is 'retry REASON=exit_nonzero: that one' '0 005' "$status $(starts)"
run fz COMMAND=/agent REASON=oom retry
is 'retry of what is not there' '0 no run matches; nothing to do' \
    "$status $out"
run fz COMMAND=/agent STATUS=nonsense retry
is 'retry of nonsense' yes "$(test "$status" -ne 0 && echo yes)"
is 'gives nothing up' '001 002 003 004 005 006' "$(done_of runs)"

# A running one.
bg log RUNDIR="$work/live" RUNS=6 WORKERS=2 COMMAND='/agent gate' campaign
up live 001 002
run fz RUNDIR="$work/live" ps
is 'ps: a line for each' '0 RUN 001 002' \
    "$status $(cut -d ' ' -f 1 .out | paste -s -d ' ')"
like 'with CPU and memory' \
    '^001 +[0-9a-f]+ running +[0-9]+s +[0-9]+\.[0-9] +[0-9.]+[KM]/64\.0M' "$out"
run fz RUNDIR="$work/live" status
like 'status shows them too' '^  running     2$' "$out"
run fz RUNDIR="$work/live" logs RUN=001
is 'logs, but nothing a terminal would obey' '0 run 001: find bugs
esc\x1b[2Jape
�\x9b�1m' "$status $out"
fz RUNDIR="$work/live" logs RUN=001 FOLLOW=1 >followed 2>&1 &
follow=$!
pids="$pids $follow"
says followed 'run 001: find bugs'
is 'FOLLOW=1 shows what is there' 0 "$?"
run fz RUNDIR="$work/live" shell RUN=001
is 'no shell in an image without one' yes "$(test "$status" -ne 0 && echo yes)"
run fz RUNDIR="$work/live" shell RUN=004
is 'nor in a run that is not running' "2 ERROR: no run 004 in $work/live" \
    "$status $(sed -n 1p .err)"
run fz RUNDIR="$work/live" clean-runs CONFIRM=yes
is 'nobody deletes them now' "2 ERROR: a campaign is running in $work/live" \
    "$status $(sed -n 1p .err)"

# stop: what runs may end, what does not run may not begin.
run fz RUNDIR="$work/live" stop
is 'stop says what it does' "0 running sessions end, no new one starts; make \
kill ends them now" "$status $out"
is 'nothing was hurt' 2 "$(containers live)"
: >target/go
wait "$bg"
is 'a stopped campaign has not done all' 2 "$?"
is 'what ran has come to its end, nothing else began' '001 002' \
    "$(done_of live)"
like 'it says why' '^stopped by make stop at [-0-9]+ [0-9:]+$' "$(cat log)"
is 'how far' '2/6 complete' "$(grep -A 1 ^stopped log | tail -n 1)"
like 'and last the command that continues' "^continue with: make RUNS='6' \
WORKERS='2' RUNDIR='$work/live' .* campaign$" \
    "$(grep -v '^make: ' log | tail -n 1)"
wait "$follow"
is 'whoever follows is let go' 0 "$?"
run sh -c "cd '$tree' && $(sed -n \
    "s|^continue with: make|make B='$B' VERSION='$version'|p" log)"
like 'the next campaign says why it was stopped' \
    '^STOP was there \(stopped by make stop at .*\); going on$' "$out"
is 'and goes on' '0 003 004 005 006' "$status $(starts)"
is 'without STOP' '' "$(find live -name STOP)"
rm target/go

# kill: now.
bg log RUNDIR="$work/dead" RUNS=5 WORKERS=2 GRACE=60 COMMAND='/agent deaf 90' campaign
up dead 001 002
until_true 100 test -e dead/002/workspace/deaf
begun=$(date +%s)
run fz RUNDIR="$work/dead" kill
is 'kill names those it ended' '0 [001] killed [002] killed' \
    "$status $(sort .out | paste -s -d ' ')"
wait "$bg"
is 'the campaign is over' 2 "$?"
is 'soon' yes "$(test $(($(date +%s) - begun)) -lt 20 && echo yes)"
is 'no container, no verdict' '0 ' "$(containers dead) $(done_of dead)"
like 'it says why' '^stopped by make kill at ' "$(cat log)"
like 'and the command that continues' '^continue with: make ' "$(cat log)"
run fz RUNDIR="$work/dead" kill
is 'nothing left to kill' '0 no sessions are running' "$status $out"
run fz RUNDIR="$work/dead" COMMAND=/agent campaign
is 'the next campaign runs them all' '0 001 002 003 004 005' \
    "$status $(done_of dead)"
is 'what was killed is kept' 2 "$(find dead -path '*attempts/1/agent.out' | wc -l)"

# A shell inside, from an image that has one.
if test -x /bin/busybox && ! ldd /bin/busybox >/dev/null 2>&1
then
	busybox=/bin/busybox
else
	(mkdir deb && cd deb && apt-get -q download busybox-static &&
	    dpkg -x busybox-static_*.deb .) >/dev/null 2>&1
	busybox=deb/bin/busybox
fi
if test -x "$busybox"
then
	mkdir -p root/bin
	cp "$busybox" root/bin/sh
	tar c -C root . | docker import - "$image-sh" >/dev/null
	bg log RUNDIR="$work/inside" RUNS=1 IMAGE="$image-sh" GRACE=0 \
	    COMMAND='/bin/sh -c "echo >up; while :; do sleep 1; done"' campaign
	up inside 001
	# shellcheck disable=SC2016 # for the shell inside
	echo 'echo in $FUZZMILL_RUN; echo x >/etc/x; echo >/workspace/fuzz/made' |
	    fz RUNDIR="$work/inside" shell RUN=001 >.out 2>.err
	is 'a shell inside' 'in 001' "$(cat .out)"
	like 'with no more rights than the agent' "Read-only file system" \
	    "$(cat .err)"
	is 'in its workspace' inside/001/workspace/made \
	    "$(find inside/001/workspace/made)"
	# The terminal echoes what is typed; the sum is only in the answer.
	# shellcheck disable=SC2016
	press --on '[$#] ' 'echo $((40 + 2)); exit
' fz RUNDIR="$work/inside" shell RUN=001 >pressed
	is 'on a terminal too' 42 "$(grep -x 42 pressed)"
	fz RUNDIR="$work/inside" kill >/dev/null
	wait "$bg"
	docker rmi "$image-sh" >/dev/null
elif test -n "${STRICT:-}"
then
	is 'a static busybox, for a shell inside' there missing
fi
done_testing
