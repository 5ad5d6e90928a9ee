#!/bin/sh
# SPDX-License-Identifier: MIT
# play.sh DIR: one dockrun against the fake engine that listens in DIR, with
# the options in DIR/options, one per line.  Leaves out, err and status there.
set -u
cd "$1" || exit 99
DOCKER_HOST=unix://$PWD/sock
FUZZMILL_RETRY_MS=10
FUZZMILL_API_TIMEOUT_MS=10000
case $1 in
*=silence*) FUZZMILL_API_TIMEOUT_MS=300 ;;
esac
export DOCKER_HOST FUZZMILL_RETRY_MS FUZZMILL_API_TIMEOUT_MS
set --
while read -r word
do
	test -z "$word" || set -- "$@" "$word"
done <options
timeout -k 5 40 dockrun --image fake --dir 001 --infra-wait 0 "$@" \
    -- /agent 'a b' >out 2>err
echo $? >status
