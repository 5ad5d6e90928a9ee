/* SPDX-License-Identifier: MIT */
/*
 * Runs a command and prints what it and all it waited for have cost: wall
 * and CPU time in ms, and the largest resident set in KiB.
 *
 * usage: measure FILE COMMAND [ARGUMENT ...]
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

static double
now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double
ms_of(struct timeval t)
{
	return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

/* The command's own wait status, or -1. */
static int
run(char *argv[])
{
	pid_t pid = vfork(); /* NOLINT: exec or _exit follows at once */
	int status;

	if (pid == 0) {
		(void)execvp(argv[0], argv);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

/* To a file, so that the command's own words do not get in between. */
static int
report(const char *path, double wall_ms, const struct rusage *ru)
{
	FILE *f = fopen(path, "we");

	if (f == NULL)
		return -1;
	(void)fprintf(f, "%.3f %.3f %ld\n", wall_ms,
	    ms_of(ru->ru_utime) + ms_of(ru->ru_stime), ru->ru_maxrss);
	return fclose(f);
}

int
main(int argc, char *argv[])
{
	struct rusage ru;
	double began;
	int status;

	if (argc < 3) {
		(void)fputs("usage: measure FILE COMMAND ...\n", stderr);
		return EX_USAGE;
	}
	began = now_ms();
	status = run(argv + 2);
	if (status == -1 || getrusage(RUSAGE_CHILDREN, &ru) < 0 ||
	    report(argv[1], now_ms() - began, &ru) != 0) {
		perror("measure");
		return EX_OSERR;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : EX_SOFTWARE;
}
