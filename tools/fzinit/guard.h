/* SPDX-License-Identifier: MIT */
#ifndef FZINIT_GUARD_H
#define FZINIT_GUARD_H

/*
 * From here on neither we nor our children can change the resource limits
 * of PID 1: a process of the same uid could else give it a second of CPU
 * and keep it busy until the kernel kills it.  -1 when the kernel refuses.
 */
int guard_limits(void);

#endif
