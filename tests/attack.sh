#!/usr/bin/env bash
# Random scenarios of all kinds: invariants, relations between runs, and the same bytes in debug and release builds. With a kind
# and a number: that scenario alone, in a debug build.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --quiet --workspace --bin millpond-attack
if [ $# -gt 0 ]; then
  exec target/debug/millpond-attack --kind "$1" --first "$2" --count 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Digests of each kind, by this build.
attack() {
  for kind in general:3000 data-centres:300 loops:300; do
    "target/$1/millpond-attack" --kind "${kind%:*}" --count "${kind#*:}" --digests "$work/$1-${kind%:*}"
  done
}
attack debug
cargo build --quiet --release --package millpond-attack
attack release
for digests in "$work"/debug-*; do
  diff "$digests" "${digests/debug-/release-}"
done
echo "the same bytes in debug and release builds: $(cat "$work"/debug-* | wc -l) scenarios"
