# Sessions as targets: make is the worker pool, a finished file the resume.
CONFIRM	?=
STATUS	?=
REASON	?=
RUN	?=
FOLLOW	?=
RAW	?=
ALL	?=
# What the user typed, for the command that continues a stopped campaign
# (CONTINUE, when a target has a command of its own).
CONTINUE ?=
quote	= '$(subst ','\'',$(subst $$,$$$$,$(1)))'
is_typed = $(filter command,$(origin $(1)))$(filter-out undefined,$(origin env_$(1)))
TYPED	= $(strip $(foreach v,$(filter-out DRY_RUN,$(CONFIG)),\
	  $(if $(call is_typed,$(v)),$(v)=$(call quote,$($(v))))))
EXPORTED += CONTINUE TYPED STATUS REASON RUN FOLLOW RAW ALL CONFIRM
export MAKE CONTINUE TYPED STATUS REASON RUN FOLLOW RAW ALL CONFIRM

campaign: $(PROGRAMS) $(AGENT_FILES)	## run the sessions that are missing
	+@sh mk/campaign.sh campaign

plan: $(PROGRAMS)	## what a campaign would do, at most how long
	@sh mk/campaign.sh plan

retry: $(PROGRAMS) $(AGENT_FILES)	## run STATUS= (or REASON=) runs again
	+@sh mk/campaign.sh retry

run: $(PROGRAMS) $(AGENT_FILES)	## run one session, RUN=007
	+@sh mk/campaign.sh run

# Order-only by having no prerequisites at all: a new prompt, image or
# program must not make a paid session due again.  Several words are no
# target; campaign.sh says so.
ifeq ($(words $(RUNDIR)),1)
$(RUNDIR)/%/result.json:
	@sh mk/session.sh $*

# make must never delete a verdict, not on an error, not on Ctrl-C.
.PRECIOUS: $(RUNDIR)/%/result.json
endif

# Called by campaign.sh, which has settled RUNS and holds the lock.
ifneq ($(filter sessions,$(MAKECMDGOALS)),)
sessions: $(patsubst %,$(RUNDIR)/%/result.json,\
    $(shell seq -f '%03.0f' 1 $(RUNS)))
	@:
endif

status: $(B)/bin/fzstat	## done, failed, running, last errors, next step
	@test -z "$$POLICY" || sh mk/proxy.sh status
	@$< $(RUNDIR)

stop:			## let running sessions end, start no new ones
	@sh mk/control.sh stop

kill: $(B)/bin/fzps	## stop running sessions now
	@sh mk/control.sh kill

ps: $(B)/bin/fzps	## running sessions with CPU and memory
	@$< $(RUNDIR)

logs: $(B)/bin/fzlog	## what RUN=007 did (FOLLOW=1 goes on, RAW=1 as it is)
	@sh mk/control.sh logs

shell:			## a shell inside the running session RUN=007
	@sh mk/control.sh shell

clean-runs:		## delete all runs of RUNDIR (CONFIRM=yes)
	@sh mk/control.sh clean-runs

workflows:		## list the workflows there are
	@sh mk/control.sh workflows

demo: setup		## 8 sessions, 4 workers: no key, no model
	@sh mk/control.sh demo-begin $(B)/demo-runs
	+@$(MAKE) campaign AGENT=demo WORKFLOW=demo RUNS=8 WORKERS=4 POOL=make \
	    TIMEOUT=10 GRACE=2 MEMORY=256m CPUS=1 PIDS=256 DRY_RUN= POLICY= \
	    TARGET=$(B)/demo/target RUNDIR=$(B)/demo-runs CONTINUE='make demo'
	@echo
	@$(B)/bin/fzstat $(B)/demo-runs
	@sh mk/control.sh demo-end $(B)/demo-runs

.PHONY: campaign plan retry run sessions status stop kill ps logs shell \
	clean-runs workflows demo
