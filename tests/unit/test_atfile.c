/* SPDX-License-Identifier: MIT */
/* Files that are whole or absent, in directories nobody can trust. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sysexits.h>

#include <cmocka.h>

#include "atfile.h"
#include "cleanup.h"
#include "err.h"
#include "scratch.h"

static void
a_file_appears_whole_and_alone(void **state)
{
	const struct scratch *s = *state;
	struct err e;
	struct stat st;

	assert_int_equal(at_write(s->fd, "f", "one", 3, AT_ONCE, &e), 0);
	assert_string_equal(scratch_get(s, "f"), "one");
	assert_int_equal(scratch_count(s), 1);
	assert_int_equal(fstatat(s->fd, "f", &st, 0), 0);
	assert_int_equal(st.st_nlink, 1);
	assert_int_equal(at_write(s->fd, "e", "", 0, AT_ONCE, &e), 0);
	assert_string_equal(scratch_get(s, "e"), "");
}

static void
once_refuses_a_name_that_is_taken(void **state)
{
	const struct scratch *s = *state;
	struct err e = { 0 };

	assert_int_equal(at_write(s->fd, "f", "one", 3, AT_ONCE, &e), 0);
	assert_int_equal(at_write(s->fd, "f", "two", 3, AT_ONCE, &e), -1);
	assert_int_equal(e.sys, EEXIST);
	assert_int_equal(e.exit, EX_IOERR);
	assert_string_equal(e.text, "write f");
	assert_string_equal(scratch_get(s, "f"), "one");
	assert_int_equal(symlinkat("nowhere", s->fd, "l"), 0);
	assert_int_equal(at_write(s->fd, "l", "two", 3, AT_ONCE, &e), -1);
	assert_int_equal(e.sys, EEXIST);
	assert_int_equal(scratch_count(s), 2);
}

static void
replace_replaces_the_name_and_never_follows_it(void **state)
{
	const struct scratch *s = *state;
	struct err e = { 0 };

	assert_int_equal(at_write(s->fd, "f", "one", 3, AT_REPLACE, &e), 0);
	assert_int_equal(at_write(s->fd, "f", "two", 3, AT_REPLACE, &e), 0);
	assert_string_equal(scratch_get(s, "f"), "two");
	assert_int_equal(symlinkat("f", s->fd, "l"), 0);
	assert_int_equal(at_write(s->fd, "l", "new", 3, AT_REPLACE, &e), 0);
	assert_string_equal(scratch_get(s, "f"), "two");
	assert_string_equal(scratch_get(s, "l"), "new");
	assert_int_equal(mkfifoat(s->fd, "p", 0600), 0);
	assert_int_equal(at_write(s->fd, "p", "new", 3, AT_REPLACE, &e), 0);
	assert_string_equal(scratch_get(s, "p"), "new");
	assert_int_equal(scratch_count(s), 3);
}

static void
a_failed_write_leaves_nothing_behind(void **state)
{
	const struct scratch *s = *state;
	struct err e = { 0 };

	assert_int_equal(mkdirat(s->fd, "d", 0700), 0);
	assert_int_equal(at_write(s->fd, "d", "x", 1, AT_REPLACE, &e), -1);
	assert_int_equal(e.sys, EISDIR);
	assert_int_equal(at_write(s->fd, "d", "x", 1, AT_ONCE, &e), -1);
	assert_int_equal(e.sys, EEXIST);
	assert_int_equal(scratch_count(s), 1);
	assert_int_equal(at_write(-1, "f", "x", 1, AT_ONCE, &e), -1);
	assert_int_equal(e.exit, EX_CANTCREAT);
	assert_int_equal(e.sys, EBADF);
}

static void
a_name_is_one_visible_component(void **state)
{
	static const char *const names[] = { "", ".", "..", ".hidden", "a/b",
		"/tmp/f", "a/", "../f" };
	const struct scratch *s = *state;
	struct err e = { 0 };

	assert_int_equal(mkdirat(s->fd, "a", 0700), 0);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		assert_int_equal(
		    at_write(s->fd, names[i], "x", 1, AT_REPLACE, &e), -1);
		assert_int_equal(e.exit, EX_USAGE);
	}
	assert_int_equal(scratch_count(s), 1);
}

/* What at_read() says of a path; NULL when it reads it. */
static const struct err *
refusal(const struct scratch *s, const char *path, size_t max)
{
	static struct err e;
	AUTO(buf_release) struct buf b = BUF_INIT(max);

	e = (struct err){ 0 };
	return at_read(s->fd, path, &b, &e) < 0 ? &e : NULL;
}

static void
what_was_written_is_read(void **state)
{
	static char big[100000];
	const struct scratch *s = *state;
	AUTO(buf_release) struct buf b = BUF_INIT(sizeof(big));
	struct err e;

	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (char)(i % 251);
	assert_int_equal(
	    at_write(s->fd, "f", big, sizeof(big), AT_ONCE, &e), 0);
	assert_int_equal(at_read(s->fd, "f", &b, &e), 0);
	assert_int_equal(b.len, sizeof(big));
	assert_memory_equal(b.data, big, sizeof(big));
	assert_null(refusal(s, "f", sizeof(big)));
	assert_string_equal(
	    refusal(s, "f", sizeof(big) - 1)->text, "f: more than 99999 bytes");
	assert_int_equal(refusal(s, "f", 0)->exit, EX_DATAERR);
}

static void
an_empty_file_is_an_empty_text(void **state)
{
	const struct scratch *s = *state;
	AUTO(buf_release) struct buf b = BUF_INIT(0);
	struct err e;

	assert_int_equal(scratch_put(s, "f", ""), 0);
	assert_int_equal(at_read(s->fd, "f", &b, &e), 0);
	assert_string_equal(b.data, "");
}

static void
a_path_has_no_link_in_it_and_stays_below(void **state)
{
	static const struct {
		const char *path;
		int exit, sys;
	} cases[] = {
		{ "none", EX_NOINPUT, ENOENT },
		{ "sub/none", EX_NOINPUT, ENOENT },
		{ "", EX_NOINPUT, ENOENT },
		{ "f/x", EX_DATAERR, ENOTDIR },
		{ "link", EX_DATAERR, ELOOP },
		{ "dangling", EX_DATAERR, ELOOP },
		{ "subl/f", EX_DATAERR, ELOOP },
		{ "loop", EX_DATAERR, ELOOP },
		{ "magic", EX_DATAERR, ELOOP },
		{ "../f", EX_DATAERR, EXDEV },
		{ "sub/../../f", EX_DATAERR, EXDEV },
		{ "/etc/passwd", EX_DATAERR, EXDEV },
	};
	const struct scratch *s = *state;

	assert_int_equal(scratch_put(s, "f", "x"), 0);
	assert_int_equal(mkdirat(s->fd, "sub", 0700), 0);
	assert_int_equal(scratch_put(s, "sub/f", "x"), 0);
	assert_int_equal(symlinkat("f", s->fd, "link"), 0);
	assert_int_equal(symlinkat("none", s->fd, "dangling"), 0);
	assert_int_equal(symlinkat("sub", s->fd, "subl"), 0);
	assert_int_equal(symlinkat("loop", s->fd, "loop"), 0);
	assert_int_equal(symlinkat("/proc/self/fd/0", s->fd, "magic"), 0);
	assert_null(refusal(s, "sub/f", 10));
	assert_null(refusal(s, "sub/../f", 10));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct err *e = refusal(s, cases[i].path, 10);

		assert_non_null(e);
		assert_string_equal(e->text, cases[i].path);
		assert_int_equal(e->exit, cases[i].exit);
		assert_int_equal(e->sys, cases[i].sys);
	}
}

static void
what_is_no_file_is_refused_without_waiting(void **state)
{
	const struct scratch *s = *state;
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	AUTO(close_p) int sock = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_int_equal(mkfifoat(s->fd, "fifo", 0666), 0);
	assert_string_equal(
	    refusal(s, "fifo", 10)->text, "fifo: not a regular file");
	assert_int_equal(mkdirat(s->fd, "dir", 0700), 0);
	assert_string_equal(
	    refusal(s, "dir", 10)->text, "dir: not a regular file");
	assert_string_equal(refusal(s, ".", 10)->text, ".: not a regular file");
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s/sock", s->path);
	assert_int_equal(bind(sock, (const struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(refusal(s, "sock", 10)->sys, ENXIO);
	assert_int_equal(refusal(s, "sock", 10)->exit, EX_DATAERR);
	if (mknodat(s->fd, "zero", S_IFCHR | 0666, 0x105) == 0)
		assert_non_null(refusal(s, "zero", 10));
}

static void
a_sparse_terabyte_is_refused_by_its_first_bytes(void **state)
{
	const struct scratch *s = *state;
	AUTO(buf_release) struct buf b = BUF_INIT(1000);
	struct err e;
	char path[100];

	assert_int_equal(scratch_put(s, "f", "x"), 0);
	(void)snprintf(path, sizeof(path), "%s/f", s->path);
	assert_int_equal(truncate(path, (off_t)1 << 40), 0);
	assert_string_equal(
	    refusal(s, "f", 1000)->text, "f: more than 1000 bytes");
	assert_int_equal(at_tail(s->fd, "f", &b, &e), 0);
	assert_int_equal(b.len, 1000);
}

static void
a_tail_is_the_last_bytes(void **state)
{
	static const struct {
		const char *text;
		size_t max;
		const char *want;
	} cases[] = {
		{ "", 4, "" },
		{ "abc", 4, "abc" },
		{ "abcd", 4, "abcd" },
		{ "abcde", 4, "bcde" },
		{ "abcdefgh", 1, "h" },
		{ "abc", 0, "" },
	};
	const struct scratch *s = *state;
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(buf_release) struct buf b = BUF_INIT(cases[i].max);

		assert_int_equal(scratch_put(s, "f", cases[i].text), 0);
		assert_int_equal(at_tail(s->fd, "f", &b, &e), 0);
		assert_string_equal(b.data, cases[i].want);
	}
	assert_int_equal(symlinkat("f", s->fd, "link"), 0);
	{
		AUTO(buf_release) struct buf b = BUF_INIT(4);

		assert_int_equal(at_tail(s->fd, "link", &b, &e), -1);
		assert_int_equal(e.sys, ELOOP);
		assert_int_equal(at_tail(s->fd, "none", &b, &e), -1);
		assert_int_equal(e.exit, EX_NOINPUT);
	}
}

static void
whatever_has_the_name_exists(void **state)
{
	const struct scratch *s = *state;

	assert_false(at_exists(s->fd, "x"));
	assert_int_equal(symlinkat("nowhere", s->fd, "x"), 0);
	assert_true(at_exists(s->fd, "x"));
	assert_int_equal(mkdirat(s->fd, "d", 0700), 0);
	assert_true(at_exists(s->fd, "d"));
}

static void
all_is_written_to_a_slow_reader(void **state)
{
	static char big[300000];
	int pipefd[2];
	ssize_t n, sum = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(pipefd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)close(pipefd[0]);
		_exit(write_all(pipefd[1], big, sizeof(big)) < 0);
	}
	(void)close(pipefd[1]);
	while ((n = read(pipefd[0], big, 1000)) > 0)
		sum += n;
	(void)close(pipefd[0]);
	assert_int_equal(sum, sizeof(big));
	assert_int_equal(write_all(-1, "x", 1), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(write_all(-1, "x", 0), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(a_file_appears_whole_and_alone),
		SCRATCH_TEST(once_refuses_a_name_that_is_taken),
		SCRATCH_TEST(replace_replaces_the_name_and_never_follows_it),
		SCRATCH_TEST(a_failed_write_leaves_nothing_behind),
		SCRATCH_TEST(a_name_is_one_visible_component),
		SCRATCH_TEST(what_was_written_is_read),
		SCRATCH_TEST(an_empty_file_is_an_empty_text),
		SCRATCH_TEST(a_path_has_no_link_in_it_and_stays_below),
		SCRATCH_TEST(what_is_no_file_is_refused_without_waiting),
		SCRATCH_TEST(a_sparse_terabyte_is_refused_by_its_first_bytes),
		SCRATCH_TEST(a_tail_is_the_last_bytes),
		SCRATCH_TEST(whatever_has_the_name_exists),
		cmocka_unit_test(all_is_written_to_a_slow_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
