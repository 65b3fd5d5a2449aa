#!/bin/sh
# Render every panel with the demo's data: screenshots.sh OUTDIR [--scale 1|2]. Needs no display.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ -n "${VIRTUAL_ENV:-}" ]; then
    python="$VIRTUAL_ENV/bin/python"
elif [ -x "$here/../.venv/bin/python" ]; then
    python="$here/../.venv/bin/python"
else
    python=python3
fi
: "${1:?usage: screenshots.sh OUTDIR [--scale 1|2]}"
exec "$python" "$here/screenshots.py" "$@"
