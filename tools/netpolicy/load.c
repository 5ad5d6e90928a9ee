/* SPDX-License-Identifier: MIT */
/* Reads a policy's file once, for its lines and for its hash. */
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>

#include <openssl/evp.h>

#include "buf.h"
#include "cleanup.h"
#include "err.h"

static int
hash(const struct buf *b, char out[SHA256_TEXT], struct err *e)
{
	unsigned char md[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	if (EVP_Digest(b->data, b->len, md, &n, EVP_sha256(), NULL) != 1 ||
	    n != 32)
		return err_set(e, EX_SOFTWARE, "libcrypto: no SHA-256");
	for (unsigned i = 0; i < n; i++)
		(void)snprintf(out + (size_t)i * 2, 3, "%02x", md[i]);
	return 0;
}

static int
read_file(const char *path, struct buf *b, struct err *e)
{
	AUTO(close_p) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char chunk[16384];
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return err_sys(e, EX_NOINPUT, "%s", path);
	if (fstat(fd, &st) < 0 || S_ISDIR(st.st_mode))
		return err_set(e, EX_NOINPUT, "%s: not a file", path);
	if (buf_add(b, "", 0) < 0)
		return err_sys(e, EX_OSERR, "%s", path);
	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, EX_IOERR, "%s", path);
		if (buf_add(b, chunk, (size_t)n) < 0)
			return err_set(e, EX_DATAERR, "%s: more than %zu bytes",
			    path, b->max);
	}
	return 0;
}

int
load_policy(struct load *l, const char *path, struct err *e)
{
	AUTO(buf_release) struct buf b = BUF_INIT(POLICY_BYTES);

	memset(l, 0, sizeof(*l));
	l->path = path;
	if (read_file(path, &b, e) < 0 || hash(&b, l->sha256, e) < 0)
		return -1;
	return policy_parse(b.data, b.len, &l->policy, &l->errors, e);
}

void
load_release(struct load *l)
{
	policy_release(&l->policy);
}
