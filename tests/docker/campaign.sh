# SPDX-License-Identifier: MIT
# Sourced after tap.sh by the tests of campaigns: a copy of the tree that may
# be changed, an agent that does as it is told, and make to run it with.
# shellcheck shell=sh disable=SC2034,SC2154 # set for the tests, by tap.sh

export LC_ALL=C.UTF-8

# The flags $B was built with, so that no make here builds it anew.
words=$(cat "$B/flags") || exit 99
CC=${words%% -D_GNU_SOURCE*}
CFLAGS=${words#*banned.h }
CFLAGS=${CFLAGS%% -std=c11*}
SANITIZE=$(expr "$words" : '.*-fsanitize=\([^ ]*\)')
WERROR=$(expr "$words" : '.* \(-Werror\) ')
export CC CFLAGS SANITIZE WERROR
version=$(cat "$B/version")

tree=$work/tree
image=fztest-camp:$$
pids=

# The tree as it is, without what a person keeps there.
copy_tree () {
	mkdir "$tree" && (cd "$top" && tar c --exclude=./build \
	    --exclude=./.git --exclude=./fuzz/runs --exclude=./conf/local.mk .) |
	    tar x -C "$tree"
}

# The agent says who it is and what it was asked, leaves a file "up" in its
# workspace, then follows its words: a number (seconds to take), "gate"
# (until the target holds "go" or "go-RUN"), "deaf" (to polite signals; then
# there is a file of that name), "tell:VARIABLE", "has:FILE", RUN=STATUS or
# RUN=hang.
make_image () {
	cat >agent.c <<-'END'
	#include <signal.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <time.h>
	#include <unistd.h>
	static void
	touch(const char *name)
	{
		FILE *f = fopen(name, "w");
		if (f != NULL)
			fclose(f);
	}
	static void
	take(double s)
	{
		struct timespec t = { (time_t)s, (long)((s - (long)s) * 1e9) };
		(void)nanosleep(&t, NULL);
	}
	int
	main(int argc, char *argv[])
	{
		const char *run = getenv("FUZZMILL_RUN");
		char ask[80] = "", mine[80];
		printf("run %s: %s", run, fgets(ask, sizeof(ask), stdin));
		printf("esc\033[2Jape\n\302\302\233\2331m\n");
		fflush(stdout);
		touch("up");
		for (int i = 1; i < argc; i++) {
			char *eq = strchr(argv[i], '=');
			if (strcmp(argv[i], "deaf") == 0) {
				signal(SIGINT, SIG_IGN);
				signal(SIGTERM, SIG_IGN);
				touch("deaf");
			} else if (strcmp(argv[i], "gate") == 0) {
				snprintf(mine, sizeof(mine), "/quest/go-%s", run);
				while (access("/quest/go", F_OK) != 0 &&
				    access(mine, F_OK) != 0)
					take(0.02);
			} else if (strncmp(argv[i], "tell:", 5) == 0) {
				printf("%s=%s\n", argv[i] + 5, getenv(argv[i] + 5));
			} else if (strncmp(argv[i], "has:", 4) == 0) {
				printf("%s is %s\n", argv[i] + 4,
				    access(argv[i] + 4, F_OK) == 0 ? "there" : "not there");
			} else if (eq == NULL) {
				take(atof(argv[i]));
			} else if (strncmp(argv[i], run, strlen(run)) == 0) {
				if (strcmp(eq, "=hang") == 0)
					take(1000);
				return atoi(eq + 1);
			}
		}
		return 0;
	}
	END
	cc -static -O1 -o agent agent.c || skip_all 'no static C library'
	tar c agent | docker import - "$image" >/dev/null ||
	    skip_all 'no image'
}

# What the default workflow expects of one.
make_target () {
	mkdir -p target/target/release
	: >target/target/release/quest
}

# fz ARGUMENT...: make in the copy, with all a campaign needs.  A program,
# for the sake of pty.py; words of the test's own come last and win.
make_fz () {
	mkdir bin
	cat >bin/fz <<-END
	#!/bin/sh
	exec make --no-print-directory -C '$tree' B='$B' VERSION='$version' \
	    AGENT=command IMAGE='$image' TARGET='$work/target' TIMEOUT=60 \
	    PROMPT='$work/prompt.md' RUNDIR='$work/runs' GRACE=1 MEMORY=64m "\$@"
	END
	chmod +x bin/fz
	PATH=$work/bin:$PATH
}

# prepare: all of these, or no test
prepare () {
	docker version >/dev/null 2>&1 || skip_all 'no engine, or no docker client'
	at_exit=clean_up
	make_target
	echo 'find bugs' >prompt.md
	copy_tree
	make_fz
	fz all >/dev/null || exit 99
	make_image
}

# press [--on REGEX KEYS]... COMMAND...: on a terminal
press () {
	/usr/bin/python3 "$top/tests/docker/pty.py" "$@" 2>&1 </dev/null |
	    tr -d '\r'
}

# bg LOG ARGUMENT...: the same in the background, its process in $bg
bg () {
	log=$1
	shift
	fz "$@" >"$log" 2>&1 &
	bg=$!
	pids="$pids $bg"
}

has_lines () {
	test "$(grep -Ec -e "$2" "$1")" -ge "$3"
}

# says FILE REGEX [TIMES]: waits until the lines are there
says () {
	until_true 300 has_lines "$1" "$2" "${3:-1}"
}

# up RUNDIR RUN...: waits until their agents are at work
up () {
	where=$1
	shift
	for id in "$@"
	do
		until_true 300 test -e "$where/$id/workspace/up" || return
	done
}

# done_of RUNDIR: the runs that have a verdict; tries_of: lines of the joblog
done_of () {
	for result in "$1"/*/result.json
	do
		test ! -s "$result" || basename "${result%/result.json}"
	done | paste -s -d ' '
}

tries_of () {
	sed 1d "$1/joblog.tsv" | wc -l
}

# containers [RUNDIR]: how many of its campaign there are
containers () {
	id=$(sed -n 's/.*"id":"\([0-9a-f]*\)".*/\1/p' "${1:-$work/runs}/campaign.json")
	docker ps -aq --filter "label=fuzzmill.campaign=$id" | wc -l
}

# child_of PID: the only one, or all
child_of () {
	sed 's/ $//' "/proc/$1/task/$1/children" 2>/dev/null
}

# family PID: it and all its descendants
family () {
	echo "$1"
	for child in $(child_of "$1")
	do
		family "$child"
	done
}

clean_up () {
	: >"$work/target/go"
	for process in $pids
	do
		# shellcheck disable=SC2046 # pids
		kill -9 $(family "$process") 2>/dev/null
	done
	for file in "$work"/*/campaign.json
	do
		id=$(sed -n 's/.*"id":"\([0-9a-f]*\)".*/\1/p' "$file")
		docker ps -aq --filter "label=fuzzmill.campaign=${id:-none}" |
		    xargs -r docker rm -f >/dev/null 2>&1
	done
	docker rmi "$image" >/dev/null 2>&1
}

# An engine of the test's own, for what must not happen to another's.
start_engine () {
	mkdir -p "$work/engine"
	DOCKER_HOST=unix://$work/engine/sock
	export DOCKER_HOST
	# In a network of its own: --bridge none deletes the docker0 it sees.
	unshare --net dockerd -H "$DOCKER_HOST" --data-root "$work/engine/data" \
	    --exec-root "$work/engine/exec" --pidfile "$work/engine/pid" \
	    --bridge none --iptables=false --ip6tables=false \
	    >>"$work/engine/log" 2>&1 &
	engine=$!
	until_true 200 docker version
}

# With its pid files: a zombie's number would look alive to the next one.
kill_engine () {
	file=$work/engine/exec/containerd/containerd.pid
	kill -9 "$engine" "$(cat "$file")"
	wait "$engine" 2>/dev/null
	rm -f "$file" "$work/engine/pid"
}

# One that was killed leaves mounts behind.
stop_engine () {
	test -n "${engine:-}" || return
	docker ps -aq | xargs -r docker rm -f >/dev/null 2>&1
	kill "$engine" 2>/dev/null && wait "$engine"
	grep -l -a -e "$work/engine/exec" /proc/[0-9]*/cmdline 2>/dev/null |
	    sed 's|[^0-9]||g' | xargs -r kill -9 2>/dev/null
	awk -v at="$work/engine/" 'index($2, at) == 1 { print $2 }' /proc/mounts |
	    sort -r | xargs -r umount
}
