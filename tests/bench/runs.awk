# SPDX-License-Identifier: MIT
# Fills the directories of finished runs; reads their ids.

function put(name, text)
{
	printf "%s", text >($1 "/" name)
	close($1 "/" name)
}

BEGIN {
	image = "sha256:"
	for (i = 0; i < 64; i++)
		image = image "a"
	prompt = substr(image, 8)
}

{
	outcome = NR % 20 == 0 ? "timeout" : NR % 9 == 0 ? "error" : "success"
	marker = toupper(outcome)
	reason = "done"
	detail = "Completed in 42.3s"
	code = 0
	if (outcome == "error") {
		reason = "exit_nonzero"
		detail = "Container error (exit 3)"
		code = 3
	} else if (outcome == "timeout") {
		reason = "wall_clock"
		detail = "Timed out after 900s"
		code = 137
	}
	put(marker, detail "\n")
	put("agent.out", "")
	put("agent.err", "")
	put("container.json", sprintf("{\"_schema\":\"fz-container/1\"," \
	    "\"run\":\"%s\",\"attempt\":1,\"exit_code\":%d}\n", $1, code))
	put("result.json", sprintf("{\"_schema\":\"fz-result/1\"," \
	    "\"run\":\"%s\",\"attempt\":1,\"outcome\":\"%s\"," \
	    "\"reason_code\":\"%s\",\"detail\":\"%s\"," \
	    "\"started_at\":\"2026-11-18T06:03:22Z\",\"duration_ms\":%d," \
	    "\"container\":{\"exit_code\":%d,\"signal\":null," \
	    "\"oom_killed\":false,\"image\":\"%s\"," \
	    "\"peak_memory_bytes\":%d,\"cpu_ms\":%d}," \
	    "\"agent\":{\"name\":\"exit\",\"turns\":null," \
	    "\"cost_usd\":null,\"session_id\":null}," \
	    "\"network\":{\"denied\":null}," \
	    "\"findings\":{\"claimed\":%d,\"verified\":0}," \
	    "\"inputs\":{\"prompt_sha256\":\"%s\"}}\n", $1, outcome, reason,
	    detail, 42310 + NR, code, image, 1000000 + NR * 512, NR, NR % 3,
	    prompt))
}
