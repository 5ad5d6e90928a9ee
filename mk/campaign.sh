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
		--) return ;; # what follows are variables, COMMAND among them
		esac
	done
}

check_names () {
	case $RUNS in
	*[!0-9]*|0*|????????*) fail 64 "RUNS=$RUNS: not a whole number from 1 to 1000000" ;;
	esac
	case $RUNDIR in
	''|*[!A-Za-z0-9._/+@,-]*) fail 64 "RUNDIR=$RUNDIR: letters, digits and ._/+@,- only" ;;
	esac
	case $WORKERS in
	''|*[!0-9]*|0*|?????*) fail 64 "WORKERS=$WORKERS: not a whole number from 1 to 9999" ;;
	esac
	case $POOL in
	make) ;;
	parallel) command -v parallel >/dev/null ||
		fail 69 'POOL=parallel needs GNU parallel: apt-get install parallel' ;;
	*) fail 64 "POOL=$POOL: make or parallel" ;;
	esac
	case $DRY_RUN in
	''|1) ;;
	*) fail 64 "DRY_RUN=$DRY_RUN: 1, or nothing" ;;
	esac
	case $RETRIES,$RETRY_WAIT in
	,*|*,|*[!0-9,]*|?????*,*|*,?????*) fail 64 "RETRIES=$RETRIES RETRY_WAIT=$RETRY_WAIT: whole numbers up to 9999" ;;
	esac
	test -f "fuzz/workflows/$WORKFLOW/workflow.mk" ||
		fail 66 "WORKFLOW=$WORKFLOW: there is no fuzz/workflows/$WORKFLOW; type make workflows"
	test -f "conf/agents/$AGENT.mk" ||
		fail 66 "AGENT=$AGENT: there is no conf/agents/$AGENT.mk; there is:$(printf ' %s' conf/agents/*.mk | sed 's/conf\/agents\/\|\.mk//g')"
	test -n "$TARGET" ||
		fail 64 "Set TARGET, the directory to fuzz: echo 'TARGET = /path/to/it' > conf/local.mk"
	test -d "$TARGET" || fail 66 "TARGET=$TARGET: no such directory"
	test -n "$IMAGE" || fail 64 "Set IMAGE, the image that holds the agent: make IMAGE=name campaign"
	test -z "$PROMPT" || test -f "$PROMPT" ||
		fail 66 "PROMPT=$PROMPT: no such file; type make PROMPT=FILE campaign"
	test -z "$POLICY" || "$B/bin/netpolicy" lint "$POLICY" >/dev/null || exit
	sh mk/target.sh check || exit
}

image_id=

# stored KEY: a plain value of campaign.json, if there is one
stored () {
	sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" "$RUNDIR/campaign.json" 2>/dev/null
}

# settle [--dry-run]: inputs compared with the campaign's; $CAMPAIGN, $RUNS
settle () {
	had=$(stored runs)
	test "${RUNS:-1000000}" -ge "${had:-0}" || fail 64 \
	    "RUNS=$RUNS: this campaign has $had runs; leave RUNS out, or run one: make run RUN=001"
	# A dry run asks no engine: the image is what it was.
	image_id=${image_id:-$(stored image)}
	set -- "$@" ${RUNS:+--runs "$RUNS"} \
	    --fixed "agent=$AGENT" --fixed "target=$(cd "$TARGET" && pwd -P)" \
	    --input "workflow=$WORKFLOW" ${image_id:+--input "image=$image_id"} \
	    --input "command=$COMMAND" --input "timeout=$TIMEOUT" \
	    --input "memory=$MEMORY" --input "cpus=$CPUS" \
	    --input "pids=$PIDS" --input "tmp_size=$TMP_SIZE" \
	    --input "unmask=$UNMASK"
	test -z "$PROMPT" || set -- "$@" --input-file "prompt=$PROMPT"
	test -z "$POLICY" || set -- "$@" --input-file "policy=$POLICY"
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

# The proxy, proved: a wrong key or a deaf API is found out before anything
# is spent.  An agent that needs nobody never asks for squid or a key.
have_proxy () {
	test -n "$POLICY" || return 0
	sh mk/proxy.sh status | grep -q '^proxy *up' ||
		"$B/bin/netpolicy" gen -t key "$POLICY" >/dev/null || exit
	sh mk/proxy.sh up || exit
	proofs=$(sh mk/proxy.sh check) || exit
	test -z "$proofs" ||
		echo "proxy: $(echo "$proofs" | grep -c '^ok') proofs hold; make proxy-check shows them"
}

# What each session is told of the policy.
write_net () {
	test -n "$POLICY" || return 0
	mkdir -p "$RUNDIR/.net" || exit
	for kind in relays hosts env
	do
		set -- -t "$kind"
		test $kind != relays ||
			set -- "$@" --gate-port "$GATE_PORT" --proxy-port "$PROXY_PORT"
		"$B/bin/netpolicy" gen "$@" "$POLICY" >"$RUNDIR/.net/$kind.new" &&
			mv "$RUNDIR/.net/$kind.new" "$RUNDIR/.net/$kind" || exit
	done
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
	flock -n 9 || fail 75 "another campaign is running in $RUNDIR: $(cat "$RUNDIR/.lock"); make stop lets it end, make kill ends it now"
	echo "process $$ on $(uname -n), since $(date '+%F %T')" >"$RUNDIR/.lock"
}

# A run whose verdict cannot be read is not done; keep it, do it again.
retract_unreadable () {
	for id in $("$B/bin/fzstat" --ids --status unreadable "$RUNDIR" 2>/dev/null)
	do
		"$B/bin/markrun" --retract "$RUNDIR/$id"
	done
}

# What the proof has just shown to be over is over.
forget_pause () {
	test -z "$POLICY" || rm -f "$RUNDIR/PAUSE" "$RUNDIR/.api"
}

begin () {
	if test -e "$RUNDIR/STOP"
	then
		echo "STOP was there ($(head -n 1 "$RUNDIR/STOP")); going on"
		rm -f "$RUNDIR/STOP"
	fi
	retract_unreadable
	forget_pause
	write_net
}

# run_make TARGET...: the sessions, by make's own jobs
run_make () {
	# shellcheck disable=SC2086 # -jN or nothing
	$MAKE $jobs_flag "$@"
}

due_ids () {
	for id in $(seq -f '%03.0f' 1 "$RUNS")
	do
		test -s "$RUNDIR/$id/result.json" || echo "$id"
	done
}

# The recipe itself, not a make per session: the settings are in the
# environment.  At the end of patience parallel must not be quicker with its
# KILL than dockrun with its container.
run_parallel () {
	eta=
	if test -t 2
	then
		eta=--eta
	fi
	# parallel reads the file again after each job when it is newer, in
	# whole seconds: edit it while it runs, as soon as you like.
	echo "$workers" >"$RUNDIR/workers"
	touch -t 197001020000 "$RUNDIR/workers"
	# shellcheck disable=SC2086 # --eta or nothing
	due_ids | env -u MAKEFLAGS -u MFLAGS PARALLEL_SHELL=/bin/sh \
	    parallel --plain --will-cite -j "$RUNDIR/workers" \
	    --joblog "$RUNDIR/parallel.tsv" --halt soon,fail=1 \
	    --termseq "INT,$((GRACE * 1000 + 15000)),KILL,25" $eta \
	    --line-buffer 'exec sh mk/session.sh {}'
}

# After a second Ctrl-C make waits for its sessions no longer.
wait_for_sessions () {
	for file in "$RUNDIR"/*/run.json
	do
		test ! -e "$file" || flock "${file%/run.json}" true
	done
}

campaign () {
	echo "Running $RUNS fuzz sessions with $workers workers..."
	# With a trap of our own we outlive Ctrl-C until the pool has ended,
	# and the sessions still get the signal as it is.
	interrupted=
	trap 'interrupted=1' INT TERM HUP
	if test "$POOL" = parallel
	then
		run_parallel
	else
		run_make sessions
	fi || wait_for_sessions
	test -z "$interrupted" || echo interrupted
	"$B/bin/fzstat" --closing "$go_on" "$RUNDIR"
}

# dry_run campaign|retry|run: the sessions that it would run
dry_run () {
	settle --dry-run
	check_request
	case $1 in
	campaign) due=$(due_ids) ;;
	retry) due=$(select_runs) || exit ;;
	run) need_known_run; due=$RUN ;;
	esac
	for id in $due
	do
		sh mk/session.sh "$id" || exit
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
	    network "none${POLICY:+, relays by $POLICY}" 'at most' "$((seconds / 3600)) h $((seconds % 3600 / 60)) min for all${POLICY:+, if the API answers}"
	echo "next: $go_on"
}

select_runs () {
	"$B/bin/fzstat" --ids ${STATUS:+--status "$STATUS"} \
	    ${REASON:+--reason "$REASON"} "$RUNDIR" || test $? -eq 2
}

# What to try again is asked of a campaign that is there.
need_choice () {
	test -f "$RUNDIR/campaign.json" || fail 66 "no campaign in $RUNDIR"
	test -n "$STATUS$REASON" || fail 64 'say which: make retry STATUS=error, or REASON=oom'
}

retry () {
	ids=$(select_runs) || exit
	test -n "$ids" || { echo "no run matches; nothing to do"; exit 0; }
	for id in $ids
	do
		"$B/bin/markrun" --retract "$RUNDIR/$id" || exit
	done
	campaign
}

# $RUN must be spelled as its directory is
need_run () {
	case $RUN in
	''|*[!0-9]*|??????????*) fail 64 "RUN=$RUN: name a run, such as make run RUN=007" ;;
	esac
	number=${RUN#"${RUN%%[!0]*}"}
	number=${number:-0}
	test "$(printf %03d "$number")" = "$RUN" ||
		fail 64 "RUN=$RUN: type make run RUN=$(printf %03d "$number")"
}

# ... and a run of this campaign.
need_known_run () {
	if test "$number" -lt 1 || test "$number" -gt "$RUNS"
	then
		fail 64 "RUN=$RUN: this campaign has the runs 001 to $(printf %03d "$RUNS"); RUNS=$number adds it"
	fi
}

run_one () {
	if test -e "$RUNDIR/$RUN/result.json"
	then
		echo "[$RUN] has a verdict; to give it up: $B/bin/markrun --retract $RUNDIR/$RUN"
		exit 0
	fi
	trap : INT TERM HUP
	run_make "$RUNDIR/$RUN/result.json" || wait_for_sessions
	test -e "$RUNDIR/$RUN/result.json"
}

workers=$(jobs_of) || exit
jobs_flag=
if test -z "$workers"
then
	workers=$WORKERS
	jobs_flag=-j$WORKERS
	typed='make'
else
	typed="make -j$workers"
fi
go_on=${CONTINUE:-$typed${TYPED:+ $TYPED} campaign}
check_names
case $1 in
retry) need_choice ;;
run) need_run ;;
esac
case $1:$DRY_RUN in
plan:*) plan; exit ;;
*:1) dry_run "$1"; exit ;;
esac
check_request
have_proxy
have_engine
# A campaign that runs must not be changed by one that is refused.
if mkdir -p "$RUNDIR" 2>/dev/null
then
	lock
fi
settle
test "$1" != run || need_known_run
begin
case $1 in
campaign) campaign ;;
retry) retry ;;
run) run_one ;;
esac
