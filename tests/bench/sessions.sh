# SPDX-License-Identifier: MIT
# What a session costs us beyond what it costs the engine: no-op sessions,
# two at a time, by every contender in turn, as ratios to the floor.
#
# usage: sessions.sh
# B         directory with the programs (build)
# ROUNDS    how often each contender runs (5)
# SESSIONS  in each of them (40)
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 99
top=$(cd "$here/../.." && pwd) || exit 99
B=$(cd "${B:-build}" && pwd) || exit 99
: "${ROUNDS:=5}" "${SESSIONS:=40}"
workers=2
tag=fztest-bench:noop
contenders='floor dockrun marked campaign docker-sealed docker-plain python'

# The sessions, by one contender; what "measure" measures.
ids () {
	seq -f '%03.0f' 1 "$SESSIONS"
}

by_floor () {
	ids | sed "s/^/$label-/" |
	    xargs -P $workers -n 1 "$B/bench/floor" body.json
}

by_dockrun () {
	mkdir "$runs" || exit
	ids | xargs -P $workers -I '{}' "$B/bin/dockrun" --image $tag \
	    --campaign "$label" --ro target:/target --dir "$runs/{}" -- /noop
}

# shellcheck disable=SC2016 # xargs's shell expands these
by_marked () {
	mkdir "$runs" || exit
	ids | xargs -P $workers -n 1 sh -c '"$0/bin/dockrun" --image "$1" \
	    --campaign "$2" --ro target:/target --dir "$3/$4" -- /noop &&
	    "$0/bin/markrun" "$3/$4"' "$B" $tag "$label" "$runs"
}

# As a person types it, without what our own make has put around us.
by_campaign () {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES \
	    make -C "$top" B="$B" AGENT=command WORKFLOW=quest IMAGE=$tag \
	    COMMAND=/noop PROMPT= TARGET="$work/target" UNMASK= DRY_RUN= \
	    POOL=make RUNS="$SESSIONS" WORKERS=$workers RUNDIR="$work/$runs" \
	    campaign
}

by_docker_sealed () {
	ids | xargs -P $workers -I '{}' docker run --rm --label "$label" \
	    --user 1879048192:1879048192 --hostname fuzzmill \
	    --workdir /workspace/fuzz --read-only --cap-drop ALL \
	    --security-opt no-new-privileges --network none --ipc private \
	    --cgroupns private --log-driver none --no-healthcheck \
	    --memory 2g --memory-swap 2g --cpus 1 --pids-limit 256 \
	    --shm-size 16m --oom-score-adj 500 \
	    --tmpfs /tmp:rw,noexec,nosuid,nodev,size=100m,mode=1777 \
	    --ulimit core=0 --ulimit nofile=4096 \
	    --mount "type=bind,src=$B/bin/fzinit,dst=/.fuzzmill/init,readonly" \
	    --mount "type=bind,src=$work/shared/report,dst=/.fuzzmill/report,readonly" \
	    --mount "type=bind,src=$work/shared/workspace,dst=/workspace/fuzz" \
	    --mount "type=bind,src=$work/target,dst=/target,readonly" \
	    $tag /noop
}

# No network here either: a bridge would be measured, and may not be there.
by_docker_plain () {
	ids | xargs -P $workers -I '{}' docker run --rm --label "$label" \
	    --network none $tag /noop
}

by_python () {
	ids | xargs -P $workers -I '{}' /usr/bin/python3 "$here/session.py" \
	    $tag "$label" "$work/target" "$B/bin/fzinit" "$work/shared"
}

if test "${1:-}" = --by
then
	work=$PWD
	runs=$3
	label=$4
	case $2 in
	floor) by_floor ;;
	dockrun) by_dockrun ;;
	marked) by_marked ;;
	campaign) by_campaign ;;
	docker-sealed) by_docker_sealed ;;
	docker-plain) by_docker_plain ;;
	python) by_python ;;
	esac
	exit
fi

fail () {
	printf 'bench: %s\n' "$*" >&2
	exit 1
}

clean_up () {
	docker ps -aq --filter "label=$label" | xargs -r docker rm -f
	docker ps -aq --filter "label=fuzzmill.campaign=$label" |
	    xargs -r docker rm -f
	docker image rm $tag
	rm -rf "$work"
}

prepare () {
	mkdir -p target shared/report shared/workspace one
	tar -C "$B/bench" -c noop | docker import - $tag >/dev/null ||
	    fail 'cannot import the image'
	"$B/bin/dockrun" --print-request --image $tag --campaign "$label" \
	    --ro target:/target --dir one/000 -- /noop |
	    /usr/bin/python3 "$here/request.py" /noop >body.json ||
	    fail 'no request'
}

# Every session must have run, or its time is worth nothing.
check () { # CONTENDER RUNS
	case $1 in
	dockrun) "$B/bin/markrun" "$2"/* >/dev/null || fail 'markrun' ;;
	marked|campaign) ;;
	*) return ;;
	esac
	got=$("$B/bin/fzstat" --ids --status success "$2" | wc -l)
	test "$got" -eq "$SESSIONS" || fail "$1: $got of $SESSIONS succeeded"
}

# round N: adds a line "round contender wall-ms cpu-ms rss-kib" for each
round () {
	for who in $contenders
	do
		"$B/bench/measure" cost sh "$here/sessions.sh" --by "$who" \
		    "runs-$who-$1" "$label" >log 2>&1 </dev/null ||
		    fail "$who: $(tail -n 5 log)"
		check "$who" "runs-$who-$1"
		echo "$1 $who $(cat cost)" >>costs
	done
}

# The largest of a few, in KiB.
rss () {
	for id in 001 002 003
	do
		"$B/bench/measure" cost "$B/bin/dockrun" --image $tag \
		    --campaign "$label" --ro target:/target --dir one/$id \
		    -- /noop >log 2>&1 || fail "dockrun: $(cat log)"
		cut -d ' ' -f 3 cost
	done | sort -n | tail -n 1
}

work=$(mktemp -d "${TMPDIR:-/tmp}/fzbench.XXXXXX") || exit 99
label=fzbench-$$
trap 'cd /; clean_up >/dev/null 2>&1' EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM
cd "$work" || exit 99
export B ROUNDS SESSIONS
prepare
n=1
while test "$n" -le "$ROUNDS"
do
	round "$n"
	n=$((n + 1))
done
awk -v sessions="$SESSIONS" -v rounds="$ROUNDS" -v workers=$workers \
    -v rss="$(rss)" -v contenders="$contenders" -f "$here/median.awk" \
    -f "$here/table.awk" costs
