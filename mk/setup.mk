# SPDX-License-Identifier: MIT
# Brings the machine to work, and says what is wrong with it.

# $(call setup_env,names): NAME='value' words that survive any quote
setup_env = $(foreach v,$(1),$(v)='$(subst ','\'',$($(v)))')

setup:		## install what the demo needs, start an engine (as root)
	@$(call setup_env,B) sh mk/setup.sh demo

setup-agent:	## the same, and what an agent with a network needs
	@$(call setup_env,B SQUID) sh mk/setup.sh agent

setup-check:	## the same, and what check needs
	@$(call setup_env,B SQUID) sh mk/setup.sh check

setup-bench:	## the same as setup, and what bench needs
	@$(call setup_env,B) sh mk/setup.sh bench

doctor:		## print every problem of this machine with its fix
	@$(call setup_env,WORKERS MEMORY RUNDIR TARGET B POLICY PROXY_DIR \
	    GATE_PORT PROXY_PORT SQUID) sh mk/doctor.sh

.PHONY: setup setup-agent setup-check setup-bench doctor
