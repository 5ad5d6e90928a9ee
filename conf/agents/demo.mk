# The stand-in agent of "make demo": a random generator, no model, no key.
IMAGE	= fuzzmill-demo
COMMAND	= /demo-agent --seed $(SEED) --hang 5 --fail 3
PROMPT	=
AGENT_FILES = $(DEMO_FILES)
export AGENT_BUILD = sh mk/image.sh fuzzmill-demo $(B)/demo/image
