/* SPDX-License-Identifier: MIT */
/* What is asked of the engine, as JSON.  Every security field is sent. */
#include "spec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "err.h"
#include "json.h"

#define NOFILE	   4096
#define TMP_INODES 10000
#define SHM_SIZE   (16 << 20)

/* The engine's own list and what else tells of the host. */
static const char *const masked_paths[] = { "/proc/acpi", "/proc/asound",
	"/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
	"/proc/sched_debug", "/proc/scsi", "/proc/timer_list",
	"/proc/timer_stats", "/sys/devices/virtual/powercap", "/sys/firmware" };
static const char *const readonly_paths[] = { "/proc/bus", "/proc/fs",
	"/proc/irq", "/proc/sys", "/proc/sysrq-trigger" };

int
mounts_add(struct mounts *m, const char *source, const char *target,
    enum mount_mode mode)
{
	struct mount one = { strdup(source), strdup(target), mode };
	struct mount *v = realloc(m->v, (m->n + 1) * sizeof(*v));

	if (v != NULL)
		m->v = v;
	if (v == NULL || one.source == NULL || one.target == NULL) {
		free(one.source);
		free(one.target);
		return -1;
	}
	m->v[m->n++] = one;
	return 0;
}

void
spec_release(struct spec *s)
{
	strv_release(&s->init);
	strv_release(&s->command);
	strv_release(&s->env);
	strv_release(&s->hosts);
	for (size_t i = 0; i < s->mounts.n; i++) {
		free(s->mounts.v[i].source);
		free(s->mounts.v[i].target);
	}
	free(s->mounts.v);
	s->mounts = (struct mounts){ 0 };
}

static void
put_list(cJSON *obj, const char *key, const char *const *v, size_t n, bool *ok)
{
	cJSON *arr = json_put_arr(obj, key, ok);

	for (size_t i = 0; i < n; i++)
		json_add_str(arr, v[i], ok);
}

static void
put_strv(cJSON *obj, const char *key, const struct strv *l, bool *ok)
{
	put_list(obj, key, (const char *const *)l->v, l->n, ok);
}

static void
put_ulimit(cJSON *arr, const char *name, int64_t limit, bool *ok)
{
	cJSON *u = json_add_obj(arr, ok);

	json_put_str(u, "Name", name, ok);
	json_put_int(u, "Soft", limit, ok);
	json_put_int(u, "Hard", limit, ok);
}

static void
put_mounts(cJSON *host, const struct mounts *m, bool *ok)
{
	cJSON *arr = json_put_arr(host, "Mounts", ok);

	for (size_t i = 0; i < m->n; i++) {
		cJSON *one = json_add_obj(arr, ok);
		cJSON *opt;

		json_put_str(one, "Type", "bind", ok);
		json_put_str(one, "Source", m->v[i].source, ok);
		json_put_str(one, "Target", m->v[i].target, ok);
		json_put_bool(one, "ReadOnly", m->v[i].mode == MOUNT_RO, ok);
		opt = json_put_obj(one, "BindOptions", ok);
		json_put_str(opt, "Propagation", "rprivate", ok);
		/* Read-only is not recursive; so nothing below is bound. */
		json_put_bool(opt, "NonRecursive", true, ok);
	}
}

static void
put_limits(cJSON *host, const struct spec *s, bool *ok)
{
	cJSON *tmpfs, *ulimits;
	char tmp[128];

	json_put_int(host, "Memory", s->memory, ok);
	json_put_int(host, "MemorySwap", s->memory, ok);
	json_put_int(host, "NanoCpus", s->cpus_milli * 1000000, ok);
	json_put_int(host, "PidsLimit", s->pids, ok);
	json_put_int(host, "ShmSize", SHM_SIZE, ok);
	json_put_int(host, "OomScoreAdj", 500, ok);
	json_put_bool(host, "OomKillDisable", false, ok);
	(void)snprintf(tmp, sizeof(tmp),
	    "rw,noexec,nosuid,nodev,size=%" PRId64 ",nr_inodes=%d,mode=1777",
	    s->tmp_size, TMP_INODES);
	tmpfs = json_put_obj(host, "Tmpfs", ok);
	json_put_str(tmpfs, "/tmp", tmp, ok);
	ulimits = json_put_arr(host, "Ulimits", ok);
	put_ulimit(ulimits, "core", 0, ok);
	put_ulimit(ulimits, "nofile", NOFILE, ok);
}

static void
put_walls(cJSON *host, const struct spec *s, bool *ok)
{
	static const char *const all[] = { "ALL" };
	static const char *const opts[] = { "no-new-privileges:true" };
	static const char *const empty_lists[] = { "Binds", "CapAdd",
		"DeviceCgroupRules", "DeviceRequests", "Devices", "Dns",
		"GroupAdd", "Links", "VolumesFrom" };

	json_put_bool(host, "Privileged", false, ok);
	json_put_bool(host, "ReadonlyRootfs", true, ok);
	put_list(host, "CapDrop", all, 1, ok);
	put_list(host, "SecurityOpt", opts, 1, ok);
	put_list(
	    host, "MaskedPaths", masked_paths, ARRAY_LEN(masked_paths), ok);
	put_list(host, "ReadonlyPaths", readonly_paths,
	    ARRAY_LEN(readonly_paths), ok);
	json_put_str(host, "NetworkMode", "none", ok);
	put_strv(host, "ExtraHosts", &s->hosts, ok);
	json_put_str(host, "IpcMode", "private", ok);
	json_put_str(host, "CgroupnsMode", "private", ok);
	json_put_str(host, "PidMode", "", ok);
	json_put_str(host, "UTSMode", "", ok);
	json_put_str(host, "UsernsMode", "", ok);
	json_put_str(host, "CgroupParent", "", ok);
	json_put_str(host, "Runtime", "runc", ok);
	json_put_bool(host, "Init", false, ok);
	json_put_bool(host, "AutoRemove", false, ok);
	json_put_bool(host, "PublishAllPorts", false, ok);
	(void)json_put_obj(host, "PortBindings", ok);
	(void)json_put_obj(host, "Sysctls", ok);
	for (size_t i = 0; i < ARRAY_LEN(empty_lists); i++)
		(void)json_put_arr(host, empty_lists[i], ok);
	json_put_str(json_put_obj(host, "RestartPolicy", ok), "Name", "no", ok);
	json_put_str(json_put_obj(host, "LogConfig", ok), "Type", "none", ok);
}

static void
put_config(cJSON *root, const struct spec *s, bool *ok)
{
	static const char *const none[] = { "NONE" };
	cJSON *labels;

	json_put_str(root, "Image", s->image, ok);
	json_put_str(root, "User", s->user, ok);
	json_put_str(root, "Hostname", "fuzzmill", ok);
	json_put_str(root, "WorkingDir", "/workspace/fuzz", ok);
	put_strv(root, "Entrypoint", &s->init, ok);
	put_strv(root, "Cmd", &s->command, ok);
	put_strv(root, "Env", &s->env, ok);
	json_put_bool(root, "Tty", false, ok);
	json_put_bool(root, "OpenStdin", false, ok);
	json_put_bool(root, "AttachStdin", false, ok);
	json_put_bool(root, "AttachStdout", true, ok);
	json_put_bool(root, "AttachStderr", true, ok);
	json_put_str(root, "StopSignal", "SIGTERM", ok);
	put_list(json_put_obj(root, "Healthcheck", ok), "Test", none, 1, ok);
	(void)json_put_obj(root, "Volumes", ok);
	(void)json_put_obj(root, "ExposedPorts", ok);
	labels = json_put_obj(root, "Labels", ok);
	json_put_str(labels, "fuzzmill", "1", ok);
	json_put_str(labels, "fuzzmill.campaign", s->campaign, ok);
	json_put_str(labels, "fuzzmill.run", s->run, ok);
	json_put_str(labels, "fuzzmill.owner", s->owner, ok);
}

cJSON *
spec_render(const struct spec *s, struct err *e)
{
	cJSON *root = cJSON_CreateObject();
	bool ok = root != NULL;
	cJSON *host;

	put_config(root, s, &ok);
	host = json_put_obj(root, "HostConfig", &ok);
	put_walls(host, s, &ok);
	put_limits(host, s, &ok);
	put_mounts(host, &s->mounts, &ok);
	if (ok)
		return root;
	cJSON_Delete(root);
	err_set(e, EX_SOFTWARE, "cannot render the container's JSON");
	return NULL;
}
