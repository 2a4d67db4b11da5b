#!/usr/bin/env bash
# Checks the recipes of every paper, and that the page of each paper is under 3 MB. Arguments: the program, and the folder
# for the pages (default: a temporary one).
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:-target/debug/millpond}
pages=${2:-$(mktemp -d)}
mkdir -p "$pages"
failed=()
for folder in papers/*/; do
    paper=$(basename "$folder")
    "$program" papers check "$paper" --report "$pages/$paper.html" --force || failed+=("$paper: recipes")
    bytes=$(wc -c < "$pages/$paper.html")
    printf '%s: a page of %s bytes\n' "$paper" "$bytes"
    [ "$bytes" -lt 3000000 ] || failed+=("$paper: its page has $bytes bytes, 3000000 or more")
done
[ "${#failed[@]}" -eq 0 ] || { printf 'failed: %s\n' "${failed[@]}" >&2; exit 1; }
