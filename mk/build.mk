# One recipe for every program: the top Makefile only names its sources.
PROGRAMS :=
DEPS :=
# For tests, which look into every program.
INCLUDES := $(patsubst %/,-I%,$(wildcard tools/*/))

# $(call LIBRARY,sources)
define LIBRARY
DEPS += $(1:%.c=$(B)/lib/%.d)
$(B)/libfz.a: $(1:%.c=$(B)/lib/%.o)
	$$(call say,AR)rm -f $$@ && $$(AR) rcs $$@ $$^
endef

# $(call PROGRAM,name,sources,pkg-config modules)
define PROGRAM
PROGRAMS += $(B)/bin/$(1)
DEPS += $(2:%.c=$(B)/$(1)/%.d)
$(B)/bin/$(1): LDLIBS = $$(shell pkg-config --libs $(3))
$(B)/bin/$(1): $(2:%.c=$(B)/$(1)/%.o) $(B)/libfz.a
	@mkdir -p $$(@D)
	$$(call say,LD)$$(CC) $$(CFLAGS) $$(DYNAMIC) $$(LDFLAGS) -pie -o $$@ \
	    $$^ $$(LDLIBS)
endef

# $(call STATIC,name,sources,library sources): runs inside any container, so
# it brings all it needs and links nothing of ours that could print.
define STATIC
PROGRAMS += $(B)/bin/$(1)
$(B)/bin/$(1): $(2:%=tools/$(1)/%) $(3:%=tools/lib/%) \
    $(wildcard tools/$(1)/*.h $(3:%.c=tools/lib/%.h)) $(B)/flags
	@mkdir -p $$(@D)
	$$(call say,LD)$$(CC) $$(CPPFLAGS) $$(CFLAGS) $$(LDFLAGS) -static \
	    -o $$@ $$(filter %.c,$$^)
endef

$(B)/%.o: tools/%.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS) $(CFLAGS) $(DYNAMIC) -MMD -MP -c -o $@ $<

$(B)/lib/version.o: $(B)/version
$(B)/lib/version.o: CPPFLAGS += -DVERSION='"$(VERSION)"'

# Rewritten only when the text differs, so a new flag rebuilds everything.
$(B)/flags: STAMP = $(CC) $(CPPFLAGS) $(CFLAGS) $(DYNAMIC)
$(B)/version: STAMP = $(VERSION)
$(B)/flags $(B)/version: FORCE
	@mkdir -p $(@D)
	@echo '$(STAMP)' | cmp -s - $@ || echo '$(STAMP)' >$@
