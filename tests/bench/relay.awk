# SPDX-License-Identifier: MIT
# Medians of the rounds of relay.sh as one table, then the goals.
# Reads "round contender down-MB/s up-MB/s request-us many-ms" lines.

# The median of one contender's share of another's in the same round.
function share(what, who, over,    i, v)
{
	for (i = 1; i <= rounds; i++)
		v[i] = what[i, who] / what[i, over]
	return median(v, rounds)
}

# The median of what one contender takes more than directly.
function added(what, who,    i, v)
{
	for (i = 1; i <= rounds; i++)
		v[i] = what[i, who] - what[i, "direct"]
	return median(v, rounds)
}

function goal(text, got, limit, reached)
{
	printf "  %-40s %6.2f  (goal %5.2f) %s\n", text, got, limit,
	    reached ? "reached" : "MISSED"
}

function at_least(text, got, limit)
{
	goal(text, got, limit, got >= limit)
}

{
	stream[$1, $2] = 2 / (1 / $3 + 1 / $4)
	request[$1, $2] = $5
	many[$1, $2] = $6
}

END {
	title["direct"] = "loopback TCP, directly"
	title["ours"] = "our relay, TCP to unix to TCP"
	title["socat"] = "socat, TCP to unix to TCP"
	print "| one way out | stream / direct | small request, us added " \
	    "| 500 connections at once / direct |"
	print "|---|---:|---:|---:|"
	n = split("direct ours socat", order, " ")
	for (i = 1; i <= n; i++)
		printf "| %s | %.2f | %.1f | %.2f |\n", title[order[i]],
		    share(stream, order[i], "direct"),
		    added(request, order[i]),
		    share(many, order[i], "direct")
	printf "\nMedian of %d interleaved rounds, each ratio within its own " \
	    "round. A stream is 256 MiB\nto us and 256 MiB from us; a " \
	    "request is 512 bytes and so is its answer.\n\n", rounds
	at_least("relay: stream / socat", share(stream, "ours", "socat"), 1)
	at_least("relay: stream / direct",
	    share(stream, "ours", "direct"), 0.35)
	got = added(request, "ours")
	goal("relay: us added to a small request", got, 80, got <= 80)
}
