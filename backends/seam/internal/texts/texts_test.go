package texts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/texts"
	"memdesk/backends/seam/internal/walk"
)

func open(t *testing.T, files map[string]string) (string, *rootdir.Dir) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := rootdir.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return dir, root
}

// TestSiftAndHolding: the query must be searched in ids and in texts, and a text that cannot be searched must
// be reported.
func TestSiftAndHolding(t *testing.T) {
	dir, root := open(t, map[string]string{"a.md": "the Harbour", "b.md": "else", "harbour.md": "", "gone.md": "harbour"})
	large := filepath.Join(dir, "large.md")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, texts.ReadLimit+1); err != nil { // a hole: it uses no disk space
		t.Fatal(err)
	}
	tree, err := walk.Scan(t.Context(), "list", root, walk.Rules{}, nil, nil, func(files *rootdir.Files, at rootdir.Place, _ walk.File) (rootdir.Meta, uint32, bool) {
		m, ok := walk.Stat(files, at)
		return m, 0, ok
	})
	if err != nil || tree.Len() != 5 {
		t.Fatal(tree.Len(), err)
	}
	if err := os.Remove(filepath.Join(dir, "gone.md")); err != nil {
		t.Fatal(err)
	}
	file := func(row int32) walk.File { return tree.At(int(row)) }
	for _, c := range []struct {
		name    string
		prefix  string
		query   string
		rows    []int32
		want    []string
		bounded bool
	}{
		{"a text over the limit", "", "hArbour", []int32{0, 1, 2, 3, 4}, []string{"a.md", "harbour.md"}, true},
		{"each can be searched, or is gone", "", "hArbour", []int32{0, 1, 2, 3}, []string{"a.md", "harbour.md"}, false},
		{"the prefix of ids", "crews/Ada/", "aDA", []int32{0, 1}, []string{"a.md", "b.md"}, false},
		{"over a slash", "crews/Ada/", "ada/B", []int32{0, 1}, []string{"b.md"}, false},
	} {
		rows, unread := texts.Sift(c.rows, func(row int32) (string, walk.File) { return c.prefix, file(row) }, c.query)
		hits, bounded, err := texts.Holding(t.Context(), root, nil, unread, file, c.query)
		got := []string{}
		for _, r := range append(rows, hits...) {
			got = append(got, file(r).Path())
		}
		slices.Sort(got)
		if d := cmp.Diff(c.want, got); err != nil || bounded != c.bounded || d != "" {
			t.Errorf("%s: bounded %v, %v\n%s", c.name, bounded, err, d)
		}
	}
}

// TestFactsOfAFileAsItIs: the remembered facts must hold as long as the file is unchanged, and an
// examined text must not be examined again.
func TestFactsOfAFileAsItIs(t *testing.T) {
	dir, root := open(t, map[string]string{"a.md": "one"})
	examined := []string{}
	memory := texts.NewMemory(func(_, text string) texts.Facts {
		examined = append(examined, text)
		return texts.Facts{Title: text}
	})
	look := func() string {
		t.Helper()
		f, _, err := memory.Current(root, "a.md", "a.md")
		if err != nil {
			t.Fatal(err)
		}
		return f.Title
	}
	path := filepath.Join(dir, "a.md")
	first, again := look(), look()
	touched := time.Unix(1000, 0)
	if err := os.Chtimes(path, touched, touched); err != nil {
		t.Fatal(err)
	}
	same := look()
	if err := os.WriteFile(path, []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	second := look()
	if d := cmp.Diff([]string{"one", "one", "one", "two"}, []string{first, again, same, second}); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"one", "two"}, examined); d != "" {
		t.Error("examined:", d)
	}
}

// TestFactsDoNotKeepTheText: a title is a substring of a text, and must not keep the whole text in memory.
func TestFactsDoNotKeepTheText(t *testing.T) {
	const files, size = 64, 1 << 20
	memory := texts.NewMemory(func(_, text string) texts.Facts {
		return texts.Facts{Kind: text[:4], Status: text[4:8], Title: text[8:16]}
	})
	before := heap()
	for i := range files {
		memory.Of(strings.Repeat("x", i), strings.Repeat("note", size/4), rootdir.Meta{})
	}
	if after := heap(); after > before+files*size/8 {
		t.Errorf("%d texts of %d bytes left %d bytes", files, size, after-before)
	}
	runtime.KeepAlive(memory)
}

// TestFactsAreSmall: a store has many files, and the console remembers the facts of each. A map of 26,000 entries is
// four fifths full; at 28,000 its tables split by chance, and a file's facts took 114 to 130 bytes.
func TestFactsAreSmall(t *testing.T) {
	const files, each = 26_000, 120
	memory := texts.NewMemory(func(id, text string) texts.Facts {
		return texts.Facts{Kind: "idea", Status: "active", Title: "about " + id}
	})
	before := heap()
	for i := range files {
		memory.Of(fmt.Sprintf("memory/idea/%d/note-%d.md", i/1000, i), "text", rootdir.Meta{})
	}
	if after := heap(); after > before+files*each {
		t.Errorf("a file's facts are %d bytes, want %d at most", (after-before)/files, each)
	}
	runtime.KeepAlive(memory)
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
