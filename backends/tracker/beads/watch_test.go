package beads_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"memdesk/backends/tracker/beads"
	"memdesk/model"
)

// TestWatch: own and foreign writes must be reported, bursts joined, other files ignored.
func TestWatch(t *testing.T) {
	_, dir := repo(t, map[string]string{"issues.jsonl": two})
	plain := filepath.Join(filepath.Dir(dir), "beads") // the directory need not be named .beads
	must(t, os.Rename(dir, plain))
	dir = plain
	s, err := beads.Open(t.Context(), beads.Config{Name: "beads", Path: dir})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	changes, err := s.Watcher.Watch(ctx)
	must(t, err)
	told := func(what string) {
		t.Helper()
		select {
		case c, ok := <-changes:
			if !ok || c.ID != "" || c.Lost {
				t.Fatalf("%s: %+v, %v", what, c, ok)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s is not told", what)
		}
	}
	_, err = s.Provider.Retain(t.Context(), model.RetainRequest{ID: "x-1", Mode: model.Replace, Content: "text"})
	must(t, err)
	told("an own write")
	for range 50 {
		must(t, os.WriteFile(filepath.Join(dir, "deps.jsonl"), []byte(`{"blockerId":"x-1","blockedId":"x-2"}`+"\n"), 0o644))
	}
	told("a burst")
	for quiet := false; !quiet; { // a slow machine reports the write in several changes
		select {
		case <-changes:
		case <-time.After(3 * burst):
			quiet = true
		}
	}
	must(t, os.WriteFile(filepath.Join(dir, "interactions.jsonl"), nil, 0o644))
	select {
	case c := <-changes:
		t.Errorf("told without a reason: %+v", c)
	case <-time.After(3 * burst):
	}
	must(t, os.Rename(dir, dir+"-away"))
	must(t, os.Mkdir(dir, 0o755))
	for lost := false; !lost; {
		select {
		case c := <-changes:
			lost = c.Lost
		case <-time.After(time.Minute):
			t.Fatal("the end of the directory is not told")
		}
	}
	select {
	case _, ok := <-changes:
		if ok {
			t.Error("the watch of a directory that is gone goes on")
		}
	case <-time.After(time.Minute):
		t.Error("the watch of a directory that is gone stays open")
	}
	changes, err = s.Watcher.Watch(ctx)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "issues.jsonl"), []byte(two), 0o644))
	told("a write to the new directory")
	cancel()
	for range changes { // closed when the context ends
	}
	if _, err := s.Watcher.Watch(ctx); model.KindOf(err) == "" {
		t.Error("an ended context gets a watcher")
	}
}

// burst is longer than the time within which the store joins changes.
const burst = 150 * time.Millisecond
