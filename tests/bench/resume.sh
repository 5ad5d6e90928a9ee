# SPDX-License-Identifier: MIT
# How long a finished campaign of 10,000 runs takes to be found finished:
# the sessions' make, as mk/campaign.sh calls it, and fzstat.
#
# usage: resume.sh
# B       directory with the programs (build)
# ROUNDS  how often each is measured (5)
# RUNS    how many finished runs there are (10000)
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 99
top=$(cd "$here/../.." && pwd) || exit 99
B=$(cd "${B:-build}" && pwd) || exit 99
: "${ROUNDS:=5}" "${RUNS:=10000}"

fail () {
	printf 'bench: %s\n' "$*" >&2
	exit 1
}

# Every file of a run, so that directories are as full as real ones.
make_runs () {
	seq -f '%03.0f/workspace' 1 "$RUNS" | xargs mkdir -p || fail 'no runs'
	seq -f '%03.0f' 1 "$RUNS" | awk -f "$here/runs.awk" || fail 'no runs'
	cat >campaign.json <<-EOF
	{"_schema":"fz-campaign/1","id":"00112233445566aa","created_at":"2026-11-18T06:03:22Z","runs":$RUNS,"inputs":{"agent":"command"}}
	EOF
}

# As campaign.sh does, with nothing of the make that may be around us.
sessions () {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES \
	    "$@" make -C "$top" -j2 B="$B" RUNS="$RUNS" RUNDIR="$work" sessions
}

# seconds FILE: the median of the first column, which is ms
seconds () {
	sort -n "$1" | awk '{ v[NR] = $1 / 1000 }
	    END { printf "%.3f", v[int((NR + 1) / 2)] }'
}

work=$(mktemp -d "${TMPDIR:-/tmp}/fzbench.XXXXXX") || exit 99
trap 'cd /; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM
cd "$work" || exit 99
make_runs
# A run that is due would be a session started, and measured.
sessions env MAKEFLAGS=n >log 2>&1 || fail "$(cat log)"
due=$(grep -c 'session\.sh' log)
test "$due" -eq 0 || fail "$due runs are not done"
seen=$("$B/bin/fzstat" --ids --status success,error,timeout "$work" | wc -l)
test "$seen" -eq "$RUNS" || fail "fzstat sees $seen of $RUNS runs"
n=0
while test "$n" -lt "$ROUNDS"
do
	sessions "$B/bench/measure" cost >log 2>&1 || fail "$(cat log)"
	cat cost >>cost-make
	"$B/bench/measure" cost "$B/bin/fzstat" "$work" >log 2>&1 ||
	    fail "$(cat log)"
	cat cost >>cost-fzstat
	n=$((n + 1))
done
awk -v runs="$RUNS" -v rounds="$ROUNDS" -v a="$(seconds cost-make)" \
    -v b="$(seconds cost-fzstat)" 'BEGIN {
	printf "%d finished runs: make %.3f s + fzstat %.3f s = %.3f s ",
	    runs, a, b, a + b
	printf "(goal 0.250) %s; median of %d\n",
	    a + b <= 0.25 ? "reached" : "MISSED", rounds
}'
