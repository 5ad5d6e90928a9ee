# SPDX-License-Identifier: MIT
# One session: facts by dockrun, then the verdict by markrun.  The recipe
# behind every RUNDIR/ID/result.json; called as session.sh ID.
set -u
id=$1
dir=$RUNDIR/$id

if test -e "$RUNDIR/STOP"
then
	exit 0 # no verdict: the run stays due
fi
if test "$DRY_RUN" = 1
then
	printf '[%s] DRY-RUN: %s\n' "$id" 'Would run container with:'
	printf '  %s\n' "Session dir: $dir" 'Network: none' "Timeout: ${TIMEOUT}s"
	printf '[%s] DRY-RUN: %s\n' "$id" Complete
	exit 0
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
fi
set -- "$@" --
eval "set -- \"\$@\" $COMMAND"
"$B/bin/dockrun" "$@" || exit
test "$DRY_RUN" = check || "$B/bin/markrun" --progress "$RUNS" "$dir"
