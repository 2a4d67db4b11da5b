#!/bin/sh
# Every protocol live and in packets, one after the other: the table of docs/live.md.
# usage: live.sh MILLPOND
set -eu
millpond=$1
# The table of protocols comes first, then that of queues.
names=$("$millpond" protocols --csv | awk -F, 'NR > 1 && ($1 == "queue" || $1 !~ /[a-z]/) { exit } NR > 1 { print $1 }' | paste -sd, -)
report=${TMPDIR:-/tmp}/millpond-live-report.html
exec "$millpond" compare "$(dirname "$0")/live.toml" --worlds packets,live --protocols "$names" \
    --report "$report" --force --markdown
