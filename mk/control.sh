# SPDX-License-Identifier: MIT
# What a person does to a campaign from another terminal.
set -u

fail () {
	printf 'ERROR: %s\n' "$1" >&2
	exit 64
}

need_run () {
	case $RUN in
	''|*[!0-9]*) fail "name a run: make $1 RUN=007" ;;
	esac
	test -d "$RUNDIR/$RUN" || fail "no run $RUN in $RUNDIR"
}

need_rundir () {
	test -d "$RUNDIR" || fail "no runs in $RUNDIR"
}

need_campaign () {
	test -f "$RUNDIR/campaign.json" || fail "no campaign in $RUNDIR"
}

stop () {
	need_campaign
	echo "stopped by make stop at $(date '+%F %T')" >"$RUNDIR/STOP"
	echo "running sessions end, no new one starts; make kill ends them now"
}

kill_all () {
	need_campaign
	echo "stopped by make kill at $(date '+%F %T')" >"$RUNDIR/STOP"
	"$B/bin/fzps" --kill "$RUNDIR"
}

# running KEY: a word of run.json, which is there while the run is running
running () {
	sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$RUNDIR/$RUN/run.json" 2>/dev/null | grep .
}

logs () {
	need_run logs
	test -f "$RUNDIR/$RUN/agent.out" || fail "run $RUN has no output yet"
	if test -n "$FOLLOW" && owner=$(running owner)
	then
		owner=${owner%/*}
		tail -q -n +1 -f --pid "${owner##*/}" "$RUNDIR/$RUN/agent.out" "$RUNDIR/$RUN/agent.err" | "$B/bin/fzlog" ${RAW:+--raw} -
	else
		cat "$RUNDIR/$RUN/agent.out" "$RUNDIR/$RUN/agent.err" | "$B/bin/fzlog" ${RAW:+--raw} -
	fi
}

shell () {
	need_run shell
	name=$(running container) ||
		fail "run $RUN is not running; its files are in $RUNDIR/$RUN/workspace"
	if test -t 0
	then
		exec docker exec -it "$name" /bin/sh
	fi
	exec docker exec -i "$name" /bin/sh
}

clean_runs () {
	need_rundir
	test "$CONFIRM" = yes || fail "this deletes every run in $RUNDIR, paid ones too: make clean-runs CONFIRM=yes"
	test -f "$RUNDIR/campaign.json" || fail "$RUNDIR has no campaign.json; not deleting what is not ours"
	exec 9>>"$RUNDIR/.lock"
	flock -n 9 || fail "a campaign is running in $RUNDIR"
	rm -rf -- "$RUNDIR"
	echo "deleted $RUNDIR"
}

workflows () {
	for mk in fuzz/workflows/*/workflow.mk
	do
		name=${mk%/workflow.mk}
		printf '%-12s%s\n' "${name##*/}" "$(sed -n 's/^DESCRIPTION *:*= *//p' "$mk")"
	done
}

demo_begin () {
	test ! -d "$1" || flock -n "$1/.lock" true || fail "another demo is running in $1"
	rm -rf -- "$1"
}

demo_end () {
	found=$(cat "$1"/*/workspace/findings.jsonl 2>/dev/null | wc -l)
	echo
	echo "No model was used: a random generator (seed $SEED) played the agent,"
	echo "and a small interpreter with two planted bugs was the target."
	echo "It claimed $found findings; they are in $1/*/workspace/findings.jsonl."
	echo "next: make help, or a campaign of your own as in README.md"
}

case $1 in
stop) stop ;;
kill) kill_all ;;
logs) logs ;;
shell) shell ;;
clean-runs) clean_runs ;;
workflows) workflows ;;
demo-begin) demo_begin "$2" ;;
demo-end) demo_end "$2" ;;
esac
