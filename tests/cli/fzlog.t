#!/bin/sh
# SPDX-License-Identifier: MIT
# What people see of an agent's output, while it comes and afterwards.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"
command -v jq >/dev/null || skip_all 'no jq'
said=$top/tests/golden/transcripts
esc=$(printf '\033')

run fzlog --help
is '--help' '0 usage: fzlog [options] DIR | FILE | -' \
    "$status $(echo "$out" | head -n 1)"
run fzlog --version
like '--version' '^fzlog [0-9a-z]' "$out"
run fzlog
is 'something is needed' '64 ' "$status $out"
run fzlog a b
is 'one thing' '64 ' "$status $out"
run fzlog --frob a
is 'an unknown option' 64 "$status"
run fzlog nowhere
is 'no such file' '66 fzlog: nowhere: No such file or directory' "$status $err"
mkdir 007
run fzlog 007
is 'no output yet' '66 fzlog: 007: agent.out: No such file or directory' \
    "$status $err"
mkfifo fifo 007/agent.out
run timeout 5 fzlog fifo
is 'a FIFO' '65 fzlog: fifo: not a regular file' "$status $err"
run timeout 5 fzlog 007
is 'a FIFO in a run' '65 fzlog: 007: agent.out: not a regular file' \
    "$status $err"
rm 007/agent.out
ln -s /etc/passwd 007/agent.out
run fzlog 007
is 'a link in a run' \
    '66 fzlog: 007: agent.out: Too many levels of symbolic links' "$status $err"
rm 007/agent.out
fzlog "$said/success.jsonl" >/dev/full 2>.err
is 'a full disk is no success' \
    '74 fzlog: standard output: No space left on device' "$? $(cat .err)"

# A session as it was recorded.
cp "$said/overloaded-late.jsonl" 007/agent.out
run fzlog 007/
is 'a session' '0              begin  model claude-opus-5-5, session 5a1619f8-27f0-479e-8052-1a950d0b41bc
15:06:56   1 says   Calling Bash.
15:06:56   1 tool   Bash echo one
15:06:56   1 gave   one
           1 retry  API error 529 (overloaded), try 1 of 2
           1 retry  API error 529 (overloaded), try 2 of 2
15:06:57   1 error  API Error: Repeated 529 Overload...
           1 end    api_error: 2 turns, 0.0058 USD: API Error: Repeated 529 Overload...' \
    "$status $out"
is 'without complaint' '' "$err"
echo 'a warning' >007/agent.err
is 'its errors come last' 'a warning' "$(fzlog 007 | tail -n 1)"
is 'the same from standard input' "$out" "$(fzlog - <007/agent.out)"
is 'and from a file' "$out" "$(fzlog 007/agent.out)"
is 'raw is what it was' "$(cat 007/agent.out 007/agent.err)" "$(fzlog --raw 007)"
is 'denied tools are seen' '           1 denied Bash ...
           2 denied Write ...' "$(fzlog "$said/denied.jsonl" | grep denied)"
for file in "$said"/*.jsonl
do
	run fzlog "$file"
	is "${file##*/}: no JSON, nothing too wide" '0 ' \
	    "$status $(grep -E '^\{|.{121}' .out)"
done

# Any agent: plain lines are shown as they are, but harmless.
{
	printf 'all is well\n\n\ttab\r\nred %s[31m\nbad \377 \302\233 byte\n' "$esc"
	printf 'NUL \000 too\n'
	jq -nc '{type: "assistant", message: {model: "m", content: [
	    {type: "text", text: "\u001b]0;pwn\u0007 \u202e \u009b"},
	    {type: "tool_use", name: "a\nb\u001b", input: {command: "\u001b[2J\nx"}}]}}'
	printf '%s\n' '{"type":"result","terminal_reason":"\u001b[2J"'
	printf 'no end'
} >evil
run fzlog evil
is 'evil' "0 all is well
	tab
red \\x1b[31m
bad $(printf '\357\277\275') \\x9b byte
NUL \\x00 too
           1 says   \\x1b]0;pwn\\x07 \\u{202e} \\x9b
           1 tool   a...
{\"type\":\"result\",\"terminal_reason\":\"\\u001b[2J\"
no end" "$status $out"
for opt in --raw --
do
	fzlog "$opt" evil >o
	is "no control characters with $opt" '' \
	    "$(sed 's/\t//g' o | LC_ALL=C.UTF-8 grep -aP \
	    '[\x00-\x08\x0b-\x1f\x{7f}-\x{9f}\x{202e}]')"
done
{ head -c 3000000 /dev/zero | tr '\0' x; echo; echo after; } >huge
is 'a huge line is mentioned' '(a line too long to show)
after' "$(fzlog huge)"
head -c 5000 huge >long
is 'a long one is cut' '1001 x...' \
    "$(fzlog long | wc -c) $(fzlog long | tail -c 5)"
is 'but not raw' 5001 "$(fzlog --raw long | wc -c)"
: >empty
is 'nothing is nothing' '0 ' "$(fzlog empty; echo "$? ")"

# While it comes: a line is seen before the next is there.
mkfifo pipe
fzlog - <pipe >seen &
pid=$!
at_exit="kill $pid 2>/dev/null"
exec 5>pipe
head -n 2 "$said/success.jsonl" >&5
until_true 100 grep -q 'says   Calling Bash' seen
is 'it is shown as it comes' 2 "$(wc -l <seen)"
printf 'half' >&5
exec 5>&-
wait $pid
is 'until the end' '0 half' "$? $(tail -n 1 seen)"
at_exit=:
done_testing
