/* SPDX-License-Identifier: MIT */
/* Hashes of inputs, by libcrypto. */
#include "sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "cleanup.h"
#include "err.h"

static void
md_p(EVP_MD_CTX **c)
{
	EVP_MD_CTX_free(*c);
}

static int
feed(int fd, EVP_MD_CTX *c)
{
	char chunk[16384];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (EVP_DigestUpdate(c, chunk, (size_t)n) != 1) {
			errno = ENOMEM;
			return -1;
		}
	}
	return 0;
}

int
sha256_fd(int fd, char out[SHA256_TEXT], struct err *e)
{
	AUTO(md_p) EVP_MD_CTX *c = EVP_MD_CTX_new();
	unsigned char md[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	if (c == NULL || EVP_DigestInit_ex(c, EVP_sha256(), NULL) != 1)
		return err_set(e, EX_SOFTWARE, "libcrypto: no SHA-256");
	if (feed(fd, c) < 0)
		return err_sys(e, EX_IOERR, "read");
	if (EVP_DigestFinal_ex(c, md, &n) != 1 || n != 32)
		return err_set(e, EX_SOFTWARE, "libcrypto: no digest");
	for (unsigned i = 0; i < n; i++)
		(void)snprintf(out + (size_t)i * 2, 3, "%02x", md[i]);
	return 0;
}

int
sha256_file(const char *path, char out[SHA256_TEXT], struct err *e)
{
	AUTO(close_p) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return err_sys(e, EX_NOINPUT, "%s", path);
	if (sha256_fd(fd, out, e) < 0)
		return err_wrap(e, "%s", path);
	return 0;
}
