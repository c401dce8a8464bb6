package backends_test

import (
	"bytes"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/backends/demodata"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/ui/door"
	"memdesk/undo"
)

var update = flag.Bool("update", false, "write the capability matrix of docs/capabilities.md anew")

const (
	matrixBegin = "<!-- capabilities: written by `make golden` from the program; begin -->\n"
	matrixEnd   = "<!-- capabilities: end -->\n"
)

// facetRows are the capabilities in the order of docs/capabilities.md.
var facetRows = []struct{ name, words string }{
	{"recall", "recall"}, {"retain", "retain"}, {"forget", "forget"}, {"cascade", "forget a person in one call"},
	{"browse", "browse"}, {"history", "version history"}, {"quarantine", "quarantine"}, {"conflicts", "conflicts of its own"},
	{"subjects", "items by person"}, {"names", "names only"}, {"graph", "graph"}, {"work", "ready work, queries"}, {"events", "events"},
	{"watch", "watch"}, {"maintain", "scrub, layers"}, {"reindex", "reindex"}, {"repair", "set aside what is broken"}, {"migrate", "migrations"},
}

// oneOfEveryKind opens a store of each registered kind. A kind without an example here fails the test.
func oneOfEveryKind(t *testing.T) map[string]model.Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "demo")
	now := time.Date(2026, 5, 21, 12, 0, 0, 0, time.UTC)
	if err := demodata.Seed(t.Context(), dir, now); err != nil {
		t.Fatal(err)
	}
	reg := backends.Builtin()
	cfg, err := backends.LoadConfig(reg, filepath.Join(dir, demodata.ConfigFile), true, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	const token = "a-token-of-this-test-0123456789"
	env := backends.Env{Clock: clock.Fixed(now), Getenv: func(k string) string {
		if k == "TOKEN" {
			return token
		}
		return os.Getenv(k)
	}}
	scratch := backends.Open(t.Context(), reg, []backends.StoreConfig{{Name: "near", Kind: "inmem"}}, env, backends.Policy{Audit: backends.Unrecorded})
	t.Cleanup(func() { _ = scratch.Close() })
	near, err := scratch.Store("near")
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(backends.Serve(backends.Served{Callers: []backends.Caller{{Name: "a", Token: model.NewSecret(token)}}, Store: func(backends.Caller) model.Store { return near }}))
	t.Cleanup(srv.Close)
	caller := backends.Caller{Name: "a", Token: model.NewSecret(token)}
	behind := backends.Open(t.Context(), reg, []backends.StoreConfig{{Name: "far", Kind: "inmem"}}, env, backends.Policy{Audit: backends.Unrecorded})
	t.Cleanup(func() { _ = behind.Close() })
	desk := &door.Desk{Fleet: behind, Caller: caller, Undo: undo.New(filepath.Join(dir, "undo"), 0, env.Clock, func() error { return nil })}
	tools := httptest.NewServer(door.HTTP{Callers: []backends.Caller{caller}, Desk: func(backends.Caller) *door.Desk { return desk }}.Handler())
	t.Cleanup(tools.Close)
	knots := filepath.Join(dir, "knots")
	if err := os.MkdirAll(filepath.Join(knots, ".knots"), 0o755); err != nil {
		t.Fatal(err)
	}
	kno := filepath.Join(dir, "kno") // no work items
	if err := os.WriteFile(kno, []byte("#!/bin/sh\necho '[]'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	configs := append(cfg.Stores,
		backends.StoreConfig{Name: "remote", Kind: "remote", BaseURL: srv.URL, TokenEnv: "TOKEN"},
		backends.StoreConfig{Name: "mcp", Kind: "mcp", BaseURL: tools.URL + door.Path, TokenEnv: "TOKEN"},
		backends.StoreConfig{Name: "gateway", Kind: "gateway", BaseURL: srv.URL, UserID: "u", UserKeyEnv: "TOKEN", Scope: []string{"resources"}},
		backends.StoreConfig{Name: "knots", Kind: "knots", Path: knots, Command: kno},
	)
	configs = append(configs, serverKinds(t)...)
	fleet := backends.Open(t.Context(), reg, configs, env, backends.Policy{Audit: backends.Unrecorded})
	t.Cleanup(func() { _ = fleet.Close() })
	out := map[string]model.Store{}
	for _, m := range fleet.Members() {
		if m.Err != nil {
			t.Errorf("%s: %v", m.Name, m.Err)
			continue
		}
		if _, there := out[m.Kind]; !there {
			out[m.Kind] = m.Store
		}
	}
	for _, kind := range reg.Names() {
		if _, ok := out[kind]; !ok {
			t.Errorf("kind %s has no example in this test", kind)
		}
	}
	return out
}

// TestCapabilityMatrix opens a store of every kind and compares its capabilities with docs/capabilities.md.
func TestCapabilityMatrix(t *testing.T) {
	stores := oneOfEveryKind(t)
	kinds := backends.Builtin().Names()
	var b bytes.Buffer
	fmt.Fprintf(&b, "| | %s |\n|---|%s\n", strings.Join(kinds, " | "), strings.Repeat("---|", len(kinds)))
	for _, row := range facetRows {
		words := row.words
		if words != row.name { // the word that memdesk stores prints
			words = "`" + row.name + "`: " + words
		}
		fmt.Fprintf(&b, "| %s |", words)
		for _, k := range kinds {
			cell := "–"
			if stores[k].Capabilities()[row.name] {
				cell = "yes"
			}
			fmt.Fprintf(&b, " %s |", cell)
		}
		b.WriteByte('\n')
	}
	known := []string{"health"}
	for _, row := range facetRows {
		known = append(known, row.name)
	}
	for kind, s := range stores {
		for name := range s.Capabilities() {
			if _, family := s.Features[name]; !family && !slices.Contains(known, name) {
				t.Errorf("%s: capability %s has no row in the matrix", kind, name)
			}
		}
	}
	page, err := os.ReadFile("../docs/capabilities.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), matrixBegin)
	have, tail, closed := strings.Cut(rest, matrixEnd)
	if !ok || !closed {
		t.Fatal("docs/capabilities.md has no place for the matrix")
	}
	if *update {
		if err := os.WriteFile("../docs/capabilities.md", []byte(head+matrixBegin+b.String()+matrixEnd+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have != b.String() {
		t.Errorf("the matrix of docs/capabilities.md is not what the program does; run make golden. Want:\n%s", b.String())
	}
}
