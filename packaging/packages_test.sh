#!/usr/bin/env bash
# Tests dist/packages: a second build has the same bytes, checksums and signature hold and a changed byte breaks them, the deb
# installs into a root, the demo and man page work from there, and after its removal nothing is left but what the operator made.
set -euo pipefail # so nothing that is piped into may end early, as head and grep -q do: what writes would be killed, and the line false
cd "$(dirname "$0")/.."
fail() { echo "FAIL: $*" >&2; exit 1; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
ssh-keygen -q -t ed25519 -N '' -C release -f "$work/key"
host=$(go env GOHOSTARCH)
if [ "$host" = amd64 ] && command -v aarch64-linux-gnu-gcc >/dev/null; then export ARCHS="amd64 arm64"; else
  export ARCHS=$host
  echo "NOT RUN: the other machine's packages; to run them on amd64: apt-get install -y gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
fi

echo "twice the same bytes"
export SOURCE_DATE_EPOCH=1700000000 # another day than today, so that today shows where it gets in
SIGN_KEY=$work/key packaging/packages.sh > "$work/first"
cp -r dist/packages "$work/packages"
mkdir "$work/elsewhere"; git archive HEAD | tar -x -C "$work/elsewhere"
elsewhere=(env GOFLAGS=-buildvcs=false) # and as another machine would, where this may take another name
if [ "$(id -u)" = 0 ] && unshare --uts true 2>/dev/null; then elsewhere+=(unshare --uts sh -c 'hostname elsewhere && "$@"' sh); fi
(cd "$work/elsewhere" && git init -q && umask 077 && "${elsewhere[@]}" packaging/packages.sh >/dev/null)
cmp "$work/packages/SHA256SUMS" "$work/elsewhere/dist/packages/SHA256SUMS" || { diff "$work/packages/SHA256SUMS" "$work/elsewhere/dist/packages/SHA256SUMS" || true; fail "another directory gives other bytes"; }

echo "checksums and signature"
cd "$work/packages"
dpkg-deb --fsys-tarfile memdesk_*_"$host".deb | tar -xO ./usr/share/man/man1/memdesk.1.gz | gunzip | sed -n 1p | grep '"2023-11-14"' >/dev/null || fail "the manual bears the day of the build"
printf 'release %s\n' "$(cat "$work/key.pub")" > "$work/signers"
verify() { ssh-keygen -q -Y verify -f "$work/signers" -I release -n memdesk-release -s SHA256SUMS.sig < SHA256SUMS >/dev/null 2>&1; }
verify || fail "the signature does not hold"
sha256sum --quiet -c SHA256SUMS || fail "the checksums do not hold"
cp SHA256SUMS "$work/sums"; sed -i 's/^./0/;t' SHA256SUMS; cmp -s SHA256SUMS "$work/sums" && sed -i 's/^./1/' SHA256SUMS
if verify; then fail "a changed list verifies"; fi
cp "$work/sums" SHA256SUMS
for arch in $ARCHS; do
  grep -q '"spdxVersion": "SPDX-2.3"' memdesk-*-$arch.spdx.json && grep -q 'pkg:golang/github.com/mattn/go-sqlite3@' memdesk-*-$arch.spdx.json || fail "$arch: the SBOM names no modules"
done
[ "$(ls ./*.deb ./*.rpm ./*.apk ./*.pkg.tar.zst | wc -l)" = $((4 * $(wc -w <<< "$ARCHS"))) ] || fail "four packages for each of $ARCHS were wanted: $(ls)"

echo "install, use, remove"
arch=$(dpkg --print-architecture) root=$work/root
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/tmp"; touch "$root/var/lib/dpkg/status" "$root/var/lib/dpkg/available"
package() { dpkg --root="$root" --log=/dev/null --force-not-root --force-bad-path --force-script-chrootless "$@" >/dev/null; }
files() { (cd "$root" && find . \( -type f -o -type l \) ! -path './var/lib/dpkg/*' | sort); }
package -i memdesk_*_"$arch".deb
desk() { env -i PATH=/usr/bin:/bin HOME="$root/home" XDG_STATE_HOME="$root/home/state" "$root/usr/bin/memdesk" "$@"; }
desk version | grep . >/dev/null || fail "version"
desk demo --seed-only --dir "$root/home/demo" >/dev/null 2>&1 || fail "demo"
desk --config "$root/home/demo/config.toml" health --json > "$work/health" || [ $? = 1 ] || fail "health"
[ "$(grep -c '"ok":true' "$work/health")" -ge 5 ] || fail "health: $(cat "$work/health")"
if command -v man >/dev/null; then man -l "$root/usr/share/man/man1/memdesk.1.gz" | grep -i 'operator.s desk' >/dev/null || fail "man"; fi
bash -n "$root/usr/share/bash-completion/completions/memdesk" || fail "completion"
for unit in "$root"/usr/lib/systemd/system/memdesk-*.service; do
  if command -v systemd-analyze >/dev/null; then systemd-analyze security --offline=yes --no-pager --threshold=30 "$unit" >/dev/null || fail "$unit is exposed"; fi
done
echo "a machine with nothing but the package opens the demo and serves it over SSH"
if [ "$(id -u)" = 0 ] && chroot=$(PATH=$PATH:/usr/sbin:/sbin command -v chroot) && command -v ssh >/dev/null; then
  bare=$work/bare; mkdir -p "$bare/tmp" "$bare/root"; dpkg-deb -x memdesk_*_"$arch".deb "$bare"
  alone=(env -i HOME=/root PATH=/usr/bin "$chroot" "$bare" /usr/bin/memdesk) # no function: in the background that is a shell, and kill would leave the program
  install -m 0600 "$work/key.pub" "$bare/root/authorized_keys"
  "${alone[@]}" demo --seed-only --dir /root/desk >/dev/null 2>&1 || fail "the demo alone"
  "${alone[@]}" --config /root/desk/config.toml serve ssh --listen 127.0.0.1:0 --authorized-keys /root/authorized_keys > "$work/served" 2>&1 & served=$!
  until grep -q 'console on' "$work/served"; do kill -0 $served || fail "serve ssh: $(cat "$work/served")"; sleep 0.1; done
  port=$(sed -n 's/.*127\.0\.0\.1:\([0-9]*\) .*/\1/p' "$work/served"); mkfifo "$work/keys"
  TERM=xterm-256color ssh -tt -p "$port" -i "$work/key" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null 127.0.0.1 < "$work/keys" > "$work/screen" 2>/dev/null & seen=$!
  exec 3> "$work/keys"
  until grep -q harbor "$work/screen"; do kill -0 $seen || fail "ssh: $(cat "$work/screen")"; sleep 0.1; done
  printf q >&3; exec 3>&-; wait $seen || fail "the console left with $?"
  kill $served; wait $served || true
else
  echo "NOT RUN: it takes root, chroot and ssh"
fi
files | grep -v '^./home/' > "$work/installed"; [ "$(wc -l < "$work/installed")" -ge 15 ] || fail "installed: $(cat "$work/installed")"
package -P memdesk
[ -z "$(files | grep -v '^./home/')" ] || fail "left behind: $(files | grep -v '^./home/')"
[ -z "$(find "$root/etc" "$root/usr" -mindepth 1 -name '*memdesk*' 2>/dev/null)" ] || fail "directories are left behind"
[ -s "$root/home/demo/config.toml" ] || fail "what the operator made is gone"

if [ "$ARCHS" = "$host" ]; then echo ok; exit; fi
echo "the other machine's program"
if command -v qemu-aarch64 >/dev/null; then
  dpkg-deb -x memdesk_*_arm64.deb "$work/arm"
  qemu-aarch64 "$work/arm/usr/bin/memdesk" version | grep . >/dev/null || fail "arm64: version"
  env -i HOME="$work/arm/home" XDG_STATE_HOME="$work/arm/state" qemu-aarch64 "$work/arm/usr/bin/memdesk" demo --seed-only --dir "$work/arm/demo" >/dev/null 2>&1 || fail "arm64: demo"
else
  echo "NOT RUN: no qemu-aarch64; to run it: apt-get install -y qemu-user"
fi
echo ok
