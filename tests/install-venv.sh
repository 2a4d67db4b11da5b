#!/bin/sh
# The Python package is installed into a virtual environment. Debian has its module in a package of its own: installs it
# with apt if that is permitted, else prints what to do.
set -eu

python3 -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && exit 0

if command -v apt-get >/dev/null; then
    if [ "$(id -u)" = 0 ]; then
        apt-get update -q && apt-get install -q -y --no-install-recommends python3-venv && exit 0
    elif sudo -n true 2>/dev/null; then
        sudo apt-get update -q && sudo apt-get install -q -y --no-install-recommends python3-venv && exit 0
    fi
fi

cat >&2 <<'HELP'
The Python package needs Python 3.11 or later with the module venv, and this script may not install it here.
  Debian, Ubuntu:  sudo apt-get install python3-venv
HELP
exit 1
