# Every variable a person may set.  The command line wins over the
# environment, that over conf/local.mk, that over the workflow, that over
# the defaults here.
CONFIG := RUNS WORKERS RUNDIR AGENT WORKFLOW PROMPT TARGET IMAGE COMMAND \
	TIMEOUT GRACE MEMORY CPUS PIDS TMP_SIZE MAX_LOG UNMASK DRY_RUN POOL \
	INFRA_WAIT SEED

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
MOUNT	?= /target
CAMPAIGN ?= none
export $(CONFIG) MOUNT CAMPAIGN B
