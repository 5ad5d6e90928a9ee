/* SPDX-License-Identifier: MIT */
#include "err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int
err_set(struct err *e, int exit, const char *fmt, ...)
{
	va_list ap;

	e->exit = exit;
	e->sys = 0;
	va_start(ap, fmt);
	(void)vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return -1;
}

int
err_sys(struct err *e, int exit, const char *fmt, ...)
{
	va_list ap;

	e->sys = errno; /* before anything can change it */
	e->exit = exit;
	va_start(ap, fmt);
	(void)vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return -1;
}

static void
append(char *dst, size_t size, const char *src)
{
	size_t n = strlen(dst);

	(void)memccpy(dst + n, src, '\0', size - n);
	dst[size - 1] = '\0'; /* a cut message is still a message */
}

int
err_wrap(struct err *e, const char *fmt, ...)
{
	char inner[sizeof(e->text)];
	va_list ap;

	memcpy(inner, e->text, sizeof(inner));
	va_start(ap, fmt);
	(void)vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	append(e->text, sizeof(e->text), ": ");
	append(e->text, sizeof(e->text), inner);
	return -1;
}

int
err_report(const struct err *e, const char *name)
{
	(void)fprintf(stderr, "%s: %s%s%s\n", name, e->text,
	    e->sys != 0 ? ": " : "", e->sys != 0 ? strerror(e->sys) : "");
	return e->exit;
}
