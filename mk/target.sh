# SPDX-License-Identifier: MIT
# What a workflow runs of the target (ARTIFACTS), built by its TARGET_BUILD.
#
# usage: target.sh build   once, in a container that writes only below
#                          B/target/WORKFLOW; skipped when they are there
#        target.sh check   exits 66 when one is missing, with what to type
#        target.sh mounts  HOST:CONTAINER of each directory to lay over TARGET
#
# The build sees the source read-only at MOUNT, its working directory, and
# writes to $OUT; an artifact is expected there by its name in ARTIFACTS.
# TARGET WORKFLOW ARTIFACTS TARGET_BUILD MOUNT IMAGE BUILD_IMAGE TARGET_NET
# TARGET_MEMORY AGENT_BUILD UNMASK B
set -uf
umask 022 # a session's user must be able to read it
: "${ARTIFACTS:=}" "${TARGET_BUILD:=}" "${BUILD_IMAGE:=}" "${TARGET_NET:=}"
: "${TARGET_MEMORY:=4g}" "${AGENT_BUILD:=}" "${UNMASK:=}" "${B:=build}"
home=$B/target/$WORKFLOW
tree=$home/tree # the artifacts alone, as TARGET would have them

fail () { # STATUS MESSAGE
	printf 'ERROR: %s\n' "$2" >&2
	exit "$1"
}

check_words () {
	for artifact in $ARTIFACTS
	do
		case /$artifact/ in
		*[!A-Za-z0-9._/+@-]*|*/../*|*/./*|*//*)
			fail 64 "ARTIFACTS: $artifact: a path inside TARGET, of letters, digits and ._/+@-" ;;
		esac
	done
}

# is_plain DIR PATH: there, and no symbolic link on the way; where one leads
# in a container is another matter
is_plain () {
	test "$(realpath -e "$1/$2" 2>/dev/null)" = "$(realpath -e "$1")/$2"
}

# missing_in DIR: the artifacts it lacks
missing_in () {
	for artifact in $ARTIFACTS
	do
		is_plain "$1" "$artifact" || echo "$artifact"
	done
}

# Of this TARGET, not of another that had the same workflow.
is_built () {
	test "$(cat "$home/source" 2>/dev/null)" = "$(realpath -e "$TARGET")" &&
	    test -z "$(missing_in "$tree")"
}

# place_of ARTIFACT: the directory of TARGET that its own one is laid over
place_of () {
	place=$(dirname "$1")
	while test "$place" != . && ! is_plain "$TARGET" "$place"
	do
		place=$(dirname "$place")
	done
	echo "$place"
}

# Nothing can be mounted where TARGET, which is read-only, has no directory.
check_places () {
	for artifact in $1
	do
		test "$(place_of "$artifact")" = . || continue
		test "$artifact" != "${artifact%%/*}" ||
			fail 66 "TARGET=$TARGET: $artifact is not there, and cannot be mounted at its top; build it yourself"
		fail 66 "TARGET=$TARGET: no place to mount $artifact; type: mkdir '$TARGET/${artifact%%/*}'"
	done
}

check () {
	missing=$(missing_in "$TARGET")
	test -n "$missing" || return 0
	check_places "$missing"
	is_built && return
	what=$(echo "$missing" | paste -s -d ' ')
	test -n "$TARGET_BUILD" ||
		fail 66 "TARGET=$TARGET: $what is not there; build it (workflow $WORKFLOW does not say how)"
	fail 66 "TARGET=$TARGET: $what is not there; type: make target"
}

# A directory beneath another that is mounted comes with it.
mounts () {
	for artifact in $(missing_in "$TARGET")
	do
		place_of "$artifact"
	done | sort -u | awk -v from="$tree" -v to="$MOUNT" '
	    last != "" && index($0, last "/") == 1 { next }
	    { last = $0; print from "/" $0 ":" to "/" $0 }'
}

# Names that TARGET hides from sessions are hidden from its build too.
masks () {
	set -- --ro "$TARGET:$MOUNT"
	test ! -f conf/mask.conf || set -- "$@" --mask-file conf/mask.conf
	for pattern in $UNMASK
	do
		set -- "$@" --unmask "$pattern"
	done
	"$B/bin/dockrun" --list-masked "$@"
}

# No root where the engine gives it: whoever builds owns what he builds.
set_owner () {
	owner=$(id -u):$(id -g)
	if test "${owner%%:*}" -eq 0
	then
		owner=65534:65534
		chown "$owner" "$home/work" || exit 73
	fi
}

run_build () {
	set -- --read-only --user "$owner" --cap-drop ALL \
	    --security-opt no-new-privileges --pids-limit 2048 \
	    --memory "$TARGET_MEMORY" --memory-swap "$TARGET_MEMORY" \
	    --ulimit core=0 --tmpfs /tmp:rw,exec,nosuid,nodev,size=1g,mode=1777 \
	    --mount "type=bind,src=$(realpath -e "$TARGET"),dst=$MOUNT,readonly" \
	    --mount "type=bind,src=$(realpath -e "$home/work"),dst=/out" \
	    --workdir "$MOUNT" -e HOME=/tmp -e OUT=/out \
	    -e CARGO_TARGET_DIR=/out/target -e CARGO_HOME=/out/.cargo
	while read -r path
	do
		case $path in
		*[,\"\\]*) fail 65 "TARGET=$TARGET: cannot hide $path from the build; move it away" ;;
		*/) set -- "$@" --mount "type=tmpfs,dst=$MOUNT/${path%/},tmpfs-size=4096,tmpfs-mode=0555" ;;
		*) set -- "$@" --mount "type=bind,src=/dev/null,dst=$MOUNT/$path,readonly" ;;
		esac
	done <"$home/masks"
	test "$TARGET_NET" = 1 || set -- "$@" --network none -e CARGO_NET_OFFLINE=true
	# In the background: a shell that waits hears a signal at once.
	docker run --rm --init --cidfile "$home/cid" "$@" --entrypoint /bin/sh \
	    "$BUILD_IMAGE" -c "umask 022; $TARGET_BUILD" </dev/null &
	client=$!
	wait $client
}

end_container () {
	test ! -s "$home/cid" || docker rm -f "$(cat "$home/cid")" >/dev/null 2>&1
}

# The container may be known only later, or left by a client that was killed.
client=
end_build () {
	end_container
	while test -n "$client" && kill -0 "$client" 2>/dev/null
	do
		sleep 0.1
		end_container
	done
	rm -rf "$home/cid" "$home/masks" "$home/new"
}

# What the build wrote is not to be trusted: no links, only what was asked.
take_artifacts () {
	missing=$(missing_in "$home/work" | paste -s -d ' ')
	test -z "$missing" ||
		fail 65 "TARGET_BUILD ended well, but did not make $missing in \$OUT"
	for artifact in $ARTIFACTS
	do
		mkdir -p "$home/new/$(dirname "$artifact")" &&
		    cp -RP --no-preserve=ownership "$home/work/$artifact" \
		    "$home/new/$artifact" || exit 73
	done
	rm -rf "$tree" "$home/source" && mv "$home/new" "$tree" &&
	    realpath -e "$TARGET" >"$home/source" || exit 73
}

build () {
	missing=$(missing_in "$TARGET")
	test -n "$missing" || { echo "target: nothing to build: $TARGET has ${ARTIFACTS:-all the workflow needs}"; return; }
	check_places "$missing"
	is_built && { echo "target: $home has it; to build it again: rm -r $home"; return; }
	test -n "$TARGET_BUILD" || check
	case $(realpath -e "$TARGET")$PWD in
	*[,\"]*) fail 64 "TARGET=$TARGET: the engine cannot mount a path with a comma or a quote" ;;
	esac
	if test -z "$BUILD_IMAGE"
	then
		BUILD_IMAGE=$IMAGE
		test -z "$AGENT_BUILD" || sh -c "$AGENT_BUILD" || exit
	fi
	mkdir -p "$home/work" || exit 73
	exec 8>>"$home/lock" || exit 73
	flock -n 8 || fail 75 "another make target is at work in $home"
	end_build
	trap end_build EXIT
	trap 'exit 130' INT
	trap 'exit 143' HUP TERM
	set_owner
	masks >"$home/masks" || exit
	echo "target: $TARGET_BUILD (in $BUILD_IMAGE, $(test "$TARGET_NET" = 1 && echo with || echo no) network)"
	run_build || fail 69 "the build failed; it needs an image with its compiler (BUILD_IMAGE=, or IMAGE_PACKAGES= for ours), its sources vendored or TARGET_NET=1"
	take_artifacts
	echo "target: $tree has $(echo "$ARTIFACTS" | paste -s -d ' ')"
}

case ${1:-} in
build|check|mounts) ;;
*)
	echo 'usage: target.sh build|check|mounts' >&2
	exit 64
	;;
esac
check_words
test -n "$TARGET" || fail 64 "Set TARGET, the directory to fuzz: echo 'TARGET = /path/to/it' > conf/local.mk"
test -d "$TARGET" || fail 66 "TARGET=$TARGET: no such directory"
test "$(realpath -e "$TARGET")" != / || exit 0 # dockrun says why not
"$1"
