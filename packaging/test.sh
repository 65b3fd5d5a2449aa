#!/usr/bin/env bash
# Set up a fresh machine and run every check and every test. Arguments go to pytest, in one run of what they name.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=packaging/setup.sh
source packaging/setup.sh dev
bin=$(dirname "$LTMEM_PYTHON")
export QT_QPA_PLATFORM=offscreen QT_API=pyside6 PYTHONHASHSEED=random

echo "== format and lint"
"$bin/ruff" format --check --quiet .
"$bin/ruff" check --quiet .
echo "== types"
"$bin/basedpyright" --level error
echo "== import contracts"
"$bin/lint-imports" --no-cache | tail -n 15
echo "== tests"
if [ $# -gt 0 ]; then
  exec "$bin/python" -m pytest "$@"
fi
# Two runs, because what needs no window must not share a process with Qt; side by side, one core each.
window=$(mktemp)
trap 'rm -f "$window"' EXIT
failed=0
"$bin/python" -m pytest -q tests/gui >"$window" 2>&1 &
"$bin/python" -m pytest -q tests/unit tests/contract tests/e2e || failed=1
wait $! || failed=1
cat "$window"
exit $failed
