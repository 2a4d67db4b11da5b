#!/usr/bin/env bash
# Builds the site in target/site/html and checks its links. Arguments: the program millpond; options of `millpond papers check`,
# whose pages of recipes are then made first, beside the packages and the pages of the crates. Without options
# tests/papers.sh has written the pages of recipes into target/site/papers.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:-target/release/millpond}")
target=$(realpath "${CARGO_TARGET_DIR:-target}")

# The macros that the crates need are compiled once for each profile: after a release build they exist for that one.
profile=()
[ "$(basename "$(dirname "$program")")" != release ] || profile=(--release)

# With the flags of `make docs`, whose pages are used if they exist.
crates() {
    local names packages=()
    names=$(cd website && python3 -c 'from millpond_site.contents import INTERFACES; print(*INTERFACES)')
    for crate in $names; do packages+=(--package "millpond-$crate"); done
    RUSTDOCFLAGS="-D warnings" cargo doc --quiet "${profile[@]}" --no-deps "${packages[@]}"
}

if [ "$#" -gt 1 ]; then
    { website/packages.sh && crates; } & beside=$!
    trap 'kill "$beside" 2> /dev/null || true' EXIT
    tests/papers.sh "$program" "$target/site/papers" "${@:2}" > "$target/site/recipes.txt" || { cat "$target/site/recipes.txt"; exit 1; }
    wait "$beside"
else
    website/packages.sh
    crates
fi
cd website
PYTHONPYCACHEPREFIX="$target/site/bytecode" "$target/site/venv/bin/python" -m millpond_site.build --millpond "$program" --target "$target"
