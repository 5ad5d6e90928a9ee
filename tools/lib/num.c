/* SPDX-License-Identifier: MIT */
/* Numbers, sizes and fractions as people write them. */
#include "num.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "err.h"

/* 15 digits fit an int64_t with room, and cJSON prints them exactly. */
#define DIGITS_MAX 15

/* Reads the digits at s; returns what follows them, or NULL. */
static const char *
digits(const char *s, int64_t *out)
{
	size_t n = strspn(s, "0123456789");
	int64_t v = 0;

	if (n == 0 || n > DIGITS_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++)
		v = v * 10 + (s[i] - '0');
	*out = v;
	return s + n;
}

static int
in_range(const char *s, int64_t v, int64_t min, int64_t max, int64_t *out,
    struct err *e)
{
	if (v < min || v > max)
		return err_set(e, EX_USAGE, "\"%s\" is not from %lld to %lld",
		    s, (long long)min, (long long)max);
	*out = v;
	return 0;
}

int
num_parse(const char *s, int64_t min, int64_t max, int64_t *out, struct err *e)
{
	const char *end;
	int64_t v = 0;

	end = digits(s, &v);
	if (end == NULL || *end != '\0')
		return err_set(e, EX_USAGE,
		    "\"%s\" is not a whole number from %lld to %lld", s,
		    (long long)min, (long long)max);
	return in_range(s, v, min, max, out, e);
}

int
num_size(const char *s, int64_t min, int64_t max, int64_t *out, struct err *e)
{
	static const char units[] = "kmg";
	const char *end, *unit;
	int64_t v = 0;

	end = digits(s, &v);
	unit = end != NULL && *end != '\0'
	    ? strchr(units, tolower((unsigned char)*end))
	    : NULL;
	if (end == NULL || (*end != '\0' && (unit == NULL || end[1] != '\0')))
		return err_set(
		    e, EX_USAGE, "\"%s\" is not a size such as 512m or 2g", s);
	if (unit != NULL) {
		int shift = 10 * (int)(unit - units + 1);

		if (v > (INT64_MAX >> shift))
			v = INT64_MAX;
		else
			v <<= shift;
	}
	return in_range(s, v, min, max, out, e);
}

int
num_milli(const char *s, int64_t min, int64_t max, int64_t *out, struct err *e)
{
	const char *end;
	int64_t v = 0;
	int places = 0;

	end = digits(s, &v);
	if (end == NULL || v > INT64_MAX / 1000)
		return err_set(e, EX_USAGE, "\"%s\" is not a number", s);
	v *= 1000;
	if (*end == '.') {
		int64_t unit = 100;

		for (end++; isdigit((unsigned char)*end); end++, places++) {
			v += (*end - '0') * unit;
			unit /= 10;
		}
		if (places == 0)
			end = s;
	}
	if (*end != '\0')
		return err_set(e, EX_USAGE, "\"%s\" is not a number", s);
	if (v < min || v > max)
		return err_set(e, EX_USAGE, "\"%s\" is not from %g to %g", s,
		    (double)min / 1000, (double)max / 1000);
	*out = v;
	return 0;
}

int64_t
num_env(const char *name, int64_t min, int64_t max, int64_t other)
{
	const char *s = getenv(name);
	struct err ignored;

	if (s == NULL || num_parse(s, min, max, &other, &ignored) < 0)
		return other; /* which a failure leaves alone */
	return other;
}
