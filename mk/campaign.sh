# SPDX-License-Identifier: MIT
# The campaign around the sessions: checks, lock, pool, closing words.
# Called by make with every variable of mk/config.mk in the environment.
set -u

fail () { # STATUS MESSAGE...
	status=$1
	shift
	printf 'ERROR: %s\n' "$@" >&2
	exit "$status"
}

# The words of -jN that make passes on; "-j" alone means "all at once".
jobs_of () {
	for word in ${MAKEFLAGS:-}
	do
		case $word in
		-j) fail 64 '-j without a number would start every session at once; type -j8' ;;
		-j[0-9]*) echo "${word#-j}"; return ;;
		esac
	done
}

check_names () {
	case $RUNDIR in
	*[!A-Za-z0-9._/+@%=,-]*) fail 64 "RUNDIR=$RUNDIR: letters, digits and ._/+@%=,- only" ;;
	esac
	case $WORKERS in
	''|*[!0-9]*|0*|?????*) fail 64 "WORKERS=$WORKERS: not a whole number from 1 to 9999" ;;
	esac
	case $POOL in
	make|parallel) ;;
	*) fail 64 "POOL=$POOL: make or parallel" ;;
	esac
	test -f "fuzz/workflows/$WORKFLOW/workflow.mk" ||
		fail 66 "WORKFLOW=$WORKFLOW: there is no fuzz/workflows/$WORKFLOW; type make workflows"
	test "$AGENT" != claude ||
		fail 69 'AGENT=claude is not there yet; type make AGENT=command IMAGE=... COMMAND=... campaign, or make demo'
	test -f "conf/agents/$AGENT.mk" ||
		fail 66 "AGENT=$AGENT: there is no conf/agents/$AGENT.mk; there is:$(printf ' %s' conf/agents/*.mk | sed 's/conf\/agents\/\|\.mk//g')"
	test -n "$TARGET" ||
		fail 64 "Set TARGET, the directory to fuzz: echo 'TARGET = /path/to/it' > conf/local.mk"
	test -d "$TARGET" || fail 66 "TARGET=$TARGET: no such directory"
	test -n "$IMAGE" || fail 64 "Set IMAGE, the image that holds the agent: make IMAGE=name campaign"
}

image_id=

# settle [--dry-run]: inputs compared with the campaign's; $CAMPAIGN, $RUNS
settle () {
	set -- "$@" ${RUNS:+--runs "$RUNS"} \
	    --fixed "agent=$AGENT" --fixed "target=$(cd "$TARGET" && pwd -P)" \
	    --input "workflow=$WORKFLOW" ${image_id:+--input "image=$image_id"} \
	    --input "command=$COMMAND" --input "timeout=$TIMEOUT" \
	    --input "memory=$MEMORY" --input "cpus=$CPUS" \
	    --input "pids=$PIDS" --input "tmp_size=$TMP_SIZE" \
	    --input "unmask=$UNMASK"
	test -z "$PROMPT" || set -- "$@" --input-file "prompt=$PROMPT"
	settled=$("$B/bin/fzplan" "$@" "$RUNDIR") || exit
	CAMPAIGN=${settled% *}
	RUNS=${settled#* }
	export CAMPAIGN RUNS
}

# What would be sent, without an engine: shows a bad target before anything
# is built or started.
check_request () {
	DRY_RUN=check sh mk/session.sh 001 >/dev/null || exit
}

# The engine, then the image; also sweeps up what dead dockruns left.
have_engine () {
	"$B/bin/fzps" --reap || fail $? 'the Docker engine is needed; type make doctor'
	test -z "${AGENT_BUILD:-}" || sh -c "$AGENT_BUILD" || exit
	image_id=$(docker image inspect -f '{{.Id}}' "$IMAGE" 2>/dev/null) ||
		fail 66 "IMAGE=$IMAGE: not in the engine; build it, or docker pull $IMAGE"
}

lock () {
	exec 9>>"$RUNDIR/.lock" || exit
	flock -n 9 || fail 75 "another campaign is running in $RUNDIR: $(cat "$RUNDIR/.lock")"
	echo "process $$ on $(hostname), since $(date '+%F %T')" >"$RUNDIR/.lock"
}

# A run whose verdict cannot be read is not done; keep it, do it again.
retract_unreadable () {
	for id in $("$B/bin/fzstat" --ids --status unreadable "$RUNDIR" 2>/dev/null)
	do
		"$B/bin/markrun" --retract "$RUNDIR/$id"
	done
}

begin () {
	lock
	if test -e "$RUNDIR/STOP"
	then
		echo "STOP was there ($(head -n 1 "$RUNDIR/STOP")); going on"
		rm -f "$RUNDIR/STOP"
	fi
	retract_unreadable
}

# pool TARGET...: the sessions, by make's own jobs or by GNU parallel
run_make () {
	# shellcheck disable=SC2086 # -jN or nothing
	$MAKE $jobs_flag "$@"
}

run_parallel () {
	eta=
	if test -t 2
	then
		eta=--eta
	fi
	# parallel reads the file again after each job: edit it while it runs.
	echo "$workers" >"$RUNDIR/workers"
	# MAKEFLAGS would hand each make a jobserver that is not theirs.
	# shellcheck disable=SC2086 # --eta or nothing
	seq -f '%03.0f' 1 "$RUNS" | env -u MAKEFLAGS -u MFLAGS parallel \
	    --will-cite -j "$RUNDIR/workers" --joblog "$RUNDIR/parallel.tsv" \
	    --halt soon,fail=1 $eta --line-buffer \
	    "test -s $RUNDIR/{}/result.json || $MAKE -s $RUNDIR/{}/result.json"
}

campaign () {
	echo "Running $RUNS fuzz sessions with $workers workers..."
	# With a trap of our own we outlive Ctrl-C until the pool has ended,
	# and the sessions still get the signal as it is.
	trap : INT TERM HUP
	if test "$POOL" = parallel
	then
		run_parallel
	else
		run_make sessions
	fi
	"$B/bin/fzstat" --closing "$CONTINUE" "$RUNDIR"
}

dry_run () {
	settle --dry-run
	check_request
	for id in $(seq -f '%03.0f' 1 "$RUNS")
	do
		test -s "$RUNDIR/$id/result.json" || sh mk/session.sh "$id" || exit
	done
}

plan () {
	settle --dry-run
	check_request
	have=$("$B/bin/fzstat" --ids --status success,error,timeout "$RUNDIR" 2>/dev/null | wc -l)
	due=$((RUNS - have))
	test "$due" -ge 0 || due=0
	seconds=$(((due + workers - 1) / workers * (TIMEOUT + GRACE)))
	printf '%-10s%s\n' sessions "$RUNS ($have have a verdict, $due to run)" \
	    workers "$workers" agent "$AGENT ($IMAGE)" target "$TARGET" \
	    limits "$MEMORY memory, $CPUS CPU, $PIDS processes, $TIMEOUT s each" \
	    network none 'at most' "$((seconds / 3600)) h $((seconds % 3600 / 60)) min for all"
	echo "next: $CONTINUE"
}

select_runs () {
	"$B/bin/fzstat" --ids ${STATUS:+--status "$STATUS"} \
	    ${REASON:+--reason "$REASON"} "$RUNDIR" || test $? -eq 2
}

retry () {
	test -n "$STATUS$REASON" || fail 64 'say which: make retry STATUS=error, or REASON=oom'
	ids=$(select_runs) || exit
	test -n "$ids" || { echo "no run matches; nothing to do"; exit 0; }
	for id in $ids
	do
		"$B/bin/markrun" --retract "$RUNDIR/$id" || exit
	done
	campaign
}

run_one () {
	case $RUN in
	???*[!0-9]*|[!0-9]*|''|?|??) fail 64 "RUN=$RUN: name a run, such as make run RUN=007" ;;
	esac
	trap : INT TERM HUP
	run_make "$RUNDIR/$RUN/result.json"
}

workers=$(jobs_of) || exit
jobs_flag=
if test -z "$workers"
then
	workers=$WORKERS
	jobs_flag=-j$WORKERS
fi
check_names
case $1:$DRY_RUN in
plan:*) plan; exit ;;
campaign:?*) dry_run; exit ;;
esac
check_request
have_engine
settle
begin
case $1 in
campaign) campaign ;;
retry) retry ;;
run) run_one ;;
esac
