#!/bin/sh
# SPDX-License-Identifier: MIT
# The agent's image without an engine: what its name is a hash of, what is
# fetched, what is refused, and what is left behind when something breaks.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

# A clone of what matters, and a machine on which everything is a fake.
mkdir clone fake few root root/etc root/etc/apt root/etc/apt/sources.list.d
cp -r "$top/mk" "$top/docker" clone/
echo 'VERSION_CODENAME=bookworm' >root/etc/os-release
ln -s /usr/bin/* few/
rm -f few/mmdebstrap few/npm few/docker
FZ_ROOT=$work/root
CACHE=$work/cache
IMAGE=
SOURCES=$work/sources
CLAUDE_VERSION=1.2.3
BASE='' IMAGE_PACKAGES='' WITH_GIT=''
export SOURCES FZ_ROOT CACHE IMAGE CLAUDE_VERSION BASE IMAGE_PACKAGES WITH_GIT

cat >fake/docker <<EOF
#!/bin/sh
echo "docker \$*" >>$work/calls
for last; do :; done
case \$1 in
image) test -e "$work/images/\$last" && echo 509000000 ;;
import) touch "$work/images/\$last" ;;
build)
	ls -l "\$last" | awk 'NR > 1 { print \$1, \$NF }' >$work/context
	while test "\$1" != -t; do shift; done
	touch "$work/images/\$2"
	;;
esac
EOF
cat >fake/npm <<EOF
#!/bin/sh
echo "npm \$*" >>$work/calls
while test "\$1" != --pack-destination; do shift; done
. $work/npm-does
EOF
cat >fake/mmdebstrap <<EOF
#!/bin/sh
echo mmdebstrap >>$work/calls
. $work/mmdebstrap-does
EOF
chmod +x fake/*
mkdir images package
echo 'the program' >package/claude
CLAUDE_SHA256=$(sha256sum package/claude | cut -c 1-64)
export CLAUDE_SHA256
tar -czf good.tgz package
echo "cp $work/good.tgz \"\$2/claude.tgz\"" >npm-does
# shellcheck disable=SC2016
cat >mmdebstrap-does <<'EOF'
for word; do
	case $word in
	*.tar) echo base >"$word" ;;
	*/host.*) echo "== ${word##*/}" >>"$SOURCES"; cat "$word" >>"$SOURCES" ;;
	--include=*) echo "$word" >>"$SOURCES" ;;
	esac
done
EOF
echo 'deb http://a.example/debian bookworm main' >root/etc/apt/sources.list

script () {
	(cd clone && B=build PATH=$work/fake:$work/few sh mk/agent-image.sh "$@")
}

# tag [NAME=VALUE...]: the image's name with these settings
tag () {
	(cd clone && env "$@" PATH="$work/fake:$work/few" sh mk/agent-image.sh tag)
}

# -- the name -------------------------------------------------------------

first=$(tag)
like 'the name carries a hash' '^fuzzmill-agent:[0-9a-f]{12}$' "$first"
is 'again the same' "$first" "$(tag)"
is 'no engine was asked' '' "$(cat calls 2>/dev/null)"

# same NAME=VALUE... / other NAME=VALUE...
same () { is "$*: the same image" "$first" "$(tag "$@")"; }
other () {
	now=$(tag "$@")
	like "$*: a name" '^fuzzmill-agent:[0-9a-f]{12}$' "$now"
	is "$*: another image" yes "$(test "$now" != "$first" && echo yes)"
}
same CACHE=/elsewhere B=/elsewhere
same WITH_GIT=0
same 'IMAGE_PACKAGES=curl  curl'
same IMAGE=mine
other WITH_GIT=1
other IMAGE_PACKAGES=gdb
other BASE=debian:bookworm-slim
other CLAUDE_VERSION=1.2.4
other CLAUDE_SHA256=0
is 'the order of packages does not matter' "$(tag IMAGE_PACKAGES='gdb make')" \
    "$(tag IMAGE_PACKAGES='make gdb')"
is "another's base has packages too" yes \
    "$(test "$(tag BASE=x)" != "$(tag BASE=x IMAGE_PACKAGES=gdb)" && echo yes)"

mkdir old && cp -r clone old/
touch clone/docker/agent/* clone/docker/more
same X=touched
for file in docker/agent/Dockerfile docker/agent/bash mk/agent-base.sh
do
	cp "clone/$file" kept
	echo '# changed' >>"clone/$file"
	other "X=$file"
	cat kept >"clone/$file"
done
same X='all as it was'
is 'another clone has the same' "$first" "$(cd old/clone && sh mk/agent-image.sh tag)"
echo 'VERSION_CODENAME="trixie"' >root/etc/os-release
other X=release
echo 'VERSION_CODENAME=bookworm' >root/etc/os-release

# -- what make knows ------------------------------------------------------

value () { # VARIABLE [WORD...]
	name=$1
	shift
	env -u IMAGE -u BASE -u IMAGE_PACKAGES -u WITH_GIT -u FZ_ROOT \
	    -u CLAUDE_VERSION -u CLAUDE_SHA256 \
	    make -s -C "$top" --eval "print-value:;@printf '%s\\n' \"\$\$$name\"" \
	    print-value AGENT=claude "$@" 2>&1
}
like "make's IMAGE is that name" '^fuzzmill-agent:[0-9a-f]{12}$' "$(value IMAGE)"
is 'a setting changes it' yes \
    "$(test "$(value IMAGE)" != "$(value IMAGE WITH_GIT=1)" && echo yes)"
is "a user's own IMAGE stays" mine "$(value IMAGE IMAGE=mine)"
is 'other agents have their own' fuzzmill-demo "$(value IMAGE AGENT=demo)"
is 'and no network' : "$(value POLICY AGENT=demo):$(value POLICY AGENT=command)"
is 'nor do they ask what an answer means' exit,exit,claude \
    "$(value VERDICT AGENT=demo),$(value VERDICT AGENT=command),$(value VERDICT)"

words () { # of COMMAND, as the session's shell reads them
	eval "set -- $(value COMMAND "$@")"
	printf '%s|' "$@"
}
flags='claude|-p|--output-format|stream-json|--verbose|--dangerously-skip-permissions|--setting-sources|user|--strict-mcp-config|--no-session-persistence|--disable-slash-commands|--tools|Bash,Read,Write,Edit|--max-turns|'
is 'the command' "${flags}7|" "$(words MAX_TURNS=7)"
is 'with model and budget, whatever is in them' \
    "${flags}100|--model|it's * [1m];x|--max-budget-usd|2.5|" \
    "$(words MODEL="it's * [1m];x" BUDGET_RUN_USD=2.5)"
is 'the probe of the key' \
    '{"model":"claude-opus-5-5","messages":[{"role":"user","content":"."}]}' \
    "$(value PROXY_PROBE MODEL=opus)"
is 'with the model that was asked for' \
    '{"model":"claude-x-1","messages":[{"role":"user","content":"."}]}' \
    "$(value PROXY_PROBE MODEL='claude-x-1[1m]')"

# -- a build --------------------------------------------------------------

IMAGE=mine
run script build
is "somebody's own image is never built" '0::' "$status:$out:$err"
run script show
is 'missing, it is theirs to build' \
    '66:ERROR: IMAGE=mine: not in the engine, and not ours to build; docker build or pull it' \
    "$status:$err"
is 'only that was asked' 'docker image inspect -f {{.Size}} mine' "$(cat calls)"

IMAGE=
run script show
is 'none at all' \
    '64:ERROR: Set IMAGE, the image that holds the agent: make IMAGE=name campaign' \
    "$status:$err"

IMAGE=$first
rm -f calls
run script build
is 'a build says what it does' "0:image: fetching claude 1.2.3
image: making a base of bookworm with ca-certificates curl procps python3-minimal (log: build/image.log)
image: building $first" "$status:$out"
is 'nothing else' '' "$err"
is 'the context' '-rw-r--r-- Dockerfile
-rwxr-xr-x bash
-rwxr-xr-x claude' "$(cat context)"
like 'built without network' 'docker build .*--network none .*-t fuzzmill-agent' \
    "$(cat calls)"
is 'the base is of our sources' '--include=ca-certificates,curl,procps,python3-minimal
== host.list
deb http://a.example/debian bookworm main' "$(cat sources)"
left='base claude lock'
cached () {
	find cache -mindepth 1 -maxdepth 1 -printf '%f\n' | sed 's/-.*//' | sort |
	    paste -s -d ' '
}
is 'the cache holds both, and nothing half-made' "$left" "$(cached)"
rm -f calls
run script build
is 'the second does nothing' "0::" "$status:$out:$err"
is 'and asks the engine once' "docker image inspect $first" "$(cat calls)"
run script show
is 'make image shows it' "0:image: $first is there, 509 MB" "$status:$out"

rm -f images/* calls
run script build
is 'a lost image comes out of the cache' "0:image: building $first" "$status:$out"
is 'nothing was fetched' '' "$(grep -e npm -e mmdebstrap calls)"
rm -f images/*
echo tampered >"$(ls cache/claude-*)"
run script build
is 'a spoilt cache is fetched again' \
    "image: $work/$(ls cache/claude-*) is not what it was; fetching it again
image: fetching claude 1.2.3" "$(echo "$out" | head -n 2)"

rm -f images/* calls
BASE=registry/debian
IMAGE=$(tag)
run script build
like "another's base" '^docker build --force-rm --build-arg BASE=registry/debian --build-arg PACKAGES=ca-certificates curl procps python3-minimal -t ' \
    "$(grep 'docker build' calls)"
is 'needs none of ours' '' "$(grep -e mmdebstrap -e import calls)"
BASE=
IMAGE=$first

# -- what goes wrong ------------------------------------------------------

fresh () {
	rm -rf images cache calls
	mkdir images
}
nothing () {
	is "$1: no image, nothing half-made" '0 ' \
	    "$(find images -type f -name '*agent*' | wc -l) $(cached | sed 's/ *lock//')"
}

fresh
CLAUDE_SHA256=$(printf %064d 0)
IMAGE=$(tag)
run script build
is 'a wrong program' 65 "$status"
like 'is refused with its sum' "ERROR: .*claude-code-linux-[a-z0-9]*@1.2.3: its program has the sha256 $(sha256sum package/claude | cut -c 1-64), not 0{64}; if you trust it: make CLAUDE_SHA256=" "$err"
nothing 'a wrong program'
CLAUDE_SHA256=$(sha256sum package/claude | cut -c 1-64)
IMAGE=$first

fresh
# shellcheck disable=SC2016
echo 'echo half >"$2/claude.tgz"; echo no such version >&2; exit 1' >npm-does
run script build
is 'npm fails' 69 "$status"
like 'with its words' '\| no such version' "$err"
like 'and ours' '\| ERROR: npm could not fetch @anthropic-ai/claude-code-linux-' "$err"
nothing 'npm fails'

fresh
# shellcheck disable=SC2016
echo 'echo half >"$2/claude.tgz"; kill -TERM $PPID' >npm-does
run script build
is 'stopped while fetching' 143 "$status"
nothing 'stopped while fetching'
mkdir -p cache/.claude.dead cache/.base.dead
echo "cp $work/good.tgz \"\$2/claude.tgz\"" >npm-does
cp mmdebstrap-does good-mmdebstrap
# shellcheck disable=SC2016
echo 'for word; do case $word in *.tar) echo half >"$word" ;; esac; done; kill -TERM $PPID' \
    >mmdebstrap-does
run script build
is 'stopped while making the base' 143 "$status"
is 'what is whole is kept, what others left half-made is gone' 'claude lock' "$(cached)"

fresh
# shellcheck disable=SC2016
until_gone='i=0; while test ! -e '$work'/go && test $i -lt 100; do sleep 0.1; i=$((i + 1)); done'
{ echo "$until_gone"; cat good-mmdebstrap; } >mmdebstrap-does
script build >one 2>&1 &
one=$!
until_true 100 grep -q mmdebstrap calls
script build >two 2>&1 &
two=$!
until_true 100 grep -q waiting two
touch go
wait $one
is 'two at once: the first builds' 0 $?
wait $two
is 'the second ends well' 0 $?
is 'having waited' 'image: another one is being made; waiting for it' "$(cat two)"
is 'one build' 1 "$(grep -c 'docker build' calls)"
cp good-mmdebstrap mmdebstrap-does

refused () { # DESCRIPTION STATUS MESSAGE
	fresh
	run script build
	is "$1" "$2:ERROR: $3" "$status:$err"
	nothing "$1"
}
IMAGE_PACKAGES='gdb -oX=1'
IMAGE=$(tag)
refused 'an option as a package' 64 "IMAGE_PACKAGES: not a package's name: -oX=1"
IMAGE_PACKAGES='*'
IMAGE=$(tag)
refused 'a star as a package' 64 "IMAGE_PACKAGES: not a package's name: *"
IMAGE_PACKAGES=
WITH_GIT=yes
IMAGE=$(tag)
refused 'WITH_GIT=yes' 64 'WITH_GIT=yes: 1, or nothing'
WITH_GIT=
IMAGE=$first
for tool in npm mmdebstrap
do
	fresh
	mv fake/$tool .
	run script build
	is "no $tool" "69:ERROR: the agent's image needs $tool; type: make setup-agent" \
	    "$status:$err"
	mv $tool fake/
done
: >root/etc/os-release
IMAGE=$(tag)
refused 'not a Debian' 69 \
    'not a Debian (no VERSION_CODENAME); type make BASE=debian:bookworm-slim image'
run script other
is 'usage' '64:usage: agent-image.sh tag|build|show' "$status:$err"

# -- the host's own sources -----------------------------------------------

base () {
	rm -f sources
	(cd clone && PATH=$work/fake:$work/few sh mk/agent-base.sh \
	    "$work/base.tar" bookworm curl)
}
cat >root/etc/apt/sources.list <<'EOF'
# deb http://off.example/debian bookworm main
deb-src http://a.example/debian bookworm main
deb [arch=amd64 signed-by=/k] http://a.example/debian bookworm main contrib
deb http://a.example/debian bookworm-updates main
deb http://a.example/debian-security bookworm-security main
deb http://vendor.example/linux bookworm stable
deb http://a.example/debian sid main
EOF
cat >root/etc/apt/sources.list.d/a.sources <<'EOF'
Types: deb
# a comment
URIs: http://b.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /k

Types: deb
URIs: http://vendor.example/x
Suites: nodistro
Components: main

Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main
EOF
run base
is 'sources: of this release, main, and no vendor' '0:--include=curl
== host.list
deb [arch=amd64 signed-by=/k] http://a.example/debian bookworm main contrib
deb http://a.example/debian bookworm-updates main
deb http://a.example/debian-security bookworm-security main
== host.sources
Types: deb
# a comment
URIs: http://b.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /k' "$status:$(cat sources)"
is 'the base is there' base "$(cat base.tar)"
rm -f base.tar root/etc/apt/sources.list root/etc/apt/sources.list.d/*
run base
is 'no sources' \
    '69:ERROR: this host has no apt sources of bookworm; type make BASE=debian:bookworm-slim image' \
    "$status:$err"
is 'no base either' '' "$(find . -maxdepth 1 -name '*base*')"

# -- the tools' shell -----------------------------------------------------

unset FUZZMILL_NPROC
# shellcheck disable=SC2016
set -- "$top/docker/agent/bash" -c 'ulimit -u; echo "$1"' - 'a b'
is 'the shell passes its words on' "$(bash -c 'ulimit -u') a b" "$("$@" | xargs)"
is 'and limits processes where it is told' '77 a b' \
    "$(FUZZMILL_NPROC=77 "$@" | xargs)"
done_testing
