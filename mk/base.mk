# Settings every other fragment relies on.
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory
SHELL	:= /bin/sh

PREFIX	?= /usr/local
BINDIR	?= $(PREFIX)/bin
LIBEXECDIR ?= $(PREFIX)/libexec/fuzzmill
MANDIR	?= $(PREFIX)/share/man
# Every product goes below here; variants use another value (B=build/asan).
B	?= build
comma	:= ,
# Sanitizers cannot be linked statically, so this is kept apart from CFLAGS.
# A variant is known by its folder: tests call make with nothing but B.
SANITIZE ?= $(if $(filter %/asan,$(B)),address$(comma)undefined)

CFLAGS	?= -O2 -g
WARN	:= -Wall -Wextra -Wpedantic -Wshadow -Wformat=2 -Wvla -Wundef \
	   -Wcast-qual -Wwrite-strings -Wconversion -Wimplicit-fallthrough \
	   -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
override CPPFLAGS += -D_GNU_SOURCE -Itools/lib -include tools/lib/banned.h
override CFLAGS += -std=c11 $(WARN) $(if $(WERROR),-Werror) \
	   -fstack-protector-strong
DYNAMIC	:= -fPIE $(if $(SANITIZE),-fsanitize=$(SANITIZE) \
	   -fno-sanitize-recover=all -fno-omit-frame-pointer)
override LDFLAGS += -Wl,-z,relro,-z,now,--as-needed
VERSION	:= $(shell git describe --tags --always 2>/dev/null || cat VERSION)

# "make V=1" shows whole commands.
say = $(if $(V),,@printf '  %-5s %s\n' '$(1)' '$@';)

.DEFAULT_GOAL := all
.PHONY: all help FORCE
FORCE:
