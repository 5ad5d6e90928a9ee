/* SPDX-License-Identifier: MIT */
/* Finds what has to be hidden in a target. */
#include "mask.h"

#include <errno.h>
#include <fnmatch.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>

#include "cleanup.h"
#include "err.h"

static const char *const defaults[] = { ".git", ".env", ".env.*", "*.pem",
	"id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519",
	"id_ed25519_sk", "*.ppk", ".ssh", ".aws", ".gnupg", ".netrc", ".npmrc",
	".pypirc", ".git-credentials", ".docker", ".kube", ".claude",
	".claude.json", ".mcp.json" };

int
mask_defaults(struct mask_rules *r, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(defaults); i++)
		if (strv_add(&r->patterns, defaults[i]) < 0)
			return err_sys(e, EX_OSERR, "masks");
	return 0;
}

static void
file_p(FILE **f)
{
	if (*f != NULL)
		(void)fclose(*f);
}

int
mask_read_file(struct mask_rules *r, const char *path, struct err *e)
{
	AUTO(file_p) FILE *f = fopen(path, "re");
	AUTO(free_p) char *line = NULL;
	size_t cap = 0;

	if (f == NULL)
		return err_sys(e, EX_NOINPUT, "%s", path);
	while (getline(&line, &cap, f) >= 0) {
		char *p = line + strspn(line, " \t");
		size_t n = strcspn(p, "#\n");

		while (n > 0 && strchr(" \t\r/", p[n - 1]) != NULL)
			n--;
		p[n] = '\0';
		if (strchr(p, '/') != NULL)
			return err_set(e, EX_CONFIG,
			    "%s: \"%s\": a pattern is for one name, without /",
			    path, p);
		if (n > 0 && strv_add(&r->patterns, p) < 0)
			return err_sys(e, EX_OSERR, "%s", path);
	}
	if (ferror(f))
		return err_sys(e, EX_IOERR, "%s", path);
	return 0;
}

void
mask_rules_release(struct mask_rules *r)
{
	strv_release(&r->patterns);
	strv_release(&r->unmask);
	free(r->rundir);
	r->rundir = NULL;
}

static bool
any_matches(const struct strv *patterns, const char *name)
{
	for (size_t i = 0; i < patterns->n; i++)
		if (fnmatch(patterns->v[i], name, 0) == 0)
			return true;
	return false;
}

static bool
is_covered(const struct mask_rules *r, const char *path, const char *name)
{
	if (r->rundir != NULL && strcmp(path, r->rundir) == 0)
		return true;
	return any_matches(&r->patterns, name) &&
	    !any_matches(&r->unmask, name);
}

/* "/a/b/c" below "/a" is "b/c"; NULL when it is not below. */
static const char *
below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	while (n > 0 && dir[n - 1] == '/')
		n--;
	if (strncmp(path, dir, n) != 0 || path[n] != '/')
		return NULL;
	return path + n + 1;
}

static int
cover(struct masks *m, const char *path, bool is_dir, struct err *e)
{
	struct masked *v;

	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->v[i].path, path) == 0)
			return 0;
	if (m->n == MASK_MAX)
		return err_set(e, EX_CONFIG,
		    "more than %d places to mask; give the agent a clean "
		    "export of the target",
		    MASK_MAX);
	v = realloc(m->v, (m->n + 1) * sizeof(*v));
	if (v != NULL) {
		m->v = v;
		v[m->n].path = strdup(path);
		v[m->n].is_dir = is_dir;
	}
	if (v == NULL || v[m->n].path == NULL)
		return err_sys(e, EX_OSERR, "masks");
	m->n++;
	return 0;
}

/* A mount cannot cover a link, only what it leads to. */
static int
cover_link(struct masks *m, const char *link, const char *target, struct err *e)
{
	AUTO(free_p) char *real = realpath(link, NULL);
	const char *rel = real != NULL ? below(real, target) : NULL;
	struct stat st;

	if (rel == NULL || stat(real, &st) < 0)
		return 0; /* leads nowhere, or out of the target */
	return cover(m, rel, S_ISDIR(st.st_mode), e);
}

static int
visit(FTS *fts, FTSENT *ent, const char *target, const struct mask_rules *r,
    struct masks *m, struct err *e)
{
	const char *rel = below(ent->fts_path, target);

	switch (ent->fts_info) {
	case FTS_DP:
		return 0;
	case FTS_ERR:
	case FTS_NS:
		errno = ent->fts_errno;
		return err_sys(e, EX_NOINPUT, "%s", ent->fts_path);
	case FTS_DNR:
		return rel == NULL ? err_set(e, EX_NOINPUT,
					 "%s: cannot be read", ent->fts_path)
				   : cover(m, rel, true, e);
	default:
		break;
	}
	if (rel == NULL || !is_covered(r, ent->fts_path, ent->fts_name))
		return 0;
	if (ent->fts_info == FTS_D)
		(void)fts_set(fts, ent, FTS_SKIP);
	if (ent->fts_info == FTS_SL || ent->fts_info == FTS_SLNONE)
		return cover_link(m, ent->fts_path, target, e);
	return cover(m, rel, ent->fts_info == FTS_D, e);
}

static void
fts_p(FTS **f)
{
	if (*f != NULL)
		(void)fts_close(*f);
}

static int
by_path(const void *a, const void *b)
{
	return strcmp(
	    ((const struct masked *)a)->path, ((const struct masked *)b)->path);
}

int
mask_find(const char *target, const struct mask_rules *r, struct masks *m,
    struct err *e)
{
	AUTO(free_p) char *root = strdup(target);
	char *const roots[] = { root, NULL };
	AUTO(fts_p) FTS *fts = NULL;
	FTSENT *ent;

	if (root == NULL)
		return err_sys(e, EX_OSERR, "masks");
	/* Other file systems below are not bound into the session. */
	fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	if (fts == NULL)
		return err_sys(e, EX_NOINPUT, "%s", target);
	while ((ent = fts_read(fts)) != NULL)
		if (visit(fts, ent, target, r, m, e) < 0)
			return -1;
	if (errno != 0)
		return err_sys(e, EX_NOINPUT, "%s", target);
	if (m->n > 1)
		qsort(m->v, m->n, sizeof(*m->v), by_path);
	return 0;
}

void
masks_release(struct masks *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->v[i].path);
	free(m->v);
	*m = (struct masks){ 0 };
}

int
mask_check_target(const char *target, const char *rundir,
    const char *engine_socket, struct err *e)
{
	const char *home = getenv("HOME");
	AUTO(free_p) char *real_home = NULL;

	if (home != NULL && home[0] == '/')
		real_home = realpath(home, NULL);
	if (strcmp(target, "/") == 0)
		return err_set(
		    e, EX_CONFIG, "target /: the whole machine is no target");
	if (real_home != NULL && strcmp(target, real_home) == 0)
		return err_set(e, EX_CONFIG,
		    "target %s: that is your home directory; name the "
		    "project's own directory",
		    target);
	if (rundir != NULL &&
	    (strcmp(target, rundir) == 0 || below(target, rundir) != NULL))
		return err_set(e, EX_CONFIG, "target %s: lies inside RUNDIR %s",
		    target, rundir);
	if (engine_socket != NULL && below(engine_socket, target) != NULL)
		return err_set(e, EX_CONFIG,
		    "target %s: holds the engine's socket %s", target,
		    engine_socket);
	return 0;
}
