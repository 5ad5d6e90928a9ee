#!/bin/sh
# SPDX-License-Identifier: MIT
# setup, engine and doctor on a machine made of stubs: nothing real is asked,
# installed or started.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

# stub NAME: an executable whose text is standard input
stub () {
	rm -f "$work/bin/$1"
	{
		echo '#!/bin/sh'
		cat
	} >"$work/bin/$1"
	chmod 755 "$work/bin/$1"
}

# A machine that has everything and an engine that answers.
machine () {
	rm -rf bin root b
	mkdir -p "$work/bin" "$work/root/var/run" "$work/root/var/log" \
	    "$work/root/run" "$work/root/usr/sbin" "$work/root/usr/bin" \
	    "$work/root/var/lib/apt/lists" "$work/root/sys/fs/cgroup" \
	    "$work/root/usr/lib/llvm-1/lib/clang/1/lib/linux" \
	    "$work/root/proc/net"
	: >"$work/root/var/lib/apt/lists/x_Packages"
	: >"$work/root/usr/bin/python3"
	: >"$work/root/usr/lib/llvm-1/lib/clang/1/lib/linux/libclang_rt.fuzzer.a"
	: >"$work/root/var/run/docker.sock"
	: >"$work/calls"
	for tool in sh bash env cat grep sed awk head tail sort paste ls rm \
	    mkdir chmod chown touch dirname date sleep stat setsid flock tr df \
	    cut mktemp mv
	do
		ln -s "$(command -v "$tool")" "$work/bin/$tool"
	done
	for tool in make docker dockerd clang clang-format clang-tidy cppcheck \
	    shellcheck mandoc jq parallel git pkg-config dpkg-query \
	    mmdebstrap npm openssl setpriv ip socat
	do
		stub "$tool" </dev/null
	done
	for tool in sudo apt-cache
	do
		stub "$tool" <<-EOF
		echo "$tool \$*" >>"$work/calls"
		exit 1
		EOF
	done
	stub gcc <<-'EOF'
	echo "$0"
	EOF
	stub apt-get <<-EOF
	echo "apt-get \$*" >>"$work/calls"
	EOF
	stub curl <<-EOF
	test -e "$work/root/var/run/docker.sock"
	EOF
	squid_of --with-openssl
	be 0
}

# squid_of FLAG: one in the cache that says how it was built
squid_of () {
	mkdir -p "$work/root/var/cache/fuzzmill/squid-5.7/usr/sbin"
	printf '#!/bin/sh\necho "configure options: %s"\n' "$1" \
	    >"$work/root/var/cache/fuzzmill/squid-5.7/usr/sbin/squid"
	chmod 755 "$work/root/var/cache/fuzzmill/squid-5.7/usr/sbin/squid"
}

# be UID
be () {
	stub id <<-EOF
	echo $1
	EOF
}

# on COMMAND...: run it on that machine
on () {
	run env -i PATH="$work/bin" FZ_ROOT="$work/root" B="$work/b" \
	    FZ_ENGINE_WAIT=2 "$@"
}

# apt_brings PATTERN [CODE]: an apt-get that brings the packages it knows
apt_brings () {
	stub apt-get <<-EOF
	echo "apt-get \$*" >>"$work/calls"
	for package
	do
		case \$package in
		$1) printf '#!/bin/sh\n' >"$work/bin/\$package"
			chmod 755 "$work/bin/\$package" ;;
		esac
	done
	${2:-}
	EOF
}

machine
for purpose in demo agent check
do
	on sh "$top/mk/setup.sh" "$purpose"
	is "$purpose, all there: exit 0" 0 "$status"
	is "$purpose, all there: silent" '' "$out$err"
done
is 'all there: nothing installed, no log' '' \
    "$(grep apt-get calls; ls b 2>/dev/null)"

on sh "$top/mk/setup.sh" everything
is 'an unknown purpose is a usage error' 64 "$status"

machine
rm bin/mandoc bin/cppcheck
on sh "$top/mk/setup.sh" demo
is 'demo does not ask for linters' '0' "$status$out$err"

apt_brings 'mandoc | cppcheck'
on sh "$top/mk/setup.sh" check
is 'root: installs' 0 "$status"
is 'root: one apt-get, by name, lists kept' \
    'apt-get -q -y -o DPkg::Lock::Timeout=120 install --no-install-recommends --no-remove cppcheck mandoc' \
    "$(cat calls)"
is 'root: one line per thing' "setup: installing cppcheck mandoc (log: $work/b/setup.log)
setup: installed cppcheck (C linter)
setup: installed mandoc (manual page linter)" "$out"
is 'root: no errors' '' "$err"
is 'root: no policy-rc.d left behind' '' "$(ls root/usr/sbin)"

rm bin/mandoc root/var/lib/apt/lists/x_Packages
: >calls
on sh "$top/mk/setup.sh" check
is 'no lists: updates once, first' 'update install' \
    "$(sed 's/.*120 \([a-z]*\).*/\1/' calls | paste -s -d ' ')"

machine
rm bin/mandoc bin/cppcheck
apt_brings mandoc 'case $* in
	*cppcheck*) echo "E: no such thing"; exit 100 ;;
	esac'
on sh "$top/mk/setup.sh" check
is 'one bad package: exit 69' 69 "$status"
is 'one bad package: the other is installed' 'setup: installed mandoc (manual page linter)' \
    "$(echo "$out" | grep installed)"
is 'one bad package: named, with the log and what to type' \
    "setup: could not install cppcheck (C linter)
  | E: no such thing
  | E: no such thing
type: apt-get update && apt-get install cppcheck" "$err"
is 'one bad package: updates once' 1 "$(grep -c update calls)"
rm root/var/lib/apt/lists/x_Packages
: >calls
on sh "$top/mk/setup.sh" check
is 'one bad package, no lists: updates once' 1 "$(grep -c update calls)"

# What an agent needs, and its squid.
machine
rm bin/npm bin/mandoc
apt_brings npm
on sh "$top/mk/setup.sh" demo
is 'demo does not ask for an agent' 0 "$status$out$err"
on sh "$top/mk/setup.sh" agent
is 'agent: brings what it needs, no linter' \
    "0 setup: installed npm (fetches the agent)" \
    "$status $(echo "$out" | sed 1d)$err"
rm bin/npm
on sh "$top/mk/setup.sh" check
like 'check needs all of it' 'installed npm' "$out"

machine
rm -r root/var/cache
on sh "$top/mk/setup.sh" demo
is "demo does not ask for squid" 0 "$status$out$err"
: >calls
on sh "$top/mk/setup.sh" agent
is 'no squid to be had: exit 69' 69 "$status"
is 'no squid: asks again after an update' 'update' \
    "$(sed -n 's/^apt-get .*120 //p' calls)"
is 'no squid: never installed' '' "$(grep install calls)"
is 'no squid: says what to type' \
    "ERROR: squid-openssl: cannot be fetched; type apt-get update, then make setup-agent, or set SQUID=/path/of/squid" \
    "$(echo "$err" | tail -n 1)"

# A store that has every package, unless FAULT says why not.
stub apt-cache <<-'EOF'
printf 'squid-openssl:\n  Installed: (none)\n  Candidate: 5.9-1~a+b\n'
EOF
stub apt-get <<EOF
echo "apt-get \$*" >>"$work/calls"
test -z "\${FAULT:-}" || { echo "E: \$FAULT" >&2; exit 100; }
shift 2
for name; do : >"\${name}_1_all.deb"; done
EOF
stub dpkg <<-'EOF'
mkdir -p "$3/usr/sbin"
printf '#!/bin/sh\necho "%s"\n' "${FLAG:---with-openssl}" >"$3/usr/sbin/squid"
chmod 755 "$3/usr/sbin/squid"
EOF
stub ldd </dev/null
stub dpkg-deb </dev/null
place=$work/root/var/cache/fuzzmill
on FAULT='no such host' sh "$top/mk/squid.sh"
is 'a download that fails: exit 69' 69 "$status"
is 'a download that fails: its reason' '  | E: no such host' \
    "$(echo "$err" | grep E:)"
is 'a download that fails: leaves nothing' '' "$(ls -A "$place")"
on FLAG=--with-gnutls sh "$top/mk/squid.sh"
is 'a squid of GnuTLS is not taken' "69 " "$status $(ls -A "$place")"
on sh "$top/mk/squid.sh"
is 'squid is fetched' "0 $place/squid-5.9-1~a+b/usr/sbin/squid" "$status $out"
is 'and nothing beside it is left' squid-5.9-1~a+b "$(ls -A "$place")"
: >calls
on FAULT=offline sh "$top/mk/squid.sh"
is 'later it is found, with no network' \
    "0 $place/squid-5.9-1~a+b/usr/sbin/squid" "$status $out$err$(cat calls)"
be 1000
on HOME="$work/home" sh "$top/mk/squid.sh"
is 'by others too' "0 $place/squid-5.9-1~a+b/usr/sbin/squid" "$status $out$err"
rm -r root/var/cache
on HOME="$work/home" sh "$top/mk/setup.sh" agent
is 'a user fetches one at home' "0 squid-5.9-1~a+b" \
    "$status $(ls -A home/.cache/fuzzmill)"
is 'a user installs nothing' '' "$(grep install calls)"
for flag in --with-gnutls --nothing
do
	squid_of "$flag"
	on SQUID="$place/squid-5.7/usr/sbin/squid" sh "$top/mk/squid.sh"
	is "SQUID $flag: exit 78" 78 "$status$out"
done
is 'SQUID of the wrong kind: named' \
    "ERROR: SQUID=$place/squid-5.7/usr/sbin/squid: it is not built with OpenSSL; leave SQUID empty to have squid-openssl fetched" "$err"
on SQUID=/nowhere/squid sh "$top/mk/squid.sh"
is 'SQUID that is not there' \
    '78 ERROR: SQUID=/nowhere/squid: there is no such program; leave SQUID empty to have squid-openssl fetched' \
    "$status $err"

machine
rm bin/docker bin/dockerd bin/git
be 1000
on sh "$top/mk/setup.sh" check
is 'user: exit 77' 77 "$status"
is 'user: list and command' 'setup: missing:
  docker.io              docker client
  git                    tests in a clone
type: sudo make setup-check' "$err"
on sh "$top/mk/setup.sh" demo
is 'user: command for the demo' 'type: sudo make setup' \
    "$(echo "$err" | tail -n 1)"
is 'user: neither apt-get nor sudo called' '' "$(cat calls)"

rm bin/apt-get
on sh "$top/mk/setup.sh" demo
is 'no Debian: exit 69' 69 "$status"
is 'no Debian: generic names' \
    'setup: not a Debian (no apt-get); install these yourself:
  docker                 docker client' "$err"

# Engines.
machine
on DOCKER_HOST=tcp://127.0.0.1:2375 sh "$top/mk/engine.sh"
is 'tcp is refused' 78 "$status"
is 'tcp is named' \
    'setup: DOCKER_HOST=tcp://127.0.0.1:2375: the engine must be on a unix socket' \
    "$(echo "$err" | head -n 1)"

rm root/var/run/docker.sock
stub dockerd <<EOF
echo started >>"$work/calls"
exec >"$work/fds" # a redirected command or a pipe would be seen, too
ls /proc/\$\$/fd
env >"$work/environment"
: >"$work/root/var/run/docker.sock"
exec sleep 1
EOF
on DOCKER_HOST=unix:///nowhere/d.sock sh "$top/mk/engine.sh"
is 'a DOCKER_HOST that is silent: exit 69' 69 "$status"
is 'a DOCKER_HOST that is silent: named, with a fix' \
    'setup: no engine answers on DOCKER_HOST=unix:///nowhere/d.sock
  fix: start that engine, or unset DOCKER_HOST' "$err"
is 'a DOCKER_HOST that is silent: none started' '' "$(cat calls)"

be 1000
on sh "$top/mk/engine.sh"
is 'user: an engine is not started' "77$work" "$status$work$(cat calls)"
is 'user: told what to type' '  fix: sudo make setup' \
    "$(echo "$err" | tail -n 1)"

# pid_of COMM STATE: a process 4242 of that kind, and the pid file
pid_of () {
	mkdir -p root/proc/4242
	echo "$1" >root/proc/4242/comm
	printf 'Name:\t%s\nState:\t%s\n' "$1" "$2" >root/proc/4242/status
	echo 4242 >root/var/run/docker.pid
}

be 0
for kind in 'dockerd Z' 'nginx S'
do
	rm -f root/var/run/docker.sock
	# shellcheck disable=SC2086
	pid_of $kind
	# shellcheck disable=SC2016
	on SECRET=x bash -c 'exec 8>held 12>held; exec sh "$0"' \
	    "$top/mk/engine.sh"
	is "$kind: started" 0 "$status$err"
	is "$kind: says so" "setup: removed stale $work/root/var/run/docker.pid
setup: started dockerd (log: $work/root/var/log/fuzzmill-dockerd.log)" "$out"
	is "$kind: pid file removed" 1 \
	    "$(test -e root/var/run/docker.pid; echo $?)"
done
is 'dockerd inherits no lock' '0 1 2' \
    "$(grep -v -x 10 fds | paste -s -d ' ')" # 10 is the stub's own text
is 'dockerd inherits no secret' '' "$(grep SECRET environment)"

rm root/var/run/docker.sock
: >calls
pid_of dockerd S
on FZ_ENGINE_WAIT=0 sh "$top/mk/engine.sh"
is 'a live dockerd: no second one' 69 "$status$(cat calls)"
is 'a live dockerd: keeps its pid file' 4242 "$(cat root/var/run/docker.pid)"

rm root/var/run/docker.pid
stub dockerd <<-'EOF'
echo "failed to start daemon: no iptables"
exit 1
EOF
on sh "$top/mk/engine.sh"
is 'a dockerd that dies: exit 69' 69 "$status"
is 'a dockerd that dies: its last words and the log' \
    "  | failed to start daemon: no iptables
setup: dockerd ended before it answered
  fix: read $work/root/var/log/fuzzmill-dockerd.log, then make doctor" "$err"

mkdir -p root/run/systemd/system
stub systemctl <<EOF
echo "systemctl \$*" >>"$work/calls"
: >"$work/root/var/run/docker.sock"
EOF
on sh "$top/mk/engine.sh"
is 'systemd is asked where it runs' 'systemctl start docker' "$(cat calls)"

# The doctor.  engine API DOCKER RUNC, with room for everything
engine () {
	stub curl <<-EOF
	case \$* in
	*_ping) printf 'HTTP/1.1 200 OK\r\nApi-Version: $1\r\n\r\nOK' ;;
	*/version) echo '{"Components":[{"Name":"Engine","Version":"$2"},{"Name":"runc","Version":"$3"}]}' ;;
	*/info) echo '{"DockerRootDir":"$work"}' ;;
	esac
	EOF
	stub df <<-'EOF'
	echo head
	echo "/dev/x 90000000 1 ${FREE:-90000000} 1% /"
	EOF
	mkdir -p root/proc root/sys/fs/cgroup
	echo 'MemAvailable:   16777216 kB' >root/proc/meminfo
	echo 'cpuset cpu memory pids' >root/sys/fs/cgroup/cgroup.controllers
}

machine
engine 1.47 28.0.0 1.3.3
on sh "$top/mk/doctor.sh"
is 'a healthy machine' '0no problems' "$status$out$err"

on WORKERS=1000 MEMORY=64g sh "$top/mk/doctor.sh"
is 'too many workers' 1 "$status"
is 'too many workers: with the numbers' \
    'problem: 1000 workers of 64g may take 64000.0 GiB, 16.0 GiB are free
  fix: a smaller MEMORY
1 problem, 0 warnings' "$out"
on WORKERS=9 sh "$top/mk/doctor.sh"
is 'the fix says how many fit' '  fix: WORKERS=8, or a smaller MEMORY' \
    "$(echo "$out" | sed -n 2p)"
on MEMORY=lots sh "$top/mk/doctor.sh"
is 'a size that is none' 1 "$status"

engine 1.40 19.3.0 1.1.5+ds1
echo memory >root/sys/fs/cgroup/cgroup.controllers
rm bin/make bin/git
on TARGET=/nowhere FREE=900000 sh "$top/mk/doctor.sh"
is 'many troubles: exit 1' 1 "$status"
is 'many troubles: all printed' 'problem: make is missing (scheduler)
warning: missing for make check: git
problem: the engine speaks API 1.40, older than 1.41
warning: docker 19.3.0 has CVE-2024-29018
warning: docker 19.3.0 has CVE-2024-41110
problem: runc 1.1.5+ds1 has CVE-2024-21626
warning: runc 1.1.5+ds1 has CVE-2025-31133
problem: 900 MB left for docker'\''s images on the disk of '"$work"'
problem: 900 MB left for runs on the disk of fuzz/runs
problem: no cgroup controller pids
problem: no cgroup controller cpu
warning: TARGET=/nowhere does not exist
7 problems, 5 warnings' \
    "$(echo "$out" | sed -e '/^  fix: ./d' -e 's/\(CVE-[0-9-]*\).*/\1/' \
	-e 's/: its limit.*//')"
is 'many troubles: a fix for each' 12 "$(echo "$out" | grep -c '^  fix: .')"

# With a policy, an agent's network is looked at too.
machine
engine 1.47 28.0.0 1.3.3
echo 'api api.example key=A_KEY POST /v1' >policy
on POLICY=policy PROXY_DIR="$work/none" A_KEY=x sh "$top/mk/doctor.sh"
is 'a healthy machine with a policy' '0no problems' "$status$out$err"
mkdir -p b/bin
printf '#!/bin/sh\necho "policy:1: no such word" >&2\nexit 78\n' >b/bin/netpolicy
chmod 755 b/bin/netpolicy
on POLICY=policy PROXY_DIR="$work/none" A_KEY=x sh "$top/mk/doctor.sh"
is 'a bad policy is a problem' 'problem: policy:1: no such word
  fix: edit policy
1 problem, 0 warnings' "$out"
rm -r b
squid_of --with-gnutls
rm bin/npm
cat >root/proc/net/tcp <<-'EOF'
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid
   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001
EOF
on POLICY=policy PROXY_DIR="$work/none" sh "$top/mk/doctor.sh"
is 'a policy: squid, port and key are looked at' \
    "problem: npm is missing (fetches the agent)
  fix: sudo make setup-agent, or apt-get install npm
problem: squid: none in $work/root/var/cache/fuzzmill
  fix: type make setup-agent
problem: port 8080: another program (uid 1001) listens there
  fix: set GATE_PORT to a free port (conf/local.mk keeps it)
note: A_KEY is not set
  fix: export A_KEY=... before make proxy-up
3 problems, 0 warnings" "$out"
on sh "$top/mk/doctor.sh"
is 'no policy: none of that is a problem' '0 warning: npm is missing (fetches the agent)' \
    "$status $(echo "$out" | head -n 1)"

machine
stub dpkg-query <<-'EOF'
echo 1.1.5+ds1-1+deb12u1
EOF
engine 1.41 23.0.15 1.1.5+ds1
on sh "$top/mk/doctor.sh"
is "Debian's patched runc has one hole less" '' \
    "$(echo "$out" | grep CVE-2024-21626)"

rm root/var/run/docker.sock
on sh "$top/mk/doctor.sh"
is 'no engine is a problem with a fix' \
    "problem: no engine answers on unix://$work/root/var/run/docker.sock
  fix: make setup" "$(echo "$out" | grep -A1 engine)"
done_testing
