/* SPDX-License-Identifier: MIT */
/* dockrun's command line. */
#include "options.h"

#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sysexits.h>

#include "cleanup.h"
#include "err.h"
#include "num.h"
#include "version.h"

#define SECRET_MIN 12
#define GIB	   (INT64_C(1) << 30)
#define NAME_CHARS                                              \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_" \
	"0123456789"

enum {
	OPT_CAMPAIGN = 256,
	OPT_CPUS,
	OPT_DIR,
	OPT_ENV,
	OPT_ENV_FILE,
	OPT_EXIT_STATUS,
	OPT_GRACE,
	OPT_HELP,
	OPT_IMAGE,
	OPT_INFRA_WAIT,
	OPT_INIT,
	OPT_LIST_MASKED,
	OPT_MASK_FILE,
	OPT_MAX_LOG,
	OPT_MEMORY,
	OPT_PIDS,
	OPT_PRINT_REQUEST,
	OPT_RO,
	OPT_SECRET,
	OPT_STDIN,
	OPT_TIMEOUT,
	OPT_TMP_SIZE,
	OPT_UNMASK,
	OPT_USER,
	OPT_VERSION,
};

static const struct option longopts[] = {
	{ "campaign", required_argument, NULL, OPT_CAMPAIGN },
	{ "cpus", required_argument, NULL, OPT_CPUS },
	{ "dir", required_argument, NULL, OPT_DIR },
	{ "env", required_argument, NULL, OPT_ENV },
	{ "env-file", required_argument, NULL, OPT_ENV_FILE },
	{ "exit-status", no_argument, NULL, OPT_EXIT_STATUS },
	{ "grace", required_argument, NULL, OPT_GRACE },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "image", required_argument, NULL, OPT_IMAGE },
	{ "infra-wait", required_argument, NULL, OPT_INFRA_WAIT },
	{ "init", required_argument, NULL, OPT_INIT },
	{ "list-masked", no_argument, NULL, OPT_LIST_MASKED },
	{ "mask-file", required_argument, NULL, OPT_MASK_FILE },
	{ "max-log", required_argument, NULL, OPT_MAX_LOG },
	{ "memory", required_argument, NULL, OPT_MEMORY },
	{ "pids", required_argument, NULL, OPT_PIDS },
	{ "print-request", no_argument, NULL, OPT_PRINT_REQUEST },
	{ "ro", required_argument, NULL, OPT_RO },
	{ "secret", required_argument, NULL, OPT_SECRET },
	{ "stdin", required_argument, NULL, OPT_STDIN },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "tmp-size", required_argument, NULL, OPT_TMP_SIZE },
	{ "unmask", required_argument, NULL, OPT_UNMASK },
	{ "user", required_argument, NULL, OPT_USER },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
    "usage: dockrun [options] --image IMAGE --dir DIR [--] [command ...]\n"
    "Runs one sealed container and records the facts in DIR.\n"
    "  --campaign ID        label of the campaign (default \"none\")\n"
    "  --cpus N             processors, such as 0.5 or 2 (1)\n"
    "  --dir DIR            the run's directory, such as fuzz/runs/007\n"
    "  --env NAME=VALUE     plain setting for the session\n"
    "  --env-file FILE      such settings, one per line\n"
    "  --exit-status        1 for a failed session, 124 for a timeout\n"
    "  --grace SECONDS      between INT and TERM at the deadline (20)\n"
    "  --help               this text\n"
    "  --image IMAGE        name or id of a local image\n"
    "  --infra-wait SECONDS how long to wait for the engine (600)\n"
    "  --init FILE          fzinit (default: the one beside dockrun)\n"
    "  --list-masked        list what is hidden in the target, and stop\n"
    "  --mask-file FILE     more name patterns to hide\n"
    "  --max-log SIZE       of agent.out and agent.err each (64m)\n"
    "  --memory SIZE        no swap on top (2g)\n"
    "  --pids N             processes and threads (256)\n"
    "  --print-request      print the engine's request, and stop\n"
    "  --ro HOST:CONTAINER  bind a directory read-only\n"
    "  --secret NAME        pass NAME from the environment; never shown\n"
    "  --stdin FILE         what the command reads as standard input\n"
    "  --timeout SECONDS    wall clock for the session (900)\n"
    "  --tmp-size SIZE      of the tmpfs on /tmp (100m)\n"
    "  --unmask PATTERN     do not hide these names\n"
    "  --user UID:GID       who the session is (default: own pair for root,\n"
    "                       else you)\n"
    "  --version            the version\n";

static _Noreturn void
usage(FILE *to, int status)
{
	(void)fputs(help, to);
	exit(status);
}

/* A value of such a name would be seen by everybody who can list processes. */
static bool
looks_secret(const char *name, size_t n)
{
	static const char *const words[] = { "KEY", "TOKEN", "SECRET",
		"PASSWORD", "PASSWD", "CREDENTIAL" };
	char upper[128] = "";

	for (size_t i = 0; i < n && i < sizeof(upper) - 1; i++)
		upper[i] = (char)toupper((unsigned char)name[i]);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strstr(upper, words[i]) != NULL)
			return true;
	return false;
}

static bool
is_name(const char *s, size_t n)
{
	return n > 0 && n <= 100 && !isdigit((unsigned char)s[0]) &&
	    strspn(s, NAME_CHARS) >= n;
}

static int
add_env(struct options *o, const char *word, bool from_file, struct err *e)
{
	size_t n = strcspn(word, "=");

	if (word[n] != '=' || !is_name(word, n))
		return err_set(e, EX_USAGE,
		    "environment \"%.*s\": not NAME=VALUE",
		    (int)(word[n] == '=' ? n : strspn(word, NAME_CHARS)), word);
	if (!from_file && looks_secret(word, n))
		return err_set(e, EX_USAGE,
		    "--env %.*s=...: looks like a secret, and everybody can "
		    "read a command line; use --secret %.*s, or --env-file "
		    "for a test service's password",
		    (int)n, word, (int)n, word);
	if (strv_add(&o->env, word) < 0)
		return err_sys(e, EX_OSERR, "environment");
	return 0;
}

static void
file_p(FILE **f)
{
	if (*f != NULL)
		(void)fclose(*f);
}

static int
add_env_file(struct options *o, const char *path, struct err *e)
{
	AUTO(file_p) FILE *f = fopen(path, "re");
	AUTO(free_p) char *line = NULL;
	size_t cap = 0;

	if (f == NULL)
		return err_sys(e, EX_NOINPUT, "--env-file %s", path);
	while (getline(&line, &cap, f) >= 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0] == '#' || line[0] == '\0')
			continue;
		if (add_env(o, line, true, e) < 0)
			return err_wrap(e, "%s", path);
	}
	if (ferror(f))
		return err_sys(e, EX_NOINPUT, "--env-file %s", path);
	return 0;
}

static int
add_secret(struct options *o, const char *name, struct err *e)
{
	const char *value = getenv(name);

	if (!is_name(name, strlen(name)))
		return err_set(e, EX_USAGE, "--secret \"%.*s\": not a name",
		    (int)strcspn(name, "="), name);
	if (value == NULL)
		return err_set(e, EX_USAGE,
		    "--secret %s: not set in the environment", name);
	if (strlen(value) < SECRET_MIN)
		return err_set(e, EX_USAGE,
		    "--secret %s: shorter than %d bytes; removing it from the "
		    "output would tear ordinary words apart",
		    name, SECRET_MIN);
	if (strv_add(&o->secret_names, name) < 0 ||
	    strv_add(&o->secrets, value) < 0)
		return err_sys(e, EX_OSERR, "secrets");
	return 0;
}

static int
add_ro(struct options *o, const char *word, struct err *e)
{
	const char *colon = strrchr(word, ':');
	size_t len = strlen(word);

	while (len > 0 && word[len - 1] == '/')
		len--; /* the engine would drop them, and then differ */
	if (colon == NULL || colon == word || colon[1] != '/' ||
	    strstr(colon, "/..") != NULL || word + len <= colon + 1)
		return err_set(
		    e, EX_USAGE, "--ro \"%s\": not HOST:/CONTAINER/PATH", word);
	if (strv_addf(&o->ro, "%.*s", (int)len, word) < 0)
		return err_sys(e, EX_OSERR, "--ro");
	return 0;
}

static int
set_user(struct options *o, const char *word, struct err *e)
{
	AUTO(free_p) char *uid = strdup(word);
	char *gid = uid != NULL ? strchr(uid, ':') : NULL;
	struct err ignored;

	if (gid != NULL)
		*gid++ = '\0';
	if (gid == NULL ||
	    num_parse(uid, 1, INT32_MAX, &o->uid, &ignored) < 0 ||
	    num_parse(gid, 1, INT32_MAX, &o->gid, &ignored) < 0)
		return err_set(e, EX_USAGE,
		    "--user \"%s\": not UID:GID, both above 0", word);
	o->user = word;
	return 0;
}

static int
add_pattern(struct strv *l, const char *word, struct err *e)
{
	if (strv_add(l, word) < 0)
		return err_sys(e, EX_OSERR, "--unmask");
	return 0;
}

/* Options that take a number. */
static int
set_number(struct options *o, int c, const char *s, struct err *e)
{
	switch (c) {
	case OPT_CPUS:
		return num_milli(s, 10, 1024000, &o->cpus_milli, e);
	case OPT_GRACE:
		return num_parse(s, 0, 3600, &o->grace_s, e);
	case OPT_INFRA_WAIT:
		return num_parse(s, 0, 86400, &o->infra_wait_s, e);
	case OPT_MAX_LOG:
		return num_size(s, 1, 64 * GIB, &o->max_log, e);
	case OPT_MEMORY:
		return num_size(s, INT64_C(6) << 20, 4096 * GIB, &o->memory, e);
	case OPT_PIDS:
		return num_parse(s, 2, 100000, &o->pids, e);
	case OPT_TIMEOUT:
		return num_parse(s, 1, INT64_C(30) * 86400, &o->timeout_s, e);
	default: /* OPT_TMP_SIZE */
		return num_size(s, 4096, 1024 * GIB, &o->tmp_size, e);
	}
}

static const char *
option_name(int c)
{
	const struct option *l = longopts;

	while (l->name != NULL && l->val != c)
		l++;
	return l->name != NULL ? l->name : "?";
}

static int
set_option(struct options *o, int c, struct err *e)
{
	switch (c) {
	case OPT_CAMPAIGN:
		o->campaign = optarg;
		return 0;
	case OPT_DIR:
		o->dir = optarg;
		return 0;
	case OPT_ENV:
		return add_env(o, optarg, false, e);
	case OPT_ENV_FILE:
		return add_env_file(o, optarg, e);
	case OPT_EXIT_STATUS:
		o->exit_status = true;
		return 0;
	case OPT_IMAGE:
		o->image = optarg;
		return 0;
	case OPT_INIT:
		o->init = optarg;
		return 0;
	case OPT_LIST_MASKED:
		o->mode = MODE_LIST_MASKED;
		return 0;
	case OPT_MASK_FILE:
		return mask_read_file(&o->masks, optarg, e);
	case OPT_PRINT_REQUEST:
		o->mode = MODE_PRINT_REQUEST;
		return 0;
	case OPT_RO:
		return add_ro(o, optarg, e);
	case OPT_SECRET:
		return add_secret(o, optarg, e);
	case OPT_STDIN:
		o->input = optarg;
		return 0;
	case OPT_UNMASK:
		return add_pattern(&o->masks.unmask, optarg, e);
	case OPT_USER:
		return set_user(o, optarg, e);
	default:
		if (set_number(o, c, optarg, e) < 0)
			return err_wrap(e, "--%s", option_name(c));
		return 0;
	}
}

static bool
campaign_is_valid(const char *s)
{
	size_t n = strlen(s);

	return n > 0 && n <= 64 &&
	    strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

static int
check(const struct options *o, struct err *e)
{
	if (o->mode == MODE_LIST_MASKED) {
		if (o->ro.n == 0)
			return err_set(e, EX_USAGE,
			    "--list-masked: name the target with --ro");
		return 0;
	}
	if (o->image == NULL || o->image[0] == '\0')
		return err_set(
		    e, EX_USAGE, "--image is missing; try dockrun --help");
	if (o->dir == NULL || o->dir[0] == '\0')
		return err_set(
		    e, EX_USAGE, "--dir is missing; try dockrun --help");
	if (!campaign_is_valid(o->campaign))
		return err_set(e, EX_USAGE,
		    "--campaign \"%s\": letters a-z, digits and - only",
		    o->campaign);
	return 0;
}

int
options_parse(struct options *o, int argc, char *argv[], struct err *e)
{
	int c;

	*o = (struct options){
		.campaign = "none",
		.memory = 2 * GIB,
		.cpus_milli = 1000,
		.pids = 256,
		.tmp_size = 100 << 20,
		.max_log = 64 << 20,
		.timeout_s = 900,
		.grace_s = 20,
		.infra_wait_s = 600,
	};
	if (mask_defaults(&o->masks, e) < 0)
		return -1;
	while ((c = getopt_long(argc, argv, "+", longopts, NULL)) != -1) {
		if (c == OPT_HELP)
			usage(stdout, EX_OK);
		if (c == OPT_VERSION) {
			(void)printf("dockrun %s\n", fz_version);
			exit(EX_OK);
		}
		if (c == '?') { /* getopt_long has already said why */
			(void)fputs("try dockrun --help\n", stderr);
			exit(EX_USAGE);
		}
		if (set_option(o, c, e) < 0)
			return -1;
	}
	o->command = argv + optind;
	return check(o, e);
}

void
options_release(struct options *o)
{
	strv_release(&o->ro);
	strv_release(&o->env);
	strv_release(&o->secret_names);
	strv_release(&o->secrets);
	mask_rules_release(&o->masks);
}
