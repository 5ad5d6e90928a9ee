/* SPDX-License-Identifier: MIT */
/* A generator that knows the grammar of calc and nothing of its bugs. */
#include "gen.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* Values at which integer code tends to go wrong. */
static const int64_t boundaries[] = { 0, 1, -1, 7, 8, 63, 64, 65, -64, 127, 128,
	-128, 255, 256, 32767, 32768, -32768, 65535, 65536, INT32_MAX,
	INT32_MIN, UINT32_MAX, INT64_C(1) << 32, INT64_MAX, INT64_MAX - 1,
	INT64_MIN, INT64_MIN + 1 };

static const char *const operators[] = { "+", "-", "*", "/", "%", "<",
	"<=", ">", ">=", "==", "!=", "+", "-", "*" };

#define COUNT(a) ((unsigned)(sizeof(a) / sizeof((a)[0])))

enum {
	EXPR_DEPTH = 3,
	BLOCK_DEPTH = 2,
	SMALL = 16,	  /* plain constants are below this */
	INDEX_PLAIN = 48, /* plain indices too, all of them valid */
};

/* splitmix64: a counter and a mixing function, so that any seed will do. */
static uint64_t
gen_random(struct gen *g)
{
	uint64_t z = g->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static unsigned
gen_below(struct gen *g, unsigned n)
{
	return (unsigned)(gen_random(g) % n);
}

static bool
gen_chance(struct gen *g, unsigned percent)
{
	return gen_below(g, 100) < percent;
}

static void __attribute__((format(printf, 2, 3)))
gen_add(struct gen *g, const char *fmt, ...)
{
	size_t room = sizeof(g->text) - g->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(g->text + g->len, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		g->len += (size_t)n < room ? (size_t)n : room - 1;
}

static void
gen_constant(struct gen *g)
{
	int64_t v = gen_below(g, SMALL);

	if (gen_chance(g, 30))
		v = boundaries[gen_below(g, COUNT(boundaries))];
	if (v == INT64_MIN) /* no literal is that small */
		gen_add(g, "(%" PRId64 " - 1)", v + 1);
	else
		gen_add(g, "%" PRId64, v);
}

static void gen_expr(struct gen *, int depth);

static void
gen_index(struct gen *g, int depth)
{
	gen_add(g, "r[");
	if (gen_chance(g, 99))
		gen_add(g, "%u", gen_below(g, INDEX_PLAIN));
	else
		gen_expr(g, depth);
	gen_add(g, "]");
}

static void
gen_value(struct gen *g, int depth)
{
	unsigned pick = gen_below(g, 10);

	if (pick < 3 && g->vars > 0)
		gen_add(g, "%c", (char)('a' + gen_below(g, g->vars)));
	else if (pick == 3 && depth > 0)
		gen_index(g, depth - 1);
	else
		gen_constant(g);
}

static void
gen_expr(struct gen *g, int depth)
{
	if (depth == 0 || gen_chance(g, 35)) {
		gen_value(g, depth);
		return;
	}
	if (gen_chance(g, 8)) {
		gen_add(g, "-(");
		gen_expr(g, depth - 1);
		gen_add(g, ")");
		return;
	}
	gen_add(g, "(");
	gen_expr(g, depth - 1);
	gen_add(g, " %s ", operators[gen_below(g, COUNT(operators))]);
	gen_expr(g, depth - 1);
	gen_add(g, ")");
}

static void
gen_let(struct gen *g)
{
	unsigned var = g->vars;

	if (var == GEN_VARS || (var > 0 && gen_chance(g, 30)))
		var = gen_below(g, g->vars);
	gen_add(g, "let %c = ", (char)('a' + var));
	gen_expr(g, EXPR_DEPTH);
	gen_add(g, ";\n");
	if (var == g->vars)
		g->vars++;
}

static void gen_statements(struct gen *, unsigned count, int depth);

static void
gen_block(struct gen *g, int depth)
{
	if (gen_chance(g, 50)) {
		gen_add(g, "if ");
		gen_expr(g, EXPR_DEPTH - 1);
	} else {
		gen_add(g, "repeat %u", gen_below(g, SMALL));
	}
	gen_add(g, " {\n");
	gen_statements(g, 1 + gen_below(g, 3), depth);
	gen_add(g, "}\n");
}

static void
gen_statement(struct gen *g, int depth)
{
	unsigned pick = gen_below(g, 10);

	if (pick < 4) {
		gen_let(g);
	} else if (pick < 6) {
		gen_add(g, "print ");
		gen_expr(g, EXPR_DEPTH);
		gen_add(g, ";\n");
	} else if (pick < 9 || depth == 0) {
		gen_index(g, EXPR_DEPTH);
		gen_add(g, " = ");
		gen_expr(g, EXPR_DEPTH);
		gen_add(g, ";\n");
	} else {
		gen_block(g, depth - 1);
	}
}

static void
gen_statements(struct gen *g, unsigned count, int depth)
{
	while (count-- > 0)
		gen_statement(g, depth);
}

void
gen_init(struct gen *g, uint64_t seed)
{
	*g = (struct gen){ .state = seed };
}

void
gen_next(struct gen *g)
{
	g->len = 0;
	g->vars = 0;
	gen_statements(g, 2 + gen_below(g, 8), BLOCK_DEPTH);
	/* a parser is only tested by programs that are wrong, too */
	if (gen_chance(g, 6))
		g->text[gen_below(g, (unsigned)g->len)] =
		    (char)gen_below(g, 256);
}
