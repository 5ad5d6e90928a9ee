/* SPDX-License-Identifier: MIT */
/* Checks, explains and audits who may be reached, and writes it down. */
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "audit.h"
#include "compiler.h"
#include "decide.h"
#include "err.h"
#include "gen.h"
#include "load.h"
#include "num.h"
#include "version.h"

#define POLICY_FILE "conf/policy.conf"
#define OUTPUT_MAX  (32 << 20)

enum { EXIT_NO = 1, EXIT_PARTIAL = 2 };

struct args {
	const struct command *command;
	const char *policy; /* NULL: not given */
	const char *type;   /* gen: of the output */
	const char *format; /* audit */
	const char *runs;
	const char *dir;
	const char *ca;
	const char *root;
	int gate_port;
	int proxy_port;
	bool all;
	char **operand;
	int operands;
};

struct command {
	const char *name;
	const char *options; /* letters of longopts and short ones */
	int least, most;     /* operands */
	int (*run)(const struct args *, struct err *);
};

static const char usage[] =
    "usage: netpolicy lint [FILE]\n"
    "       netpolicy explain [-f FILE] HOST[:PORT] [METHOD PATH]\n"
    "       netpolicy gen -t TYPE [options] [FILE]\n"
    "       netpolicy audit [-f FILE] [-o FORMAT] [options] ACCESS.LOG\n";

static const char help[] =
    "Says who may be reached. FILE is the policy (" POLICY_FILE ").\n"
    "\n"
    "  -f FILE            the policy, where FILE is no operand\n"
    "  -o FORMAT          audit: text, tsv or json\n"
    "  -t TYPE            gen: squid, key, relays, hosts or env\n"
    "  --all              audit: what was let through, too\n"
    "  --ca FILE          gen -t squid: trust these certificates only\n"
    "  --dir DIR          gen -t squid: the proxy's directory\n"
    "  --gate-port N      gen: port of the gate on the host (8080)\n"
    "  --proxy-port N     gen: port of the CONNECT proxy (3128; N+1 too)\n"
    "  --runs RUNDIR      audit: name the runs of this campaign\n"
    "  --squid-root DIR   gen -t squid: where squid was unpacked\n"
    "  --help             show this text\n"
    "  --version          show the version\n";

static const struct option longopts[] = {
	{ "all", no_argument, NULL, 'a' },
	{ "ca", required_argument, NULL, 'c' },
	{ "dir", required_argument, NULL, 'd' },
	{ "gate-port", required_argument, NULL, 'g' },
	{ "help", no_argument, NULL, 'h' },
	{ "proxy-port", required_argument, NULL, 'p' },
	{ "runs", required_argument, NULL, 'r' },
	{ "squid-root", required_argument, NULL, 's' },
	{ "version", no_argument, NULL, 'v' },
	{ NULL, 0, NULL, 0 },
};

/* Standard output to its end: a full disk is no success. */
static int
flush(struct err *e)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return err_sys(e, EX_IOERR, "standard output");
}

_Noreturn static void
show(void)
{
	struct err e;

	exit(flush(&e) < 0 ? err_report(&e, "netpolicy") : EX_OK);
}

/* why is NULL when it has been said. */
_Noreturn static void PRINTF_LIKE(1, 2) misuse(const char *why, ...)
{
	va_list ap;

	va_start(ap, why);
	if (why != NULL) {
		(void)fputs("netpolicy: ", stderr);
		(void)vfprintf(stderr, why, ap);
		(void)fputc('\n', stderr);
	}
	va_end(ap);
	(void)fputs(usage, stderr);
	exit(EX_USAGE);
}

/* All that is wrong with the policy, one line each. */
static void
complain(const struct load *l)
{
	const struct policy_errors *es = &l->errors;

	for (size_t i = 0; i < es->n && i < POLICY_ERRORS; i++)
		(void)fprintf(stderr, "%s:%d: %s\n", l->path, es->e[i].line,
		    es->e[i].text);
	if (es->n > POLICY_ERRORS)
		(void)fprintf(stderr, "%s: and %zu more\n", l->path,
		    es->n - POLICY_ERRORS);
}

/* A policy without errors, or -1. */
static int
load_good(struct load *l, const char *path, struct err *e)
{
	if (load_policy(l, path, e) < 0)
		return -1;
	if (l->errors.n == 0)
		return 0;
	complain(l);
	return err_set(e, EX_DATAERR, "%s: %zu error%s; nothing was done", path,
	    l->errors.n, l->errors.n == 1 ? "" : "s");
}

static const char *
policy_path(const struct args *a)
{
	return a->policy != NULL ? a->policy : POLICY_FILE;
}

static int
run_lint(const struct args *a, struct err *e)
{
	const char *path = a->operands > 0 ? a->operand[0] : policy_path(a);
	AUTO(load_release) struct load l = { .path = path };

	return load_good(&l, path, e);
}

static int
run_explain(const struct args *a, struct err *e)
{
	AUTO(load_release) struct load l = { .path = NULL };
	struct decide_question q = { .port = 0 };
	struct decide_answer r;

	if (a->operands == 2)
		misuse("explain: METHOD needs a PATH");
	if (decide_parse(a->operand[0], &q, e) < 0 ||
	    load_good(&l, policy_path(a), e) < 0)
		return -1;
	if (a->operands == 3) {
		q.method = a->operand[1];
		q.path = a->operand[2];
	}
	r = decide(&l.policy, &q);
	(void)printf("%s %s:%d: ", r.allow ? "allow" : "deny", q.host, r.port);
	if (r.line > 0)
		(void)printf("%s:%d: ", l.path, r.line);
	else
		(void)printf("%s: ", l.path);
	(void)printf("%s\n", r.why);
	return r.allow ? EX_OK : EXIT_NO;
}

static int
run_gen(const struct args *a, struct err *e)
{
	const char *path = a->operands > 0 ? a->operand[0] : policy_path(a);
	AUTO(load_release) struct load l = { .path = path };
	AUTO(buf_release) struct buf out = BUF_INIT(OUTPUT_MAX);
	const struct gen_type *type;
	struct gen g = {
		.policy = &l.policy,
		.sha256 = l.sha256,
		.dir = a->dir,
		.ca = a->ca,
		.root = a->root,
		.gate_port = a->gate_port,
		.proxy_port = a->proxy_port,
		.out = &out,
	};

	if (a->type == NULL)
		misuse("gen needs -t");
	type = gen_find(a->type);
	if (type == NULL)
		misuse("-t: \"%s\" is not squid, key, relays, hosts or env",
		    a->type);
	if (load_good(&l, path, e) < 0)
		return -1;
	if (l.policy.api.line != 0)
		g.key = getenv(l.policy.api.key);
	if (gen_write(type, &g, e) < 0)
		return -1;
	(void)fwrite(out.data, 1, out.len, stdout);
	return EX_OK;
}

static int
run_audit(const struct args *a, struct err *e)
{
	AUTO(load_release) struct load l = { .path = NULL };
	struct audit_options o = {
		.log = a->operand[0],
		.runs = a->runs,
		.all = a->all,
	};
	const struct audit_format *f = audit_find(a->format);
	int status;

	if (f == NULL)
		misuse("-o: \"%s\" is not text, tsv or json", a->format);
	if (a->policy != NULL) {
		if (load_good(&l, a->policy, e) < 0)
			return -1;
		o.policy = &l.policy;
	}
	status = audit(&o, f, stdout, e);
	return status > 0 ? EXIT_PARTIAL : status;
}

static const struct command commands[] = {
	{ "audit", "afor", 1, 1, run_audit },
	{ "explain", "f", 1, 3, run_explain },
	{ "gen", "cdfgpst", 0, 1, run_gen },
	{ "lint", "f", 0, 1, run_lint },
};

static const struct command *
find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static int
parse_port(const char *option, int max)
{
	struct err e;
	int64_t v = 0;

	if (num_parse(optarg, 1, max, &v, &e) < 0)
		misuse("--%s: %s", option, e.text);
	return (int)v;
}

static void
set_option(struct args *a, int c)
{
	switch (c) {
	case 'a':
		a->all = true;
		break;
	case 'c':
		a->ca = optarg;
		break;
	case 'd':
		a->dir = optarg;
		break;
	case 'f':
		a->policy = optarg;
		break;
	case 'g':
		a->gate_port = parse_port("gate-port", 65535);
		break;
	case 'o':
		a->format = optarg;
		break;
	case 'p':
		a->proxy_port = parse_port("proxy-port", 65534);
		break;
	case 'r':
		a->runs = optarg;
		break;
	case 's':
		a->root = optarg;
		break;
	default:
		a->type = optarg;
		break;
	}
}

static void
parse_options(struct args *a, int argc, char *argv[])
{
	int c;

	while ((c = getopt_long(argc, argv, "+f:o:t:", longopts, NULL)) != -1) {
		switch (c) {
		case 'h':
			(void)printf("%s%s", usage, help);
			show();
		case 'v':
			(void)printf("netpolicy %s\n", fz_version);
			show();
		case '?': /* getopt_long has already said why */
			misuse(NULL);
		default:
			if (a->command == NULL ||
			    strchr(a->command->options, c) == NULL)
				misuse("%s does not take that option",
				    a->command == NULL ? "no command"
						       : a->command->name);
			set_option(a, c);
		}
	}
	a->operand = argv + optind;
	a->operands = argc - optind;
}

static bool
ports_clash(const struct args *a)
{
	return a->gate_port == a->proxy_port ||
	    a->gate_port == a->proxy_port + 1;
}

static struct args
parse_args(int argc, char *argv[])
{
	struct args a = {
		.format = "text",
		.root = "",
		.gate_port = 8080,
		.proxy_port = 3128,
	};

	if (argc < 2)
		misuse(NULL);
	if (argv[1][0] != '-') {
		a.command = find_command(argv[1]);
		if (a.command == NULL)
			misuse("\"%s\" is no command", argv[1]);
		argc--;
		argv++;
	}
	parse_options(&a, argc, argv);
	if (a.command == NULL)
		misuse("a command comes first");
	if (a.operands < a.command->least || a.operands > a.command->most)
		misuse("%s: wrong number of operands", a.command->name);
	if (a.policy != NULL && a.operands > 0 && a.command->least == 0)
		misuse("%s: a policy twice", a.command->name);
	if (ports_clash(&a))
		misuse("--gate-port and --proxy-port (and the one after it) "
		       "have to differ");
	return a;
}

/* What a person has to set is said as make says it. */
static int
report(const struct err *e)
{
	if (e->exit != EX_CONFIG)
		return err_report(e, "netpolicy");
	(void)fprintf(stderr, "ERROR: %s\n", e->text);
	return e->exit;
}

int
main(int argc, char *argv[])
{
	struct args a = parse_args(argc, argv);
	struct err e = { .exit = EX_SOFTWARE };
	int status = a.command->run(&a, &e);

	if (status < 0 || flush(&e) < 0)
		return report(&e);
	return status;
}
