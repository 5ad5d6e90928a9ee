/* SPDX-License-Identifier: MIT */
/* HTTP over a Unix socket with libcurl, several exchanges at a time. */
#include "http.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sysexits.h>

#include <curl/curl.h>
#include <openssl/crypto.h>

#include "cleanup.h"
#include "err.h"

#define POLL_MAX 8 /* descriptors a caller may wait for */

/* What has to stay alive until a transfer is over. */
struct http_slot {
	CURL *easy;
	char url[512];
	char why[CURL_ERROR_SIZE];
};

struct http {
	CURLM *multi;
	struct curl_slist *hdr;
	char *sock;
};

/*
 * libcurl and the libraries it brings start two TLS implementations that no
 * Unix socket needs, a fifth of a process's memory.  GnuTLS asks a program
 * by this name whether it should leave that to it (GNUTLS_SKIP_GLOBAL_INIT);
 * OpenSSL is told to read no configuration and load no tables.
 */
int _gnutls_global_init_skip(void); /* NOLINT: the name is theirs */

int
_gnutls_global_init_skip(void) /* NOLINT */
{
	return 1;
}

static bool
start_libraries(void)
{
	return OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG |
		       OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS |
		       OPENSSL_INIT_NO_ADD_ALL_CIPHERS |
		       OPENSSL_INIT_NO_ADD_ALL_DIGESTS,
		   NULL) == 1 &&
	    curl_global_init(CURL_GLOBAL_NOTHING) == CURLE_OK;
}

struct http *
http_open(const char *sock, struct err *e)
{
	struct http *h = calloc(1, sizeof(*h));

	if (h != NULL && start_libraries()) {
		h->multi = curl_multi_init();
		h->hdr =
		    curl_slist_append(NULL, "Content-Type: application/json");
		h->sock = strdup(sock);
	}
	if (h != NULL && h->multi != NULL && h->hdr != NULL && h->sock != NULL)
		return h;
	http_close(h);
	err_set(e, EX_OSERR, "libcurl: out of memory");
	return NULL;
}

void
http_close(struct http *h)
{
	if (h == NULL)
		return;
	curl_multi_cleanup(h->multi);
	curl_slist_free_all(h->hdr);
	free(h->sock);
	free(h);
}

static size_t
on_body(char *p, size_t size, size_t n, void *ctx)
{
	struct http_xfer *x = ctx;

	if (x->sink(x->ctx, p, size * n) == 0)
		return size * n;
	x->refused = true;
	return 0; /* libcurl ends the transfer */
}

static size_t
on_header(char *p, size_t size, size_t n, void *ctx)
{
	static const char api[] = "Api-Version:";
	struct http_xfer *x = ctx;
	size_t len = size * n;

	if (len > sizeof(api) && len < sizeof(api) + sizeof(x->api) &&
	    strncasecmp(p, api, sizeof(api) - 1) == 0) {
		memcpy(x->api, p + sizeof(api), len - sizeof(api));
		x->api[len - sizeof(api)] = '\0';
		x->api[strcspn(x->api, "\r\n")] = '\0';
	}
	if (len <= 2) /* the empty line: the head is complete */
		(void)curl_easy_getinfo(
		    x->slot->easy, CURLINFO_RESPONSE_CODE, &x->status);
	return len;
}

static CURLcode
slot_setup(const struct http *h, struct http_xfer *x)
{
	struct http_slot *s = x->slot;
	const char *body = x->req.json;
	CURLcode rc = CURLE_OK;

	if (body == NULL && strcmp(x->req.method, "POST") == 0)
		body = "";
#define SET(opt, val)                                             \
	do {                                                      \
		if (rc == CURLE_OK)                               \
			rc = curl_easy_setopt(s->easy, opt, val); \
	} while (0)
	SET(CURLOPT_ERRORBUFFER, s->why);
	SET(CURLOPT_UNIX_SOCKET_PATH, h->sock);
	SET(CURLOPT_PROXY, ""); /* whatever the environment says */
	/* On a connection used before, libcurl would silently send a request
	 * again whose answer was lost; create and start must not be. */
	SET(CURLOPT_FRESH_CONNECT, 1L);
	SET(CURLOPT_FORBID_REUSE, 1L);
	SET(CURLOPT_URL, s->url);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_TIMEOUT_MS, x->req.timeout_ms);
	SET(CURLOPT_HTTPHEADER, h->hdr);
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, (void *)x);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, (void *)x);
	SET(CURLOPT_PRIVATE, (void *)x);
	if (body != NULL)
		SET(CURLOPT_POSTFIELDS, body); /* borrowed, not copied */
	SET(CURLOPT_CUSTOMREQUEST, x->req.method);
#undef SET
	return rc;
}

int
http_start(struct http *h, struct http_xfer *x, struct err *e)
{
	int n;

	x->status = 0;
	x->done = x->failed = x->refused = false;
	x->api[0] = x->why[0] = '\0';
	x->slot = calloc(1, sizeof(*x->slot));
	if (x->slot == NULL)
		return err_sys(e, EX_OSERR, "%s", x->req.path);
	n = snprintf(
	    x->slot->url, sizeof(x->slot->url), "http://docker%s", x->req.path);
	x->slot->easy = curl_easy_init();
	if (n < 0 || (size_t)n >= sizeof(x->slot->url) ||
	    x->slot->easy == NULL || slot_setup(h, x) != CURLE_OK ||
	    curl_multi_add_handle(h->multi, x->slot->easy) != CURLM_OK) {
		http_stop(h, x);
		return err_set(e, EX_SOFTWARE, "%s: cannot set up the request",
		    x->req.path);
	}
	return 0;
}

void
http_stop(struct http *h, struct http_xfer *x)
{
	if (x->slot == NULL)
		return;
	if (x->slot->easy != NULL) {
		(void)curl_multi_remove_handle(h->multi, x->slot->easy);
		curl_easy_cleanup(x->slot->easy);
	}
	free(x->slot);
	x->slot = NULL;
	x->failed = x->failed || !x->done;
	x->done = true;
}

/* libcurl blames "docker port 80", which nobody has heard of. */
static void
explain(struct http_xfer *x, CURLcode rc)
{
	const char *why = x->slot->why;
	long sys = 0;

	if (rc == CURLE_COULDNT_CONNECT &&
	    curl_easy_getinfo(x->slot->easy, CURLINFO_OS_ERRNO, &sys) ==
		CURLE_OK &&
	    sys != 0)
		why = strerror((int)sys);
	if (why[0] == '\0')
		why = curl_easy_strerror(rc);
	(void)snprintf(x->why, sizeof(x->why), "%s", why);
}

/* Notes which exchanges have ended. */
static void
collect(struct http *h)
{
	CURLMsg *m;
	int left;

	while ((m = curl_multi_info_read(h->multi, &left)) != NULL) {
		struct http_xfer *x = NULL;
		CURLcode rc = m->data.result;

		if (m->msg != CURLMSG_DONE ||
		    curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE,
			(char **)&x) != CURLE_OK ||
		    x == NULL)
			continue;
		x->done = true;
		x->failed = rc != CURLE_OK || x->status == 0;
		explain(x, rc);
	}
}

int
http_poll(struct http *h, struct pollfd *fds, unsigned n, long timeout_ms,
    struct err *e)
{
	struct curl_waitfd wait[POLL_MAX];
	int running, ready;

	if (n > POLL_MAX)
		return err_set(e, EX_SOFTWARE, "too many descriptors");
	for (unsigned i = 0; i < n; i++)
		wait[i] = (struct curl_waitfd){ .fd = fds[i].fd,
			.events = CURL_WAIT_POLLIN };
	/* Waiting comes first: what perform has taken in, poll cannot see. */
	if (curl_multi_poll(h->multi, wait, n, (int)timeout_ms, &ready) !=
		CURLM_OK ||
	    curl_multi_perform(h->multi, &running) != CURLM_OK)
		return err_set(e, EX_SOFTWARE, "libcurl: poll");
	collect(h);
	for (unsigned i = 0; i < n; i++)
		fds[i].revents = wait[i].revents;
	return 0;
}

int
http_error(const struct http *h, const struct http_xfer *x, struct err *e)
{
	if (x->refused)
		return err_set(e, EX_PROTOCOL, "%s %s: answer too long",
		    x->req.method, x->req.path);
	return err_set(e, EX_UNAVAILABLE, "engine at %s: %s %s: %s", h->sock,
	    x->req.method, x->req.path, x->why);
}

static int
into_buf(void *ctx, const char *p, size_t n)
{
	return buf_add(ctx, p, n);
}

int
http_call(struct http *h, const struct http_req *q, struct http_resp *r,
    struct err *e)
{
	struct http_xfer x = { .req = *q, .sink = into_buf, .ctx = &r->body };
	int rc = 0;

	if (http_start(h, &x, e) < 0)
		return -1;
	while (rc == 0 && !x.done)
		rc = http_poll(h, NULL, 0, 1000, e);
	if (rc == 0 && x.failed)
		rc = http_error(h, &x, e);
	r->status = x.status;
	memcpy(r->api, x.api, sizeof(r->api));
	http_stop(h, &x);
	return rc;
}
