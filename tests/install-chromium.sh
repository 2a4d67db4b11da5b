#!/bin/sh
# The report is tested in a real browser. Installs Chromium with apt if that is permitted, else prints what to do.
set -eu

for name in "${CHROMIUM:-chromium}" chromium-browser google-chrome chrome; do
    command -v "$name" >/dev/null && exit 0
done

if command -v apt-get >/dev/null; then
    if [ "$(id -u)" = 0 ]; then
        apt-get update -q && apt-get install -q -y --no-install-recommends chromium && exit 0
    elif sudo -n true 2>/dev/null; then
        sudo apt-get update -q && sudo apt-get install -q -y --no-install-recommends chromium && exit 0
    fi
fi

cat >&2 <<'HELP'
Chromium is needed to test the report, and this script may not install it here.
  Debian, Ubuntu:  sudo apt-get install chromium
  elsewhere:       install Chromium or Chrome and set CHROMIUM to the path of its program
HELP
exit 1
