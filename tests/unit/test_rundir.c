/* SPDX-License-Identifier: MIT */
/* A run's directory: who may have it, and what becomes of old attempts. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>

#include <cmocka.h>

#include "atfile.h"
#include "err.h"
#include "rundir.h"
#include "scratch.h"

static const char verdict[] =
    "{\"_schema\":\"fz-result/1\",\"outcome\":\"success\"}";

/* "SCRATCH/name" */
static const char *
path_of(const struct scratch *s, const char *name)
{
	static char path[200];

	(void)snprintf(path, sizeof(path), "%s/%s", s->path, name);
	return path;
}

static struct rundir
open_run(const struct scratch *s, const char *name)
{
	struct rundir r = { .fd = -1 };
	struct err e = { 0 };

	if (rundir_open(&r, path_of(s, name), RUNDIR_CREATE, &e) < 0)
		fail_msg("%s: %s", name, e.text);
	return r;
}

static void
an_id_is_three_to_nine_digits(void **state)
{
	static const struct {
		const char *id;
		bool want;
	} cases[] = {
		{ "000", true },
		{ "007", true },
		{ "1000", true },
		{ "123456789", true },
		{ "", false },
		{ "7", false },
		{ "07", false },
		{ "1234567890", false },
		{ "00a", false },
		{ "-07", false },
		{ " 007", false },
		{ "007 ", false },
		{ "007\n", false },
		{ "0x7", false },
		{ "..", false },
		{ "...", false },
		{ "\xd9\xa0\xd9\xa0\xd9\xa7", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (rundir_id_is_valid(cases[i].id) != cases[i].want)
			fail_msg("\"%s\"", cases[i].id);
}

static void
only_a_run_directory_is_opened(void **state)
{
	static const struct {
		const char *name;
		enum rundir_how how;
		int exit;
	} cases[] = {
		{ "001", RUNDIR_EXISTING, EX_NOINPUT },
		{ "file/001", RUNDIR_CREATE, EX_CANTCREAT },
		{ "none/001", RUNDIR_CREATE, EX_CANTCREAT },
		{ "002", RUNDIR_CREATE, EX_NOINPUT },	/* a file */
		{ "003", RUNDIR_EXISTING, EX_NOINPUT }, /* a link */
		{ "003", RUNDIR_CREATE, EX_NOINPUT },
		{ "xyz", RUNDIR_CREATE, EX_USAGE },
		{ "01", RUNDIR_CREATE, EX_USAGE },
		{ "1234567890", RUNDIR_CREATE, EX_USAGE },
		{ "1234567890123456", RUNDIR_CREATE, EX_USAGE },
		{ "123456789012345678901234567890", RUNDIR_CREATE, EX_USAGE },
		{ "..", RUNDIR_EXISTING, EX_USAGE },
		{ "", RUNDIR_EXISTING, EX_USAGE },
	};
	const struct scratch *s = *state;

	assert_int_equal(scratch_put(s, "file", "x"), 0);
	assert_int_equal(scratch_put(s, "002", "x"), 0);
	assert_int_equal(symlinkat(".", s->fd, "003"), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rundir r = { .fd = -1 };
		struct err e = { 0 };

		assert_int_equal(rundir_open(&r, path_of(s, cases[i].name),
				     cases[i].how, &e),
		    -1);
		if (e.exit != cases[i].exit)
			fail_msg("%s: %d", cases[i].name, e.exit);
		assert_int_equal(r.fd, -1);
	}
	assert_int_equal(scratch_count(s), 3);
}

static void
a_trailing_slash_changes_nothing(void **state)
{
	const struct scratch *s = *state;
	struct rundir r = open_run(s, "0042///");

	assert_string_equal(r.id, "0042");
	assert_int_equal(r.attempt, 1);
	rundir_release(&r);
	assert_int_equal(r.fd, -1);
	rundir_release(&r);
}

static void
a_run_has_one_holder_at_a_time(void **state)
{
	const struct scratch *s = *state;
	struct rundir first = open_run(s, "007");
	struct rundir second = { .fd = -1 };
	struct err e = { 0 };

	assert_int_equal(
	    rundir_open(&second, path_of(s, "007"), RUNDIR_EXISTING, &e), -1);
	assert_int_equal(e.exit, EX_TEMPFAIL);
	assert_non_null(
	    strstr(e.text, "007: another process is working on this run"));
	rundir_release(&first);
	second = open_run(s, "007");
	rundir_release(&second);
}

static void
the_lock_ends_with_its_process(void **state)
{
	const struct scratch *s = *state;
	struct rundir r = { .fd = -1 };
	int pipefd[2], status;
	struct err e;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(pipefd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)alarm(30); /* should this test fail */
		if (rundir_open(&r, path_of(s, "007"), RUNDIR_CREATE, &e) < 0 ||
		    write(pipefd[1], "x", 1) != 1)
			_exit(1);
		(void)pause();
	}
	assert_int_equal(read(pipefd[0], &byte, 1), 1);
	assert_int_equal(
	    rundir_open(&r, path_of(s, "007"), RUNDIR_EXISTING, &e), -1);
	assert_int_equal(e.exit, EX_TEMPFAIL);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	r = open_run(s, "007");
	rundir_release(&r);
	(void)close(pipefd[0]);
	(void)close(pipefd[1]);
}

static void
attempts_are_counted_by_the_highest_kept(void **state)
{
	static const char *const names[] = { "1", "3", "x", "9y", "-5",
		"1000000", "99999999999999999999" };
	const struct scratch *s = *state;
	struct rundir r = open_run(s, "007");
	char name[64];

	assert_int_equal(r.attempt, 1);
	assert_int_equal(mkdirat(r.fd, "attempts", 0700), 0);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		(void)snprintf(name, sizeof(name), "attempts/%s", names[i]);
		assert_int_equal(mkdirat(r.fd, name, 0700), 0);
	}
	rundir_release(&r);
	r = open_run(s, "007");
	assert_int_equal(r.attempt, 4);
	rundir_release(&r);
}

static void
a_verdict_is_a_readable_result(void **state)
{
	static const struct {
		const char *text;
		bool want;
	} cases[] = {
		{ verdict, true },
		{ "", false },
		{ "{\"_schema\":\"fz-result/1\",\"outcome\":\"succ", false },
		{ "{\"_schema\":\"fz-result/1\"}", false },
		{ "{\"_schema\":\"fz-result/1\",\"outcome\":null}", false },
		{ "{\"_schema\":\"fz-result/2\",\"outcome\":\"success\"}",
		    false },
		{ "{\"outcome\":\"success\"}", false },
		{ "[]", false },
	};
	const struct scratch *s = *state;
	struct rundir r = open_run(s, "007");

	assert_false(rundir_has_verdict(&r));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(
		    scratch_put(s, "007/result.json", cases[i].text), 0);
		if (rundir_has_verdict(&r) != cases[i].want)
			fail_msg("%s", cases[i].text);
	}
	assert_int_equal(scratch_put(s, "real", verdict), 0);
	assert_int_equal(unlinkat(r.fd, "result.json", 0), 0);
	assert_int_equal(symlinkat("../real", r.fd, "result.json"), 0);
	assert_false(rundir_has_verdict(&r));
	rundir_release(&r);
}

static void
fill(const struct scratch *s)
{
	assert_int_equal(scratch_put(s, "007/result.json", verdict), 0);
	assert_int_equal(scratch_put(s, "007/container.json", "{}"), 0);
	assert_int_equal(scratch_put(s, "007/SUCCESS", "x\n"), 0);
	assert_int_equal(scratch_put(s, "007/.hidden", "x"), 0);
	assert_int_equal(symlinkat("/etc/passwd", s->fd, "007/link"), 0);
	assert_int_equal(mkdirat(s->fd, "007/workspace", 0700), 0);
	assert_int_equal(mkdirat(s->fd, "007/workspace/attempts", 0700), 0);
	assert_int_equal(scratch_put(s, "007/workspace/f", "work"), 0);
}

/* All of fill() is in that attempt, and nothing but attempts is outside. */
static void
is_kept(const struct scratch *s, int attempt)
{
	static const char *const names[] = { "result.json", "container.json",
		"SUCCESS", ".hidden", "link", "workspace/attempts",
		"workspace/f" };
	char name[100];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		(void)snprintf(name, sizeof(name), "007/attempts/%d/%s",
		    attempt, names[i]);
		if (!at_exists(s->fd, name))
			fail_msg("%s is not there", name);
		(void)snprintf(name, sizeof(name), "007/%s", names[i]);
		if (at_exists(s->fd, name))
			fail_msg("%s is still there", name);
	}
}

static void
retiring_keeps_everything_of_an_attempt(void **state)
{
	const struct scratch *s = *state;
	struct rundir r = open_run(s, "007");
	struct err e;

	for (int attempt = 1; attempt <= 3; attempt++) {
		fill(s);
		assert_int_equal(rundir_retire(&r, &e), 0);
		assert_int_equal(r.attempt, attempt + 1);
		is_kept(s, attempt);
		assert_false(rundir_has_verdict(&r));
	}
	rundir_release(&r);
	r = open_run(s, "007");
	assert_int_equal(r.attempt, 4);
	is_kept(s, 1);
	rundir_release(&r);
}

static void
retiring_nothing_does_nothing(void **state)
{
	const struct scratch *s = *state;
	struct rundir r = open_run(s, "007");
	struct err e;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(rundir_retire(&r, &e), 0);
		assert_int_equal(r.attempt, 1);
		assert_false(at_exists(r.fd, "attempts"));
	}
	fill(s);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(rundir_retire(&r, &e), 0);
		assert_int_equal(r.attempt, 2);
		assert_false(at_exists(r.fd, "attempts/2"));
	}
	is_kept(s, 1);
	rundir_release(&r);
}

/* As if killed between two renames: nothing is lost, nothing overwritten. */
static void
half_a_retire_is_finished_by_the_next(void **state)
{
	const struct scratch *s = *state;
	struct rundir r = open_run(s, "007");
	struct err e;

	fill(s);
	assert_int_equal(mkdirat(r.fd, "attempts", 0700), 0);
	assert_int_equal(mkdirat(r.fd, "attempts/1", 0700), 0);
	assert_int_equal(
	    renameat(r.fd, "result.json", r.fd, "attempts/1/result.json"), 0);
	rundir_release(&r);
	r = open_run(s, "007");
	assert_int_equal(r.attempt, 2);
	assert_false(rundir_has_verdict(&r));
	assert_int_equal(rundir_retire(&r, &e), 0);
	assert_int_equal(r.attempt, 3);
	assert_true(at_exists(r.fd, "attempts/1/result.json"));
	assert_true(at_exists(r.fd, "attempts/2/container.json"));
	assert_true(at_exists(r.fd, "attempts/2/workspace/f"));
	assert_false(at_exists(r.fd, "container.json"));
	assert_int_equal(rundir_retire(&r, &e), 0);
	assert_int_equal(r.attempt, 3);
	rundir_release(&r);
}

static void
retiring_moves_thousands_of_names(void **state)
{
	const struct scratch *s = *state;
	struct rundir r = open_run(s, "007");
	struct err e;
	char name[100];

	for (int i = 0; i < 3000; i++) {
		(void)snprintf(name, sizeof(name), "007/f%d", i);
		assert_int_equal(scratch_put(s, name, ""), 0);
	}
	assert_int_equal(rundir_retire(&r, &e), 0);
	for (int i = 0; i < 3000; i++) {
		(void)snprintf(name, sizeof(name), "attempts/1/f%d", i);
		assert_true(at_exists(r.fd, name));
	}
	rundir_release(&r);
}

static void
retiring_where_it_cannot_says_so(void **state)
{
	const struct scratch *s = *state;
	struct rundir r = open_run(s, "007");
	struct err e = { 0 };

	assert_int_equal(scratch_put(s, "007/attempts", "a file"), 0);
	assert_int_equal(scratch_put(s, "007/result.json", verdict), 0);
	assert_int_equal(rundir_retire(&r, &e), -1);
	assert_int_equal(e.exit, EX_CANTCREAT);
	assert_int_equal(e.sys, ENOTDIR);
	assert_string_equal(e.text, "007/attempts/1");
	assert_int_equal(r.attempt, 1);
	assert_true(rundir_has_verdict(&r));
	rundir_release(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_id_is_three_to_nine_digits),
		SCRATCH_TEST(only_a_run_directory_is_opened),
		SCRATCH_TEST(a_trailing_slash_changes_nothing),
		SCRATCH_TEST(a_run_has_one_holder_at_a_time),
		SCRATCH_TEST(the_lock_ends_with_its_process),
		SCRATCH_TEST(attempts_are_counted_by_the_highest_kept),
		SCRATCH_TEST(a_verdict_is_a_readable_result),
		SCRATCH_TEST(retiring_keeps_everything_of_an_attempt),
		SCRATCH_TEST(retiring_nothing_does_nothing),
		SCRATCH_TEST(half_a_retire_is_finished_by_the_next),
		SCRATCH_TEST(retiring_moves_thousands_of_names),
		SCRATCH_TEST(retiring_where_it_cannot_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
