/* SPDX-License-Identifier: MIT */
/* The demo target: an small integer expression interpreter. */
#ifndef DEMO_CALC_H
#define DEMO_CALC_H

#include <stddef.h>
#include <stdint.h>

/*
 * The two planted bugs.  With both 0 this is the clean twin, which has no
 * undefined behaviour and ends on every input.
 */
#ifndef PLANT_DIV
#define PLANT_DIV 0 /* 1: INT64_MIN / -1 and INT64_MIN % -1 reach the CPU */
#endif
#ifndef PLANT_INDEX
#define PLANT_INDEX 0 /* 1: a negative index of r[] is not refused */
#endif

enum calc_limits {
	CALC_SOURCE_MAX = 65536, /* bytes */
	CALC_CODE_MAX = 4096,	 /* instructions */
	CALC_NAMES_MAX = 64,
	CALC_NEST_MAX = 64, /* of parentheses, signs and blocks together */
	CALC_REGS = 64,
	CALC_STACK_MAX = 128,
	CALC_STEPS_MAX = 100000,
};

/* Why a program was refused or stopped; line 0 means that it was not. */
struct calc_err {
	int line;
	char text[96];
};

enum tok {
	T_END,
	/* an operator or bracket of one character is its own token */
	T_NUMBER = 256,
	T_NAME,
	T_LET,
	T_PRINT,
	T_IF,
	T_REPEAT,
	T_REG,
	T_EQ,
	T_NE,
	T_LE,
	T_GE,
};

/* One pass over a source that outlives it. */
struct lex {
	const char *next;
	const char *end;
	int line;
	int tok;
	int64_t number;	  /* of T_NUMBER */
	const char *name; /* of a word: in the source, not terminated */
	size_t name_len;
	struct calc_err *err;
};

/* Moves to the next token.  After an error there is only T_END. */
void lex_next(struct lex *);

/* Keeps the first error and ends the input. */
void lex_fail(struct lex *, const char *text);

enum op {
	OP_CONST,  /* push arg */
	OP_VAR,	   /* push variable arg */
	OP_LET,	   /* pop into variable arg */
	OP_LOAD,   /* pop an index, push that register */
	OP_STORE,  /* pop a value and an index */
	OP_PRINT,  /* pop */
	OP_NEG,	   /* of the top */
	OP_UNLESS, /* pop; jump to arg when it is zero */
	OP_REPEAT, /* count the top down; below 1, pop it and jump to arg */
	OP_JUMP,   /* to arg */
	OP_ADD,	   /* from here on: pop two, push one */
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_MOD,
	OP_LT,
	OP_LE,
	OP_GT,
	OP_GE,
	OP_EQ,
	OP_NE,
};

struct insn {
	enum op op;
	int line;
	int64_t arg;
};

struct code {
	struct insn insn[CALC_CODE_MAX];
	size_t len;
};

/*
 * Both return 0, or -1 with *err set.  Compiled code never pops more than
 * it pushed, which vm_run() relies on.
 */
int calc_compile(const char *src, size_t len, struct code *, struct calc_err *);

struct vm {
	int64_t stack[CALC_STACK_MAX];
	size_t sp;
	size_t pc;
	int64_t var[CALC_NAMES_MAX];
	int64_t reg[CALC_REGS];
};

int vm_run(struct vm *, const struct code *, struct calc_err *);

#endif
