#!/bin/sh
# SPDX-License-Identifier: MIT
# What a session sees and can do, told by a probe that runs as its command.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=tests/docker/lib.sh
. "$top/tests/docker/lib.sh"

clean_up () {
	docker ps -aq --filter "label=fuzzmill.campaign=real$$" |
	    xargs -r docker rm -f >/dev/null 2>&1
	forget_images
	umount target/mounted target/bound 2>/dev/null
}
at_exit=clean_up
need_probe

# has RUN DESCRIPTION LINE: the probe said exactly this
has () {
	is "$2" "$3" "$(said "$1" | grep -Fx -m 1 -e "$3" ||
	    said "$1" | grep -F -e "${3%:*}" || said "$1")"
}

# Who, where, with what.
session 001 --memory 64m --cpus 0.5 --pids 33 --tmp-size 4m -- /probe ids , \
    lines /proc/self/status Cap , lines /proc/self/status NoNewPrivs , \
    lines /proc/self/status Seccomp: , lines /proc/self/status Groups , \
    lines /proc/1/status Name , lines /proc/1/status Uid , \
    limit core , limit nofile , net , lines /proc/net/route '' , \
    lines /proc/net/ipv6_route '' , cwd , env HOME , env FUZZMILL_RUN , \
    lines /sys/fs/cgroup/memory/memory.limit_in_bytes '' , \
    lines /sys/fs/cgroup/pids/pids.max '' , \
    lines /sys/fs/cgroup/cpu/cpu.cfs_quota_us '' , \
    lines /sys/fs/cgroup/cpu/cpu.cfs_period_us '' , \
    lines /sys/fs/cgroup/memory.max '' , lines /sys/fs/cgroup/pids.max '' , \
    lines /sys/fs/cgroup/cpu.max '' , lines /proc/self/oom_score_adj '' , \
    lines /proc/1/oom_score_adj '' , ls / , ls /.fuzzmill , \
    ls /.fuzzmill/report , ls /dev/shm
user=$(fact 001 .user)
uid=${user%:*}
is 'a session runs' 0 "$(cat 001.status)"
is 'it says one line' '[001] Starting...' "$(cat 001.out)"
is 'and nothing else' '' "$(cat 001.err)"
is 'uid and gid are one pair' "$uid:$uid" "$user"
is 'from the range of nobody' yes "$(between 1879048192 2147483647 "$uid")"
like 'the session has it, real, effective and saved, and no group besides' \
    "^ids: $uid $uid $uid $uid $uid $uid groups 1 pid [0-9]+ parent 1 group own\$" \
    "$(said 001)"
has 001 'the one group is its own' "$(printf 'Groups:\t%s ' "$uid")"
for set in CapInh CapPrm CapEff CapBnd CapAmb
do
	has 001 "$set is empty" "$(printf '%s:\t0000000000000000' $set)"
done
has 001 'no new privileges' "$(printf 'NoNewPrivs:\t1')"
has 001 'a seccomp filter' "$(printf 'Seccomp:\t2')"
has 001 'PID 1 is fzinit' "$(printf 'Name:\tinit')"
has 001 'no core dumps' 'limit core: 0 0'
has 001 'a limit of open files' 'limit nofile: 4096 4096'
has 001 'only a loopback interface' 'interfaces: lo'
has 001 'nothing can be reached' 'elsewhere: ENETUNREACH'
has 001 'no raw sockets' 'raw socket: EPERM'
is 'no route' 1 "$(said 001 | grep -c '^Iface')"
is 'not even below its head' '' "$(said 001 | grep -E '^(eth|lo)[0-9]*	')"
is 'no IPv6 route but to itself' '' "$(said 001 | grep ' ' |
    grep -E '^[0-9a-f]{32} ' | grep -v ' lo$')"
has 001 'it begins in the workspace' 'cwd: /workspace/fuzz'
has 001 'it has a home it can write' 'env HOME=/tmp'
has 001 'it knows its run' 'env FUZZMILL_RUN=001'
if test -e /sys/fs/cgroup/cgroup.controllers
then
	has 001 'memory as asked' 67108864
	has 001 'pids as asked' 33
	has 001 'cpu as asked' '50000 100000'
else
	has 001 'memory as asked' 67108864
	has 001 'pids as asked' 33
	has 001 'cpu as asked' 50000
	has 001 'of a period' 100000
fi
has 001 'memory short: the command goes first' 1000
has 001 'and fzinit later' 500
has 001 'our own things are there' 'ls /.fuzzmill: init report'
has 001 'a socket to report on' 'ls /.fuzzmill/report: s'
has 001 'nothing in shared memory' 'ls /dev/shm:'
is 'limits are recorded as the engine has them' \
    '67108864 67108864 500000000 33 none runc true' "$(fact 001 '.limits |
    [.memory_bytes, .memory_swap_bytes, .nano_cpus, .pids, .network,
    .runtime, .readonly_rootfs] | join(" ")')"
is 'the container is gone' '' "$(container 001)"
is 'nothing is left in the run directory but this' \
    'agent.err agent.out container.json workspace' \
    "$(find runs/001 -mindepth 1 -maxdepth 1 -printf '%f\n' | sort |
    tr '\n' ' ' | sed 's/ $//')"
is 'the run directory is closed to others' 700 "$(stat -c %a runs/001)"
is 'the workspace belongs to the session' "700 $uid $uid" \
    "$(stat -c '%a %u %g' runs/001/workspace)"

# Nothing is writable but the workspace and /tmp.
echo input >input
chmod 666 input
session 002 --tmp-size 4m --stdin input -- /probe writable , mount / , \
    mount /tmp , mount /workspace/fuzz , mount /.fuzzmill/init , \
    mount /.fuzzmill/report , create /x , create /etc/x , create /.fuzzmill/x , \
    create /.fuzzmill/report/x , write /.fuzzmill/init , \
    write /.fuzzmill/stdin , remove /.fuzzmill/init , \
    remove /.fuzzmill/report/s , remove /.fuzzmill/stdin , \
    move /.fuzzmill/report/s /.fuzzmill/report/t , chmod /.fuzzmill/init 777 , \
    chmod /.fuzzmill/report/s 0 , create /workspace/x , create /dev/x , \
    create /proc/x , write /proc/sys/kernel/core_pattern , \
    mount /proc/sys , write /proc/1/oom_score_adj , create /workspace/fuzz/x , \
    create /workspace/fuzz/../../x , copy /tmp/p , exec /tmp/p , remove /tmp/p , \
    copy /workspace/fuzz/p , exec /workspace/fuzz/p , bytes /tmp/b , \
    files /tmp
has 002 'the root is read-only' "$(said 002 | grep '^mount /: [a-z]* ro,')"
like '/tmp is noexec, nosuid, nodev, of a size and a number of files' \
    '^mount /tmp: tmpfs rw,nosuid,nodev,noexec,[a-z]* rw,size=4096k,nr_inodes=10000(,inode64)?$' \
    "$(said 002 | grep '^mount /tmp:')"
like 'the workspace is writable' '^mount /workspace/fuzz: [a-z0-9]+ rw,' \
    "$(said 002 | grep '^mount /work')"
is 'fzinit and the socket are not' '2' \
    "$(said 002 | grep -c '^mount /\.fuzzmill/[a-z]*: [a-z0-9]* ro,')"
like 'the settings of the kernel are not' '^mount /proc/sys: proc ro,' \
    "$(said 002 | grep '^mount /proc')"
is 'all that can be written, and all of it vanishes but the workspace' \
    '/dev/mqueue /dev/shm /tmp /workspace/fuzz' \
    "$(said 002 | sed -n 's/^writable: //p' | tr ' ' '\n' | sort | xargs)"
while read -r what
do
	has 002 "$what" "$what"
done <<'END'
create /x: EROFS
create /.fuzzmill/x: EROFS
create /.fuzzmill/report/x: EROFS
write /.fuzzmill/init: EACCES
write /.fuzzmill/stdin: EROFS
remove /.fuzzmill/init: EROFS
remove /.fuzzmill/report/s: EROFS
remove /.fuzzmill/stdin: EROFS
move /.fuzzmill/report/s: EROFS
chmod /.fuzzmill/init: EROFS
chmod /.fuzzmill/report/s: EROFS
create /workspace/x: EROFS
create /dev/x: EACCES
write /proc/sys/kernel/core_pattern: EACCES
write /proc/1/oom_score_adj: EACCES
create /workspace/fuzz/x: ok
create /workspace/fuzz/../../x: EROFS
exec /tmp/p: EACCES
exec /workspace/fuzz/p: ok
bytes /tmp/b: 4096 KiB ENOSPC
END
is '/tmp takes a bounded number of files' yes \
    "$(between 9000 10000 "$(said 002 |
    sed -n 's/^files \/tmp: \([0-9]*\) ENOSPC$/\1/p')")"
is 'the workspace got what was written' 'p x' \
    "$(find runs/002/workspace -mindepth 1 -printf '%f\n' | sort | xargs)"

# The target.
mkdir -p target/src target/.git target/hidden.git target/keys target/mounted \
    target/bound other/deep target/sub/.ssh target/a
echo open >target/src/main.c
for f in .git/config .env .env.local keys/real.env sub/.ssh/id server.pem \
    sub/id_ed25519 .npmrc.x
do
	echo "TOP-SECRET $f" >"target/$f"
done
ln -s ../keys/real.env target/a/.env
ln -s ../.env target/a/plain
ln -s .git/config target/.npmrc
echo 'TOP-SECRET below' >target/bound/below
echo 'TOP-SECRET elsewhere' >other/.env
mount -t tmpfs none target/mounted
echo 'TOP-SECRET mounted' >target/mounted/file
mount --bind other target/bound
chmod -R a+rwX target
chmod a+x .
session 003 --ro "$work/target:/quest" --ro "$work/root:/second/place" -- \
    /probe cat /quest/src/main.c , cat /quest/.git/config , cat /quest/.env , \
    cat /quest/.env.local , cat /quest/a/.env , cat /quest/a/plain , \
    cat /quest/keys/real.env , cat /quest/sub/.ssh/id , cat /quest/server.pem , \
    cat /quest/sub/id_ed25519 , cat /quest/.npmrc , cat /quest/mounted/file , \
    cat /quest/bound/.env , cat /quest/bound/below , ls /quest/mounted , \
    ls /quest/bound , ls /quest/.git , ls /second/place , \
    create /quest/new , write /quest/src/main.c , remove /quest/src/main.c , \
    create /quest/.git/x , write /quest/.env , create /quest/mounted/x , \
    create /quest/bound/x , mount /quest
is 'a target with masks and mounts' 0 "$(cat 003.status)"
is 'no secret is seen, under no name' '' "$(said 003 | grep SECRET)"
is 'nor in the other stream' '' "$(cat runs/003/agent.err)"
has 003 'the rest is' open
like 'the target is read-only' '^mount /quest: [a-z0-9]+ ro,' \
    "$(said 003 | grep '^mount /quest:')"
while read -r what
do
	has 003 "$what" "$what"
done <<'END'
ls /quest/mounted:
ls /quest/bound:
ls /quest/.git:
ls /second/place: plain probe
create /quest/new: EROFS
write /quest/src/main.c: EROFS
remove /quest/src/main.c: EROFS
create /quest/.git/x: EROFS
write /quest/.env: EACCES
create /quest/mounted/x: EROFS
create /quest/bound/x: EROFS
cat /quest/mounted/file: ENOENT
cat /quest/.git/config: ENOENT
END
run dockrun --list-masked --ro "$work/target:/quest"
is '--list-masked tells the same' '.env
.env.local
.git/
bound/
keys/real.env
mounted/
server.pem
sub/.ssh/
sub/id_ed25519' "$out"
is 'as many are recorded' 9 "$(fact 003 .masked)"
is 'the target is as it was' "open
TOP-SECRET .env
TOP-SECRET mounted
TOP-SECRET elsewhere" "$(cat target/src/main.c target/.env target/mounted/file \
    target/bound/.env)"
umount target/mounted target/bound

# PID 1.
session 004 -- /probe pry , kill1 , forge , out alive , exit 3 &
session 005 -- /probe strangle 3 , out alive , exit 4 &
session 006 -- /probe lie , out alive , exit 5 &
session 007 -- /probe orphans 20 , out alive &
wait
while read -r what
do
	has 004 "PID 1: $what" "$what"
done <<'END'
open /proc/1/environ: EACCES
open /proc/1/mem: EACCES
open /proc/1/maps: EACCES
list /proc/1/fd: EACCES
readlink /proc/1/exe: EACCES
attach: EPERM
seize: EPERM
read memory: EPERM
take descriptor: EPERM
no room: EPERM
full: EAGAIN
alive
END
is 'signals to PID 1 stop nothing, forged ones are nobody'\''s' \
    '0 3 null null 1' "$(cat 004.status) $(fact 004 '[.exit_code, .signal,
    .stop, .attempt] | map(tostring) | join(" ")')"
has 005 'the limits of PID 1 are its own' 'one second left: EPERM'
is 'a busy PID 1 goes on' '0 4 null 1' "$(cat 005.status) $(fact 005 \
    '[.exit_code, .signal, .attempt] | map(tostring) | join(" ")')"
has 006 'nobody listens to a second connection' 'connect: ECONNREFUSED'
is 'and nothing that it said counts' '0 5 null null null false yes' \
    "$(cat 006.status) $(fact 006 '[.exit_code, .signal, .exec_errno, .stop,
    .oom_killed] | map(tostring) | join(" ")') $(between 100000 1000000000 \
    "$(fact 006 .usage.peak_memory_bytes)")"
is 'nor for the cpu time' yes "$(between 1 60000 "$(fact 006 .usage.cpu_ms)")"
has 007 'orphans are reaped' 'zombies: 0'

# Limits hold.
session 011 --memory 32m -- /probe out fed , eat 256 &
session 012 --memory 32m -- /probe child eat 256 , out alive &
session 013 --pids 20 -- /probe forks , out alive &
session 014 --cpus 0.2 -- /probe burn 2 1 &
session 015 --memory 32m -- /probe out fed , shm 256 &
session 016 -- /probe daemon beat /workspace/fuzz/beat , sleep 0.5 , exit 6 &
wait
is 'a memory bomb' '0 137 9 true null' "$(cat 011.status) $(fact 011 \
    '[.exit_code, .signal, .oom_killed, .stop] | map(tostring) | join(" ")')"
has 011 'its output before is there' fed
is 'all facts are complete' 'number number number number number number' \
    "$(fact 011 '[.usage[], .duration_ms] | map(type) | join(" ")')"
is 'its peak is the limit' yes "$(between 30000000 33554432 \
    "$(fact 011 .usage.peak_memory_bytes)")"
is 'a bomb that stays when its process is gone' '0 137 true null' \
    "$(cat 015.status) $(fact 015 '[.exit_code, .oom_killed, .stop] |
    map(tostring) | join(" ")')"
run markrun runs/011
is 'the verdict says so' '0 [011] ✗ Failed: Out of memory (exit 137)' \
    "$status $out"
is 'a bomb in a child: the parent goes on' '0 0 null true' \
    "$(cat 012.status) $(fact 012 '[.exit_code, .signal, .oom_killed] |
    map(tostring) | join(" ")')"
has 012 'and saw it' 'child: signal 9'
run markrun runs/012
like 'which is a success' '^\[012\] ✓ Done' "$out"
has 013 'a fork bomb stops at the limit' 'forks: 18 EAGAIN'
is 'and the session ends' '0 0' "$(cat 013.status) $(fact 013 .exit_code)"
is 'two busy processes get a fifth of one processor' yes \
    "$(between 20 450 "$(fact 014 .usage.cpu_ms)")"
is 'which is seen' yes "$(between 1 5000 "$(fact 014 .usage.throttled_ms)")"
is 'a daemon ends with its session' 6 "$(fact 016 .exit_code)"
size=$(stat -c %s runs/016/workspace/beat)
is 'it had lived' yes "$(between 3 100 "$size")"
run sh -c 'sleep 0.3; stat -c %s runs/016/workspace/beat'
is 'and lives no more' "$size" "$out"

# Two at once are not one.
session 021 -- /probe sleep 0.3 &
session 022 -- /probe sleep 0.3 &
wait
is 'each session is a user of its own' 4 "$(for r in 001 002 021 022
do
	fact "$r" .user
done | sort -u | wc -l)"

# Named users.
session 023 --user 4242:4343 -- /probe ids
like 'a user can be named' '^ids: 4242 4242 4242 4343 4343 4343 groups 1 ' \
    "$(said 023)"
is 'and owns the workspace' '4242 4343' \
    "$(stat -c '%u %g' runs/023/workspace)"
is 'no container of ours is left' '' \
    "$(docker ps -aq --filter "label=fuzzmill.campaign=real$$")"
done_testing
