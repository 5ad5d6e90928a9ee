/* SPDX-License-Identifier: MIT */
/* The calls of the Docker Engine API that we use. */
#include "docker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "cleanup.h"
#include "err.h"
#include "json.h"
#include "num.h"
#include "text.h"

#define ANSWER_MAX ((size_t)4 << 20)
#define SCHEME	   "unix://"
#define RESP_INIT                            \
	{                                    \
		.body = BUF_INIT(ANSWER_MAX) \
	}

const char *
docker_socket(struct err *e)
{
	const char *host = getenv("DOCKER_HOST");

	if (host == NULL || host[0] == '\0')
		return "/var/run/docker.sock";
	if (strncmp(host, SCHEME "/", sizeof(SCHEME)) == 0)
		return host + sizeof(SCHEME) - 1;
	err_set(e, EX_CONFIG,
	    "DOCKER_HOST \"%s\": only unix:///path is supported", host);
	return NULL;
}

int
docker_open(struct docker *d, struct err *e)
{
	const char *sock = docker_socket(e);

	*d = (struct docker){ .timeout_ms =
				  (long)num_env("FUZZMILL_API_TIMEOUT_MS", 1,
				      3600000, 30000) };
	if (sock == NULL)
		return -1;
	d->http = http_open(sock, e);
	return d->http != NULL ? 0 : -1;
}

void
docker_release(struct docker *d)
{
	http_close(d->http);
	d->http = NULL;
}

int
docker_refusal(const char *what, long status, const char *body, struct err *e)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(300);
	AUTO(json_p) cJSON *j = NULL;
	struct err ignored;
	const char *msg;
	int code = EX_CONFIG;

	if (body == NULL)
		body = "";
	j = json_parse(body, strlen(body), &ignored);
	msg = json_at_str(j, "message");
	if (msg == NULL)
		msg = "no reason given";
	if (text_clean(&clean, msg, strnlen(msg, 200), false) < 0)
		clean.len = 0; /* too long when escaped: do without */
	if (status >= 500)
		code = EX_TEMPFAIL;
	else if (status == 404)
		code = EX_NOINPUT;
	else if (status < 400)
		code = EX_PROTOCOL;
	return err_set(e, code, "%s: engine says %ld: %s", what, status,
	    clean.len > 0 ? clean.data : "");
}

/* Sends a request below the prefix; the answer's body is the caller's. */
static int
call(struct docker *d, const char *method, const char *path, const char *json,
    struct http_resp *r, struct err *e)
{
	char full[480];
	struct http_req q = { .method = method,
		.path = full,
		.json = json,
		.timeout_ms = d->timeout_ms };
	int n = snprintf(full, sizeof(full), "%s%s", d->prefix, path);

	if (n < 0 || (size_t)n >= sizeof(full))
		return err_set(e, EX_USAGE, "%.40s...: name too long", path);
	if (http_call(d->http, &q, r, e) < 0)
		return -1;
	if (buf_add(&r->body, "", 0) < 0) /* terminated, even if empty */
		return err_sys(e, EX_OSERR, "%s", path);
	return 0;
}

/* GET that must give a JSON value of the given kind. */
static cJSON *
get(struct docker *d, const char *what, const char *path,
    cJSON_bool (*is_kind)(const cJSON *), struct err *e)
{
	AUTO(http_resp_release) struct http_resp r = RESP_INIT;
	cJSON *j;

	if (call(d, "GET", path, NULL, &r, e) < 0)
		return NULL;
	if (r.status != 200) {
		docker_refusal(what, r.status, r.body.data, e);
		return NULL;
	}
	j = json_parse(r.body.data, r.body.len, e);
	if (j != NULL && is_kind(j))
		return j;
	if (j != NULL)
		err_set(e, EX_PROTOCOL, "unexpected kind of value");
	cJSON_Delete(j);
	e->exit = EX_PROTOCOL;
	err_wrap(e, "%s: the engine's answer", what);
	return NULL;
}

/* "1.41" -> 141; 0 when it is no version. */
static int
version_number(const char *s)
{
	char *end;
	long major, minor;

	major = strtol(s, &end, 10);
	if (end == s || *end != '.')
		return 0;
	s = end + 1;
	minor = strtol(s, &end, 10);
	if (end == s || *end != '\0' || major < 1 || major > 9 || minor < 0 ||
	    minor > 99)
		return 0;
	return (int)(major * 100 + minor);
}

int
docker_ping(struct docker *d, struct err *e)
{
	AUTO(http_resp_release) struct http_resp r = RESP_INIT;
	int v;

	d->prefix[0] = '\0';
	if (call(d, "GET", "/_ping", NULL, &r, e) < 0)
		return -1;
	if (r.status != 200)
		return docker_refusal("ping", r.status, r.body.data, e);
	v = version_number(r.api);
	if (v == 0)
		return err_set(
		    e, EX_PROTOCOL, "ping: the engine names no API version");
	if (v < 141)
		return err_set(e, EX_CONFIG,
		    "the engine speaks API %s; 1.41 (Docker 20.10) is needed",
		    r.api);
	/* Engines from 1.44 on may refuse older ones. */
	(void)snprintf(
	    d->prefix, sizeof(d->prefix), "/v%s", v >= 144 ? "1.44" : "1.41");
	return 0;
}

/* Percent-escapes what may stand in an image name. */
static int
escape(const char *name, char *out, size_t size)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789-._~:/@";
	size_t n = 0;

	for (; *name != '\0'; name++) {
		if (n + 4 > size)
			return -1;
		if (strchr(plain, *name) != NULL)
			out[n++] = *name;
		else
			n += (size_t)snprintf(out + n, size - n, "%%%02X",
			    (unsigned)(unsigned char)*name);
	}
	out[n] = '\0';
	return 0;
}

cJSON *
docker_image(struct docker *d, const char *name, struct err *e)
{
	char esc[300], path[320];
	cJSON *j;

	if (escape(name, esc, sizeof(esc)) < 0) {
		err_set(e, EX_USAGE, "image %.40s...: name too long", name);
		return NULL;
	}
	(void)snprintf(path, sizeof(path), "/images/%s/json", esc);
	j = get(d, "image", path, cJSON_IsObject, e);
	if (j == NULL && e->exit == EX_NOINPUT)
		err_set(
		    e, EX_NOINPUT, "no image \"%.100s\" in the engine", name);
	if (j == NULL || json_at_str(j, "Id") != NULL)
		return j;
	cJSON_Delete(j);
	err_set(e, EX_PROTOCOL, "image %.100s: the answer has no Id", name);
	return NULL;
}

cJSON *
docker_inspect(struct docker *d, const char *id, struct err *e)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "/containers/%s/json", id);
	return get(d, "inspect", path, cJSON_IsObject, e);
}

cJSON *
docker_list(struct docker *d, struct err *e)
{
	return get(d, "list",
	    "/containers/json?all=1&filters="
	    "%7B%22label%22%3A%5B%22fuzzmill%3D1%22%5D%7D",
	    cJSON_IsArray, e);
}

cJSON *
docker_stats(struct docker *d, const char *id, struct err *e)
{
	char path[128];

	(void)snprintf(
	    path, sizeof(path), "/containers/%s/stats?stream=false", id);
	return get(d, "stats", path, cJSON_IsObject, e);
}

static bool
id_is_valid(const char *id)
{
	return id != NULL && strlen(id) == DOCKER_ID - 1 &&
	    strspn(id, "0123456789abcdef") == DOCKER_ID - 1;
}

int
docker_create(struct docker *d, const char *name, const char *body,
    char id[DOCKER_ID], struct err *e)
{
	AUTO(http_resp_release) struct http_resp r = RESP_INIT;
	AUTO(json_p) cJSON *j = NULL;
	const char *got;
	char path[128];

	(void)snprintf(path, sizeof(path), "/containers/create?name=%s", name);
	if (call(d, "POST", path, body, &r, e) < 0)
		return -1;
	if (r.status != 201)
		return docker_refusal("create", r.status, r.body.data, e);
	j = json_parse(r.body.data, r.body.len, e);
	got = json_at_str(j, "Id");
	if (!id_is_valid(got))
		return err_set(e, EX_PROTOCOL,
		    "create: the engine's answer has no container id");
	memcpy(id, got, DOCKER_ID);
	return 0;
}

/* A call whose answer is only its status: 2xx, or one that is as good. */
static int
act(struct docker *d, const char *what, const char *method, const char *path,
    long as_good, struct err *e)
{
	AUTO(http_resp_release) struct http_resp r = RESP_INIT;

	if (call(d, method, path, NULL, &r, e) < 0)
		return -1;
	if (r.status / 100 == 2 || r.status == as_good)
		return 0;
	return docker_refusal(what, r.status, r.body.data, e);
}

int
docker_start(struct docker *d, const char *id, struct err *e)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "/containers/%s/start", id);
	return act(d, "start", "POST", path, 204, e);
}

int
docker_remove(struct docker *d, const char *id, struct err *e)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "/containers/%s?force=1&v=1", id);
	return act(d, "remove", "DELETE", path, 404, e);
}
