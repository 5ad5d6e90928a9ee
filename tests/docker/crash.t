#!/bin/sh
# SPDX-License-Identifier: MIT
# Whatever is killed in the middle of a campaign, the next one ends it with
# one verdict per run.  Uses an engine of its own.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=tests/docker/campaign.sh
. "$top/tests/docker/campaign.sh"
test "$(id -u)" -eq 0 || skip_all 'an engine of its own needs root'
command -v dockerd >/dev/null || skip_all 'an engine of its own needs dockerd'
start_engine || skip_all "dockerd does not start: $(tail -n 1 engine/log)"
prepare
at_exit='clean_up; stop_engine'

# owner RUNDIR/RUN: the dockrun that looks after it
owner () {
	sed 's|.*"owner":"[^"]*/\([0-9]*\)/[0-9]*".*|\1|' "$1/run.json"
}

# make is killed, its sessions live.
bg log RUNS=4 WORKERS=2 COMMAND='/agent gate' campaign
up runs 001 002
script=$(child_of "$bg")
kill -9 "$bg"
wait "$bg" 2>/dev/null
run fz COMMAND='/agent gate' campaign
is 'the outer make is gone: the campaign is not' 2 "$status"
like 'so a second is refused' \
    "^ERROR: another campaign is running in $work/runs: process $script " "$err"
dockruns="$(owner runs/001) $(owner runs/002)"
kill -9 "$script" "$(child_of "$script")"
bg second WORKERS=2 COMMAND='/agent gate' campaign
says second 'still at work' 2
is 'all makes are gone: the next waits for what they left' \
    '[001] an earlier session is still at work; waiting for it [002] an earlier session is still at work; waiting for it' \
    "$(grep 'still at work' second | sort | paste -s -d ' ')"
is 'no run has two sessions' 2 "$(containers)"
is 'they are the same ones' "$dockruns" "$(owner runs/001) $(owner runs/002)"
: >target/go
wait "$bg"
is 'it comes to its end' '0 001 002 003 004' "$? $(done_of runs)"
is 'each run was paid once' '4 ' "$(tries_of runs) $(find runs -name attempts)"
is 'nothing is left' '0 ' "$(containers) $(find runs/00? -maxdepth 1 -name run.json)"
rm target/go

# The machine stopped between the facts and the verdict.
mkdir kept && cp runs/003/container.json kept
rm runs/003/result.json runs/003/SUCCESS
run fz COMMAND='/agent gate' campaign
is 'facts that nobody judged are judged, not paid again' '0 0' \
    "$status $(grep -c Starting .out)"
is 'as they were' "$(cat kept/container.json)" "$(cat runs/003/container.json)"

# A dockrun is killed; another campaign is none of its business.
bg other.log RUNDIR="$work/other" RUNS=1 COMMAND='/agent gate' campaign
alive=$bg
bg log RUNDIR="$work/hurt" RUNS=3 WORKERS=1 COMMAND='/agent gate' campaign
up other 001 && up hurt 001
kill -9 "$(owner hurt/001)"
wait "$bg"
is 'a killed dockrun ends the campaign' 2 "$?"
is 'which says so' '0/3 complete' "$(grep complete log)"
like 'and how to go on' '^continue with: make ' "$(cat log)"
is 'its container is an orphan' 1 "$(containers hurt)"
run fz RUNDIR="$work/hurt" COMMAND=/agent campaign
like 'that the next campaign removes' \
    '^removed orphan fz-001-[0-9a-f]{8} \(its dockrun is gone\)$' "$out"
is 'it and no other' '1 1' "$(grep -c orphan .out) $(containers other)"
is 'then the run is run again' '0 001 002 003' "$status $(done_of hurt)"
like 'what there was of it is kept' 'run 001: find bugs' \
    "$(cat hurt/001/attempts/1/agent.out)"
: >target/go
wait "$alive"
is 'the other campaign ends well' '0 1' "$? $(tries_of other)"
rm target/go

# The engine is killed, and comes back.
bg log RUNDIR="$work/engined" RUNS=4 WORKERS=2 COMMAND='/agent gate' campaign
up engined 001 002
kill_engine
until_true 100 has_lines log 'trying again|waiting up to' 1
is 'sessions notice that the engine is gone' 0 "$?"
start_engine || tail -n 3 engine/log
: >target/go
wait "$bg"
is 'and go on when it is back' '0 001 002 003 004' "$? $(done_of engined)"
is 'one verdict each' 4 "$(tries_of engined)"
is 'nothing is left' '0 ' "$(containers engined) $(find engined/00? -maxdepth 1 -name run.json)"
done_testing
