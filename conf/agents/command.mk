# Any program as the agent: IMAGE holds it, COMMAND starts it (empty: the
# image's own), and it reads PROMPT as its standard input.  It reaches nobody
# unless POLICY names a file that says whom.
POLICY	?=
VERDICT	= exit
