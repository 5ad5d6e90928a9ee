# SPDX-License-Identifier: MIT
# What a session's way out costs: one TCP stream, a small request and many
# connections, directly, by our relay twice (TCP to a unix socket and back)
# and by socat twice.
#
# usage: relay.sh
# B       directory with the programs (build)
# ROUNDS  how often each is measured (5)
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 99
B=$(cd "${B:-build}" && pwd) || exit 99
: "${ROUNDS:=5}"
relay=$B/bench/relay
pids=

fail () {
	printf 'bench: %s\n' "$*" >&2
	exit 1
}

clean_up () {
	# shellcheck disable=SC2086 # one word each
	kill $pids
	rm -rf "$work"
}

# start COMMAND ...: until clean_up
start () {
	"$@" 2>>log &
	pids="$pids $!"
}

# Below the ports that the kernel gives away.
at () {
	echo "127.0.0.1:$((20000 + $$ % 10000 + $1))"
}

work=$(mktemp -d "${TMPDIR:-/tmp}/fzbench.XXXXXX") || exit 99
trap 'cd /; clean_up >/dev/null 2>&1' EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM
cd "$work" || exit 99
command -v socat >/dev/null || fail 'socat is missing'
direct=$(at 0) ours=$(at 1) socat=$(at 2)
start "$relay" answer "$direct"
start "$relay" serve "unix:$work/ours" "$direct"
start "$relay" serve "$ours" "unix:$work/ours"
# With our size of buffer: its own is 8 KiB, and slower.
start socat -b 65536 UNIX-LISTEN:socat,fork,backlog=1024 \
    "TCP:$direct,nodelay"
start socat -b 65536 "TCP-LISTEN:${socat#*:},bind=${socat%:*},fork,\
reuseaddr,backlog=1024,nodelay" UNIX-CONNECT:socat
for address in "$direct" "unix:$work/ours" "unix:$work/socat" "$ours" "$socat"
do
	"$relay" await "$address" || fail "$address: $(cat log)"
done
n=1
while test "$n" -le "$ROUNDS"
do
	for who in direct ours socat
	do
		eval "address=\$$who"
		said=$("$relay" ask "$address") || fail "$who: $(cat log)"
		echo "$n $who $said" >>costs
	done
	n=$((n + 1))
done
awk -v rounds="$ROUNDS" -f "$here/median.awk" \
    -f "$here/relay.awk" costs
