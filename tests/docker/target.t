#!/bin/sh
# SPDX-License-Identifier: MIT
# A target's build in its container: what it may, what it may not, and that
# sessions find what it made where the workflow says.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=tests/docker/lib.sh
. "$top/tests/docker/lib.sh"

clean_up () {
	docker ps -aq --filter "ancestor=$shell" | xargs -r docker rm -f >/dev/null 2>&1
	docker rmi -f "$shell" >/dev/null 2>&1
	forget_images
}
shell=fztest-shell:$$
at_exit=clean_up
need_probe

# An image with a shell: the host's own, and what it is linked with.
mkdir -p shell/bin
for program in sh cat cp mkdir touch ln id ls sleep kill mknod
do
	cp -L "/bin/$program" shell/bin/
	ldd "/bin/$program" | grep -o '/[^ ]*' | while read -r file
	do
		mkdir -p "shell${file%/*}"
		cp -L "$file" "shell$file"
	done
done
tar -C shell -c . | docker import -c 'ENV PATH=/bin' - "$shell" >/dev/null

TARGET=$work/project
BUILD_IMAGE=$shell
WORKFLOW=w
MOUNT=/quest
ARTIFACTS='target/release/quest'
TARGET_BUILD='true'
export TARGET BUILD_IMAGE WORKFLOW MOUNT ARTIFACTS TARGET_BUILD
mkdir -p project/target project/.git project/a
cp root/probe project/source
echo secret >project/.env
echo secret >project/a/key.pem
echo secret >project/.git/config
home=out/target/w
mkdir out
ln -s "$B/bin" out/bin

target () {
	(cd "$work" && B=out sh "$top/mk/target.sh" "$@")
}

built () {
	(cd $home && find . -type f -path './tree/*' | sort | xargs)
}

# shellcheck disable=SC2016 # for the build's shell
TARGET_BUILD='echo "who $(id -u):$(id -g)"
ls /quest/.git
cat .env a/key.pem && echo "no secrets"
touch /quest/x /etc/x /x 2>/dev/null || echo "read-only"
ls /sys/class/net
echo "$CARGO_TARGET_DIR $CARGO_HOME $CARGO_NET_OFFLINE $HOME $PWD"
touch /tmp/x && echo tmp
cat /proc/self/status >"$OUT/status"
mkdir -p "$OUT/target/release" && cp source "$OUT/target/release/quest"
touch "$OUT/target/release/more"'
run target build
who=$(test "$(id -u)" -eq 0 && echo 65534:65534 || echo "$(id -u):$(id -g)")
is 'a build' "0:who $who
no secrets
read-only
lo
/out/target /out/.cargo true /tmp /quest
tmp" "$status:$(echo "$out" | sed '/^target: /d; /^[^:]*target: /d' | sed -n '/^who/,/^tmp$/p')"
is 'says where it is' "target: $home/tree has target/release/quest" \
    "$(echo "$out" | tail -n 1)"
is 'only what was asked for' ./tree/target/release/quest "$(built)"
is 'and nothing in the target' 'a source target' "$(cd project && find . -mindepth 1 \
    -maxdepth 1 ! -name '.*' -printf '%f\n' | sort | xargs)"
is 'no rights, and no way to more' 'CapBnd: 0000000000000000 CapEff: 0000000000000000 NoNewPrivs: 1' \
    "$(grep -e CapEff -e CapBnd -e NoNewPrivs $home/work/status | sort | xargs)"
is 'no container is left' '' "$(docker ps -aq --filter "ancestor=$shell")"
is 'nothing of the work but its files' 'lock source tree work' \
    "$(find $home -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | xargs)"
run target build
is 'not again' "0:target: $home has it; to build it again: rm -r $home:" \
    "$status:$out:$err"

# -- a session finds it ---------------------------------------------------

session 001 --ro "$TARGET:/quest" --ro "$(target mounts)" -- \
    /quest/target/release/quest out 'it runs' , ls /quest/target/release , \
    create /quest/target/release/x , create /quest/target/x
is 'a session runs it' '0 it runs' "$(cat 001.status) $(said 001 | head -n 1)"
is 'and cannot write there' 0 "$(said 001 | grep -c 'create .*: ok')"
is 'nothing came to be' ./tree/target/release/quest "$(built)"

# -- builds that go wrong -------------------------------------------------

rm -rf $home
# shellcheck disable=SC2016
TARGET_BUILD='mkdir -p $OUT/target/release; echo half >$OUT/target/release/quest; echo no compiler >&2; exit 3'
run target build
is 'a build that fails' 69 "$status"
is 'says what it said, and what it may need' "no compiler
ERROR: the build failed; it needs an image with its compiler (BUILD_IMAGE=, or IMAGE_PACKAGES= for ours), its sources vendored or TARGET_NET=1" "$err"
is 'half a file is no artifact' '' "$(built)"
run target check
is 'it is still to be made' "66:ERROR: TARGET=$TARGET: target/release/quest is not there; type: make target" "$status:$err"

TARGET_BUILD='touch /out/other'
rm -rf $home
run target build
is 'a build that makes something else' \
    "65:ERROR: TARGET_BUILD ended well, but did not make target/release/quest in \$OUT" "$status:$err"

TARGET_BUILD='mkdir -p /out/target; ln -s /etc /out/target/release; ln -s /etc/passwd /out/quest'
ARTIFACTS='target/release/passwd'
rm -rf $home
run target build
is "a link to the host's files" \
    "65:ERROR: TARGET_BUILD ended well, but did not make target/release/passwd in \$OUT" "$status:$err"
is 'is not followed' '' "$(built)"
ARTIFACTS='target/release/quest'

# A directory as the artifact: what is in it is looked at in a container.
rm -rf $home
ARTIFACTS='target/lib'
TARGET_BUILD='mkdir -p /out/target/lib; ln -s /etc/passwd /out/target/lib/p; touch /out/target/lib/q'
run target build
is 'a directory' "0:/etc/passwd" "$status:$(readlink $home/tree/target/lib/p)"
ARTIFACTS='target/release/quest'

rm -rf $home
TARGET_BUILD='touch /out/began; sleep 600'
(cd "$work" && B=out exec env --default-signal=INT sh "$top/mk/target.sh" build) >long 2>&1 &
pid=$!
until_true 200 test -e $home/work/began
run target build
is 'one at a time' "75:ERROR: another make target is at work in $home" "$status:$err"
kill -TERM $pid
wait $pid
is 'stopped' 143 $?
is 'no container is left of it' '' "$(docker ps -aq --filter "ancestor=$shell")"
is 'no artifact either' '' "$(built)"

rm -rf $home
TARGET_BUILD='touch /out/began'
mkdir 'project/a,b'
echo secret >'project/a,b/.env'
run target build
is 'what cannot be hidden is refused' "65:ERROR: TARGET=$TARGET: cannot hide a,b/.env from the build; move it away" "$status:$err"
is 'before anything began' no "$(test -e $home/work/began || echo no)"
rm -r 'project/a,b'
BUILD_IMAGE=fztest-none:$$
run target build
is 'no such image' 69 "$status"
done_testing
