#!/usr/bin/env bash
# Tests dist/packages: a second build has the same bytes, checksums and signature hold and a changed byte breaks them, the deb
# installs into a root, the demo and man page work from there, and after its removal nothing is left but what the operator made.
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "FAIL: $*" >&2; exit 1; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
ssh-keygen -q -t ed25519 -N '' -C release -f "$work/key"

echo "twice the same bytes"
export SOURCE_DATE_EPOCH=1700000000 # another day than today, so that today shows where it gets in
SIGN_KEY=$work/key packaging/packages.sh > "$work/first"
cp -r dist/packages "$work/packages"
mkdir "$work/elsewhere"; git archive HEAD | tar -x -C "$work/elsewhere"
(cd "$work/elsewhere" && git init -q && GOFLAGS=-buildvcs=false packaging/packages.sh >/dev/null)
cmp "$work/packages/SHA256SUMS" "$work/elsewhere/dist/packages/SHA256SUMS" || { diff "$work/packages/SHA256SUMS" "$work/elsewhere/dist/packages/SHA256SUMS" || true; fail "another directory gives other bytes"; }

echo "checksums and signature"
cd "$work/packages"
dpkg-deb --fsys-tarfile memdesk_*_amd64.deb | tar -xO ./usr/share/man/man1/memdesk.1.gz | gunzip | head -1 | grep -q '"2023-11-14"' || fail "the manual bears the day of the build"
printf 'release %s\n' "$(cat "$work/key.pub")" > "$work/signers"
verify() { ssh-keygen -q -Y verify -f "$work/signers" -I release -n memdesk-release -s SHA256SUMS.sig < SHA256SUMS >/dev/null 2>&1; }
verify || fail "the signature does not hold"
sha256sum --quiet -c SHA256SUMS || fail "the checksums do not hold"
cp SHA256SUMS "$work/sums"; sed -i 's/^./0/;t' SHA256SUMS; cmp -s SHA256SUMS "$work/sums" && sed -i 's/^./1/' SHA256SUMS
if verify; then fail "a changed list verifies"; fi
cp "$work/sums" SHA256SUMS
for arch in amd64 arm64; do
  grep -q '"spdxVersion": "SPDX-2.3"' memdesk-*-$arch.spdx.json && grep -q 'pkg:golang/github.com/mattn/go-sqlite3@' memdesk-*-$arch.spdx.json || fail "$arch: the SBOM names no modules"
done
[ "$(ls ./*.deb ./*.rpm ./*.apk ./*.pkg.tar.zst | wc -l)" = 8 ] || fail "eight packages were wanted: $(ls)"

echo "install, use, remove"
arch=$(dpkg --print-architecture) root=$work/root
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/tmp"; touch "$root/var/lib/dpkg/status" "$root/var/lib/dpkg/available"
package() { dpkg --root="$root" --log=/dev/null --force-not-root --force-bad-path --force-script-chrootless "$@" >/dev/null; }
files() { (cd "$root" && find . \( -type f -o -type l \) ! -path './var/lib/dpkg/*' | sort); }
package -i memdesk_*_"$arch".deb
desk() { env -i PATH=/usr/bin:/bin HOME="$root/home" XDG_STATE_HOME="$root/home/state" "$root/usr/bin/memdesk" "$@"; }
desk version | grep -q . || fail "version"
desk demo --seed-only --dir "$root/home/demo" >/dev/null 2>&1 || fail "demo"
desk --config "$root/home/demo/config.toml" health --json > "$work/health" || [ $? = 1 ] || fail "health"
[ "$(grep -c '"ok":true' "$work/health")" -ge 5 ] || fail "health: $(cat "$work/health")"
if command -v man >/dev/null; then man -l "$root/usr/share/man/man1/memdesk.1.gz" | grep -qi 'operator.s desk' || fail "man"; fi
bash -n "$root/usr/share/bash-completion/completions/memdesk" || fail "completion"
for unit in "$root"/usr/lib/systemd/system/memdesk-*.service; do
  if command -v systemd-analyze >/dev/null; then systemd-analyze security --offline=yes --no-pager --threshold=30 "$unit" >/dev/null || fail "$unit is exposed"; fi
done
files | grep -v '^./home/' > "$work/installed"; [ "$(wc -l < "$work/installed")" -ge 15 ] || fail "installed: $(cat "$work/installed")"
package -P memdesk
[ -z "$(files | grep -v '^./home/')" ] || fail "left behind: $(files | grep -v '^./home/')"
[ -z "$(find "$root/etc" "$root/usr" -mindepth 1 -name '*memdesk*' 2>/dev/null)" ] || fail "directories are left behind"
[ -s "$root/home/demo/config.toml" ] || fail "what the operator made is gone"

echo "the other machine's program"
if command -v qemu-aarch64 >/dev/null; then
  dpkg-deb -x memdesk_*_arm64.deb "$work/arm"
  qemu-aarch64 "$work/arm/usr/bin/memdesk" version | grep -q . || fail "arm64: version"
  env -i HOME="$work/arm/home" XDG_STATE_HOME="$work/arm/state" qemu-aarch64 "$work/arm/usr/bin/memdesk" demo --seed-only --dir "$work/arm/demo" >/dev/null 2>&1 || fail "arm64: demo"
else
  echo "NOT RUN: no qemu-aarch64; to run it: apt-get install -y qemu-user"
fi
echo ok
