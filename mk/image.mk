# SPDX-License-Identifier: MIT
# The agent's image, and what the workflow wants built of the target.
ARTIFACTS ?=
TARGET_BUILD ?=
EXPORTED += ARTIFACTS TARGET_BUILD CACHE AGENT_BUILD
export ARTIFACTS TARGET_BUILD CACHE

image: $(AGENT_FILES)	## build the agent's image, if it is not there
	@$(AGENT_BUILD)
	@sh mk/agent-image.sh show

target: $(B)/bin/dockrun	## build what the workflow needs, in a container
	@sh mk/target.sh build

.PHONY: image target
