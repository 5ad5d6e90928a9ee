/* SPDX-License-Identifier: MIT */
/* demo-agent - a stand-in for an AI agent: runs random programs, no model. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "gen.h"

enum {
	PROGRAM_LIMIT_S = 2,
	EXEC_FAILED = 127,
	FAIL_STATUS = 3,
	KEPT_MAX = 9999,
};

/* Far apart, so that the sessions of neighbouring seeds do not meet. */
#define RUN_STRIDE UINT64_C(1000003)

struct args {
	uint64_t seed;
	uint64_t programs;
	const char *target;
	uint64_t run;  /* this session's number, or 0 */
	uint64_t hang; /* session that hangs, or 0 */
	uint64_t fail; /* session that fails, or 0 */
};

struct session {
	const char *target;
	struct gen gen;
	sigset_t child; /* SIGCHLD, blocked, to wait for it with a limit */
	bool seen[NSIG];
	unsigned exited;
	unsigned refused;
	unsigned killed;
	unsigned late;
	unsigned findings;
};

static const char usage_text[] =
    "usage: demo-agent [options]\n"
    "\n"
    "Runs random programs on an interpreter and keeps those that kill it.\n"
    "Uses no model.\n"
    "\n"
    "  --seed N       start of the random numbers (1); the number in the\n"
    "                 environment variable FUZZMILL_RUN is worked into it\n"
    "  --programs N   how many programs to run (1500)\n"
    "  --target PATH  the interpreter (/quest/calc)\n"
    "  --hang RUN     hang on purpose when FUZZMILL_RUN is RUN\n"
    "  --fail RUN     exit 3 on purpose when FUZZMILL_RUN is RUN\n"
    "  --help         show this text\n";

static const struct option longopts[] = {
	{ "fail", required_argument, NULL, 'f' },
	{ "hang", required_argument, NULL, 'g' },
	{ "help", no_argument, NULL, 'h' },
	{ "programs", required_argument, NULL, 'p' },
	{ "seed", required_argument, NULL, 's' },
	{ "target", required_argument, NULL, 't' },
	{ NULL, 0, NULL, 0 },
};

static _Noreturn void
usage(FILE *out, int status)
{
	(void)fputs(usage_text, out);
	exit(status);
}

static _Noreturn void
die(int status, const char *what)
{
	(void)fprintf(stderr, "demo-agent: %s\n", what);
	exit(status);
}

static _Noreturn void
die_sys(int status, const char *what)
{
	(void)fprintf(stderr, "demo-agent: %s: %s\n", what, strerror(errno));
	exit(status);
}

static uint64_t
parse_number(const char *name, const char *text, uint64_t max)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (text[strspn(text, "0123456789")] != '\0' || end == text ||
	    errno != 0 || v > max) {
		(void)fprintf(stderr,
		    "demo-agent: %s: \"%s\" is not a number up to %llu\n", name,
		    text, (unsigned long long)max);
		exit(EX_USAGE);
	}
	return v;
}

static struct args
parse_args(int argc, char *argv[])
{
	struct args a = {
		.seed = 1, .programs = 1500, .target = "/quest/calc"
	};
	const char *run = getenv("FUZZMILL_RUN");
	int c;

	while ((c = getopt_long(argc, argv, "+", longopts, NULL)) != -1) {
		switch (c) {
		case 'f':
			a.fail = parse_number("--fail", optarg, UINT32_MAX);
			break;
		case 'g':
			a.hang = parse_number("--hang", optarg, UINT32_MAX);
			break;
		case 'h':
			usage(stdout, EX_OK);
		case 'p':
			a.programs =
			    parse_number("--programs", optarg, 1000000);
			break;
		case 's':
			a.seed = parse_number("--seed", optarg, UINT64_MAX);
			break;
		case 't':
			a.target = optarg;
			break;
		default: /* getopt_long has already said why */
			usage(stderr, EX_USAGE);
		}
	}
	if (optind != argc)
		usage(stderr, EX_USAGE);
	if (run != NULL && run[0] != '\0')
		a.run = parse_number("FUZZMILL_RUN", run, UINT32_MAX);
	return a;
}

static int
write_program(const struct gen *g, const char *name, int flags)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
	size_t done = 0;

	if (fd < 0)
		return -1;
	while (done < g->len) {
		ssize_t n = write(fd, g->text + done, g->len - done);

		if (n < 0) {
			(void)close(fd);
			return -1;
		}
		done += (size_t)n;
	}
	return close(fd);
}

static _Noreturn void
exec_target(const struct session *s)
{
	char program[] = "program.q";
	char *const argv[] = { strdup(s->target), program, NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (argv[0] != NULL && null >= 0 && dup2(null, 0) >= 0 &&
	    dup2(null, 1) >= 0 && dup2(null, 2) >= 0 &&
	    sigprocmask(SIG_UNBLOCK, &s->child, NULL) == 0)
		(void)execv(argv[0], argv);
	_exit(EXEC_FAILED);
}

/* Waits for pid; true when it had to be killed at the time limit. */
static bool
wait_limited(const struct session *s, pid_t pid, int *status)
{
	const struct timespec limit = { .tv_sec = PROGRAM_LIMIT_S };
	pid_t got;

	while ((got = waitpid(pid, status, WNOHANG)) == 0) {
		if (sigtimedwait(&s->child, NULL, &limit) >= 0 ||
		    errno == EINTR)
			continue;
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, status, 0);
		return true;
	}
	if (got < 0)
		die_sys(EX_OSERR, "waitpid");
	return false;
}

static void
json_string(FILE *out, const char *s)
{
	(void)putc('"', out);
	for (; *s != '\0'; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			(void)fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			(void)fprintf(out, "\\u%04x", c);
		else
			(void)putc(c, out);
	}
	(void)putc('"', out);
}

static void
signal_name(int sig, char *buf, size_t size)
{
	const char *abbrev = sigabbrev_np(sig);

	(void)snprintf(buf, size, "SIG%s", abbrev != NULL ? abbrev : "?");
}

static void
append_finding(const struct session *s, const char *repro, int sig)
{
	FILE *out = fopen("findings.jsonl", "ae");
	char name[32];

	if (out == NULL)
		die_sys(EX_CANTCREAT, "findings.jsonl");
	signal_name(sig, name, sizeof(name));
	(void)fprintf(out,
	    "{\"kind\":\"crash\",\"title\":\"interpreter dies by %s\","
	    "\"repro\":\"%s\",\"command\":[",
	    name, repro);
	json_string(out, s->target);
	(void)fprintf(out,
	    ",\"{repro}\"],\"expected\":\"exit 0 or 1\","
	    "\"actual\":\"signal %d (%s)\"}\n",
	    sig, name);
	if (fclose(out) != 0)
		die_sys(EX_IOERR, "findings.jsonl");
}

/* What an earlier session left in this directory is not overwritten. */
static void
keep_program(const struct session *s, char *name, size_t size)
{
	int rc = -1;

	for (unsigned n = s->findings; rc < 0 && n <= KEPT_MAX; n++) {
		(void)snprintf(name, size, "program-%u.q", n);
		rc = write_program(&s->gen, name, O_EXCL);
		if (rc < 0 && errno != EEXIST)
			break;
	}
	if (rc < 0)
		die_sys(EX_CANTCREAT, name);
}

static void
record_crash(struct session *s, int sig, uint64_t nth)
{
	char repro[32];
	char name[32];

	s->killed++;
	if (s->seen[sig])
		return;
	s->seen[sig] = true;
	s->findings++;
	keep_program(s, repro, sizeof(repro));
	append_finding(s, repro, sig);
	signal_name(sig, name, sizeof(name));
	(void)printf("finding %u: program %llu dies by signal %d (%s), kept as "
		     "%s\n",
	    s->findings, (unsigned long long)nth, sig, name, repro);
}

static void
try_program(struct session *s, uint64_t nth)
{
	int status = 0;
	pid_t pid;

	if (write_program(&s->gen, "program.q", O_TRUNC) < 0)
		die_sys(EX_CANTCREAT, "program.q");
	pid = fork();
	if (pid < 0)
		die_sys(EX_OSERR, "fork");
	if (pid == 0)
		exec_target(s);
	if (wait_limited(s, pid, &status))
		s->late++;
	else if (WIFSIGNALED(status))
		record_crash(s, WTERMSIG(status), nth);
	else if (WEXITSTATUS(status) == EXEC_FAILED)
		die(EX_OSERR, "cannot start the interpreter");
	else if (WEXITSTATUS(status) == 0)
		s->exited++;
	else
		s->refused++;
}

static void
misbehave(const struct args *a)
{
	if (a->run == 0)
		return;
	if (a->run == a->fail) {
		(void)fputs("demo-agent: fails now, on purpose\n", stderr);
		exit(FAIL_STATUS);
	}
	if (a->run == a->hang) {
		(void)puts("hangs now, on purpose");
		for (;;)
			(void)pause();
	}
}

static void
fuzz(const struct args *a, uint64_t seed)
{
	static struct session s;

	s.target = a->target;
	gen_init(&s.gen, seed);
	(void)signal(SIGCHLD, SIG_DFL); /* ignored, there is no status */
	(void)sigemptyset(&s.child);
	(void)sigaddset(&s.child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &s.child, NULL);
	for (uint64_t nth = 1; nth <= a->programs; nth++) {
		gen_next(&s.gen);
		try_program(&s, nth);
	}
	(void)printf("%llu programs: %u ran, %u refused, %u killed, %u over "
		     "time; findings: %u\n",
	    (unsigned long long)a->programs, s.exited, s.refused, s.killed,
	    s.late, s.findings);
}

int
main(int argc, char *argv[])
{
	struct args a = parse_args(argc, argv);
	uint64_t seed = a.seed + a.run * RUN_STRIDE;

	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	(void)printf("seed %llu\n", (unsigned long long)seed);
	(void)puts("random programs from this seed; no model is used");
	misbehave(&a);
	if (access(a.target, X_OK) < 0)
		die_sys(EX_NOINPUT, a.target);
	fuzz(&a, seed);
	if (fflush(stdout) != 0 || ferror(stdout) != 0)
		die_sys(EX_IOERR, "write");
	return EX_OK;
}
