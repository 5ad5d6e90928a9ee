#!/bin/sh
# SPDX-License-Identifier: MIT
# Lists what a purpose lacks on this machine, by looking, not by package.
#
# usage: needs.sh demo|agent|check|bench
# Prints a line per missing thing: purpose, name, Debian package, why.
#
# DOCKER_HOST  see engine.sh
# FZ_ROOT      goes in front of every absolute path; for tests
set -u
: "${FZ_ROOT:=}"
export FZ_ROOT
here=$(dirname "$0")
PATH=$PATH:$FZ_ROOT/usr/sbin:$FZ_ROOT/sbin

# purpose, how to look, name, Debian package (a/b: the first that exists), why
needs () {
	cat <<-'EOF'
	demo  cmd      gcc              gcc                   C compiler
	demo  cmd      make             make                  scheduler
	demo  libc     libc.a           libc6-dev             C library, also static
	demo  cmd      pkg-config       pkg-config            finds libraries
	demo  lib      libcurl          libcurl4-openssl-dev  HTTP library
	demo  lib      libcjson         libcjson-dev          JSON library
	demo  lib      libcrypto        libssl-dev            hashes
	demo  cmd      flock            util-linux            locks
	demo  cmd      curl             curl                  asks the engine
	demo  cmd      docker           docker-cli/docker.io  docker client
	demo  engine   dockerd          docker.io             container engine
	demo  apparmor apparmor_parser  apparmor              the engine's profile
	agent cmd      mmdebstrap       mmdebstrap            makes the image's base
	agent cmd      npm              npm                   fetches the agent
	agent cmd      openssl          openssl               certificates
	agent cmd      setpriv          util-linux            runs squid without rights
	check cmd      clang            clang                 second compiler
	check fuzzer   libFuzzer        libclang-rt-dev       fuzzer and sanitizers
	check cmd      clang-format     clang-format          code format
	check cmd      clang-tidy       clang-tidy            C linter
	check cmd      cppcheck         cppcheck              C linter
	check cmd      shellcheck       shellcheck            shell linter
	check cmd      mandoc           mandoc                manual page linter
	check lib      cmocka           libcmocka-dev         unit tests
	check cmd      jq               jq                    reads JSON in tests
	check cmd      parallel         parallel              the other worker pool
	check file     /usr/bin/python3 python3               tests on a terminal
	check cmd      git              git                   tests in a clone
	check cmd      ip               iproute2              networks of tests
	bench file     /usr/bin/python3 python3               runs the docker library
	bench cmd      socat            socat                 the relay to compare with
	bench python   python-docker    python3-docker        docker library
	EOF
}

# Without pkg-config its files still tell what is there.
has_library () {
	if command -v pkg-config >/dev/null
	then
		pkg-config --exists "$1"
		return
	fi
	for file in "$FZ_ROOT"/usr/lib/*/pkgconfig/"$1".pc \
	    "$FZ_ROOT"/usr/*/pkgconfig/"$1".pc \
	    "$FZ_ROOT"/usr/local/lib/pkgconfig/"$1".pc
	do
		test -f "$file" && return
	done
	return 1
}

has_fuzzer_in () {
	for file in "$1"/lib/*/libclang_rt.fuzzer*.a
	do
		test -f "$file" && return
	done
	return 1
}

# clang is asked last: starting it costs more than all other probes.
has_fuzzer () {
	for dir in "$FZ_ROOT"/usr/lib/llvm-*/lib/clang/*
	do
		has_fuzzer_in "$dir" && return
	done
	has_fuzzer_in "$(clang -print-resource-dir 2>/dev/null)"
}

# With AppArmor in the kernel an engine starts no container without the parser.
needs_parser () {
	grep -q Y "$FZ_ROOT/sys/module/apparmor/parameters/enabled" \
	    2>/dev/null && ! command -v apparmor_parser >/dev/null &&
	    sh "$here/engine.sh" --wanted
}

is_there () {
	case $1 in
	cmd) command -v "$2" >/dev/null ;;
	lib) has_library "$2" ;;
	file) test -e "$FZ_ROOT$2" ;;
	libc) test -f "$(gcc -print-file-name="$2" 2>/dev/null)" ;;
	fuzzer) has_fuzzer ;;
	engine) command -v "$2" >/dev/null || ! sh "$here/engine.sh" --wanted ;;
	apparmor) ! needs_parser ;;
	python) test -d "$FZ_ROOT/usr/lib/python3/dist-packages/docker" ;;
	esac
}

case ${1:-} in
demo | agent | check | bench) ;;
*)
	echo "usage: needs.sh demo|agent|check|bench" >&2
	exit 64
	;;
esac
needs | while read -r purpose how name package why
do
	case $purpose:$1 in
	demo:* | agent:check | "$1:$1")
		is_there "$how" "$name" </dev/null ||
		    echo "$purpose $name $package $why"
		;;
	esac
done
