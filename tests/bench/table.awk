# SPDX-License-Identifier: MIT
# Medians of the rounds as one table of ratios, then the goals.
# Reads "round contender wall-ms cpu-ms rss-kib" lines.

# The median of one contender's cost over another's in the same round; over
# nobody's, of the cost per session.
function cost(what, who, over,    i, v)
{
	for (i = 1; i <= rounds; i++)
		v[i] = what[i, who] / (over == "" ? sessions : what[i, over])
	return median(v, rounds)
}

function goal(text, got, limit)
{
	printf "  %-40s %6.2f  (goal %5.2f) %s\n", text, got, limit,
	    got <= limit ? "reached" : "MISSED"
}

{
	wall[$1, $2] = $3
	cpu[$1, $2] = $4
}

END {
	title["floor"] = "engine floor (create, start, wait, remove)"
	title["dockrun"] = "dockrun"
	title["marked"] = "dockrun && markrun"
	title["campaign"] = "make campaign, from first line to last"
	title["docker-sealed"] = "docker run --rm, equally sealed"
	title["docker-plain"] = "docker run --rm --network none, else plain"
	title["python"] = "Python docker library, equally sealed"
	sealed = "docker-sealed"

	printf "| %d no-op sessions, %d workers | wall / floor ", sessions,
	    workers
	print "| client CPU ms each | CPU / floor | CPU / docker |"
	print "|---|---:|---:|---:|---:|"
	n = split(contenders, order, " ")
	for (i = 1; i <= n; i++) {
		who = order[i]
		printf "| %s | %.2f | %.1f | %.2f | %.2f |\n", title[who],
		    cost(wall, who, "floor"), cost(cpu, who, ""),
		    cost(cpu, who, "floor"), cost(cpu, who, sealed)
	}
	least = most = wall[1, "floor"]
	for (i = 2; i <= rounds; i++) {
		least = wall[i, "floor"] < least ? wall[i, "floor"] : least
		most = wall[i, "floor"] > most ? wall[i, "floor"] : most
	}
	printf "\nMedian of %d interleaved rounds, each ratio within its own " \
	    "round; the floor took\n%.1f to %.1f s a round. Client CPU is " \
	    "user + system time of all processes but the\nengine's. The " \
	    "floor sends dockrun's request by dockrun's library, but the " \
	    "no-op is\nPID 1 there: no fzinit, no output, no inspection, " \
	    "no record. \"docker\" is the sealed one.\n\n", rounds,
	    least / 1000, most / 1000
	for (i = split("dockrun marked", ours, " "); i > 0; i--) {
		who = ours[i]
		goal(title[who] ": wall / floor",
		    cost(wall, who, "floor"), 1.10)
		goal(title[who] ": client CPU / floor",
		    cost(cpu, who, "floor"), 1.50)
		goal(title[who] ": client CPU / docker",
		    cost(cpu, who, sealed), 0.60)
	}
	goal("dockrun: resident MiB", rss / 1024, 9)
}
