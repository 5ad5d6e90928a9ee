/* SPDX-License-Identifier: MIT */
/* A directory of its own for each test. */
#ifndef TEST_SCRATCH_H
#define TEST_SCRATCH_H

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct scratch {
	int fd;
	char path[64]; /* absolute, no link in it */
};

static int
scratch_drop(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

/* For cmocka's setup and teardown. */
static inline int
scratch_make(void **state)
{
	struct scratch *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return -1;
	*state = s;
	(void)snprintf(s->path, sizeof(s->path), "/tmp/fz-unit.XXXXXX");
	if (mkdtemp(s->path) == NULL)
		return -1;
	s->fd = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return s->fd >= 0 ? 0 : -1;
}

static inline int
scratch_clear(void **state)
{
	struct scratch *s = *state;
	int rc;

	(void)close(s->fd);
	rc = nftw(s->path, scratch_drop, 16, FTW_DEPTH | FTW_PHYS);
	free(s);
	return rc;
}

/* A file with that text, wherever name leads. */
static inline int
scratch_put(const struct scratch *s, const char *name, const char *text)
{
	int fd =
	    openat(s->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	size_t n = 0;

	while (text[n] != '\0')
		n++;
	if (fd < 0)
		return -1;
	if (write(fd, text, n) != (ssize_t)n) {
		(void)close(fd);
		return -1;
	}
	return close(fd);
}

/* Its first bytes as text; "" if there is none. */
static inline const char *
scratch_get(const struct scratch *s, const char *name)
{
	static char text[4096];
	int fd = openat(s->fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;

	if (fd >= 0)
		(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

/* How many names there are, hidden ones too. */
static inline int
scratch_count(const struct scratch *s)
{
	DIR *d = opendir(s->path);
	int n = -2; /* "." and ".." */

	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		(void)closedir(d);
	return n;
}

#define SCRATCH_TEST(f) \
	cmocka_unit_test_setup_teardown(f, scratch_make, scratch_clear)

#endif
