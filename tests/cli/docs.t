#!/bin/sh
# SPDX-License-Identifier: MIT
# What is written is so: options, manual pages, "make help" and the README.
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

# same DESCRIPTION FILE FILE
same () {
	is "$1" '' "$(diff "$2" "$3" | grep '^[<>]')"
}

# -- every program --------------------------------------------------------

for dir in "$top"/tools/*/
do
	name=$(basename "$dir")
	test -e "$dir/$name.c" || continue
	page=$dir$name.1
	test -e "$page" || { is "$name has a manual page" "$page" none; continue; }
	run "$name" --help
	is "$name --help" '0 ' "$status $err"
	# Its own lines, or the synopsis where there are none.
	sed -n 's/^  \(--[a-z-]*\).*/\1/p' .out | sort >help
	test -s help || grep -o -e '--[a-z][a-z-]*' .out | sort -u >help
	sed -n 's/^	{ "\([a-z-]*\)", [a-z]*_argument,.*/--\1/p' "$dir"*.c |
	    sort >parser
	sed -n 's/^\.It Fl -\([a-z][a-z-]*\).*/--\1/p' "$page" | sort >manual
	is "$name has options" yes "$(test -s parser && echo yes)"
	same "$name: --help has what the parser knows" parser help
	same "$name: so has the manual page" parser manual
	like "$name: the page names it" "^\.Nm $name\$" "$(cat "$page")"
	for section in 'EXIT STATUS' EXAMPLES
	do
		is "$name: the page has $section" ".Sh $section" \
		    "$(grep "^\.Sh $section\$" "$page")"
	done
	# Each line of --help fits a terminal.
	is "$name: --help is not too wide" '' "$(grep -E '.{100}' .out)"
done

# -- make help ------------------------------------------------------------

# Rules may go over several lines.
cat "$top/Makefile" "$top"/mk/*.mk | sed -e ':more' -e '/\\$/{N
s/\\\n//
b more
}' >rules
sed -n 's/^\([a-z][a-z-]*\):.*## .*/\1/p' rules | sort -u >documented
sed -n 's/^\.PHONY://p' rules | tr -s ' \t' '\n' | sort -u >phony
run make -s -C "$top" help
is 'make help' '0 ' "$status $err"
sed -n 's/^  \([a-z-]*\)  *[^ ].*/\1/p' .out | sort -u >listed
same 'make help lists every target with a ##' documented listed
is 'none of these is a file' '' "$(comm -23 documented phony)"
for target in all campaign check clean demo doctor help install lint plan \
    retry run setup status stop
do
	grep -qx $target listed || is "make help lists $target" yes no
done

# -- the README -----------------------------------------------------------

readme=$top/README.md
test -e "$readme" || skip_all 'no README yet'
sed -n 's/^CONFIG := //p' rules | tr -s ' \t' '\n' | sort >config
sed -n 's/^\([A-Z][A-Z_]*\)[	 ]*[:?]*=.*/\1/p' rules | sort -u - config \
    >variables
is 'the README shows commands' yes \
    "$(grep -qE '^    (make|build/bin/)' "$readme" && echo yes)"
# "make -j8 A=b c   # why" -> the words make would get
grep -E '^    (make|build/bin/)' "$readme" | sed 's/ #.*//; s/|.*//' >commands
while read -r line
do
	eval "set -- $line"
	program=$1
	shift
	for word in "$@"
	do
		case $program,$word in
		make,*=*)
			file=variables
			word=${word%%=*} ;;
		make,-*)
			continue ;;
		make,*)
			file=phony ;;
		*,--*)
			file=help
			"$B/bin/${program##*/}" --help >help ;;
		*)
			continue ;;
		esac
		case $word in
		DESTDIR) continue ;; # of the person who packs it
		esac
		if grep -qe "\(^\| \)$word\( \|\$\)" "$file"
		then
			is "README: $line: $word is there" yes yes
		else
			is "README: $line: $word is there" yes no
		fi
	done
	test "$program" = make ||
	    is "README: $program is there" yes \
	    "$(test -x "$B/bin/${program##*/}" && echo yes)"
done <commands
# | `RUNS`, `WORKERS` | ... | and | `dockrun` | verb |
# shellcheck disable=SC2016
sed -n 's/^| \(`[^|]*\) |.*/\1/p' "$readme" | grep -o '`[^`]*`' |
    tr -d '`' >named
while read -r word
do
	case $word in
	[A-Z]*) is "README: the variable $word is there" "$word" \
	    "$(grep -x "$word" variables)" ;;
	*) is "README: the program $word is there" yes \
	    "$(test -x "$B/bin/$word" && echo yes)" ;;
	esac
done <named
is 'and every variable a person may set is in the README' '' \
    "$(sort named | comm -13 - config)"
grep -oE '(tools|fuzz|conf|mk|tests|docker)/[a-z0-9./]*[a-z0-9]' "$readme" |
    sort -u | while read -r path
do
	case $path in
	fuzz/runs | conf/local.mk) continue ;;
	esac
	test -e "$top/$path" || echo "$path"
done >missing
is 'every path the README names is there' '' "$(cat missing)"
done_testing
