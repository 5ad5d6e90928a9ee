#!/bin/sh
# SPDX-License-Identifier: MIT
# netpolicy without a proxy: what it refuses, answers, writes and counts.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

gold=$top/tests/golden/policy
unset ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN

# -- lint -----------------------------------------------------------------

run netpolicy lint "$top/conf/policy.conf"
is 'the shipped policy is good, and nothing is said' '0  ' "$status $out $err"
run netpolicy lint "$gold/rich.conf"
is 'so is a rich one' '0  ' "$status $out $err"
: >empty.conf
run netpolicy lint empty.conf
is 'so is an empty one' '0  ' "$status $out $err"

printf 'allow .x.org\nallow api.x.org\nalow y.org\nallow 10.0.0.1\n' >bad.conf
run netpolicy lint bad.conf
is 'a bad one is not' '65 ' "$status $out"
is 'each error has its file, line and reason' "\
bad.conf:2: allow api.x.org is covered by allow .x.org on line 1
bad.conf:3: unknown word \"alow\"; a line begins with api, allow or service
bad.conf:4: \"10.0.0.1\" is an IP address, not a name
netpolicy: bad.conf: 3 errors; nothing was done" "$err"
run netpolicy gen -t hosts bad.conf
is 'and nothing is made of it' '65 ' "$status $out"
run netpolicy explain -f bad.conf x.org
is 'nor answered from it' '65 ' "$status $out"

seq -f 'nonsense%g' 30 >many.conf
run netpolicy lint many.conf
is 'twenty errors are named' 22 "$(wc -l <.err | tr -d ' ')"
is 'the others are counted' 'many.conf: and 10 more' \
    "$(tail -n 2 .err | head -n 1)"
seq -f 'allow a%.0f.org' 100000 >huge.conf
run netpolicy lint huge.conf
is '100,000 lines are too many' "65 huge.conf:10001: more than 10000 lines
netpolicy: huge.conf: 1 error; nothing was done" "$status $err"
printf 'allow a.org\nallow\0b.org\n' >nul.conf
run netpolicy lint nul.conf
is 'a NUL is refused' \
    'nul.conf:2: byte 6 is 0x00, which is not plain ASCII text' \
    "$(head -n 1 .err)"
printf 'allow \303\251.org\n' >utf8.conf
run netpolicy lint utf8.conf
is 'so is what is not ASCII' \
    'utf8.conf:1: byte 7 is 0xc3, which is not plain ASCII text' \
    "$(head -n 1 .err)"
run netpolicy lint none.conf
is 'a file that is not there' \
    '66 netpolicy: none.conf: No such file or directory' "$status $err"
run netpolicy lint .
is 'a directory' '66 netpolicy: .: not a file' "$status $err"
run netpolicy lint
is 'without a name it is conf/policy.conf' \
    '66 netpolicy: conf/policy.conf: No such file or directory' "$status $err"
run netpolicy lint /dev/stdin <"$gold/rich.conf"
is 'it may come from a pipe' '0 ' "$status $err"

# -- explain --------------------------------------------------------------

# says DESCRIPTION STATUS ANSWER ARGUMENT...
says () {
	what=$1 want="$2 $3"
	shift 3
	run netpolicy explain -f rich.conf "$@"
	is "$what" "$want" "$status $out$err"
}
cp "$gold/rich.conf" .
says 'an allowed host' 0 "allow claude.ai:443: rich.conf:6: allow claude.ai \
port=443: a TLS tunnel; what is asked inside it is not seen" claude.ai
says 'another port of it' 1 "deny claude.ai:22: rich.conf:6: allow claude.ai \
port=443 is for that port only" claude.ai:22
says 'a host that no line names' 1 \
    'deny evil.example:443: rich.conf: no line names it' evil.example
says 'an address' 1 "deny 2130706433:443: rich.conf: names only: no line can \
allow an address" 2130706433
says 'a tunnel to the api host' 1 "deny api.anthropic.com:443: rich.conf:5: a \
tunnel to the api host is refused on purpose: it would carry anybody's key; \
the gate takes METHOD PATH" api.anthropic.com
says 'a request the gate passes' 0 "allow api.anthropic.com:443: rich.conf:5: \
the gate passes POST /v1/messages with the key of ANTHROPIC_API_KEY" \
    api.anthropic.com POST '/v1/messages?beta=true'
says 'one that it does not' 1 "deny api.anthropic.com:443: rich.conf:5: the \
gate does not pass this method and path" api.anthropic.com GET /v1/messages
says 'a service' 0 "allow quest-postgres-test:5432: rich.conf:2: service \
quest-postgres-test 5432 is relayed to 127.0.0.1:15432" quest-postgres-test
says 'what is no host' 64 "netpolicy: \"a/b\" is not made of letters, \
digits, hyphens and dots" a/b

# -- gen ------------------------------------------------------------------

# makes NAME ARGUMENT...: the same bytes as golden NAME
makes () {
	name=$1
	shift
	run netpolicy gen "$@"
	is "gen of $name" '0 ' "$status $err"
	is "$name is as it was" '' "$(diff "$gold/$name" .out)"
}
for type in relays hosts env
do
	makes "rich.$type" -t $type "$gold/rich.conf"
done
makes rich.squid -t squid --dir /run/fz "$gold/rich.conf"
makes bearer.squid -t squid --dir /run/fz --ca /etc/ca.pem \
    --squid-root /opt/squid --gate-port 18080 "$gold/bearer.conf"
makes shipped.squid -t squid --dir /run/fz "$top/conf/policy.conf"
is 'the policy is named by its hash' \
    "# policy sha256 $(sha256sum <"$gold/bearer.conf" | cut -c 1-64)" \
    "$(sed -n 2p "$gold/bearer.squid")"
is 'no rule adds the key for all' '' \
    "$(grep -h request_header_add "$gold"/*.squid)"
is 'every port is on loopback' '' \
    "$(grep -h '^http_port' "$gold"/*.squid | grep -v ' 127\.0\.0\.1:')"
# Raw, a name in a ClientHello could have blanks and newlines: another line
# of the log, or of what the helper is asked.
is 'what a session chose is encoded' '' \
    "$(grep -hE '%(ssl::>sni|>rd|>rp)' "$gold"/*.squid)"
is 'reverse DNS is never asked' '' \
    "$(grep -hE 'dstdom(ain|_regex) ' "$gold"/*.squid | grep -v -e ' -n ')"
is 'every refusal has a rule' '' \
    "$(grep -h '^http_access deny' "$gold"/*.squid | grep -v ' t-[a-z0-9-]*$')"
run netpolicy gen -t relays --gate-port 18080 --proxy-port 13128 rich.conf
is 'ports of the host change, those inside do not' \
    '127.0.0.1:8080 127.0.0.1:18080
127.0.0.1:3128 127.0.0.1:13128' "$(sed -n '3,4p' .out)"
run netpolicy gen -t env "$gold/bearer.conf"
is 'without a tunnel there is no proxy to be told of' '0 2' \
    "$status $(wc -l <.out | tr -d ' ')"

ANTHROPIC_API_KEY=sk-test-0123456789 run netpolicy gen -t key rich.conf
is 'the key, for the gate only' \
    '0 request_header_add X-Api-Key "sk-test-0123456789" gate' \
    "$status $(tail -n 1 .out)"
ANTHROPIC_AUTH_TOKEN=tok-0123456789 run netpolicy gen -t key "$gold/bearer.conf"
is 'a token goes out as Bearer' \
    '0 request_header_add Authorization "Bearer tok-0123456789" gate' \
    "$status $(tail -n 1 .out)"
run netpolicy gen -t key rich.conf
is 'no key' '78  ERROR: Set ANTHROPIC_API_KEY' "$status $out $err"
ANTHROPIC_API_KEY='' run netpolicy gen -t key rich.conf
is 'an empty one' '78  ERROR: Set ANTHROPIC_API_KEY' "$status $out $err"
# shellcheck disable=SC2016 # no variables
for key in 'two words!' 'quote"quote' "quote'quote" 'back\slash' short \
    'line
break' 'dollar$dollar' 'per%cent' "$(seq -s '' 500)"
do
	ANTHROPIC_API_KEY=$key run netpolicy gen -t key rich.conf
	is 'one that squid.conf cannot hold' "78  ERROR: ANTHROPIC_API_KEY is \
no key: 8 to 512 plain characters, no blanks, quotes, \\, %, \$ or #" \
	    "$status $out $err"
done
run netpolicy gen -t key empty.conf
is 'no api, no key' '0  ' "$status $out $err"
run netpolicy gen -t squid --dir /run/fz empty.conf
is 'nothing to do for a proxy' \
    '78  ERROR: no api and no allow line: there is nothing for a proxy to do' \
    "$status $out $err"
run netpolicy gen -t squid rich.conf
is 'squid needs its directory' '64 netpolicy: -t squid needs --dir' \
    "$status $err"
for dir in relative '/with space' '/new
line' '/quote"'
do
	run netpolicy gen -t squid --dir "$dir" rich.conf
	is 'which squid.conf has to be able to hold' '64 ' "$status $out"
done

# A squid that can be run says whether it would take it.
squid=$(sh "$top/mk/squid.sh" --find 2>/dev/null) && {
	root=${squid%/usr/sbin/squid}
	mkdir fz
	echo 'acl token req_header X-Api-Key ^0123$' >fz/token.conf
	ANTHROPIC_API_KEY=sk-test-0123456789 \
	    netpolicy gen -t key rich.conf >fz/key.conf
	openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=peek -days 1 \
	    -keyout key -out cert 2>/dev/null && cat key cert >fz/peek.pem
	for policy in rich.conf "$top/conf/policy.conf"
	do
		netpolicy gen -t squid --dir "$PWD/fz" --squid-root "$root" \
		    "$policy" >fz/squid.conf
		for path in "$root"/usr/lib/*-linux-gnu*
		do
			test ! -d "$path" || libraries=$path
		done
		LD_LIBRARY_PATH=${libraries:-} "$squid" -k parse \
		    -f "$PWD/fz/squid.conf" >fz/said 2>&1
		is "squid takes ${policy##*/}" '0 ' \
		    "$? $(grep -E 'ERROR|FATAL|Bungled' fz/said)"
	done
}

# -- audit ----------------------------------------------------------------

log=$gold/access.log
run netpolicy audit "$log"
is 'who was refused what' "0 no run known (127.0.0.1)
       1  denied  token            POST http://api.anthropic.com/v1/messages
no run known (127.64.3.7)
       2  denied  method-path      POST http://api.anthropic.com/v1/files
       1  denied  sni              CONNECT claude.ai:443 sni=evil.example
no run known (127.64.3.8)
       1  denied  -                CONNECT error:method-not-allowed
       1  denied  name             CONNECT evil.example:443
6 denied of 9 requests" "$status $out"

# Two runs had 127.64.3.7 one after the other, and one attempt of 008 before
# its present one.
offset () { # LINE
	head -n $(($1 - 1)) "$log" | wc -c | tr -d ' '
}
facts () { # DIRECTORY SOURCE FROM [TO]
	mkdir -p "$1"
	printf '{"_schema":"fz-container/1","network":{"source":"%s","log_from":%s%s}}\n' \
	    "$2" "$3" "${4:+,\"log_to\":$4}" >"$1/container.json"
}
facts runs/007 127.64.3.7 0 "$(offset 5)"
facts runs/009 127.64.3.7 "$(offset 5)"
facts runs/008/attempts/1 127.64.3.8 0 "$(offset 7)"
mkdir runs/010
printf '{"_schema":"fz-run/1","network":{"source":"127.64.3.8","log_from":%s}}\n' \
    "$(offset 7)" >runs/008/run.json
echo '{"_schema":"fz-container/1","network":null}' >runs/010/container.json
run netpolicy audit --runs runs "$log"
is 'by run' "0 no run known (127.0.0.1)
       1  denied  token            POST http://api.anthropic.com/v1/messages
run 007 (127.64.3.7)
       2  denied  method-path      POST http://api.anthropic.com/v1/files
run 008 (127.64.3.8)
       1  denied  name             CONNECT evil.example:443
run 008 attempt 1 (127.64.3.8)
       1  denied  -                CONNECT error:method-not-allowed
run 009 (127.64.3.7)
       1  denied  sni              CONNECT claude.ai:443 sni=evil.example
6 denied of 9 requests" "$status $out"
run netpolicy audit --runs runs --all -o tsv "$log"
is 'what passed as well, for scripts' "0 no 1 -
yes 2 method-path" "$status $(awk -F '\t' '$1 == "007" {
    print $4, $5, $6 }' .out | sort)"
is 'one line of the same columns for each' 15 \
    "$(awk -F '\t' '{ print NF }' .out | sort -u)"
run netpolicy audit --runs runs -o json "$log"
is 'and as JSON' '0 fz-audit/1 6 5 007 method-path 2' "$status $(python3 -c '
import json
j = json.load(open(".out"))
r = [x for x in j["rows"] if x["run"] == "007"]
print(j["_schema"], j["denied"], len(j["rows"]), r[0]["run"], r[0]["rule"],
    r[0]["count"])')"
printf 'allow evil.example\n' >later.conf
run netpolicy audit -f later.conf "$log"
is 'a policy says what it would do now' \
    '       1  denied  name             CONNECT evil.example:443 (the policy now says allow)' \
    "$(grep evil.example:443 .out)"
is 'but not of what it does not decide' '' "$(grep 'token.*now' .out)"

{
	cat "$log"
	printf 'nonsense\033[31m\n\0\n'
	head -c 70000 /dev/zero | tr '\0' a
	printf '\n1795015205.361 port=1 client=a method=G\033[31mT target=/\302\233 status=1 result=TCP_DENIED rule=x sni=- bump=- ms=1 up=1 down=1\n'
	printf '1795015205.361 port=1 client=unfinished'
} >hostile.log
run netpolicy audit hostile.log
is 'lines that are none are counted, the rest is done' \
    '2 7 denied of 10 requests
3 lines could not be read' "$status $(tail -n 2 .out)"
is 'nothing of them reaches a terminal' '' \
    "$(LC_ALL=C grep -a '[^ -~]' .out)"
is 'one that is still written is left alone' '' "$(grep unfinished .out)"
echo garbage >runs/010/container.json
run netpolicy audit --runs runs "$log"
is 'a run that cannot be read is no reason to stop' 2 "$status"
run netpolicy audit none.log
is 'no log' '66 netpolicy: none.log: No such file or directory' "$status $err"
run netpolicy audit --runs none "$log"
is 'no runs' '66 netpolicy: none: No such file or directory' "$status $err"

# -- the command line -----------------------------------------------------

# misused MESSAGE ARGUMENT...
misused () {
	want=$1
	shift
	run netpolicy "$@"
	is "misuse: $*" "64  $want" "$status $out $(head -n 1 .err)"
}
misused 'usage: netpolicy lint [FILE]'
misused 'netpolicy: "walk" is no command' walk
misused 'netpolicy: lint: wrong number of operands' lint a b
misused 'netpolicy: lint does not take that option' lint --all
misused 'netpolicy: lint: a policy twice' lint -f a b
misused 'netpolicy: explain: METHOD needs a PATH' explain a.org GET
misused 'netpolicy: gen needs -t' gen rich.conf
misused 'netpolicy: -t: "iptables" is not squid, key, relays, hosts or env' \
    gen -t iptables rich.conf
misused 'netpolicy: -o: "xml" is not text, tsv or json' \
    audit -o xml "$log"
misused "netpolicy: --gate-port and --proxy-port (and the one after it) have \
to differ" gen -t relays --gate-port 3129 rich.conf
misused 'netpolicy: --gate-port: "0" is not from 1 to 65535' \
    gen -t relays --gate-port 0 rich.conf
netpolicy gen -t hosts rich.conf >/dev/full 2>err
is 'a full disk is no success' \
    '74 netpolicy: standard output: No space left on device' "$? $(cat err)"
done_testing
