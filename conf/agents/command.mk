# Any program as the agent: IMAGE holds it, COMMAND starts it (empty: the
# image's own), and it reads PROMPT as its standard input.
