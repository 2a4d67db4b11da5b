#!/usr/bin/env bash
# Writes papers/PAPER/readings.md and readings.csv: recipes, and their rows, under every reading of the paper. Arguments: the
# papers (default: all that have more than one reading).
set -euo pipefail
cd "$(dirname "$0")/.."
millpond="${MILLPOND:-target/release/millpond}"
papers=("$@")
[ "$#" -gt 0 ] || mapfile -t papers < <(ls papers/*/paper.toml | cut -d / -f 2)
for paper in "${papers[@]}"; do
    [ "$(grep -c '^\[\[readings\]\]' "papers/$paper/paper.toml")" -gt 1 ] || continue
    table="papers/$paper/readings.md"
    {
        echo "# Rows under each reading"
        echo
        echo "Written by \`make readings\`. Every row: [readings.csv](readings.csv). The rows of one recipe: \`millpond papers readings $paper/RECIPE\`."
        echo
        "$millpond" papers readings "$paper" --papers papers --markdown --rows "papers/$paper/readings.csv" --force
    } > "$table.new"
    mv "$table.new" "$table"
    echo "$table"
done
