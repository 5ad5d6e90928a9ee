/* SPDX-License-Identifier: MIT */
/* uses: tools/dockrun/redact.c */
/* No secret gets out, however it is cut, and nothing else is changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "buf.h"
#include "compiler.h"
#include "redact.h"

#define T(s)	 (s), sizeof(s) - 1
#define ROOM	 4096
#define SECRETS	 4
#define OUT_INIT BUF_INIT(ROOM)

static int
take(void *ctx, const char *p, size_t n)
{
	return buf_add(ctx, p, n);
}

static struct strv
list(const char *const *words, size_t n)
{
	struct strv l = { 0 };

	for (size_t i = 0; i < n && words[i] != NULL; i++)
		assert_int_equal(strv_add(&l, words[i]), 0);
	return l;
}

/* What it ought to do: at each place the longest secret, else one byte. */
static void
reference(const struct strv *secrets, const char *p, size_t n, struct buf *to)
{
	while (n > 0) {
		size_t best = 0;

		for (size_t i = 0; i < secrets->n; i++) {
			size_t len = strlen(secrets->v[i]);

			if (len <= n && len > best &&
			    memcmp(p, secrets->v[i], len) == 0)
				best = len;
		}
		assert_int_equal(
		    buf_add(to, best > 0 ? "***" : p, best > 0 ? 3 : 1), 0);
		best = best > 0 ? best : 1;
		p += best;
		n -= best;
	}
}

static void
feed(struct redact *r, const char *p, size_t n, struct buf *to)
{
	/* A copy of its own, so that reading beyond it is noticed. */
	char *piece = malloc(n + 1);

	assert_non_null(piece);
	memcpy(piece, p, n);
	assert_int_equal(redact_feed(r, piece, n, take, to), 0);
	free(piece);
}

/* Feeds it in pieces that end at a and b. */
static void
redact_in_three(const struct strv *secrets, const char *p, size_t n, size_t a,
    size_t b, struct buf *to)
{
	struct redact r;

	assert_int_equal(redact_init(&r, secrets), 0);
	feed(&r, p, a, to);
	feed(&r, p + a, b - a, to);
	feed(&r, p + b, n - b, to);
	assert_int_equal(redact_finish(&r, take, to), 0);
	redact_release(&r);
}

static void
is_same(const struct buf *got, const struct buf *want)
{
	assert_int_equal(got->len, want->len);
	if (want->len > 0)
		assert_memory_equal(got->data, want->data, want->len);
}

static const struct {
	const char *secrets[SECRETS];
	const char *in;
	size_t n;
	const char *want;
	size_t n_want;
} cases[] = {
	{ { NULL }, T("nothing to hide"), T("nothing to hide") },
	{ { "hunter2hunter" }, T(""), T("") },
	{ { "hunter2hunter" }, T("a hunter2hunter b"), T("a *** b") },
	{ { "hunter2hunter" }, T("hunter2hunter"), T("***") },
	{ { "hunter2hunter" }, T("hunter2hunterhunter2hunter"), T("******") },
	{ { "hunter2hunter" }, T("hunter2hunte"), T("hunter2hunte") },
	{ { "hunter2hunter" }, T("hunter2hunter2hunter"), T("***2hunter") },
	/* the prefix comes again before the secret does */
	{ { "aab" }, T("aaab"), T("a***") },
	{ { "aab" }, T("aaaaaaaab"), T("aaaaaa***") },
	{ { "abababc" }, T("abababababc"), T("abab***") },
	{ { "aaaa" }, T("aaaaaaaaaaa"), T("******aaa") },
	{ { "abcabd" }, T("abcabcabd"), T("abc***") },
	/* one is the beginning of another: the longer one goes */
	{ { "secret", "secret-key" }, T("secret-key"), T("***") },
	{ { "secret-key", "secret" }, T("secret-key"), T("***") },
	{ { "secret", "secret-key" }, T("secret-ke"), T("***-ke") },
	{ { "secret", "secret-key" }, T("secret-kesecret"), T("***-ke***") },
	{ { "abc", "abcdef", "abcdefghi" }, T("abcdefgh"), T("***gh") },
	/* one lies in another, or begins where another ends */
	{ { "bcd", "abcde" }, T("abcdexbcd"), T("***x***") },
	{ { "abcd", "cdef" }, T("abcdef"), T("***ef") },
	{ { "abcd", "bcx" }, T("abcx"), T("a***") },
	{ { "same", "same" }, T("same"), T("***") },
	/* any bytes */
	{ { "key\xff\x80" }, T("\0\0key\xff\x80\0\xff"), T("\0\0***\0\xff") },
	{ { "key\xff\x80" }, T("key\xff"), T("key\xff") },
	{ { "one\ntwo" }, T("one\ntwo\n"), T("***\n") },
	{ { "one" }, T("o\0one\0ne"), T("o\0***\0ne") },
};

static void
cut_once_more(const struct strv *secrets, size_t i, size_t a)
{
	for (size_t b = a; b <= cases[i].n; b++) {
		struct buf out = OUT_INIT;

		redact_in_three(secrets, cases[i].in, cases[i].n, a, b, &out);
		assert_int_equal(out.len, cases[i].n_want);
		if (out.len > 0)
			assert_memory_equal(out.data, cases[i].want, out.len);
		buf_release(&out);
	}
}

static void
a_secret_is_found_however_it_is_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct strv secrets = list(cases[i].secrets, SECRETS);

		for (size_t a = 0; a <= cases[i].n; a++)
			cut_once_more(&secrets, i, a);
		strv_release(&secrets);
	}
}

static void
a_secret_is_found_byte_by_byte(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct strv secrets = list(cases[i].secrets, SECRETS);
		struct buf out = OUT_INIT, want = OUT_INIT;
		struct redact r;

		assert_int_equal(redact_init(&r, &secrets), 0);
		for (size_t k = 0; k < cases[i].n; k++)
			feed(&r, cases[i].in + k, 1, &out);
		assert_int_equal(redact_finish(&r, take, &out), 0);
		redact_release(&r);
		assert_int_equal(
		    buf_add(&want, cases[i].want, cases[i].n_want), 0);
		is_same(&out, &want);
		buf_release(&out);
		buf_release(&want);
		strv_release(&secrets);
	}
}

static void
only_what_may_become_a_secret_is_held_back(void **state)
{
	static const char *const words[] = { "hunter2hunter" };
	struct strv secrets = list(words, 1);
	struct buf out = OUT_INIT;
	struct redact r;

	(void)state;
	assert_int_equal(redact_init(&r, &secrets), 0);
	feed(&r, T("prompt> "), &out);
	assert_string_equal(out.data, "prompt> ");
	feed(&r, T("hunter2"), &out);
	assert_string_equal(out.data, "prompt> ");
	feed(&r, T("!"), &out);
	assert_string_equal(out.data, "prompt> hunter2!");
	feed(&r, T("h"), &out);
	assert_string_equal(out.data, "prompt> hunter2!");
	assert_int_equal(redact_finish(&r, take, &out), 0);
	assert_string_equal(out.data, "prompt> hunter2!h");
	assert_int_equal(redact_finish(&r, take, &out), 0);
	assert_string_equal(out.data, "prompt> hunter2!h");
	redact_release(&r);
	buf_release(&out);
	strv_release(&secrets);
}

/* The same numbers on every machine. */
static uint32_t
roll(uint32_t below)
{
	static uint32_t x = 2463534242U;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return x % below;
}

static size_t
random_word(char *to, uint32_t max, uint32_t letters)
{
	size_t n = 1 + roll(max);

	for (size_t i = 0; i < n; i++)
		to[i] = (char)('a' + roll(letters));
	to[n] = '\0';
	return n;
}

static void
random_pieces_give_what_the_reference_gives(void **state)
{
	char word[64], text[300];

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct buf out = OUT_INIT, want = OUT_INIT;
		struct strv secrets = { 0 };
		uint32_t letters = 1 + roll(3);
		struct redact r;
		size_t n;

		for (uint32_t i = roll(SECRETS + 1); i > 0; i--) {
			(void)random_word(word, 8, letters);
			assert_int_equal(strv_add(&secrets, word), 0);
		}
		n = random_word(text, 80, letters);
		reference(&secrets, text, n, &want);
		assert_int_equal(redact_init(&r, &secrets), 0);
		for (size_t at = 0, k; at < n; at += k) {
			k = 1 + roll(12);
			k = k < n - at ? k : n - at;
			feed(&r, text + at, k, &out);
		}
		assert_int_equal(redact_finish(&r, take, &out), 0);
		is_same(&out, &want);
		redact_release(&r);
		buf_release(&out);
		buf_release(&want);
		strv_release(&secrets);
	}
}

static int
count_calls(void *ctx, const char *p, size_t n)
{
	(void)p;
	(void)n;
	++*(size_t *)ctx;
	return 0;
}

/* One call is one write: a byte each would be a slow disk's end. */
static void
output_is_passed_on_in_large_pieces(void **state)
{
	static const char *const words[] = { "sk-secret-0001",
		"ssssssssssssx" };
	static char text[32768];
	struct strv secrets = list(words, 2);
	struct redact r;
	size_t calls = 0;

	(void)state;
	memset(text, 's', sizeof(text));
	assert_int_equal(redact_init(&r, &secrets), 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(
		    redact_feed(&r, text, sizeof(text), count_calls, &calls),
		    0);
	assert_in_range(calls, 1, 400);
	redact_release(&r);
	strv_release(&secrets);
}

static int
refuse(void *ctx, const char *p, size_t n)
{
	(void)p;
	(void)n;
	return --*(int *)ctx < 0 ? -1 : 0;
}

static void
a_failed_write_stops_it(void **state)
{
	static const char *const words[] = { "secret" };
	struct strv secrets = list(words, 1);

	(void)state;
	for (int good = 0; good < 3; good++) {
		int left = good;
		struct redact r;

		assert_int_equal(redact_init(&r, &secrets), 0);
		assert_int_equal(
		    redact_feed(&r, T("a secret b"), refuse, &left), -1);
		redact_release(&r);
	}
	strv_release(&secrets);
}

static void
a_text_is_redacted_in_place(void **state)
{
	static const struct {
		const char *secrets[SECRETS];
		const char *in, *want;
	} texts[] = {
		{ { NULL }, "nothing", "nothing" },
		{ { "secret" }, "", "" },
		{ { "secret" }, "a secret b", "a *** b" },
		{ { "secret" }, "secretsecret", "******" },
		{ { "secret" }, "secre", "secre" },
		{ { "sesecret" }, "sesesecret", "se***" },
		{ { "secret", "secret-key" }, "a secret-key b", "a *** b" },
		{ { "secret-key", "secret" }, "a secret-key b", "a *** b" },
		{ { "bcd", "abcde" }, "abcde bcd", "*** ***" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct strv secrets = list(texts[i].secrets, SECRETS);
		char text[64];

		(void)snprintf(text, sizeof(text), "%s", texts[i].in);
		redact_text(&secrets, text);
		assert_string_equal(text, texts[i].want);
		strv_release(&secrets);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_secret_is_found_however_it_is_cut),
		cmocka_unit_test(a_secret_is_found_byte_by_byte),
		cmocka_unit_test(only_what_may_become_a_secret_is_held_back),
		cmocka_unit_test(random_pieces_give_what_the_reference_gives),
		cmocka_unit_test(output_is_passed_on_in_large_pieces),
		cmocka_unit_test(a_failed_write_stops_it),
		cmocka_unit_test(a_text_is_redacted_in_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
