# SPDX-License-Identifier: MIT
# run.sh TEST...: runs test programs that speak TAP (scripts *.t and cmocka
# programs), shows what failed, and ends with "N passed, N failed".
# A test that says nothing, stops early or hangs has failed.
set -u
unset MAKEFLAGS MFLAGS MAKELEVEL # a make in a test is its own
export CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C.UTF-8
limit=${TEST_SECONDS:-300}
logs=${B:-build}/log
mkdir -p "$logs"
passed=0
failed=0

for test in "$@"
do
	log=$logs/$(basename "$test").log
	began=$(date +%s)
	case $test in
	*.t) timeout -k 10 "$limit" sh "$test" >"$log" 2>&1 </dev/null ;;
	*) timeout -k 10 "$limit" "$test" >"$log" 2>&1 </dev/null ;;
	esac
	status=$?
	good=$(grep -c '^ok ' "$log")
	bad=$(grep -c '^not ok ' "$log")
	plan=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$log" | head -n 1)
	note=
	if test "${plan:-none}" != $((good + bad)) || { test "$status" -ne 0 && test "$bad" -eq 0; }
	then
		bad=$((bad + 1))
		note=" (plan ${plan:-none}, exit $status)"
	fi
	passed=$((passed + good))
	failed=$((failed + bad))
	if test "$bad" -gt 0
	then
		printf 'FAILED  %s: %s of %s%s\n' "$test" "$bad" $((good + bad)) "$note"
		grep -A 12 '^not ok ' "$log" | head -n 60
		test -z "$note" || tail -n 20 "$log"
	else
		printf 'ok      %-44s %4s tests %4s s\n' "$test" "$good" $(($(date +%s) - began))
	fi
done
echo "$passed passed, $failed failed"
test "$failed" -eq 0
