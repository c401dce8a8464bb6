#!/usr/bin/env bash
# Builds the packages of linux/amd64 and linux/arm64 into OUT (dist/packages), reproducibly: the same commit gives the same
# bytes. SIGN_KEY names an SSH key, which signs the checksums. ARCHS chooses machines; one whose C compiler is missing fails.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${OUT:-dist/packages}
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
# A version that every packager sorts and takes: the tag, or 0.0.0 and the commit's time.
export PKG_VERSION=${PKG_VERSION:-$(git describe --tags --exact-match 2>/dev/null | sed 's/^v//' || true)}
[ -n "$PKG_VERSION" ] || PKG_VERSION=0.0.0.$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S)
export LC_ALL=C TZ=UTC
umask 022
rm -rf "$out"; mkdir -p "$out"
nfpm=dist/nfpm
go -C tools build -trimpath -o ../$nfpm github.com/goreleaser/nfpm/v2/cmd/nfpm

# The compiler of a machine, by Go's name for it.
compiler() { case $1 in "$(go env GOHOSTARCH)") go env CC ;; arm64) echo aarch64-linux-gnu-gcc ;; amd64) echo x86_64-linux-gnu-gcc ;; esac }

build() { # ARCH STAGE
  local cc; cc=$(compiler "$1")
  command -v "${cc%% *}" >/dev/null || { echo "no $cc: apt-get install -y gcc-aarch64-linux-gnu libc6-dev-arm64-cross" >&2; exit 1; }
  GOOS=linux GOARCH=$1 CC=$cc CGO_ENABLED=1 go build -trimpath -buildvcs=false -tags "$STATIC" \
    -ldflags "-s -w -buildid= -linkmode external -extldflags -static -X main.version=$PKG_VERSION" -o "$2/memdesk" .
  GOOS=linux GOARCH=$1 CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -buildid=" -o "$2/memdesk-verify" ./cmd/memdesk-verify
}

# Manual and completions are text that the program writes about itself: one of this machine does for all.
host=$(go env GOHOSTARCH) text=$(mktemp -d); trap 'rm -rf "$text"' EXIT
build "$host" "$text"
"$text/memdesk" man | sed "1s/ \"[0-9-]*\" / \"$(date -u -d "@$SOURCE_DATE_EPOCH" +%F)\" /" | gzip -9n > "$text/memdesk.1.gz"
for s in bash zsh fish; do "$text/memdesk" completion $s > "$text/memdesk.$s"; done
for arch in ${ARCHS:-amd64 arm64}; do
  export PKG_ARCH=$arch STAGE=$out/stage-$arch
  mkdir -p "$STAGE"
  if [ "$arch" = "$host" ]; then cp "$text/memdesk" "$text/memdesk-verify" "$STAGE"; else build "$arch" "$STAGE"; fi
  cp "$text"/memdesk.{1.gz,bash,zsh,fish} "$STAGE"
  go run ./packaging/sbom "$STAGE/memdesk" "$PKG_VERSION" > "$STAGE/sbom.spdx.json"
  cp "$STAGE/sbom.spdx.json" "$out/memdesk-$PKG_VERSION-$arch.spdx.json"
  for kind in deb rpm apk archlinux; do $nfpm package -f packaging/nfpm.yaml -p $kind -t "$out" >/dev/null; done
  rm -r "$STAGE"
done
(cd "$out" && sha256sum -- * > SHA256SUMS)
if [ -n "${SIGN_KEY:-}" ]; then ssh-keygen -q -Y sign -n memdesk-release -f "$SIGN_KEY" "$out/SHA256SUMS"; fi
ls -l "$out"
