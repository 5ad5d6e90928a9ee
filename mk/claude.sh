# SPDX-License-Identifier: MIT
# claude.sh FILE: the native claude program of CLAUDE_VERSION, by npm.  FILE
# appears whole and with the sha256 CLAUDE_SHA256, or not at all.
set -u
file=$1
case $(uname -m) in
x86_64) arch=x64 ;;
aarch64) arch=arm64 ;;
*)
	echo "ERROR: there is no claude for $(uname -m); type make IMAGE=yours campaign" >&2
	exit 69
	;;
esac
package=@anthropic-ai/claude-code-linux-$arch@$CLAUDE_VERSION
tmp=$(mktemp -d "${file%/*}/.claude.XXXXXX") || exit 73
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM

# --cache: npm would keep another 170 MB of its own.
npm pack --silent --ignore-scripts --cache "$tmp/npm" \
    --pack-destination "$tmp" "$package" || {
	echo "ERROR: npm could not fetch $package" >&2
	exit 69
}
tar -xzf "$tmp"/*.tgz -C "$tmp" --strip-components=1 package/claude || {
	echo "ERROR: $package: no program in it" >&2
	exit 65
}
sum=$(sha256sum "$tmp/claude" | cut -c 1-64)
if test "$sum" != "$CLAUDE_SHA256"
then
	echo "ERROR: $package: its program has the sha256 $sum, not $CLAUDE_SHA256; if you trust it: make CLAUDE_SHA256=$sum image" >&2
	exit 65
fi
chmod 755 "$tmp/claude" && touch "$tmp/claude" && mv "$tmp/claude" "$file"
