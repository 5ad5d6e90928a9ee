/* SPDX-License-Identifier: MIT */
/* uses: tools/markrun/result.c tools/markrun/verdict.c */
/* Any findings.jsonl: never more claims than lines, nor than 200. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int64_t claims = result_count_claims((const char *)data, size);
	int64_t lines = 1;

	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	if (claims < 0 || claims > lines || claims > 200)
		abort();
	return 0;
}
