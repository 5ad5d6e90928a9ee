/* SPDX-License-Identifier: MIT */
/* uses: tools/dockrun/inside.c */
/* What fzinit reports, and what is not taken for a report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sysexits.h>

#include <cmocka.h>

#include "cleanup.h"
#include "err.h"
#include "inside.h"
#include "json.h"
#include "scratch.h"

static struct inside
listening(const struct scratch *s)
{
	struct err e = { 0 };
	struct inside in;

	if (inside_listen(&in, s->fd, &e) < 0)
		fail_msg("%s", e.text);
	return in;
}

static int
connected(const struct scratch *s)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s/s", s->path);
	assert_int_equal(
	    connect(fd, (const struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void
say(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void
all_is_unknown_at_first(void **state)
{
	const struct scratch *s = *state;
	struct inside in = listening(s);

	assert_int_equal(in.ready, -1);
	assert_int_equal(in.exec_errno, -1);
	assert_int_equal(in.relay_errno, -1);
	assert_int_equal(in.exit, -1);
	assert_int_equal(in.signal, -1);
	assert_int_equal(in.deadline, -1);
	assert_int_equal(in.outside_signal, -1);
	assert_int_equal(in.peak_memory_bytes, -1);
	assert_int_equal(in.cpu_ms, -1);
	assert_int_equal(in.throttled_ms, -1);
	assert_int_equal(in.io_read_bytes, -1);
	assert_int_equal(in.io_write_bytes, -1);
	assert_null(inside_unsafe(&in));
	assert_int_equal(inside_fd(&in), in.listener);
	inside_read(&in); /* nobody there: does not wait */
	assert_true(in.listener >= 0);
	inside_release(&in);
	assert_int_equal(inside_fd(&in), -1);
	inside_release(&in);
}

/* Each line meets an exit that is 7 and is not to change it, or is. */
static const struct {
	const char *line;
	int64_t exit;
} lines[] = {
	{ "exit 0", 0 },
	{ "exit 3", 3 },
	{ "exit 255", 255 },
	{ "exit 999999999999999", JSON_INT_MAX },
	{ "exit 1000000000000000", 7 },
	{ "exit 9223372036854775807", 7 },
	{ "exit 9223372036854775808", 7 },
	{ "exit 99999999999999999999999999", 7 },
	{ "", 7 },
	{ " ", 7 },
	{ "exit", 7 },
	{ "exit ", 7 },
	{ "exit -1", 7 },
	{ "exit x", 7 },
	{ "exit 3x", 7 },
	{ "exit 3 ", 7 },
	{ "exit 3 4", 7 },
	{ "exit 3.5", 7 },
	{ "exit 0x3", 7 },
	{ "exit\t3", 7 },
	{ "exit=3", 7 },
	{ " exit 3", 7 },
	{ "Exit 3", 7 },
	{ "exi 3", 7 },
	{ "exits 3", 7 },
	{ "unknown 3", 7 },
	{ "listener 3", 7 },
	{ "conn 3", 7 },
	{ "n_line 3", 7 },
	{ "exit 3\r", 7 },
};

static void
a_line_is_a_known_key_and_a_number(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct inside in = { .listener = -1, .conn = -1, .exit = 7 };

		inside_line(&in, lines[i].line);
		if (in.exit != lines[i].exit)
			fail_msg(
			    "\"%s\": %lld", lines[i].line, (long long)in.exit);
		assert_int_equal(in.listener, -1);
		assert_int_equal(in.conn, -1);
		assert_int_equal(in.n_line, 0);
	}
}

static void
every_key_has_its_place(void **state)
{
	static const struct {
		const char *key;
		size_t at;
	} keys[] = {
#define KEY(k) { #k, offsetof(struct inside, k) }
		KEY(ready),
		KEY(exec_errno),
		KEY(relay_errno),
		KEY(exit),
		KEY(signal),
		KEY(deadline),
		KEY(oom_kills),
		KEY(outside_signal),
		KEY(unsafe_root),
		KEY(unsafe_privileges),
		KEY(unsafe_seccomp),
		KEY(unsafe_capabilities),
		KEY(unsafe_limits),
		KEY(peak_memory_bytes),
		KEY(cpu_ms),
		KEY(throttled_ms),
		KEY(io_read_bytes),
		KEY(io_write_bytes),
#undef KEY
	};
	const struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct inside in = listening(s);
		struct inside want = in;
		char line[64];

		(void)snprintf(line, sizeof(line), "%s 42", keys[i].key);
		inside_line(&in, line);
		*(int64_t *)(void *)((char *)&want + keys[i].at) = 42;
		assert_memory_equal(&in, &want, sizeof(in));
		inside_release(&in);
		assert_int_equal(unlinkat(s->fd, "s", 0), 0);
	}
}

static void
lines_come_cut_anywhere(void **state)
{
	static const char text[] = "ready 1\nunknown 5\n\nexit 3\ncpu_ms 12\n";
	const struct scratch *s = *state;

	for (size_t cut = 0; cut < sizeof(text); cut++) {
		struct inside in = listening(s);
		AUTO(close_p) int fd = connected(s);

		assert_int_equal(write(fd, text, cut), cut);
		inside_read(&in);
		say(fd, text + cut);
		inside_read(&in);
		assert_int_equal(in.ready, 1);
		assert_int_equal(in.exit, 3);
		assert_int_equal(in.cpu_ms, 12);
		inside_release(&in);
		assert_int_equal(unlinkat(s->fd, "s", 0), 0);
	}
}

static void
half_a_line_is_none(void **state)
{
	const struct scratch *s = *state;
	struct inside in = listening(s);
	int fd = connected(s);

	say(fd, "exit 3");
	inside_read(&in);
	assert_int_equal(in.exit, -1);
	(void)close(fd);
	inside_read(&in);
	assert_int_equal(in.exit, -1);
	assert_int_equal(inside_fd(&in), -1);
	inside_read(&in);
	inside_release(&in);
}

/* "exit 000...0005" of that many bytes, and the newline. */
static void
say_padded(int fd, int bytes, int number)
{
	char line[5000];

	(void)snprintf(line, sizeof(line), "exit %0*d\n", bytes - 5, number);
	say(fd, line);
}

static void
a_line_too_long_is_none(void **state)
{
	const struct scratch *s = *state;
	struct inside in = listening(s);
	AUTO(close_p) int fd = connected(s);
	int most = sizeof(in.line) - 1;

	say_padded(fd, 4000, 5); /* cut short, this would be 0 */
	inside_read(&in);
	assert_int_equal(in.exit, -1);
	say(fd, "signal 9\n");
	inside_read(&in);
	assert_int_equal(in.signal, 9);
	say_padded(fd, most, 5);
	inside_read(&in);
	assert_int_equal(in.exit, 5);
	say_padded(fd, most + 1, 6);
	inside_read(&in);
	assert_int_equal(in.exit, 5);
	say_padded(fd, most + 2, 7);
	inside_read(&in);
	assert_int_equal(in.exit, 5);
	inside_release(&in);
}

static void
the_first_connection_is_the_only_one(void **state)
{
	const struct scratch *s = *state;
	struct inside in = listening(s);
	AUTO(close_p) int first = connected(s);
	AUTO(close_p) int second = connected(s);
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	AUTO(close_p) int third = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s/s", s->path);
	inside_read(&in);
	assert_int_equal(in.listener, -1);
	(void)send(second, "exit 0\n", 7, MSG_NOSIGNAL);
	say(first, "exit 3\n");
	inside_read(&in);
	assert_int_equal(in.exit, 3);
	assert_int_equal(
	    connect(third, (const struct sockaddr *)&a, sizeof(a)), -1);
	inside_release(&in);
}

static void
a_missing_wall_is_named(void **state)
{
	static const struct {
		const char *line, *want;
	} walls[] = {
		{ "unsafe_root 1", "the session would be root" },
		{ "unsafe_privileges 0", "no-new-privileges is not in force" },
		{ "unsafe_seccomp 0", "no seccomp filter is in force" },
		{ "unsafe_capabilities 1", "capabilities are left" },
		{ "unsafe_limits 0", "fzinit cannot protect its limits" },
	};
	const struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(walls); i++) {
		struct inside in = listening(s);

		inside_line(&in, walls[i].line);
		assert_string_equal(inside_unsafe(&in), walls[i].want);
		inside_release(&in);
		assert_int_equal(unlinkat(s->fd, "s", 0), 0);
	}
}

static void
a_place_that_is_taken_is_a_failure(void **state)
{
	const struct scratch *s = *state;
	struct err e = { 0 };
	struct inside in;

	assert_int_equal(scratch_put(s, "s", ""), 0);
	assert_int_equal(inside_listen(&in, s->fd, &e), -1);
	assert_int_equal(e.exit, EX_CANTCREAT);
	assert_int_equal(inside_fd(&in), -1);
	inside_release(&in);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(all_is_unknown_at_first),
		cmocka_unit_test(a_line_is_a_known_key_and_a_number),
		SCRATCH_TEST(every_key_has_its_place),
		SCRATCH_TEST(lines_come_cut_anywhere),
		SCRATCH_TEST(half_a_line_is_none),
		SCRATCH_TEST(a_line_too_long_is_none),
		SCRATCH_TEST(the_first_connection_is_the_only_one),
		SCRATCH_TEST(a_missing_wall_is_named),
		SCRATCH_TEST(a_place_that_is_taken_is_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
