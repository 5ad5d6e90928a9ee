#!/bin/sh
# SPDX-License-Identifier: MIT
# A campaign does the missing runs, all of them, each once, and says so.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=tests/docker/campaign.sh
. "$top/tests/docker/campaign.sh"
prepare

# What only an engine can refuse.
run fz IMAGE="$image-none" RUNS=2 COMMAND=/agent campaign
is 'an image that is not there' "2 ERROR: IMAGE=$image-none: not in the \
engine; build it, or docker pull $image-none" "$status $(sed -n 1p .err)"
run fz RUNDIR="$work/prompt.md/x" RUNS=2 COMMAND=/agent campaign
is 'a directory that cannot be' "2 fzplan: RUNDIR=$work/prompt.md/x: Not a \
directory; type \"make RUNDIR=DIR campaign\"" "$status $(sed -n 1p .err)"
is 'nothing was created' '' "$(find . -maxdepth 1 -name runs)"

# Every outcome, and the words.
run fz RUNS=5 WORKERS=2 TIMEOUT=1 GRACE=0 COMMAND='/agent 002=3 004=hang' campaign
is 'every run has a verdict: 0, though some failed' 0 "$status"
is 'nothing to complain about' '' "$err"
is 'the first line' 'Running 5 fuzz sessions with 2 workers...' \
    "$(sed -n 1p .out)"
is 'each session is announced once' \
    '[001] [002] [003] [004] [005]' \
    "$(sed -n 's/ Starting\.\.\.$//p' .out | sort | paste -s -d ' ')"
is 'two begin before one ends' 2 \
    "$(sed '/✓\|✗/,$d' .out | grep -c Starting)"
like 'a success' '^\[001\] ✓ Done \([0-9]+\.[0-9]s\)$' "$out"
like 'an error' '^\[002\] ✗ Failed: Container error \(exit 3\)$' "$out"
like 'a timeout' '^\[004\] ✗ Failed: Timeout after 1s$' "$out"
is 'how far it is' 'Progress: 5/5 complete' "$(grep Progress .out)"
is 'the closing words' "✓ All 5 sessions complete! Results in $work/runs/
3 success, 1 error, 1 timeout; 0 findings claimed
next: make status RUNDIR=$work/runs" "$(tail -n 3 .out)"
is 'no other line' 15 "$(wc -l <.out)"
is 'the agent got the prompt' 'run 003: find bugs' \
    "$(sed -n 1p runs/003/agent.out)"
is 'the mark is for people' 'Exit code: 3' "$(sed -n 1p runs/002/ERROR)"
is 'no container is left' 0 "$(containers)"
is 'the plain shell loop over the marks' '001 ok 002 bad 003 ok 004 late 005 ok' \
    "$(for d in runs/[0-9]*
	do
		if [ -f "$d/SUCCESS" ]; then echo "${d##*/} ok"
		elif [ -f "$d/TIMEOUT" ]; then echo "${d##*/} late"
		elif [ -f "$d/ERROR" ]; then echo "${d##*/} bad"; fi
	done | paste -s -d ' ')"

# The command that follows "next:" is one.
run sh -c "cd '$tree' && make B='$B' VERSION='$version' \
    $(sed -n 's/^next: make //p' .out)"
is 'the next command works' 0 "$status"
like 'and shows the runs' "^$work/runs: 5 of 5 done" "$out"

# Nothing to do.
before=$(find runs -type f -newermt 2000-01-01 -printf '%p %T@\n' | grep -v '\.lock ' | sort)
begun=$(date +%s)
run fz TIMEOUT=1 GRACE=0 COMMAND='/agent 002=3 004=hang' campaign
is 'a second campaign is complete at once' 0 "$status"
is 'and quick' yes "$(test $(($(date +%s) - begun)) -le 3 && echo yes)"
is 'RUNS is remembered, nothing is started' \
    "Running 5 fuzz sessions with 3 workers...
✓ All 5 sessions complete! Results in $work/runs/
3 success, 1 error, 1 timeout; 0 findings claimed
next: make status RUNDIR=$work/runs" "$out"
is 'no file was touched' "$before" \
    "$(find runs -type f -newermt 2000-01-01 -printf '%p %T@\n' | grep -v '\.lock ' | sort)"

# same COMMAND...: a campaign as before, with this much more
same () {
	run fz COMMAND='/agent 002=3 004=hang' TIMEOUT=1 GRACE=0 "$@" campaign
}

same RUNS=7
is 'more runs: 0' 0 "$status"
is 'exactly the new ones' '006 007' \
    "$(sed -n 's/^\[\(.*\)\] Starting.*/\1/p' .out | sort | paste -s -d ' ')"
is 'one line each in the joblog' 7 "$(tries_of runs)"
is 'campaign.json knows' '"runs":7' "$(grep -o '"runs":[0-9]*' runs/campaign.json)"
same RUNS=3
is 'fewer are refused' "2 ERROR: RUNS=3: this campaign has 7 runs; leave \
RUNS out, or run one: make run RUN=001" "$status $(sed -n 1p .err)"

rm runs/003/result.json
old=$(sha256sum <runs/003/container.json)
same
is 'a verdict taken away: this run and no other' '[003] Starting...' \
    "$(grep Starting .out)"
is 'the old attempt is kept whole' \
    'SUCCESS agent.err agent.out container.json workspace' \
    "$(find runs/003/attempts/1 -mindepth 1 -maxdepth 1 -printf '%f\n' | LC_ALL=C sort | paste -s -d ' ')"
is 'as it was' "$old" "$(sha256sum <runs/003/attempts/1/container.json)"
like 'the new one is the second' '"attempt":2,' "$(cat runs/003/result.json)"
is 'the joblog has one line more' 8 "$(tries_of runs)"

: >runs/005/result.json
echo '{"_schema":' >runs/006/result.json
same
is 'empty or broken verdicts are none' '0 005 006' \
    "$status $(sed -n 's/^\[\(.*\)\] Starting.*/\1/p' .out | sort | paste -s -d ' ')"
is 'they are kept too' 2 "$(cat runs/00[56]/attempts/1/result.json | wc -c | sed 's/12/2/')"
like 'and that is said' '^\[005\] verdict retracted; due again$' "$out"

# What was touched or changed does not make a paid session due.
touch prompt.md "$tree"/Makefile "$tree"/mk/* "$tree"/fuzz/prompt.md target/new
same
is 'touched files run nothing' '0 0' "$status $(grep -c Starting .out)"
is 'and are not mentioned' '' "$err"
echo 'find more bugs' >prompt.md
same TIMEOUT=2 RUNS=8
is 'changed inputs: one line that names them' \
    'changed since this campaign began: timeout (1 -> 2), prompt; new runs record it' "$err"
is 'only the new run is run' '0 [008] Starting...' \
    "$status $(grep Starting .out)"
is 'and has its own prompt recorded' "$(sha256sum <prompt.md | cut -c 1-64)" \
    "$(sed 's/.*"prompt_sha256":"\([0-9a-f]*\).*/\1/' runs/008/result.json)"
is 'the others keep theirs' "$(echo 'find bugs' | sha256sum | cut -c 1-64)" \
    "$(sed 's/.*"prompt_sha256":"\([0-9a-f]*\).*/\1/' runs/007/result.json)"
echo 'find bugs' >prompt.md
docker tag "$image" "$image-other"
same IMAGE="$image-other"
is 'another name of the same image is no change' '' "$err"
docker rmi "$image-other" >/dev/null

cp -r target elsewhere
run fz TARGET="$work/elsewhere" RUNS=20 campaign
is 'another target is refused' 2 "$status"
is 'with what to type' "fzplan: TARGET is $work/elsewhere, but this campaign \
was begun with $work/target: type \"make TARGET=$work/target campaign\" to go \
on, or \"make RUNDIR=DIR TARGET=$work/elsewhere campaign\" for a new one" \
    "$(grep fzplan .err)"
run fz AGENT=demo RUNS=20 PROMPT="$work/prompt.md" campaign
is 'another agent too' "2 fzplan: AGENT is demo, but this campaign was begun \
with command: type \"make AGENT=command campaign\" to go on, or \"make \
RUNDIR=DIR AGENT=demo campaign\" for a new one" "$status $(grep fzplan .err)"
is 'and nothing was run or planned' '8 "runs":8' \
    "$(done_of runs | wc -w) $(grep -o '"runs":[0-9]*' runs/campaign.json)"

# A workflow of one's own: where the target is, settings, prompt.
mkdir "$tree/fuzz/workflows/mine"
printf 'DESCRIPTION := mine\nMOUNT := /mine\n' >"$tree/fuzz/workflows/mine/workflow.mk"
echo POSTGRES_HOST=db >"$tree/fuzz/workflows/mine/env"
echo 'as I say' >"$tree/fuzz/workflows/mine/prompt.md"
run make --no-print-directory -C "$tree" B="$B" VERSION="$version" \
    AGENT=command IMAGE="$image" TARGET="$work/target" RUNDIR="$work/mine" \
    WORKFLOW=mine RUNS=1 COMMAND='/agent tell:POSTGRES_HOST has:/mine/new' campaign
is 'a workflow: mount, environment, prompt' \
    '0 run 001: as I say POSTGRES_HOST=db /mine/new is there' \
    "$status $(grep -a -v esc mine/001/agent.out | grep -a ' \|=' | paste -s -d ' ')"

# One campaign per directory, several in several.
bg first RUNDIR="$work/one" RUNS=2 COMMAND='/agent gate' campaign
one=$bg
bg other RUNDIR="$work/two" RUNS=2 COMMAND='/agent gate' campaign
up one 001 002 && up two 001 002
is 'two campaigns at once' '2 2' "$(containers one) $(containers two)"
cp one/campaign.json planned
run fz RUNDIR="$work/one" RUNS=9 TIMEOUT=7 COMMAND='/agent gate' campaign
is 'a second one in the same directory is refused' 2 "$status"
like 'which names who is there' "^ERROR: another campaign is running in \
$work/one: process $(child_of "$one") on $(uname -n), since [-0-9]+ [0-9:]+; make stop lets it end, make kill ends it now$" "$err"
is 'and changes nothing of its plan' "$(cat planned)" "$(cat one/campaign.json)"
like 'with 75' 'Error 75$' "$err"
is 'and nothing of theirs is hurt' '2 2' "$(containers one) $(containers two)"
: >target/go
wait "$bg"
is 'the one ends well' 0 "$?"
wait "$one"
is 'the other too' "0 ✓ All 2 sessions complete! Results in $work/one/" \
    "$? $(grep ✓.All first)"
is 'each session was run once' '2 2' "$(tries_of one) $(tries_of two)"
rm target/go

# make never deletes a verdict: its recipe fails right after the rename ...
mkdir -p precious/joblog.tsv
run fz RUNDIR="$work/precious" RUNS=1 COMMAND=/agent campaign
like 'a recipe that fails after the verdict' \
    'joblog.tsv: Is a directory' "$err"
is 'leaves it' 1 "$(grep -c '"outcome":"success"' precious/001/result.json)"
is 'and the campaign is complete' 0 "$status"
# ... or Ctrl-C comes then: the recipe waits for the lock of the joblog.
rmdir precious/joblog.tsv
exec 8>>precious/joblog.tsv
flock 8
press --on '002. .* Done' '^C' fz RUNDIR="$work/precious" RUNS=2 \
    COMMAND=/agent campaign >pressed
is 'Ctrl-C right after the rename leaves it, too' 1 \
    "$(grep -c '"outcome":"success"' precious/002/result.json)"
is 'it was right after: the log has no line' 0 "$(wc -l <precious/joblog.tsv)"
exec 8>&-

# Ctrl-C on a terminal.
# shellcheck disable=SC2016 # for the inner shell
press --when "$work/pty/001/result.json" '' \
    --when "$work/pty/002/workspace/up" '^C' sh -c 'trap : INT; fz "$@"; echo "exit $?"
    docker ps -a --filter "label=fuzzmill.campaign=$(sed \
    "s/.*\"id\":\"\([0-9a-f]*\).*/\1/" pty/campaign.json)" --format "left {{.Names}}"
    find pty -name run.json' sh \
    RUNDIR="$work/pty" RUNS=5 WORKERS=2 COMMAND='/agent 001=0 1.5' campaign >pressed
like 'a session says that it stops' \
    '^(\^C)?\[002\] stopping, up to 6 s; again kills now' "$(cat pressed)"
had=$(done_of pty | wc -w)
is 'some are done, some are not' yes \
    "$(test "$had" -ge 1 && test "$had" -lt 5 && echo yes)"
is 'then how to go on, and the prompt when all is clean' "interrupted
$had/5 complete
continue with: make RUNS='5' WORKERS='2' RUNDIR='$work/pty' AGENT='command' \
PROMPT='$work/prompt.md' TARGET='$work/target' IMAGE='$image' \
COMMAND='/agent 001=0 1.5' TIMEOUT='60' GRACE='1' MEMORY='64m' campaign
exit 130" "$(sed -n '/^interrupted/,$p' pressed | grep -v '^make: ')"
started=$(tries_of pty)
run sh -c "cd '$tree' && $(sed -n \
    "s|^continue with: make|make B='$B' VERSION='$version'|p" pressed)"
is 'that command does the rest' '0 001 002 003 004 005' \
    "$status $(done_of pty)"
is 'and nothing but the rest' $((5 - had)) $(($(tries_of pty) - started))

rm -r pty
set --
for id in 001 002 003 004 005
do
	set -- "$@" --when "$work/pty/$id/workspace/deaf" ''
done
press "$@" --on '' '^C' --on '(stopping[^@]*){5}' '^C' fz RUNDIR="$work/pty" \
    RUNS=7 WORKERS=5 GRACE=90 COMMAND='/agent deaf 200' campaign >pressed
left=$(containers pty)
like 'a deaf agent is waited for' '\[002\] stopping, up to 95 s' "$(cat pressed)"
is 'a second Ctrl-C does not wait for it' 1 "$(grep -c '^continue with' pressed)"
is 'but for every session to be clean' 5 \
    "$(sed '/^interrupted/,$d' pressed | grep -c 'dockrun: interrupted')"
is 'nothing is left' '0 ' "$left $(done_of pty)"
done_testing
