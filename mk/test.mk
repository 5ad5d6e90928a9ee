# Tests run against what was just built, never against an installed copy.
# With STRICT=1 a test that cannot run is a test that failed.
STRICT	?=
export STRICT
UNIT	:= $(patsubst tests/unit/%.c,$(B)/unit/%,$(wildcard tests/unit/*.c))
CLI	:= $(wildcard tests/cli/*.t)
ENGINE	:= $(wildcard tests/docker/*.t)
NET	:= $(wildcard tests/net/*.t)
LONG	:= $(wildcard tests/long/*.t)
# Of a person's settings a test knows what it sets itself.
CLEAN	= env $(addprefix -u ,$(EXPORTED) PARALLEL ANTHROPIC_API_KEY \
	  ANTHROPIC_AUTH_TOKEN)
RUN_TESTS = $(CLEAN) B=$(B) sh tests/run.sh

check: setup-check	## run every test a person waits for
	+@$(MAKE) build-tests
	@$(RUN_TESTS) $(UNIT) $(CLI) $(ENGINE) $(NET)

check-unit: $(UNIT)	## only the tests of single functions
	@$(RUN_TESTS) $(UNIT)

check-cli: build-tests	## only the tests of programs without an engine
	@$(RUN_TESTS) $(CLI)

check-docker: build-tests	## only the tests with a real engine
	@$(RUN_TESTS) $(ENGINE)

check-net: build-tests	## only the tests with a fake internet
	@$(RUN_TESTS) $(NET)

check-long: build-tests	## tests that take minutes
	@TEST_SECONDS=900 $(RUN_TESTS) $(LONG)

check-asan:		## unit, cli, docker and net tests with ASan and UBSan
	+@$(MAKE) B=build/asan build-tests
	@$(CLEAN) ASAN_OPTIONS=detect_stack_use_after_return=1 B=build/asan \
	    sh tests/run.sh $(UNIT:$(B)/%=build/asan/%) $(CLI) $(ENGINE) $(NET)

check-clang:		## everything compiles with clang and no warning
	+@$(MAKE) B=build/clang CC=clang WERROR=1 build-tests
	@$(CLEAN) B=build/clang sh tests/run.sh $(UNIT:$(B)/%=build/clang/%)

check-all: check check-long check-clang check-asan check-fuzz lint	## every test there is

build-tests: $(PROGRAMS) $(UNIT) $(DEMO_FILES)

# A unit test names the sources it needs besides the library in a comment.
ifneq ($(filter check% build-tests $(B)/unit/%,$(MAKECMDGOALS)),)
$(foreach t,$(UNIT),$(eval $(t): $(shell \
    sed -n 's/.*uses: \(.*\) \*\/$$/\1/p' tests/unit/$(notdir $(t)).c)))
endif
$(B)/unit/%: tests/unit/%.c $(B)/libfz.a $(wildcard tools/*/*.h tests/unit/*.h)
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(CPPFLAGS) $(INCLUDES) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -pie -o $@ \
	    $(filter %.c,$^) $(B)/libfz.a \
	    $$(pkg-config --libs cmocka libcurl libcjson libcrypto)

# Parsers of what others wrote, under libFuzzer, FUZZ_SECONDS each.
# FUZZ_SEED=0 draws another one each time; a fixed one can be gone through again.
FUZZ_SECONDS ?= 20
FUZZ_SEED ?= 0
FUZZ	:= $(patsubst tests/selffuzz/%.c,build/fuzz/%,\
	   $(wildcard tests/selffuzz/*.c))
check-fuzz: $(FUZZ)	## fuzz our own parsers
	@for f in $(FUZZ); do $$f -max_total_time=$(FUZZ_SECONDS) -seed=$(FUZZ_SEED) \
	    -artifact_prefix=build/fuzz/ -verbosity=0 -print_final_stats=0 \
	    -timeout=10 >$$f.log 2>&1 || { tail -n 40 $$f.log; exit 1; }; \
	    echo "fuzzed $${f##*/} for $(FUZZ_SECONDS) s"; done

build/fuzz/%: tests/selffuzz/%.c $(wildcard tools/lib/*.[ch] tools/*/*.[ch])
	@mkdir -p $(@D)
	$(call say,FUZZ)clang $(CPPFLAGS) -DVERSION='"fuzz"' -g -O1 \
	    -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	    $(INCLUDES) -o $@ $< \
	    $(wildcard tools/lib/*.c) \
	    $$(sed -n 's/.*uses: \(.*\) \*\/$$/\1/p' $<) \
	    $$(pkg-config --libs libcurl libcjson libcrypto)

.PHONY: check check-unit check-cli check-docker check-net check-long check-asan \
	check-clang check-all check-fuzz build-tests
