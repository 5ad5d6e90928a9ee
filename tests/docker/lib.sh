# SPDX-License-Identifier: MIT
# Sourced after tap.sh by tests that need an engine: an image with the probe
# in it, sessions, what they left, and private engines that may be killed.
# The machine's own engine is never stopped, and no one else's image,
# container or process is touched.
# shellcheck disable=SC2154 # top and work are tap.sh's

image=fztest-real:$$ # others of one script are called $image-something
engines=
at=

# need_probe: builds the probe and imports it as $image, once per script
need_probe () {
	docker version >/dev/null 2>&1 || skip_all 'no engine, or no docker client'
	command -v jq >/dev/null || skip_all 'no jq'
	test "$(id -u)" -eq 0 || skip_all 'needs root'
	mkdir -p root
	"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -static -o root/probe \
	    "$top/tests/docker/probe.c" || skip_all 'no static C library'
	echo 'not a program' >root/plain
	chmod 644 root/plain
	import_probe "$image" || skip_all 'no import'
	mkdir -p runs
}

# import_probe TAG [INSTRUCTION...]: with lines of a Dockerfile
import_probe () {
	tag=$1
	shift
	for line in "$@"
	do
		shift
		set -- "$@" --change "$line"
	done
	tar -C root -c . | docker import "$@" - "$tag" >/dev/null
}

# session RUN [DOCKRUN-OPTION...] -- STEP...: leaves RUN.out, RUN.err, RUN.status
session () {
	r=$1
	shift
	dockrun --image "$image" --campaign "real$$" --timeout 60 \
	    --dir "runs/$r" "$@" >"$r.out" 2>"$r.err"
	echo $? >"$r.status"
}

# The same in the background; $! is dockrun's own.  A shell lets its
# background jobs ignore INT, which dockrun would respect.
launch () {
	r=$1
	shift
	env --default-signal=INT ${at:+"DOCKER_HOST=unix://$work/$at/sock"} \
	    dockrun --image "$image" --campaign "real$$" --timeout 60 \
	    --dir "runs/$r" "$@" >"$r.out" 2>"$r.err" &
}

# launch_in ENGINE RUN ...: with a private engine
launch_in () {
	at=$1
	shift
	launch "$@"
	at=
}

# ended RUN PID: waits for a launched dockrun
ended () {
	wait "$2"
	echo $? >"$1.status"
}

# fact RUN FILTER: from container.json, on one line
fact () {
	jq -rc "$2" "runs/$1/container.json" 2>&1
}

said () {
	cat "runs/$1/agent.out"
}

# began RUN...: their sessions have printed something
began () {
	for r in "$@"
	do
		until_true 150 test -s "runs/$r/agent.out" || return
	done
}

# container RUN: its id
container () {
	docker ps -aq --no-trunc --filter "label=fuzzmill.run=$1" \
	    --filter "label=fuzzmill.campaign=real$$"
}

is_gone () {
	! kill -0 "$1"
}

# in_engine NAME COMMAND...: with a private engine instead of the machine's
in_engine () (
	DOCKER_HOST=unix://$work/$1/sock
	export DOCKER_HOST
	shift
	"$@"
)

# between LOW HIGH NUMBER
between () {
	if test "$3" -ge "$1" 2>/dev/null && test "$3" -le "$2"
	then
		echo yes
	else
		echo "$3"
	fi
}

forget_images () {
	docker images -q --filter "reference=fztest-real:$$*" --no-trunc |
	    sort -u | xargs -r docker rmi -f >/dev/null 2>&1
}

# private_engine NAME: a dockerd of our own in $work/NAME, on the socket
# $work/NAME/sock; again after its death to have it back
private_engine () {
	mkdir -p "$1"
	rm -f "$1/pid"
	case " $engines " in *" $1 "*) ;; *) engines="$engines $1" ;; esac
	# In a network of its own: --bridge none deletes the docker0 it sees.
	unshare --net dockerd --data-root "$work/$1/data" \
	    --exec-root "$work/$1/exec" --pidfile "$work/$1/pid" \
	    -H "unix://$work/$1/sock" --bridge none --iptables=false >>"$1/log" 2>&1 &
	until_true 150 curl -sf --unix-socket "$work/$1/sock" http://d/_ping
}

# kill_engine NAME [SIGNAL]: returns when it is gone
kill_engine () {
	engine_pid=$(cat "$1/pid") || return
	kill "${2:--9}" "$engine_pid"
	wait "$engine_pid" 2>/dev/null
	until_true 200 is_gone "$engine_pid"
	# Its containerd dies with it, but as long as nobody has waited for
	# that, the next dockerd takes it for alive.
	rm -f "$1/pid" "$1/exec/containerd/containerd.pid"
}

# Processes that work for the private engine NAME: its containerd, its shims.
helpers () {
	grep -als -e "$work/$1/exec[/]" /proc/[0-9]*/cmdline | cut -d/ -f3
}

no_helpers () {
	test -z "$(helpers "$1")"
}

# Containers first: an engine that is asked to end stops its own.
forget_engines () {
	for name in $engines
	do
		test ! -e "$name/pid" || kill_engine "$name" -TERM
		helpers "$name" | xargs -r kill -9 2>/dev/null
		until_true 50 no_helpers "$name"
		grep -o " $work/$name/[^ ]*" /proc/self/mountinfo | sort -ru |
		    xargs -r umount -l 2>/dev/null
		rm -rf "${work:?}/$name"
	done
	engines=
}
