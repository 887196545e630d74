#!/usr/bin/env bash
# Every check there is: lint, types, the built service over HTTP on every engine, a real browser.
# Installs the programs it lacks where it may (root and apt); otherwise says what it leaves out.
# Under CI nothing is left out.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
command -v curl >/dev/null || missing+=(curl)
command -v python3 >/dev/null || missing+=(python3)
command -v openssl >/dev/null || missing+=(openssl)
command -v redis-server >/dev/null || missing+=(redis-server)
command -v pgbouncer >/dev/null || missing+=(pgbouncer)
/usr/bin/python3 -c "import dkim" 2>/dev/null || missing+=(python3-dkim)
command -v initdb >/dev/null || compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || missing+=(postgresql)
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v google-chrome || true)}
[ -n "$CHROMIUM" ] || missing+=(chromium)

if [ ${#missing[@]} -gt 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "Installing ${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  CHROMIUM=${CHROMIUM:-$(command -v chromium || true)}
fi

command -v curl >/dev/null || echo "LEFT OUT: the tests of the demo and of curl samples: curl is not installed" >&2
command -v python3 >/dev/null || echo "LEFT OUT: the tests of the Python samples: python3 is not installed" >&2

npm run check
npm run build

# Every answer that the tests receive is written down, and held against the API description at the end.
answers=$(mktemp)
RECORDED_ANSWERS=$answers npx vitest run --exclude tests/contract.test.ts
RECORDED_ANSWERS=$answers npx vitest run tests/contract.test.ts
rm "$answers"

npm run -s conformance

if [ -n "$CHROMIUM" ]; then
  CHROMIUM=$CHROMIUM npx playwright test
elif [ -n "${CI:-}" ]; then
  echo "Chromium is not installed, and under CI nothing is left out" >&2
  exit 1
else
  echo "LEFT OUT: the browser tests, because Chromium is not installed" >&2
fi
