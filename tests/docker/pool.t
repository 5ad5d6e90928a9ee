#!/bin/sh
# SPDX-License-Identifier: MIT
# No worker is idle while there is work, by make's jobs or by GNU parallel.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=tests/docker/campaign.sh
. "$top/tests/docker/campaign.sh"
prepare

# gaps RUNDIR WORKERS: how many sessions were in the pool at most, and how
# long a place in it was empty, in the middle and at worst.  The log has the
# times of the containers; making and removing one is part of the gap.
gaps () {
	sed 1d "$1/joblog.tsv" | sort -n -k 3,3 | awk -v w="$2" '
	{ start[NR] = $3; end[NR] = $3 + $4 }
	END {
		for (i = 1; i <= NR; i++)
			for (j = i + 1; j <= NR; j++)
				if (end[j] < end[i]) {
					t = end[i]; end[i] = end[j]; end[j] = t
				}
		for (i = 1; i <= NR; i++) {
			while (end[ended + 1] <= start[i] && ended < NR)
				ended++
			if (i - ended > most)
				most = i - ended
		}
		for (i = w + 1; i <= NR; i++)
			gap[i - w] = start[i] - end[i - w]
		n = NR - w
		for (i = 1; i <= n; i++)
			for (j = i + 1; j <= n; j++)
				if (gap[j] < gap[i]) {
					t = gap[i]; gap[i] = gap[j]; gap[j] = t
				}
		printf "%d %.3f %.3f\n", most, gap[int((n + 1) / 2)], gap[n]
	}'
}

# One session takes all its time: a pool that waits for a whole batch would
# leave fifteen places empty meanwhile.
run fz -j16 RUNS=48 TIMEOUT=15 GRACE=0 COMMAND='/agent 001=hang 0.5' campaign
is '48 sessions, 16 at a time' 0 "$status"
is 'it says with how many' 'Running 48 fuzz sessions with 16 workers...' \
    "$(sed -n 1p .out)"
is 'progress, every ten and at the end' \
    'Progress: 10/48 complete|Progress: 20/48 complete|Progress: 30/48 complete|Progress: 40/48 complete|Progress: 48/48 complete' \
    "$(grep Progress .out | paste -s -d '|')"
is 'one line in the joblog for each' "48 48" \
    "$(tries_of runs) $(sed 1d runs/joblog.tsv | cut -f 1 | sort -u | wc -l)"
measured=$(gaps runs 16)
echo "# at most, median gap, longest gap: $measured"
# shellcheck disable=SC2086 # three words
set -- $measured
is 'never more than 16' yes "$(test "$1" -le 16 && echo yes || echo "$1")"
is 'many at once' yes "$(test "$1" -ge 4 && echo yes || echo "$1")"
is 'a free place is taken at once' yes \
    "$(echo "$2" | awk '{ print $1 < 3 ? "yes" : $1 }')"
is 'by everyone' yes "$(echo "$3" | awk '{ print $1 < 8 ? "yes" : $1 }')"
rm -r runs

command -v parallel >/dev/null || { done_testing; exit; }

# The other pool does the same.
fz RUNS=3 RUNDIR="$work/by-make" COMMAND='/agent 002=3' campaign >make.out
run fz POOL=parallel RUNS=3 WORKERS=2 COMMAND='/agent 002=3' campaign
is 'GNU parallel: complete' 0 "$status"
is 'the same words' "$(sed 's/([0-9.]*s)/(s)/; s/by-make/runs/; s/3 workers/2 workers/' make.out | sort)" \
    "$(sed 's/([0-9.]*s)/(s)/' .out | sort)"
is 'no decoration where nobody looks' '' "$err"
is 'the same files' "$(find by-make/00* | sort | sed 's/by-make/runs/')" \
    "$(find runs/00* | sort)"
is 'the same joblog' 3 "$(tries_of runs)"
run fz POOL=parallel RUNS=5 COMMAND='/agent 002=3' campaign
is 'the same resume' '0 004 005' "$status $(sed -n \
    's/^\[\([0-9]*\)\] Starting.*/\1/p' .out | sort | paste -s -d ' ')"
run fz POOL=parallel COMMAND='/agent 002=3' campaign
is 'nothing to do' "0 ✓ All 5 sessions complete! Results in $work/runs/" \
    "$status $(sed -n 2p .out)"
rm runs/004/result.json
run fz POOL=make COMMAND='/agent 002=3' campaign
is 'what the one begins the other goes on with' '0 [004] Starting...' \
    "$status $(grep Starting .out)"

# The number of workers, while it runs.
bg log POOL=parallel RUNDIR="$work/live" RUNS=5 WORKERS=1 COMMAND='/agent gate' campaign
up live 001
is 'one worker' '1 1' "$(cat live/workers) $(containers live)"
is 'any edit is newer, to the second' live/workers \
    "$(find live/workers ! -newermt 2000-01-01)"
echo 4 >live/workers
: >target/go-001
up live 002 003 004 005
is 'now four' 4 "$(containers live)"
: >target/go
wait "$bg"
is 'all are done' '0 001 002 003 004 005' "$? $(done_of live)"
rm target/go*

# On a terminal: an estimate, and Ctrl-C.
press --when "$work/pty/001/workspace/deaf" '' \
    --when "$work/pty/002/workspace/deaf" '^C' fz POOL=parallel \
    RUNDIR="$work/pty" RUNS=4 WORKERS=2 COMMAND='/agent deaf 50' campaign >pressed
left=$(containers pty)
waited=$(($(date +%s) - $(stat -c %Y pty/002/attempts/1/workspace/deaf \
    pty/002/workspace/deaf 2>/dev/null)))
like 'parallel shows when it will end' 'ETA: ' "$(cat pressed)"
is 'Ctrl-C: the prompt is back when all is clean' 0 "$left"
is 'which takes as long as a session may: 1 s, then 5' yes \
    "$(test "$waited" -ge 5 && echo yes || echo "$waited")"
is 'no verdict for what was interrupted' '' "$(done_of pty)"
is 'and the command that continues' '0/4 complete' \
    "$(grep -B 1 "^continue with: make .* POOL='parallel' campaign$" pressed | sed -n 1p)"
run fz POOL=parallel RUNDIR="$work/pty" COMMAND=/agent campaign
is 'the next campaign does the rest' '0 001 002 003 004' \
    "$status $(done_of pty)"
done_testing
