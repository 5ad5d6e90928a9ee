/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_OPTIONS_H
#define DOCKRUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "mask.h"
#include "netconf.h"
#include "strv.h"

struct err;

enum options_mode {
	MODE_RUN,
	MODE_LIST_MASKED,
	MODE_PRINT_REQUEST,
};

/* The command line, checked. */
struct options {
	enum options_mode mode;
	const char *image;
	const char *dir;
	const char *campaign;
	const char *user;  /* "uid:gid", or NULL */
	int64_t uid, gid;  /* the same as numbers */
	const char *input; /* file for the command's descriptor 0, or NULL */
	const char *init;  /* fzinit, or NULL for the one beside us */
	const char *proxy_log; /* squid's access log, or NULL */
	char **command;	       /* NULL-terminated; may be empty */
	struct strv ro;	       /* HOST:CONTAINER */
	struct strv env;       /* NAME=VALUE, plain */
	struct strv secret_names;
	struct strv secrets; /* their values */
	struct mask_rules masks;
	struct netconf net;
	int64_t memory, cpus_milli, pids, tmp_size, max_log;
	int64_t timeout_s, grace_s, infra_wait_s;
	bool exit_status;
};

/* Exits itself for --help, --version and wrong words; -1 with *e set for
 * values that are wrong. */
int options_parse(
    struct options *, int argc, char *argv[], struct err *) MUST_CHECK;
void options_release(struct options *);

#endif
