#!/bin/sh
# SPDX-License-Identifier: MIT
# What a campaign says and refuses before it asks an engine for anything.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/docker/campaign.sh
. "$top/tests/docker/campaign.sh"

DOCKER_HOST=unix://$work/none
export DOCKER_HOST
make_target
echo 'find bugs' >prompt.md
echo 'permit x' >policy.conf
copy_tree
make_fz
fz all >/dev/null || exit 99

# refused DESCRIPTION STATUS MESSAGE WORD...: one message, and nothing made
refused () {
	what=$1
	want=$2
	message=$3
	shift 3
	run fz COMMAND=/agent RUNS=2 "$@"
	is "$what: refused with its reason" "2 $message" \
	    "$status $(grep -v '^make: ' .err)"
	is "$what: $want, and nothing on stdout" " $want" \
	    "$out$(sed -n 's/^make: .*Error//p' .err)"
	is "$what: nothing was created" '' \
	    "$(find . tree/fuzz tree/fuzz/runs -maxdepth 1 -name 'runs' -o -name 'a b' 2>/dev/null)"
}

number='not a whole number from 1 to 1000000'
refused 'RUNS=0' 64 "ERROR: RUNS=0: $number" RUNS=0 campaign
refused 'RUNS=abc' 64 "ERROR: RUNS=abc: $number" RUNS=abc campaign
refused 'RUNS=-1' 64 "ERROR: RUNS=-1: $number" RUNS=-1 campaign
refused 'RUNS=1e3' 64 "ERROR: RUNS=1e3: $number" RUNS=1e3 campaign
refused 'RUNS too big' 64 "ERROR: RUNS=10000000000: $number" \
    RUNS=10000000000 campaign
refused 'WORKERS=0' 64 \
    'ERROR: WORKERS=0: not a whole number from 1 to 9999' WORKERS=0 campaign
refused 'a missing prompt' 66 \
    'ERROR: PROMPT=nope.md: no such file; type make PROMPT=FILE campaign' \
    PROMPT=nope.md campaign
refused 'no target' 64 "ERROR: Set TARGET, the directory to fuzz: echo \
'TARGET = /path/to/it' > conf/local.mk" TARGET= campaign
refused 'a missing target' 66 'ERROR: TARGET=/nope: no such directory' \
    TARGET=/nope campaign
refused 'the root as target' 78 \
    'dockrun: target /: the whole machine is no target' TARGET=/ campaign
refused 'no image' 64 \
    'ERROR: Set IMAGE, the image that holds the agent: make IMAGE=name campaign' \
    IMAGE= campaign
refused 'no key' 78 'ERROR: Set ANTHROPIC_API_KEY' AGENT=claude \
    PROXY_DIR="$work/proxy" campaign
refused 'a bad policy' 65 "$work/policy.conf:1: unknown word \"permit\"; a \
line begins with api, allow or service
netpolicy: $work/policy.conf: 1 error; nothing was done" \
    POLICY="$work/policy.conf" campaign
refused 'RETRIES=x' 64 \
    'ERROR: RETRIES=x RETRY_WAIT=10: whole numbers up to 9999' \
    RETRIES=x campaign
refused 'an unknown agent' 66 \
    'ERROR: AGENT=x: there is no conf/agents/x.mk; there is: claude command demo' \
    AGENT=x campaign
refused 'an unknown workflow' 66 \
    'ERROR: WORKFLOW=x: there is no fuzz/workflows/x; type make workflows' \
    WORKFLOW=x campaign
refused 'an unknown pool' 64 'ERROR: POOL=x: make or parallel' POOL=x campaign
refused 'DRY_RUN=yes' 64 'ERROR: DRY_RUN=yes: 1, or nothing' DRY_RUN=yes campaign
refused 'a directory make cannot name' 64 \
    "ERROR: RUNDIR=$work/a b: letters, digits and ._/+@,- only" \
    RUNDIR="$work/a b" campaign
refused 'a directory make would misread' 64 \
    "ERROR: RUNDIR=$work/a=b: letters, digits and ._/+@,- only" \
    RUNDIR="$work/a=b" campaign
refused '-j alone' 64 "ERROR: -j without a number would start every session \
at once; type -j8" -j campaign
refused 'a bad limit' 64 'dockrun: --memory: "lots" is not a size such as 512m or 2g' \
    MEMORY=lots campaign
refused 'an unwritable directory' 73 "fzplan: RUNDIR=$work/prompt.md/x: Not a \
directory; type \"make RUNDIR=DIR campaign\"" \
    RUNDIR="$work/prompt.md/x" DRY_RUN=1 campaign
refused 'run without RUN' 64 \
    'ERROR: RUN=: name a run, such as make run RUN=007' run
refused 'run RUN=x' 64 'ERROR: RUN=0x7: name a run, such as make run RUN=007' \
    run RUN=0x7
refused 'run RUN=7' 64 'ERROR: RUN=7: type make run RUN=007' run RUN=7
refused 'retry of nothing' 66 "ERROR: no campaign in $work/runs" \
    STATUS=error retry
for verb in stop kill
do
	refused "$verb without a campaign" 64 "ERROR: no campaign in $work/runs" $verb
done
refused 'clean-runs without runs' 64 "ERROR: no runs in $work/runs" \
    CONFIRM=yes clean-runs
refused 'logs of no run' 64 'ERROR: name a run: make logs RUN=007' logs
refused 'shell in no run' 64 "ERROR: no run 009 in $work/runs" shell RUN=009
run fz COMMAND=/agent RUNS=2 campaign
like 'no engine: its socket is named' "^fzps: engine at $work/none: " "$err"
is 'and what to type' '2 ERROR: the Docker engine is needed; type make doctor' \
    "$status $(grep ^ERROR .err)"
is 'no engine: nothing was created' '' "$(find . -maxdepth 1 -name runs)"

# The dry run, from a target whose image's own command is not known either.
run fz DRY_RUN=1 RUNS=3 TIMEOUT=900 COMMAND= campaign
is 'a dry run needs no engine' 0 "$status"
is 'its lines' "[001] DRY-RUN: Would run container with:
  Session dir: $work/runs/001
  Network: none
  Timeout: 900s
[001] DRY-RUN: Complete
[002] DRY-RUN: Would run container with:
  Session dir: $work/runs/002
  Network: none
  Timeout: 900s
[002] DRY-RUN: Complete
[003] DRY-RUN: Would run container with:
  Session dir: $work/runs/003
  Network: none
  Timeout: 900s
[003] DRY-RUN: Complete" "$out"
is 'no complaint' '' "$err"
is 'and it made nothing' '' "$(find . -maxdepth 1 -name runs)"
run fz DRY_RUN=1 RUN=002 run
is 'of one run' '0 [002] DRY-RUN: Complete' "$status $(tail -n 1 .out)"
is 'only of that one' 5 "$(wc -l <.out)"

run fz RUNS=10 WORKERS=4 TIMEOUT=900 GRACE=20 COMMAND="/agent '\$\$x b' -j3" plan
is 'plan is the summary' "0 sessions  10 (0 have a verdict, 10 to run)
workers   4
agent     command ($image)
target    $work/target
limits    64m memory, 1 CPU, 256 processes, 900 s each
network   none
at most   0 h 46 min for all
next: make RUNS='10' WORKERS='4' RUNDIR='$work/runs' AGENT='command' \
PROMPT='$work/prompt.md' TARGET='$work/target' IMAGE='$image' \
COMMAND='/agent '\\''\$\$x b'\\'' -j3' TIMEOUT='900' GRACE='20' \
MEMORY='64m' campaign" "$status $out"
run fz -j8 WORKERS=4 RUNS=10 plan
like '-j8 wins over WORKERS' '^workers   8$' "$out"
like 'and is typed again' '^next: make -j8 RUNS=' "$out"
is 'plan makes nothing either' '' "$(find . -maxdepth 1 -name runs)"

# A campaign that has begun is remembered, changed inputs are told.
mkdir -p runs/001
touch runs/STOP
printf '%s' '{"_schema":"fz-campaign/1","id":"0123456789abcdef","runs":4,' \
    '"inputs":{"agent":"command","target":"'"$work/target"'",' \
    '"workflow":"quest","image":"sha256:0","command":"/agent",' \
    '"timeout":"60","memory":"64m","cpus":"1","pids":"256",' \
    '"tmp_size":"100m","unmask":"","prompt_sha256":"' \
    "$(sha256sum <prompt.md | cut -c 1-64)" '"}}' >runs/campaign.json
echo '{"_schema":"fz-result/1","run":"001","outcome":"error","reason_code":"oom"}' \
    >runs/001/result.json
run fz COMMAND=/agent plan
is 'RUNS is the campaign'\''s' 'sessions  4 (1 have a verdict, 3 to run)' \
    "$(sed -n 1p .out)"
is 'nothing has changed' '' "$err"
run fz COMMAND=/agent DRY_RUN=1 campaign
is 'a dry run shows those that are due, STOP or not' '002 003 004' \
    "$(sed -n 's/^\[\(.*\)\].*Complete/\1/p' .out | paste -s -d ' ')"
run fz COMMAND=/agent DRY_RUN=1 REASON=oom retry
is 'a dry retry shows what it would do' '0 001' \
    "$status $(sed -n 's/^\[\(.*\)\].*Complete/\1/p' .out | paste -s -d ' ')"
is 'and takes no verdict back' 1 "$(grep -c oom runs/001/result.json)"
run fz COMMAND=/agent CPUS=2 plan
is 'a changed limit is told' \
    'changed since this campaign began: cpus (1 -> 2); new runs record it' "$err"
run fz COMMAND=/agent RUN=005 DRY_RUN=1 run
is 'a run it does not have' "2 ERROR: RUN=005: this campaign has the runs 001 \
to 004; RUNS=5 adds it" "$status $(sed -n 1p .err)"
run fz retry
is 'retry must know what' \
    '2 ERROR: say which: make retry STATUS=error, or REASON=oom' \
    "$status $(sed -n 1p .err)"
is 'STOP is still there' yes "$(test -e runs/STOP && echo yes)"

# Deleting runs is a wish said twice.
run fz clean-runs
is 'clean-runs asks' "2 ERROR: this deletes every run in $work/runs, paid \
ones too: make clean-runs CONFIRM=yes" "$status $(sed -n 1p .err)"
mkdir precious
touch precious/letter
run fz clean-runs CONFIRM=yes RUNDIR="$work/precious"
is 'what is no run directory stays' "2 ERROR: $work/precious has no \
campaign.json; not deleting what is not ours" "$status $(sed -n 1p .err)"
is 'indeed' precious/letter "$(ls precious/letter)"
exec 8>>runs/.lock
flock 8
run fz clean-runs CONFIRM=yes
is 'nor does it pull the ground from under a campaign' \
    "2 ERROR: a campaign is running in $work/runs" "$status $(sed -n 1p .err)"
exec 8>&-
run make -C "$tree" B="$work/b" clean
is 'clean works' 0 "$status"
is 'and never touches runs' runs/001/result.json "$(ls runs/001/result.json)"
run fz clean-runs CONFIRM=yes
is 'clean-runs CONFIRM=yes does it' "0 deleted $work/runs" "$status $out"
is 'they are gone' '' "$(find . -maxdepth 1 -name runs)"

# Workflows are found, not listed.
run fz workflows
is 'the workflows there are' \
    "demo        a small interpreter with two planted bugs, for make demo
plain       any project, at /target, as it is
quest       the Quest language: parser, type checker, runtime" "$out"
mkdir "$tree/fuzz/workflows/mine"
printf 'DESCRIPTION := of my own\nMOUNT := /mine\nTIMEOUT ?= 33\n' \
    >"$tree/fuzz/workflows/mine/workflow.mk"
run fz workflows
like 'a dropped folder is enough' '^mine        of my own$' "$out"

# Where a setting comes from.
bare () {
	run "$@" make --no-print-directory -C "$tree" B="$B" VERSION="$version" \
	    TARGET="$work/target" AGENT=command IMAGE=i COMMAND=/c DRY_RUN=1 \
	    RUNS=1 campaign
	sed -n 's/.*Timeout: //p; s/.*Session dir: //p' .out | paste -s -d ' '
}
is 'defaults' 'fuzz/runs/001 900s' "$(bare env)"
is 'the workflow over the defaults' 'fuzz/runs/001 33s' \
    "$(bare env WORKFLOW=mine)"
printf 'TIMEOUT = 44\nWORKFLOW = mine\nRUNDIR = kept/runs\nWORKERS = 7\n' \
    >"$tree/conf/local.mk"
is 'conf/local.mk over the workflow' 'kept/runs/001 44s' "$(bare env)"
is 'the environment over conf/local.mk' 'kept/runs/001 55s' \
    "$(bare env TIMEOUT=55)"
is 'the command line over all' 'mine/001 66s' \
    "$(TIMEOUT=55 RUNDIR=theirs make --no-print-directory -C "$tree" B="$B" \
	VERSION="$version" TARGET="$work/target" AGENT=command IMAGE=i \
	COMMAND=/c DRY_RUN=1 RUNS=1 campaign TIMEOUT=66 RUNDIR=mine |
	sed -n 's/.*Timeout: //p; s/.*Session dir: //p' | paste -s -d ' ')"
run env RUNS=9 make --no-print-directory -C "$tree" B="$B" VERSION="$version" \
    TARGET="$work/target" AGENT=command IMAGE=i COMMAND=/c plan
like 'what came by the environment is typed again' \
    "^next: make RUNS='9' AGENT='command' TARGET=.* campaign$" "$out"
like 'what conf/local.mk knows is not' '^workers   7$' "$out"
done_testing
