/* SPDX-License-Identifier: MIT */
/* What PID 1 tells dockrun. */
#include "report.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CG "/sys/fs/cgroup/"

int
report_connect(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(a.sun_path))
		return -1;
	memcpy(a.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

void
report(int fd, const char *key, int64_t value)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "%s %" PRId64 "\n", key, value);

	(void)send(fd, line, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* The start of a small file, or NULL. */
static const char *
slurp(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, out, size - 1) : -1;

	if (fd >= 0)
		(void)close(fd);
	if (n < 0)
		return NULL;
	out[n] = '\0';
	return out;
}

/* The first number in the file, divided, or -1. */
static int64_t
number(const char *path, int64_t divisor)
{
	char text[64];
	char *end;
	long long v;

	if (slurp(path, text, sizeof(text)) == NULL)
		return -1;
	v = strtoll(text, &end, 10);
	return end == text ? -1 : v / divisor;
}

/* The sum of all numbers that follow key in the file; -1 without a file. */
static int64_t
sum_after(const char *path, const char *key, int64_t divisor)
{
	char text[4096];
	const char *p = slurp(path, text, sizeof(text));
	int64_t sum = 0;

	if (p == NULL)
		return -1;
	while ((p = strstr(p, key)) != NULL) {
		p += strlen(key);
		sum += strtoll(p, NULL, 10);
	}
	return sum / divisor;
}

static void
report_known(int fd, const char *key, int64_t v1, int64_t v2)
{
	if (v2 >= 0 || v1 >= 0)
		report(fd, key, v2 >= 0 ? v2 : v1);
}

void
report_usage(int fd)
{
	report_known(fd, "peak_memory_bytes",
	    number(CG "memory/memory.max_usage_in_bytes", 1),
	    number(CG "memory.peak", 1));
	/* The engine learns of it by an event that may come too late. */
	report_known(fd, "oom_kills",
	    sum_after(CG "memory/memory.oom_control", "oom_kill ", 1),
	    sum_after(CG "memory.events", "oom_kill ", 1));
	report_known(fd, "cpu_ms", number(CG "cpuacct/cpuacct.usage", 1000000),
	    sum_after(CG "cpu.stat", "usage_usec ", 1000));
	report_known(fd, "throttled_ms",
	    sum_after(CG "cpu/cpu.stat", "throttled_time ", 1000000),
	    sum_after(CG "cpu.stat", "throttled_usec ", 1000));
	report_known(fd, "io_read_bytes",
	    sum_after(CG "blkio/blkio.throttle.io_service_bytes", " Read ", 1),
	    sum_after(CG "io.stat", "rbytes=", 1));
	report_known(fd, "io_write_bytes",
	    sum_after(CG "blkio/blkio.throttle.io_service_bytes", " Write ", 1),
	    sum_after(CG "io.stat", "wbytes=", 1));
}
