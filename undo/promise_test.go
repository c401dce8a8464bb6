package undo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/seam/crewship"
	"memdesk/backends/seam/vault"
	"memdesk/backends/tracker/beads"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/undo"
)

// TestAPromiseIsKept: what Preview says of the undo of a forget is what Restore then does, whatever the item's
// name and text.
func TestAPromiseIsKept(t *testing.T) {
	const family = "the \U0001F468\u200D\U0001F469\u200D\U0001F467 trip"
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"plain.md", "esc\x1b[31m.md", "line\nend.md", "b\xe9ta.md", "\u202ertl.md", strings.Repeat("x", 230) + ".md"} {
		write("notes/"+name, "text\n")
	}
	write("notes/mark.md", "\ufefftext\n")
	write("notes/family.md", family)
	for _, name := range []string{"AGENT.md", "CREW.md", "pins.md", "daily/2026-05-21.md", "topics/esc\x1b.md", "topics/plain.md"} {
		write("ship/.memory/"+name, "text\n")
	}
	write("work/.beads/issues.jsonl", `{"id":"w-1","title":"plain"}
{"id":"w-2","title":"`+family+`"}
{"id":"w-3","title":"x","labels":["`+family+`"]}
{"id":"w-4","title":"x","design":"`+family+`"}
{"id":"w-5","title":"x","status":"In Review"}
`)
	notes, err := vault.Open(t.Context(), vault.Config{Name: "notes", Path: filepath.Join(dir, "notes"), LockRoot: filepath.Join(dir, "locks")})
	if err != nil {
		t.Fatal(err)
	}
	ship, err := crewship.Open(t.Context(), crewship.Config{Name: "ship", Path: filepath.Join(dir, "ship", ".memory")})
	if err != nil {
		t.Fatal(err)
	}
	work, err := beads.Open(t.Context(), beads.Config{Name: "work", Path: filepath.Join(dir, "work"), Port: "jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]bool{"notes:family.md": false, "work:w-2": false, "work:w-3": false, "work:w-4": false}
	for _, s := range []model.Store{notes, ship, work} {
		page, err := s.Browser.List(t.Context(), model.PageRequest{Limit: 50})
		if err != nil || len(page.Items) < 4 {
			t.Fatal(page.Items, err)
		}
		k := undo.New(filepath.Join(dir, "undo"), 0, clock.System{}, nil)
		for _, h := range page.Items {
			ref := s.Name + ":" + h.ID
			warnings, err := k.Preview(t.Context(), s, h.ID)
			if err != nil {
				t.Fatal(ref, err)
			}
			_, refused := kept[ref]
			if promised := !strings.Contains(strings.Join(warnings, "\n"), "undo cannot put it back"); promised == refused {
				t.Errorf("%q: %q", ref, warnings)
				continue
			}
			was, err := s.Browser.Read(t.Context(), h.ID)
			if err != nil {
				t.Fatal(ref, err)
			}
			_, e, err := k.Forget(t.Context(), s, model.ForgetRequest{ID: h.ID})
			if err != nil {
				t.Fatal(ref, err)
			}
			if _, err := k.Restore(t.Context(), func(string) (model.Store, error) { return s, nil }, e.ID); (err != nil) != refused {
				t.Errorf("%q: %v", ref, err)
			}
			if now, err := s.Browser.Read(t.Context(), h.ID); !refused && (err != nil || now.Body != was.Body) {
				t.Errorf("%q: it has come back as %q: %v", ref, now.Body, err)
			}
		}
	}
}
