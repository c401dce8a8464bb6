package engram_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"memdesk/backends/backendtest"
	"memdesk/backends/records/engram"
	"memdesk/model"
)

const made = "its program alone makes new ones"

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func file(t *testing.T, statements ...string) string {
	t.Helper()
	schema, err := os.ReadFile("../../demodata/schema/engram.sql")
	must(t, err)
	path := filepath.Join(t.TempDir(), "engram.db")
	db, err := sql.Open("sqlite3", path)
	must(t, err)
	defer db.Close()
	for _, text := range append([]string{string(schema)}, statements...) {
		_, err := db.Exec(text)
		must(t, err)
	}
	return path
}

const seed = `
INSERT INTO sessions (id, project, directory, summary) VALUES ('s1', 'atlas', '/srv/atlas', 'about tides');
INSERT INTO observations (session_id, type, title, content, project) VALUES ('s1', 'decision', 'Use WAL', 'the reader was blocked', 'atlas');
INSERT INTO observations (session_id, type, title, content, project, deleted_at) VALUES ('s1', 'manual', 'Old', 'gone text', 'atlas', '2026-01-01 00:00:00');
INSERT INTO user_prompts (session_id, content, project) VALUES ('s1', 'look at tides', 'atlas');`

func open(t *testing.T, c engram.Config) model.Store {
	t.Helper()
	s, err := engram.Open(t.Context(), c)
	must(t, err)
	return s
}

func TestConformance(t *testing.T) {
	var last string
	fresh := func(t *testing.T, statements ...string) string {
		path := file(t, statements...)
		last = filepath.Dir(path)
		return path
	}
	backendtest.Run(t, backendtest.Harness{
		Open: func(t *testing.T) model.Store { return open(t, engram.Config{Path: fresh(t)}) },
		OpenReadOnly: func(t *testing.T) model.Store {
			return open(t, engram.Config{Path: fresh(t, seed), ReadOnly: true})
		},
		Broken: func(t *testing.T) model.Store {
			path := fresh(t)
			s := open(t, engram.Config{Path: path})
			must(t, os.Remove(path))
			return s
		},
		Files:       func(*testing.T) string { return last },
		NotByRetain: map[string]string{"thread": made, "message": made, "observation": made, "memory": made, "session": made},
	})
}

// TestEdit keeps Engram's own columns in step: hash, revision, search index.
func TestEdit(t *testing.T) {
	path := file(t, seed)
	s := open(t, engram.Config{Path: path})
	defer s.Close()
	it, err := s.Browser.Read(t.Context(), "observation/1")
	must(t, err)
	if it.Title != "Use WAL" || it.Scope != "atlas" || it.Body != "the reader was blocked" {
		t.Errorf("read: %+v", it)
	}
	_, err = s.Provider.Retain(t.Context(), model.RetainRequest{ID: "observation/1", Mode: model.Replace, Content: "The  readers\nwere blocked", IfMatch: it.Revision})
	must(t, err)
	db, err := sql.Open("sqlite3", path)
	must(t, err)
	defer db.Close()
	var hash string
	var revisions, found, stale int
	const want = "8987e79ddbb0e008484011063a580b9aaab238ce94ead09b3d8d6f82a59aebfa" // of "the readers were blocked"
	must(t, db.QueryRow(`SELECT normalized_hash, revision_count, (SELECT count(*) FROM observations_fts WHERE observations_fts MATCH 'readers'),
		(SELECT count(*) FROM observations_fts WHERE observations_fts MATCH 'reader') FROM observations WHERE id = 1`).Scan(&hash, &revisions, &found, &stale))
	if revisions != 2 || found != 1 || stale != 0 || hash != want {
		t.Errorf("revision %d, found %d, stale %d, hash %s", revisions, found, stale, hash)
	}
	if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "prompt/1", Mode: model.Replace, Content: "x"}); !errors.Is(err, model.Unsupported) {
		t.Errorf("a prompt took an edit: %v", err)
	}
}

// TestListHidesWhatEngramHides, and shows it on demand.
func TestListHidesWhatEngramHides(t *testing.T) {
	s := open(t, engram.Config{Path: file(t, seed)})
	defer s.Close()
	for hidden, want := range map[bool][]string{
		false: {"observation/1", "prompt/1", "session/s1"},
		true:  {"observation/1", "observation/2", "prompt/1", "session/s1"},
	} {
		page, err := s.Browser.List(t.Context(), model.PageRequest{Hidden: hidden})
		must(t, err)
		var got []string
		for _, h := range page.Items {
			got = append(got, h.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("hidden %v: %q, want %q", hidden, got, want)
		}
	}
}

// TestForgetOfASession takes what hangs under it.
func TestForgetOfASession(t *testing.T) {
	s := open(t, engram.Config{Path: file(t, seed)})
	defer s.Close()
	res, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "session/s1"})
	if err != nil || res.Removed != 4 {
		t.Errorf("removed %d, %v", res.Removed, err)
	}
}

// TestForeignTrigger: a trigger that Engram did not write makes the file read-only.
func TestForeignTrigger(t *testing.T) {
	s := open(t, engram.Config{Path: file(t, `CREATE TRIGGER obs_fts_more AFTER DELETE ON observations BEGIN DELETE FROM sessions; END`)})
	defer s.Close()
	if !s.ReadOnly || !strings.Contains(s.ReadOnlyReason, "obs_fts_more") {
		t.Errorf("read-only %v: %s", s.ReadOnly, s.ReadOnlyReason)
	}
	own := open(t, engram.Config{Path: file(t)})
	defer own.Close()
	if own.ReadOnly {
		t.Errorf("Engram's own triggers make it read-only: %s", own.ReadOnlyReason)
	}
}
