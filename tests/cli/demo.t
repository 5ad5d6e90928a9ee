#!/bin/sh
# SPDX-License-Identifier: MIT
# The demo's bugs are real, found by running them, and absent from the twin.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck disable=SC2154 # set by tap.sh
src=$top/fuzz/demo
seed=143
programs=250

# calc NAME FLAGS...: builds an interpreter
calc () {
	name=$1
	shift
	"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 "$@" -o "$name" \
	    "$src/calc.c" "$src/compile.c" "$src/lex.c" "$src/vm.c"
}

# agent DIRECTORY INTERPRETER: a session of its own
agent () {
	mkdir "$1"
	(cd "$1" && "$work/demo-agent" --seed "$seed" \
	    --programs "$programs" --target "$work/$2") >"$1.out" 2>&1
}

sanitize='-fsanitize=address,undefined -fno-sanitize-recover=all'
unset FUZZMILL_RUN
calc clean -static &
calc div -static -DPLANT_DIV=1 &
calc index -static -DPLANT_INDEX=1 &
calc both -static -DPLANT_DIV=1 -DPLANT_INDEX=1 &
# shellcheck disable=SC2086 # two flags
calc clean-san $sanitize &
# shellcheck disable=SC2086
calc both-san -DPLANT_DIV=1 -DPLANT_INDEX=1 $sanitize &
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -static -o demo-agent \
    "$src/agent.c" "$src/gen.c" &
wait
is 'everything builds' '7' "$(find . -type f -perm -u+x | wc -l)"

# Two sessions that take their time, looked at in the end.
printf '#!/bin/sh\nexec sleep 60\n' >sleeper
chmod +x sleeper
programs=1
agent late sleeper &
late=$!
programs=250
# A sanitizer's report must look like a crash to the agent.
export ASAN_OPTIONS=abort_on_error=1:detect_leaks=0
export UBSAN_OPTIONS=abort_on_error=1
agent san clean-san &
san=$!

cat >good.q <<'Q'
# every statement and operator
let x = 3 + 4 * 2;
r[x] = -(x - 1) % 4;
print r[11] == -2;
repeat 2 { if x > 11 { print x / 5; } let x = x + 1; }
print 9223372036854775807 + 1;
Q
run ./clean good.q
is 'a program runs' "0 1,2,-9223372036854775808," \
    "$status $(echo "$out" | tr '\n' ,)"
is 'and is quiet on stderr' '' "$err"

printf 'let m = -9223372036854775807 - 1;\nprint m / -1;\n' >div.q
printf 'let m = -9223372036854775807 - 1;\nprint m %% -1;\n' >mod.q
printf 'r[0 - 2147483648] = 1;\n' >index.q
# Only the bug that is switched on kills: the status is 128 + the signal.
for case in 'clean div 0' 'clean mod 0' 'clean index 1' 'div div 136' \
    'div mod 136' 'div index 1' 'index div 0' 'index mod 0' 'index index 139'
do
	# shellcheck disable=SC2086
	set -- $case
	run sh -c "./$1 $2.q; exit \$?"
	is "$2.q on $1" "$3" "$status"
done
run ./clean div.q
is 'the quotient wraps' -9223372036854775808 "$out"
run ./clean mod.q
is 'the remainder is 0' 0 "$out"
run ./clean index.q
is 'a bad index has a line' 'index.q:1: no such register' "$err"

# refuses TEXT MESSAGE
refuses () {
	printf '%b' "$1" >bad.q
	run ./clean bad.q
	is "refuses: $2" "1 bad.q:$2" "$status $err"
	is 'and prints nothing' '' "$out"
}
refuses 'let x = 1;\nprint x +;\n' '2: expected a value'
refuses 'print 1' '1: expected ;'
refuses 'print y;' '1: unknown name'
refuses 'let x = x;' '1: unknown name'
refuses '\n\nprint 9223372036854775808;' '3: number too large'
refuses 'print 1 \0000 2;' '1: unexpected character'
refuses '}' '1: expected a statement'
refuses 'let x = 0;\nprint 1 / x;' '2: division by zero'
refuses 'repeat 99999999 { let x = 1; }' '1: too many steps'
refuses "print $(printf '%0500d' 0 | tr 0 '(')" '1: nested too deeply'
refuses "print 1$(printf '%05000d' 0 | sed 's/0/+1/g');" '1: program too long'
refuses "#$(printf '%070000d' 0)" '1: more than 65536 bytes'
run ./clean
is 'calc needs a program' 64 "$status"
run ./clean absent.q
is 'calc names what is missing' \
    '66 calc: absent.q: No such file or directory' "$status $err"

agent found both
is 'the agent finds both bugs' 2 "$(grep -c '^finding ' found.out)"
is 'starts with its seed' "seed $seed" "$(head -n 1 found.out)"
is 'says that it is no model' 1 "$(grep -c 'no model is used' found.out)"
is 'ends with a summary' "$programs programs: 0 over time; findings: 2" \
    "$(tail -n 1 found.out | sed 's/: .*killed,/:/')"
finding="{\"kind\":\"crash\",\"title\":\"interpreter dies by SIGFPE\",\
\"repro\":\"program-2.q\",\"command\":[\"$work/both\",\"{repro}\"],\
\"expected\":\"exit 0 or 1\",\"actual\":\"signal 8 (SIGFPE)\"}"
is 'writes one line per finding' "$finding" \
    "$(sed -n 2p found/findings.jsonl)"
run sh -c './both found/program-1.q; exit $?'
is 'the first finding is a real SIGSEGV' 139 "$status"
run sh -c './both found/program-2.q; exit $?'
is 'the second is a real SIGFPE' 136 "$status"

agent twin clean
is 'the twin has no finding' '0 killed, 0 over time; findings: 0' \
    "$(tail -n 1 twin.out | sed 's/.*refused, //')"
is 'and gets no file of findings' program.q "$(ls twin)"

# shellcheck disable=SC2016 # for the script, not for now
printf '#!/bin/sh\nexec cat "$1" >>stream\n' >record
chmod +x record
agent stream1 record &
one=$!
agent stream2 record
wait "$one"
is 'the same seed gives the same programs' '' \
    "$(cmp stream1/stream stream2/stream 2>&1)"
is 'and a long stream of them' yes \
    "$(test "$(wc -l <stream1/stream)" -gt "$programs" && echo yes)"
agent again both
is 'the same seed gives the same findings' '' \
    "$(diff -r found again 2>&1; diff found.out again.out)"
seed=144 programs=20
agent other record
is 'another seed gives other programs' different \
    "$(cmp -s -n 200 stream1/stream other/stream || echo different)"
seed=143

# session RUN OPTIONS...: the agent as that session of a campaign
session () {
	no=$1
	shift
	run env FUZZMILL_RUN="$no" ./demo-agent --programs 1 \
	    --target ./clean "$@"
}
session 007
is 'a session has a seed of its own' 'seed 7000022' \
    "$(echo "$out" | head -n 1)"
session 007 --fail 7
is 'fails when told to' '3 demo-agent: fails now, on purpose' "$status $err"
session 008 --fail 7 --hang 9
is 'no other session does' 0 "$status"
# 143: ended by the TERM that timeout sends, ignoring nothing
run sh -c 'FUZZMILL_RUN=005 timeout --preserve-status 0.2 ./demo-agent --hang 5'
is 'hangs when told to' '143 hangs now, on purpose' \
    "$status $(echo "$out" | tail -n 1)"

run ./demo-agent --help
is '--help is no mistake' '0 usage: demo-agent [options]' \
    "$status $(echo "$out" | head -n 1)"
for wrong in --seed=x --seed=-1 --programs=1.5 --nothing operand
do
	run ./demo-agent "$wrong"
	is "misuse: $wrong" 64 "$status"
	is 'keeps stdout clean' '' "$out"
done
run env FUZZMILL_RUN=x ./demo-agent
is 'FUZZMILL_RUN must be a number' 64 "$status"
run ./demo-agent --target ./absent
is 'a missing interpreter is said' \
    '66 demo-agent: ./absent: No such file or directory' "$status $err"

wait "$late"
is 'a program over its time is ended' \
    '1 programs: 0 ran, 0 refused, 0 killed, 1 over time; findings: 0' \
    "$(tail -n 1 late.out)"
wait "$san"
is 'the twin survives the stream under sanitizers' \
    "$(tail -n 1 twin.out)" "$(tail -n 1 san.out)"
for case in div mod index
do
	run sh -c "./both-san $case.q; exit \$?"
	is "sanitizers do see $case.q" yes \
	    "$(test "$status" -gt 128 && echo yes || echo "$status")"
done
done_testing
