#!/bin/sh
# Pins the newest dated tag of the base image in the Dockerfile by its digest. Requires oras. The
# variables are for tests.
set -eu
dockerfile=${DOCKERFILE:-$(dirname "$0")/../Dockerfile}
repository=${REPOSITORY:-docker.io/library/debian}
http=${PLAIN_HTTP:+--plain-http}
tags=$(oras repo tags $http "$repository")
tag=$(echo "$tags" | grep -xE 'bookworm-[0-9]{8}-slim' | sort | tail -1)
[ -n "$tag" ] || { echo "$repository has no tag such as bookworm-20260918-slim" >&2; exit 1; }
digest=$(oras resolve $http "$repository:$tag")
sed -i "s|^ARG BASE=.*|ARG BASE=debian:$tag@$digest|" "$dockerfile"
grep '^ARG BASE=' "$dockerfile"
