/* SPDX-License-Identifier: MIT */
#ifndef FZ_COMPILER_H
#define FZ_COMPILER_H

/* The only place where compiler extensions get a name. */
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define MUST_CHECK	       __attribute__((warn_unused_result))
#define AUTO(fn)	       __attribute__((cleanup(fn)))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
