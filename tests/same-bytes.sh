#!/usr/bin/env bash
# A run depends on scenario and seed alone: debug and release builds, one thread and two, write the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
scenario=scenarios/last-hop-5g.toml
run() { # folder, then the command
  local folder=$1
  shift
  "$@" compare "$scenario" --protocols lgcc,abc,cubic --set duration=5s --set measure.from=1s --set flows.second.start=2s --out "$work/$folder" >/dev/null
  find "$work/$folder" -name timing.json -delete
}

cargo build --quiet --workspace
cargo build --quiet --release --package millpond-cli
run debug target/debug/millpond
run release target/release/millpond
RAYON_NUM_THREADS=1 run one-thread target/release/millpond
diff --recursive --brief "$work/debug" "$work/release"
diff --recursive --brief "$work/release" "$work/one-thread"
echo "the same bytes three times: $(find "$work/release" -type f | wc -l) files"
