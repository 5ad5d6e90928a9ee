# SPDX-License-Identifier: MIT
# Sessions to be judged, for the tests of markrun; sourced after tap.sh.
# shellcheck shell=sh disable=SC2154
image=sha256:$(printf '%064d' 0)
# facts DIR [JQ-FILTER]: a session that went well, then changed
facts () {
	mkdir -p "$1/workspace"
	printf 'all is well\n' >"$1/agent.out"
	: >"$1/agent.err"
	jq -nc --arg run "${1##*/}" --arg image "$image" '{
	    _schema: "fz-container/1", run: $run, attempt: 1, campaign: "none",
	    container: "c", image: $image, image_name: "fake", user: "7:7",
	    exit_code: 0, signal: null, exec_errno: null, oom_killed: false,
	    stop: null, started_at: "2026-11-18T06:03:22Z",
	    finished_at: "2026-11-18T06:04:04Z", started_ms: 1795068202123,
	    duration_ms: 42310, timeout_ms: 900000,
	    output: {stdout_bytes: 12, stderr_bytes: 0, stdout_kept: 12,
		stderr_kept: 0},
	    usage: {peak_memory_bytes: 123456, cpu_ms: 1000},
	    limits: {memory_bytes: 2147483648}, masked: 0,
	    stdin_sha256: null} | '"${2:-.}" >"$1/container.json"
}

# result FILTER DIR
result () {
	jq -c "$1" "$2/result.json" 2>&1
}

# markers DIR: their names in one line
markers () {
	for marker in SUCCESS ERROR TIMEOUT
	do
		test ! -e "$1/$marker" || printf '%s ' "$marker"
	done
}
