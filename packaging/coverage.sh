#!/usr/bin/env bash
# Measure what the tests reach: lines and branches, the program's own subprocesses included.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=packaging/setup.sh
source packaging/setup.sh dev
bin=$(dirname "$LTMEM_PYTHON")
export QT_QPA_PLATFORM=offscreen QT_API=pyside6
"$bin/python" -m pytest -q --cov --cov-report= tests/unit tests/contract tests/e2e
"$bin/python" -m pytest -q --cov --cov-append --cov-report=term:skip-covered tests/gui
