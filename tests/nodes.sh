#!/usr/bin/env bash
# Runs every check on each supported version of Node, or on those named: `npm run nodes -- 24.21.0`. npx brings them.
set -uo pipefail
cd "$(dirname "$0")/.."

[ $# -gt 0 ] || set -- 20.19.0 22.23.3 24.21.0 26.10.0
results=()
for version in "$@"; do
  log=$(mktemp)
  npx -y -p "node@$version" -- bash -c 'echo "Node $(node --version)" && bash tests/all.sh' 2>&1 | tee "$log"
  results+=("Node $version: $(tail -n 1 "$log")")
done
printf '%s\n' "${results[@]}"
! printf '%s\n' "${results[@]}" | grep -qv ' 0 failed$'
