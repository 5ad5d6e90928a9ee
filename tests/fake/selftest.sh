#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks that the fake engine plays one whole session, and misbehaves, as told.
set -u
engine=$(dirname "$0")/engine.py
dir=$(mktemp -d) && cd "$dir" || exit 1
engine=$(cd "$OLDPWD" && realpath "$engine")
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
n=0 failed=0 answer=/dev/null

engine_up() {
	: >ready
	rm -f log
	"$engine" --sock sock --log log --state state "$@" >ready &
	pid=$!
	until [ -s ready ] || ! kill -0 "$pid"; do sleep 0.01; done
}

engine_down() {
	kill "$pid" && wait "$pid"
}

call() { # METHOD PATH [curl option ...]; prints status/curl's status
	method=$1 path=$2
	shift 2
	curl -s -m 2 --unix-socket sock -X "$method" -o "$answer" \
	    -w '%{http_code}/%{exitcode}' "$@" "http://fake/v1.41$path"
}

create() { # NAME
	call POST "/containers/create?name=$1" \
	    -H 'Content-Type: application/json' -d '{"Image":"x"}'
}

is() { # NAME GOT EXPECTED
	n=$((n + 1))
	[ "$2" = "$3" ] && echo "ok $n - $1" && return
	echo "not ok $n - $1"
	echo "# got '$2', expected '$3'"
	failed=$((failed + 1))
}

printf 'hello, ' >out
printf 'world' >err
engine_up --out-file out --err-file err --exit 3 --run-ms 20
is 'create' "$(create one)" 201/0
is 'log is exact' "$(tail -n 1 log)" '{"Image":"x"}'
answer=code
call POST '/containers/one/wait?condition=next-exit' >wait.status &
waiter=$!
answer=frames
call POST '/containers/one/attach?stream=1&stdout=1&stderr=1' >attach.status &
attacher=$!
answer=/dev/null
until [ "$(grep -c 'one/wait\|one/attach' log)" = 2 ]; do sleep 0.01; done
is 'start' "$(call POST /containers/one/start)" 204/0
wait "$waiter" "$attacher"
is 'wait' "$(cat wait.status code)" '200/0{"Error":null,"StatusCode":3}'
is 'attach' "$(cat attach.status)" 200/0
is 'frames' "$(tr -d '\000-\010' <frames)" 'hwello, orld'
is 'remove' "$(call DELETE '/containers/one?force=1&v=1')" 204/0
is 'state' "$(cat state)" '{"containers": [], "created": 1, "removed": 1}'
engine_down
is 'socket removed' "$(ls sock 2>/dev/null)" ''

while read -r kind status created; do
	engine_up --misbehave "create=$kind:1"
	is "$kind" "$(create one)" "$status"
	is "$kind: acted" "$(grep -c '"created": 1' state)" "$created"
	is "$kind: once" "$(create two)" 201/0
	engine_down
done <<-END
	500 500/0 0
	404 404/0 0
	half 201/18 1
	cut 000/52 0
	cutafter 000/52 1
	huge 500/0 0
	hugeok 201/0 1
	silence 000/28 0
	garbage 201/0 1
	notjsonobj 201/0 1
	badhttp 000/1 0
END
echo "1..$n"
[ "$failed" = 0 ]
