#!/bin/sh
# install.sh HOW WHEEL: install a wheel as people do, ask the demo vault, say what it took, remove it.
# HOW is pip, pipx or uv; pipx and uv themselves are taken into the empty environment with pip.
set -eu
how=$1
wheel=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
demo=$(cd "$(dirname "$0")/../app/demo/vault" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export HOME="$folder/home" XDG_CACHE_HOME="$folder/cache" XDG_DATA_HOME="$folder/data"
unset PYTHONPATH VIRTUAL_ENV 2>/dev/null || true
mkdir -p home
cp -r "$demo" Notes
torch=${TORCH:-torch==2.13.0}
started=$(date +%s)
${PYTHON:-python3} -m venv tools
case $how in
  pip)
    tools/bin/pip install --quiet --disable-pip-version-check "$torch"
    tools/bin/pip install --quiet --disable-pip-version-check "$wheel"
    notehop=tools/bin/notehop at=tools ;;
  pipx)
    tools/bin/pip install --quiet --disable-pip-version-check "pipx>=1.7,<2"
    PIPX_HOME="$folder/pipx" PIPX_BIN_DIR="$folder/bin" \
      tools/bin/pipx install --quiet --preinstall "$torch" "$wheel"
    notehop=bin/notehop at=pipx ;;
  uv)
    tools/bin/pip install --quiet --disable-pip-version-check "uv>=0.8,<1"
    UV_TOOL_DIR="$folder/uv" UV_TOOL_BIN_DIR="$folder/bin" UV_CACHE_DIR="$folder/uv-cache" \
      tools/bin/uv tool install --quiet --with "$torch" "$wheel"
    notehop=bin/notehop at=uv ;;
  *) echo "install.sh: pip, pipx or uv, not $how" >&2; exit 2 ;;
esac
installed=$(date +%s)
"$notehop" index Notes >/dev/null 2>&1
"$notehop" ask "What is the timeline of Hollin Reach?" --vault Notes | grep -q "8 April 2027"
answered=$(date +%s)
packages=$(find "$at" -regex '.*/site-packages/[^/]*\.dist-info' | wc -l)
size=$(du -sm "$at" | cut -f1)
echo "$how: $packages packages, $size MB, installed in $((installed - started)) s, first index and answer in $((answered - installed)) s"
