/* SPDX-License-Identifier: MIT */
/* uses: tools/netpolicy/spans.c */
/* Which run a line of the log belongs to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spans.h"

/* 127.64.0.1 was used twice, with a pause; the second one still runs. */
static struct span list[] = {
	{ "009", 0, "127.64.0.10", 0, 50 },
	{ "003", 0, "127.64.0.1", 200, INT64_MAX },
	{ "001", 2, "127.64.0.1", 10, 100 },
	{ "002", 0, "127.64.0.2", 10, 300 },
	{ "004", 0, "127.64.0.3", 10, INT64_MAX }, /* killed: no end */
	{ "005", 0, "127.64.0.3", 500, 600 },
};

static const struct {
	const char *source;
	int64_t offset;
	const char *run; /* NULL: nobody's */
} cases[] = {
	{ "127.64.0.1", 9, NULL },
	{ "127.64.0.1", 10, "001" },
	{ "127.64.0.1", 99, "001" },
	{ "127.64.0.1", 100, NULL },
	{ "127.64.0.1", 199, NULL },
	{ "127.64.0.1", 200, "003" },
	{ "127.64.0.1", INT64_MAX - 1, "003" },
	{ "127.64.0.2", 299, "002" },
	{ "127.64.0.2", 300, NULL },
	{ "127.64.0.3", 499, "004" },
	{ "127.64.0.3", 500, "005" },
	{ "127.64.0.3", 600, NULL },
	{ "127.64.0.10", 0, "009" },
	{ "127.64.0", 20, NULL },
	{ "127.64.0.100", 20, NULL },
	{ "", 20, NULL },
	{ "zzz", 20, NULL },
	{ "an-address-that-is-longer-than-any-address-there-can-be", 20, NULL },
};

static void
address_and_offset_name_the_run(void **state)
{
	struct spans s = { .v = list, .n = ARRAY_LEN(list) };

	(void)state;
	spans_sort(&s);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct span *one = spans_find(&s, cases[i].source,
		    strlen(cases[i].source), cases[i].offset);

		if ((one == NULL) != (cases[i].run == NULL))
			fail_msg("case %zu: %s", i, one ? one->run : "none");
		if (one != NULL)
			assert_string_equal(one->run, cases[i].run);
	}
}

static void
no_runs_own_nothing(void **state)
{
	struct spans s = { .n = 0 };

	(void)state;
	spans_sort(&s);
	assert_null(spans_find(&s, "127.64.0.1", 10, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(address_and_offset_name_the_run),
		cmocka_unit_test(no_runs_own_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
