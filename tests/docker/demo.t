#!/bin/sh
# SPDX-License-Identifier: MIT
# "make demo" shows real sessions, real bugs, and says what it was.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=tests/docker/campaign.sh
. "$top/tests/docker/campaign.sh"
# The demo's image has one name for all; an engine of our own has none yet.
if test "$(id -u)" -eq 0 && command -v dockerd >/dev/null
then
	at_exit=stop_engine
	start_engine || skip_all 'dockerd does not start'
else
	docker version >/dev/null 2>&1 || skip_all 'no engine, or no docker client'
	docker rmi fuzzmill-demo >/dev/null 2>&1
fi
copy_tree
# Builds of its own, to have runs of its own; the programs are the same.
mkdir build
cp -a "$B/bin" "$B/lib" "$B"/*.a "$B/flags" "$B/version" build
for dir in "$B"/*/
do
	test ! -e "$top/tools/$(basename "$dir")" || cp -a "$dir" build
done

demo () {
	make --no-print-directory -C "$tree" B="$work/build" VERSION="$version" \
	    "$@" demo
}

# crashes RUNDIR: the kinds there are
crashes () {
	cat "$1"/*/workspace/findings.jsonl | grep -o 'signal [0-9]* ([A-Z]*)' |
	    sed 's/.*(//; s/)//' | sort -u | paste -s -d ' '
}

# findings RUNDIR: whose, with their programs, as hashes
findings () {
	(cd "$1" && find . -path '*/workspace/*' -type f -exec sha256sum {} + |
	    sort -k 2)
}

begun=$(date +%s)
run demo
is 'the demo succeeds' 0 "$status"
is 'without a complaint' '' "$err"
is 'within two minutes' yes "$(test $(($(date +%s) - begun)) -lt 120 && echo yes)"
sed '/^  [A-Z]* *[^ ]*$/d' .out >words
is 'it begins with' 'Building image...
Running 8 fuzz sessions with 4 workers...' "$(sed -n 1,2p words)"
is 'each session is announced' 8 "$(grep -c 'Starting\.\.\.$' words)"
is 'one times out' '[005] ✗ Failed: Timeout after 10s' "$(grep '✗ .*Timeout' words)"
is 'one fails' '[003] ✗ Failed: Container error (exit 3)' \
    "$(grep '✗ .*exit' words)"
is 'six end well' 6 "$(grep -c '^\[00[1-8]\] ✓ Done ([0-9.]*s)$' words)"
is 'progress' 'Progress: 8/8 complete' "$(grep Progress words)"
is 'the closing' "✓ All 8 sessions complete! Results in $work/build/demo-runs/" \
    "$(grep '✓ All' words)"
like 'the counts' '^6 success, 1 error, 1 timeout; [1-9][0-9]* findings claimed$' \
    "$(grep '^6 success' words)"
like 'the status table' "^$work/build/demo-runs: 8 of 8 done$" "$(cat words)"
like 'with its counts' '^✓ success     6$' "$(cat words)"
like 'and the last failures' '^  005  timeout  wall_clock ' "$(cat words)"
claimed=$(cat build/demo-runs/*/workspace/findings.jsonl | wc -l)
is 'it ends with the truth' "No model was used: a random generator (seed 11) \
played the agent,
and a small interpreter with two planted bugs was the target.
It claimed $claimed findings; they are in \
$work/build/demo-runs/*/workspace/findings.jsonl.
next: make help, or a campaign of your own as in README.md" \
    "$(tail -n 4 words)"
is 'the counts agree' "$claimed findings claimed" \
    "$(grep -o '[0-9]* findings claimed' words)"
is 'both bugs were found' 'SIGFPE SIGSEGV' "$(crashes build/demo-runs)"

# A claim can be checked by hand, and the twin has no such bug.
claim=$(find build/demo-runs -name findings.jsonl | sort | sed -n 1p)
program=$(dirname "$claim")/$(sed -n '1s/.*"repro":"\([^"]*\)".*/\1/p' "$claim")
signal=$(sed -n '1s/.*signal \([0-9]*\).*/\1/p' "$claim")
run sh -c "build/demo/target/calc '$program'; exit \$?"
is 'a claim holds' $((128 + signal)) "$status"
run build/demo/clean/calc "$program"
is 'and not in the clean twin' yes "$(test "$status" -lt 2 && echo yes)"
is 'the image holds our program and nothing else' demo-agent \
    "$(docker save fuzzmill-demo | tar xO --wildcards '*/layer.tar' | tar t)"
is 'no container is left' 0 "$(containers build/demo-runs)"

findings build/demo-runs >first
run demo
is 'a second demo succeeds' 0 "$status"
is 'its image is there already' 'Running 8 fuzz sessions with 4 workers...' \
    "$(sed -n 1p .out)"
is 'it is a new campaign' 8 "$(tries_of build/demo-runs)"
findings build/demo-runs | grep -v /005/ >second
is 'the same seed finds the same' "$(grep -v /005/ first)" "$(cat second)"

# Two at once would pull the ground from under each other.
exec 8>>build/demo-runs/.lock
flock 8
run demo
is 'a demo in use is left alone' \
    "2 ERROR: another demo is running in $work/build/demo-runs" \
    "$status $(sed -n 1p .err)"
is 'indeed' 8 "$(done_of build/demo-runs | wc -w)"
exec 8>&-
done_testing
