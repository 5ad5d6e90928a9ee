# Every variable a person may set.  The command line wins over the
# environment, that over conf/local.mk, that over the workflow, that over
# the defaults here.
CONFIG := RUNS WORKERS RUNDIR AGENT WORKFLOW PROMPT TARGET IMAGE COMMAND \
	TIMEOUT GRACE MEMORY CPUS PIDS TMP_SIZE MAX_LOG UNMASK DRY_RUN POOL \
	INFRA_WAIT SEED POLICY PROXY_DIR PROXY_CA GATE_PORT PROXY_PORT SQUID \
	RETRIES RETRY_WAIT MODEL MAX_TURNS BUDGET_RUN_USD BASE \
	IMAGE_PACKAGES WITH_GIT CLAUDE_VERSION CLAUDE_SHA256 BUILD_IMAGE TARGET_NET \
	TARGET_MEMORY

# make lets a makefile win over the environment; here it must not.
$(foreach v,$(CONFIG),$(if $(filter environment,$(origin $(v))),\
    $(eval env_$(v) := $$(value $(v)))))
-include conf/local.mk
$(foreach v,$(CONFIG),$(if $(filter undefined,$(origin env_$(v))),,\
    $(eval $(v) := $$(env_$(v)))))

WORKFLOW ?= quest
-include fuzz/workflows/$(WORKFLOW)/workflow.mk
AGENT	?= claude
-include conf/agents/$(AGENT).mk

# RUNS has no default here: a campaign remembers its own (fzplan).
WORKERS	?= 3
RUNDIR	?= fuzz/runs
PROMPT	?= $(firstword $(wildcard fuzz/workflows/$(WORKFLOW)/prompt.md) \
	   fuzz/prompt.md)
TARGET	?=
IMAGE	?=
COMMAND	?=
TIMEOUT	?= 900
GRACE	?= 20
MEMORY	?= 2g
CPUS	?= 1
PIDS	?= 256
TMP_SIZE ?= 100m
MAX_LOG	?= 64m
UNMASK	?=
DRY_RUN	?=
POOL	?= make
INFRA_WAIT ?= 600
SEED	?= 11
# Who may be reached, and by which squid; an agent that needs nobody has an
# empty POLICY.
POLICY	?= conf/policy.conf
PROXY_DIR ?= $(if $(filter 0,$(shell id -u)),/run/fuzzmill-proxy,$(HOME)/.cache/fuzzmill/proxy)
PROXY_CA ?=
GATE_PORT ?= 8080
PROXY_PORT ?= 3128
SQUID	?=
# After trouble of the API: tries of one session, seconds between them.
RETRIES	?= 5
RETRY_WAIT ?= 10
MODEL	?=
MAX_TURNS ?= 100
BUDGET_RUN_USD ?=
# The image that "make image" builds, and where "make target" does its work.
BASE	?=
IMAGE_PACKAGES ?=
WITH_GIT ?=
BUILD_IMAGE ?=
TARGET_NET ?=
TARGET_MEMORY ?= 4g
VERDICT	?= exit
PROXY_PROBE ?=
MOUNT	?= /target
CAMPAIGN ?= none
EXPORTED := $(CONFIG) MOUNT CAMPAIGN VERDICT PROXY_PROBE
export $(EXPORTED) B
