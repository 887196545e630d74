#!/usr/bin/env bash
# Makes a root of Debian 13 with its Swift compiler (3.3 GB, some minutes; as root, where chroot and mount are allowed), and a
# `swiftc` that compiles in it and whose programs run in it: `bash tests/support/swift.sh /var/tmp/swift`, then
# `PATH=/var/tmp/swift/bin:$PATH npm run drills -- tests/lib/docs/clients.drill.ts`. Two of its tests end the program: Foundation on
# Linux traps at an answer without a response.
set -euo pipefail
folder=${1:?the folder to make}
root=$folder/root
if [ ! -x "$root/usr/bin/swiftc" ]; then
  command -v debootstrap >/dev/null || apt-get install -y --no-install-recommends debootstrap
  [ -x "$root/usr/bin/apt-get" ] || debootstrap --variant=minbase --include=ca-certificates trixie "$root"
  chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    swiftlang gcc libc6-dev libstdc++-14-dev libcurl4-openssl-dev libxml2-dev openssl
fi
mkdir -p "$folder/bin"
sed "s|@root@|$root|" >"$folder/bin/swiftc" <<'EOF'
#!/usr/bin/env bash
set -euo pipefail
root=@root@
# The mounts are seen by its own command alone, and end with it.
in_root() {
  unshare --mount bash -euc 'for place in /proc /dev "$PWD"; do mkdir -p "$0$place"; mount --bind "$place" "$0$place"; done
    exec chroot "$0" bash -c "cd \"\$0\" && exec \"\$@\"" "$PWD" "$@"' "$root" "$@"
}
in_root swiftc "$@"
while [ "${1:--o}" != -o ]; do shift; done
[ $# -gt 1 ] || exit 0
mv "$2" "$2.in-root"
{ echo '#!/usr/bin/env bash'; echo "root=$root"; declare -f in_root; echo "in_root ./$2.in-root \"\$@\""; } >"$2"
chmod +x "$2"
EOF
chmod +x "$folder/bin/swiftc"
echo "$folder/bin/swiftc"
