# SPDX-License-Identifier: MIT
# One session: facts by dockrun, then the verdict by markrun.  The recipe
# behind every RUNDIR/ID/result.json; called as session.sh ID.
set -uf # names in UNMASK and COMMAND are not of files here
# The campaign's lock is not for those who may outlive it.  Closed here: a
# shell in between would keep a copy for itself.
exec 9>&-
id=$1
dir=$RUNDIR/$id

judge () {
	"$B/bin/markrun" --agent "$VERDICT" --progress "$RUNS" "$dir"
}

# Facts that nobody came to judge; a marker without its result.json says
# that somebody took the verdict away.  Looked at under the run's lock.
# shellcheck disable=SC2016 # for the inner shell
is_unjudged () {
	flock "$dir" sh -c 'cd "$1" && test -e container.json &&
	    ! ls run.json SUCCESS ERROR TIMEOUT 2>/dev/null | grep -q .' - "$dir"
}

# A dockrun can outlive its make: wait for it.  What it did is judged, not
# paid for again, by us or by the markrun that was to follow it.
finish_earlier () {
	if ! flock -n "$dir" true
	then
		echo "[$id] an earlier session is still at work; waiting for it"
		flock "$dir" true
	fi
	if is_unjudged
	then
		judge || flock "$dir" true
	fi
	test -s "$dir/result.json"
}

if test "$DRY_RUN" = 1
then
	printf '[%s] DRY-RUN: %s\n' "$id" 'Would run container with:'
	printf '  %s\n' "Session dir: $dir" \
	    "Network: none${POLICY:+, relays by $POLICY}" "Timeout: ${TIMEOUT}s"
	printf '[%s] DRY-RUN: %s\n' "$id" Complete
	exit 0
fi
if test -z "$DRY_RUN"
then
	test -d "$dir" && finish_earlier && exit 0
	test ! -e "$RUNDIR/STOP" || exit 0 # no verdict: the run stays due
fi

set -- --image "$IMAGE" --dir "$dir" --campaign "$CAMPAIGN" \
    --ro "$TARGET:$MOUNT" --timeout "$TIMEOUT" --grace "$GRACE" \
    --memory "$MEMORY" --cpus "$CPUS" --pids "$PIDS" --tmp-size "$TMP_SIZE" \
    --max-log "$MAX_LOG" --infra-wait "$INFRA_WAIT"
for mount in $(sh mk/target.sh mounts)
do
	set -- "$@" --ro "$mount"
done
if test -f conf/mask.conf
then
	set -- "$@" --mask-file conf/mask.conf
fi
for pattern in $UNMASK
do
	set -- "$@" --unmask "$pattern"
done
for file in "conf/agents/$AGENT.env" "fuzz/workflows/$WORKFLOW/env"
do
	test ! -f "$file" || set -- "$@" --env-file "$file"
done
if test -n "$PROMPT"
then
	set -- "$@" --stdin "$PROMPT"
fi
# The real key is the proxy's; what a session has in its place opens the gate.
unset ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN
if test -n "$POLICY" && test -z "$DRY_RUN"
then
	net=$RUNDIR/.net
	set -- "$@" --relays "$net/relays" --hosts "$net/hosts" \
	    --env-file "$net/env" --proxy-log "$PROXY_DIR/access.log"
	if grep -q '^127\.0\.0\.1:8080 ' "$net/relays"
	then
		ANTHROPIC_API_KEY=$(cat "$PROXY_DIR/token" 2>/dev/null) || {
			echo 'ERROR: proxy: not running; type make proxy-up' >&2
			exit 69
		}
		export ANTHROPIC_API_KEY
		set -- "$@" --secret ANTHROPIC_API_KEY
	fi
fi
if test "$DRY_RUN" = check
then
	set -- "$@" --print-request
	COMMAND=${COMMAND:-image-command} # only the engine knows it
fi
set -- "$@" --
eval "set -- \"\$@\" $COMMAND"
if test "$DRY_RUN" = check
then
	exec "$B/bin/dockrun" "$@"
fi

# Whoever started us is gone: what is due is the next campaign's.
is_orphan () {
	read -r _ _ _ parent _ <"/proc/$$/stat"
	test "$parent" -ne "$PPID"
}

# False: no verdict, the run stays due.
is_wanted () {
	test ! -e "$RUNDIR/STOP" && ! is_orphan
}

# wait_until TIME
wait_until () {
	while test "$(date +%s)" -lt "$1"
	do
		is_wanted || exit 0
		sleep 1
	done
}

# Another may have done it while we waited.
wait_and_look () {
	wait_until "$1"
	is_wanted || exit 0
	test ! -d "$dir" || ! finish_earlier || exit 0
}

# The API is in trouble for everybody: nobody starts until PAUSE says so.
wait_for_api () {
	until=0
	read -r until words 2>/dev/null <"$RUNDIR/PAUSE"
	test "${until:-0}" -gt "$(date +%s)" || return 0
	echo "[$id] $words"
	wait_and_look "$until"
}

# 75: no verdict, through no fault of the session.
for try in $(seq $((RETRIES + 1)))
do
	test "$try" -eq 1 || wait_and_look $(($(date +%s) + RETRY_WAIT))
	wait_for_api
	"$B/bin/dockrun" "$@" || exit
	judge
	status=$?
	test "$status" -eq 75 || exit "$status"
done
echo "[$id] no verdict after try $try; the run stays due"
