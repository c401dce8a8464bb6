package undo_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/records/engram"
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

// stopped returns a store whose retains fail with err just before the write.
func stopped(s model.Store, err error) model.Store {
	return s.Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Op == model.OpRetain {
			ahead := c.Retain.Ahead
			c.Retain.Ahead = func(body string, res model.RetainResult) error { return cmp.Or(ahead(body, res), err) }
		}
		return next(ctx)
	})
}

// TestARetainKilledBeforeItsWriteNeedsNoUndo, also where the entry has the id that the item would have got: an erasure finds it by
// the item's own.
func TestARetainKilledBeforeItsWriteNeedsNoUndo(t *testing.T) {
	for _, how := range []string{"one", "several"} {
		s := entries(t)
		page, err := s.Browser.List(t.Context(), model.PageRequest{})
		if err != nil || len(page.Items) != 2 {
			t.Fatal(page, err)
		}
		id := page.Items[0].ID
		k := undo.New(t.TempDir(), undo.DefaultKeep, clock.System{}, nil)
		killed := stopped(s, model.Errorf(model.Timeout, "", "killed"))
		req := model.RetainRequest{ID: id, Mode: model.Replace, Content: "barley"}
		if how == "several" {
			_, _, err = k.Together(t.Context(), killed, undo.OpTakeback, []undo.Change{{Retain: &req}})
		} else {
			_, _, err = k.Retain(t.Context(), killed, req)
		}
		found, _, _ := k.List()
		if len(found) != 1 {
			t.Fatal(how, found, err)
		}
		done, err := k.Restore(t.Context(), func(string) (model.Store, error) { return s, nil }, found[0].ID)
		if err != nil || done.Item != id || len(done.Notes) == 0 {
			t.Errorf("%s: %+v, %v", how, done, err)
		}
		if _, _, err := k.Forget(t.Context(), s, model.ForgetRequest{ID: id, Erase: true}); err != nil {
			t.Fatal(how, err)
		}
		if left, _, err := k.List(); err != nil || len(left) != 0 {
			t.Errorf("%s: after the erasure there are %+v, %v", how, left, err)
		}
	}
}

// TestARollbackThatFailsLeavesAnEntryThatRestores what was not rolled back, where each change gives its item a new id.
func TestARollbackThatFailsLeavesAnEntryThatRestores(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "MEMORY.md"), []byte("rye\n§\noats\n§\nbarley"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := curated.Open(t.Context(), curated.Config{Name: "s", Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	page, err := s.Browser.List(t.Context(), model.PageRequest{})
	if err != nil || len(page.Items) != 3 {
		t.Fatal(page, err)
	}
	var changes []undo.Change
	for _, it := range page.Items {
		changes = append(changes, undo.Change{Retain: &model.RetainRequest{ID: it.ID, Content: "new " + it.ID}})
	}
	n := 0
	failing := s.Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Op == model.OpRetain {
			if n++; n == 3 || n == 5 { // the third change, and the rollback of the first
				return model.Refuse("retain", "no")
			}
		}
		return next(ctx)
	})
	k := undo.New(t.TempDir(), undo.DefaultKeep, clock.System{}, nil)
	_, e, err := k.Together(t.Context(), failing, undo.OpTakeback, changes)
	if err == nil || e.ID == "" {
		t.Fatal(e, err)
	}
	kept, _, err := k.Read(e.ID)
	if err != nil || kept.Item != kept.Sides[0].Item {
		t.Errorf("the entry is about %s, its first item is %s, %v", kept.Item, kept.Sides[0].Item, err)
	}
	if _, err := k.Restore(t.Context(), func(string) (model.Store, error) { return s, nil }, e.ID); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "MEMORY.md")); err != nil || string(data) != "rye\n§\noats\n§\nbarley" {
		t.Errorf("%q, %v", data, err)
	}
}

// TestAnActOnSeveralWritesItsEntryTwice: the entry holds all texts, and one more write before each change would take the square of
// their number.
func TestAnActOnSeveralWritesItsEntryTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "engram.db")
	schema, err := os.ReadFile(filepath.Join("..", "backends", "demodata", "schema", "engram.sql"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range []string{string(schema), `INSERT INTO sessions (id, project, directory, started_at, summary) VALUES ('a', 'p', 'd', 'a', 'rye'), ('b', 'p', 'd', 'a', 'rye')`} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	s, err := engram.Open(t.Context(), engram.Config{Name: "s", Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := t.TempDir()
	var seen []os.FileInfo
	watched := s.Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		err := next(ctx)
		if c.Op == model.OpRetain {
			files, _ := filepath.Glob(filepath.Join(dir, "*"))
			if fi, err := os.Stat(strings.Join(files, " ")); err == nil {
				seen = append(seen, fi)
			}
		}
		return err
	})
	k := undo.New(dir, undo.DefaultKeep, clock.System{}, nil)
	var changes []undo.Change
	for _, id := range []string{"session/a", "session/b"} {
		changes = append(changes, undo.Change{Retain: &model.RetainRequest{ID: id, Content: "oats"}})
	}
	if _, _, err := k.Together(t.Context(), watched, undo.OpTakeback, changes); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 2 || !os.SameFile(seen[0], seen[1]) {
		t.Errorf("%d looks; the second change wrote the entry again", len(seen))
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
