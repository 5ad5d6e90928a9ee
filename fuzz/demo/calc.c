/* SPDX-License-Identifier: MIT */
/* calc - run a small integer program from a file. */
#include "calc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

/* Gives the length, or -1 with errno set. */
static long
read_source(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t len;

	if (f == NULL)
		return -1;
	len = fread(buf, 1, size, f);
	if (ferror(f) != 0) {
		int saved = errno;

		(void)fclose(f);
		errno = saved;
		return -1;
	}
	(void)fclose(f);
	return (long)len;
}

static int
calc_run(const char *src, size_t len, struct calc_err *err)
{
	static struct code code;
	static struct vm vm;

	if (len > CALC_SOURCE_MAX) {
		err->line = 1;
		(void)snprintf(err->text, sizeof(err->text),
		    "more than %d bytes", CALC_SOURCE_MAX);
		return -1;
	}
	if (calc_compile(src, len, &code, err) < 0)
		return -1;
	return vm_run(&vm, &code, err);
}

int
main(int argc, char *argv[])
{
	static char src[CALC_SOURCE_MAX + 1]; /* one to notice what is more */
	struct calc_err err = { 0 };
	long len;
	int rc;

	if (argc != 2) {
		(void)fputs("usage: calc program.q\n", stderr);
		return EX_USAGE;
	}
	len = read_source(argv[1], src, sizeof(src));
	if (len < 0) {
		(void)fprintf(
		    stderr, "calc: %s: %s\n", argv[1], strerror(errno));
		return EX_NOINPUT;
	}
	rc = calc_run(src, (size_t)len, &err);
	if (fflush(stdout) != 0) {
		(void)fprintf(stderr, "calc: write: %s\n", strerror(errno));
		return EX_IOERR;
	}
	if (rc < 0) {
		(void)fprintf(
		    stderr, "%s:%d: %s\n", argv[1], err.line, err.text);
		return 1;
	}
	return EX_OK;
}
