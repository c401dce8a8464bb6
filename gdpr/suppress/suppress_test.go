package suppress_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"memdesk/gdpr/suppress"
)

// TestFindInALongText: the remembered hashes of a long text must find what the others find.
func TestFindInALongText(t *testing.T) {
	dir := t.TempDir()
	key, err := suppress.LoadKey(filepath.Join(dir, "key"))
	l := suppress.Open(filepath.Join(dir, "suppressed.json"), filepath.Join(dir, "key"))
	if err != nil || l.Add(key, key.Pseudonym("subj-ana"), "er-1", time.Unix(0, 0), "subj-ana", "Ana Ribeiro") != nil {
		t.Fatal("no list", err)
	}
	for _, filler := range []string{"tide ", "x", "船"} {
		long := strings.Repeat(filler, 40<<10/len(filler))
		for text, want := range map[string]int{long: 0, long + "\nfor Ana Ribeiro, and subj-ana": 2} {
			if got, err := find(l, text); err != nil || len(got) != want {
				t.Errorf("%d bytes of %q: %v, %v; want %d", len(text), filler, got, err, want)
			}
		}
	}
}

// TestFindInAListOfNames: each place must be compared with the one before it, not with all. Without that, this
// test takes minutes. Of two places of a person, the longer counts.
func TestFindInAListOfNames(t *testing.T) {
	dir := t.TempDir()
	key, err := suppress.LoadKey(filepath.Join(dir, "key"))
	l := suppress.Open(filepath.Join(dir, "suppressed.json"), filepath.Join(dir, "key"))
	if err != nil || l.Add(key, key.Pseudonym("maren"), "er-1", time.Unix(0, 0), "Maren Holt", "Maren") != nil {
		t.Fatal("no list", err)
	}
	const lines = 1 << 16
	got, err := find(l, strings.Repeat("a Maren Holt\n", lines))
	if err != nil || len(got) != lines || got[lines-1].End-got[lines-1].Start != len("Maren Holt") {
		t.Errorf("%d places, %v; want %d", len(got), err, lines)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	key, err := suppress.LoadKey(filepath.Join(dir, "key"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := suppress.LoadKey(filepath.Join(dir, "key"))
	if err != nil || again.Pseudonym("x1") != key.Pseudonym("X1") {
		t.Fatalf("the key changed: %v", err)
	}
	path := filepath.Join(dir, "suppressed.json")
	l := suppress.Open(path, filepath.Join(dir, "key"))
	if got, err := find(l, "subj-ana"); err != nil || got != nil {
		t.Fatalf("an empty list: %v, %v", got, err)
	}
	if err := l.Add(key, key.Pseudonym("subj-ana"), "er-1", time.Unix(0, 0), "subj-ana", "Ana Ribeiro", "ana@example.test", "u1", "Zoë Ång", "王小明"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, clear := range []string{"subj-ana", "Ribeiro", "example", "u1"} {
		if strings.Contains(strings.ToLower(string(b)), strings.ToLower(clear)) {
			t.Errorf("the list holds %q in clear", clear)
		}
	}
	tests := []struct {
		text string
		want bool
	}{
		{"note by subj-ana.", true},
		{"SUBJ-ANA", true},
		{"for ANA  RIBEIRO, please", true},
		{"ana%40example.test", true},
		{`{"n":"Zo\u00eb \u00c5ng"}`, true},
		{"Zoe\u0308 A\u030ang", true},
		{"客户王小明来电", true},
		{"u1", true},
		{"U1", false},
		{"u10", false},
		{"subj-ana2", false},
		{"subj-ana-2", false},
		{"xsubj-ana", false},
		{"Anabel Ribeiro", false},
		{"memory/ana-ribeiro.md", true},
		{"ana_ribeiro_notes.md", true},
		{"subj_ana.md", false},
		{"subj_ana_2.md", false},
		{"ana-ribeirox.md", false},
		{"ribeiro-ana", false},
		{"u1-b", false},
		{base64.StdEncoding.EncodeToString([]byte("- mail of ana@example.test, once")), true},
		{"x " + base64.RawURLEncoding.EncodeToString([]byte(" by Ana Ribeiro")) + " y", true},
		{base64.StdEncoding.EncodeToString([]byte("- mail of dana@example.test, once")), false},
		{"s\x00u\x00b\x00j\x00-\x00a\x00n\x00a\x00", true},
		{"\xfe\xff\x00s\x00u\x00b\x00j\x00-\x00a\x00n\x00a", true},
		{"s\x00u\x00b\x00j\x00-\x00a\x00n\x00a\x002\x00", false},
		{"", false},
	}
	for _, tt := range tests {
		got, err := find(l, tt.text)
		if err != nil || len(got) > 0 != tt.want {
			t.Errorf("Find(%q) = %v, %v; want %v", tt.text, got, err, tt.want)
		}
	}
	if err := os.Remove(filepath.Join(dir, "key")); err != nil {
		t.Fatal(err)
	}
	if _, err := find(suppress.Open(path, filepath.Join(dir, "key")), "x"); err == nil {
		t.Error("a list without its key passed everything")
	}
}

// TestLostList: a list that was removed must not let everybody back in, and a list begun by two processes at
// once must keep both persons.
func TestLostList(t *testing.T) {
	dir := t.TempDir()
	path, keyPath := filepath.Join(dir, "suppressed.json"), filepath.Join(dir, "key")
	key, err := suppress.LoadKey(keyPath)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	names := []string{"subj-ana", "subj-bo", "subj-cy", "subj-dee"}
	for _, name := range names {
		wait.Go(func() {
			if err := suppress.Open(path, keyPath).Add(key, key.Pseudonym(name), "er-"+name, time.Unix(0, 0), name); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	l := suppress.Open(path, keyPath)
	for _, name := range names {
		if named, err := l.Names(name); err != nil || !named {
			t.Fatalf("%s: %v, %v", name, named, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for what, l := range map[string]*suppress.List{"open": l, "anew": suppress.Open(path, keyPath)} {
		if named, err := l.Names("subj-ana"); err == nil {
			t.Errorf("%s: a lost list says %v", what, named)
		}
		if err := l.Add(key, key.Pseudonym("subj-eve"), "er-eve", time.Unix(0, 0), "subj-eve"); err == nil {
			t.Errorf("%s: a lost list was begun anew", what)
		}
	}
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	if named, err := suppress.Open(path, keyPath).Names("subj-ana"); err != nil || named {
		t.Errorf("a new list: %v, %v", named, err)
	}
}

func find(l *suppress.List, text string) ([]suppress.Match, error) {
	ix, err := l.Now()
	if err != nil {
		return nil, err
	}
	return ix.Find(true, text), nil
}
