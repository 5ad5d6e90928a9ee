# SPDX-License-Identifier: MIT
# Sourced after tap.sh by tests that need an internet: two network namespaces
# joined by one link.  In the first ("host") run squid, dockrun and make; the
# second is all the world, answers at every address and logs each packet.
# Neither has another link: nothing can leave the machine.
# shellcheck disable=SC2154 # top, work and at_exit are tap.sh's

real_key=sk-test-real-$$-0123456789abcdef # what only the API may ever see
lab=fzlab$$
world=$work/world # names, packets, contacts, host, api: the logs
api_pid=

# Namespaces of tests that died before they could clean up.
lab_sweep () {
	ip netns list | sed -n 's/^fzlab\([0-9]*\)h.*/\1/p' |
	while read -r owner
	do
		test -d "/proc/$owner" || lab_remove "fzlab$owner"
	done
}

lab_remove () {
	for side in h i
	do
		test -e "/run/netns/$1$side" || continue
		for round in 1 2 3 4 5
		do
			# A supervisor may start another squid in between.
			left=$(ip netns pids "$1$side")
			test -n "$left" || break
			test "$round" -eq 1 || sleep 0.1
			# shellcheck disable=SC2086
			kill -9 $left 2>/dev/null
		done
		ip netns del "$1$side"
	done
}

lab_down () {
	lab_remove "$lab"
}

# lab_host COMMAND...: on the machine's side of the link.  Not by "ip netns
# exec", which hides the cgroups that dockrun reads.
lab_host () {
	# shellcheck disable=SC2016
	nsenter --net="/run/netns/${lab}h" unshare --mount sh -c \
	    'mount --bind "$0" /etc/resolv.conf && exec "$@"' \
	    "$world/resolv.conf" "$@"
}

# lab_inet COMMAND...: on the world's side.  Behind "&", $! is a shell's.
lab_inet () {
	nsenter --net="/run/netns/${lab}i" "$@"
}

# lab_cert NAME CA SUBJECT-ALT-NAMES: NAME.pem has certificate and key
lab_cert () {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 \
	    -nodes -days 2 -subj "/CN=$1" -addext "subjectAltName=$3" \
	    -addext basicConstraints=CA:FALSE -CA "$2.pem" -CAkey "$2.pem" \
	    -keyout "$1.key" -out "$1.crt" 2>/dev/null &&
	cat "$1.crt" "$1.key" >"$1.pem"
}

lab_ca () {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 \
	    -nodes -days 2 -subj "/CN=$1" -keyout "$1.key" -out "$1.crt" \
	    2>/dev/null && cat "$1.crt" "$1.key" >"$1.pem"
}

lab_links () {
	ip netns add "${lab}h" && ip netns add "${lab}i" || return
	ip -n "${lab}h" link add outward type veth peer name inward netns "${lab}i"
	for side in h i
	do
		ip -n "$lab$side" link set lo up
	done
	ip -n "${lab}h" addr add 100.200.0.1/32 dev outward
	ip -n "${lab}h" -6 addr add 2600:dead::1/128 dev outward nodad
	ip -n "${lab}i" addr add 100.200.255.254/32 dev inward
	ip -n "${lab}i" -6 addr add 2600:dead::ffff/128 dev inward nodad
	ip -n "${lab}h" link set outward up
	ip -n "${lab}i" link set inward up
	ip -n "${lab}h" route add default via 100.200.255.254 dev outward onlink
	ip -n "${lab}h" -6 route add default via 2600:dead::ffff dev outward onlink
	ip -n "${lab}i" route add 100.200.0.1/32 dev inward
	ip -n "${lab}i" -6 route add 2600:dead::1/128 dev inward
	# Every other address is the world's own.
	ip -n "${lab}i" route add local 0.0.0.0/0 dev lo table main
	ip -n "${lab}i" -6 route add local ::/0 dev lo table main
}

lab_up () {
	test "$(id -u)" -eq 0 || skip_all 'needs root'
	for tool in ip openssl nsenter unshare python3 jq
	do
		command -v "$tool" >/dev/null || skip_all "no $tool"
	done
	lab_sweep
	at_exit="lab_down; $at_exit"
	lab_links || skip_all 'no network namespaces'
	chmod 711 "$work" # squid's user passes through
	mkdir -p "$world" && cd "$world" || exit 99
	lab_ca ca && lab_ca otherca || exit 99
	lab_cert api ca DNS:api.anthropic.com
	lab_cert untrusted otherca DNS:api.anthropic.com
	lab_cert site ca DNS:claude.ai,DNS:*.allowed.example,DNS:evil.example
	echo 'nameserver 100.200.0.53' >resolv.conf
	touch names packets contacts host api
	chmod 644 ca.crt
	cd "$work" || exit 99
	nsenter --net="/run/netns/${lab}i" \
	    python3 "$top/tests/net/inet.py" internet "$world" \
	    >"$world/inet.log" 2>&1 &
	lab_host python3 "$top/tests/net/inet.py" host "$world" \
	    >"$world/host.log" 2>&1 &
	for side in inet host
	do
		until_true 100 grep -q ready "$world/$side.log" && continue
		sed 's/^/# /' "$world/$side.log"
		exit 99
	done
	lab_api -c api
}

lab_stop_api () {
	test -n "$api_pid" || return
	kill "$api_pid"
	wait "$api_pid" 2>/dev/null
	api_pid=
}

# lab_api [-c CERTIFICATE] [OPTION...]: the API, started again
lab_api () {
	cert=api
	if test "${1:-}" = -c
	then
		cert=$2
		shift 2
	fi
	lab_stop_api
	: >"$world/api.port"
	nsenter --net="/run/netns/${lab}i" \
	    python3 "$top/tests/fake/api.py" --bind 100.200.0.20 \
	    --port 443 --tls "$world/$cert.crt" "$world/$cert.key" \
	    --log "$world/api" --expect-key "$real_key" "$@" \
	    >"$world/api.port" 2>>"$world/api.err" &
	api_pid=$!
	until_true 100 test -s "$world/api.port"
}

# What the world saw that it should never see: packets to anywhere but the
# name server, the API and the one allowed site; names nobody may ask for.
escaped_packets () {
	grep -vxE 'udp 100\.200\.0\.53 53|tcp 100\.200\.0\.2[01] 443' \
	    "$world/packets"
	# escape.t's service, which a session may reach
	grep -v '^tcp 127\.0\.0\.1 8443 ' "$world/host"
}

escaped_names () {
	sort -u "$world/names" |
	grep -vE '^(A|AAAA) (api\.anthropic\.com|claude\.ai|[a-z]*\.allowed\.example)$'
}

gate_port=18080
proxy_port=13128
proxy=$work/proxy
token=

# lab_proxy WORD: mk/proxy.sh with this lab's proxy
lab_proxy () {
	lab_host env POLICY="$work/policy.conf" PROXY_DIR="$proxy" \
	    GATE_PORT="$gate_port" PROXY_PORT="$proxy_port" \
	    PROXY_CA="$world/ca.crt" PROXY_PROBE='{}' B="$B" \
	    ANTHROPIC_API_KEY="$real_key" sh "$top/mk/proxy.sh" "$@"
}

# lab_squid LINE...: squid by a policy with the API and these lines
lab_squid () {
	sh "$top/mk/squid.sh" --find >/dev/null 2>&1 ||
	    skip_all 'no squid (make setup-agent)'
	printf '%s\n' 'api api.anthropic.com key=ANTHROPIC_API_KEY POST /v1/messages POST /v1/messages/count_tokens' \
	    "$@" >policy.conf
	at_exit="lab_proxy down >/dev/null 2>&1; $at_exit"
	if ! lab_proxy up >proxy.out 2>&1 || ! lab_proxy check >>proxy.out 2>&1
	then
		sed 's/^/# /' proxy.out
		tail -n 4 "$proxy/cache.log" "$proxy/access.log" | sed 's/^/# /'
		is 'the proxy starts' yes no
		done_testing
		exit
	fi
	# shellcheck disable=SC2034
	token=$(cat "$proxy/token")
}

# attack_program: the static program $work/attack
attack_program () {
	"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -static -o attack \
	    "$top/tests/net/attack.c" || skip_all 'no static C library'
}

# judge GROUP RESULTS: one test per try; the table is left in GROUP.table
judge () {
	printf '%-22s | %-34s | %s\n' try expected seen >"$1.table"
	while IFS= read -r line
	do
		# The wanted expression has the separator in it.
		name=${line%%|*}
		want=${line#*|}
		what=${want##*|}
		want=${want%|*}
		seen=$(sed -n "s/^$name //p" "$2")
		printf '%-22s | %-34s | %s\n' "$name" "$want" "$seen" >>"$1.table"
		like "$1 $name: $what" "^($want)\$" "$seen"
	done <"tries/$1.want"
	is "$1: every try was made" 'end of tries' "$(tail -n 1 "$2")"
}

# holders WORD FILE...: processes, but the API, that have it in such files
holders () {
	echo "$1" >"$world/.word"
	shift
	for file in "$@"
	do
		grep -alsF -f "$world/.word" /proc/[0-9]*/"$file"
	done | grep -v "^/proc/$api_pid/"
}

key_holders () {
	holders "$real_key" cmdline environ
}

# Lines of the log that are not of the one form, in plain ASCII.
odd_lines () {
	grep -avE -e '^[0-9]+\.[0-9]{3} port=[0-9-]+ client=127\.[0-9.]+ method=[^ ]+ target=[^ ]+ status=[0-9]+ result=[A-Z_]+ rule=[a-z0-9-]+ sni=[^ ]+ bump=[a-z-]+ ms=[0-9-]+ up=[0-9]+ down=[0-9]+$' \
	    "$proxy/access.log"
	grep -aP '[^ -~]' "$proxy/access.log"
}
