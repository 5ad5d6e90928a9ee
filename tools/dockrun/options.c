/* SPDX-License-Identifier: MIT */
/* dockrun's command line. */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sysexits.h>

#include "cleanup.h"
#include "env.h"
#include "err.h"
#include "num.h"
#include "version.h"

#define GIB (INT64_C(1) << 30)

enum {
	OPT_CAMPAIGN = 256,
	OPT_CPUS,
	OPT_DIR,
	OPT_ENV,
	OPT_ENV_FILE,
	OPT_EXIT_STATUS,
	OPT_GRACE,
	OPT_HELP,
	OPT_HOSTS,
	OPT_IMAGE,
	OPT_INFRA_WAIT,
	OPT_INIT,
	OPT_LIST_MASKED,
	OPT_MASK_FILE,
	OPT_MAX_LOG,
	OPT_MEMORY,
	OPT_PIDS,
	OPT_PRINT_REQUEST,
	OPT_PROXY_LOG,
	OPT_RELAYS,
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
	{ "hosts", required_argument, NULL, OPT_HOSTS },
	{ "image", required_argument, NULL, OPT_IMAGE },
	{ "infra-wait", required_argument, NULL, OPT_INFRA_WAIT },
	{ "init", required_argument, NULL, OPT_INIT },
	{ "list-masked", no_argument, NULL, OPT_LIST_MASKED },
	{ "mask-file", required_argument, NULL, OPT_MASK_FILE },
	{ "max-log", required_argument, NULL, OPT_MAX_LOG },
	{ "memory", required_argument, NULL, OPT_MEMORY },
	{ "pids", required_argument, NULL, OPT_PIDS },
	{ "print-request", no_argument, NULL, OPT_PRINT_REQUEST },
	{ "proxy-log", required_argument, NULL, OPT_PROXY_LOG },
	{ "relays", required_argument, NULL, OPT_RELAYS },
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
    "  --hosts FILE         names in the session: lines ADDRESS NAME\n"
    "  --image IMAGE        name or id of a local image\n"
    "  --infra-wait SECONDS how long to wait for the engine (600)\n"
    "  --init FILE          fzinit (default: the one beside dockrun)\n"
    "  --list-masked        list what is hidden in the target, and stop\n"
    "  --mask-file FILE     more name patterns to hide\n"
    "  --max-log SIZE       of agent.out and agent.err each (64m)\n"
    "  --memory SIZE        no swap on top (2g)\n"
    "  --pids N             processes and threads (256)\n"
    "  --print-request      print the engine's request, and stop\n"
    "  --proxy-log FILE     squid's access log, to count requests in\n"
    "  --relays FILE        what can be reached: lines ADDRESS:PORT TARGET\n"
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
		return env_add(&o->env, optarg, ENV_FROM_LINE, e);
	case OPT_ENV_FILE:
		return env_add_file(&o->env, optarg, e);
	case OPT_EXIT_STATUS:
		o->exit_status = true;
		return 0;
	case OPT_HOSTS:
		return netconf_read_hosts(&o->net, optarg, e);
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
	case OPT_PROXY_LOG:
		o->proxy_log = optarg;
		return 0;
	case OPT_RELAYS:
		return netconf_read_relays(&o->net, optarg, e);
	case OPT_RO:
		return add_ro(o, optarg, e);
	case OPT_SECRET:
		return env_add_secret(&o->secret_names, &o->secrets, optarg, e);
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
	for (size_t i = 0; i < o->secret_names.n; i++)
		if (env_has(&o->env, o->secret_names.v[i]))
			return err_set(e, EX_USAGE,
			    "--secret %s: is set by --env or --env-file too",
			    o->secret_names.v[i]);
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
