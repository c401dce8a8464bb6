package gdpr

import (
	"os"
	"testing"
)

// The work of a journal is saved under its size: who opens one with a torn line again must find the same size, or the
// work counts twice.
func TestATornJournalKeepsItsSize(t *testing.T) {
	d := &Desk{State: t.TempDir()}
	if err := d.prepare(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.dir("runs", "er-1.jsonl"), []byte(`{"plan":"p","store":0,"step":0,"what":"removed"}`+"\n"+`{"plan":"p","st`), 0o600); err != nil {
		t.Fatal(err)
	}
	var sizes []int64
	for range 2 {
		l, err := d.openRun("er-1", "p")
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, l.size)
		if err := l.close(); err != nil {
			t.Fatal(err)
		}
	}
	if sizes[0] != sizes[1] {
		t.Errorf("the journal is %d bytes long, then %d", sizes[0], sizes[1])
	}
}
