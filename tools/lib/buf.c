/* SPDX-License-Identifier: MIT */
#include "buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
buf_add(struct buf *b, const void *p, size_t n)
{
	size_t need, cap;
	char *d;

	if (n > b->max - b->len) {
		errno = EFBIG;
		return -1;
	}
	need = b->len + n + 1;
	if (need > b->cap) {
		cap = b->cap * 2 > need ? b->cap * 2 : need;
		d = realloc(b->data, cap);
		if (d == NULL)
			return -1;
		b->data = d;
		b->cap = cap;
	}
	memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = '\0';
	return 0;
}

void
buf_release(struct buf *b)
{
	free(b->data);
	b->data = NULL;
	b->len = b->cap = 0;
}
