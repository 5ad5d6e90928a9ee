#!/bin/sh
# SPDX-License-Identifier: MIT
# What a campaign is made of: checked first, written once, never overwritten.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

field () {
	jq -r "$1" "$2/campaign.json"
}

# as_nobody COMMAND...: root may write everywhere, so try as somebody else
as_nobody () {
	if test "$(id -u)" = 0
	then
		setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
	else
		"$@"
	fi
}

# plan RUNDIR [OPTION...]: the same inputs each time
plan () {
	dir=$1
	shift
	run fzplan --fixed agent=demo --fixed target=/a --input timeout=900 \
	    --input-file prompt=prompt.md "$@" "$dir"
}

number='not a whole number from 1 to 1000000'
hex='[0-9a-f]'
echo 'find bugs' >prompt.md

run fzplan --help
is '--help succeeds' 0 "$status"
like '--help goes to stdout' '^usage: fzplan ' "$out"
run fzplan --version
like '--version names the program' '^fzplan [^ ]+$' "$out"
run fzplan
is 'RUNDIR is needed' 64 "$status"
run fzplan a b
is 'one RUNDIR only' 64 "$status"
run fzplan --frob a
is 'an unknown option is misuse' 64 "$status"

for wrong in 0 abc -1 1e3 '' 1000001 ' 5' 99999999999999999999
do
	run fzplan --runs "$wrong" new/runs
	is "RUNS=$wrong is refused" 64 "$status"
	is "RUNS=$wrong is explained" "fzplan: RUNS=$wrong: $number" "$err"
done
run fzplan --input timeout new/runs
is 'an input needs a value' \
    'fzplan: "timeout": not of the form name=value' "$err"
run fzplan --input Time=1 new/runs
is 'names are lower case' 64 "$status"
run fzplan --input a=1 --fixed a=2 new/runs
is 'an input is given once' '64 fzplan: a: given twice' "$status $err"
run fzplan --input "a=$(printf '\377')" new/runs
is 'what JSON cannot hold is refused' \
    '64 fzplan: a: the value is not UTF-8' "$status $err"

run fzplan --input-file prompt=fuzz/x.md new/runs
is 'a missing prompt is refused' 66 "$status"
is 'and says what to type' "fzplan: PROMPT=fuzz/x.md: No such file or \
directory; type \"make PROMPT=FILE campaign\"" "$err"
mkfifo pipe
for special in pipe /dev/null .
do
	run timeout 5 fzplan --input-file "prompt=$special" new/runs
	is "$special is no prompt" "66 fzplan: PROMPT=$special: not a regular \
file; type \"make PROMPT=FILE campaign\"" "$status $err"
done
is 'nothing was created so far' '' "$(ls -d new 2>/dev/null)"

run fzplan prompt.md
is 'a RUNDIR that is a file is refused' 73 "$status"
is 'and named' "fzplan: RUNDIR=prompt.md: Not a directory; \
type \"make RUNDIR=DIR campaign\"" "$err"
run fzplan prompt.md/a/b
is 'so is one below a file' "73 fzplan: RUNDIR=prompt.md/a/b: Not a \
directory; type \"make RUNDIR=DIR campaign\"" "$status $err"
run fzplan ''
is 'so is an empty name' 73 "$status"
chmod 755 .
mkdir locked
chmod 555 locked
prog=$(command -v fzplan)
cp "$prog" ./fzplan-copy
for dir in locked locked/a/b
do
	run as_nobody ./fzplan-copy "$dir"
	is "an unwritable RUNDIR ($dir) is refused" 73 "$status"
	is "and $dir is named" "fzplan: RUNDIR=$dir: Permission denied; \
type \"make RUNDIR=DIR campaign\"" "$err"
	is 'with nothing created' '' "$(ls -A locked)"
done
cp prompt.md secret.md
chmod 0 secret.md
chmod 777 .
run as_nobody ./fzplan-copy --input-file prompt=secret.md fresh
if test "$(id -u)" = 0
then
	is 'an unreadable prompt is refused' "66 fzplan: PROMPT=secret.md: \
Permission denied; type \"make PROMPT=FILE campaign\"" "$status $err"
	is 'again with nothing created' '' "$(ls -d fresh 2>/dev/null)"
fi
chmod 755 .

plan new/runs --dry-run
is 'a dry run prints no id and 100 runs' '0 - 100' "$status $out"
plan new/runs --dry-run --runs 7
is 'or the number asked for' '- 7' "$out"
is 'and creates nothing' '' "$(ls -d new 2>/dev/null)"

plan new/runs
id=$(field .id new/runs)
is 'a campaign is begun' 0 "$status"
is 'with its id and 100 runs' "$id 100" "$out"
is 'in silence' '' "$err"
like 'the id is 16 digits' "^$hex{16}\$" "$id"
is 'only campaign.json is there' campaign.json "$(ls -A new/runs)"
is 'the schema is named' fz-campaign/1 "$(field ._schema new/runs)"
like 'the time is noted' '^20[0-9-]{8}T[0-9:]{8}Z$' \
    "$(field .created_at new/runs)"
is 'runs is a number' 100 "$(field .runs new/runs)"
is 'the inputs are kept, a file by its hash' \
    "{\"agent\":\"demo\",\"target\":\"/a\",\"timeout\":\"900\",\
\"prompt_sha256\":\"$(sha256sum <prompt.md | cut -c1-64)\"}" \
    "$(jq -c .inputs new/runs/campaign.json)"

cp new/runs/campaign.json before
ls -i new/runs/campaign.json >inode
plan new/runs
is 'the same again is the same campaign' "0 $id 100" "$status $out"
is 'in silence too' '' "$err"
plan new/runs --runs 20
is 'a smaller number is used' "$id 20" "$out"
plan new/runs --dry-run --runs 500
is 'a dry run shows a larger one' "$id 500" "$out"
is 'none of these wrote' "$(cat inode)" "$(ls -i new/runs/campaign.json)"

jq -c '.later = {"a": [1, null]}' before >new/runs/campaign.json
plan new/runs --runs 500
is '100 becomes 500' "0 $id 500" "$status $out"
is 'and nothing else becomes anything' \
    "$(jq -cS '.runs = 500 | .later = {"a": [1, null]}' before)" \
    "$(jq -cS . new/runs/campaign.json)"
plan new/runs --runs 100
is '500 then 100 uses 100' "$id 100" "$out"
is '500 stays' 500 "$(field .runs new/runs)"
plan new/runs
is 'and is what the next one gets' "$id 500" "$out"

cp new/runs/campaign.json before
run fzplan --fixed agent=demo --fixed target=/b --input timeout=900 \
    --input-file prompt=prompt.md --runs 600 new/runs
is 'another target is refused' 78 "$status"
is 'with both commands to type' "fzplan: TARGET is /b, but this campaign \
was begun with /a: type \"make TARGET=/a campaign\" to go on, or \"make \
RUNDIR=DIR TARGET=/b campaign\" for a new one" "$err"
is 'and nothing on stdout' '' "$out"
run fzplan --dry-run --fixed agent=claude --fixed target=/b new/runs
is 'a dry run refuses too, the first difference' "fzplan: AGENT is claude, \
but this campaign was begun with demo: type \"make AGENT=demo campaign\" to \
go on, or \"make RUNDIR=DIR AGENT=claude campaign\" for a new one" "$err"
is 'nothing was written' "$(cat before)" "$(cat new/runs/campaign.json)"

echo 'find more' >>prompt.md
run fzplan --fixed agent=demo --fixed target=/a --input timeout=600 \
    --input-file prompt=prompt.md new/runs
is 'other changes are allowed' "0 $id 500" "$status $out"
is 'and told in one line' "changed since this campaign began: \
timeout (900 -> 600), prompt; new runs record it" "$err"
run fzplan --fixed agent=demo --fixed target=/a --input model= \
    --input "note=it's \$5" new/runs
is 'what came and what went is told' "changed since this campaign began: \
timeout (900 -> none), prompt, model (none -> ''), \
note (none -> 'it'\\''s \$\$5'); new runs record it" "$err"
run fzplan --fixed agent=demo --fixed target=/a --input timeout=900 \
    --input "prompt_sha256=$(printf 'x\033[2J')" new/runs
is 'an escape sequence is not printed' 0 \
    "$(printf %s "$err" | tr -d '[:print:]' | wc -c)"
is 'nothing was written then' "$(cat before)" "$(cat new/runs/campaign.json)"

long=/$(printf '%0300d' 0)
run fzplan --fixed "target=$long" long
run fzplan --fixed "target=${long}1" long
is 'a long refusal is whole' "fzplan: TARGET is ${long}1, but this campaign \
was begun with $long: type \"make TARGET=$long campaign\" to go on, or \"make \
RUNDIR=DIR TARGET=${long}1 campaign\" for a new one" "$err"

mkdir bad
for text in '' '{' '[]' '{"_schema":"fz-campaign/2"}' \
    '{"_schema":"fz-campaign/1"}' \
    '{"_schema":"fz-campaign/1","id":"0123456789abcdef","runs":0}' \
    '{"_schema":"fz-campaign/1","id":"0123456789abcdef","runs":3}' \
    '{"_schema":"fz-campaign/1","id":"x","runs":3,"inputs":{}}' \
    '{"_schema":"fz-campaign/1","id":"0123456789abcdef","runs":3,'\
'"inputs":{"a":1}}'
do
	printf %s "$text" >bad/campaign.json
	run fzplan --runs 9 bad
	is "bad data is refused: $text" 65 "$status"
	like 'and the file is named' '^fzplan: bad: campaign.json: ' "$err"
	is 'and kept' "$text" "$(cat bad/campaign.json)"
done
printf '{"_schema":"fz-campaign/2"}' >bad/campaign.json
run fzplan bad
is 'a newer file is told as such' "fzplan: bad: campaign.json: \"_schema\" \
is \"fz-campaign/2\", not \"fz-campaign/1\"" "$err"
rm bad/campaign.json
ln -s ../before bad/campaign.json
run fzplan --runs 900 bad
is 'a link is not followed' 65 "$status"
is 'nor replaced' ../before "$(readlink bad/campaign.json)"

# Whoever is second finds the file of the first, and nothing is lost.
i=0
while test $i -lt 20
do
	fzplan --runs 3 "race/$i/runs" >one 2>&1 &
	fzplan --runs 3 "race/$i/runs" >two 2>&1 &
	wait
	cmp -s one two || echo "differ: $(cat one two)"
	test "$(ls -A "race/$i/runs")" = campaign.json || ls -A "race/$i/runs"
	test "$(cat one)" = "$(field .id "race/$i/runs") 3" || cat one
	i=$((i + 1))
done >race.log
is 'two at once agree on one campaign' '' "$(cat race.log)"

if test -c /dev/full
then
	fzplan full >/dev/full 2>.err
	is 'a full disk is no success' \
	    '74 fzplan: stdout: No space left on device' "$? $(cat .err)"
fi
done_testing
