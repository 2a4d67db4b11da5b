#!/usr/bin/env bash
# Random scenarios: invariants, relations between runs, and the same bytes in debug and release builds. With a number: that
# scenario alone, in a debug build.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --quiet --workspace --bin millpond-attack
if [ $# -gt 0 ]; then
  exec target/debug/millpond-attack --first "$1" --count 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
target/debug/millpond-attack --count 3000 --digests "$work/debug"
cargo build --quiet --release --package millpond-attack
target/release/millpond-attack --count 3000 --digests "$work/release"
diff "$work/debug" "$work/release"
echo "the same bytes in debug and release builds: $(wc -l <"$work/debug") scenarios"
