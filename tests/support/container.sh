#!/usr/bin/env bash
# Builds and runs what lib/server/Dockerfile and compose.yaml describe on a machine without an engine, as root on Debian:
#   container.sh build FOLDER             an image by buildah, on a Debian of today; its files in FOLDER/root
#   container.sh run FOLDER COMMAND...    in those files, read-only, as the image's user
#   container.sh compose FOLDER           the services of FOLDER/compose.json, each under its name in a network of their own
set -euo pipefail
what=$1 folder=$(realpath "$2")
shift 2
root=$folder/root

# Stands in for the official image of Node, with this machine's Node and npm.
make_base() {
  mmdebstrap --quiet --variant=apt trixie "$folder/base.tar"
  local base
  base=$(image from scratch)
  image add --quiet "$base" "$folder/base.tar" /
  image copy --quiet "$base" "$(realpath "$(command -v node)")" /usr/local/bin/node
  image copy --quiet "$base" "$(dirname "$(realpath "$(command -v npm)")")/.." /usr/local/lib/node_modules/npm
  image copy --quiet "$base" "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" /usr/local/etc/authorities.pem
  echo cafile=/usr/local/etc/authorities.pem >"$folder/npmrc"
  image copy --quiet "$base" "$folder/npmrc" /usr/local/etc/npmrc
  image run --isolation chroot "$base" ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
  image commit --quiet "$base" localhost/node
}

image() {
  buildah --root "$folder/storage" --runroot "$folder/run" --storage-driver overlay "$@"
}

# Copies the files of an image.
copy_files() {
  local container
  container=$(image from --pull-never "$1")
  cp -a "$(image mount "$container")" "$2"
}

build() {
  local given=(--volume /etc/apt/apt.conf.d:/etc/apt/apt.conf.d:ro)
  [ ! -e ~/.npmrc ] || given+=(--volume ~/.npmrc:/root/.npmrc:ro)
  make_base
  image bud --quiet --isolation chroot --format docker --pull-never --build-arg BASE=localhost/node "${given[@]}" \
    --file lib/server/Dockerfile --tag localhost/office .
  image inspect --type image localhost/office >"$folder/image.json"
  copy_files localhost/office "$root"
  copy_files localhost/node "$folder/base"
  mkdir -p "$root/secrets" "$folder/data" "$folder/secrets"
  chown 1000:1000 "$folder/data"
  # Docker Compose needs no engine to read a file.
  local reader
  reader=$(image from --pull-never localhost/node)
  image run --isolation chroot "${given[@]}" --volume "$PWD/lib/server:/mnt:ro" "$reader" sh -euc '
    { apt-get update && apt-get install --yes --no-install-recommends docker-compose; } >&2
    docker-compose --file /mnt/compose.yaml config --format json' >"$folder/compose.json"
}

# What an engine mounts.
mount_all() {
  mount --bind "$root" "$root"
  mount -o remount,bind,ro "$root"
  mount -t tmpfs tmpfs "$root/tmp"
  mount -t proc proc "$root/proc"
  mount --bind /dev "$root/dev"
  mount --bind "$folder/data" "$root/data"
  mount --bind "$folder/secrets" "$root/secrets"
}

# Runs a command in the image as a user, in a folder: with the settings that follow, and no others.
enter() {
  local user=$1 at=$2
  shift 2
  exec chroot --userspec="$user" "$root" env --ignore-environment --chdir="$at" \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin NODE_ENV=production DATA_DIR=/data "$@"
}

# A value of the composition.
composed() {
  node -p "const it = require('$folder/compose.json').$1; (typeof it === 'string' ? it : it.join('\0')).replaceAll('\$\$', '\$')"
}

compose() {
  ip link set lo up
  printf '127.0.0.1 localhost office postgres valkey\n' >"$root/etc/hosts"
  mkdir -p "$root/opt/caddy" "$folder/postgres"
  cp "$(command -v caddy)" "$root/opt/caddy/caddy"
  composed configs.caddyfile.content >"$root/opt/caddy/Caddyfile"
  mount_all
  local make bin settings
  make=$(composed services.secrets.command[2])
  (enter 0:0 /secrets sh -euc "$make")
  sha256sum "$folder"/secrets/* >"$folder/made"
  (enter 0:0 /secrets sh -euc "$make")
  sha256sum --check --quiet "$folder/made" # the second time changed nothing

  bin=$(dirname "$(command -v initdb || ls /usr/lib/postgresql/*/bin/initdb | tail -n 1)")
  cp "$folder/secrets/postgres-password" "$folder/password"
  chown -R postgres "$folder/postgres" "$folder/password"
  chmod 755 "$folder"
  (cd /tmp && setpriv --reuid=postgres --regid=postgres --clear-groups "$bin/initdb" -D "$folder/postgres" -U office \
    -A scram-sha-256 --pwfile="$folder/password" >/dev/null)
  (cd /tmp && exec setpriv --reuid=postgres --regid=postgres --clear-groups "$bin/postgres" -D "$folder/postgres" -k '' \
    >"$folder/postgres.log" 2>&1) &
  redis-server "$folder/secrets/valkey.conf" >"$folder/valkey.log" 2>&1 &
  until PGPASSWORD=$(cat "$folder/secrets/postgres-password") psql -qh 127.0.0.1 -U office postgres \
    -c 'CREATE DATABASE office' 2>/dev/null; do sleep 0.1; done
  mapfile -t settings < <(node -p "Object.entries(require('$folder/compose.json').services.office.environment).map((one) => one.join('=')).join('\n')")
  (enter 1000:1000 /office "${settings[@]}" node dist/server/main.js 2>"$folder/office.log") &
  (enter 0:0 /tmp HOME=/tmp /opt/caddy/caddy run --config /opt/caddy/Caddyfile 2>"$folder/caddy.log") &
  for _ in $(seq 300); do
    ! curl --fail --silent --insecure https://localhost/ready >/dev/null || break
    sleep 0.1
  done
  curl --silent --show-error --insecure --dump-header - https://localhost/
  echo
  (enter 1000:1000 /office "${settings[@]}" node dist/admin/main.js check)
}

case $what in
  build) build ;;
  run) mount_all && enter 1000:1000 /office "$@" ;;
  compose) compose ;;
esac
