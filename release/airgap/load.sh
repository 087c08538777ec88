#!/bin/sh
# Copies images, chart and signatures of this bundle to a registry, with the same digests:
#   ./load.sh registry.corp.example/pressroom [OPTIONS OF oras cp]
# Requires oras. Sign in first with `oras login registry.corp.example`.
set -eu
[ $# -ge 1 ] || { echo "Usage: ./load.sh REGISTRY/PATH [OPTIONS OF oras cp]" >&2; exit 2; }
registry=$1
shift
cd "$(dirname "$0")"
while read -r name; do
  oras cp --recursive --no-tty --from-oci-layout "$@" "images/$name" "$registry/$name" </dev/null
done <names.txt
