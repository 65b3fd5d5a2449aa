#!/usr/bin/env bash
# Set up a fresh machine and run the main job on the demo: in the window on a desktop, headless without a display.
#   packaging/run.sh [OPTIONS OF ltmem-gui …]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=packaging/setup.sh
source packaging/setup.sh run

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || [ "$(uname)" = Darwin ]; then
  exec "$LTMEM_PYTHON" -m ltmem_gui gui --demo "$@"
fi
"$LTMEM_PYTHON" -m ltmem_gui demo "$@"
shots=$(mktemp -d "${TMPDIR:-/tmp}/ltmem-screenshots-XXXXXX")
echo "No display: the pictures of the window are saved to $shots"
packaging/screenshots.sh "$shots"
