/* SPDX-License-Identifier: MIT */
/* Any bytes as JSON: what is accepted can be walked, written, read again. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
look(const cJSON *j)
{
	struct err e;
	int64_t n = 0;

	(void)json_str(j, "a", &e);
	if (json_int(j, "a", -JSON_INT_MAX, JSON_INT_MAX, &n, &e) == 0 &&
	    (n < -JSON_INT_MAX || n > JSON_INT_MAX))
		abort();
	(void)json_at_str(j, "a.b.c");
	if (json_at_int(j, "a.b") < -1 || json_at_int(j, "a") > JSON_INT_MAX)
		abort();
	(void)json_at_true(j, "a.");
	(void)json_at(j, ".a..b");
}

/* White space of JSON is all that may stand there of them. */
static void
has_no_controls(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)text[i] < ' ' && text[i] != '\t' &&
		    text[i] != '\n' && text[i] != '\r')
			abort();
}

static void
write_and_read_again(const cJSON *j)
{
	char *text = cJSON_PrintUnformatted(j);
	struct err e;
	cJSON *again;

	if (text == NULL)
		abort();
	again = json_parse(text, strlen(text), &e);
	if (again == NULL)
		abort();
	cJSON_Delete(again);
	cJSON_free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct err e = { 0 };
	cJSON *j;

	if (text == NULL)
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	j = json_parse(text, size, &e);
	if (j == NULL && e.text[0] == '\0')
		abort();
	if (j != NULL) {
		has_no_controls(text, size);
		look(j);
		write_and_read_again(j);
	}
	cJSON_Delete(j);
	free(text);
	return 0;
}
