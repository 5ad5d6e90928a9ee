# The stand-in agent of "make demo": a random generator, no model, no key.
# So few programs that a busy machine is not mistaken for a hanging session;
# the default seed finds both bugs with them.
IMAGE	= fuzzmill-demo
COMMAND	= /demo-agent --seed $(SEED) --programs 400 --hang 5 --fail 3
PROMPT	=
POLICY	=
VERDICT	= exit
ARTIFACTS =
AGENT_FILES = $(DEMO_FILES)
export AGENT_BUILD = sh mk/image.sh fuzzmill-demo $(B)/demo/image
