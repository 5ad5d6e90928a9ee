/* SPDX-License-Identifier: MIT */
/* Files that are complete or absent, and reading from hostile directories. */
#include "atfile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sysexits.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"

int
write_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int
publish(int dfd, const char *tmp, const char *name, enum at_how how)
{
	if (how == AT_REPLACE)
		return renameat(dfd, tmp, dfd, name);
	if (linkat(dfd, tmp, dfd, name, 0) < 0)
		return -1;
	return unlinkat(dfd, tmp, 0);
}

int
at_write(int dfd, const char *name, const void *buf, size_t len,
    enum at_how how, struct err *e)
{
	AUTO(close_p) int fd = -1;
	unsigned long long salt;
	char tmp[32];

	if (strchr(name, '/') != NULL || name[0] == '\0' || name[0] == '.')
		return err_set(e, EX_USAGE, "bad file name \"%s\"", name);
	if (getrandom(&salt, sizeof(salt), 0) != (ssize_t)sizeof(salt))
		return err_sys(e, EX_OSERR, "getrandom");
	(void)snprintf(tmp, sizeof(tmp), ".new.%016llx", salt);

	fd = openat(dfd, tmp,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_sys(e, EX_CANTCREAT, "create %s", name);
	if (write_all(fd, buf, len) < 0 || fsync(fd) < 0 ||
	    publish(dfd, tmp, name, how) < 0) {
		err_sys(e, EX_IOERR, "write %s", name);
		(void)unlinkat(dfd, tmp, 0);
		return -1;
	}
	if (fsync(dfd) < 0)
		return err_sys(e, EX_IOERR, "sync directory of %s", name);
	return 0;
}

static int
open_beneath(int dfd, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
		    RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
	};

	return (int)syscall(SYS_openat2, dfd, path, &how, sizeof(how));
}

static int
read_up_to(int fd, struct buf *b, struct err *e)
{
	char chunk[16384];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, EX_IOERR, "read");
		if (buf_add(b, chunk, (size_t)n) < 0)
			return err_set(
			    e, EX_DATAERR, "more than %zu bytes", b->max);
	}
	return 0;
}

/* Opens a regular file below dfd and tells its size. */
static int
open_regular(int dfd, const char *path, off_t *size, struct err *e)
{
	AUTO(close_p) int fd = open_beneath(dfd, path);
	struct stat st;

	if (fd < 0)
		return err_sys(
		    e, errno == ENOENT ? EX_NOINPUT : EX_DATAERR, "%s", path);
	if (fstat(fd, &st) < 0)
		return err_sys(e, EX_IOERR, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, EX_DATAERR, "%s: not a regular file", path);
	*size = st.st_size;
	return take_fd(&fd);
}

static int
read_from(int dfd, const char *path, bool tail, struct buf *b, struct err *e)
{
	off_t size = 0;
	AUTO(close_p) int fd = open_regular(dfd, path, &size, e);

	if (fd < 0)
		return -1;
	if (tail && size > (off_t)b->max &&
	    lseek(fd, size - (off_t)b->max, SEEK_SET) < 0)
		return err_sys(e, EX_IOERR, "%s", path);
	if (buf_add(b, "", 0) < 0)
		return err_sys(e, EX_OSERR, "%s", path);
	if (read_up_to(fd, b, e) < 0)
		return err_wrap(e, "%s", path);
	return 0;
}

int
at_read(int dfd, const char *path, struct buf *b, struct err *e)
{
	return read_from(dfd, path, false, b, e);
}

int
at_tail(int dfd, const char *path, struct buf *b, struct err *e)
{
	return read_from(dfd, path, true, b, e);
}

bool
at_exists(int dfd, const char *name)
{
	struct stat st;

	return fstatat(dfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}
