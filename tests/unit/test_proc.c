/* SPDX-License-Identifier: MIT */
/* Who is surely dead, and who only may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "compiler.h"
#include "err.h"
#include "proc.h"

#define OTHER_BOOT "00000000-0000-4000-8000-000000000000"

/* The parts of this process's own word. */
struct parts {
	char boot[64], ns[64];
	unsigned long long start;
};

static void
take_apart(struct parts *p)
{
	struct proc_id me;
	char *rest = me.text;
	struct err e;

	assert_int_equal(proc_self(&me, &e), 0);
	(void)snprintf(p->boot, sizeof(p->boot), "%s", strsep(&rest, "/"));
	(void)snprintf(p->ns, sizeof(p->ns), "%s", strsep(&rest, "/"));
	assert_int_equal(strtol(strsep(&rest, "/"), NULL, 10), getpid());
	p->start = strtoull(rest, NULL, 10);
	assert_true(p->start > 0);
}

static void
this_process_is_alive(void **state)
{
	struct proc_id me;
	struct err e;

	(void)state;
	assert_int_equal(proc_self(&me, &e), 0);
	assert_false(proc_is_dead(me.text));
	assert_int_equal(proc_pid(me.text), getpid());
	assert_true(strlen(me.text) < sizeof(me.text) - 1);
}

/* The word of a child that has ended and was waited for. */
static void
word_of_dead_child(struct proc_id *id)
{
	int pipefd[2], status;
	pid_t pid;

	assert_int_equal(pipe(pipefd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct proc_id me = { "" };
		struct err e;

		_exit(proc_self(&me, &e) < 0 ||
		    write(pipefd[1], me.text, sizeof(me.text)) < 0);
	}
	assert_int_equal(
	    read(pipefd[0], id->text, sizeof(id->text)), sizeof(id->text));
	(void)close(pipefd[0]);
	(void)close(pipefd[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void
a_process_that_ended_is_dead(void **state)
{
	struct proc_id gone;

	(void)state;
	word_of_dead_child(&gone);
	assert_true(proc_is_dead(gone.text));
}

static void
the_same_pid_with_another_start_is_dead(void **state)
{
	struct parts p;
	char word[200];

	(void)state;
	take_apart(&p);
	(void)snprintf(word, sizeof(word), "%s/%s/%d/%llu", p.boot, p.ns,
	    (int)getpid(), p.start + 1);
	assert_true(proc_is_dead(word));
}

static void
another_boot_is_dead_even_with_our_numbers(void **state)
{
	struct parts p;
	char word[200];

	(void)state;
	take_apart(&p);
	(void)snprintf(word, sizeof(word), OTHER_BOOT "/%s/%d/%llu", p.ns,
	    (int)getpid(), p.start);
	assert_true(proc_is_dead(word));
	(void)snprintf(word, sizeof(word), OTHER_BOOT "/pid:[1]/1/1");
	assert_true(proc_is_dead(word));
}

static void
a_foreign_namespace_is_never_surely_dead(void **state)
{
	struct proc_id gone;
	struct parts p;
	char word[200];

	(void)state;
	take_apart(&p);
	word_of_dead_child(&gone);
	(void)snprintf(
	    word, sizeof(word), "%s/pid:[1]/%d/1", p.boot, proc_pid(gone.text));
	assert_false(proc_is_dead(word));
	(void)snprintf(word, sizeof(word), "%s/%sX/%d/1", p.boot, p.ns,
	    proc_pid(gone.text));
	assert_false(proc_is_dead(word));
	(void)snprintf(word, sizeof(word), "%s/%.*s/%d/1", p.boot,
	    (int)strlen(p.ns) - 1, p.ns, proc_pid(gone.text));
	assert_false(proc_is_dead(word));
}

static void
is_no_word(const char *word)
{
	if (proc_is_dead(word))
		fail_msg("dead: \"%s\"", word);
	if (proc_pid(word) != 0)
		fail_msg("a pid: \"%s\"", word);
}

static void
a_malformed_word_is_never_surely_dead(void **state)
{
	static const char *const words[] = { "", "/", "///", "x", "x/y",
		"x/y/z" };
	/* behind a boot and a namespace that would do */
	static const char *const tails[] = { "", "/", "/1", "/1/", "//1",
		"/0/1", "/-1/1", "/+1/1", "/ 1/1", "/x/1", "/1x/1", "/1/x",
		"/1/1x", "/1/-1", "/1/ 1", "/1/1/1", "/2147483648/1",
		"/4294967297/1", "/18446744073709551617/1",
		"/1/99999999999999999999999" };
	struct parts p;
	char word[300];

	(void)state;
	take_apart(&p);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		is_no_word(words[i]);
	for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
		(void)snprintf(
		    word, sizeof(word), "%s/%s%s", p.boot, p.ns, tails[i]);
		is_no_word(word);
		(void)snprintf(
		    word, sizeof(word), OTHER_BOOT "/%s%s", p.ns, tails[i]);
		is_no_word(word);
	}
}

static void
what_is_no_boot_id_is_not_another_boot(void **state)
{
	static const char *const boots[] = { "", "x", OTHER_BOOT "0" };
	struct parts p;
	char word[300];

	(void)state;
	take_apart(&p);
	for (size_t i = 0; i < ARRAY_LEN(boots); i++) {
		(void)snprintf(word, sizeof(word), "%s/%s/1/1", boots[i], p.ns);
		assert_false(proc_is_dead(word));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_process_is_alive),
		cmocka_unit_test(a_process_that_ended_is_dead),
		cmocka_unit_test(the_same_pid_with_another_start_is_dead),
		cmocka_unit_test(another_boot_is_dead_even_with_our_numbers),
		cmocka_unit_test(a_foreign_namespace_is_never_surely_dead),
		cmocka_unit_test(a_malformed_word_is_never_surely_dead),
		cmocka_unit_test(what_is_no_boot_id_is_not_another_boot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
