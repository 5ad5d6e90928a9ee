/* SPDX-License-Identifier: MIT */
/* A stream of random calc programs, the same for the same seed. */
#ifndef DEMO_GEN_H
#define DEMO_GEN_H

#include <stddef.h>
#include <stdint.h>

enum gen_limits {
	GEN_PROGRAM_MAX = 8192, /* bytes; a longer program is cut there */
	GEN_VARS = 8,
};

struct gen {
	uint64_t state;
	char text[GEN_PROGRAM_MAX];
	size_t len;
	unsigned vars; /* how many names the program has given so far */
};

void gen_init(struct gen *, uint64_t seed);

/* Replaces text and len by the next program of the stream. */
void gen_next(struct gen *);

#endif
