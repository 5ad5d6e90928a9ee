# SPDX-License-Identifier: MIT
# squid between the sessions and the world.
PROXY_VARS := POLICY PROXY_DIR GATE_PORT PROXY_PORT PROXY_CA PROXY_PROBE \
	SQUID RUNDIR ALL B
proxy	= @$(call setup_env,$(PROXY_VARS)) sh mk/proxy.sh

proxy-up: $(B)/bin/netpolicy	## start squid with the policy (ANTHROPIC_API_KEY set)
	$(proxy) up

proxy-check: $(B)/bin/netpolicy	## prove that squid does what the policy says
	$(proxy) check

proxy-reload: $(B)/bin/netpolicy	## put a new policy or key in force
	$(proxy) reload

proxy-log: $(B)/bin/netpolicy	## denied requests by run (ALL=1: every request)
	$(proxy) log

proxy-down:		## stop squid, forget the key
	$(proxy) down

.PHONY: proxy-up proxy-check proxy-reload proxy-log proxy-down
