/* SPDX-License-Identifier: MIT */
#ifndef FZ_CLOCK_H
#define FZ_CLOCK_H

#include <stdint.h>

#define CLOCK_TEXT sizeof("2026-11-18T06:03:22Z")

/* Milliseconds that never jump; for deadlines and durations. */
int64_t clock_mono_ms(void);

/* Milliseconds since 1970; for people and log files. */
int64_t clock_wall_ms(void);

/* "2026-11-18T06:03:22Z" for a wall time. */
void clock_text(int64_t wall_ms, char out[CLOCK_TEXT]);

#endif
