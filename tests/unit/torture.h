/* SPDX-License-Identifier: MIT */
/* Lets the nth allocation of cJSON fail. */
#ifndef TEST_TORTURE_H
#define TEST_TORTURE_H

#include <stdlib.h>

#include <cjson/cJSON.h>

/* More allocations than any document of ours needs. */
#define TORTURE_MAX 2000

static unsigned torture_left;

static void *
torture_malloc(size_t n)
{
	if (torture_left > 0 && --torture_left == 0)
		return NULL;
	return malloc(n);
}

/* From here on the nth allocation fails, and only that one. */
static inline void
torture_begin(unsigned nth)
{
	cJSON_Hooks hooks = { .malloc_fn = torture_malloc, .free_fn = free };

	cJSON_InitHooks(&hooks);
	torture_left = nth;
}

static inline void
torture_end(void)
{
	cJSON_InitHooks(NULL);
}

#endif
