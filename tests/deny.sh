#!/usr/bin/env bash
# cargo deny, where it is installed; its advisories, where its database can be fetched. tests/dependencies.rs checks the same
# rules everywhere, with the advisories of tests/advisories.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cargo deny --version >/dev/null 2>&1; then
  echo "cargo deny is not installed: the advisories are those of tests/advisories.txt"
elif cargo deny fetch db 2>/dev/null; then
  cargo deny check
else
  echo "the advisory database cannot be fetched: the advisories are those of tests/advisories.txt"
  cargo deny check bans licenses sources
fi
