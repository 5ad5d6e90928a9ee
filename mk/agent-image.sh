# SPDX-License-Identifier: MIT
# The agent's image, whose tag is a hash of all it is made of.
#
# usage: agent-image.sh tag    prints its name; asks no engine
#        agent-image.sh build  makes it when IMAGE is that name, and missing
#        agent-image.sh show   says whether there is an IMAGE
#
# BASE IMAGE_PACKAGES WITH_GIT CLAUDE_VERSION CLAUDE_SHA256 IMAGE B CACHE
set -u
umask 022
: "${BASE:=}" "${IMAGE_PACKAGES:=}" "${WITH_GIT:=}" "${IMAGE:=}" "${B:=build}"
: "${CACHE:=${XDG_CACHE_HOME:-$HOME/.cache}/fuzzmill}"
: "${CLAUDE_VERSION:=}" "${CLAUDE_SHA256:=}" "${FZ_ROOT:=}"

fail () { # STATUS MESSAGE
	printf 'ERROR: %s\n' "$2" >&2
	exit "$1"
}

# One word each, sorted, so that another order is no other image.
set -f
packages=$(for package in ca-certificates curl procps python3-minimal \
    $IMAGE_PACKAGES $(test "$WITH_GIT" != 1 || echo git)
do
	echo "$package"
done | sort -u)
set +f
release=$(sed -n 's/^VERSION_CODENAME=//p' "$FZ_ROOT/etc/os-release" | tr -d '"')

base_hash () {
	{
		cat mk/agent-base.sh
		echo "$release $(uname -m)" "$packages"
	} | sha256sum | cut -c 1-12
}

# Of somebody else's base the name is all we know before it is there.
image_tag () {
	{
		cat docker/agent/Dockerfile docker/agent/bash
		echo "$CLAUDE_VERSION $CLAUDE_SHA256 ${BASE:+$BASE $packages}"
		test -n "$BASE" || base_hash
	} | sha256sum | sed 's/^\(.\{12\}\).*/fuzzmill-agent:\1/'
}

need () { # PROGRAM
	command -v "$1" >/dev/null || fail 69 "the agent's image needs $1; type: make setup-agent"
}

check_words () {
	case $WITH_GIT in
	''|0|1) ;;
	*) fail 64 "WITH_GIT=$WITH_GIT: 1, or nothing" ;;
	esac
	bad=$(echo "$packages" | grep -v '^[a-z0-9][a-z0-9.+-]*$')
	test -z "$bad" || fail 64 "IMAGE_PACKAGES: not a package's name: $bad"
	test -n "$BASE" || test -n "$release" ||
		fail 69 'not a Debian (no VERSION_CODENAME); type make BASE=debian:bookworm-slim image'
}

is_there () {
	docker image inspect "$1" >/dev/null 2>&1
}

# logged COMMAND...: what it says is for the log, and for the one who must
# know why it failed
logged () {
	"$@" >>"$log" 2>&1 </dev/null && return
	status=$?
	tail -n 20 "$log" | sed 's/^/  | /' >&2
	echo "(log: $log)" >&2
	case $status in
	65|69|73|130|143) exit "$status" ;;
	*) exit 69 ;; # somebody else's
	esac
}

need_base () {
	base=fuzzmill-base:$(base_hash)
	is_there "$base" && return
	tar=$CACHE/base-${base#*:}.tar
	if test ! -f "$tar"
	then
		need mmdebstrap
		echo "image: making a base of $release with $(echo "$packages" | paste -s -d ' ') (log: $log)"
		# shellcheck disable=SC2086 # one word each
		logged sh mk/agent-base.sh "$tar" "$release" $packages
	fi
	logged docker import -c 'ENV PATH=/usr/local/bin:/usr/bin:/bin' "$tar" "$base"
}

need_claude () {
	claude=$CACHE/claude-$CLAUDE_VERSION-$(echo "$CLAUDE_SHA256" | cut -c 1-12)
	if test -f "$claude"
	then
		echo "$CLAUDE_SHA256  $claude" | sha256sum -c --status && return
		echo "image: $claude is not what it was; fetching it again"
		rm -f "$claude"
	fi
	need npm
	echo "image: fetching claude $CLAUDE_VERSION"
	logged sh mk/claude.sh "$claude"
}

# The lock's holder alone has such directories: others are a dead one's.
begin () {
	mkdir -p "$CACHE" "$B" || exit 73
	log=$B/image.log
	: >"$log" || exit 73
	exec 8>>"$CACHE/lock" || exit 73
	flock -n 8 || {
		echo "image: another one is being made; waiting for it"
		flock 8
	}
	rm -rf "$CACHE"/.base.* "$CACHE"/.claude.* "$CACHE"/.context.*
}

# The context holds links to the cache, not copies.
build () {
	context=$(mktemp -d "$CACHE/.context.XXXXXX") || exit 73
	cp docker/agent/Dockerfile "$context" &&
	    install -m 755 docker/agent/bash "$context/bash" &&
	    ln "$claude" "$context/claude" || exit 73
	echo "image: building $tag"
	# Packages of another's base come from its network, ours from nowhere.
	set -- --network none --build-arg "BASE=$base"
	test -z "$BASE" || set -- --build-arg "BASE=$BASE" \
	    --build-arg "PACKAGES=$(echo "$packages" | paste -s -d ' ')"
	logged env DOCKER_BUILDKIT=0 docker build --force-rm "$@" -t "$tag" "$context"
}

# make_image: one at a time, also from another clone
make_image () {
	check_words
	need docker
	is_there "$tag" && return
	docker version >/dev/null 2>&1 ||
		fail 69 'the Docker engine is needed; type make doctor'
	context=
	trap 'rm -rf "$context"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' HUP TERM
	begin
	is_there "$tag" && return
	base=$BASE
	need_claude
	test -n "$BASE" || need_base
	build
}

show () {
	test -n "$IMAGE" ||
		fail 64 'Set IMAGE, the image that holds the agent: make IMAGE=name campaign'
	size=$(docker image inspect -f '{{.Size}}' "$IMAGE" 2>/dev/null) ||
		fail 66 "IMAGE=$IMAGE: not in the engine, and not ours to build; docker build or pull it"
	echo "image: $IMAGE is there, $((size / 1000000)) MB"
}

tag=$(image_tag)
case ${1:-}:$IMAGE in
tag:*) echo "$tag" ;;
build:"$tag") make_image ;;
build:*) ;; # somebody's own
show:*) show ;;
*)
	echo 'usage: agent-image.sh tag|build|show' >&2
	exit 64
	;;
esac
