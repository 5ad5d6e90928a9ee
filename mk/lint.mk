# Everything a machine can say about the sources.
SOURCES	:= $(wildcard tools/*/*.c fuzz/demo/*.c tests/unit/*.c \
	   tests/selffuzz/*.c tests/bench/*.c)
HEADERS	:= $(wildcard tools/*/*.h fuzz/demo/*.h)
PAGES	:= $(wildcard tools/*/*.[1-8])
SCRIPTS	:= $(wildcard mk/*.sh tests/*.sh tests/*/*.sh tests/*/*.t) .ci/run
TIDY_FLAGS = $(CPPFLAGS) $(INCLUDES) -std=c11

lint: setup-check lint-format lint-tidy lint-cppcheck	## format, tidy, cppcheck, scripts, manuals
lint: lint-shell lint-man lint-headers lint-layers

lint-format:
	@clang-format --dry-run -Werror $(SOURCES) $(HEADERS) \
	    $(wildcard tests/unit/*.h)
lint-tidy:
	@printf '%s\n' $(filter-out tools/lib/version.c,$(SOURCES)) | xargs -P 2 -n 6 sh -c 'clang-tidy --quiet \
	    --warnings-as-errors="*" "$$@" -- $(TIDY_FLAGS) 2>$(B)/tidy.$$$$ \
	    || { cat $(B)/tidy.$$$$; exit 255; }' tidy
# Neither cppcheck nor clang's analyzer knows the cleanup attribute; leaks
# are the address sanitizer's to find.
lint-cppcheck:
	@cppcheck --quiet --suppress=memleak --std=c11 --enable=warning,portability,performance \
	    --inline-suppr --error-exitcode=1 -Itools/lib \
	    $(wildcard tools/*/*.c fuzz/demo/*.c)
lint-shell:
	@shellcheck -x -s sh $(filter-out .ci/run,$(SCRIPTS))
	@shellcheck -x .ci/run
lint-man:
	@mandoc -T lint -W warning $(PAGES)
lint-headers:
	@for h in $(HEADERS); do printf '#include "%s"\ntypedef int used;\n' \
	    "$$h" | $(CC) $(TIDY_FLAGS) -I. $(WARN) -Werror -fsyntax-only \
	    -x c - || exit 1; done
# The library neither prints nor exits (err_report is for main), the pure
# modules touch neither files nor sockets, and cJSON is read in one place.
lint-layers:
	@! grep -nE '\b(printf|puts|exit)\(|fprintf\(std' $(filter-out \
	    tools/lib/err.c,$(wildcard tools/lib/*.c))
	@! grep -nE '\b(open|openat|socket|read|write|getenv|printf)\(' \
	    tools/dockrun/spec.c tools/dockrun/compare.c \
	    tools/dockrun/deadline.c tools/dockrun/stream.c \
	    tools/dockrun/redact.c tools/markrun/verdict.c \
	    tools/markrun/verdict-claude.c tools/markrun/result.c \
	    tools/fzstat/summary.c tools/fzlog/event.c \
	    $(addprefix tools/netpolicy/,policy.c check.c words.c name.c \
	    decide.c gen-squid.c gen-relays.c gen-hosts.c gen-env.c)
	@! grep -nE 'cJSON_(Parse|GetObjectItem\()' $(filter-out \
	    tools/lib/json.c,$(wildcard tools/*/*.c))

.PHONY: lint lint-format lint-tidy lint-cppcheck lint-shell lint-man \
	lint-headers lint-layers
