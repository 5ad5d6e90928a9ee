/* SPDX-License-Identifier: MIT */
/* uses: tools/dockrun/inside.c */
/* Any bytes on fzinit's connection: numbers stay numbers JSON can carry. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "compiler.h"
#include "inside.h"
#include "json.h"

/* Less than a socket's buffer, so that no write waits. */
#define SIZE_MAX_HERE 16384

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(const struct inside *in)
{
	const int64_t all[] = { in->ready, in->exec_errno, in->exit, in->signal,
		in->deadline, in->outside_signal, in->unsafe_root,
		in->unsafe_privileges, in->unsafe_seccomp,
		in->unsafe_capabilities, in->unsafe_limits,
		in->peak_memory_bytes, in->cpu_ms, in->throttled_ms,
		in->io_read_bytes, in->io_write_bytes };

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i] < 0 || all[i] > JSON_INT_MAX)
			abort();
	if (in->listener != -1 || in->n_line > sizeof(in->line))
		abort();
	(void)inside_unsafe(in);
}

static void
say(int fd, const void *p, size_t n)
{
	if (write(fd, p, n) != (ssize_t)n)
		abort();
}

/* Some begin with a good key: they are hard to guess. */
static void
begin_line(int fd, uint8_t choice)
{
	static const char *const keys[] = { "", "ready ", "exec_errno ",
		"exit ", "signal ", "deadline ", "unsafe_root ",
		"peak_memory_bytes " };
	const char *key = keys[choice % ARRAY_LEN(keys)];

	say(fd, key, strlen(key));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inside in = { .listener = -1 };
	size_t cut = size > 0 ? data[0] : 0;
	int ends[2];

	if (size < 2 || size > SIZE_MAX_HERE ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) < 0)
		return 0;
	in.conn = ends[0];
	begin_line(ends[1], data[1]);
	data += 2;
	size -= 2;
	cut = cut < size ? cut : size;
	say(ends[1], data, cut);
	inside_read(&in);
	check(&in);
	say(ends[1], data + cut, size - cut);
	say(ends[1], "\n", 1);
	(void)close(ends[1]);
	inside_read(&in);
	check(&in);
	if (in.conn != -1)
		abort();
	inside_release(&in);
	return 0;
}
