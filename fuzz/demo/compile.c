/* SPDX-License-Identifier: MIT */
/* Turns a calc program into code for the stack machine, in one pass. */
#include "calc.h"

#include <stdbool.h>
#include <string.h>

struct compiler {
	struct lex lex;
	struct code *code;
	const char *name[CALC_NAMES_MAX]; /* in the source */
	size_t name_len[CALC_NAMES_MAX];
	size_t names;
	int nest;
};

/* Operators that take two values; a higher level binds tighter. */
static const struct {
	int tok;
	int level;
	enum op op;
} binaries[] = {
	{ T_EQ, 0, OP_EQ },
	{ T_NE, 0, OP_NE },
	{ '<', 0, OP_LT },
	{ T_LE, 0, OP_LE },
	{ '>', 0, OP_GT },
	{ T_GE, 0, OP_GE },
	{ '+', 1, OP_ADD },
	{ '-', 1, OP_SUB },
	{ '*', 2, OP_MUL },
	{ '/', 2, OP_DIV },
	{ '%', 2, OP_MOD },
};

enum {
	LEVEL_LOWEST = 0,
	LEVEL_UNARY = 3,
	NO_NAME = -1,
};

/* Gives where the instruction went, so that its jump can be set later. */
static size_t
emit(struct compiler *c, enum op op, int64_t arg)
{
	struct code *code = c->code;

	if (code->len == CALC_CODE_MAX) {
		lex_fail(&c->lex, "program too long");
		return 0;
	}
	code->insn[code->len] =
	    (struct insn){ .op = op, .line = c->lex.line, .arg = arg };
	return code->len++;
}

static void
expect(struct compiler *c, int tok, const char *complaint)
{
	if (c->lex.tok != tok)
		lex_fail(&c->lex, complaint);
	else
		lex_next(&c->lex);
}

static bool
enter(struct compiler *c)
{
	if (c->nest == CALC_NEST_MAX) {
		lex_fail(&c->lex, "nested too deeply");
		return false;
	}
	c->nest++;
	return true;
}

static int
find_name(const struct compiler *c)
{
	const struct lex *l = &c->lex;

	for (size_t i = 0; i < c->names; i++) {
		if (c->name_len[i] == l->name_len &&
		    memcmp(c->name[i], l->name, l->name_len) == 0)
			return (int)i;
	}
	return NO_NAME;
}

static int
add_name(struct compiler *c)
{
	if (c->names == CALC_NAMES_MAX) {
		lex_fail(&c->lex, "too many names");
		return NO_NAME;
	}
	c->name[c->names] = c->lex.name;
	c->name_len[c->names] = c->lex.name_len;
	return (int)c->names++;
}

/* An expression holds expressions: the one cycle in this file but blocks. */
static void compile_binary(struct compiler *, int level);

static void
compile_index(struct compiler *c)
{
	lex_next(&c->lex);
	expect(c, '[', "expected [");
	compile_binary(c, LEVEL_LOWEST);
	expect(c, ']', "expected ]");
}

static void
compile_primary(struct compiler *c)
{
	int var;

	switch (c->lex.tok) {
	case T_NUMBER:
		(void)emit(c, OP_CONST, c->lex.number);
		lex_next(&c->lex);
		break;
	case T_NAME:
		var = find_name(c);
		if (var == NO_NAME)
			lex_fail(&c->lex, "unknown name");
		(void)emit(c, OP_VAR, var);
		lex_next(&c->lex);
		break;
	case T_REG:
		compile_index(c);
		(void)emit(c, OP_LOAD, 0);
		break;
	case '(':
		lex_next(&c->lex);
		compile_binary(c, LEVEL_LOWEST);
		expect(c, ')', "expected )");
		break;
	default:
		lex_fail(&c->lex, "expected a value");
	}
}

static void
compile_unary(struct compiler *c)
{
	if (!enter(c))
		return;
	if (c->lex.tok == '-') {
		lex_next(&c->lex);
		compile_unary(c);
		(void)emit(c, OP_NEG, 0);
	} else {
		compile_primary(c);
	}
	c->nest--;
}

/* Says which operator of this level the current token is, if any. */
static bool
find_binary(int tok, int level, enum op *op)
{
	for (size_t i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++) {
		if (binaries[i].tok == tok && binaries[i].level == level) {
			*op = binaries[i].op;
			return true;
		}
	}
	return false;
}

static void
compile_binary(struct compiler *c, int level)
{
	enum op op;

	if (level == LEVEL_UNARY) {
		compile_unary(c);
		return;
	}
	compile_binary(c, level + 1);
	while (find_binary(c->lex.tok, level, &op)) {
		lex_next(&c->lex);
		compile_binary(c, level + 1);
		(void)emit(c, op, 0);
	}
}

static void
compile_let(struct compiler *c)
{
	struct lex name;
	int var;

	lex_next(&c->lex);
	name = c->lex;
	expect(c, T_NAME, "expected a name");
	expect(c, '=', "expected =");
	compile_binary(c, LEVEL_LOWEST);
	if (c->lex.err->line != 0)
		return;
	/* only now: "let x = x;" must not know x */
	c->lex.name = name.name;
	c->lex.name_len = name.name_len;
	var = find_name(c);
	if (var == NO_NAME)
		var = add_name(c);
	(void)emit(c, OP_LET, var);
	expect(c, ';', "expected ;");
}

static void
compile_simple(struct compiler *c)
{
	enum op op = OP_PRINT;

	if (c->lex.tok == T_REG) {
		op = OP_STORE;
		compile_index(c);
		expect(c, '=', "expected =");
	} else {
		lex_next(&c->lex);
	}
	compile_binary(c, LEVEL_LOWEST);
	(void)emit(c, op, 0);
	expect(c, ';', "expected ;");
}

static void compile_block(struct compiler *);

static void
compile_guarded(struct compiler *c, enum op op)
{
	size_t guard;

	lex_next(&c->lex);
	compile_binary(c, LEVEL_LOWEST);
	guard = emit(c, op, 0);
	compile_block(c);
	if (op == OP_REPEAT)
		(void)emit(c, OP_JUMP, (int64_t)guard);
	c->code->insn[guard].arg = (int64_t)c->code->len;
}

static void
compile_statement(struct compiler *c)
{
	switch (c->lex.tok) {
	case T_LET:
		compile_let(c);
		break;
	case T_PRINT:
	case T_REG:
		compile_simple(c);
		break;
	case T_IF:
		compile_guarded(c, OP_UNLESS);
		break;
	case T_REPEAT:
		compile_guarded(c, OP_REPEAT);
		break;
	default:
		lex_fail(&c->lex, "expected a statement");
	}
}

static void
compile_block(struct compiler *c)
{
	if (!enter(c))
		return;
	expect(c, '{', "expected {");
	while (c->lex.tok != '}' && c->lex.tok != T_END)
		compile_statement(c);
	expect(c, '}', "expected }");
	c->nest--;
}

int
calc_compile(
    const char *src, size_t len, struct code *code, struct calc_err *err)
{
	struct compiler c = {
		.lex = { .next = src, .end = src + len, .line = 1, .err = err },
		.code = code,
	};

	lex_next(&c.lex);
	while (c.lex.tok != T_END)
		compile_statement(&c);
	return err->line == 0 ? 0 : -1;
}
