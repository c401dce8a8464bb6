# memdesk: `make demo` opens the console on a throw-away workspace, `make test` runs every test.
# The build tags stand here and nowhere else in the project's own files.
TAGS    := sqlite_fts5
STATIC  := sqlite_fts5 sqlite_omit_load_extension osusergo netgo nethttpomithttp2
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -X main.version=$(VERSION)
GO      ?= go
PKG     ?= ./...
FUZZTIME ?= 20s
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0

.PHONY: build demo test race bench lint fuzz golden screenshots soak dist clean

build: ## the binary, for this machine
	$(GO) build -tags "$(TAGS)" -ldflags "$(LDFLAGS)" -o bin/memdesk .

demo: build ## the console on a throw-away workspace
	./bin/memdesk demo

test: ## every test
	$(GO) test -tags "$(TAGS)" $(PKG)

# The detector keeps a process for a second at its end; tests start hundreds.
race: ## every test under the race detector
	GORACE=atexit_sleep_ms=0 $(GO) test -tags "$(TAGS)" -race $(PKG)

bench: ## benchmarks, printed as ratios against a named peer
	$(GO) test -tags "$(TAGS)" -run '^$$' -bench . -benchtime 300ms -p 1 -timeout 60m $(PKG)

lint: ## gofmt, vet, staticcheck
	@fmtless=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$fmtless" ]; then echo "not gofmt-ed:"; echo "$$fmtless"; exit 1; fi
	$(GO) vet -tags "$(TAGS)" ./...
	$(GO) run $(STATICCHECK) -tags "$(TAGS)" ./...

# A run that ends in "context deadline exceeded" without a failing input is Go's own race at the end of -fuzztime.
fuzz: ## every fuzz target for FUZZTIME each
	@set -e; log=$$(mktemp); trap 'rm -f $$log' EXIT; for p in $$($(GO) list -tags "$(TAGS)" ./...); do \
	  for f in $$($(GO) test -tags "$(TAGS)" -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
	    echo "$$p $$f"; \
	    if ! $(GO) test -tags "$(TAGS)" -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p >$$log 2>&1; then \
	      tail -20 $$log; \
	      if grep -q 'Failing input\|panic' $$log || ! grep -q 'context deadline exceeded' $$log; then exit 1; fi; \
	    fi; \
	  done; done

golden: ## write the golden frames and the key table anew; look at the difference before you commit it
	$(GO) test -tags "$(TAGS)" ./ui/tui -update
	$(GO) test -tags "$(TAGS)" ./backends -run TestCapabilityMatrix -update

screenshots: ## write the pictures of the README anew, from the program on the demo
	mkdir -p docs/screenshots
	$(GO) run -tags "$(TAGS)" ./ui/shots docs/screenshots

soak: ## races and kill points in full
	MEMDESK_SOAK=1 $(GO) test -tags "$(TAGS)" -race -timeout 120m $(PKG)

# The static binary is at most 20 MiB. What keeps it so: functions stand side by side, SQLite is compiled for size, and in COLD, which
# no inner loop runs, no function is copied into another. A package that is large and not in a hurry belongs into COLD.
# musl is 0.8 MB smaller than glibc; where its compiler is not installed (Debian: musl-tools) the limit is 20 MiB.
MUSL        := $(shell command -v musl-gcc)
DIST_CC     := $(or $(MUSL),$(CC))
DIST_MAX    := $(if $(MUSL),20000000,20971520)
DIST_CFLAGS := -Os -fno-asynchronous-unwind-tables -fno-unwind-tables -ffunction-sections -fdata-sections
COLD := memdesk memdesk/ui/... memdesk/gdpr memdesk/gdpr/receipt memdesk/audit memdesk/undo memdesk/jobs memdesk/transfer \
  memdesk/conflict memdesk/conflict/merge memdesk/quarantine/review memdesk/internal/atomicfile memdesk/internal/drafts \
  memdesk/backends memdesk/backends/hypergraph memdesk/backends/hypergraph/sqlite memdesk/backends/hypergraph/postgres \
  memdesk/backends/hypergraph/inmem memdesk/backends/tracker/... memdesk/backends/seam/crewship memdesk/backends/seam/curated \
  memdesk/backends/gateway memdesk/backends/remote memdesk/backends/demodata \
  net net/http net/url mime fmt internal/fmtsort log log/slog flag os/exec archive/... database/sql regexp/syntax math/big text/template \
  crypto/tls crypto/x509 crypto/rsa crypto/ecdsa crypto/ecdh crypto/elliptic crypto/hpke crypto/sha3 encoding/asn1 \
  crypto/internal/fips140/rsa crypto/internal/fips140/ecdsa crypto/internal/fips140/nistec crypto/internal/fips140/bigmod \
  charm.land/fang/... charm.land/lipgloss/... charm.land/bubbletea/... charm.land/bubbles/... \
  github.com/charmbracelet/colorprofile github.com/aymanbagabas/... github.com/BurntSushi/... github.com/jackc/... github.com/spf13/... github.com/muesli/... \
  golang.org/x/crypto/ssh/... golang.org/x/term golang.org/x/text/cases

dist: ## one static Linux binary with man page and completions, and the three packed
	rm -rf dist && mkdir -p dist/completions dist/man
	CC="$(DIST_CC)" CGO_ENABLED=1 CGO_CFLAGS="$(DIST_CFLAGS)" $(GO) build -trimpath -tags "$(STATIC)" $(foreach p,$(COLD),-gcflags=$(p)=-l) \
	  -ldflags '-s -w -funcalign=1 -linkmode external -extldflags "-static -Wl,--gc-sections" $(LDFLAGS)' -o dist/memdesk .
	@size=$$(wc -c < dist/memdesk); [ $$size -le $(DIST_MAX) ] || { \
	  echo "dist/memdesk has $$size bytes and may have $(DIST_MAX): look at what has grown (go tool nm -size -sort size), and at COLD in the Makefile"; exit 1; }
	./dist/memdesk man > dist/man/memdesk.1
	for s in bash zsh fish; do ./dist/memdesk completion $$s > dist/completions/memdesk.$$s; done
	tar -C dist -czf dist/memdesk-$$($(GO) env GOOS)-$$($(GO) env GOARCH).tar.gz memdesk man completions
	@ls -l dist/memdesk dist/*.tar.gz

clean:
	rm -rf bin dist
