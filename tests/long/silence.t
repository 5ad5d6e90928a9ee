#!/bin/sh
# SPDX-License-Identifier: MIT
# An API that thinks for ten minutes before its first byte is waited for, by
# squid and by what lies between.
# shellcheck source=tests/cli/tap.sh disable=SC2154
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=tests/net/lab.sh
. "$top/tests/net/lab.sh"

lab_up
lab_squid '# nobody else'
echo '{"stream":true,"messages":[{"role":"user","content":"[[scn:think:605]]"}]}' >body
before=$(date +%s)
said=$(lab_host curl -q -s -m 700 -N -H "X-Api-Key: $token" -d @body \
    -w '\nstatus %{http_code}\n' "http://127.0.0.1:$gate_port/v1/messages")
is 'ten minutes went by' yes \
    "$(test $(($(date +%s) - before)) -ge 605 && echo yes)"
is 'the answer is whole' "data: {\"type\": \"message_stop\"}
status 200" "$(echo "$said" | grep -e message_stop -e '^status' | grep -v ^event)"
is 'and the API was asked once' 1 \
    "$(jq -c 'select(.scenario == "think")' "$world/api" | wc -l)"
done_testing
