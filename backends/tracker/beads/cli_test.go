package beads_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/tracker/beads"
	"memdesk/model"
	"memdesk/work"
	"memdesk/work/worktest"
)

func TestCommandPort(t *testing.T) {
	dirs := map[*testing.T]string{}
	again := func(t *testing.T) work.Desk {
		s, err := beads.Open(t.Context(), beads.Config{Name: "beads", Path: dirs[t], Port: "cli", Command: fakeBD(t)})
		must(t, err)
		return work.Desk{Store: s}
	}
	worktest.Run(t, worktest.Harness{
		Open: func(t *testing.T) work.Desk {
			dirs[t] = t.TempDir()
			must(t, os.Mkdir(filepath.Join(dirs[t], ".beads"), 0o755))
			return again(t)
		},
		Again: again,
	})
}

func TestCommandStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".beads")
	must(t, os.Mkdir(dir, 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(`{"backend":"dolt"}`), 0o644))
	s, err := beads.Open(t.Context(), beads.Config{Name: "beads", Path: dir, Port: "auto", Command: fakeBD(t)})
	must(t, err)
	if !strings.Contains(strings.Join(s.Notes, "\n"), "its command was opened and not the JSONL") || !s.Capabilities()["canSync"] {
		t.Errorf("notes %q", s.Notes)
	}
	ctx := t.Context()
	mem, err := s.Provider.Retain(ctx, model.RetainRequest{Tier: "memory", Key: "build-tool", Mode: model.Replace, Content: "-use make"})
	must(t, err)
	it, err := s.Browser.Read(ctx, mem.ID)
	if err != nil || it.Body != "-use make" || !it.Modified.IsZero() {
		t.Errorf("memory %+v, %v", it, err)
	}
	a, err := s.Provider.Retain(ctx, model.RetainRequest{Tier: "open", Mode: model.Replace, Content: "first"})
	must(t, err)
	b, err := s.Provider.Retain(ctx, model.RetainRequest{Tier: "in_progress", Mode: model.Replace, Content: "second",
		Meta: []model.Field{{Name: "depends", Value: a.ID}, {Name: "labels", Value: "one, two"}, {Name: "notes", Value: "n"}}})
	must(t, err)
	if it, err = s.Browser.Read(ctx, b.ID); err != nil || it.Tier != "in_progress" || it.LinksTotal != 1 {
		t.Errorf("second %+v, %v", it, err)
	}
	for _, id := range []string{mem.ID, b.ID} {
		if res, err := s.Provider.Forget(ctx, model.ForgetRequest{ID: id}); err != nil || res.Removed != 1 {
			t.Errorf("forget %s: %+v, %v", id, res, err)
		}
		if res, err := s.Provider.Forget(ctx, model.ForgetRequest{ID: id}); err != nil || res.Removed != 0 {
			t.Errorf("forget %s again: %+v, %v", id, res, err)
		}
	}
}

func TestChoiceOfPort(t *testing.T) {
	jsonl := map[string]string{"issues.jsonl": lineFor("open", "x-1", "text")}
	_, bare := repo(t, jsonl)
	jsonl["metadata.json"] = "{}"
	_, kept := repo(t, jsonl)
	for _, tt := range []struct{ port, cmd, dir, note string }{
		{"auto", "no-such-bd", kept, "is not installed, so the JSONL"},
		{"auto", fakeBD(t), bare, "keeps no database here, so the JSONL"},
		{"auto", fakeBD(t), kept, "its command was opened"},
		{"", fakeBD(t), kept, "this is the JSONL"},
		{"cli", fakeBD(t), bare, "through the bd command"},
	} {
		s, err := beads.Open(t.Context(), beads.Config{Path: tt.dir, Port: tt.port, Command: tt.cmd})
		if err != nil || !strings.Contains(strings.Join(s.Notes, "\n"), tt.note) {
			t.Errorf("port %q: %q, %v", tt.port, s.Notes, err)
		}
	}
	if _, err := beads.Open(t.Context(), beads.Config{Path: kept, Port: "cli", Command: "no-such-bd"}); !errors.Is(err, model.Unavailable) {
		t.Errorf("cli without bd: %v", err)
	}
	if _, err := beads.Open(t.Context(), beads.Config{Path: kept, Port: "dolt"}); !errors.Is(err, model.InvalidInput) {
		t.Errorf("an unknown port: %v", err)
	}
}
