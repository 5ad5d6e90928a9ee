# SPDX-License-Identifier: MIT
# run.sh TEST...: runs test programs that speak TAP (scripts *.t and cmocka
# programs), shows what failed, and ends with "N passed, N failed".
# A test that says nothing, stops early or hangs has failed.  Those without
# an engine or a network of their own run two at a time.
set -u
unset MAKEFLAGS MFLAGS MAKELEVEL # a make in a test is its own
export CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C.UTF-8
logs=${B:-build}/log

# run_one TEST: what there is to say of it at once, its counts into the sum
run_one () {
	log=$logs/$(basename "$1").log
	began=$(date +%s)
	shell=
	case $1 in
	*.t) shell='sh' ;;
	esac
	timeout -k 10 "${TEST_SECONDS:-300}" $shell "$1" >"$log" 2>&1 </dev/null
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
	echo "$good $bad" >>"$logs/sum"
	if test "$bad" -gt 0
	then
		printf 'FAILED  %s: %s of %s%s\n' "$1" "$bad" $((good + bad)) "$note"
		grep -A 12 '^not ok ' "$log" | head -n 60
		test -z "$note" || tail -n 20 "$log"
	else
		printf 'ok      %-44s %4s tests %4s s\n' "$1" "$good" $(($(date +%s) - began))
	fi
}

if test "${1:-}" = --one
then
	text=$(run_one "$2")
	printf '%s\n' "$text"
	exit 0
fi
mkdir -p "$logs"
: >"$logs/sum"
for jobs in 2 1
do
	for test in "$@"
	do
		case $test,$jobs in
		*/docker/*,1 | */net/*,1 | */long/*,1) echo "$test" ;;
		*/docker/*,2 | */net/*,2 | */long/*,2) ;;
		*,2) echo "$test" ;;
		esac
	done | xargs -r -n 1 -P "$jobs" sh "$0" --one
done
awk -v tests=$# '{ good += $1; bad += $2 }
END {
	bad += tests - NR # of those whose runner died
	print good + 0 " passed, " bad + 0 " failed"
	exit bad > 0
}' "$logs/sum"
