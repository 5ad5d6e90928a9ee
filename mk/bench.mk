# SPDX-License-Identifier: MIT
# How fast we are, as ratios within one run: times alone say nothing about
# another machine.
ROUNDS	?= 5
SESSIONS ?= 40
BENCH	:= $(B)/bench
BENCH_FILES := $(addprefix $(BENCH)/,floor measure noop relay)

bench: setup-bench	## speed and size against the engine's own floor
	+@$(MAKE) bench-files
	@B=$(B) sh tests/bench/resume.sh
	@B=$(B) ROUNDS=$(ROUNDS) sh tests/bench/relay.sh
	@B=$(B) ROUNDS=$(ROUNDS) SESSIONS=$(SESSIONS) sh tests/bench/sessions.sh

bench-files: $(PROGRAMS) $(BENCH_FILES)

$(BENCH)/relay: tests/bench/relay.c $(B)/libfz.a
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(CPPFLAGS) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -pie \
	    -pthread -o $@ $^

$(BENCH)/floor: tests/bench/floor.c $(B)/libfz.a
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(CPPFLAGS) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -pie \
	    -o $@ $^ $$(pkg-config --libs libcurl libcjson libcrypto)

# Neither may cost anything itself.
$(BENCH)/measure $(BENCH)/noop: $(BENCH)/%: tests/bench/%.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -static -o $@ $<

.PHONY: bench bench-files
