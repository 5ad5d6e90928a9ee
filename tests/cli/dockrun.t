#!/bin/sh
# SPDX-License-Identifier: MIT
# dockrun before there is an engine: its command line, its request, its masks.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

here=$(pwd -P)
DOCKER_HOST=unix://$here/no/engine.sock
HOME=$here/home
FUZZMILL_RETRY_MS=1 # what should be refused and is not ends soon
export DOCKER_HOST HOME FUZZMILL_RETRY_MS
mkdir home runs target

# refused DESCRIPTION STATUS MESSAGE OPTION...: with all that is needed else
refused () {
	what=$1
	wanted="$2 dockrun: $3"
	shift 3
	run dockrun --infra-wait 0 --image fake --dir runs/001 "$@" -- true
	is "$what" "$wanted" "$status $err"
	test -z "$out" || is "$what: nothing on stdout" '' "$out"
}

# hides DESCRIPTION SECRET: neither stream of the last run has it
hides () {
	case "$out$err" in
	*"$2"*) is "$1: the value is not shown" "no $2" "$out$err" ;;
	*) is "$1: the value is not shown" yes yes ;;
	esac
}

# masked OPTION...: for $target and runs in $rundir
rundir=runs
target=target
masked () {
	run dockrun --list-masked --dir "$rundir/001" --ro "$target:/src" "$@"
}

run dockrun --help
is '--help succeeds' 0 "$status"
like 'on stdout' '^usage: dockrun \[options\] --image IMAGE --dir DIR' "$out"
is 'with an empty stderr' '' "$err"
run dockrun --version
like '--version names the program' '^dockrun [^ ]+$' "$out"
is 'and succeeds' 0 "$status"
run dockrun
is 'an image is needed' \
    '64 dockrun: --image is missing; try dockrun --help' "$status $err"
run dockrun --dir runs/001
is 'even with a directory' \
    'dockrun: --image is missing; try dockrun --help' "$err"
run dockrun --image ''
is 'an empty name is none' \
    'dockrun: --image is missing; try dockrun --help' "$err"
run dockrun --image fake
is 'a directory is needed' \
    '64 dockrun: --dir is missing; try dockrun --help' "$status $err"
run dockrun --frob
is 'an unknown option is misuse' 64 "$status"
is 'and says where to look' "dockrun: unrecognized option '--frob'
try dockrun --help" "$err"
run dockrun --image
is 'so is an option without its value' "64 dockrun: option '--image' requires \
an argument
try dockrun --help" "$status $err"
run dockrun --list-masked
is '--list-masked needs a target' \
    '64 dockrun: --list-masked: name the target with --ro' "$status $err"

while read -r option low high
do
	number="is not a whole number from $low to $high"
	for wrong in '' x -1 1.5 1e3 ' 7' 7s 0x7 99999999999999999999
	do
		refused "$option '$wrong'" 64 "$option: \"$wrong\" $number" \
		    "$option" "$wrong"
	done
	refused "$option above $high" 64 "$option: \"$((high + 1))\" is not \
from $low to $high" "$option" $((high + 1))
	test "$low" = 0 || refused "$option below $low" 64 "$option: \
\"$((low - 1))\" is not from $low to $high" "$option" $((low - 1))
done <<-END
	--grace 0 3600
	--infra-wait 0 86400
	--pids 2 100000
	--timeout 1 2592000
END
while read -r option low high
do
	for wrong in '' x -1 1.5g 5t 5mb m 99999999999999999999
	do
		refused "$option '$wrong'" 64 "$option: \"$wrong\" is not a \
size such as 512m or 2g" "$option" "$wrong"
	done
	refused "$option below $low" 64 "$option: \"$((low - 1))\" is not \
from $low to $high" "$option" $((low - 1))
	refused "$option far too large" 64 "$option: \"99999999g\" is not \
from $low to $high" "$option" 99999999g
done <<-END
	--max-log 1 68719476736
	--memory 6291456 4398046511104
	--tmp-size 4096 1099511627776
END
for wrong in '' x -1 1. .5 1.5x 1,5 1e3
do
	refused "--cpus '$wrong'" 64 "--cpus: \"$wrong\" is not a number" \
	    --cpus "$wrong"
done
for wrong in 0 0.001 2000
do
	run dockrun --image fake --dir runs/001 --cpus "$wrong" -- true
	like "--cpus $wrong" "64 dockrun: --cpus: \"$wrong\" is not from" \
	    "$status $err"
	is 'in the unit of the option' '' "$(grep 1024000 .err)"
done

for wrong in /a a:b :/b a:/ a:/b/../c a: ''
do
	refused "--ro '$wrong'" 64 "--ro \"$wrong\": not HOST:/CONTAINER/PATH" \
	    --ro "$wrong"
done
for wrong in 0:0 1:0 0:1 7 7: :7 7:7:7 root:root -1:-1 2147483648:7 \
    7:2147483648 4294967297:7 7:99999999999 '' ' 7:7' +7:7
do
	refused "--user '$wrong'" 64 \
	    "--user \"$wrong\": not UID:GID, both above 0" --user "$wrong"
done
for wrong in '' A a_b 'a b' "$(printf '%065d' 0)"
do
	refused "--campaign '$wrong'" 64 "--campaign \"$wrong\": letters a-z, \
digits and - only" --campaign "$wrong"
done

secret=hunter2-hunter2-hunter2
for name in API_KEY ANTHROPIC_AUTH_TOKEN MY_SECRET DB_PASSWORD PASSWD \
    aws_credentials
do
	refused "--env $name" 64 "--env $name=...: looks like a secret, and \
everybody can read a command line; use --secret $name, or --env-file for a \
test service's password" --env "$name=$secret"
	hides "--env $name" "$secret"
done
for wrong in '' NAME 1A=x =x 'A B=x' A-B=x
do
	refused "--env '$wrong'" 64 "environment \"${wrong%%=*}\": not \
NAME=VALUE" --env "$wrong"
done
cat >settings <<-END
	# a comment
	POSTGRES_PASSWORD=synthetic

	LEVEL=a=b # kept
END
run dockrun --image fake --dir runs/001 --env-file settings --env PLAIN=1 \
    --user 4711:4712 --print-request -- true
is '--env-file: comments and empty lines' \
    'HOME=/tmp|FUZZMILL_RUN=001|POSTGRES_PASSWORD=synthetic|LEVEL=a=b # kept|'\
'PLAIN=1' "$(jq -r '.Env | join("|")' .out)"
echo 'LEVEL=3' >settings2
run dockrun --image fake --dir runs/001 --env-file settings --env HOME=/home \
    --env-file settings2 --user 4711:4712 --print-request -- true
is 'of several settings of a name the last is taken' \
    'HOME=/home|FUZZMILL_RUN=001|POSTGRES_PASSWORD=synthetic|LEVEL=3' \
    "$(jq -r '.Env | join("|")' .out)"
if test "$(id -u)" -eq 0
then
	for pids in 256:224 33:1 32: 2:
	do
		dockrun --image fake --dir runs/001 --pids "${pids%:*}" \
		    --print-request -- true >.out
		is "of ${pids%:*} processes the session's own shell may have" \
		    "${pids#*:}" \
		    "$(jq -r '.Env[]' .out | sed -n 's/^FUZZMILL_NPROC=//p')"
	done
fi
echo '1BAD=x' >>settings
refused 'a bad line' 64 'settings: environment "1BAD": not NAME=VALUE' \
    --env-file settings
echo "DB_PASSWORD: $secret" >settings
run dockrun --image fake --dir runs/001 --env-file settings -- true
is 'a line that is no setting' 64 "$status"
like 'names the file' '^dockrun: settings: ' "$err"
hides 'a line that is no setting' "$secret"
refused 'a missing one' 66 '--env-file nope: No such file or directory' \
    --env-file nope
run dockrun --image fake --dir runs/001 --env-file . --print-request -- true
is 'one that cannot be read is not an empty one' 'no request' \
    "${out:-no request}"

unset NOT_SET
refused 'an unset secret' 64 '--secret NOT_SET: not set in the environment' \
    --secret NOT_SET
SHORT=eleven-byte EMPTY=
export SHORT EMPTY
for name in SHORT EMPTY
do
	refused "a short secret ($name)" 64 "--secret $name: shorter than 12 \
bytes; removing it from the output would tear ordinary words apart" \
	    --secret "$name"
done
hides 'a short secret' eleven-byte
run dockrun --image fake --dir runs/001 --secret "API_KEY=$secret" -- true
is 'a value where a name belongs' 64 "$status"
hides 'a value where a name belongs' "$secret"
for wrong in 1A '' A-B
do
	run dockrun --infra-wait 0 --image fake --dir runs/001 \
	    --secret "$wrong" -- true
	like "--secret '$wrong' is no name" '^64 dockrun: --secret ' \
	    "$status $err"
done

refused 'a missing file for stdin' 66 \
    '--stdin nope: No such file or directory' --stdin nope
run dockrun --image fake --dir runs/001 --init nope -- true
is 'a missing fzinit' 66 "$status"
refused 'a missing file of masks' 66 'nope: No such file or directory' \
    --mask-file nope
echo a/b >bad.mask
refused 'a mask for a path' 78 \
    'bad.mask: "a/b": a pattern is for one name, without /' \
    --mask-file bad.mask
run env DOCKER_HOST=tcp://127.0.0.1:2375 dockrun --image fake --dir runs/001 \
    -- true
is 'an engine elsewhere is refused' "78 dockrun: DOCKER_HOST \
\"tcp://127.0.0.1:2375\": only unix:///path is supported" "$status $err"
is 'nothing was created so far' '' "$(ls runs)"

# What can be reached.
refused 'a missing file of relays' 66 'nope: No such file or directory' \
    --relays nope
refused 'a missing file of names' 66 'nope: No such file or directory' \
    --hosts nope
printf '# all\n127.0.0.1:80 127.0.0.1:80\n127.0.0.1:81 10.0.0.1:80\n' >wrong
refused 'a target that is not ours' 78 \
    'wrong:3: "10.0.0.1:80" is not on loopback (127.x.y.z)' --relays wrong
echo '127.0.0.1 a_b' >wrong
refused 'a name that is none' 78 \
    'wrong:1: "a_b" is not a host name of letters, digits and -' --hosts wrong
echo '127.0.0.1:80 127.0.0.1:1' >once
refused 'the same place in two files' 78 \
    'once:1: "127.0.0.1:80" is taken: another relay listens there' \
    --relays once --relays once
is 'nothing was created by that' '' "$(ls runs)"

# The request.
: >fzinit
chmod 755 fzinit
echo prompt >prompt.md
mkdir -p target/sub
echo "$secret" >target/.env
API_KEY=$secret
OTHER_KEY=hunter3-hunter3
export API_KEY OTHER_KEY
printf '127.0.0.1:8080 127.0.0.1:18080\n127.0.0.2:5432 unix:/run/db.sock\n' \
    >relays
printf '127.0.0.1 quest-proxy\n127.0.0.2 quest-postgres-test\n' >hosts
print_request () {
	run dockrun --print-request --image fake:1 --dir runs/007 \
	    --campaign 0123456789abcdef --cpus 1.5 --memory 3g --pids 99 \
	    --tmp-size 5m --timeout 60 --grace 7 --env LEVEL=2 \
	    --secret API_KEY --secret OTHER_KEY --stdin prompt.md \
	    --ro target:/quest --init ./fzinit --user 4711:4712 \
	    --relays relays --hosts hosts --proxy-log access.log "$@" \
	    -- /agent 'a b' "it's" -x
}
print_request
is '--print-request needs no engine' '0 ' "$status $err"
is 'and prints the golden request' \
    "$(cat "$top/tests/golden/request.json")" \
    "$(sed "s|$here|WORK|" .out)"
is 'it is JSON' 0 "$(jq -e . .out >/dev/null; echo $?)"
is 'secrets are shown as ***' 'API_KEY=***|OTHER_KEY=***' \
    "$(jq -r '.Env[-2:] | join("|")' .out)"
hides '--print-request' hunter
is 'a uid that others may have gets no limit of its own' '' \
    "$(grep FUZZMILL_NPROC .out)"
is 'and it creates nothing' '' "$(ls runs)"
print_request --env "NOTE=$secret"
hides 'a secret in a setting' "$secret"
run dockrun --print-request --image fake --dir runs/007
is "the image's command needs an engine" 69 "$status"
like 'and names its socket' "^dockrun: engine at $here/no/engine.sock: GET \
/_ping: " "$err"
is 'with nothing on stdout' '' "$out"
dockrun --print-request --image fake --dir runs/007 -- x >/dev/full 2>.err
is 'a full disk is no success' 74 $?

# Masks.
rm -r target
mkdir -p target/.git/objects target/sub/dir target/.ssh target/.aws/x \
    target/.claude target/plain target/sub/.git
for file in .env .env.local sub/dir/x.pem id_rsa sub/id_ed25519 .ssh/config \
    .aws/x/y.pem .netrc .npmrc .mcp.json .claude.json plain/key pem \
    my.environment sub/.envrc .git/objects/id_rsa
do
	echo "$secret" >"target/$file"
done
all='.aws/
.claude/
.claude.json
.env
.env.local
.git/
.mcp.json
.netrc
.npmrc
.ssh/
id_rsa
sub/.git/
sub/dir/x.pem
sub/id_ed25519'
masked
is 'what is masked' "0 $all" "$status $out"
is 'in silence' '' "$err"
is 'and --list-masked creates nothing' '' "$(ls runs)"
run dockrun --list-masked --ro target:/src
is 'no run directory is needed' "$all" "$out"
run dockrun --print-request --image fake --dir runs/001 --ro target:/src \
    --init fzinit -- true
is 'each is covered by something empty' "$(printf '%s\n' "$all" |
    sed 's|\(.*\)/$|void /src/\1|; t
	s|.*|empty /src/&|')" "$(jq -r '.HostConfig.Mounts[] |
	select(.Target | startswith("/src/")) |
	(.Source | split("/")[-1]) + " " + .Target' .out)"
is 'read-only' true "$(jq '[.HostConfig.Mounts[] | .ReadOnly ==
    (.Target != "/workspace/fuzz")] | all' .out)"
masked --unmask .git --unmask '*.pem'
is '--unmask takes names out, not what is below them' "$(printf '%s\n' "$all" |
    sed '/pem/d; /sub.*git/d; s|^.git/|.git/objects/id_rsa|')" "$out"
printf '# more\n\n  key  # this\n*.environment\r\nplai?/\n' >more.mask
masked --mask-file more.mask --unmask '.*'
is '--mask-file adds names' 'id_rsa
my.environment
plain/
sub/dir/x.pem
sub/id_ed25519' "$(printf '%s\n' "$out" | grep -v '^\.\|/\.')"

rm -r target
mkdir -p target/real/.aws target/runs/001
for file in real/settings real/.aws/credentials runs/001/old
do
	echo "$secret" >"target/$file"
done
echo outside >outside
cd target || exit 99
ln -s real/settings .env
ln -s ../outside .env.outside
ln -s nowhere .env.broken
ln -s real .ssh
rundir=../runs
target=.
masked
is 'a link is covered by what it leads to, and nothing below that' \
    'real/' "$out"
rm .ssh
masked
is 'a link to a file' 'real/.aws/
real/settings' "$out"
ln -s real/.aws/credentials .netrc
masked
is 'a link into what is covered needs no second cover' 'real/.aws/
real/settings' "$out"
rundir=runs
masked --unmask '*'
is 'RUNDIR inside the target is covered, whatever is unmasked' runs/ "$out"
rundir=../runs
rm -r .env* .netrc real runs
mkdir 'a b' "it's" "$(printf 'line\nfeed')" "$(printf 'esc\033[2J')"
touch 'a b/.env' "it's/.env" "$(printf 'line\nfeed')/.env" 'a b/"q".pem' \
    "$(printf 'esc\033[2J')/.env" "$(printf 'bad\377.pem')"
masked
is 'odd names are found' 0 "$status"
like 'with spaces' '^a b/\.env$' "$out"
like 'and quotes' '^a b/"q"\.pem$' "$out"
like 'of both kinds' "^it's/\.env\$" "$out"
is 'one place is one line' 6 "$(wc -l <.out)"
is 'and no control character reaches the terminal' '' \
    "$(LC_ALL=C tr -d '\n' <.out | LC_ALL=C tr -cd '\000-\037\177')"
rm "$(printf 'bad\377.pem')"
run dockrun --print-request --image fake --dir ../runs/001 --ro .:/src \
    --init ../fzinit -- true
is 'the request has them as they are' "/src/a b/\"q\".pem
/src/a b/.env
/src/esc$(printf '\033')[2J/.env
/src/it's/.env
/src/line
feed/.env" "$(jq -r '.HostConfig.Mounts[].Target |
    select(startswith("/src/"))' .out)"
i=0
while test $i -le 1000
do
	i=$((i + 1))
	set -- "$@" "$i.pem"
done
mkdir many
cd many || exit 99
touch "$@"
cd ..
masked
is 'a thousand are enough' "78 dockrun: more than 1000 places to mask; give \
the agent a clean export of the target" "$status $err"
rm -r many
cd "$here" || exit 99
mkdir 'with:colon'
touch 'with:colon/.env'
run dockrun --list-masked --ro with:colon:/src
is 'a host path may hold a colon' '0 .env' "$status $out"

# Targets nobody should hand out.
target_is () {
	run dockrun --list-masked --dir runs/001 --ro "$3:/src"
	is "$1" "$2" "$status $err"
	is "$1: nothing is listed" '' "$out"
}
mkdir -p runs/001/workspace home/project sockets
: >sockets/engine.sock
ln -s home link-home
ln -s sockets link-sockets
target_is 'the root' '78 dockrun: target /: the whole machine is no target' /
target_is 'the home directory' "78 dockrun: target $here/home: that is your \
home directory; name the project's own directory" home
target_is 'by another name' "78 dockrun: target $here/home: that is your \
home directory; name the project's own directory" link-home/project/..
target_is 'RUNDIR' "78 dockrun: target $here/runs: lies inside RUNDIR \
$here/runs" runs
target_is 'a run' "78 dockrun: target $here/runs/001/workspace: lies inside \
RUNDIR $here/runs" runs/001/workspace
target_is 'a missing one' \
    '66 dockrun: target nope: No such file or directory' nope
target_is 'a file' '66 dockrun: target prompt.md: not a directory' prompt.md
rm -r runs/001
run dockrun --list-masked --dir runs/001 --ro home/project:/src
is 'a project below the home directory is fine' '0 ' "$status $err"
for way in sockets link-sockets
do
	DOCKER_HOST=unix://$here/$way/engine.sock
	target_is "the directory of the engine's socket ($way)" "78 dockrun: \
target $here/sockets: holds the engine's socket $here/$way/engine.sock" sockets
	like "above it ($way)" "^78 dockrun: target $here: " \
	    "$(run dockrun --list-masked --dir runs/001 --ro .:/src
	    echo "$status $err")"
done
DOCKER_HOST=unix://$here/no/engine.sock

# Run directories that are not to be touched.
listing () {
	find runs -printf '%p %i %s %T@\n' | sort
	cat runs/001/* 2>/dev/null
}
mkdir runs/001
echo '{"_schema":"fz-result/1","outcome":"error"}' >runs/001/result.json
echo 'Exit code: 1' >runs/001/ERROR
listing >before
refused 'a directory with a verdict' 73 'runs/001: has a verdict; "markrun '\
'--retract runs/001" gives it up' --infra-wait 0
is 'is not touched' "$(cat before)" "$(listing)"
rm -r runs/001
mkdir runs/001
listing >before
run flock runs/001 dockrun --image fake --dir runs/001 --infra-wait 0 -- true
is 'a directory that is locked' "75 dockrun: $here/runs/001: another process \
is working on this run" "$status $err"
is 'is not touched either' "$(cat before)" "$(listing)"
rm -r runs/001
for wrong in runs/1 runs/01 runs/abc runs/001x runs/1234567890
do
	run dockrun --image fake --dir "$wrong" -- true
	is "$wrong is no run" "64 dockrun: $here/$wrong: a run directory is \
called 001, 002, ..." "$status $err"
done
run dockrun --image fake --dir no/such/001 -- true
is 'the parent must be there' 73 "$status"
ln -s "$here/home" runs/002
run dockrun --image fake --dir runs/002 -- true
is 'a link is not followed' project "$(ls -A home)"
is 'and refused' 64 "$status"
rm runs/002
is 'nothing else was created' '' "$(ls runs)"
done_testing
