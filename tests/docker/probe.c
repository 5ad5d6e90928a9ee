/* SPDX-License-Identifier: MIT */
/*
 * What the tests run inside a session: "probe STEP [WORD ...] , STEP ...".
 * A step acts, looks or attacks, and prints what came of it; errors by name.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <net/if.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIECE 65536

static bool do_step(int n, char **w);

static const char *
name_of(long rc)
{
	return rc < 0 ? strerrorname_np(errno) : "ok";
}

static long
number(const char *s)
{
	return strtol(s, NULL, 10);
}

static void
nap(double seconds)
{
	struct timespec t = { .tv_sec = (time_t)seconds };

	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	(void)nanosleep(&t, NULL);
}

static double
now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Output. */

static void
step_out(char **w)
{
	(void)printf("%s\n", w[0]);
}

static void
step_err(char **w)
{
	(void)dprintf(2, "%s\n", w[0]);
}

static void
step_put(char **w) /* FD TEXT, without a newline */
{
	(void)!write((int)number(w[0]), w[1], strlen(w[1]));
}

static void
step_fill(char **w) /* FD BYTES BYTE */
{
	static char piece[PIECE];
	long left = number(w[1]);

	memset(piece, (int)number(w[2]), sizeof(piece));
	while (left > 0) {
		size_t n = left < PIECE ? (size_t)left : PIECE;
		ssize_t rc = write((int)number(w[0]), piece, n);

		if (rc <= 0)
			exit(98);
		left -= rc;
	}
}

static void
step_weave(char **w) /* COUNT lines to each stream, turn by turn */
{
	for (long i = 1; i <= number(w[0]); i++) {
		(void)dprintf(1, "o%ld\n", i);
		(void)dprintf(2, "e%ld\n", i);
	}
}

/* Looking. */

static void
step_cat(char **w)
{
	int fd = strcmp(w[0], "-") == 0 ? 0 : open(w[0], O_RDONLY | O_NONBLOCK);
	char piece[4096];
	ssize_t n = 0;

	while (fd >= 0 && (n = read(fd, piece, sizeof(piece))) > 0)
		(void)!write(1, piece, (size_t)n);
	if (fd < 0 || n < 0)
		(void)printf("cat %s: %s\n", w[0], name_of(-1));
}

static void
step_ls(char **w)
{
	struct dirent **list = NULL;
	int n = scandir(w[0], &list, NULL, alphasort);

	(void)printf("ls %s:", w[0]);
	for (int i = 0; i < n; i++)
		if (list[i]->d_name[0] != '.' || list[i]->d_name[1] > '.')
			(void)printf(" %s", list[i]->d_name);
	(void)printf("%s\n", n < 0 ? name_of(-1) : "");
}

static void
step_lines(char **w) /* FILE TEXT: lines that begin so */
{
	FILE *f = fopen(w[0], "re");
	char line[4096];

	if (f == NULL)
		(void)printf("%s: %s\n", w[0], name_of(-1));
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, w[1], strlen(w[1])) == 0)
			(void)fputs(line, stdout);
}

static void
step_mount(char **w) /* PATH: its options and those of its file system */
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[4096], at[1024], opt[1024], super[1024], type[64];

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		const char *dash = strstr(line, " - ");

		if (dash == NULL ||
		    sscanf(line, "%*s %*s %*s %*s %1023s %1023s", at, opt) !=
			2 ||
		    sscanf(dash, " - %63s %*s %1023s", type, super) != 2)
			continue;
		if (strcmp(at, w[0]) == 0)
			(void)printf(
			    "mount %s: %s %s %s\n", at, type, opt, super);
	}
}

static int
say_writable(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)kind;
	(void)at;
	if (strcmp(path, "/proc") == 0)
		return FTW_SKIP_SUBTREE;
	if ((S_ISDIR(st->st_mode) || S_ISREG(st->st_mode)) &&
	    access(path, W_OK) == 0)
		(void)printf(" %s", path);
	return FTW_CONTINUE;
}

static void
step_writable(char **w) /* all directories and files that are */
{
	(void)w;
	(void)printf("writable:");
	(void)nftw("/", say_writable, 20, FTW_PHYS | FTW_ACTIONRETVAL);
	(void)printf("\n");
}

static void
step_ids(char **w)
{
	uid_t u[3];
	gid_t g[3];

	(void)w;
	(void)getresuid(&u[0], &u[1], &u[2]);
	(void)getresgid(&g[0], &g[1], &g[2]);
	(void)printf("ids: %u %u %u %u %u %u groups %d pid %d parent %d "
		     "group %s\n",
	    u[0], u[1], u[2], g[0], g[1], g[2], getgroups(0, NULL), getpid(),
	    getppid(), getpgrp() == getpid() ? "own" : "shared");
}

static void
step_env(char **w)
{
	const char *v = getenv(w[0]);

	(void)printf("env %s=%s\n", w[0], v != NULL ? v : "(none)");
}

static void
step_cwd(char **w)
{
	char path[1024];

	(void)w;
	(void)printf("cwd: %s\n", getcwd(path, sizeof(path)));
}

static void
step_net(char **w)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(53) };
	struct if_nameindex *list = if_nameindex();
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	(void)w;
	(void)printf("interfaces:");
	for (struct if_nameindex *i = list; i != NULL && i->if_index != 0; i++)
		(void)printf(" %s", i->if_name);
	(void)inet_pton(AF_INET, "192.0.2.1", &a.sin_addr);
	(void)printf("\nelsewhere: %s\n",
	    name_of(connect(fd, (struct sockaddr *)&a, sizeof(a))));
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
	(void)printf("raw socket: %s\n", name_of(fd));
}

static void
step_limit(char **w)
{
	int which = strcmp(w[0], "core") == 0 ? RLIMIT_CORE : RLIMIT_NOFILE;
	struct rlimit l;

	(void)getrlimit((__rlimit_resource_t)which, &l);
	(void)printf("limit %s: %lu %lu\n", w[0], (unsigned long)l.rlim_cur,
	    (unsigned long)l.rlim_max);
}

/* Acting. */

static void
step_write(char **w)
{
	int fd = open(w[0], O_WRONLY | O_CREAT | O_APPEND, 0644);

	(void)printf(
	    "write %s: %s\n", w[0], name_of(fd < 0 ? -1 : write(fd, "x", 1)));
}

static void
step_create(char **w)
{
	int fd = open(w[0], O_WRONLY | O_CREAT | O_EXCL, 0644);

	(void)printf("create %s: %s\n", w[0], name_of(fd));
}

static void
step_remove(char **w)
{
	int rc = remove(w[0]);

	(void)printf("remove %s: %s\n", w[0], name_of(rc));
}

static void
step_move(char **w)
{
	int rc = rename(w[0], w[1]);

	(void)printf("move %s: %s\n", w[0], name_of(rc));
}

static void
step_chmod(char **w) /* FILE OCTAL */
{
	int rc = chmod(w[0], (mode_t)strtol(w[1], NULL, 8));

	(void)printf("chmod %s: %s\n", w[0], name_of(rc));
}

static void
step_copy(char **w) /* PATH: of this program */
{
	int from = open("/proc/self/exe", O_RDONLY);
	int to = open(w[0], O_WRONLY | O_CREAT, 0755);
	char piece[4096];
	ssize_t n;

	while ((n = read(from, piece, sizeof(piece))) > 0)
		(void)!write(to, piece, (size_t)n);
	(void)close(to);
}

static void
step_exec(char **w) /* PATH, as "PATH exit 0" */
{
	char *args[] = { w[0], (char[]){ "exit" }, (char[]){ "0" }, NULL };
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		(void)execv(w[0], args);
		_exit(errno);
	}
	(void)waitpid(pid, &status, 0);
	errno = WEXITSTATUS(status);
	(void)printf("exec %s: %s\n", w[0], name_of(errno != 0 ? -1 : 0));
}

static void
step_files(char **w) /* DIR: how many fit */
{
	char path[256];
	long n = 0;
	int fd;

	for (;; n++) {
		(void)snprintf(path, sizeof(path), "%s/f%ld", w[0], n);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
		if (fd < 0 || n == 100000)
			break;
		(void)close(fd);
	}
	(void)printf("files %s: %ld %s\n", w[0], n, name_of(fd));
}

static void
step_bytes(char **w) /* FILE: how many KiB fit, up to 1 GiB */
{
	static char piece[PIECE];
	int fd = open(w[0], O_WRONLY | O_CREAT, 0644);
	long n = 0;
	ssize_t rc = 1;

	while (n < 1 << 20 && (rc = write(fd, piece, sizeof(piece))) > 0)
		n += rc / 1024;
	(void)printf("bytes %s: %ld KiB %s\n", w[0], n, name_of(rc));
	(void)unlink(w[0]);
}

static void
step_eat(char **w) /* MIB of memory */
{
	size_t n = (size_t)number(w[0]) << 20;
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		(void)printf("eat: %s\n", name_of(-1));
		return;
	}
	for (size_t i = 0; i < n; i += 4096)
		p[i] = 1;
	(void)printf("eaten: %s MiB\n", w[0]);
}

static void
step_shm(char **w) /* MIB of memory that outlives its process */
{
	size_t n = (size_t)number(w[0]) << 20;
	int id = shmget(IPC_PRIVATE, n, 0600);
	char *p = shmat(id, NULL, 0);

	for (size_t i = 0; id >= 0 && i < n; i += 4096)
		p[i] = 1;
	(void)printf("shm: %s\n", name_of(id));
}

static void
step_forks(char **w)
{
	long n = 0;
	pid_t pid;

	(void)w;
	while ((pid = fork()) > 0 && n < 5000)
		n++;
	if (pid == 0) {
		(void)pause();
		_exit(0);
	}
	(void)printf("forks: %ld %s\n", n, name_of(pid));
}

static void
step_burn(char **w) /* CHILDREN SECONDS */
{
	double end = now() + strtod(w[1], NULL);

	for (long i = 0; i < number(w[0]); i++) {
		if (fork() != 0)
			continue;
		while (now() < end)
			;
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
}

/* Processes whose parent is PID 1 and that nobody has waited for. */
static int
count_zombies(void)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int n = 0;

	while (d != NULL && (e = readdir(d)) != NULL) {
		char path[300], line[512];
		const char *end = NULL;
		FILE *f;

		(void)snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		f = fopen(path, "re");
		if (f != NULL && fgets(line, sizeof(line), f) != NULL)
			end = strrchr(line, ')');
		n += end != NULL && strncmp(end, ") Z 1 ", 6) == 0;
		if (f != NULL)
			(void)fclose(f);
	}
	if (d != NULL)
		(void)closedir(d);
	return n;
}

static void
step_orphans(char **w) /* COUNT: ended at once, left to PID 1 */
{
	for (long i = 0; i < number(w[0]); i++) {
		pid_t pid = fork();

		if (pid == 0) {
			if (fork() == 0)
				nap(0.02);
			_exit(0);
		}
		(void)waitpid(pid, NULL, 0);
	}
	nap(0.1);
	for (int i = 0; i < 50 && count_zombies() > 0; i++)
		nap(0.1);
	(void)printf("zombies: %d\n", count_zombies());
}

static void
step_sleep(char **w)
{
	nap(strtod(w[0], NULL));
}

static void
step_await(char **w) /* FILE */
{
	while (access(w[0], F_OK) < 0)
		nap(0.05);
}

static void
step_pause(char **w)
{
	(void)w;
	for (;;)
		(void)pause();
}

static void
step_beat(char **w) /* FILE: grows as long as we live */
{
	int fd = open(w[0], O_WRONLY | O_CREAT | O_APPEND, 0644);

	for (;;) {
		(void)!write(fd, ".", 1);
		nap(0.05);
	}
}

static void
step_ignore(char **w)
{
	(void)signal((int)number(w[0]), SIG_IGN);
}

static void
on_trap(int sig)
{
	_exit(40 + sig);
}

static void
step_trap(char **w) /* SIGNAL: exit with 40 + its number */
{
	(void)signal((int)number(w[0]), on_trap);
}

static void
step_raise(char **w)
{
	(void)raise((int)number(w[0]));
}

static void
step_exit(char **w)
{
	(void)fflush(stdout);
	_exit((int)number(w[0]));
}

/* Attacks on PID 1. */

static void
say_open(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK);

	if (fd < 0)
		fd = open(path, O_RDONLY | O_NONBLOCK);
	(void)printf("open %s: %s\n", path, name_of(fd));
}

static void
step_pry(char **w)
{
	char byte, link[64];
	struct iovec to = { &byte, 1 };
	struct iovec from = { (void *)0x400000, 1 };
	int fd = (int)syscall(SYS_pidfd_open, 1, 0);

	(void)w;
	say_open("/proc/1/environ");
	say_open("/proc/1/mem");
	say_open("/proc/1/maps");
	(void)printf("list /proc/1/fd: %s\n",
	    opendir("/proc/1/fd") == NULL ? name_of(-1) : "ok");
	(void)printf("readlink /proc/1/exe: %s\n",
	    name_of(readlink("/proc/1/exe", link, sizeof(link))));
	(void)printf("attach: %s\n", name_of(ptrace(PTRACE_ATTACH, 1, 0, 0)));
	(void)printf("seize: %s\n", name_of(ptrace(PTRACE_SEIZE, 1, 0, 0)));
	(void)printf("read memory: %s\n",
	    name_of(process_vm_readv(1, &to, 1, &from, 1, 0)));
	(void)printf("take descriptor: %s\n",
	    name_of(syscall(SYS_pidfd_getfd, fd, 3, 0)));
}

/* Signals go through and have no effect. */
static void
step_kill1(char **w)
{
	(void)w;
	(void)kill(1, SIGSTOP);
	(void)kill(1, SIGKILL);
	(void)kill(1, SIGCHLD);
	nap(0.2);
}

/* A signal the kernel has no room to describe looks like one from outside. */
static void
step_forge(char **w)
{
	struct rlimit none = { 0, 0 };
	sigset_t first;
	long n = 0;

	(void)w;
	(void)sigemptyset(&first);
	(void)sigaddset(&first, SIGRTMIN);
	(void)sigprocmask(SIG_BLOCK, &first, NULL);
	for (int sig = SIGRTMIN + 1; sig <= SIGRTMAX; sig++)
		(void)signal(sig, SIG_IGN);
	(void)printf("no room: %s\n",
	    name_of(prlimit(1, RLIMIT_SIGPENDING, &none, NULL)));
	while (n < 1 << 22 &&
	    sigqueue(getpid(), SIGRTMIN, (union sigval){ 0 }) == 0)
		n++;
	(void)printf("full: %s\n", name_of(n < 1 << 22 ? -1 : 0));
	for (int sig = SIGRTMIN + 1; sig <= SIGRTMAX; sig++)
		(void)kill(1, sig);
	nap(0.2);
}

/* A process that may use one second of CPU, and is kept busy. */
static void
step_strangle(char **w)
{
	struct rlimit one = { 1, 1 };
	double end = now() + strtod(w[0], NULL);

	(void)signal(SIGUSR1, SIG_IGN);
	(void)printf("one second left: %s\n",
	    name_of(prlimit(1, RLIMIT_CPU, &one, NULL)));
	while (now() < end)
		(void)kill(1, SIGUSR1);
}

static int
call_home(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

static void
step_lie(char **w) /* to dockrun, on a connection of our own */
{
	static const char lies[] =
	    "exit 0\nsignal 5\nexec_errno 2\ndeadline 1\noutside_signal 9\n"
	    "unsafe_root 1\npeak_memory_bytes 1\ncpu_ms 777777\n";
	int fd = -1;

	(void)w;
	for (int i = 0; i < 2000; i++) {
		fd = call_home("/.fuzzmill/report/s");
		if (fd >= 0)
			(void)send(fd, lies, sizeof(lies) - 1, MSG_NOSIGNAL);
		if (i % 100 == 0)
			nap(0.01);
	}
	(void)printf("connect: %s\n", name_of(fd));
}

/* Everything a host-side reader could trip over, in the workspace. */
static void
step_mess(char **w) /* HOST-FILE */
{
	static const char forged[] =
	    "{\"_schema\":\"fz-result/1\",\"run\":\"000\",\"attempt\":1,"
	    "\"outcome\":\"success\",\"reason_code\":\"done\"}\n";
	static const char *const files[] = { "SUCCESS", "result.json",
		"container.json", "run.json", "-rf", "a\nb",
		"\033[2J\033]0;x\a", "\xff\xfe" };

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		int fd = open(files[i], O_WRONLY | O_CREAT, 0644);

		(void)!write(fd, forged, sizeof(forged) - 1);
		(void)close(fd);
	}
	(void)mkfifo("ERROR", 0666);
	(void)symlink(w[0], "TIMEOUT");
	(void)symlink(w[0], "agent.out");
	(void)symlink("/", "root");
	step_copy((char *[]){ (char[]){ "suid" } });
	(void)chmod("suid", 06755);
	for (int i = 0; i < 2000; i++)
		if (mkdir("d", 0700) < 0 || chdir("d") < 0)
			exit(97);
	(void)!chdir("/workspace/fuzz");
}

static void
step_link(char **w) /* TO NAME */
{
	(void)printf("link %s: %s\n", w[1], name_of(symlink(w[0], w[1])));
}

static void
step_fifo(char **w)
{
	(void)printf("fifo %s: %s\n", w[0], name_of(mkfifo(w[0], 0666)));
}

/* Steps that take another step. */

static void
step_child(char **w)
{
	pid_t pid = fork();
	int n = 0, status = 0;

	while (w[n] != NULL)
		n++;
	if (pid == 0) {
		(void)do_step(n, w);
		(void)fflush(stdout);
		_exit(0);
	}
	(void)waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		(void)printf("child: signal %d\n", WTERMSIG(status));
	else
		(void)printf("child: exit %d\n", WEXITSTATUS(status));
}

static void
step_daemon(char **w)
{
	pid_t pid = fork();
	int n = 0;

	while (w[n] != NULL)
		n++;
	if (pid == 0) {
		(void)setsid();
		if (fork() == 0)
			(void)do_step(n, w);
		_exit(0);
	}
	(void)waitpid(pid, NULL, 0);
}

static const struct step {
	const char *name;
	void (*run)(char **words);
	int words;
} steps[] = {
	{ "await", step_await, 1 },
	{ "beat", step_beat, 1 },
	{ "burn", step_burn, 2 },
	{ "bytes", step_bytes, 1 },
	{ "cat", step_cat, 1 },
	{ "child", step_child, 1 },
	{ "chmod", step_chmod, 2 },
	{ "copy", step_copy, 1 },
	{ "create", step_create, 1 },
	{ "cwd", step_cwd, 0 },
	{ "daemon", step_daemon, 1 },
	{ "eat", step_eat, 1 },
	{ "env", step_env, 1 },
	{ "err", step_err, 1 },
	{ "exec", step_exec, 1 },
	{ "exit", step_exit, 1 },
	{ "fifo", step_fifo, 1 },
	{ "files", step_files, 1 },
	{ "fill", step_fill, 3 },
	{ "forge", step_forge, 0 },
	{ "forks", step_forks, 0 },
	{ "ids", step_ids, 0 },
	{ "ignore", step_ignore, 1 },
	{ "kill1", step_kill1, 0 },
	{ "lie", step_lie, 0 },
	{ "limit", step_limit, 1 },
	{ "lines", step_lines, 2 },
	{ "link", step_link, 2 },
	{ "ls", step_ls, 1 },
	{ "mess", step_mess, 1 },
	{ "mount", step_mount, 1 },
	{ "move", step_move, 2 },
	{ "net", step_net, 0 },
	{ "orphans", step_orphans, 1 },
	{ "out", step_out, 1 },
	{ "pause", step_pause, 0 },
	{ "pry", step_pry, 0 },
	{ "put", step_put, 2 },
	{ "raise", step_raise, 1 },
	{ "remove", step_remove, 1 },
	{ "shm", step_shm, 1 },
	{ "sleep", step_sleep, 1 },
	{ "strangle", step_strangle, 1 },
	{ "trap", step_trap, 1 },
	{ "weave", step_weave, 1 },
	{ "writable", step_writable, 0 },
	{ "write", step_write, 1 },
};

static bool
do_step(int n, char **w)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		if (strcmp(w[0], steps[i].name) != 0 || n <= steps[i].words)
			continue;
		steps[i].run(w + 1);
		return true;
	}
	(void)dprintf(2, "probe: no step \"%s\" with %d words\n", w[0], n - 1);
	return false;
}

int
main(int argc, char *argv[])
{
	int from = 1;

	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i <= argc; i++) {
		if (i < argc && strcmp(argv[i], ",") != 0)
			continue;
		argv[i] = NULL;
		if (i > from && !do_step(i - from, argv + from))
			return 99;
		from = i + 1;
	}
	return 0;
}
