/* SPDX-License-Identifier: MIT */
/* The directory of a campaign: whether it can be had, and getting it. */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "err.h"

static int
refuse(const char *path, struct err *e)
{
	return err_set(e, EX_CANTCREAT,
	    "RUNDIR=%.300s: %s; type \"make RUNDIR=DIR campaign\"", path,
	    strerror(errno));
}

static int
copy(char out[PATH_MAX], const char *path)
{
	size_t n = strlen(path);

	errno = n == 0 ? ENOENT : ENAMETOOLONG;
	if (n == 0 || n >= PATH_MAX)
		return -1;
	memcpy(out, path, n + 1);
	return 0;
}

/* "a/b" -> "a", "a" -> "."; false when there is nothing above. */
static bool
cut_last(char *path)
{
	size_t n = strlen(path);

	if (strcmp(path, ".") == 0 || strspn(path, "/") == n)
		return false;
	while (path[n - 1] == '/')
		n--;
	while (n > 0 && path[n - 1] != '/')
		n--;
	while (n > 1 && path[n - 1] == '/')
		n--;
	if (n == 0)
		path[n++] = '.';
	path[n] = '\0';
	return true;
}

int
place_check(const char *path, struct err *e)
{
	char at[PATH_MAX];
	struct stat st;

	if (copy(at, path) < 0)
		return refuse(path, e);
	while (stat(at, &st) < 0)
		if (errno != ENOENT || !cut_last(at))
			return refuse(path, e);
	errno = ENOTDIR;
	if (S_ISDIR(st.st_mode) &&
	    faccessat(AT_FDCWD, at, W_OK | X_OK, AT_EACCESS) == 0)
		return 0;
	return refuse(path, e);
}

int
place_make(const char *path, struct err *e)
{
	char at[PATH_MAX];
	int fd;

	if (copy(at, path) < 0)
		return refuse(path, e);
	for (size_t i = 1, n = strlen(path); i <= n; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		at[i] = '\0';
		if (mkdir(at, 0755) < 0 && errno != EEXIST)
			return refuse(path, e);
		at[i] = path[i];
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 ? fd : refuse(path, e);
}
