package gdpr_test

import (
	"path/filepath"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/model"
)

// TestNamesInMarkup erases a subject whose name contains markup from items, rows and layers beside
// them; a bystander who shares a part of the name must stay.
func TestNamesInMarkup(t *testing.T) {
	w := newWorld(t)
	vault := filepath.Join(w.dir, "vault")
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: vault}}
	const text = "# Notes\n\nask **José** Núñez for keys\nand <b>Maren</b> Holt\n// and José\n// Núñez\nask **José** Díaz\n"
	plant(t, vault, map[string]string{
		"memory/idea/plan.md": text, "memory/idea/.plan.md.bak": "call [Maren](people/a.md) Holt\n", "memory/idea/.his.md.bak": "call [Maren](people/a.md) Holtz\n",
		"memory/idea/only.md": "# Bystander\n\n**José** Núñezal and <b>Maren</b>\n",
	})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "_Maren_ Holt prefers tea"})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n3", Content: "_Maren_ Holtz prefers tea"})
	w.open()
	before := tree(t, vault)
	r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: "subj-jn-4711", Aliases: []string{"José Núñez", "Maren Holt"}, Received: "2026-02-20", Ground: "asked"})
	if err != nil {
		t.Fatal(err)
	}
	w.complete(w.plan(r.ID))
	after := tree(t, vault)
	want := "# Notes\n\nask **[erased] for keys\nand <b>[erased]\n// and [erased]\nask **José** Díaz\n"
	if got := after["memory/idea/plan.md"]; got != want {
		t.Errorf("plan.md is %q", got)
	}
	if _, there := after["memory/idea/.plan.md.bak"]; there {
		t.Error("a copy still names her")
	}
	for _, f := range []string{"memory/idea/.his.md.bak", "memory/idea/only.md"} {
		if after[f] != before[f] {
			t.Errorf("%s is %q", f, after[f])
		}
	}
	left := w.contents()
	if len(left) != 4 { // two notes, and n3 and plan of a day
		for id, body := range left {
			t.Logf("%s %q", id, body)
		}
	}
	if _, err := w.store("db").Provider.Retain(t.Context(), model.RetainRequest{Tier: "session", Key: "n9", Mode: model.Replace, Content: "**Maren** Holt is back"}); err == nil {
		t.Error("the name came back with markup")
	}
}
