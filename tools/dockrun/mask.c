/* SPDX-License-Identifier: MIT */
/* Finds what has to be hidden in a target. */
#include "mask.h"

#include <errno.h>
#include <fnmatch.h>
#include <fts.h>
#include <limits.h>
#include <mntent.h>
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

struct search {
	const char *target;
	const struct mask_rules *rules;
	struct strv mounts; /* every mount point below the target */
	struct masks *found;
};

static void
search_release(struct search *s)
{
	strv_release(&s->mounts);
}

static void
mtab_p(FILE **f)
{
	if (*f != NULL)
		(void)endmntent(*f);
}

static int
find_mounts(struct search *s, struct err *e)
{
	AUTO(mtab_p) FILE *f = setmntent("/proc/self/mounts", "re");
	const struct mntent *ent;

	if (f == NULL)
		return err_sys(e, EX_OSERR, "/proc/self/mounts");
	while ((ent = getmntent(f)) != NULL)
		if (below(ent->mnt_dir, s->target) != NULL &&
		    strv_add(&s->mounts, ent->mnt_dir) < 0)
			return err_sys(e, EX_OSERR, "masks");
	return 0;
}

/* What is mounted there is not bound into the session, but what lies below
 * it is, and that we cannot see. */
static bool
is_mount(const struct search *s, const char *path)
{
	for (size_t i = 0; i < s->mounts.n; i++)
		if (strcmp(s->mounts.v[i], path) == 0)
			return true;
	return false;
}

static int
visit(struct search *s, FTS *fts, FTSENT *ent, struct err *e)
{
	const char *rel = below(ent->fts_path, s->target);
	struct masks *m = s->found;

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
	if (rel == NULL ||
	    (!is_covered(s->rules, ent->fts_path, ent->fts_name) &&
		!is_mount(s, ent->fts_path)))
		return 0;
	if (ent->fts_info == FTS_D)
		(void)fts_set(fts, ent, FTS_SKIP);
	if (ent->fts_info == FTS_SL || ent->fts_info == FTS_SLNONE)
		return cover_link(m, ent->fts_path, s->target, e);
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

static bool
lies_in_another(const struct masks *m, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (m->v[i].is_dir && below(path, m->v[i].path) != NULL)
			return true;
	return false;
}

/* In a covered directory there is no place left to cover. */
static void
drop_nested(struct masks *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->n; i++)
		if (lies_in_another(m, kept, m->v[i].path))
			free(m->v[i].path);
		else
			m->v[kept++] = m->v[i];
	m->n = kept;
}

int
mask_find(const char *target, const struct mask_rules *r, struct masks *m,
    struct err *e)
{
	AUTO(search_release)
	struct search s = { .target = target, .rules = r, .found = m };
	AUTO(free_p) char *root = strdup(target);
	char *const roots[] = { root, NULL };
	AUTO(fts_p) FTS *fts = NULL;
	FTSENT *ent;

	if (root == NULL)
		return err_sys(e, EX_OSERR, "masks");
	if (find_mounts(&s, e) < 0)
		return -1;
	fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (fts == NULL)
		return err_sys(e, EX_NOINPUT, "%s", target);
	while ((ent = fts_read(fts)) != NULL)
		if (visit(&s, fts, ent, e) < 0)
			return -1;
	if (errno != 0)
		return err_sys(e, EX_NOINPUT, "%s", target);
	if (m->n > 1)
		qsort(m->v, m->n, sizeof(*m->v), by_path);
	drop_nested(m);
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
	AUTO(free_p) char *real_socket = NULL; /* /var/run leads to /run */

	if (home != NULL && home[0] == '/')
		real_home = realpath(home, NULL);
	if (engine_socket != NULL)
		real_socket = realpath(engine_socket, NULL);
	if (strcmp(target, "/") == 0)
		return err_set(
		    e, EX_CONFIG, "target /: the whole machine is no target");
	if (real_home != NULL &&
	    (strcmp(target, real_home) == 0 ||
		below(real_home, target) != NULL))
		return err_set(e, EX_CONFIG,
		    "target %s: %s your home directory; name the project's "
		    "own directory",
		    target,
		    strcmp(target, real_home) == 0 ? "that is" : "holds");
	if (rundir != NULL &&
	    (strcmp(target, rundir) == 0 || below(target, rundir) != NULL))
		return err_set(e, EX_CONFIG, "target %s: lies inside RUNDIR %s",
		    target, rundir);
	if (engine_socket != NULL &&
	    (below(engine_socket, target) != NULL ||
		(real_socket != NULL && below(real_socket, target) != NULL)))
		return err_set(e, EX_CONFIG,
		    "target %s: holds the engine's socket %s", target,
		    engine_socket);
	return 0;
}
