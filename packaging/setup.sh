#!/usr/bin/env bash
# Set up a machine: the system libraries Qt needs, a virtual environment, the locked packages.
#   packaging/setup.sh [run|dev]      (default: run)
# Leaves the path of the environment's python in $LTMEM_PYTHON when sourced.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
kind=${1:-run}

find_python() {
  local name
  for name in "${PYTHON:-}" python3.12 python3.13 python3.11 python3; do
    [ -n "$name" ] || continue
    if command -v "$name" >/dev/null 2>&1 &&
      "$name" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null; then
      command -v "$name"
      return 0
    fi
  done
  echo "LTMem needs Python 3.11, 3.12 or 3.13; none was found. On Debian: apt-get install python3 python3-venv" >&2
  return 1
}

# What the wheel of Qt expects from the system, and git for the baseline (names as in Debian 12).
libraries="libegl1 libgl1 libxkbcommon0 libxkbcommon-x11-0 libdbus-1-3 libfontconfig1 libxcb-cursor0 libxcb-icccm4
  libxcb-image0 libxcb-keysyms1 libxcb-render-util0 libxcb-shape0 libxcb-xinerama0 fonts-dejavu-core git"

install_libraries() {
  command -v dpkg-query >/dev/null 2>&1 || return 0
  local missing="" name
  for name in $libraries; do
    dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing="$missing $name"
  done
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" = 0 ]; then
    apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
  else
    echo "The window needs these packages; install them with: sudo apt-get install$missing" >&2
  fi
}

install_packages() {
  local venv=$top/.venv stamp wanted
  [ -x "$venv/bin/python" ] || "$(find_python)" -m venv "$venv"
  wanted="$kind $(sha256sum "$top/requirements.lock" "$top/pyproject.toml" | cut -c1-64 | tr '\n' ' ')"
  stamp=$venv/.ltmem-stamp
  if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$top/requirements.lock"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --editable "$top"
    printf '%s' "$wanted" >"$stamp"
  fi
}

install_libraries
install_packages
LTMEM_PYTHON=$top/.venv/bin/python
export LTMEM_PYTHON
