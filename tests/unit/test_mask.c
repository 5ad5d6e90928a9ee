/* SPDX-License-Identifier: MIT */
/* uses: tools/dockrun/mask.c */
/* What a session does not get to see of its target. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <cmocka.h>

#include "err.h"
#include "mask.h"
#include "scratch.h"

static struct mask_rules
rules_of(const char *patterns[], const char *unmask[])
{
	struct mask_rules r = { 0 };

	for (; patterns != NULL && *patterns != NULL; patterns++)
		assert_int_equal(strv_add(&r.patterns, *patterns), 0);
	for (; unmask != NULL && *unmask != NULL; unmask++)
		assert_int_equal(strv_add(&r.unmask, *unmask), 0);
	return r;
}

/* Makes "a/b/" and "a/b/c" with what they lie in. */
static void
make(const struct scratch *s, const char *path)
{
	char copy[200];

	(void)snprintf(copy, sizeof(copy), "%s", path);
	for (char *p = strchr(copy, '/'); p != NULL; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdirat(s->fd, copy, 0755) < 0)
			assert_int_equal(errno, EEXIST);
		*p = '/';
	}
	if (path[strlen(path) - 1] != '/')
		assert_int_equal(scratch_put(s, path, "x"), 0);
}

/* The covered places in one line: "a b/" with a slash after directories. */
static const char *
found(const struct scratch *s, const struct mask_rules *r)
{
	static char text[2000];
	struct masks m = { 0 };
	struct err e = { 0 };
	size_t n = 0;

	if (mask_find(s->path, r, &m, &e) < 0)
		fail_msg("%s", e.text);
	text[0] = '\0';
	for (size_t i = 0; i < m.n; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%s",
		    i > 0 ? " " : "", m.v[i].path, m.v[i].is_dir ? "/" : "");
	masks_release(&m);
	assert_null(m.v);
	return text;
}

static void
the_defaults_cover_secrets_wherever_they_lie(void **state)
{
	static const char *const places[] = { ".git/config", "src/main.c",
		"src/.env", "src/.env.local", "src/env", "src/x.env",
		"deep/er/key.pem", "deep/er/pem", "id_rsa", "id_rsa.pub",
		"id_ed25519", ".ssh/config", "home/.aws/credentials", ".netrc",
		".npmrc", ".claude/x", ".claude.json", ".mcp.json",
		".gitignore", ".github/ci.yml", "vendor/lib/.git" };
	const struct scratch *s = *state;
	struct mask_rules r = { 0 };
	struct err e;

	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		make(s, places[i]);
	assert_int_equal(mask_defaults(&r, &e), 0);
	assert_string_equal(found(s, &r),
	    ".claude/ .claude.json .git/ .mcp.json .netrc .npmrc .ssh/ "
	    "deep/er/key.pem home/.aws/ id_ed25519 id_rsa src/.env "
	    "src/.env.local vendor/lib/.git");
	mask_rules_release(&r);
	assert_null(r.patterns.v);
}

static void
a_pattern_is_for_one_name(void **state)
{
	static const struct {
		const char *pattern, *want;
	} cases[] = {
		{ "a", "a/ sub/a" },
		{ "b?", "sub/b1 sub/b2" },
		{ "b[2-9]", "sub/b2" },
		{ "*.key", ".key sub/x.key" },
		{ "*", ".key a/ sub/" },
		{ "s*", "sub/" },
		{ "A", "" },
		{ "sub/a", "" },
		{ "", "" },
		{ "b[", "" },
	};
	const struct scratch *s = *state;

	make(s, "a/inner");
	make(s, "sub/a");
	make(s, "sub/b1");
	make(s, "sub/b2");
	make(s, "sub/x.key");
	make(s, ".key");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct mask_rules r =
		    rules_of((const char *[]){ cases[i].pattern, NULL }, NULL);

		assert_string_equal(found(s, &r), cases[i].want);
		mask_rules_release(&r);
	}
}

static void
unmask_takes_names_out_again(void **state)
{
	const struct scratch *s = *state;
	struct mask_rules r =
	    rules_of((const char *[]){ "*.pem", ".git", NULL },
		(const char *[]){ "ca*.pem", ".g?t", NULL });

	make(s, "ca.pem");
	make(s, "key.pem");
	make(s, ".git/deploy.pem");
	assert_string_equal(found(s, &r), ".git/deploy.pem key.pem");
	mask_rules_release(&r);
}

static void
a_rundir_inside_is_covered_whatever_its_name(void **state)
{
	const struct scratch *s = *state;
	struct mask_rules r = rules_of(NULL, (const char *[]){ "runs", NULL });
	char path[200];

	make(s, "fuzz/runs/007/result.json");
	make(s, "other/runs/x");
	(void)snprintf(path, sizeof(path), "%s/fuzz/runs", s->path);
	r.rundir = strdup(path);
	assert_string_equal(found(s, &r), "fuzz/runs/");
	mask_rules_release(&r);
	assert_null(r.rundir);
	r = rules_of(NULL, NULL);
	r.rundir = strdup("/somewhere/else");
	assert_string_equal(found(s, &r), "");
	mask_rules_release(&r);
}

static void
a_covered_link_covers_what_it_leads_to(void **state)
{
	static const struct {
		const char *target, *want;
	} links[] = {
		{ "conf/real", "conf/real" },
		{ "conf", "conf/" },
		{ "hop", "conf/real" },
		{ "nowhere", "" },
		{ ".env", "" }, /* itself */
		{ "/etc/passwd", "" },
		{ "..", "" },
		{ ".", "" },
	};
	const struct scratch *s = *state;
	struct mask_rules r = rules_of((const char *[]){ ".env", NULL }, NULL);

	make(s, "conf/real");
	assert_int_equal(symlinkat("conf/real", s->fd, "hop"), 0);
	for (size_t i = 0; i < ARRAY_LEN(links); i++) {
		assert_int_equal(symlinkat(links[i].target, s->fd, ".env"), 0);
		assert_string_equal(found(s, &r), links[i].want);
		assert_int_equal(unlinkat(s->fd, ".env", 0), 0);
	}
	mask_rules_release(&r);
}

static void
links_are_not_followed_on_the_way(void **state)
{
	const struct scratch *s = *state;
	struct mask_rules r =
	    rules_of((const char *[]){ "passwd", "f", NULL }, NULL);

	make(s, "d/f");
	assert_int_equal(symlinkat("/etc", s->fd, "etc"), 0);
	assert_int_equal(symlinkat("d", s->fd, "again"), 0);
	assert_int_equal(symlinkat(".", s->fd, "d/loop"), 0);
	assert_string_equal(found(s, &r), "d/f");
	mask_rules_release(&r);
}

/* A mount in a covered directory would have no place to be made. */
static void
nothing_is_covered_twice(void **state)
{
	const struct scratch *s = *state;
	struct mask_rules r =
	    rules_of((const char *[]){ ".ssh", "id_rsa", NULL }, NULL);

	make(s, "keys/id_rsa");
	make(s, "keys/sub/id_rsa");
	make(s, "keys-old/id_rsa");
	assert_int_equal(symlinkat("keys", s->fd, ".ssh"), 0);
	assert_string_equal(found(s, &r), "keys/ keys-old/id_rsa");
	assert_int_equal(symlinkat("keys-old/id_rsa", s->fd, "id_rsa"), 0);
	assert_string_equal(found(s, &r), "keys/ keys-old/id_rsa");
	mask_rules_release(&r);
}

static void
what_cannot_be_read_is_covered_whole(void **state)
{
	const struct scratch *s = *state;
	struct mask_rules r =
	    rules_of((const char *[]){ "secret", NULL }, NULL);
	bool root = geteuid() == 0;
	const char *got;

	make(s, "locked/secret");
	make(s, "open/secret");
	assert_int_equal(chmod(s->path, 0755), 0);
	assert_int_equal(fchmodat(s->fd, "locked", 0, 0), 0);
	if (root) /* whom nothing is locked for */
		assert_int_equal(seteuid(65534), 0);
	got = found(s, &r);
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(fchmodat(s->fd, "locked", 0700, 0), 0);
	assert_string_equal(got, "locked/ open/secret");
	mask_rules_release(&r);
}

static void
a_target_that_cannot_be_read_is_refused(void **state)
{
	const struct scratch *s = *state;
	struct mask_rules r = rules_of(NULL, NULL);
	struct masks m = { 0 };
	struct err e = { 0 };
	char path[200];

	(void)snprintf(path, sizeof(path), "%s/none", s->path);
	assert_int_equal(mask_find(path, &r, &m, &e), -1);
	assert_int_equal(e.exit, EX_NOINPUT);
	assert_int_equal(e.sys, ENOENT);
	assert_string_equal(e.text, path);
	masks_release(&m);
	mask_rules_release(&r);
}

static void
more_than_a_thousand_places_are_refused(void **state)
{
	const struct scratch *s = *state;
	struct mask_rules r = rules_of((const char *[]){ "*.pem", NULL }, NULL);
	struct masks m = { 0 };
	struct err e = { 0 };
	char name[32];

	for (int i = 0; i < MASK_MAX; i++) {
		(void)snprintf(name, sizeof(name), "%04d.pem", i);
		assert_int_equal(scratch_put(s, name, ""), 0);
	}
	assert_int_equal(mask_find(s->path, &r, &m, &e), 0);
	assert_int_equal(m.n, MASK_MAX);
	assert_string_equal(m.v[999].path, "0999.pem");
	masks_release(&m);
	assert_int_equal(scratch_put(s, "one-more.pem", ""), 0);
	assert_int_equal(mask_find(s->path, &r, &m, &e), -1);
	assert_int_equal(e.exit, EX_CONFIG);
	assert_memory_equal(e.text, "more than 1000 places to mask", 29);
	masks_release(&m);
	mask_rules_release(&r);
}

static void
a_file_of_patterns_has_comments_and_blanks(void **state)
{
	const struct scratch *s = *state;
	struct mask_rules r = { 0 };
	struct err e = { 0 };
	char path[200];

	(void)snprintf(path, sizeof(path), "%s/mask.conf", s->path);
	assert_int_equal(
	    scratch_put(s, "mask.conf",
		"# all\n\n  *.key  # keys\n\tdir/\nspace in\r\n/\n#\nlast"),
	    0);
	assert_int_equal(mask_read_file(&r, path, &e), 0);
	assert_int_equal(r.patterns.n, 4);
	assert_string_equal(r.patterns.v[0], "*.key");
	assert_string_equal(r.patterns.v[1], "dir");
	assert_string_equal(r.patterns.v[2], "space in");
	assert_string_equal(r.patterns.v[3], "last");
	mask_rules_release(&r);
}

static void
a_file_of_paths_is_refused(void **state)
{
	static const char *const bad[] = { "a/b", "/a", "ok\na/b\n",
		"a//b # c" };
	const struct scratch *s = *state;
	char path[200];

	(void)snprintf(path, sizeof(path), "%s/mask.conf", s->path);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct mask_rules r = { 0 };
		struct err e = { 0 };

		assert_int_equal(scratch_put(s, "mask.conf", bad[i]), 0);
		assert_int_equal(mask_read_file(&r, path, &e), -1);
		assert_int_equal(e.exit, EX_CONFIG);
		assert_non_null(
		    strstr(e.text, "a pattern is for one name, without /"));
		mask_rules_release(&r);
	}
	assert_int_equal(unlinkat(s->fd, "mask.conf", 0), 0);
	{
		struct mask_rules r = { 0 };
		struct err e = { 0 };

		assert_int_equal(mask_read_file(&r, path, &e), -1);
		assert_int_equal(e.exit, EX_NOINPUT);
		assert_string_equal(e.text, path);
	}
}

static void
a_target_nobody_should_hand_over_is_refused(void **state)
{
	static const struct {
		const char *target, *rundir, *sock;
		const char *err; /* a part of it; NULL: fine */
	} cases[] = {
		{ "/src", "/src/fuzz/runs", "/run/d.sock", NULL },
		{ "/src", NULL, NULL, NULL },
		{ "/home/me/src", "/r", "/run/d.sock", NULL },
		{ "/", "/r", "/run/d.sock", "the whole machine is no target" },
		{ "/proc/self", "/r", "/s", NULL }, /* not home itself */
		{ "/r", "/r", "/s", "target /r: lies inside RUNDIR /r" },
		{ "/r/007", "/r", "/s", "lies inside RUNDIR /r" },
		{ "/r/007/workspace", "/r/", "/s", "lies inside RUNDIR /r/" },
		{ "/r2", "/r", "/s", NULL },
		{ "/run", "/r", "/run/d.sock",
		    "target /run: holds the engine's socket /run/d.sock" },
		{ "/run", "/r", "/run/sub/d.sock",
		    "holds the engine's socket" },
		{ "/ru", "/r", "/run/d.sock", NULL },
	};

	(void)state;
	assert_int_equal(setenv("HOME", "/nonexistent", 1), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err e = { 0 };
		int rc = mask_check_target(
		    cases[i].target, cases[i].rundir, cases[i].sock, &e);

		if (cases[i].err == NULL && rc < 0)
			fail_msg("%s", e.text);
		if (cases[i].err == NULL)
			continue;
		assert_int_equal(rc, -1);
		assert_int_equal(e.exit, EX_CONFIG);
		assert_non_null(strstr(e.text, cases[i].err));
	}
}

static void
home_and_socket_are_known_behind_links_too(void **state)
{
	const struct scratch *s = *state;
	char link[200], sock[200];
	struct err e = { 0 };

	make(s, "home/x");
	assert_int_equal(symlinkat("home", s->fd, "link"), 0);
	(void)snprintf(link, sizeof(link), "%s/link", s->path);
	assert_int_equal(setenv("HOME", link, 1), 0);
	(void)snprintf(link, sizeof(link), "%s/home", s->path);
	assert_int_equal(mask_check_target(link, "/r", "/s", &e), -1);
	assert_non_null(strstr(e.text, "that is your home directory"));
	assert_int_equal(setenv("HOME", "/nonexistent", 1), 0);
	assert_int_equal(mask_check_target(link, "/r", "/s", &e), 0);
	/* As /var/run/docker.sock is on every machine that has /run. */
	(void)snprintf(sock, sizeof(sock), "%s/link/x", s->path);
	assert_int_equal(mask_check_target(link, "/r", sock, &e), -1);
	assert_non_null(strstr(e.text, "holds the engine's socket"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(the_defaults_cover_secrets_wherever_they_lie),
		SCRATCH_TEST(a_pattern_is_for_one_name),
		SCRATCH_TEST(unmask_takes_names_out_again),
		SCRATCH_TEST(a_rundir_inside_is_covered_whatever_its_name),
		SCRATCH_TEST(a_covered_link_covers_what_it_leads_to),
		SCRATCH_TEST(links_are_not_followed_on_the_way),
		SCRATCH_TEST(nothing_is_covered_twice),
		SCRATCH_TEST(what_cannot_be_read_is_covered_whole),
		SCRATCH_TEST(a_target_that_cannot_be_read_is_refused),
		SCRATCH_TEST(more_than_a_thousand_places_are_refused),
		SCRATCH_TEST(a_file_of_patterns_has_comments_and_blanks),
		SCRATCH_TEST(a_file_of_paths_is_refused),
		cmocka_unit_test(a_target_nobody_should_hand_over_is_refused),
		SCRATCH_TEST(home_and_socket_are_known_behind_links_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
