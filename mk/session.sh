# SPDX-License-Identifier: MIT
# One session: facts by dockrun, then the verdict by markrun.  The recipe
# behind every RUNDIR/ID/result.json; called as session.sh ID.
set -u
# The campaign's lock is not for those who may outlive it.  Closed here: a
# shell in between would keep a copy for itself.
exec 9>&-
id=$1
dir=$RUNDIR/$id

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
		"$B/bin/markrun" --progress "$RUNS" "$dir" || flock "$dir" true
	fi
	test -s "$dir/result.json"
}

if test "$DRY_RUN" = 1
then
	printf '[%s] DRY-RUN: %s\n' "$id" 'Would run container with:'
	printf '  %s\n' "Session dir: $dir" 'Network: none' "Timeout: ${TIMEOUT}s"
	printf '[%s] DRY-RUN: %s\n' "$id" Complete
	exit 0
fi
if test -z "$DRY_RUN"
then
	test -d "$dir" && finish_earlier && exit 0
	test -e "$RUNDIR/STOP" && exit 0 # no verdict: the run stays due
fi

set -- --image "$IMAGE" --dir "$dir" --campaign "$CAMPAIGN" \
    --ro "$TARGET:$MOUNT" --timeout "$TIMEOUT" --grace "$GRACE" \
    --memory "$MEMORY" --cpus "$CPUS" --pids "$PIDS" --tmp-size "$TMP_SIZE" \
    --max-log "$MAX_LOG" --infra-wait "$INFRA_WAIT"
if test -f conf/mask.conf
then
	set -- "$@" --mask-file conf/mask.conf
fi
for pattern in $UNMASK
do
	set -- "$@" --unmask "$pattern"
done
if test -f "fuzz/workflows/$WORKFLOW/env"
then
	set -- "$@" --env-file "fuzz/workflows/$WORKFLOW/env"
fi
if test -n "$PROMPT"
then
	set -- "$@" --stdin "$PROMPT"
fi
if test "$DRY_RUN" = check
then
	set -- "$@" --print-request
	COMMAND=${COMMAND:-image-command} # only the engine knows it
fi
set -- "$@" --
eval "set -- \"\$@\" $COMMAND"
"$B/bin/dockrun" "$@" || exit
test -n "$DRY_RUN" || "$B/bin/markrun" --progress "$RUNS" "$dir"
