#!/bin/sh
# SPDX-License-Identifier: MIT
# Verdicts: from facts alone, in the words people know, written whole.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"
command -v jq >/dev/null || skip_all 'no jq'

# shellcheck source=tests/cli/facts.sh
. "$top/tests/cli/facts.sh"

run markrun --help
is '--help succeeds' 0 "$status"
like 'on stdout' '^usage: markrun \[options\] DIR' "$out"
run markrun --version
like '--version names the program' '^markrun [^ ]+$' "$out"
run markrun
is 'a directory is needed' '64 ' "$status $out"
like 'and usage is told' '^usage: markrun ' "$err"
run markrun --frob runs/001
is 'an unknown option is misuse' 64 "$status"
run markrun --agent mystic runs/001
is 'a way to judge that is none' \
    '64 markrun: --agent mystic: unknown; there is: exit, claude' "$status $err"
for wrong in 0 x -1 '' 1000001
do
	run markrun --progress "$wrong" runs/001
	is "--progress '$wrong' is misuse" 64 "$status"
	like 'and named' "^markrun: --progress: \"$wrong\" is not" "$err"
done

# -- every cause ----------------------------------------------------------

# judged ID FILTER MARKER FIRST-LINE REASON TOLD
judged () {
	facts "runs/$1" "$2"
	run markrun "runs/$1"
	is "$5: judged" '0 ' "$status $err"
	is "$5: told" "[$1] $6" "$out"
	is "$5: one marker" "$3 " "$(markers "runs/$1")"
	is "$5: its first line" "$4" "$(head -n 1 "runs/$1/$3")"
	is "$5: the reason" "$(printf %s "$3" | tr '[:upper:]' '[:lower:]') $5" \
	    "$(result '.outcome + " " + .reason_code' "runs/$1" | tr -d '"')"
}
LC_ALL=C.UTF-8
export LC_ALL
mkdir runs
judged 001 . SUCCESS 'Completed in 42.3s' 'done' '✓ Done (42.3s)'
is 'a success is one line' 'Completed in 42.3s' "$(cat runs/001/SUCCESS)"
judged 002 '.exit_code = 3' ERROR 'Exit code: 3' exit_nonzero \
    '✗ Failed: Container error (exit 3)'
judged 003 '.exit_code = 137 | .signal = 9' ERROR 'Exit code: 137' \
    exit_nonzero '✗ Failed: Container error (exit 137, signal 9)'
judged 004 '.exit_code = 137 | .signal = 9 | .oom_killed = true' ERROR \
    'Exit code: 137' oom '✗ Failed: Out of memory (exit 137)'
judged 005 '.exit_code = 127 | .exec_errno = 2' ERROR 'Exit code: 127' \
    exec_failed '✗ Failed: Command cannot be run (No such file or directory)'
judged 006 '.exit_code = 130 | .signal = 2 |
    .stop = {by: "dockrun", why: "timeout"}' TIMEOUT 'Timed out after 900s' \
    wall_clock '✗ Failed: Timeout after 900s'
is 'a timeout is one line' 'Timed out after 900s' "$(cat runs/006/TIMEOUT)"
judged 007 '.exit_code = 137 | .stop = {by: "dockrun", why: "log_quota"}' \
    ERROR 'Exit code: 137' log_quota \
    '✗ Failed: Output over the limit of --max-log'
# The first cause wins.
judged 008 '.exit_code = 0 | .stop = {by: "fzinit", why: "timeout"}' TIMEOUT \
    'Timed out after 900s' wall_clock '✗ Failed: Timeout after 900s'
judged 009 '.exit_code = 137 | .oom_killed = true |
    .stop = {by: "dockrun", why: "timeout"}' TIMEOUT 'Timed out after 900s' \
    wall_clock '✗ Failed: Timeout after 900s'
judged 010 '.oom_killed = true' SUCCESS 'Completed in 42.3s' 'done' \
    '✓ Done (42.3s)'
is 'the whole verdict' "$(cat "$top/tests/golden/result.json")" \
    "$(jq . runs/002/result.json)"
is 'an error shows the end of the output' 'Exit code: 3

Logs:
all is well' "$(cat runs/002/ERROR)"

is 'the plain loop over the markers works' 'runs/001/ done
runs/002/ failed
runs/006/ late' "$(for d in runs/*/
do
	if [ -f "$d/SUCCESS" ]; then echo "$d done"
	elif [ -f "$d/TIMEOUT" ]; then echo "$d late"
	elif [ -f "$d/ERROR" ]; then echo "$d failed"
	else echo "$d open"
	fi
done | grep '00[126]')"

header=$(printf 'Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\t'\
'Signal\tCommand')
is 'the job log has a header' "$header" "$(head -n 1 runs/joblog.tsv)"
is 'and a line for each' 11 "$(wc -l <runs/joblog.tsv)"
is 'such as this' "$(printf '3\t:\t1795068202.123\t42.310\t0\t12\t137\t9\t'\
'dockrun 003 attempt 1')" "$(sed -n 4p runs/joblog.tsv)"

# -- other locales --------------------------------------------------------

mkdir plain
facts plain/001
facts plain/002 '.exit_code = 3'
run env LC_ALL=C markrun plain/001 plain/002
is 'no sign where it cannot be shown' '[001] Done (42.3s)
[002] Failed: Container error (exit 3)' "$out"
rm plain/*/result.json
run env -u LC_ALL LC_CTYPE=de_DE.utf8 LANG=C markrun plain/001
is 'LC_CTYPE is asked too' '[001] ✓ Done (42.3s)' "$out"
run env LC_ALL=C LANG=C.UTF-8 markrun plain/002
is 'LC_ALL wins' '[002] Failed: Container error (exit 3)' "$out"

# -- no verdict without facts ---------------------------------------------

# not_judged DESCRIPTION STATUS MESSAGE: of bad/001, which stays as it is
not_judged () {
	find bad -printf '%p %i %s %T@\n' | sort >before
	run markrun bad/001
	is "$1" "$2 markrun: $3" "$status $err"
	is "$1: nothing is written" "$(cat before)" \
	    "$(find bad -printf '%p %i %s %T@\n' | sort)"
	is "$1: nothing is told" '' "$out"
}
mkdir bad
run markrun bad/001
is 'a missing directory' '66 markrun: bad/001: No such file or directory' \
    "$status $err"
run markrun bad
is 'a directory that is no run' \
    '64 markrun: bad: a run directory is called 001, 002, ...' "$status $err"
mkdir bad/001
not_judged 'no facts' 66 'bad/001: no complete facts (container.json) to '\
'judge; the session is due again'
: >bad/001/container.json
not_judged 'empty facts' 65 \
    'bad/001: container.json: not valid JSON near byte 0'
facts bad/001 '._schema = "fz-container/2"'
not_judged 'facts of a newer version' 65 'bad/001: container.json: "_schema" '\
'is "fz-container/2", not "fz-container/1"'
stale='bad/001: container.json is not of this run'\''s attempt'
facts bad/001 '.attempt = 2'
not_judged 'facts of another attempt' 65 "$stale 1"
facts bad/001 '.run = "002"'
not_judged 'facts of another run' 65 "$stale 1"
for wrong in null -1 '"0"' 1.5
do
	facts bad/001 ".exit_code = $wrong"
	run markrun bad/001
	is "an exit code of $wrong" 65 "$status"
	is 'gives no verdict' '' "$(markers bad/001)"
done
facts bad/001
mkdir -p bad/001/attempts/1
not_judged 'facts older than a kept attempt' 65 "$stale 2"
rm -r bad/001/attempts
echo '{}' >bad/001/run.json
not_judged 'facts beside a session that runs' 65 "$stale 1"
rm bad/001/run.json
run flock bad/001 markrun bad/001
is 'a directory that is locked' '75 markrun: bad/001: another process is '\
'working on this run' "$status $err"
is 'is not judged' '' "$(markers bad/001)"
is 'and none of these is in a log' 'bad/001' "$(echo bad/*)"
for field in duration_ms timeout_ms
do
	facts bad/001 "del(.$field) | .stop.why = \"timeout\""
	run markrun bad/001
	is "facts without $field are not complete" 65 "$status"
	rm -rf bad/001 bad/joblog.tsv
done

# -- again, and retracted -------------------------------------------------

cp runs/joblog.tsv before
run markrun runs/001
is 'a verdict is not taken twice' \
    '73 markrun: runs/001: has a verdict; --again takes it anew' "$status $err"
facts runs/001 '.exit_code = 5'
run markrun --again runs/001
is 'but --again' '0 [001] ✗ Failed: Container error (exit 5)' "$status $out"
is 'leaves one marker' 'ERROR ' "$(markers runs/001)"
is 'and a new verdict' '"error"' "$(result .outcome runs/001)"
is 'the job log is of attempts, not of verdicts' "$(cat before)" \
    "$(cat runs/joblog.tsv)"
for text in '' '{' '{"_schema":"fz-result/1"}'
do
	printf %s "$text" >runs/001/result.json
	run markrun runs/001
	is "a verdict that is none: '$text'" 0 "$status"
	is 'is taken' '"error"' "$(result .outcome runs/001)"
done
cp before runs/joblog.tsv
echo mine >runs/001/workspace/notes
run markrun --retract runs/001
is '--retract' '0 [001] verdict retracted; due again' "$status $out"
is 'keeps the attempt whole' 'ERROR agent.err agent.out container.json '\
'result.json workspace' "$(find runs/001/attempts/1 -mindepth 1 -maxdepth 1 \
    -printf '%f\n' | sort | xargs)"
is 'with what was in it' mine "$(cat runs/001/attempts/1/workspace/notes)"
is 'and nothing else is left' attempts "$(ls -A runs/001)"
run markrun runs/001
is 'so the run is due' 66 "$status"
facts runs/001 '.attempt = 2'
run markrun runs/001
is 'the next attempt' '0 2' "$status $(result .attempt runs/001)"
is 'has its own line' "$(printf '1\t:\t1795068202.123\t42.310\t0\t12\t0\t0\t'\
'dockrun 001 attempt 2')" "$(tail -n 1 runs/joblog.tsv)"
run flock runs/001 markrun --retract runs/001
is 'a run that is being worked on is not retracted' 75 "$status"

# -- a hostile session ----------------------------------------------------

# claims DESCRIPTION WANTED: judges hostile/001 anew
claims () {
	rm -f hostile/001/result.json
	run timeout 5 markrun hostile/001
	is "$1" "0 $2" "$status $(result .findings.claimed hostile/001)"
}
mkdir hostile
facts hostile/001
claims 'no claims' 0
file=hostile/001/workspace/findings.jsonl
printf '{"a":1}\n\nno\n[]\n{"b":2}\n{"c":\n{"d":4}' >$file
claims 'claims are lines of JSON' 3
printf '{"a":1}\n{"b":"\000"}\n{"c":1}\n' >$file
claims 'a NUL is none' 2
seq -f '{"n":%.0f}' 1 5000 >$file
claims 'there is an end to it' 200
head -c 10000000 /dev/zero | tr '\0' x >$file
claims 'ten megabytes are unknown' null
rm $file
mkfifo $file
claims 'a FIFO is unknown' null
rm $file
echo '{"a":1}' >outside
ln -s ../../../outside $file
claims 'a link is unknown' null
ln -sf /dev/zero $file
claims 'wherever it leads' null
rm $file
mkdir $file
claims 'a directory is unknown' null
rm -r hostile/001/workspace
ln -s /proc/self hostile/001/workspace
claims 'a workspace that is a link is unknown' null
rm hostile/001/workspace
claims 'no workspace, no claims' 0

facts hostile/002 '.exit_code = 1'
printf 'red \033[31m\r\nbad \377 byte\ttab\n' >hostile/002/agent.err
run markrun hostile/002
is 'what a terminal would obey is shown' "Exit code: 1

Logs:
red \\x1b[31m\\x0d
bad $(printf '\357\277\275') byte	tab" "$(cat hostile/002/ERROR)"
facts hostile/003 '.exit_code = 1'
seq 1 100000 >hostile/003/agent.err
run markrun hostile/003
is 'only the end of the output' 100000 "$(tail -n 1 hostile/003/ERROR)"
is 'is kept' 4116 "$(wc -c <hostile/003/ERROR)"

facts hostile/004
echo precious >host-file
for name in SUCCESS ERROR TIMEOUT result.json
do
	ln -s "$work/host-file" "hostile/004/$name"
done
run markrun hostile/004
is 'links in the way' '0 [004] ✓ Done (42.3s)' "$status $out"
is 'are not written through' precious "$(cat host-file)"
is 'but replaced' 'Completed in 42.3s' "$(cat hostile/004/SUCCESS)"
is 'or removed' 'SUCCESS ' "$(markers hostile/004)"
is 'no link is left' '' "$(find hostile/004 -type l)"
facts hostile/005
mkdir hostile/005/SUCCESS
run markrun hostile/005
is 'no marker, no verdict' '74 no' \
    "$status $(test -e hostile/005/result.json && echo yes || echo no)"
like 'with the reason' '^markrun: hostile/005: write SUCCESS: ' "$err"
mkdir linked
facts linked/001
ln -s "$work/host-file" linked/joblog.tsv
run markrun linked/001
is 'nor is a job log' precious "$(cat host-file)"

# -- progress, and many at once -------------------------------------------

mkdir many
i=0
while test $i -lt 12
do
	i=$((i + 1))
	facts "many/$(printf %03d $i)"
	markrun --progress 12 "many/$(printf %03d $i)"
done >told
is 'progress is told every ten, and at the end' 'Progress: 10/12 complete
Progress: 12/12 complete' "$(grep Progress told)"
is 'after the run that made it' '[010] ✓ Done (42.3s)' \
    "$(grep -B 1 10/12 told | head -n 1)"
markrun --retract many/003 >told
facts many/003 '.attempt = 2'
run markrun --progress 12 many/003
is 'a second attempt is not counted twice' 'Progress: 12/12 complete' \
    "$(printf '%s\n' "$out" | tail -n 1)"
for id in 013 014 015
do
	facts "many/$id"
done
rm many/014/container.json
run markrun many/013 many/014 nothing/016 many/015
is 'one that is bad does not stop the others' 2 "$status"
is 'which are told' '[013] ✓ Done (42.3s)
[015] ✓ Done (42.3s)' "$out"
is 'and it is named' 'markrun: many/014: no complete facts (container.json) '\
'to judge; the session is due again
markrun: nothing/016: No such file or directory' "$err"
run markrun many/014 nothing/016
is 'when all are bad the status says why' 66 "$status"
facts many/016
markrun many/016 >/dev/full 2>.err
is 'a full disk is no success' 74 $?
rm many/016/result.json
for i in 1 2 3 4 5 6 7 8
do
	facts "at-once/00$i"
done
for i in 1 2 3 4 5 6 7 8
do
	markrun --progress 8 "at-once/00$i" >"told.$i" &
done
wait
is 'many at once: one header, a line each' "1 8" \
    "$(grep -c Seq at-once/joblog.tsv) $(grep -c attempt at-once/joblog.tsv)"
is 'and one end' 1 "$(cat told.? | grep -c Progress)"
done_testing
