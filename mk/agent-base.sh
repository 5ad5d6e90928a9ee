# SPDX-License-Identifier: MIT
# agent-base.sh TAR RELEASE PACKAGE...: a small Debian from the host's own
# apt sources.  This file is part of the hash in the image's tag.
#
# FZ_ROOT  goes in front of /etc/apt; for tests
set -u
: "${FZ_ROOT:=}"
tar=$1
release=$2
shift 2
tmp=$(mktemp -d "${tar%/*}/.base.XXXXXX") || exit 73
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM

# What this Debian itself comes from, and no other vendor's packages.
suites="^$release(-updates|-security)?(/.*)?$"
for file in "$FZ_ROOT"/etc/apt/sources.list "$FZ_ROOT"/etc/apt/sources.list.d/*.list
do
	test -f "$file" || continue
	awk -v suites="$suites" '$1 == "deb" {
		line = $0
		sub(/\[[^]]*\]/, "")
		if ($3 ~ suites && / main( |$)/)
			print line
	}' "$file"
done >"$tmp/host.list"
for file in "$FZ_ROOT"/etc/apt/sources.list.d/*.sources
do
	test -f "$file" || continue
	awk -v suites="$suites" 'BEGIN { RS = ""; FS = "\n" } {
		good = off = 0
		for (i = 1; i <= NF; i++) {
			n = split($i, word, /[ \t]+/)
			if (tolower(word[1]) == "enabled:" && word[2] == "no")
				off = 1
			if (tolower(word[1]) != "suites:")
				continue
			for (j = 2; j <= n; j++)
				good += word[j] ~ suites
		}
		if (good && !off && /\n?Components:[^\n]* main/)
			print $0 "\n"
	}' "$file"
done >"$tmp/host.sources"
for file in "$tmp/host.list" "$tmp/host.sources"
do
	test -s "$file" || rm -f "$file"
done
if ! ls "$tmp"/host.* >/dev/null 2>&1
then
	echo "ERROR: this host has no apt sources of $release; type make BASE=debian:bookworm-slim image" >&2
	exit 69
fi
# A host that reaches its packages through a proxy still does.
apt-config dump Acquire::http::Proxy Acquire::https::Proxy \
    >"$tmp/apt.conf" 2>/dev/null || : >"$tmp/apt.conf"

packages=$(printf '%s,' "$@")
# shellcheck disable=SC2016 # $1 is the hook's
mmdebstrap --variant=essential --include="${packages%,}" \
    --aptopt="$tmp/apt.conf" --aptopt='Acquire::Languages "none"' \
    --aptopt='Apt::Install-Recommends "false"' \
    --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/info/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --customize-hook='rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* "$1"/var/log/*.log "$1"/var/log/apt "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/*' \
    "$release" "$tmp/base.tar" "$tmp"/host.* || exit 69
mv "$tmp/base.tar" "$tar"
