#!/usr/bin/env bash
# Set up a fresh machine and run every check and every test. Arguments go to pytest.
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
exec "$bin/python" -m pytest --cov --cov-report=term:skip-covered "$@"
