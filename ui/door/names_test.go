package door_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"memdesk/internal/bearer"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/ui/door"
)

// TestOneNameForTwoCallers: of two callers, each with a session of its own, one creates the file; the other hears that
// it exists (AD23).
func TestOneNameForTwoCallers(t *testing.T) {
	dir := t.TempDir()
	one := deskOver(t, bearer.Caller{Name: "planner"}, dir, "inmem=")
	one.Face = door.Memory
	two := *one
	two.Caller.Name, two.Names = "writer", origin.OpenPaths(filepath.Join(dir, "state"), func() error { return nil })
	both := []func(a args) result{}
	for _, d := range []*door.Desk{one, &two} {
		c := client(t, d)
		both = append(both, func(a args) result { return call(t, c, "memory", a) })
	}
	for i := range 20 {
		var made atomic.Int32
		var wg sync.WaitGroup
		for _, run := range both {
			wg.Go(func() {
				if r := run(args{"command": "create", "path": fmt.Sprintf("/memories/inmem/task/n%d.md", i), "file_text": "x"}); !r.error {
					made.Add(1)
				}
			})
		}
		if wg.Wait(); made.Load() != 1 {
			t.Fatalf("n%d.md was created by %d callers", i, made.Load())
		}
	}
}

// TestNoFileWithoutItsName: a text whose name cannot be kept must not stay: the agent tries again, and would write a
// second one.
func TestNoFileWithoutItsName(t *testing.T) {
	dir := t.TempDir()
	d := deskOver(t, bearer.Caller{Name: "planner"}, dir, "inmem=")
	d.Face = door.Memory
	if err := os.MkdirAll(filepath.Join(dir, "state", "paths.jsonl"), 0o700); err != nil { // no line can be added to it
		t.Fatal(err)
	}
	r := call(t, client(t, d), "memory", args{"command": "create", "path": "/memories/inmem/task/a.md", "file_text": "x"})
	s, _ := d.Fleet.Store("inmem")
	page, err := s.Browser.List(t.Context(), model.PageRequest{Tier: "task"})
	if err != nil || len(page.Items) > 0 || !r.error {
		t.Errorf("%+v; the store holds %v (%v)", r, page.Items, err)
	}
}

// TestAPathWithAPercentSign: a path stands in a message as the agent wrote it, whatever signs it has.
func TestAPathWithAPercentSign(t *testing.T) {
	d := deskOver(t, bearer.Caller{Name: "planner"}, t.TempDir(), "inmem=")
	d.Face = door.Memory
	r := call(t, client(t, d), "memory", args{"command": "create", "path": "/memories/inmem/task/50%.md", "file_text": strings.Repeat("x", 256<<10+1)})
	if want := "The file /memories/inmem/task/50%.md would exceed 262144 bytes."; !r.error || r.text != want {
		t.Errorf("%q, want %q", r.text, want)
	}
}
