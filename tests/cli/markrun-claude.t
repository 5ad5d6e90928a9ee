#!/bin/sh
# SPDX-License-Identifier: MIT
# Verdicts from what the agent said: recorded sessions, an API in trouble,
# and words that lie.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"
command -v jq >/dev/null || skip_all 'no jq'
# shellcheck source=tests/cli/facts.sh
. "$top/tests/cli/facts.sh"
LC_ALL=C.UTF-8
export LC_ALL

# -- by what the agent said -----------------------------------------------

said=$top/tests/golden/transcripts
FUZZMILL_PAUSE_MS=60000
export FUZZMILL_PAUSE_MS

# session DIR TRANSCRIPT [JQ-FILTER]: one that began just now
session () {
	facts "$1" ".exit_code = 1 | .started_ms = $(date +%s%3N) | ${3:-.}"
	cp "$said/$2.jsonl" "$1/agent.out"
}

# left DIR: what is in it
left () {
	find "$1" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | xargs
}

# heard ID TRANSCRIPT MARKER REASON TOLD: a verdict
heard () {
	session "words/$1" "$2" "${6:-.}"
	run markrun --agent claude "words/$1"
	is "$2: judged" "0  [$1] $5" "$status $err $out"
	is "$2: one marker" "$3 " "$(markers "words/$1")"
	is "$2: the reason" "\"$4\"" "$(result .reason_code "words/$1")"
	is "$2: nobody waits" no "$(test -e words/PAUSE && echo yes || echo no)"
}
mkdir words
heard 001 success SUCCESS 'done' '✓ Done (42.3s)' '.network = {denied: 7}'
is 'all that it said' '{"name":"claude","turns":6,"cost_usd":0.0348,"input_tokens":7200,"output_tokens":300,"session_id":"9cfcfca1-4019-4c0d-8111-a4de674f5afa","model":"claude-opus-5-5","denials":0}' \
    "$(result .agent words/001)"
is 'what the proxy refused' '{"denied":7}' "$(result .network words/001)"
facts words/020 '.exit_code = 3'
run markrun words/020
is 'of an agent without a voice nothing is known' \
    '{"name":"exit","turns":null,"cost_usd":null,"input_tokens":null,"output_tokens":null,"session_id":null,"model":null,"denials":null}' \
    "$(result .agent words/020)"
heard 002 denied SUCCESS 'done' '✓ Done (42.3s)' '.exit_code = 0'
is 'denials are counted' 2 "$(result .agent.denials words/002)"
heard 003 max-turns ERROR max_turns '✗ Failed: Turn limit reached (4 turns)'
heard 004 budget ERROR budget_run \
    '✗ Failed: Budget of the run is spent (0.0348 USD)'
heard 005 refusal ERROR model_refused '✗ Failed: Model refused'
heard 006 killed ERROR no_result \
    '✗ Failed: Agent ended without a result (exit 137, signal 9)' \
    '.exit_code = 137 | .signal = 9'
is 'unknown cost is null' null "$(result .agent.cost_usd words/006)"
heard 007 tool-int TIMEOUT wall_clock '✗ Failed: Timeout after 900s' \
    '.exit_code = 0 | .stop = {by: "dockrun", why: "timeout"}'
is 'the cost is known also at the deadline' 0.0058 \
    "$(result .agent.cost_usd words/007)"
heard 008 bad-request ERROR agent_error '✗ Failed: Agent error: API (400)'
rm words/001/agent.out
run markrun --again --agent claude words/001
is 'no output is no result' '0 "no_result"' \
    "$status $(result .reason_code words/001)"
is 'no trouble, no trace of it' '' "$(find words -maxdepth 1 -name '[.PS]*')"

# A key that is refused stops everything at once.
session words/009 auth-401 '.network = {answers: {"401": 5}}'
run markrun --agent claude words/009
is 'a bad key' '0 [009] ✗ Failed: API refuses the key (401)' "$status $out"
is 'has a verdict' '"error api_auth"' \
    "$(result '.outcome + " " + .reason_code' words/009)"
stop='the API refuses the key (401): set a good one, type make proxy-reload, then make campaign'
is 'and stops all' "$stop" "$(cat words/STOP)"
session words/010 billing-400 '.network = {answers: {"400": 1, "200": 3}}'
run markrun --agent claude words/010
is 'no money is the same' '0 [010] ✗ Failed: API asks for payment (400)' \
    "$status $out"
is 'the first reason to stop stays' "$stop" "$(cat words/STOP)"
rm words/STOP
run markrun --again --agent claude words/009
is 'an old verdict taken anew' 0 "$status"
is 'stops nobody' no "$(test -e words/STOP && echo yes || echo no)"

# Anything in the container can write such a line.
heard 021 auth-401 ERROR agent_error '✗ Failed: Agent tells of an answer that the proxy did not see' \
    '.network = {answers: {"200": 9, "400": 1, "403": 1, "529": 1}}'
heard 022 overloaded ERROR agent_error '✗ Failed: Agent tells of an answer that the proxy did not see' \
    '.network = {answers: {}}'
heard 023 success ERROR agent_error '✗ Failed: Agent tells of an answer that the proxy did not see' \
    '.network = {answers: {"401": 1}}'
heard 024 auth-401 ERROR api_auth '✗ Failed: API refuses the key (401)' \
    '.network = {answers: null}'
is 'none of these stops anybody' no "$(test -e words/STOP && echo yes || echo no)"

# -- trouble of the API: no verdict ---------------------------------------

mkdir api
session api/001 overloaded
echo mine >api/001/workspace/notes
run markrun --agent claude --progress 1 api/001
is 'overloaded' '75  [001] API overloaded (529): no verdict, the attempt is kept' \
    "$status $err $out"
is 'no marker, no result' attempts "$(left api/001)"
is 'the attempt is kept whole' 'agent.err agent.out container.json workspace' \
    "$(left api/001/attempts/1)"
is 'with what was in it' mine "$(cat api/001/attempts/1/workspace/notes)"
is 'the job log has it' 'dockrun 001 attempt 1 (no verdict: api_overloaded)' \
    "$(tail -n 1 api/joblog.tsv | cut -f 9)"
is 'one is not a row' 'no no' "$(test -e api/PAUSE && echo yes || echo no) $(
    test -e api/STOP && echo yes || echo no)"
session api/001 rate-limit '.attempt = 2'
run markrun --agent claude api/001
is 'rate limit' '75 [001] API rate limit (429): no verdict, the attempt is kept' \
    "$status $out"
is 'each attempt is kept' '1 2' "$(left api/001/attempts)"
is 'two are not a row' no "$(test -e api/PAUSE && echo yes || echo no)"
session api/002 refused
session api/003 gate-502
before=$(date +%s)
run markrun --agent claude api/002
is 'unreachable' '75 [002] API unreachable: no verdict, the attempt is kept' \
    "$status $out"
read -r until words <api/PAUSE
is 'three are: everybody waits' \
    "paused until $(date -u -d "@$until" +%FT%TZ): api_unreachable, 3 in a row" \
    "$words"
is 'for as long as was said' yes "$(test "$until" -ge $((before + 60)) &&
    test "$until" -le $(($(date +%s) + 61)) && echo yes)"
is 'and nothing is stopped' no "$(test -e api/STOP && echo yes || echo no)"
cp api/PAUSE before
run markrun --agent claude api/003
is 'what was running then' \
    '75 [003] API unreachable (502): no verdict, the attempt is kept' \
    "$status $out"
is 'does not make it longer' "$(cat before)" "$(cat api/PAUSE)"
session api/005 overloaded
before=$(date +%s)
run markrun --agent claude api/005
read -r until words <api/PAUSE
is 'what began later doubles it' yes "$(test "$until" -ge $((before + 120)) &&
    test "$until" -le $(($(date +%s) + 121)) && echo yes)"
like 'and is counted' ': api_overloaded, 4 in a row$' "$words"
session api/006 auth-403
run markrun --agent claude api/006
is 'a refused key is no good answer' yes \
    "$(test -e api/PAUSE && echo yes || echo no)"
session api/007 killed '.stop = {by: "dockrun", why: "timeout"}'
jq -nc '{type: "system", subtype: "api_retry"}' >>api/007/agent.out
run markrun --agent claude api/007
is 'nor is one before the trouble' '0 yes' \
    "$status $(test -e api/PAUSE && echo yes || echo no)"
session api/003 success '.attempt = 2 | .started_ms = 1'
run markrun --agent claude api/003
is 'an answer from before the trouble is none' '0 yes' \
    "$status $(test -e api/PAUSE && echo yes || echo no)"
session api/004 success
run markrun --agent claude --progress 2 api/004
is 'a good answer' '0 [004] ✓ Done (42.3s)' "$status $out"
is 'ends the pause' no "$(test -e api/PAUSE && echo yes || echo no)"
session api/008 overloaded
session api/009 overloaded-late
session api/010 overloaded
session api/011 overloaded
run markrun --agent claude api/008 api/009 api/010
is 'one of three had an answer' '75 no' \
    "$status $(test -e api/PAUSE && echo yes || echo no)"
session api/012 success
run markrun --agent claude api/011 api/012
is 'some with a verdict, some without' 2 "$status"
is 'these have a verdict' 'api/003 api/004 api/006 api/007 api/012' \
    "$(find api -name result.json -printf '%h\n' | sort | xargs)"

# Lines without a verdict are no progress.
mkdir slow
session slow/001 overloaded
session slow/002 success
markrun --agent claude --progress 2 slow/001 >told
run markrun --agent claude --progress 2 slow/002
is 'an attempt without a verdict is no progress' '[002] ✓ Done (42.3s)' "$out"
session slow/001 success '.attempt = 2'
run markrun --agent claude --progress 2 slow/001
is 'the one with it is' 'Progress: 2/2 complete' "$(echo "$out" | tail -n 1)"

# An old verdict taken anew tells nobody anything.
mkdir old
for id in 001 002 003 004
do
	session old/$id overloaded
	markrun old/$id >told
done
is 'judged by its exit status' 4 "$(find old -name ERROR | wc -l)"
run markrun --again --agent claude old/001 old/002 old/003 old/004
is 'a verdict that was none is given up' '75 attempts' \
    "$status $(left old/001)"
is 'with all there was' 'ERROR agent.err agent.out container.json result.json workspace' \
    "$(left old/001/attempts/1)"
is 'nobody waits for old trouble' 'joblog.tsv' \
    "$(left old | sed 's/00[1-4] //g')"
is 'the job log had it' 5 "$(wc -l <old/joblog.tsv)"
session old/005 success '.attempt = 1'
jq 'del(.agent.model, .agent.denials, .agent.input_tokens, .agent.output_tokens)' \
    words/020/result.json | sed 's/"020"/"005"/' >old/005/result.json
run markrun --again --agent claude old/005
is 'a verdict of an older version' '0 [005] ✓ Done (42.3s)' "$status $out"

# -- hostile words --------------------------------------------------------

# lies DESCRIPTION REASON: with agent.out on standard input
lies () {
	rm -rf lies/001 lies/PAUSE lies/STOP lies/.api
	facts lies/001 '.exit_code = 1'
	cat >lies/001/agent.out
	run timeout 20 markrun --agent claude lies/001
	is "$1" "0 \"$2\"" "$status $(result .reason_code lies/001)"
}
mkdir lies
grep '"type":"result"' "$said/success.jsonl" >good
lies 'nothing at all' no_result </dev/null
lies 'a good result' 'done' <good
{ cat good; grep '"type":"result"' "$said/max-turns.jsonl"; } >in
lies 'of two results the last' max_turns <in
jq -Rc '{type: "user", message: {content: [{type: "tool_result", content: .}]}}' \
    good >in
lies 'a result in the text of a tool' no_result <in
jq -c '{type: "user", message: .}' good >in
lies 'a result in a message' no_result <in
sed 's/^/ /' good >in
lies 'a result that is indented' no_result <in
{ head -c 3000000 /dev/zero | tr '\0' x; echo; cat good; } >in
lies 'a huge line before it' 'done' <in
{ cat good; head -c 3000000 /dev/zero; } >in
lies 'NULs after it' 'done' <in
{ head -c 300000 /dev/zero | tr '\0' '['; echo; cat good; } >in
lies 'a deep line before it' 'done' <in
sed 's/"result":"/&\\u0000\\ud800/' good >in
lies 'a text with a NUL' 'done' <in
head -c 200 good >in
lies 'half a result' no_result <in
sed 's/"terminal_reason":"completed"/"terminal_reason":"completed\\n"/' good >in
lies 'nearly completed' agent_error <in
sed 's/"result":"[^"]*/"result":"API Error: 401 refusal overloaded 529/' good >in
lies 'prose decides nothing' 'done' <in
sed 's/"total_cost_usd":[0-9.]*/"total_cost_usd":-5/; s/"num_turns":6/"num_turns":1e300/; s/"session_id":"[^"]*/&\\u001b[2J/' good >in
lies 'numbers that are none' 'done' <in
is 'are unknown' '[null,null,null]' \
    "$(result '[.agent.cost_usd, .agent.turns, .agent.session_id]' lies/001)"
facts lies/002
rm lies/002/agent.out
mkfifo lies/002/agent.out
run timeout 5 markrun --agent claude lies/002
is 'a FIFO' '65 markrun: lies/002: agent.out: not a regular file' "$status $err"
rm lies/002/agent.out
ln -s "$work/good" lies/002/agent.out
run markrun --agent claude lies/002
is 'a link' '65 markrun: lies/002: agent.out: Too many levels of symbolic links' \
    "$status $err"
is 'and no verdict of these' '' "$(markers lies/002)"
done_testing
