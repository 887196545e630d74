#!/usr/bin/env bash
# Runs every check: lint, types, the built service over HTTP, a real browser; or with `drills` what is dear and rarely
# breaks, all behaviours again on PostgreSQL, and MCP's conformance suite, or of these the files that the other words name.
# Installs missing programs if it may (apt, as root or by sudo); otherwise it lists the skipped tests. Samples in
# Swift are left out without its compiler, which is large: `tests/support/swift.sh` gets it. Ends with the time of each step, the ten
# slowest tests, the skipped ones, and "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."
PATH=$PWD/node_modules/.bin:$PATH

notes=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$notes"' EXIT
trap 'exit 130' INT TERM

# A program, a file, or `python:` and a module.
has() {
  case $1 in
    /*) [ -e "$1" ] ;;
    python:*) python3 -c "import ${1#python:}" 2>/dev/null ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

# Prefer the headless shell: it runs the same tests with a third of the work.
shell=chromium-headless-shell

find_chromium() {
  command -v "${CHROMIUM:-$shell}" || command -v chromium || command -v google-chrome
}

apt_has() {
  apt-cache show "$1" >/dev/null 2>&1
}

# Installs Chromium, PostgreSQL and the named programs where missing, if permitted: `program`, or `program=package`.
install_missing() {
  local missing=() apt=(apt-get)
  for program in "$@"; do
    has "${program%=*}" || missing+=("${program#*=}")
  done
  has initdb || compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || missing+=(postgresql)
  if ! find_chromium >/dev/null || { [ -z "${CHROMIUM:-}" ] && ! has "$shell" && apt_has "$shell"; }; then
    missing+=("$shell" fonts-liberation)
  fi
  [ ${#missing[@]} -gt 0 ] && has apt-get || return 0
  [ "$(id -u)" = 0 ] || apt=(sudo -n apt-get)
  echo "Installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  {
    "${apt[@]}" update
    apt_has "$shell" || missing=("${missing[@]/#$shell/chromium}")
    "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
  } >"$notes/apt" 2>&1 || { echo "That failed:" && tail -n 3 "$notes/apt"; } >&2
}

# Reports the tests skipped because a program is missing; under CI that is a failure.
leave_out() {
  echo "LEFT OUT: $2, because $1 is not installed" >&2
  [ -z "${CI:-}" ]
}

check_programs() {
  has openssl || leave_out openssl "the tests of mail over TLS, and the browser's under Clerk" || return
  find_chromium >/dev/null || leave_out Chromium "the browser's tests" || return
}

# Kotlin's compiler, which Debian has in a version of 2019 alone.
install_kotlin() {
  npm install --prefix "$notes/kotlin" --no-audit --no-fund --loglevel=error kotlin-compiler@2.4.20 >"$notes/npm" 2>&1 ||
    { echo "That failed:" && tail -n 3 "$notes/npm"; } >&2
  PATH=$notes/kotlin/node_modules/kotlin-compiler/bin:$PATH
}

# Runs a step, and records its duration and exit code.
step() {
  local name=$1 began=$SECONDS code=0
  shift
  echo "== $name"
  "$@" || code=$?
  echo "$name $((SECONDS - began)) $code" >>"$notes/steps"
  return "$code"
}

tests() {
  RECORDED_ANSWERS="$notes/answers" vitest run --project each --project contract --reporter=default --reporter=json --outputFile.json="$notes/tests.json"
}

# Three at a time: PostgreSQL computes as much as they do.
drill() {
  vitest run --maxWorkers=3 --project drills --project postgres --reporter=default --reporter=json --outputFile.json="$notes/drills.json" "$@"
}

conformance() {
  CONFORMANCE_RESULTS="$notes/conformance.json" npm run -s conformance:built
}

browser() {
  CHROMIUM=$(find_chromium) || return 0
  CHROMIUM=$CHROMIUM PLAYWRIGHT_JSON_OUTPUT_FILE="$notes/browser.json" playwright test --reporter=list,json "$@"
}

both=(openssl pgrep=procps redis-server strace)

all() {
  install_missing "${both[@]}"
  step programs check_programs || return
  step lint npm run -s check || return
  step build npm run -s build || return
  # One after the other: in parallel they are a load of 13 on two cores, and tests miss their deadlines.
  step tests tests
  step browser browser --project=clerk --project=local
}

drills() {
  install_missing "${both[@]}" age caddy curl fish haproxy java=default-jre-headless /usr/share/java/com.android.json.jar=libandroid-json-java nginx pgbouncer promtool=prometheus pyflakes3 python3 python:cryptography=python3-cryptography zsh
  install_kotlin
  step programs check_programs || return
  has curl || leave_out curl "the tests of the demo and of curl samples" || return
  has python3 || leave_out python3 "the tests of Python samples" || return
  step build npm run -s build || return
  step drills drill --passWithNoTests "$@"
  # Its small programs run while the browser waits.
  { [ $# -gt 0 ] || step conformance conformance; } >"$notes/conformance.log" 2>&1 &
  step browser browser --project=drills --pass-with-no-tests "$@"
  wait $!
  cat "$notes/conformance.log"
}

# What leads to production, from an empty Debian and an empty image on: most of it is what mirrors of Debian and npm deliver.
walks() {
  install_missing "${both[@]}" buildah caddy curl debootstrap ip=iproute2 mmdebstrap
  step build npm run -s build || return
  step walks vitest run --maxWorkers=1 --project walks --reporter=default --reporter=json --outputFile.json="$notes/walks.json" "$@"
}

"${@:-all}"
node tests/support/report.mjs "$notes"
