#!/bin/sh
# SPDX-License-Identifier: MIT
# What one session's script does: when it tries again, waits, or leaves the run due.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

# dockrun and markrun that note their call; markrun ends as "ends" says.
mkdir -p b/bin runs target
cat >b/bin/dockrun <<'END'
#!/bin/sh
echo "$* key=${ANTHROPIC_API_KEY:-none} ${ANTHROPIC_AUTH_TOKEN:-none}" >>"$CALLS"
mkdir -p "$RUNDIR/001"
END
cat >b/bin/markrun <<'END'
#!/bin/sh
read -r status <"$ENDS"
sed -i 1d "$ENDS"
exit "${status:-0}"
END
chmod +x b/bin/*
CALLS=$work/calls
ENDS=$work/ends
B=$work/b
export CALLS ENDS
cd "$top" || exit 99
export RUNDIR="$work/runs" RUNS=3 AGENT=command WORKFLOW=plain IMAGE=i \
    CAMPAIGN=none TARGET="$work/target" MOUNT=/target COMMAND=/c TIMEOUT=9 \
    GRACE=1 MEMORY=64m CPUS=1 PIDS=99 TMP_SIZE=1m MAX_LOG=1m INFRA_WAIT=1 \
    UNMASK='' PROMPT='' POLICY='' DRY_RUN='' VERDICT=claude RETRIES=3 \
    RETRY_WAIT=0 PROXY_DIR="$work/proxy" ARTIFACTS=''

# session STATUS...: as markrun would end; leaves $tries
session () {
	rm -rf "$RUNDIR/001" "$CALLS"
	printf '%s\n' "$@" >"$ENDS"
	run_in sh mk/session.sh 001
	tries=$(wc -l <"$CALLS" 2>/dev/null || echo 0)
}

run_in () {
	"$@" >"$work/.out" 2>"$work/.err"
	status=$?
	out=$(cat "$work/.out")
	err=$(cat "$work/.err")
}

session 0
is 'a verdict is the end' '0 1' "$status $tries"
session 75 75 0
is 'trouble of the API: again' '0 3' "$status $tries"
session 75 75 75 75 75
is 'so often, and no more' \
    '0 4 [001] no verdict after try 4; the run stays due' "$status $tries $out"
session 70 0
is 'a real error is none of that' '70 1' "$status $tries"
UNMASK='*.md M*' session 0
is 'patterns stay patterns' '--unmask *.md --unmask M*' \
    "$(grep -o -e '--unmask [^ ]* --unmask [^ ]*' "$CALLS")"

echo because >"$RUNDIR/STOP"
session 0
is 'STOP: nothing starts' '0 0' "$status $tries"
rm "$RUNDIR/STOP"

# While all wait for the API.
echo "$(($(date +%s) + 600)) paused until later" >"$RUNDIR/PAUSE"
rm -rf "$RUNDIR/001" "$CALLS"
sh mk/session.sh 001 >"$work/waits" 2>&1 &
waiter=$!
until_true 50 grep -q '^\[001\] paused until later$' "$work/waits"
echo because >"$RUNDIR/STOP"
wait "$waiter"
is 'STOP ends the wait, and nothing starts' '0 no' \
    "$? $(test -e "$CALLS" && echo yes || echo no)"
rm "$RUNDIR/STOP"
: >"$work/waits"
# shellcheck disable=SC2016
sh -c 'sh mk/session.sh 001 >"$0" 2>&1 & echo $! >"$0.pid"; wait' \
    "$work/waits" &
parent=$!
until_true 50 grep -q paused "$work/waits"
kill -9 "$parent"
wait "$parent" 2>/dev/null
gone () {
	! kill -0 "$(cat "$work/waits.pid")"
}
is 'nobody waits for a make that is dead' 0 "$(until_true 50 gone; echo $?)"
is 'and starts what the next one would' no \
    "$(test -e "$CALLS" && echo yes || echo no)"
: >"$work/waits"
echo "$(($(date +%s) + 2)) paused until soon" >"$RUNDIR/PAUSE"
sh mk/session.sh 001 >"$work/waits" 2>&1 &
waiter=$!
until_true 50 grep -q paused "$work/waits"
mkdir -p "$RUNDIR/001"
echo '{}' >"$RUNDIR/001/result.json"
wait "$waiter"
is 'what another did meanwhile is not done again' '0 no' \
    "$? $(test -e "$CALLS" && echo yes || echo no)"
rm "$RUNDIR/PAUSE"

# The proxy.
mkdir "$RUNDIR/.net"
echo '127.0.0.1:8080 127.0.0.1:8080' >"$RUNDIR/.net/relays"
POLICY=conf/policy.conf ANTHROPIC_API_KEY=real session 0
is 'no proxy, no session' '69 0 ERROR: proxy: not running; type make proxy-up' \
    "$status $tries $err"
mkdir "$work/proxy"
echo 0123 >"$work/proxy/token"
POLICY=conf/policy.conf ANTHROPIC_API_KEY=real ANTHROPIC_AUTH_TOKEN=real \
    session 0
is 'the session has the token, not the key' '0 0123 none' \
    "$status $(sed -n 's/.* key=//p' "$CALLS")"
is 'by name' '--secret ANTHROPIC_API_KEY' \
    "$(grep -o -e '--secret [A-Z_]*' "$CALLS")"
done_testing
