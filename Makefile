# memdesk: `make demo` opens the console on a throw-away workspace, `make test` runs every test.
# The build tags stand here and nowhere else in the project's own files.
TAGS    := sqlite_fts5
STATIC  := sqlite_fts5 sqlite_omit_load_extension osusergo netgo
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -X main.version=$(VERSION)
GO      ?= go
PKG     ?= ./...
FUZZTIME ?= 20s
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0

.PHONY: help build demo test programs race bench bench-report lint vet-darwin fuzz golden poison-model screenshots soak soak-year dist packages packages-test clean

build: ## the binary, for this machine
	$(GO) build -tags "$(TAGS)" -ldflags "$(LDFLAGS)" -o bin/memdesk .

demo: build ## the console on a throw-away workspace
	./bin/memdesk demo

test: ## every test
	$(GO) test -tags "$(TAGS)" -timeout 20m $(PKG)

programs: ## the programs whose stores memdesk opens, from npm, on those stores: says what was run and what could not be
	@log=$$(mktemp); trap 'rm -f $$log' EXIT; code=0; $(GO) test -tags "$(TAGS)" -v ./backends/programs >$$log 2>&1 || code=$$?; \
	  grep -E '^(---|ok|FAIL)|_test.go:' $$log; exit $$code

# The detector keeps a process for a second at its end; tests start hundreds.
race: ## every test under the race detector
	GORACE=atexit_sleep_ms=0 $(GO) test -tags "$(TAGS)" -race -timeout 20m $(PKG)

bench: ## benchmarks, printed as ratios against a named peer
	$(GO) test -tags "$(TAGS)" -run '^$$' -bench . -benchtime 300ms -p 1 -timeout 60m $(PKG)

# MOST (of PostgreSQL and the log), ITEMS (of SQLite), FILES and ERASURES are the largest sizes; smaller ones make a quick run, into
# another directory than docs. KEEP is a directory in which the data stays for the next run, and CHARTS (open,verify) what
# that one measures. Databases stay where MEMDESK_TEST_POSTGRES names a server.
MOST ?= 10000000
ITEMS ?= 1000000
FILES ?= 1000000
ERASURES ?= 1000000
REPORT ?= docs
bench-report: ## docs/growth.md with charts: cost against size, beside peers
	$(GO) run -tags "$(TAGS)" ./soak/growth -most $(MOST) -items $(ITEMS) -files $(FILES) -erasures $(ERASURES) -keep "$(KEEP)" -charts "$(CHARTS)" $(REPORT)

lint: ## gofmt, vet, staticcheck
	@fmtless=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$fmtless" ]; then echo "not gofmt-ed:"; echo "$$fmtless"; exit 1; fi
	$(GO) vet -tags "$(TAGS)" ./...
	$(GO) run $(STATICCHECK) -tags "$(TAGS)" ./...

# SQLite needs a C compiler for macOS, so the packages that use it, and their tests, are left out.
vet-darwin: ## vet for macOS what needs no cgo
	@free=$$($(GO) list -tags "$(TAGS)" -test -f '{{range .Deps}}{{if eq . "github.com/mattn/go-sqlite3"}}cgo {{end}}{{end}}{{or .ForTest .ImportPath}}' ./... | \
	  awk '{ p = $$NF; sub(/\.test$$/, "", p); all[p]; if (NF > 1) cgo[p] } END { for (p in all) if (!(p in cgo)) print p }'); \
	GOOS=darwin CGO_ENABLED=0 $(GO) vet -tags "$(TAGS)" $$free

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

golden: ## write the golden frames and generated tables anew; look at the difference before you commit it
	$(GO) test -tags "$(TAGS)" ./ui/tui -update
	$(GO) test -tags "$(TAGS)" ./backends -run "TestCapabilityMatrix|TestCopies" -update
	$(GO) test -tags "$(TAGS)" . -run TestDrawing -update

poison-model: ## train the wording of planted memories anew on the texts in testdata
	$(GO) test -tags "$(TAGS)" ./quarantine/signal -run TestWeightsAreTrainedOnTestdata -update

screenshots: ## write the pictures of the README and of docs/design anew, from the program on the demo
	mkdir -p docs/screenshots docs/design
	$(GO) run -tags "$(TAGS)" ./ui/shots docs/screenshots docs/design

soak: ## races and kill points in full
	MEMDESK_SOAK=1 $(GO) test -tags "$(TAGS)" -race -timeout 120m $(PKG)

# MEMDESK_SOAK_SEED repeats the choices of a run, DAYS is its length.
DAYS ?= 365
soak-year: ## a simulated year of seven stores under agents, sync tools, foreign writers and two operators
	MEMDESK_SOAK_DAYS=$(DAYS) nice $(GO) test -tags "$(TAGS)" -run TestYear -count 1 -timeout 120m -v ./soak

dist: ## one static Linux binary with man page and completions, and the three packed
	rm -rf dist && mkdir -p dist/completions dist/man
	CGO_ENABLED=1 $(GO) build -trimpath -tags "$(STATIC)" -ldflags '-s -w -linkmode external -extldflags -static $(LDFLAGS)' -o dist/memdesk .
	./dist/memdesk man > dist/man/memdesk.1
	for s in bash zsh fish; do ./dist/memdesk completion $$s > dist/completions/memdesk.$$s; done
	tar -C dist -czf dist/memdesk-$$($(GO) env GOOS)-$$($(GO) env GOARCH).tar.gz memdesk man completions
	@ls -l dist/memdesk dist/*.tar.gz

packages: ## deb, rpm, apk and Arch for amd64 and arm64 into dist/packages, with checksums, SBOM and a signature by SIGN_KEY
	STATIC="$(STATIC)" packaging/packages.sh

packages-test: ## the packages built twice, verified, installed, used and removed
	STATIC="$(STATIC)" packaging/packages_test.sh

clean: ## remove what build, dist and packages made
	rm -rf bin dist

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' Makefile
