#!/usr/bin/env bash
# Runs every check and drill on each supported version of Node, or on those named: `npm run nodes -- 26.10.0`. npx brings
# them.
set -uo pipefail
cd "$(dirname "$0")/.."

[ $# -gt 0 ] || set -- 24.21.0 26.10.0
# npm's scripts find programs here first, so the version on trial takes the place of the Node that npm ci brings.
place=node_modules/.bin/node
brought=$(readlink "$place")
trap 'ln -sfn "$brought" "$place"' EXIT
platform=$(node -p '`${process.platform}-${process.arch}`')
results=()
for version in "$@"; do
  log=$(mktemp)
  ln -sfn "$(npx -y -p "node-$platform@$version" -- node -p process.execPath)" "$place"
  { echo "Node $("$place" --version)" && bash tests/all.sh; bash tests/all.sh drills; } 2>&1 | tee "$log"
  results+=("Node $version: $(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | paste -sd ' ')")
done
printf '%s\n' "${results[@]}"
! printf '%s\n' "${results[@]}" | grep -qvE '( [0-9]+ passed, 0 failed){2}$'
