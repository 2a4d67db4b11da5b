#!/usr/bin/env bash
# Checks the recipes of every paper, and that the page of each paper is under 3 MB. Arguments: the program, the folder for
# the pages (default: a temporary one), and options of the check, such as --short. Two papers at a time: each ends with a run
# that only one core works on.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:-target/debug/millpond}
pages=${2:-$(mktemp -d)}
options=${*:3}
tables=$(mktemp -d)
trap 'rm -rf "$tables"' EXIT
mkdir -p "$pages"

check() {
    rm -f "$pages/$1.html"
    # Options are separate words.
    # shellcheck disable=SC2086
    "$program" papers check "$1" $options --report "$pages/$1.html" --force > "$tables/$1" || touch "$tables/$1.failed"
}
export -f check
export program pages options tables

papers=()
for folder in papers/*/; do papers+=("$(basename "$folder")"); done
printf '%s\n' "${papers[@]}" | xargs -P 2 -I '{}' bash -c 'check {}'

failed=()
for paper in "${papers[@]}"; do
    cat "$tables/$paper"
    [ ! -e "$tables/$paper.failed" ] || failed+=("$paper: recipes")
    [ -e "$pages/$paper.html" ] || { failed+=("$paper: no page"); continue; }
    bytes=$(wc -c < "$pages/$paper.html")
    printf '%s: a page of %s bytes\n' "$paper" "$bytes"
    [ "$bytes" -lt 3000000 ] || failed+=("$paper: its page has $bytes bytes, 3000000 or more")
done
[ "${#failed[@]}" -eq 0 ] || { printf 'failed: %s\n' "${failed[@]}" >&2; exit 1; }
