#!/bin/sh
# SPDX-License-Identifier: MIT
# What install copies, that it works from there, and that uninstall takes
# all of it away again.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

run make -s -C "$top" B="$B" install DESTDIR="$work/stage" PREFIX=/usr
is 'install' 0 "$status"
is 'exactly this' './bin/dockrun ./bin/fzlog ./bin/fzplan ./bin/fzps ./bin/fzstat'\
' ./bin/markrun ./bin/netpolicy ./libexec/fuzzmill/fzinit ./share/man/man1/dockrun.1'\
' ./share/man/man1/fzinit.1 ./share/man/man1/fzlog.1'\
' ./share/man/man1/fzplan.1'\
' ./share/man/man1/fzps.1 ./share/man/man1/fzstat.1'\
' ./share/man/man1/markrun.1 ./share/man/man1/netpolicy.1'\
' ./share/man/man5/policy.conf.5 ./share/man/man5/rundir.5' \
    "$(cd stage/usr && find . -type f | sort | paste -s -d ' ')"
mkdir runs
run stage/usr/bin/dockrun --print-request --image x --dir runs/001 -- /x
is 'dockrun finds the fzinit that came with it' \
    "$(realpath stage/usr/libexec/fuzzmill/fzinit)" \
    "$(printf '%s\n' "$out" | sed -n 's/.*"Source":[^"]*"\(.*fzinit\)".*/\1/p')"
run make -s -C "$top" B="$B" uninstall DESTDIR="$work/stage" PREFIX=/usr
is 'uninstall' '0 0' "$status $(find stage -type f | wc -l)"
done_testing
