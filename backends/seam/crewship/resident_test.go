package crewship_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/backends/backendtest"
	"memdesk/backends/seam/crewship"
	"memdesk/backends/seam/internal/walk"
	"memdesk/internal/clock"
	"memdesk/model"
)

// staysOpen makes every store followed from its first look on.
func staysOpen(t *testing.T) {
	t.Helper()
	walk.StaysOpen = 0
	t.Cleanup(func() { walk.StaysOpen = time.Second })
}

// TestResident: a store that stays open shows and finds what others write at once, in every memory directory,
// also in one that was removed and made anew, or is new.
func TestResident(t *testing.T) {
	staysOpen(t)
	dir := t.TempDir()
	agent := func(crew, name string) string { return "output/crews/" + crew + "/agents/" + name + "/.memory/" }
	start := map[string]string{"memory/": ""}
	for _, name := range []string{"ada", "bob", "cole"} {
		for n := range 5 {
			start[agent("c", name)+fmt.Sprintf("daily/d%d.md", n)] = "the harbour\n"
		}
	}
	files(t, dir, start)
	cfg := crewship.Config{Name: "d", Path: dir, Clock: clock.Fixed(now)}
	s := open(t, cfg)
	t.Cleanup(func() { must(t, s.Closer()) })
	found := func(s model.Store, query string) []string {
		t.Helper()
		page := list(t, s, model.PageRequest{Query: query, Hidden: true})
		var out []string
		for _, h := range page.Items {
			out = append(out, h.ID+" "+h.Stamp)
		}
		return out
	}
	if n := len(found(s, "")); n != 15 {
		t.Fatal(n)
	}
	found(s, "harbour") // learns what the texts hold
	path := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	write := func(name, text string) func() error {
		return func() error {
			files(t, dir, map[string]string{name: text})
			return nil
		}
	}
	old := time.Now().Add(-time.Hour) // so that no step is seen by the age of a directory alone
	for _, step := range []struct {
		name string
		do   func() error
		hits int // of the lighthouse
	}{
		{"a text as long, in place", write(agent("c", "ada")+"daily/d1.md", "lighthouse\n\n"[:12]), 1},
		{"its former text", write(agent("c", "ada")+"daily/d1.md", "the harbour\n"), 0},
		{"a new file", write(agent("c", "bob")+"topics/new.md", "lighthouse"), 1},
		{"a renamed one", func() error {
			return os.Rename(path(agent("c", "bob")+"topics/new.md"), path(agent("c", "cole")+"daily/moved.md"))
		}, 1},
		{"a removed one", func() error { return os.Remove(path(agent("c", "cole") + "daily/moved.md")) }, 0},
		{"a memory directory removed", func() error { return os.RemoveAll(path(agent("c", "cole"))) }, 0},
		{"made anew", write(agent("c", "cole")+"daily/d1.md", "lighthouse"), 1},
		{"removed and made anew at once", func() error {
			if err := os.RemoveAll(path(agent("c", "cole"))); err != nil {
				return err
			}
			return write(agent("c", "cole")+"daily/d2.md", "no house")()
		}, 0},
		{"a new agent", write(agent("c", "dora")+"AGENT.md", "lighthouse"), 1},
		{"a new crew", write(agent("e", "eve")+"AGENT.md", "lighthouse"), 2},
		{"a new directory deep down", write(agent("e", "eve")+"topics/x/y.md", "lighthouse"), 3},
	} {
		if err := step.do(); err != nil {
			t.Fatal(step.name, err)
		}
		if got, want := found(s, ""), found(open(t, cfg), ""); !slices.Equal(got, want) {
			t.Errorf("%s:\n%q, a store just opened lists\n%q", step.name, got, want)
		}
		if got := found(s, "lighthouse"); len(got) != step.hits {
			t.Errorf("%s: the query finds %q", step.name, got)
		}
		_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				must(t, os.Chtimes(p, old, old))
			}
			return nil
		})
		found(s, "harbour")
	}
	if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "crews/e/agents/eve/AGENT.md"}); err != nil || len(found(s, "lighthouse")) != 2 {
		t.Errorf("after a forget: %q, %v", found(s, "lighthouse"), err)
	}
}

// TestResidentWithoutWatches: without enough watches the store is walked as before, and its health says why.
func TestResidentWithoutWatches(t *testing.T) {
	staysOpen(t)
	defer func(n int) { walk.MostFollowed = n }(walk.MostFollowed)
	walk.MostFollowed = 3
	s, dir := openMemory(t, map[string]string{"daily/a.md": "1", "topics/x/b.md": "1", "topics/y/c.md": "1"})
	list(t, s, model.PageRequest{})
	files(t, dir, map[string]string{"topics/y/d.md": "1"})
	if got := len(list(t, s, model.PageRequest{}).Items); got != 4 {
		t.Errorf("%d items", got)
	}
	walked := slices.IndexFunc(backendtest.Health(t, s).Findings, func(f model.HealthFinding) bool {
		return f.Kind == "walked" && f.State == model.HealthOK && strings.Contains(f.Message, "too many directories")
	})
	if h := backendtest.Health(t, s); walked < 0 || !h.OK {
		t.Errorf("health says %+v", h)
	}
}
