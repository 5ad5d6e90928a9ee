/* SPDX-License-Identifier: MIT */
/* Cuts a calc program into tokens. */
#include "calc.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *text;
	int tok;
} words[] = {
	{ "if", T_IF },
	{ "let", T_LET },
	{ "print", T_PRINT },
	{ "r", T_REG },
	{ "repeat", T_REPEAT },
};

static const struct {
	char text[3];
	int tok;
} pairs[] = {
	{ "==", T_EQ },
	{ "!=", T_NE },
	{ "<=", T_LE },
	{ ">=", T_GE },
};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void
lex_fail(struct lex *l, const char *text)
{
	if (l->err->line == 0) {
		l->err->line = l->line;
		(void)snprintf(l->err->text, sizeof(l->err->text), "%s", text);
	}
	l->next = l->end;
	l->tok = T_END;
}

static void
skip_blanks(struct lex *l)
{
	bool comment = false;

	for (; l->next < l->end; l->next++) {
		char c = *l->next;

		if (c == '#')
			comment = true;
		if (c == '\n') {
			comment = false;
			l->line++;
		} else if (!comment && c != ' ' && c != '\t' && c != '\r') {
			return;
		}
	}
}

static void
lex_number(struct lex *l)
{
	int64_t v = 0;

	for (; l->next < l->end && is_digit(*l->next); l->next++) {
		int digit = *l->next - '0';

		if (v > (INT64_MAX - digit) / 10) {
			lex_fail(l, "number too large");
			return;
		}
		v = v * 10 + digit;
	}
	l->tok = T_NUMBER;
	l->number = v;
}

static void
lex_word(struct lex *l)
{
	l->name = l->next;
	while (l->next < l->end && (is_letter(*l->next) || is_digit(*l->next)))
		l->next++;
	l->name_len = (size_t)(l->next - l->name);
	l->tok = T_NAME;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].text) == l->name_len &&
		    memcmp(words[i].text, l->name, l->name_len) == 0)
			l->tok = words[i].tok;
	}
}

static void
lex_symbol(struct lex *l)
{
	char c = *l->next;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (l->end - l->next >= 2 &&
		    memcmp(pairs[i].text, l->next, 2) == 0) {
			l->next += 2;
			l->tok = pairs[i].tok;
			return;
		}
	}
	if (c == '\0' || strchr("+-*/%<>=()[]{};", c) == NULL) {
		lex_fail(l, "unexpected character");
		return;
	}
	l->next++;
	l->tok = (unsigned char)c;
}

void
lex_next(struct lex *l)
{
	skip_blanks(l);
	if (l->next == l->end)
		l->tok = T_END;
	else if (is_digit(*l->next))
		lex_number(l);
	else if (is_letter(*l->next))
		lex_word(l);
	else
		lex_symbol(l);
}
