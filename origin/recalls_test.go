package origin_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"memdesk/origin"
)

func ready() error { return nil }

// TestTheErasedStayOutOfTraceAndPaths: no recall and no name may bring an erased subject back, even
// while the erased subjects are unknown.
func TestTheErasedStayOutOfTraceAndPaths(t *testing.T) {
	const ida = "usr_ida9931"
	dir := t.TempDir()
	trace, paths := origin.OpenTrace(dir, ready), origin.OpenPaths(dir, ready)
	named := func(texts ...string) (bool, error) { return strings.Contains(strings.Join(texts, "\n"), ida), nil }
	trace.Names, paths.Names = named, named
	if err := trace.Note([]origin.Recall{{Store: "v", ID: "memory/" + ida + ".md", Actor: "alpha"}, {Store: "v", ID: "tea.md", Actor: ida}, {Store: "v", ID: "tea.md", Actor: "alpha"}}); err != nil {
		t.Fatal(err)
	}
	if err := paths.Set("v", "idea", "1", "notes/"+ida); err == nil {
		t.Error("an item is called after an erased person")
	}
	if err := paths.Set("v", "idea", "1", "notes/tea"); err != nil {
		t.Error(err)
	}
	trace.Names, paths.Names = func(...string) (bool, error) { return false, errors.New("no key") }, func(...string) (bool, error) { return false, errors.New("no key") }
	if trace.Note([]origin.Recall{{Store: "v", ID: "b.md"}}) == nil || paths.Set("v", "idea", "2", "b") == nil {
		t.Error("noted although nobody can say who is erased")
	}
	var got []string
	if err := trace.All(func(r origin.Recall) { got = append(got, r.ID+" "+r.Actor) }); err != nil || len(got) != 1 || got[0] != "tea.md alpha" {
		t.Errorf("%q, %v", got, err)
	}
	if name, ok := paths.Name("v", "idea", "1"); !ok || name != "notes/tea" {
		t.Errorf("%q", name)
	}
	if _, ok := paths.Name("v", "idea", "2"); ok {
		t.Error("named")
	}
}

// TestATraceBeginsAnewOnce: processes that find the file full at the same moment must start one new
// file, without losing a recall of the first; an erasure meanwhile must reach both.
func TestATraceBeginsAnewOnce(t *testing.T) {
	const writers, each = 8, 40
	for range 10 {
		dir := t.TempDir()
		var wg sync.WaitGroup
		for w := range writers {
			trace := origin.OpenTrace(dir, ready)
			trace.Within(16 << 10) // more than half of the whole trace
			wg.Go(func() {
				for n := range each {
					if err := trace.Note([]origin.Recall{{Store: "v", ID: fmt.Sprintf("%d-%d", w, n), Actor: "alpha"}}); err != nil {
						t.Error(err)
					}
					if w == 0 && n%8 == 0 {
						if _, err := trace.Erase(func(line []byte) bool { return strings.Contains(string(line), `"1-`) }); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		wg.Wait()
		trace := origin.OpenTrace(dir, ready)
		if _, err := trace.Erase(func(line []byte) bool { return strings.Contains(string(line), `"1-`) }); err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		if err := trace.All(func(r origin.Recall) { seen[r.ID]++ }); err != nil {
			t.Fatal(err)
		}
		if len(seen) != (writers-1)*each {
			t.Fatalf("%d of %d recalls are kept", len(seen), (writers-1)*each)
		}
	}
}
