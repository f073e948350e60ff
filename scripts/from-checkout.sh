#!/usr/bin/env bash
# Runs the program of this checkout with the given arguments, in the current folder: for the GitHub action and other CI. It is
# built before its first run. npm runs in this folder, never in the current one, whose .npmrc and node_modules could name other programs;
# the lock file has the hash of each package.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
program=$checkout/dist/cli/bin.js
if [[ ! -f $program ]]; then
  for tool in node npm; do
    command -v "$tool" >/dev/null || { echo "stac-auth cannot be built: $tool is missing; install Node 20.19 or newer" >&2; exit 2; }
  done
  log=$(mktemp)
  if ! (
    # A prefix of its own: no folder above counts as a workspace that contains this one.
    cd "$checkout" &&
      npm ci --prefix "$checkout" --ignore-scripts --no-audit --no-fund &&
      npm run --prefix "$checkout" --silent build
  ) >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    echo "stac-auth cannot be built: npm failed, see above" >&2
    exit 2
  fi
  rm -f "$log"
fi
exec node "$program" "$@"
