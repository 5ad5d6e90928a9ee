# SPDX-License-Identifier: MIT
# Claude Code, in an image of ours unless IMAGE names another that has it.
# The version is pinned with the sha256 of its program.
CLAUDE_VERSION ?= 2.1.326
CLAUDE_SHA256 ?= \
    b6b3647d981130dc44fc670846ae97b6cde531ffb667cf9c4d17cfcafb38cb37

claude_word = '$(subst ','\'',$(strip $(1)))'
ifeq ($(origin IMAGE),undefined)
IMAGE	:= $(shell $(foreach v,CLAUDE_VERSION CLAUDE_SHA256 BASE \
	   IMAGE_PACKAGES WITH_GIT,$(v)=$(call claude_word,$($(v)))) \
	   sh mk/agent-image.sh tag)
endif
export AGENT_BUILD = sh mk/agent-image.sh build

# The target may hold settings, hooks, servers and a CLAUDE.md of an
# attacker: --setting-sources and --strict-mcp-config keep them unread.
COMMAND	?= claude -p --output-format stream-json --verbose \
	   --dangerously-skip-permissions \
	   --setting-sources user --strict-mcp-config \
	   --no-session-persistence --disable-slash-commands \
	   --tools Bash,Read,Write,Edit \
	   --max-turns $(call claude_word,$(MAX_TURNS)) \
	   $(if $(MODEL),--model $(call claude_word,$(MODEL))) \
	   $(if $(BUDGET_RUN_USD),--max-budget-usd \
	   $(call claude_word,$(BUDGET_RUN_USD)))
POLICY	?= conf/policy.conf
VERDICT	= claude

# One free request that shows whether the key is good.  The short names of
# models are the program's own; the API does not know them.
PROXY_PROBE = {"model":"$(or $(filter claude-%,$(subst [1m],,$(MODEL))),\
claude-opus-5-5)","messages":[{"role":"user","content":"."}]}
