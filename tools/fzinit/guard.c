/* SPDX-License-Identifier: MIT */
/* What not being dumpable does not cover. */
#include "guard.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#define AT(field) (unsigned)offsetof(struct seccomp_data, field)
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PID AT(args[0])
#else
#define PID (AT(args[0]) + 4)
#endif

#define LOAD(from)	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, from)
#define UNLESS(v, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, v, 0, skip)
#define RETURN(v)	BPF_STMT(BPF_RET | BPF_K, v)

/* prlimit64() of one architecture, called for PID 1. */
#define REFUSE(machine, call)                                              \
	LOAD(AT(arch)), UNLESS(machine, 5), LOAD(AT(nr)), UNLESS(call, 3), \
	    LOAD(PID), UNLESS(1, 1), RETURN(SECCOMP_RET_ERRNO | EPERM)

static struct sock_filter filter[] = {
#if defined(__x86_64__)
	REFUSE(AUDIT_ARCH_X86_64, 302),
	REFUSE(AUDIT_ARCH_X86_64, 0x40000000 + 302), /* x32 */
	REFUSE(AUDIT_ARCH_I386, 340),
#elif defined(__aarch64__)
	REFUSE(AUDIT_ARCH_AARCH64, 261),
	REFUSE(AUDIT_ARCH_ARM, 369),
#elif defined(__riscv) && __riscv_xlen == 64
	REFUSE(AUDIT_ARCH_RISCV64, 261),
#else
#error "the number of prlimit64() on this architecture is not known here"
#endif
	RETURN(SECCOMP_RET_ALLOW),
};

int
guard_limits(void)
{
	struct sock_fprog p = {
		.len = sizeof(filter) / sizeof(*filter),
		.filter = filter,
	};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p, 0, 0);
}
