/* SPDX-License-Identifier: MIT */
/* Process identity that survives pid reuse and reboots. */
#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/* The first bytes of a /proc file, as text. */
static ssize_t
slurp(const char *path, char *out, size_t size)
{
	AUTO(close_p) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, out, size - 1);
	if (n >= 0)
		out[n] = '\0';
	return n;
}

/* Field 22 of /proc/PID/stat; the name before it may hold anything. */
static int
start_time(long pid, unsigned long long *out)
{
	char path[32], stat[1024];
	const char *p;

	(void)snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	if (slurp(path, stat, sizeof(stat)) < 0)
		return -1;
	p = strrchr(stat, ')');
	if (p == NULL)
		return -1;
	for (int field = 2; field < 22; field++) {
		p = strchr(p + 1, ' ');
		if (p == NULL)
			return -1;
	}
	*out = strtoull(p + 1, NULL, 10);
	return 0;
}

static int
prefix(char *out, size_t size)
{
	char boot[48], ns[32];
	ssize_t n;

	if (slurp(BOOT_ID, boot, sizeof(boot)) < 0)
		return -1;
	boot[strcspn(boot, "\n")] = '\0';
	n = readlink("/proc/self/ns/pid", ns, sizeof(ns) - 1);
	if (n < 0)
		return -1;
	ns[n] = '\0';
	(void)snprintf(out, size, "%s/%s/", boot, ns);
	return 0;
}

int
proc_self(struct proc_id *id, struct err *e)
{
	unsigned long long start;
	char head[sizeof(id->text) - 48];

	if (prefix(head, sizeof(head)) < 0 || start_time(getpid(), &start) < 0)
		return err_sys(e, EX_OSERR, "cannot read /proc");
	(void)snprintf(id->text, sizeof(id->text), "%s%ld/%llu", head,
	    (long)getpid(), start);
	return 0;
}

/* Reads a number of digits only, not above max; returns what follows it. */
static const char *
number(const char *s, unsigned long long max, unsigned long long *out)
{
	size_t n = strspn(s, "0123456789");

	if (n == 0 || n > 19) /* 19 digits always fit */
		return NULL;
	*out = strtoull(s, NULL, 10);
	return *out <= max ? s + n : NULL;
}

/* Splits "BOOT/NS/PID/START"; the first two stay one piece. */
static int
split(const char *text, size_t *head, long *pid, unsigned long long *start)
{
	const char *ns = strchr(text, '/');
	const char *p = ns != NULL ? strchr(ns + 1, '/') : NULL;
	unsigned long long v;

	if (p == NULL)
		return -1;
	*head = (size_t)(p + 1 - text);
	p = number(p + 1, INT_MAX, &v);
	if (p == NULL || v == 0 || *p != '/')
		return -1;
	*pid = (long)v;
	p = number(p + 1, ULLONG_MAX, start);
	return p != NULL && *p == '\0' ? 0 : -1;
}

bool
proc_is_dead(const char *text)
{
	unsigned long long start, now;
	char head[128];
	size_t n, boot;
	long pid;

	if (split(text, &n, &pid, &start) < 0 || prefix(head, sizeof(head)) < 0)
		return false;
	boot = strcspn(head, "/");
	if (strcspn(text, "/") != boot) /* no boot id at all */
		return false;
	if (strncmp(text, head, boot) != 0)
		return true;
	if (strlen(head) != n || strncmp(text, head, n) != 0)
		return false;
	if (start_time(pid, &now) < 0) /* /proc may hide others' processes */
		return kill((pid_t)pid, 0) < 0 && errno == ESRCH;
	return now != start;
}

int
proc_pid(const char *text)
{
	unsigned long long start;
	size_t n;
	long pid;

	return split(text, &n, &pid, &start) < 0 ? 0 : (int)pid;
}
