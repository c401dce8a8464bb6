package media_test

import (
	"bytes"
	"database/sql"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"time"

	"memdesk/backends/internal/litefile"
	"memdesk/backends/seam/internal/media"
	"memdesk/model"
)

// TestAScrubDuringAScan: an open scan must not keep a change waiting, and its end must not take the change's locks along.
func TestAScrubDuringAScan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.sqlite")
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{`CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)`, `INSERT INTO notes (text) VALUES ('of Ana'), ('rye')`} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	d := &media.Database{Path: path, Layer: "index", Medium: func(f *litefile.File) litefile.Medium { return litefile.Medium{File: f} }}
	scan, err := d.OpenLayer(t.Context(), "index")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := d.Scrub(t.Context(), model.ScrubRequest{
			Concerns: func(b []byte) bool { return bytes.Contains(b, []byte("Ana")) },
			Redact:   func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("Ana"), []byte("[erased]")) }})
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the change waits for the scan")
	}
	if err := scan.Close(); err != nil {
		t.Error(err)
	}
	after, err := d.OpenLayer(t.Context(), "index")
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(after)
	if err = errors.Join(err, after.Close()); err != nil || bytes.Contains(b, []byte("Ana")) || !bytes.Contains(b, []byte("rye")) {
		t.Errorf("after the change the file has her: %v, %v", bytes.Contains(b, []byte("Ana")), err)
	}
}
