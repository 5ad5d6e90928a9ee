/* SPDX-License-Identifier: MIT */
/* uses: tools/markrun/joblog.c */
/* One line per attempt, written by many at once, counted once each. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>

#include <cmocka.h>

#include "cleanup.h"
#include "err.h"
#include "joblog.h"
#include "scratch.h"

#define HEADER                                              \
	"Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\t" \
	"Exitval\tSignal\tCommand\n"

static int64_t
append(const struct scratch *s, const char *run, int attempt, int64_t total)
{
	struct job j = { .run = run,
		.attempt = attempt,
		.started_ms = INT64_C(1795000000123),
		.duration_ms = 42310,
		.exit_code = 3,
		.signal = 9,
		.output_bytes = 100 };
	struct err e = { 0 };
	int64_t done = -1;

	if (joblog_append(s->fd, &j, total, &done, &e) < 0)
		fail_msg("%s", e.text);
	return done;
}

static void
the_columns_are_those_of_gnu_parallel(void **state)
{
	const struct scratch *s = *state;
	struct job unknown = {
		.run = "1000", .attempt = 1, .exit_code = -1, .signal = -1
	};
	struct err e;
	int64_t done;

	assert_int_equal(append(s, "007", 2, 0), 0);
	assert_int_equal(joblog_append(s->fd, &unknown, 0, &done, &e), 0);
	assert_string_equal(scratch_get(s, "joblog.tsv"),
	    HEADER
	    "7\t:\t1795000000.123\t42.310\t0\t100\t3\t9\t"
	    "dockrun 007 attempt 2\n"
	    "1000\t:\t0.000\t0.000\t0\t0\t0\t0\tdockrun 1000 attempt 1\n");
}

static void
different_runs_of_the_campaign_are_counted(void **state)
{
	static const struct {
		const char *run;
		int64_t done;
	} steps[] = {
		{ "001", 1 },
		{ "003", 2 },
		{ "001", 2 }, /* again */
		{ "000", 2 }, /* not of 1..10 */
		{ "011", 2 },
		{ "123456789", 2 },
		{ "010", 3 },
		{ "0001", 3 },
		{ "002", 4 },
	};
	const struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(steps); i++)
		assert_int_equal(append(s, steps[i].run, 1, 10), steps[i].done);
}

static void
an_attempt_without_a_verdict_does_not_count(void **state)
{
	const struct scratch *s = *state;
	struct job j = {
		.run = "002", .attempt = 1, .no_verdict = "api_overloaded"
	};
	struct err e;
	int64_t done;

	assert_int_equal(append(s, "001", 1, 10), 1);
	assert_int_equal(joblog_append(s->fd, &j, 10, &done, &e), 0);
	assert_int_equal(done, 1);
	assert_non_null(strstr(scratch_get(s, "joblog.tsv"),
	    "\tdockrun 002 attempt 1 (no verdict: api_overloaded)\n"));
	assert_int_equal(append(s, "003", 1, 10), 2);
	assert_int_equal(append(s, "002", 2, 10), 3);
}

static void
lines_of_others_do_not_count(void **state)
{
	const struct scratch *s = *state;

	assert_int_equal(scratch_put(s, "joblog.tsv",
			     HEADER "5\t:\n\n\n-1\t:\nx\n"
				    "99999999999999999999\t:\n 6\t:\n"),
	    0);
	assert_int_equal(append(s, "001", 1, 10), 3); /* 1, 5, 6 */
}

/* What a full disk left of a line must not swallow the next one. */
static void
a_torn_line_does_not_spoil_the_next(void **state)
{
	const struct scratch *s = *state;

	assert_int_equal(
	    scratch_put(s, "joblog.tsv", HEADER "5\t:\t1795000"), 0);
	assert_int_equal(append(s, "001", 1, 10), 2);
	assert_non_null(strstr(scratch_get(s, "joblog.tsv"), "\n1\t:\t"));
}

#define WRITERS 8
#define EACH	25
#define TOTAL	200

/* Appends EACH runs and tells the parent each count it saw. */
static _Noreturn void
write_some(const struct scratch *s, int writer, int to)
{
	int64_t seen[EACH];

	for (int i = 0; i < EACH; i++) {
		struct job j = { .attempt = 1 };
		struct err e;
		char run[16];

		(void)snprintf(
		    run, sizeof(run), "%03d", 1 + i * WRITERS + writer);
		j.run = run;
		if (joblog_append(s->fd, &j, TOTAL, &seen[i], &e) < 0)
			_exit(1);
	}
	_exit(write(to, seen, sizeof(seen)) != (ssize_t)sizeof(seen));
}

static void
each_count_is_seen_by_exactly_one_of_many(void **state)
{
	const struct scratch *s = *state;
	bool seen[TOTAL + 1] = { false };
	int pipefd[2], status;
	int64_t counts[EACH];

	assert_int_equal(pipe(pipefd), 0);
	for (int i = 0; i < WRITERS; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0)
			write_some(s, i, pipefd[1]);
	}
	(void)close(pipefd[1]);
	for (int i = 0; i < WRITERS; i++) {
		assert_int_equal(
		    read(pipefd[0], counts, sizeof(counts)), sizeof(counts));
		for (int k = 0; k < EACH; k++) {
			assert_in_range(counts[k], 1, TOTAL);
			assert_false(seen[counts[k]]);
			seen[counts[k]] = true;
		}
	}
	(void)close(pipefd[0]);
	while (wait(&status) > 0)
		assert_int_equal(status, 0);
}

static void
a_log_that_is_a_link_is_refused(void **state)
{
	const struct scratch *s = *state;
	struct job j = { .run = "001" };
	struct err e = { 0 };
	int64_t done;

	assert_int_equal(scratch_put(s, "victim", "x"), 0);
	assert_int_equal(symlinkat("victim", s->fd, "joblog.tsv"), 0);
	assert_int_equal(joblog_append(s->fd, &j, 0, &done, &e), -1);
	assert_int_equal(e.exit, EX_CANTCREAT);
	assert_int_equal(e.sys, ELOOP);
	assert_string_equal(e.text, "joblog.tsv");
	assert_string_equal(scratch_get(s, "victim"), "x");
}

static void
a_full_disk_is_a_failure(void **state)
{
	const struct scratch *s = *state;
	struct job j = { .run = "001" };
	struct err e = { 0 };
	int64_t done;

	if (access("/dev/full", W_OK) < 0 ||
	    mknodat(s->fd, "joblog.tsv", S_IFCHR | 0666, 0x107) < 0) {
		skip();
		return;
	}
	assert_int_equal(joblog_append(s->fd, &j, 0, &done, &e), -1);
	assert_int_equal(e.exit, EX_IOERR);
	assert_int_equal(e.sys, ENOSPC);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(the_columns_are_those_of_gnu_parallel),
		SCRATCH_TEST(different_runs_of_the_campaign_are_counted),
		SCRATCH_TEST(an_attempt_without_a_verdict_does_not_count),
		SCRATCH_TEST(lines_of_others_do_not_count),
		SCRATCH_TEST(a_torn_line_does_not_spoil_the_next),
		SCRATCH_TEST(each_count_is_seen_by_exactly_one_of_many),
		SCRATCH_TEST(a_log_that_is_a_link_is_refused),
		SCRATCH_TEST(a_full_disk_is_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
