/* SPDX-License-Identifier: MIT */
/*
 * PID 1 of a session: starts the command in a group of its own, reaps,
 * passes signals on, kills what is left at the end, and ends the container
 * at a deadline of its own, whoever else is dead by then.  Static, knows
 * nothing of the image it runs in, writes nothing to stdout or stderr.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "carrier.h"
#include "guard.h"
#include "report.h"

/* Statuses of the container when it is not the command that ended it. */
enum {
	END_RELAY = 96,	   /* a relay could not listen */
	END_UNSAFE = 97,   /* the sandbox is weaker than promised */
	END_NOBODY = 98,   /* dockrun does not listen */
	END_DEADLINE = 99, /* our own time limit */
};

struct args {
	const char *report; /* path of dockrun's socket */
	const char *input;  /* file for descriptor 0, or NULL */
	long deadline_s;
	struct carrier carrier;
	char **command;
};

static const struct option longopts[] = {
	{ "deadline", required_argument, NULL, 'd' },
	{ "help", no_argument, NULL, 'h' },
	{ "relay", required_argument, NULL, 'n' },
	{ "report", required_argument, NULL, 'r' },
	{ "stdin", required_argument, NULL, 'i' },
	{ NULL, 0, NULL, 0 },
};

static _Noreturn void
usage(FILE *to, int status)
{
	(void)fputs("usage: fzinit --deadline SECONDS --report SOCKET "
		    "[--stdin FILE]\n"
		    "              [--relay ADDRESS:PORT=PATH ...] [--help] -- "
		    "COMMAND [ARGUMENT ...]\n",
	    to);
	exit(status);
}

static struct args
parse_args(int argc, char *argv[])
{
	struct args a = { 0 };
	char *end = NULL;
	int c;

	while (
	    (c = getopt_long(argc, argv, "+d:hi:n:r:", longopts, NULL)) != -1) {
		switch (c) {
		case 'd':
			a.deadline_s = strtol(optarg, &end, 10);
			if (*end != '\0')
				usage(stderr, EX_USAGE);
			break;
		case 'h':
			usage(stdout, EX_OK);
		case 'i':
			a.input = optarg;
			break;
		case 'n':
			if (!carrier_add(&a.carrier, optarg))
				usage(stderr, EX_USAGE);
			break;
		case 'r':
			a.report = optarg;
			break;
		default:
			usage(stderr, EX_USAGE);
		}
	}
	a.command = argv + optind;
	if (a.deadline_s <= 0 || a.report == NULL || optind == argc)
		usage(stderr, EX_USAGE);
	return a;
}

/*
 * The last word on the sandbox is had from inside: an engine may have been
 * told to drop its default filter, and no inspect shows it.  Returns the
 * name of what is missing, or NULL.
 */
static const char *
missing_wall(void)
{
	if (getuid() == 0 || geteuid() == 0 || getgid() == 0 || getegid() == 0)
		return "unsafe_root";
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return "unsafe_privileges";
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2 /* a filter */)
		return "unsafe_seccomp";
	for (unsigned long cap = 0; cap < 64; cap++)
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
			return "unsafe_capabilities";
	return NULL;
}

/* In the child: never returns.  A failure goes to the parent as errno. */
static _Noreturn void
become_command(const struct args *a, int status_fd)
{
	sigset_t none;
	int why, fd;

	(void)setpgid(0, 0);
	/* Our /proc files are root's until we are dumpable again. */
	(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!write(fd, "1000", 4); /* memory short: we go first */
		(void)close(fd);
	}
	if (a->input != NULL) {
		fd = open(a->input, O_RDONLY);
		if (fd > 0)
			(void)dup2(fd, STDIN_FILENO);
		if (fd > 0)
			(void)close(fd);
	}
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (a->input == NULL || fd >= 0)
		(void)execvp(a->command[0], a->command);
	why = errno;
	(void)!write(status_fd, &why, sizeof(why));
	_exit(why == ENOENT ? 127 : 126);
}

/* Returns the child's pid; reports a failed exec. */
static pid_t
start_command(const struct args *a, int rfd)
{
	int pipe_fd[2], why;
	pid_t pid;

	if (pipe2(pipe_fd, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0)
		become_command(a, pipe_fd[1]);
	(void)close(pipe_fd[1]);
	if (pid > 0)
		(void)setpgid(pid, pid); /* whoever is first */
	if (pid > 0 && read(pipe_fd[0], &why, sizeof(why)) == sizeof(why))
		report(rfd, "exec_errno", why);
	(void)close(pipe_fd[0]);
	return pid;
}

/* Reaps everything that has ended; true once the command is among it. */
static bool
reap(pid_t command, struct carrier *carrier, int *status)
{
	bool ended = false;
	int s;
	pid_t pid;

	while ((pid = waitpid(-1, &s, WNOHANG)) > 0) {
		carrier_ended(carrier, pid);
		if (pid == command) {
			*status = s;
			ended = true;
		}
	}
	return ended;
}

static int64_t
now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Waits for the command's end; false when the deadline came first. */
static bool
supervise(pid_t command, struct carrier *carrier, int64_t until_ns, int rfd,
    int *status)
{
	sigset_t all;
	siginfo_t si;

	(void)sigfillset(&all);
	for (;;) {
		int64_t now = now_ns();
		int64_t next = carrier_keep(carrier, now, rfd);
		int64_t left = (next < until_ns ? next : until_ns) - now;
		struct timespec t = { .tv_sec = left / 1000000000,
			.tv_nsec = left % 1000000000 };
		int sig;

		if (now >= until_ns)
			return false;
		sig = sigtimedwait(&all, &si, &t);
		if (sig == SIGCHLD && reap(command, carrier, status))
			return true;
		if (sig <= 0 || sig == SIGCHLD)
			continue;
		/* pid 0: from outside.  A real-time signal can be made to
		 * look so in here, by leaving no room for its sender. */
		if (si.si_code == SI_USER && si.si_pid == 0 && sig < SIGRTMIN)
			report(rfd, "outside_signal", sig);
		(void)kill(-command, sig);
	}
}

/* The end first: reading the usage takes memory, which may be short. */
static int
finish(int rfd, bool in_time, int status)
{
	int end;

	(void)kill(-1, SIGKILL); /* our own end would do it too */
	if (!in_time) {
		report(rfd, "deadline", 1);
		end = END_DEADLINE;
	} else if (WIFSIGNALED(status)) {
		report(rfd, "signal", WTERMSIG(status));
		end = 128 + WTERMSIG(status);
	} else {
		end = WEXITSTATUS(status);
		report(rfd, "exit", end);
	}
	report_usage(rfd);
	return end;
}

int
main(int argc, char *argv[])
{
	struct args a = parse_args(argc, argv);
	int64_t until = now_ns() + (int64_t)a.deadline_s * 1000000000;
	const char *wall;
	sigset_t all;
	int rfd, status = 0;
	pid_t command;
	bool in_time;

	/* Signals are data from here on, and nobody may look into us. */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	rfd = report_connect(a.report);
	if (rfd < 0)
		return END_NOBODY;
	wall = missing_wall();
	if (wall == NULL && guard_limits() < 0)
		wall = "unsafe_limits";
	if (wall != NULL) {
		report(rfd, wall, 1);
		return END_UNSAFE;
	}
	if (carrier_open(&a.carrier) < 0) {
		report(rfd, "relay_errno", errno);
		return END_RELAY;
	}
	report(rfd, "ready", 1);
	/* Before the command can take every process there may be. */
	(void)carrier_keep(&a.carrier, now_ns(), rfd);
	command = start_command(&a, rfd);
	if (command < 0)
		return END_NOBODY;
	in_time = supervise(command, &a.carrier, until, rfd, &status);
	return finish(rfd, in_time, status);
}
