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

at_exit="cp engine/log /tmp/camp/engine.log; clean_up; stop_engine"
# The engine is killed, and comes back.
bg log RUNDIR="$work/engined" RUNS=4 WORKERS=2 COMMAND='/agent gate' campaign
up engined 001 002
kill -9 "$engine"
wait "$engine" 2>/dev/null
until_true 100 has_lines log 'trying again|waiting up to' 1
is 'sessions notice that the engine is gone' 0 "$?"
start_engine
: >target/go
wait "$bg"
is 'and go on when it is back' '0 001 002 003 004' "$? $(done_of engined)"
is 'one verdict each' 4 "$(tries_of engined)"
is 'nothing is left' '0 ' "$(containers engined) $(find engined/00? -maxdepth 1 -name run.json)"
done_testing
