# SPDX-License-Identifier: MIT
# image.sh TAG CONTEXT: builds an image when its files have changed.
# A label holds the hash of the files it was made of, so that an unchanged
# image keeps its id, and the campaign its input.
set -u
tag=$1
context=$2
hash=$(cd "$context" && find . -type f -exec sha256sum {} + | sort | sha256sum | cut -c 1-64)
have=$(docker image inspect -f '{{index .Config.Labels "fuzzmill.context"}}' "$tag" 2>/dev/null)
test "$have" != "$hash" || exit 0
echo 'Building image...'
log=$(DOCKER_BUILDKIT=0 docker build --network none --label "fuzzmill.context=$hash" -t "$tag" "$context" 2>&1) || {
	printf 'ERROR: docker build of %s failed:\n%s\n' "$tag" "$log" >&2
	exit 69
}
