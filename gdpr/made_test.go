package gdpr_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"memdesk/audit"
	"memdesk/gdpr/subject"
)

// TestNamedByAHash erases somebody whom memdesk's own log names by chance, in a hash: the run must be complete.
func TestNamedByAHash(t *testing.T) {
	w := newWorld(t)
	w.fill()
	id := ""
	for id == "" {
		if err := w.desk.Log.Note(t.Context(), audit.Entry{Action: "read"}, audit.Result{Verdict: audit.OK}); err != nil {
			t.Fatal(err)
		}
		log, err := os.ReadFile(filepath.Join(w.desk.State, "audit", "log-000001.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		id = namedIn(t, log)
	}
	w.complete(w.plan(w.fileFor(id).ID))
}

// namedIn returns an identifier of a letter and a digit that a text names, empty without one.
func namedIn(t *testing.T, text []byte) string {
	t.Helper()
	for _, letter := range "acdefghijklmopqstuvwyz" { // without those of the items' ids
		for _, digit := range "0123456789" {
			id := string(letter) + string(digit)
			m, err := subject.New(id)
			if err != nil {
				t.Fatal(err)
			}
			if rep, err := m.Scan(t.Context(), bytes.NewReader(text), nil); err == nil && rep.Hits > 0 {
				return id
			}
		}
	}
	return ""
}
