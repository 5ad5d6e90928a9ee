#!/bin/sh
# SPDX-License-Identifier: MIT
# A gigabyte through the engine as fast as it goes: nothing lost below the
# cap, nothing kept above it, and the session ends in bounded time.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
docker version >/dev/null 2>&1 || skip_all 'no engine, or no docker client'

image=fztest-long:$$
at_exit="docker rmi -f $image >/dev/null 2>&1"
mkdir root runs
cat >flood.c <<'C'
#include <string.h>
#include <unistd.h>
int
main(void)
{
	static char block[1 << 16];

	memset(block, 'x', sizeof(block));
	for (long left = 1L << 30; left > 0;) {
		ssize_t n = write(1, block, sizeof(block));

		if (n <= 0)
			return 3;
		left -= n;
	}
	return 0;
}
C
cc -O1 -static -o root/flood flood.c || skip_all 'no static C library'
tar c -C root . | docker import - "$image" >/dev/null

run dockrun --image "$image" --dir runs/001 --max-log 2g --timeout 200 -- /flood
is 'a gigabyte: status' 0 "$status"
is 'a gigabyte: kept to the byte' 1073741824 "$(stat -c %s runs/001/agent.out)"
is 'a gigabyte: counted' 1073741824 "$(jq .output.stdout_bytes runs/001/container.json)"
is 'a gigabyte: nothing else in it' '' "$(tr -d x <runs/001/agent.out | head -c 20)"
is 'a gigabyte: its own end' '0 null' "$(jq -r '"\(.exit_code) \(.stop)"' runs/001/container.json)"
rm -rf runs/001

run dockrun --image "$image" --dir runs/002 --max-log 1m --timeout 200 -- /flood
is 'over the cap: status' 0 "$status"
is 'over the cap: kept up to it' 1048576 "$(stat -c %s runs/002/agent.out)"
is 'over the cap: stopped for it' log_quota "$(jq -r .stop.why runs/002/container.json)"
is 'nothing is left' '' "$(docker ps -aq --filter ancestor="$image")"
done_testing
