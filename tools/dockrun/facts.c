/* SPDX-License-Identifier: MIT */
/* container.json: what is known of a session after its end. */
#include "facts.h"

#include <sysexits.h>

#include "capture.h"
#include "clock.h"
#include "err.h"
#include "inside.h"
#include "json.h"

static void
put_time(cJSON *obj, const char *key, int64_t wall_ms, bool *ok)
{
	char text[CLOCK_TEXT];

	clock_text(wall_ms, text);
	json_put_str(obj, key, text, ok);
}

static void
put_end(cJSON *root, const struct facts *f, bool *ok)
{
	const struct inside *in = f->inside;
	cJSON *stop;

	json_put_known(root, "exit_code", f->exit_code, ok);
	json_put_known(root, "signal", in->signal, ok);
	json_put_known(root, "exec_errno", in->exec_errno, ok);
	json_put_bool(root, "oom_killed", f->oom_killed, ok);
	if (f->stop_why != NULL) {
		stop = json_put_obj(root, "stop", ok);
		json_put_str(stop, "by", f->stop_by, ok);
		json_put_str(stop, "why", f->stop_why, ok);
	} else {
		json_put_null(root, "stop", ok);
	}
	put_time(root, "started_at", f->started_ms, ok);
	put_time(root, "finished_at", f->started_ms + f->duration_ms, ok);
	json_put_int(root, "started_ms", f->started_ms, ok);
	json_put_int(root, "duration_ms", f->duration_ms, ok);
	json_put_int(root, "timeout_ms", f->timeout_ms, ok);
}

static void
put_output(cJSON *root, const struct capture *c, bool *ok)
{
	cJSON *o = json_put_obj(root, "output", ok);

	json_put_int(o, "stdout_bytes", c->file[0].bytes, ok);
	json_put_int(o, "stderr_bytes", c->file[1].bytes, ok);
	json_put_int(o, "stdout_kept", c->file[0].written, ok);
	json_put_int(o, "stderr_kept", c->file[1].written, ok);
}

static void
put_usage(cJSON *root, const struct inside *in, bool *ok)
{
	cJSON *u = json_put_obj(root, "usage", ok);

	json_put_known(u, "peak_memory_bytes", in->peak_memory_bytes, ok);
	json_put_known(u, "cpu_ms", in->cpu_ms, ok);
	json_put_known(u, "throttled_ms", in->throttled_ms, ok);
	json_put_known(u, "io_read_bytes", in->io_read_bytes, ok);
	json_put_known(u, "io_write_bytes", in->io_write_bytes, ok);
}

/* Taken from the inspected container, not from what was asked for. */
static void
put_limits(cJSON *root, const cJSON *host, bool *ok)
{
	cJSON *l = json_put_obj(root, "limits", ok);

	json_put_known(l, "memory_bytes", json_at_int(host, "Memory"), ok);
	json_put_known(
	    l, "memory_swap_bytes", json_at_int(host, "MemorySwap"), ok);
	json_put_known(l, "nano_cpus", json_at_int(host, "NanoCpus"), ok);
	json_put_known(l, "pids", json_at_int(host, "PidsLimit"), ok);
	json_put_str_or_null(
	    l, "tmp", json_at_str(json_at(host, "Tmpfs"), "/tmp"), ok);
	json_put_str_or_null(
	    l, "network", json_at_str(host, "NetworkMode"), ok);
	json_put_str_or_null(l, "runtime", json_at_str(host, "Runtime"), ok);
	json_put_bool(
	    l, "readonly_rootfs", json_at_true(host, "ReadonlyRootfs"), ok);
}

/* {"200": 12, "529": 1} */
static void
put_answers(cJSON *o, const struct facts_network *n, bool *ok)
{
	cJSON *answers;
	char name[24];

	if (n->requests < 0) {
		json_put_null(o, "answers", ok);
		return;
	}
	answers = json_put_obj(o, "answers", ok);
	for (size_t i = 0; i < n->n_answers; i++) {
		if (n->answers[i] == 0)
			continue;
		(void)snprintf(name, sizeof(name), "%zu", i);
		json_put_int(answers, name, n->answers[i], ok);
	}
}

void
facts_put_network(cJSON *root, const struct facts_network *n, bool *ok)
{
	cJSON *o;

	if (n == NULL) {
		json_put_null(root, "network", ok);
		return;
	}
	o = json_put_obj(root, "network", ok);
	json_put_str(o, "source", n->source, ok);
	json_put_known(o, "requests", n->requests, ok);
	json_put_known(o, "denied", n->denied, ok);
	put_answers(o, n, ok);
	json_put_known(o, "log_from", n->log_from, ok);
	json_put_known(o, "log_to", n->log_to, ok);
}

cJSON *
facts_render(const struct facts *f, struct err *e)
{
	cJSON *root = cJSON_CreateObject();
	bool ok = root != NULL;

	json_put_str(root, "_schema", "fz-container/1", &ok);
	json_put_str(root, "run", f->run, &ok);
	json_put_int(root, "attempt", f->attempt, &ok);
	json_put_str(root, "campaign", f->campaign, &ok);
	json_put_str(root, "container", f->container, &ok);
	json_put_str(root, "image", f->image, &ok);
	json_put_str(root, "image_name", f->image_name, &ok);
	json_put_str(root, "user", f->user, &ok);
	put_end(root, f, &ok);
	put_output(root, f->capture, &ok);
	put_usage(root, f->inside, &ok);
	put_limits(root, f->host, &ok);
	facts_put_network(root, f->network, &ok);
	json_put_int(root, "masked", f->masked, &ok);
	json_put_str_or_null(root, "stdin_sha256", f->stdin_sha256, &ok);
	if (ok)
		return root;
	cJSON_Delete(root);
	err_set(e, EX_SOFTWARE, "cannot render container.json");
	return NULL;
}
