/* SPDX-License-Identifier: MIT */
/* The directories a container sees, made before it and removed after. */
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "inside.h"
#include "prepare.h"
#include "relays.h"

static int
make_dir(int dfd, const char *name, mode_t mode)
{
	if (mkdirat(dfd, name, mode) < 0)
		return -1;
	return fchmodat(dfd, name, mode, 0); /* whatever the umask */
}

static int
make_empty(int dfd, const char *name)
{
	int fd = openat(dfd, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);

	if (fd < 0)
		return -1;
	(void)fchmod(fd, 0444);
	return close(fd);
}

static int
open_dir(int dfd, const char *name)
{
	return openat(
	    dfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int
scratch_make(
    int dfd, uint32_t uid, uint32_t gid, struct inside *in, struct err *e)
{
	AUTO(close_p) int scratch = -1;
	AUTO(close_p) int report = -1;

	/* The run directory itself is closed to others, so these may be open:
	 * the session's uid must get in from the other side. */
	if (make_dir(dfd, "workspace", 0700) < 0 ||
	    (geteuid() == 0 &&
		fchownat(dfd, "workspace", uid, gid, AT_SYMLINK_NOFOLLOW) < 0))
		return err_sys(e, EX_CANTCREAT, "workspace");
	if (make_dir(dfd, SCRATCH, 0755) < 0)
		return err_sys(e, EX_CANTCREAT, SCRATCH);
	scratch = open_dir(dfd, SCRATCH);
	if (scratch < 0 || make_dir(scratch, "void", 0555) < 0 ||
	    make_empty(scratch, "empty") < 0 ||
	    make_dir(scratch, "report", 0755) < 0)
		return err_sys(e, EX_CANTCREAT, SCRATCH);
	report = open_dir(scratch, "report");
	if (report < 0)
		return err_sys(e, EX_CANTCREAT, SCRATCH);
	return inside_listen(in, report, e);
}

int
scratch_listen(int dfd, struct relays *r, size_t n, struct err *e)
{
	AUTO(close_p) int scratch = open_dir(dfd, SCRATCH);
	AUTO(close_p) int net = -1;

	if (scratch < 0 || make_dir(scratch, "net", 0755) < 0)
		return err_sys(e, EX_CANTCREAT, SCRATCH "/net");
	net = open_dir(scratch, "net");
	if (net < 0)
		return err_sys(e, EX_CANTCREAT, SCRATCH "/net");
	return relays_listen(r, net, n, e);
}

/* The sockets of a dead dockrun may be more than ours would be. */
static void
remove_net(int scratch)
{
	AUTO(close_p) int net = open_dir(scratch, "net");

	if (net < 0)
		return;
	relays_unlink(net);
	(void)unlinkat(scratch, "net", AT_REMOVEDIR);
}

void
scratch_remove(int dfd)
{
	AUTO(close_p) int scratch = open_dir(dfd, SCRATCH);
	int saved = errno;

	(void)fchmodat(dfd, "workspace", 0700, 0);
	if (scratch < 0)
		return;
	remove_net(scratch);
	(void)unlinkat(scratch, "report/s", 0);
	(void)unlinkat(scratch, "report", AT_REMOVEDIR);
	(void)unlinkat(scratch, "void", AT_REMOVEDIR);
	(void)unlinkat(scratch, "empty", 0);
	(void)unlinkat(dfd, SCRATCH, AT_REMOVEDIR);
	errno = saved;
}
