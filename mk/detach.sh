# SPDX-License-Identifier: MIT
# The text of a shell's -c that becomes the command "$@" in a session of its
# own, with none of our descriptors (a jobserver, a lock) but 0, 1 and 2.
# Run it by bash where there is one: others cannot close two-digit numbers.
for fd in "/proc/$$/fd"/*
do
	fd=${fd##*/}
	case $fd in
	[0-2]) continue ;;
	??*) test -n "${BASH_VERSION:-}" || continue ;;
	esac
	eval "exec $fd>&-"
done
cd / && exec setsid "$@"
