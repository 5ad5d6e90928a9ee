/* SPDX-License-Identifier: MIT */
/* What the engine says of our containers, as plain data. */
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "err.h"
#include "json.h"
#include "rundir.h"

#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

/* Copies a word of the given letters; any other becomes "-". */
static void
copy_word(char *out, size_t size, const char *s, const char *letters)
{
	size_t n = s != NULL ? strlen(s) : 0;

	if (n == 0 || n >= size || strspn(s, letters) != n) {
		s = "-";
		n = 1;
	}
	memcpy(out, s, n);
	out[n] = '\0';
}

static const char *
label(const cJSON *entry, const char *key)
{
	struct err ignored;

	return json_str(json_at(entry, "Labels"), key, &ignored);
}

static int
read_entry(struct session *s, const cJSON *entry, struct err *e)
{
	const char *id = json_at_str(entry, "Id");
	const char *name = cJSON_GetStringValue(
	    cJSON_GetArrayItem(json_at(entry, "Names"), 0));

	*s = (struct session){ .cpu_milli = -1,
		.memory_bytes = -1,
		.memory_limit_bytes = -1,
		.pids = -1,
		.created_s = json_at_int(entry, "Created") };
	copy_word(s->id, sizeof(s->id), id, "abcdef" DIGITS);
	if (strlen(s->id) != DOCKER_ID - 1)
		return err_set(e, EX_PROTOCOL,
		    "list: the engine's answer has no container id");
	if (name != NULL && name[0] == '/')
		name++;
	copy_word(s->name, sizeof(s->name), name, LOWER UPPER DIGITS "-._");
	copy_word(s->campaign, sizeof(s->campaign),
	    label(entry, "fuzzmill.campaign"), LOWER DIGITS);
	copy_word(
	    s->state, sizeof(s->state), json_at_str(entry, "State"), LOWER);
	copy_word(s->owner, sizeof(s->owner), label(entry, "fuzzmill.owner"),
	    LOWER UPPER DIGITS "-./:[]");
	copy_word(s->run, sizeof(s->run), label(entry, "fuzzmill.run"), DIGITS);
	if (!rundir_id_is_valid(s->run))
		copy_word(s->run, sizeof(s->run), NULL, "");
	return 0;
}

static int
by_run(const void *pa, const void *pb)
{
	const struct session *a = pa, *b = pb;
	size_t na = strlen(a->run), nb = strlen(b->run);
	int c = na != nb ? (na > nb) - (na < nb) : strcmp(a->run, b->run);

	return c != 0 ? c : strcmp(a->id, b->id);
}

int
sessions_read(
    struct sessions *ss, const cJSON *list, const char *campaign, struct err *e)
{
	size_t n = (size_t)cJSON_GetArraySize(list);
	const cJSON *entry;

	*ss = (struct sessions){ .v = calloc(n + 1, sizeof(*ss->v)) };
	if (ss->v == NULL)
		return err_sys(e, EX_OSERR, "list");
	cJSON_ArrayForEach(entry, list)
	{
		struct session *s = &ss->v[ss->n];

		if (read_entry(s, entry, e) < 0) {
			sessions_release(ss);
			return -1;
		}
		if (campaign == NULL || strcmp(s->campaign, campaign) == 0)
			ss->n++;
	}
	qsort(ss->v, ss->n, sizeof(*ss->v), by_run);
	return 0;
}

void
sessions_release(struct sessions *ss)
{
	free(ss->v);
	*ss = (struct sessions){ 0 };
}

/* Nanoseconds of all CPUs since boot are more than json_at_int() takes. */
static double
number(const cJSON *j, const char *path)
{
	const cJSON *v = json_at(j, path);

	return cJSON_IsNumber(v) ? v->valuedouble : -1;
}

static int64_t
cpu_milli(const cJSON *stats)
{
	double used = number(stats, "cpu_stats.cpu_usage.total_usage");
	double used0 = number(stats, "precpu_stats.cpu_usage.total_usage");
	double all = number(stats, "cpu_stats.system_cpu_usage");
	double all0 = number(stats, "precpu_stats.system_cpu_usage");
	double cpus = number(stats, "cpu_stats.online_cpus");
	double milli;

	if (used0 < 0 || all0 < 0 || !(used >= used0) || !(all > all0) ||
	    !(cpus >= 1))
		return -1;
	milli = (used - used0) / (all - all0) * cpus * 1000;
	return milli <= 1e9 ? (int64_t)(milli + 0.5) : -1;
}

void
session_measure(struct session *s, const cJSON *stats)
{
	int64_t file = json_at_int(stats, "memory_stats.stats.inactive_file");

	/* cgroup v1 counts the children apart. */
	if (json_at(stats, "memory_stats.stats.total_inactive_file") != NULL)
		file = json_at_int(
		    stats, "memory_stats.stats.total_inactive_file");
	s->cpu_milli = cpu_milli(stats);
	s->memory_bytes = json_at_int(stats, "memory_stats.usage");
	if (file > 0 && file <= s->memory_bytes)
		s->memory_bytes -= file; /* as free as memory can be */
	s->memory_limit_bytes = json_at_int(stats, "memory_stats.limit");
	s->pids = json_at_int(stats, "pids_stats.current");
}
