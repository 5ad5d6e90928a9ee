/* SPDX-License-Identifier: MIT */
/* Shows sessions as a table or as JSON. */
#include "table.h"

#include <inttypes.h>
#include <sysexits.h>

#include "cleanup.h"
#include "err.h"
#include "json.h"
#include "proc.h"
#include "session.h"

#define CELL 24

static int64_t
age_s(const struct session *s, int64_t now_s)
{
	if (s->created_s < 0)
		return -1;
	return now_s > s->created_s ? now_s - s->created_s : 0;
}

static void
age_text(int64_t s, char out[CELL])
{
	if (s < 0)
		(void)snprintf(out, CELL, "-");
	else if (s < 120)
		(void)snprintf(out, CELL, "%" PRId64 "s", s);
	else if (s < 7200)
		(void)snprintf(out, CELL, "%" PRId64 "m", s / 60);
	else if (s < 172800)
		(void)snprintf(out, CELL, "%" PRId64 "h", s / 3600);
	else
		(void)snprintf(out, CELL, "%" PRId64 "d", s / 86400);
}

static void
size_text(int64_t bytes, char out[CELL])
{
	static const char units[] = "KMGT";
	double v = (double)bytes / 1024;
	size_t i = 0;

	for (; v >= 1024 && i < sizeof(units) - 2; i++)
		v /= 1024;
	if (bytes < 0)
		(void)snprintf(out, CELL, "-");
	else
		(void)snprintf(out, CELL, "%.1f%c", v, units[i]);
}

static void
number_text(int64_t v, char out[CELL])
{
	if (v < 0)
		(void)snprintf(out, CELL, "-");
	else
		(void)snprintf(out, CELL, "%" PRId64, v);
}

static void
owner_text(const struct session *s, char out[CELL])
{
	if (s->owner_is == OWNER_ALIVE)
		number_text(proc_pid(s->owner), out);
	else
		(void)snprintf(
		    out, CELL, s->owner_is == OWNER_DEAD ? "dead" : "-");
}

static void
print_row(FILE *to, const struct session *s, int64_t now_s)
{
	char age[CELL], cpu[CELL] = "-", used[CELL], limit[CELL], pids[CELL];
	char memory[2 * CELL] = "-", owner[CELL];

	age_text(age_s(s, now_s), age);
	if (s->cpu_milli >= 0)
		(void)snprintf(cpu, sizeof(cpu), "%" PRId64 ".%" PRId64,
		    s->cpu_milli / 10, s->cpu_milli % 10);
	size_text(s->memory_bytes, used);
	size_text(s->memory_limit_bytes, limit);
	if (s->memory_bytes >= 0)
		(void)snprintf(memory, sizeof(memory), "%s/%s", used, limit);
	number_text(s->pids, pids);
	owner_text(s, owner);
	(void)fprintf(to, "%-6s %-12.12s %-10s %5s %6s %15s %5s %s\n", s->run,
	    s->id, s->state, age, cpu, memory, pids, owner);
}

void
table_print(FILE *to, const struct sessions *ss, int64_t now_s)
{
	if (ss->n == 0) {
		(void)fputs("no sessions are running\n", to);
		return;
	}
	(void)fprintf(to, "%-6s %-12s %-10s %5s %6s %15s %5s %s\n", "RUN",
	    "CONTAINER", "STATE", "AGE", "CPU%", "MEMORY", "PIDS", "OWNER");
	for (size_t i = 0; i < ss->n; i++)
		print_row(to, &ss->v[i], now_s);
}

static const char *
known(const char *word)
{
	return word[0] == '-' && word[1] == '\0' ? NULL : word;
}

static void
put_session(cJSON *o, const struct session *s, int64_t now_s, bool *ok)
{
	bool alive = s->owner_is == OWNER_ALIVE;

	json_put_str_or_null(o, "run", known(s->run), ok);
	json_put_str_or_null(o, "campaign", known(s->campaign), ok);
	json_put_str(o, "container", s->id, ok);
	json_put_str_or_null(o, "name", known(s->name), ok);
	json_put_str_or_null(o, "state", known(s->state), ok);
	json_put_known(o, "age_s", age_s(s, now_s), ok);
	json_put_known(o, "cpu_milli", s->cpu_milli, ok);
	json_put_known(o, "memory_bytes", s->memory_bytes, ok);
	json_put_known(o, "memory_limit_bytes", s->memory_limit_bytes, ok);
	json_put_known(o, "pids", s->pids, ok);
	json_put_known(o, "owner_pid", alive ? proc_pid(s->owner) : -1, ok);
	if (s->owner_is == OWNER_UNKNOWN)
		json_put_null(o, "owner_alive", ok);
	else
		json_put_bool(o, "owner_alive", alive, ok);
}

int
table_print_json(
    FILE *to, const struct sessions *ss, int64_t now_s, struct err *e)
{
	AUTO(json_p) cJSON *root = cJSON_CreateObject();
	bool ok = root != NULL;
	cJSON *list;
	char *text = NULL;

	json_put_str(root, "_schema", "fz-ps/1", &ok);
	list = json_put_arr(root, "sessions", &ok);
	for (size_t i = 0; i < ss->n && ok; i++)
		put_session(json_add_obj(list, &ok), &ss->v[i], now_s, &ok);
	if (ok)
		text = cJSON_PrintUnformatted(root);
	if (text == NULL)
		return err_set(e, EX_OSERR, "out of memory");
	(void)fprintf(to, "%s\n", text);
	cJSON_free(text);
	return 0;
}
