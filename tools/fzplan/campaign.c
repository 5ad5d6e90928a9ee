/* SPDX-License-Identifier: MIT */
/* The file campaign.json: written once, raised at most. */
#include "campaign.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sysexits.h>

#include "atfile.h"
#include "cleanup.h"
#include "clock.h"
#include "err.h"
#include "inputs.h"
#include "json.h"

#define NAME	 "campaign.json"
#define SCHEMA	 "fz-campaign/1"
#define FILE_MAX ((size_t)1 << 20)

static int
check(const cJSON *c, struct err *e)
{
	const char *id = json_str(c, "id", e);
	int64_t runs;

	if (id == NULL)
		return -1;
	if (strlen(id) != CAMPAIGN_ID - 1 ||
	    strspn(id, "0123456789abcdef") != CAMPAIGN_ID - 1)
		return err_set(
		    e, EX_DATAERR, "\"id\": not 16 hexadecimal digits");
	if (json_int(c, "runs", 1, CAMPAIGN_RUNS, &runs, e) < 0)
		return -1;
	if (!cJSON_IsObject(json_at(c, "inputs")))
		return err_set(e, EX_DATAERR, "\"inputs\": not an object");
	return 0;
}

cJSON *
campaign_read(int dfd, struct err *e)
{
	cJSON *c = json_read(dfd, NAME, FILE_MAX, SCHEMA, e);

	if (c == NULL || check(c, e) == 0)
		return c;
	err_wrap(e, NAME);
	cJSON_Delete(c);
	return NULL;
}

static cJSON *
new_tree(int64_t runs, const struct inputs *in, struct err *e)
{
	AUTO(json_p) cJSON *c = cJSON_CreateObject();
	bool ok = c != NULL;
	unsigned long long salt;
	char id[CAMPAIGN_ID], now[CLOCK_TEXT];
	cJSON *taken = NULL;

	if (getrandom(&salt, sizeof(salt), 0) != (ssize_t)sizeof(salt)) {
		err_sys(e, EX_OSERR, "getrandom");
		return NULL;
	}
	(void)snprintf(id, sizeof(id), "%016llx", salt);
	clock_text(clock_wall_ms(), now);
	json_put_str(c, "_schema", SCHEMA, &ok);
	json_put_str(c, "id", id, &ok);
	json_put_str(c, "created_at", now, &ok);
	json_put_int(c, "runs", runs, &ok);
	inputs_put(in, json_put_obj(c, "inputs", &ok), &ok);
	if (ok) {
		taken = c;
		c = NULL;
	} else {
		err_set(e, EX_OSERR, NAME ": out of memory");
	}
	return taken;
}

int
campaign_create(int dfd, int64_t runs, const struct inputs *in, struct err *e)
{
	AUTO(json_p) cJSON *c = new_tree(runs, in, e);
	AUTO(buf_release) struct buf b = BUF_INIT(FILE_MAX);
	char *text;
	bool ok;

	if (c == NULL)
		return -1;
	text = cJSON_PrintUnformatted(c);
	ok = text != NULL && buf_add(&b, text, strlen(text)) == 0 &&
	    buf_add(&b, "\n", 1) == 0;
	cJSON_free(text);
	if (!ok)
		return err_set(e, EX_OSERR, NAME ": too long");
	if (at_write(dfd, NAME, b.data, b.len, AT_ONCE, e) < 0 &&
	    e->sys != EEXIST)
		return -1;
	return 0;
}

int
campaign_raise(int dfd, cJSON *c, int64_t runs, struct err *e)
{
	if (!cJSON_ReplaceItemInObjectCaseSensitive(
		c, "runs", cJSON_CreateNumber((double)runs)))
		return err_set(e, EX_OSERR, NAME ": out of memory");
	return json_write(dfd, NAME, c, e);
}
