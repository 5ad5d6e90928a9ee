#!/bin/sh
# SPDX-License-Identifier: MIT
# What a workflow needs of its target: found, refused, and where it will be
# mounted; no engine is asked.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

mkdir fake project
cat >fake/docker <<EOF
#!/bin/sh
echo "docker \$*" >>$work/calls
EOF
chmod +x fake/docker
PATH=$work/fake:$PATH
TARGET=$work/project
WORKFLOW=w
MOUNT=/quest
ARTIFACTS='target/release/quest target/debug/q'
TARGET_BUILD='make it'
export TARGET WORKFLOW MOUNT ARTIFACTS TARGET_BUILD
real_B=$B
tree=out/target/w/tree

target () {
	(cd "$work" && B=out sh "$top/mk/target.sh" "$@")
}

# says DESCRIPTION STATUS OUT ERR COMMAND
says () {
	run target "$5"
	is "$1" "$2:$3:$4" "$status:$out:$err"
}

built () { # ARTIFACT...: as make target leaves them
	for file
	do
		mkdir -p "$tree/$(dirname "$file")"
		echo built >"$tree/$file"
	done
	echo "$work/project" >out/target/w/source
}

says 'no place for it' 66 '' \
    "ERROR: TARGET=$work/project: no place to mount target/release/quest; type: mkdir '$work/project/target'" check
says 'a build says so first' 66 '' \
    "ERROR: TARGET=$work/project: no place to mount target/release/quest; type: mkdir '$work/project/target'" build
mkdir project/target
says 'not there' 66 '' \
    "ERROR: TARGET=$work/project: target/release/quest target/debug/q is not there; type: make target" check
TARGET_BUILD=
says 'not there, and nobody knows how' 66 '' \
    "ERROR: TARGET=$work/project: target/release/quest target/debug/q is not there; build it (workflow w does not say how)" check
says 'nor does make target' 66 '' \
    "ERROR: TARGET=$work/project: target/release/quest target/debug/q is not there; build it (workflow w does not say how)" build
TARGET_BUILD='make it'

built target/release/quest
says 'half of it was built' 66 '' \
    "ERROR: TARGET=$work/project: target/release/quest target/debug/q is not there; type: make target" check
built target/debug/q
says 'built' 0 '' '' check
says 'not built twice' 0 'target: out/target/w has it; to build it again: rm -r out/target/w' '' build
says 'over the directory that is there' 0 "$tree/target:/quest/target" '' mounts
mkdir project/target/release
says 'a directory beneath comes with it' 0 "$tree/target:/quest/target" '' mounts
mkdir project/target/debug
says 'over its own, where that is there' 0 "$tree/target/debug:/quest/target/debug
$tree/target/release:/quest/target/release" '' mounts
echo own >project/target/debug/q
says 'what the target has is left alone' 0 "$tree/target/release:/quest/target/release" '' mounts
says 'and is enough' 0 '' '' check
echo own >project/target/release/quest
rm -r out
says 'all there' 0 '' '' check
says 'no mount' 0 '' '' mounts
says 'nothing to build' 0 "target: nothing to build: $work/project has target/release/quest target/debug/q" '' build
rm project/target/release/quest

# -- what is not what it looks like ----------------------------------------

built target/release/quest target/debug/q
mkdir elsewhere
echo "$work/elsewhere" >out/target/w/source
says "another target's" 66 '' \
    "ERROR: TARGET=$work/project: target/release/quest is not there; type: make target" check
built target/release/quest target/debug/q
ln -sf /etc/passwd $tree/target/release/quest
says 'a link is not it' 66 '' \
    "ERROR: TARGET=$work/project: target/release/quest is not there; type: make target" check
rm -r $tree/target/release
ln -s /etc $tree/target/release
says 'nor is what is behind one' 66 '' \
    "ERROR: TARGET=$work/project: target/release/quest is not there; type: make target" check
rm -r out project/target/release
ln -s /usr project/target/release
built target/release/quest target/debug/q
says 'nothing is mounted over a link' 0 "$tree/target:/quest/target" '' mounts

ARTIFACTS=quest
says 'at the top' 66 '' \
    "ERROR: TARGET=$work/project: quest is not there, and cannot be mounted at its top; build it yourself" check
for word in ../x /x a/../x a//x ./x 'a:x' "a'x" 'a,x' '*'
do
	ARTIFACTS=$word
	says "ARTIFACTS=$word" 64 '' "ERROR: ARTIFACTS: $word: a path inside TARGET, of letters, digits and ._/+@-" check
done
ARTIFACTS=
says 'none asked for' 0 '' '' check
says 'none to mount' 0 '' '' mounts
says 'none to build' 0 "target: nothing to build: $work/project has all the workflow needs" '' build
TARGET=
says 'no target' 64 '' \
    "ERROR: Set TARGET, the directory to fuzz: echo 'TARGET = /path/to/it' > conf/local.mk" check
TARGET=$work/none
says 'no such target' 66 '' "ERROR: TARGET=$work/none: no such directory" check
says 'usage' 64 '' 'usage: target.sh build|check|mounts' other
is 'no engine was asked' '' "$(cat calls 2>/dev/null)"

# -- by make --------------------------------------------------------------

unset ARTIFACTS TARGET_BUILD WORKFLOW MOUNT
TARGET=$work/elsewhere
run make -s -C "$top" B="$real_B" AGENT=claude target
is 'make target: the quest workflow' \
    "2:ERROR: TARGET=$TARGET: no place to mount target/release/quest; type: mkdir '$TARGET/target'" \
    "$status:$(echo "$err" | grep '^ERROR')"
run make -s -C "$top" B="$real_B" AGENT=command WORKFLOW=plain target
is 'another workflow takes any target' \
    "0:target: nothing to build: $TARGET has all the workflow needs" \
    "$status:$(echo "$out" | grep '^target:')"
done_testing
