# fuzzmill: fuzz a program with AI agents, each in a sealed container.
# "make help" lists what a person can type.
include mk/base.mk
include mk/config.mk
include mk/build.mk

# What there is to build.  Rules read these lists when they are parsed, so
# this table comes before the fragments that use it.
$(eval $(call LIBRARY,atfile.c buf.c clock.c docker.c err.c http.c json.c \
    num.c proc.c relay-address.c relay-conn.c relay.c rundir.c sha256.c \
    squidlog.c strv.c text.c transcript.c version.c))
$(eval $(call PROGRAM,dockrun,capture.c compare.c deadline.c dockrun.c env.c \
    facts.c inside.c mask.c netconf.c options.c prepare.c proxylog.c redact.c \
    relays.c reserve.c scratch.c session.c spec.c stream.c watch.c, \
    libcurl libcjson libcrypto))
$(eval $(call PROGRAM,fzlog,event.c fzlog.c,libcjson))
$(eval $(call PROGRAM,fzplan,campaign.c fzplan.c inputs.c place.c, \
    libcjson libcrypto))
$(eval $(call PROGRAM,fzps,fzps.c measure.c owner.c session.c sweep.c table.c, \
    libcurl libcjson libcrypto))
$(eval $(call PROGRAM,fzstat,fzstat.c output-closing.c output-ids.c \
    output-json.c output-jsonl.c output-text.c output-tsv.c output.c put.c \
    run.c scan.c summary.c,libcjson))
$(eval $(call PROGRAM,markrun,joblog.c judge.c markrun.c provider.c result.c \
    verdict-claude.c verdict.c,libcjson))
$(eval $(call PROGRAM,netpolicy,audit-json.c audit-text.c audit-tsv.c audit.c \
    check.c decide.c gen-env.c gen-hosts.c gen-key.c gen-relays.c gen-squid.c \
    gen.c load.c name.c netpolicy.c policy.c spans.c words.c, \
    libcjson libcrypto))
$(eval $(call STATIC,fzinit,carrier.c fzinit.c guard.c report.c, \
    relay.c relay-address.c relay-conn.c))

all: $(PROGRAMS)	## build every program

help:			## list what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | sort -u | \
	    awk -F '\t' '{ printf "  %-16s %s\n", $$1, $$2 }'

include mk/setup.mk
include mk/demo.mk
include mk/campaign.mk
include mk/network.mk
include mk/image.mk
include mk/test.mk
include mk/lint.mk
include mk/bench.mk
include mk/install.mk
-include $(DEPS)
