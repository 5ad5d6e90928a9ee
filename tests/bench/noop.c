/* SPDX-License-Identifier: MIT */
/* The session that does nothing, so that only its container costs. */
int
main(void)
{
	return 0;
}
