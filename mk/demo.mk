# SPDX-License-Identifier: MIT
# The demo's target with and without its planted bugs, and its image's files.
DEMO_TARGET := $(B)/demo/target/calc
DEMO_CLEAN := $(B)/demo/clean/calc
DEMO_AGENT := $(B)/demo/image/demo-agent
DEMO_FILES := $(DEMO_TARGET) $(DEMO_CLEAN) $(DEMO_AGENT) \
	      $(B)/demo/image/Dockerfile

# Not CFLAGS: a sanitizer there would find the bugs in the agent's place,
# and an image made from scratch has no shared libraries.
DEMO_CFLAGS := -std=c11 -D_GNU_SOURCE -O2 $(WARN) $(if $(WERROR),-Werror)
DEMO_CALC := $(addprefix fuzz/demo/,calc.c compile.c lex.c vm.c)

$(DEMO_TARGET): DEMO_BUGS := -DPLANT_DIV=1 -DPLANT_INDEX=1
$(DEMO_CLEAN): DEMO_BUGS := -DPLANT_DIV=0 -DPLANT_INDEX=0
$(DEMO_TARGET) $(DEMO_CLEAN): $(DEMO_CALC) fuzz/demo/calc.h
$(DEMO_AGENT): fuzz/demo/agent.c fuzz/demo/gen.c fuzz/demo/gen.h

$(DEMO_TARGET) $(DEMO_CLEAN) $(DEMO_AGENT): mk/demo.mk
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(DEMO_CFLAGS) $(DEMO_BUGS) -static -o $@ \
	    $(filter %.c,$^)

$(B)/demo/image/Dockerfile: docker/demo/Dockerfile
	@mkdir -p $(@D)
	$(call say,CP)cp $< $@
