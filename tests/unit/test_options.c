/* SPDX-License-Identifier: MIT */
/* uses: tools/dockrun/options.c tools/dockrun/mask.c */
/* uses: tools/dockrun/env.c tools/dockrun/netconf.c */
/* dockrun's command line: what is taken, and what is said of the rest. */
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <cmocka.h>

#include "err.h"
#include "options.h"
#include "scratch.h"

#define WORDS 12

/* Parses "dockrun" and the words up to a NULL; they live until the next. */
static int
parse(struct options *o, const char *const *words, struct err *e)
{
	static char copy[WORDS + 1][256];
	static char *argv[WORDS + 2];
	int argc = 0;

	argv[argc++] = copy[0];
	for (; *words != NULL; words++, argc++) {
		assert_true(argc <= WORDS);
		(void)snprintf(copy[argc], sizeof(copy[argc]), "%s", *words);
		argv[argc] = copy[argc];
	}
	argv[argc] = NULL;
	optind = 0; /* getopt_long starts anew */
	*e = (struct err){ 0 };
	return options_parse(o, argc, argv, e);
}

#define NO_SETTING(name) "environment \"" name "\": not NAME=VALUE"
#define NEEDED		 "--image", "demo", "--dir", "runs/007"

static void
two_words_are_enough_for_safe_limits(void **state)
{
	static const char *const words[] = { NEEDED, NULL };
	struct options o;
	struct err e;

	(void)state;
	assert_int_equal(parse(&o, words, &e), 0);
	assert_int_equal(o.mode, MODE_RUN);
	assert_string_equal(o.image, "demo");
	assert_string_equal(o.dir, "runs/007");
	assert_string_equal(o.campaign, "none");
	assert_null(o.user);
	assert_null(o.input);
	assert_null(o.init);
	assert_null(o.proxy_log);
	assert_int_equal(o.net.n_relays, 0);
	assert_int_equal(o.net.n_hosts, 0);
	assert_null(o.command[0]);
	assert_int_equal(o.memory, INT64_C(2) << 30);
	assert_int_equal(o.cpus_milli, 1000);
	assert_int_equal(o.pids, 256);
	assert_int_equal(o.tmp_size, 100 << 20);
	assert_int_equal(o.max_log, 64 << 20);
	assert_int_equal(o.timeout_s, 900);
	assert_int_equal(o.grace_s, 20);
	assert_int_equal(o.infra_wait_s, 600);
	assert_false(o.exit_status);
	assert_true(o.masks.patterns.n > 10);
	options_release(&o);
}

static void
what_follows_belongs_to_the_command(void **state)
{
	static const char *const cases[][WORDS] = {
		{ NEEDED, "sh", "--image", "x" },
		{ NEEDED, "--", "sh", "--image", "x" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct options o;
		struct err e;

		assert_int_equal(parse(&o, cases[i], &e), 0);
		assert_string_equal(o.image, "demo");
		assert_string_equal(o.command[0], "sh");
		assert_string_equal(o.command[1], "--image");
		assert_string_equal(o.command[2], "x");
		assert_null(o.command[3]);
		options_release(&o);
	}
}

static const struct {
	const char *words[WORDS];
	const char *err;
} refusals[] = {
	{ { "--dir", "d" }, "--image is missing; try dockrun --help" },
	{ { "--image", "", "--dir", "d" },
	    "--image is missing; try dockrun --help" },
	{ { "--image", "i" }, "--dir is missing; try dockrun --help" },
	{ { "--image", "i", "--dir=" },
	    "--dir is missing; try dockrun --help" },
	{ { "--list-masked" }, "--list-masked: name the target with --ro" },
	{ { NEEDED, "--campaign", "" },
	    "--campaign \"\": letters a-z, digits and - only" },
	{ { NEEDED, "--campaign", "A" },
	    "--campaign \"A\": letters a-z, digits and - only" },
	{ { NEEDED, "--campaign", "a/b" },
	    "--campaign \"a/b\": letters a-z, digits and - only" },
	{ { NEEDED, "--cpus", "0" }, "--cpus: \"0\" is not from 0.01 to 1024" },
	{ { NEEDED, "--cpus", "x" }, "--cpus: \"x\" is not a number" },
	{ { NEEDED, "--grace", "-1" },
	    "--grace: \"-1\" is not a whole number from 0 to 3600" },
	{ { NEEDED, "--grace", "3601" },
	    "--grace: \"3601\" is not from 0 to 3600" },
	{ { NEEDED, "--infra-wait", "86401" },
	    "--infra-wait: \"86401\" is not from 0 to 86400" },
	{ { NEEDED, "--max-log", "0" },
	    "--max-log: \"0\" is not from 1 to 68719476736" },
	{ { NEEDED, "--memory", "5m" },
	    "--memory: \"5m\" is not from 6291456 to 4398046511104" },
	{ { NEEDED, "--memory", "2x" },
	    "--memory: \"2x\" is not a size such as 512m or 2g" },
	{ { NEEDED, "--pids", "1" }, "--pids: \"1\" is not from 2 to 100000" },
	{ { NEEDED, "--timeout", "0" },
	    "--timeout: \"0\" is not from 1 to 2592000" },
	{ { NEEDED, "--tmp-size", "1" },
	    "--tmp-size: \"1\" is not from 4096 to 1099511627776" },
	{ { NEEDED, "--user", "0:1" },
	    "--user \"0:1\": not UID:GID, both above 0" },
	{ { NEEDED, "--user", "1:0" },
	    "--user \"1:0\": not UID:GID, both above 0" },
	{ { NEEDED, "--user", "1" },
	    "--user \"1\": not UID:GID, both above 0" },
	{ { NEEDED, "--user", " 1:1" },
	    "--user \" 1:1\": not UID:GID, both above 0" },
	{ { NEEDED, "--user", "1:1x" },
	    "--user \"1:1x\": not UID:GID, both above 0" },
	{ { NEEDED, "--user", "1:1:1" },
	    "--user \"1:1:1\": not UID:GID, both above 0" },
	{ { NEEDED, "--user", "4294967297:1" },
	    "--user \"4294967297:1\": not UID:GID, both above 0" },
	{ { NEEDED, "--user", "2147483648:1" },
	    "--user \"2147483648:1\": not UID:GID, both above 0" },
	{ { NEEDED, "--ro", "/a" }, "--ro \"/a\": not HOST:/CONTAINER/PATH" },
	{ { NEEDED, "--ro", ":/a" }, "--ro \":/a\": not HOST:/CONTAINER/PATH" },
	{ { NEEDED, "--ro", "/a:" }, "--ro \"/a:\": not HOST:/CONTAINER/PATH" },
	{ { NEEDED, "--ro", "/a:b" },
	    "--ro \"/a:b\": not HOST:/CONTAINER/PATH" },
	{ { NEEDED, "--ro", "/a:/" },
	    "--ro \"/a:/\": not HOST:/CONTAINER/PATH" },
	{ { NEEDED, "--ro", "/a:/b/../c" },
	    "--ro \"/a:/b/../c\": not HOST:/CONTAINER/PATH" },
	{ { NEEDED, "--env", "X" }, NO_SETTING("X") },
	/* perhaps a value without its name */
	{ { NEEDED, "--env", "sk-ant-1234" }, NO_SETTING("sk") },
	{ { NEEDED, "--env", "=x" }, NO_SETTING("") },
	{ { NEEDED, "--env", "1X=y" }, NO_SETTING("1X") },
	{ { NEEDED, "--env", "A B=y" }, NO_SETTING("A B") },
	{ { NEEDED, "--secret", "UNIT_UNSET" },
	    "--secret UNIT_UNSET: not set in the environment" },
	{ { NEEDED, "--secret", "A=B" }, "--secret \"A\": not a name" },
};

static void
a_wrong_value_is_refused_by_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		struct options o;
		struct err e;

		if (parse(&o, refusals[i].words, &e) == 0)
			fail_msg("accepted: %s", refusals[i].err);
		assert_string_equal(e.text, refusals[i].err);
		assert_int_equal(e.exit, EX_USAGE);
		options_release(&o);
	}
}

static void
limits_are_taken_in_their_units(void **state)
{
	static const char *const words[] = { NEEDED, "--cpus=0.5",
		"--memory=512m", "--timeout=5", "--max-log=1k",
		"--user=1000:1001", "--exit-status", "--print-request", NULL };
	struct options o;
	struct err e;

	(void)state;
	assert_int_equal(parse(&o, words, &e), 0);
	assert_int_equal(o.cpus_milli, 500);
	assert_int_equal(o.memory, 512 << 20);
	assert_int_equal(o.timeout_s, 5);
	assert_int_equal(o.max_log, 1024);
	assert_string_equal(o.user, "1000:1001");
	assert_int_equal(o.uid, 1000);
	assert_int_equal(o.gid, 1001);
	assert_true(o.exit_status);
	assert_int_equal(o.mode, MODE_PRINT_REQUEST);
	options_release(&o);
}

static void
a_secret_on_the_command_line_is_refused(void **state)
{
	static const struct {
		const char *word;
		bool refused;
	} cases[] = {
		{ "ANTHROPIC_API_KEY=x", true },
		{ "github_token=x", true },
		{ "Db_PassWord=x", true },
		{ "MYSQL_PASSWD=x", true },
		{ "CLIENT_SECRET=x", true },
		{ "MY_CREDENTIALS=x", true },
		{ "HARMLESS=my-secret-token-key", false },
		{ "EMPTY=", false },
		{ "A=b=c", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *const words[] = { NEEDED, "--env", cases[i].word,
			NULL };
		struct options o;
		struct err e;
		int rc = parse(&o, words, &e);

		assert_int_equal(rc, cases[i].refused ? -1 : 0);
		if (rc == 0)
			assert_string_equal(o.env.v[0], cases[i].word);
		else
			assert_non_null(strstr(e.text, "; use --secret "));
		options_release(&o);
	}
}

static void
a_secret_comes_from_the_environment_and_is_long(void **state)
{
	static const char *const words[] = { NEEDED, "--secret", "UNIT_KEY",
		NULL };
	struct options o;
	struct err e;

	(void)state;
	assert_int_equal(setenv("UNIT_KEY", "elevenbytes", 1), 0);
	assert_int_equal(parse(&o, words, &e), -1);
	assert_memory_equal(
	    e.text, "--secret UNIT_KEY: shorter than 12 bytes;", 41);
	assert_null(strstr(e.text, "elevenbytes"));
	options_release(&o);
	assert_int_equal(setenv("UNIT_KEY", "twelve bytes", 1), 0);
	assert_int_equal(parse(&o, words, &e), 0);
	assert_string_equal(o.secret_names.v[0], "UNIT_KEY");
	assert_string_equal(o.secrets.v[0], "twelve bytes");
	options_release(&o);
	assert_int_equal(unsetenv("UNIT_KEY"), 0);
}

static void
a_file_of_settings_may_hold_passwords(void **state)
{
	const struct scratch *s = *state;
	char path[100];
	const char *const words[] = { NEEDED, "--env-file", path, NULL };
	struct options o;
	struct err e;

	(void)snprintf(path, sizeof(path), "%s/env", s->path);
	assert_int_equal(parse(&o, words, &e), -1);
	assert_int_equal(e.exit, EX_NOINPUT);
	options_release(&o);
	assert_int_equal(scratch_put(s, "env",
			     "# test services\n\nPOSTGRES_PASSWORD=x y\r\n"
			     "A=#b\nLAST="),
	    0);
	assert_int_equal(parse(&o, words, &e), 0);
	assert_int_equal(o.env.n, 3);
	assert_string_equal(o.env.v[0], "POSTGRES_PASSWORD=x y");
	assert_string_equal(o.env.v[1], "A=#b");
	assert_string_equal(o.env.v[2], "LAST=");
	options_release(&o);
	assert_int_equal(scratch_put(s, "env", "A=1\nexport B=2\n"), 0);
	assert_int_equal(parse(&o, words, &e), -1);
	assert_non_null(strstr(e.text, "/env: " NO_SETTING("export B")));
	options_release(&o);
}

static void
the_last_setting_of_a_name_wins(void **state)
{
	const struct scratch *s = *state;
	char one[100], two[100];
	const char *const words[] = { NEEDED, "--env-file", one, "--env",
		"B=line", "--env-file", two, NULL };
	struct options o;
	struct err e;

	(void)snprintf(one, sizeof(one), "%s/one", s->path);
	(void)snprintf(two, sizeof(two), "%s/two", s->path);
	assert_int_equal(scratch_put(s, "one", "A=1\nB=1\nAB=1\n"), 0);
	assert_int_equal(scratch_put(s, "two", "A=\nA=2=2\n"), 0);
	assert_int_equal(parse(&o, words, &e), 0);
	assert_int_equal(o.env.n, 3);
	assert_string_equal(o.env.v[0], "A=2=2");
	assert_string_equal(o.env.v[1], "B=line");
	assert_string_equal(o.env.v[2], "AB=1");
	options_release(&o);
}

static void
a_secret_is_not_a_setting_too(void **state)
{
	static const char *const words[] = { NEEDED, "--secret", "UNIT_WORD",
		"--env", "UNIT_WORD=x", NULL };
	struct options o;
	struct err e;

	(void)state;
	assert_int_equal(setenv("UNIT_WORD", "twelve bytes", 1), 0);
	assert_int_equal(parse(&o, words, &e), -1);
	assert_int_equal(e.exit, EX_USAGE);
	assert_string_equal(
	    e.text, "--secret UNIT_WORD: is set by --env or --env-file too");
	options_release(&o);
	assert_int_equal(unsetenv("UNIT_WORD"), 0);
}

static void
what_can_be_reached_comes_from_files(void **state)
{
	const struct scratch *s = *state;
	char relays[100], hosts[100];
	const char *const words[] = { NEEDED, "--relays", relays, "--hosts",
		hosts, "--proxy-log", "/x/access.log", NULL };
	struct options o;
	struct err e;

	(void)snprintf(relays, sizeof(relays), "%s/relays", s->path);
	(void)snprintf(hosts, sizeof(hosts), "%s/hosts", s->path);
	assert_int_equal(parse(&o, words, &e), -1);
	assert_int_equal(e.exit, EX_NOINPUT);
	options_release(&o);
	assert_int_equal(
	    scratch_put(s, "relays", "127.0.0.1:8080 127.0.0.1:80\n"), 0);
	assert_int_equal(scratch_put(s, "hosts", "127.0.0.2 db\n"), 0);
	assert_int_equal(parse(&o, words, &e), 0);
	assert_int_equal(o.net.n_relays, 1);
	assert_int_equal(o.net.n_hosts, 1);
	assert_string_equal(o.net.host[0].name, "db");
	assert_string_equal(o.proxy_log, "/x/access.log");
	options_release(&o);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_words_are_enough_for_safe_limits),
		cmocka_unit_test(what_follows_belongs_to_the_command),
		cmocka_unit_test(a_wrong_value_is_refused_by_name),
		cmocka_unit_test(limits_are_taken_in_their_units),
		cmocka_unit_test(a_secret_on_the_command_line_is_refused),
		cmocka_unit_test(
		    a_secret_comes_from_the_environment_and_is_long),
		SCRATCH_TEST(a_file_of_settings_may_hold_passwords),
		SCRATCH_TEST(the_last_setting_of_a_name_wins),
		cmocka_unit_test(a_secret_is_not_a_setting_too),
		SCRATCH_TEST(what_can_be_reached_comes_from_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
