/* SPDX-License-Identifier: MIT */
/* A session like any other, for the tests of what becomes of it. */
#ifndef TEST_SAMPLE_H
#define TEST_SAMPLE_H

#include <stdbool.h>

#include "spec.h"

#define SAMPLE_IMAGE                              \
	"sha256:0123456789abcdef0123456789abcdef" \
	"0123456789abcdef0123456789abcdef"

/* False when out of memory; spec_release() in any case. */
static inline bool
sample_make(struct spec *s)
{
	static const char *const init[] = { "/.fuzzmill/init", "--deadline=930",
		"--report=/.fuzzmill/report/s", "--" };
	static const char *const command[] = { "/bin/sh", "-c",
		"echo \"quote\" \\ \xc3\xa9" };
	static const char *const env[] = { "HOME=/tmp", "FUZZMILL_RUN=007",
		"EMPTY=" };
	bool ok = true;

	*s = (struct spec){
		.image = SAMPLE_IMAGE,
		.user = "1879048192:1879048192",
		.run = "007",
		.campaign = "0123456789abcdef",
		.owner = "boot/pid:[1]/42/4711",
		.memory = INT64_C(2147483648),
		.cpus_milli = 1500,
		.pids = 256,
		.tmp_size = 104857600,
	};
	for (size_t i = 0; i < ARRAY_LEN(init); i++)
		ok = ok && strv_add(&s->init, init[i]) == 0;
	for (size_t i = 0; i < ARRAY_LEN(command); i++)
		ok = ok && strv_add(&s->command, command[i]) == 0;
	for (size_t i = 0; i < ARRAY_LEN(env); i++)
		ok = ok && strv_add(&s->env, env[i]) == 0;
	ok = ok && strv_add(&s->hosts, "quest-proxy:127.0.0.1") == 0 &&
	    strv_add(&s->hosts, "quest-postgres-test:127.0.0.2") == 0;
	return ok &&
	    mounts_add(&s->mounts, "/usr/bin/fzinit", "/.fuzzmill/init",
		MOUNT_RO) == 0 &&
	    mounts_add(&s->mounts, "/runs/007/workspace", "/workspace/fuzz",
		MOUNT_RW) == 0 &&
	    mounts_add(&s->mounts, "/src/target", "/target", MOUNT_RO) == 0;
}

#endif
