/* SPDX-License-Identifier: MIT */
/* The stack machine that runs compiled calc programs. */
#include "calc.h"

#include <inttypes.h>
#include <stdio.h>

static int
vm_fail(const struct insn *in, const char *text, struct calc_err *err)
{
	err->line = in->line;
	(void)snprintf(err->text, sizeof(err->text), "%s", text);
	return -1;
}

/* Signed overflow is undefined; unsigned arithmetic wraps. */
static int64_t
wrap_sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* b is not 0. */
static int64_t
divide(int64_t a, int64_t b)
{
	if (!PLANT_DIV && b == -1)
		return wrap_sub(0, a);
	return a / b;
}

/* b is not 0. */
static int64_t
modulo(int64_t a, int64_t b)
{
	if (!PLANT_DIV && b == -1)
		return 0;
	return a % b;
}

static int64_t *
vm_reg(struct vm *vm, int64_t i)
{
	if (i >= CALC_REGS || (!PLANT_INDEX && i < 0))
		return NULL;
	return &vm->reg[i];
}

static int64_t
vm_pop(struct vm *vm)
{
	return vm->stack[--vm->sp];
}

static int
vm_push(
    struct vm *vm, const struct insn *in, int64_t value, struct calc_err *err)
{
	if (vm->sp >= CALC_STACK_MAX)
		return vm_fail(in, "stack is full", err);
	vm->stack[vm->sp++] = value;
	return 0;
}

static int64_t
compute(enum op op, int64_t a, int64_t b)
{
	switch (op) {
	case OP_ADD:
		return (int64_t)((uint64_t)a + (uint64_t)b);
	case OP_SUB:
		return wrap_sub(a, b);
	case OP_MUL:
		return (int64_t)((uint64_t)a * (uint64_t)b);
	case OP_DIV:
		return divide(a, b);
	case OP_MOD:
		return modulo(a, b);
	case OP_LT:
		return a < b;
	case OP_LE:
		return a <= b;
	case OP_GT:
		return a > b;
	case OP_GE:
		return a >= b;
	case OP_EQ:
		return a == b;
	default:
		return a != b;
	}
}

static int
vm_binary(struct vm *vm, const struct insn *in, struct calc_err *err)
{
	int64_t b = vm_pop(vm);
	int64_t a = vm_pop(vm);

	if (b == 0 && (in->op == OP_DIV || in->op == OP_MOD))
		return vm_fail(in, "division by zero", err);
	return vm_push(vm, in, compute(in->op, a, b), err);
}

static int
vm_load(struct vm *vm, const struct insn *in, struct calc_err *err)
{
	const int64_t *reg = vm_reg(vm, vm_pop(vm));

	if (reg == NULL)
		return vm_fail(in, "no such register", err);
	return vm_push(vm, in, *reg, err);
}

static int
vm_store(struct vm *vm, const struct insn *in, struct calc_err *err)
{
	int64_t value = vm_pop(vm);
	int64_t *reg = vm_reg(vm, vm_pop(vm));

	if (reg == NULL)
		return vm_fail(in, "no such register", err);
	*reg = value;
	return 0;
}

static void
vm_repeat(struct vm *vm, const struct insn *in)
{
	int64_t *left = &vm->stack[vm->sp - 1];

	if (*left > 0) {
		--*left;
	} else {
		vm->sp--;
		vm->pc = (size_t)in->arg;
	}
}

static int
vm_step(struct vm *vm, const struct insn *in, struct calc_err *err)
{
	switch (in->op) {
	case OP_CONST:
		return vm_push(vm, in, in->arg, err);
	case OP_VAR:
		return vm_push(vm, in, vm->var[in->arg], err);
	case OP_LET:
		vm->var[in->arg] = vm_pop(vm);
		return 0;
	case OP_LOAD:
		return vm_load(vm, in, err);
	case OP_STORE:
		return vm_store(vm, in, err);
	case OP_PRINT:
		(void)printf("%" PRId64 "\n", vm_pop(vm));
		return 0;
	case OP_NEG:
		return vm_push(vm, in, wrap_sub(0, vm_pop(vm)), err);
	case OP_UNLESS:
		if (vm_pop(vm) == 0)
			vm->pc = (size_t)in->arg;
		return 0;
	case OP_REPEAT:
		vm_repeat(vm, in);
		return 0;
	case OP_JUMP:
		vm->pc = (size_t)in->arg;
		return 0;
	default:
		return vm_binary(vm, in, err);
	}
}

int
vm_run(struct vm *vm, const struct code *code, struct calc_err *err)
{
	for (int steps = 0; vm->pc < code->len; steps++) {
		const struct insn *in = &code->insn[vm->pc++];

		if (steps == CALC_STEPS_MAX)
			return vm_fail(in, "too many steps", err);
		if (vm_step(vm, in, err) < 0)
			return -1;
	}
	return 0;
}
