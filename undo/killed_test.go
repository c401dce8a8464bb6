package undo_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"memdesk/backends/records/langgraph"
	"memdesk/backends/remote"
	"memdesk/backends/seam/curated"
	"memdesk/backends/seam/devicelocal"
	"memdesk/internal/clock"
	"memdesk/internal/testpg"
	"memdesk/model"
	"memdesk/undo"
)

// row opens a langgraph store with one row, users/ada/k.
func row(t *testing.T) model.Store {
	t.Helper()
	schema, err := os.ReadFile(filepath.Join("..", "backends", "records", "langgraph", "testdata", "javascript.sql"))
	if err != nil {
		t.Fatal(err)
	}
	dsn := testpg.DSN(t)
	testpg.Exec(t, dsn, string(schema))
	testpg.Exec(t, dsn, `INSERT INTO store (namespace_path, key, value) VALUES ('users:ada', 'k', '{"text":"rye","n":1.50}')`)
	s, err := langgraph.Open(t.Context(), langgraph.Config{Name: "s", DSN: model.NewSecret(dsn)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// far serves a store; its answers to a retain are lost, as of a server that is killed right after the write.
func far(t *testing.T, s model.Store) model.Store {
	t.Helper()
	const token = "a-token-of-this-test-0123456789"
	h := remote.Handler(remote.ServeConfig{Store: func(remote.Caller) model.Store { return s }, Callers: []remote.Caller{{Name: "desk", Token: model.NewSecret(token)}}})
	lost := true
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/retain" || !lost {
			h.ServeHTTP(w, r)
			return
		}
		lost = false
		h.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(srv.Close)
	out, err := remote.Open(t.Context(), remote.Config{Name: "s", BaseURL: srv.URL, Token: model.NewSecret(token)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	return out
}

func entries(t *testing.T) model.Store {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "MEMORY.md"), []byte("rye\n§\noats"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := curated.Open(t.Context(), curated.Config{Name: "s", Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func notebook(t *testing.T) model.Store {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("rye\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := devicelocal.Open(t.Context(), devicelocal.Config{Name: "s", Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestAKilledRetainIsUndone where the store shows the text otherwise than it was sent or gives it a new id, where it is appended to
// a revision, and where only a server knows.
func TestAKilledRetainIsUndone(t *testing.T) {
	for name, c := range map[string]struct {
		store func(t *testing.T) model.Store
		id    string // empty: the first item
		req   model.RetainRequest
	}{
		"langgraph":           {func(t *testing.T) model.Store { return silent(row(t)) }, "users/ada/k", model.RetainRequest{Mode: model.Replace, Content: `{"text":"oats","n":2.50}`}},
		"langgraph from afar": {func(t *testing.T) model.Store { return far(t, row(t)) }, "users/ada/k", model.RetainRequest{Mode: model.Replace, Content: `{"text":"oats","n":2.50}`}},
		"curated":             {func(t *testing.T) model.Store { return silent(entries(t)) }, "", model.RetainRequest{Mode: model.Replace, Content: "barley"}},
		"an append":           {func(t *testing.T) model.Store { return silent(notebook(t)) }, "a.md", model.RetainRequest{Mode: model.Append, Content: "oats\n"}},
	} {
		for _, how := range []string{"one", "several"} {
			t.Run(name+" "+how, func(t *testing.T) {
				s := c.store(t)
				page, err := s.Browser.List(t.Context(), model.PageRequest{})
				if err != nil || len(page.Items) == 0 {
					t.Fatal(page, err)
				}
				req := c.req
				if req.ID = c.id; c.id == "" {
					req.ID = page.Items[0].ID
				}
				before, err := s.Browser.Read(t.Context(), req.ID)
				if err != nil {
					t.Fatal(err)
				}
				if req.Mode == model.Append {
					if req.IfMatch = before.Revision; how == "several" { // an act of several replaces
						return
					}
				}
				k := undo.New(t.TempDir(), undo.DefaultKeep, clock.System{}, nil)
				if how == "several" {
					_, _, err = k.Together(t.Context(), s, undo.OpTakeback, []undo.Change{{Retain: &req}})
				} else {
					_, _, err = k.Retain(t.Context(), s, req)
				}
				if err == nil {
					t.Fatal("the answer came")
				}
				found, _, err := k.List()
				if err != nil || len(found) != 1 {
					t.Fatal(found, err)
				}
				_, err = k.Restore(t.Context(), func(string) (model.Store, error) { return s, nil }, found[0].ID)
				if errors.Is(err, model.Timeout) || errors.Is(err, model.Unavailable) { // the silent store says so of the restore too
					err = nil
				}
				now, rerr := s.Browser.Read(t.Context(), req.ID)
				if err := errors.Join(err, rerr); err != nil || now.Revision != before.Revision {
					t.Errorf("%v; it is %+v", err, now)
				}
			})
		}
	}
}

// TestAPlanOfATextIsOfItsBytes, whatever they look like: only a store of JSON objects shows them in another form, and to decode each
// text costs seconds and gigabytes.
func TestAPlanOfATextIsOfItsBytes(t *testing.T) {
	const text = `{"b": 1, "a": 2}`
	k := undo.New(t.TempDir(), undo.DefaultKeep, clock.System{}, nil)
	_, e, err := k.Retain(t.Context(), silent(notebook(t)), model.RetainRequest{ID: "a.md", Mode: model.Replace, Content: text})
	sum := sha256.Sum256([]byte(text))
	if !errors.Is(err, model.Timeout) || e.Plan != hex.EncodeToString(sum[:]) {
		t.Errorf("%v, %s", err, e.Plan)
	}
}
