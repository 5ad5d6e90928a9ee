#!/bin/sh
# SPDX-License-Identifier: MIT
# The agent's image, really built: what is in it, what is not, and that it is
# built once.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"

docker version >/dev/null 2>&1 || skip_all 'no engine, or no docker client'
unset IMAGE BASE IMAGE_PACKAGES WITH_GIT CLAUDE_VERSION CLAUDE_SHA256
ours=fuzzmill-agent:none
clean_up () {
	docker rmi -f "$ours" "fztest-base:$$" >/dev/null 2>&1
	docker image prune -f --filter "label=fztest=$$" >/dev/null 2>&1
}
at_exit=clean_up

image () {
	make -s -C "$top" B="$B" AGENT=claude "$@" image
}

inside () {
	docker run --rm --network none --entrypoint /bin/sh "$tag" -c "$1" 2>&1
}

config () {
	docker image inspect -f "{{json .Config.$1}}" "$tag"
}

run image
case $err in
*'type: make setup-agent'*) skip_all "$err" ;;
esac
is 'make image' '0:' "$status:$err"
tag=$(echo "$out" | sed -n 's/^image: \([^ ]*\) is there, .*/\1/p')
like 'it says which' '^fuzzmill-agent:[0-9a-f]{12}$' "$tag"
id=$(docker image inspect -f '{{.Id}}' "$tag")

took=99999 # the best of three: others may be at work here
for _ in 1 2 3
do
	test "$took" -ge 1000 || break
	began=$(date +%s%3N)
	run image
	took=$(($(date +%s%3N) - began))
done
is 'the second says it is there' "0:$(echo "$out" | grep 'is there')" "$status:$out"
is 'within a second' yes "$(test "$took" -lt 1000 && echo yes || echo "$took ms")"
is 'and builds nothing' "$id" "$(docker image inspect -f '{{.Id}}' "$tag")"

size=$(docker image inspect -f '{{.Size}}' "$tag")
is 'at most 560 MB' yes "$(test "$size" -le 560000000 && echo yes || echo "$size")"
is 'not root' '"1000:1000"' "$(config User)"
is 'where it works' '"/workspace/fuzz"' "$(config WorkingDir)"
is 'no place on the host' null "$(config Volumes)"
is 'git never asks' '["GIT_TERMINAL_PROMPT=0"]' \
    "$(config Env | grep -o '"GIT[^"]*"' | sed 's/.*/[&]/')"
is 'no home it could not write' '' "$(config Env | grep -o 'HOME=[^"]*')"
is 'nothing gives rights away' '' "$(inside 'find / -xdev ! -type l -perm /6000 2>/dev/null')"
is 'nothing of root is for everybody to write' '' \
    "$(inside 'find / -xdev -type f -perm -2 2>/dev/null')"
# shellcheck disable=SC2016
is 'what is there' '/usr/bin/curl /usr/bin/python3 /usr/bin/ps /usr/local/bin/claude' \
    "$(inside 'for f in curl python3 ps claude git node npm; do command -v $f; done' | xargs)"
is 'certificates' yes "$(inside 'test -s /etc/ssl/certs/ca-certificates.crt && echo yes')"
is "no address of the host's package source" '' \
    "$(inside 'cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null')"
like 'the program' '^[0-9.]+ \(Claude Code\)$' "$(inside 'claude --version')"

# -- another build of it, with what is cached ------------------------------

mkdir clone
cp -r "$top/mk" "$top/docker" clone/
echo "LABEL fztest=$$" >>clone/docker/agent/Dockerfile
# shellcheck disable=SC2016
eval "$(make -s -C "$top" AGENT=claude --eval \
    'p:;@echo "CLAUDE_VERSION=$$CLAUDE_VERSION CLAUDE_SHA256=$$CLAUDE_SHA256"' p)"
export CLAUDE_VERSION CLAUDE_SHA256
agent_image () {
	(cd clone && B=$work/out IMAGE=$ours sh mk/agent-image.sh "$1")
}
ours=$(agent_image tag)
is 'a clone with the same files has it' "$tag" \
    "$(cd "$top" && sh mk/agent-image.sh tag)"
run agent_image build
is 'another Dockerfile, another image' "0:image: building $ours:" "$status:$out:$err"
is 'of the same size' yes "$(test "$(docker image inspect -f '{{.Size}}' "$ours")" \
    -le 560000000 && echo yes)"
run agent_image build
is 'once' '0::' "$status:$out:$err"
docker rmi -f "$ours" >/dev/null 2>&1

# A base of somebody else brings an apt-get; this one writes down its words.
mkdir base
base=$(cd "$top" && docker images -q fuzzmill-base | head -n 1)
cat >base/apt-get <<'EOF'
#!/bin/sh
echo "$*" >>/words
EOF
chmod 755 base/apt-get
cat >base/Dockerfile <<EOF
FROM $base
LABEL fztest=$$
COPY apt-get /usr/bin/apt-get
RUN cp /bin/true /bin/rights && chmod 6755 /bin/rights
EOF
BASE=fztest-base:$$
export BASE
DOCKER_BUILDKIT=0 docker build -q --network none -t "$BASE" base >/dev/null 2>&1
IMAGE_PACKAGES=gdb
export IMAGE_PACKAGES
ours=$(agent_image tag)
run agent_image build
is "somebody else's base" "0:image: building $ours:" "$status:$out:$err"
tag=$ours
is 'gets its packages from its own apt-get' 'update
install -y --no-install-recommends ca-certificates curl gdb procps python3-minimal' \
    "$(inside 'cat /words')"
is 'and loses its rights' '' "$(inside 'find / -xdev ! -type l -perm /6000 2>/dev/null')"

cat >base/apt-get <<'EOF'
#!/bin/sh
echo 'E: no such package'
exit 100
EOF
docker rmi -f "$ours" >/dev/null 2>&1
DOCKER_BUILDKIT=0 docker build -q --network none -t "$BASE" base >/dev/null 2>&1
run agent_image build
is 'a build that fails' 69 "$status"
like 'says why' '\| E: no such package' "$err"
is 'and leaves no image' '' "$(docker images -q "$ours")"
is 'nothing half-made in the cache' '' \
    "$(find "${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/fuzzmill}" -name '.[bc]*.*')"
done_testing
