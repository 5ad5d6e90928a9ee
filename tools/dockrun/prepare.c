/* SPDX-License-Identifier: MIT */
/* From the command line to the specification of a container. */
#include "prepare.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "cleanup.h"
#include "docker.h"
#include "env.h"
#include "err.h"
#include "json.h"
#include "options.h"

#define INSIDE	  "/.fuzzmill/" /* where our own things are in a container */
#define PIDS_OURS 32		/* of the limit: fzinit's and the agent's own */

/* An absolute form of a path whose end need not exist yet. */
static char *
absolute(const char *path)
{
	AUTO(free_p) char *copy = strdup(path);
	AUTO(free_p) char *tail = strdup(path);
	AUTO(free_p) char *parent = NULL;
	char *real = realpath(path, NULL);
	char *out = NULL;

	if (real != NULL || copy == NULL || tail == NULL)
		return real;
	parent = realpath(dirname(copy), NULL);
	if (parent != NULL &&
	    asprintf(&out, "%s/%s", parent, basename(tail)) >= 0)
		return out;
	if (path[0] == '/')
		return strdup(path);
	parent = getcwd(NULL, 0);
	if (parent == NULL || asprintf(&out, "%s/%s", parent, path) < 0)
		return NULL;
	return out;
}

/* The fzinit that was built or installed with this dockrun. */
static char *
find_init(void)
{
	static const char *const where[] = { "fzinit",
		"../libexec/fuzzmill/fzinit" };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return NULL;
	self[n] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(where); i++) {
		AUTO(free_p) char *dir = strdup(self);
		AUTO(free_p) char *path = NULL;

		if (dir == NULL ||
		    asprintf(&path, "%s/%s", dirname(dir), where[i]) < 0)
			return NULL;
		if (access(path, R_OK | X_OK) == 0)
			return realpath(path, NULL); /* as the engine has it */
	}
	return NULL;
}

int
places_find(struct places *p, const struct options *o, struct err *e)
{
	AUTO(free_p) char *copy = NULL;
	struct stat st;

	if (o->dir != NULL) {
		p->dir = absolute(o->dir);
		copy = p->dir != NULL ? strdup(p->dir) : NULL;
		p->rundir = copy != NULL ? strdup(dirname(copy)) : NULL;
		if (p->rundir == NULL)
			return err_sys(e, EX_NOINPUT, "--dir %s", o->dir);
	}
	p->init = o->init != NULL ? realpath(o->init, NULL) : find_init();
	if (p->init == NULL)
		return err_set(e, EX_NOINPUT,
		    "fzinit is not beside dockrun; name it with --init");
	if (o->input == NULL)
		return 0;
	p->input = realpath(o->input, NULL);
	if (p->input == NULL || access(p->input, R_OK) < 0 ||
	    stat(p->input, &st) < 0)
		return err_sys(e, EX_NOINPUT, "--stdin %s", o->input);
	if (!S_ISREG(st.st_mode))
		return err_set(
		    e, EX_NOINPUT, "--stdin %s: not a regular file", o->input);
	return 0;
}

void
places_release(struct places *p)
{
	free(p->dir);
	free(p->rundir);
	free(p->init);
	free(p->input);
	*p = (struct places){ 0 };
}

char *
prepare_target(const char *rundir, const char *ro, struct err *e)
{
	AUTO(free_p) char *host = strdup(ro);
	AUTO(free_p) char *real = NULL;
	const char *sock = docker_socket(e);
	struct stat st;
	char *out;

	if (host == NULL || sock == NULL)
		return NULL;
	*strrchr(host, ':') = '\0';
	real = realpath(host, NULL);
	if (real == NULL || stat(real, &st) < 0) {
		err_sys(e, EX_NOINPUT, "target %s", host);
		return NULL;
	}
	if (!S_ISDIR(st.st_mode)) {
		err_set(e, EX_NOINPUT, "target %s: not a directory", host);
		return NULL;
	}
	if (mask_check_target(real, rundir, sock, e) < 0)
		return NULL;
	out = real;
	real = NULL;
	return out;
}

static int
add_masks(struct spec *s, const struct places *p, const char *real,
    const char *inside, const struct mask_rules *rules, size_t *masked,
    struct err *e)
{
	AUTO(masks_release) struct masks m = { 0 };

	if (mask_find(real, rules, &m, e) < 0)
		return -1;
	for (size_t i = 0; i < m.n; i++) {
		AUTO(free_p) char *from = NULL;
		AUTO(free_p) char *to = NULL;

		if (asprintf(&from, "%s/" SCRATCH "/%s", p->dir,
			m.v[i].is_dir ? "void" : "empty") < 0 ||
		    asprintf(&to, "%s/%s", inside, m.v[i].path) < 0 ||
		    mounts_add(&s->mounts, from, to, MOUNT_RO) < 0)
			return err_set(e, EX_OSERR, "out of memory");
	}
	*masked += m.n;
	return 0;
}

static int
add_targets(struct spec *s, const struct options *o, const struct places *p,
    size_t *masked, struct err *e)
{
	for (size_t i = 0; i < o->ro.n; i++) {
		const char *inside = strrchr(o->ro.v[i], ':') + 1;
		AUTO(free_p)
		char *real = prepare_target(p->rundir, o->ro.v[i], e);

		if (real == NULL)
			return -1;
		if (mounts_add(&s->mounts, real, inside, MOUNT_RO) < 0)
			return err_set(e, EX_OSERR, "out of memory");
		if (add_masks(s, p, real, inside, &o->masks, masked, e) < 0)
			return -1;
	}
	return 0;
}

static int
add_own_mounts(struct spec *s, const struct options *o, const struct places *p)
{
	AUTO(free_p) char *net = NULL;
	AUTO(free_p) char *report = NULL;
	AUTO(free_p) char *work = NULL;

	if (asprintf(&report, "%s/" SCRATCH "/report", p->dir) < 0 ||
	    asprintf(&work, "%s/workspace", p->dir) < 0 ||
	    mounts_add(&s->mounts, p->init, INSIDE "init", MOUNT_RO) < 0 ||
	    mounts_add(&s->mounts, report, INSIDE "report", MOUNT_RO) < 0 ||
	    mounts_add(&s->mounts, work, "/workspace/fuzz", MOUNT_RW) < 0)
		return -1;
	if (o->net.n_relays > 0 &&
	    (asprintf(&net, "%s/" SCRATCH "/net", p->dir) < 0 ||
		mounts_add(&s->mounts, net, INSIDE "net", MOUNT_RO) < 0))
		return -1;
	if (p->input != NULL)
		return mounts_add(
		    &s->mounts, p->input, INSIDE "stdin", MOUNT_RO);
	return 0;
}

/* Each relay is a socket, called by its number. */
static int
add_relays(struct spec *s, const struct netconf *c)
{
	char address[INET_ADDRSTRLEN];

	for (size_t i = 0; i < c->n_relays; i++) {
		const struct sockaddr_in *from = &c->relay[i].from.at.tcp;

		(void)inet_ntop(
		    AF_INET, &from->sin_addr, address, sizeof(address));
		if (strv_addf(&s->init, "--relay=%s:%u=" INSIDE "net/%zu",
			address, (unsigned)ntohs(from->sin_port), i) < 0)
			return -1;
	}
	return 0;
}

static int
add_hosts(struct spec *s, const struct netconf *c)
{
	char address[INET_ADDRSTRLEN];

	for (size_t i = 0; i < c->n_hosts; i++) {
		(void)inet_ntop(
		    AF_INET, &c->host[i].address, address, sizeof(address));
		if (strv_addf(&s->hosts, "%s:%s", c->host[i].name, address) < 0)
			return -1;
	}
	return 0;
}

/* A little later than dockrun's own last step, so that it never wins while
 * dockrun is alive. */
static int
add_init(struct spec *s, const struct options *o)
{
	if (strv_add(&s->init, INSIDE "init") < 0 ||
	    strv_addf(&s->init, "--deadline=%" PRId64,
		o->timeout_s + o->grace_s + 10) < 0 ||
	    strv_add(&s->init, "--report=" INSIDE "report/s") < 0 ||
	    (o->input != NULL &&
		strv_add(&s->init, "--stdin=" INSIDE "stdin") < 0) ||
	    add_relays(s, &o->net) < 0)
		return -1;
	return strv_add(&s->init, "--");
}

static int
add_list(struct strv *to, const cJSON *list)
{
	const cJSON *v;

	cJSON_ArrayForEach(v, list)
	{
		if (cJSON_IsString(v) && strv_add(to, v->valuestring) < 0)
			return -1;
	}
	return 0;
}

static int
add_command(
    struct spec *s, const struct options *o, const cJSON *image, struct err *e)
{
	for (char **w = o->command; *w != NULL; w++)
		if (strv_add(&s->command, *w) < 0)
			return err_sys(e, EX_OSERR, "command");
	if (s->command.n == 0 &&
	    (add_list(&s->command, json_at(image, "Config.Entrypoint")) < 0 ||
		add_list(&s->command, json_at(image, "Config.Cmd")) < 0))
		return err_sys(e, EX_OSERR, "command");
	if (s->command.n == 0)
		return err_set(e, EX_USAGE,
		    "no command given, and image \"%s\" has none", o->image);
	return 0;
}

static bool
has_home(const cJSON *env)
{
	const cJSON *v;

	cJSON_ArrayForEach(v, env)
	{
		if (cJSON_IsString(v) &&
		    strncmp(v->valuestring, "HOME=", 5) == 0)
			return true;
	}
	return false;
}

bool
prepare_own_uid(const struct options *o)
{
	return o->user == NULL && geteuid() == 0;
}

static int
add_env(struct spec *s, const struct options *o, const cJSON *image)
{
	bool hide = o->mode == MODE_PRINT_REQUEST;

	/* The uid has no home, and "/" is read-only. */
	if (!has_home(json_at(image, "Config.Env")) &&
	    strv_add(&s->env, "HOME=/tmp") < 0)
		return -1;
	if (strv_addf(&s->env, "FUZZMILL_RUN=%s", s->run) < 0)
		return -1;
	/* A limit per uid counts every process that uid has on the host. */
	if (prepare_own_uid(o) && o->pids > PIDS_OURS &&
	    strv_addf(&s->env, "FUZZMILL_NPROC=%" PRId64, o->pids - PIDS_OURS) <
		0)
		return -1;
	for (size_t i = 0; i < o->env.n; i++)
		if (env_set(&s->env, o->env.v[i]) < 0)
			return -1;
	for (size_t i = 0; i < o->secrets.n; i++)
		if (strv_addf(&s->env, "%s=%s", o->secret_names.v[i],
			hide ? "***" : o->secrets.v[i]) < 0)
			return -1;
	return 0;
}

static int
check_image(const struct options *o, const cJSON *image, struct err *e)
{
	const cJSON *volumes = json_at(image, "Config.Volumes");

	if (volumes == NULL || volumes->child == NULL)
		return 0;
	return err_set(e, EX_CONFIG,
	    "image \"%s\" declares VOLUME %.100s, a writable place on the "
	    "host's disk; build it without",
	    o->image, volumes->child->string);
}

int
prepare_spec(struct spec *s, const struct options *o, const struct places *p,
    const cJSON *image, size_t *masked, struct err *e)
{
	const char *id = json_at_str(image, "Id");

	s->image = id != NULL ? id : o->image;
	s->campaign = o->campaign;
	s->memory = o->memory;
	s->cpus_milli = o->cpus_milli;
	s->pids = o->pids;
	s->tmp_size = o->tmp_size;
	*masked = 0;
	if (check_image(o, image, e) < 0)
		return -1;
	if (add_init(s, o) < 0 || add_env(s, o, image) < 0 ||
	    add_own_mounts(s, o, p) < 0 || add_hosts(s, &o->net) < 0)
		return err_set(e, EX_OSERR, "out of memory");
	if (add_command(s, o, image, e) < 0)
		return -1;
	return add_targets(s, o, p, masked, e);
}
