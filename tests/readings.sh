#!/usr/bin/env bash
# Writes papers/PAPER/readings.md: the rows of each recipe under every reading of its paper.
set -euo pipefail
cd "$(dirname "$0")/.."
millpond="${MILLPOND:-target/release/millpond}"
for description in papers/*/paper.toml; do
    paper="$(basename "$(dirname "$description")")"
    [ "$(grep -c '^\[\[readings\]\]' "$description")" -gt 1 ] || continue
    table="papers/$paper/readings.md"
    {
        echo "# Rows under each reading"
        echo
        echo "Written by \`make readings\`. The values of one recipe: \`millpond papers readings $paper/RECIPE\`."
        echo
        "$millpond" papers readings "$paper" --papers papers
    } > "$table.new"
    mv "$table.new" "$table"
    echo "$table"
done
