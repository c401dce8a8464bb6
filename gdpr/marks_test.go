package gdpr_test

import (
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/model"
)

// TestNamesWithoutMarks erases a subject whose name is written without its diacritics, and with
// diacritics that the request lacks; a bystander's longer name must stay.
func TestNamesWithoutMarks(t *testing.T) {
	w := newWorld(t)
	vault := filepath.Join(w.dir, "vault")
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: vault}}
	const text = "# Notes\n\nask jose nunez for keys\nand JOSÉ NUNEZ for tea\nask jose nunezal for milk\nand Joanna Kowalská\nand Joanna Kowalskák\n"
	plant(t, vault, map[string]string{
		"memory/idea/plan.md": text, "memory/idea/.plan.md.bak": "call Jose Nunez\n", "memory/idea/.his.md.bak": "call Jose Nunezal\n",
		"memory/idea/only.md": "# Bystander\n\nJose Nunezal\n",
	})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "JOSE NUNEZ prefers tea"})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "joanna kowalskà prefers tea"})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n3", Content: "Jose Nunezal prefers tea"})
	before := tree(t, vault)
	w.open()
	r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: "subj-jn-4711", Aliases: []string{"José Núñez", "Joanna Kowalska"}, Received: "2026-02-20", Ground: "asked"})
	if err != nil {
		t.Fatal(err)
	}
	p := w.plan(r.ID)
	w.complete(p)
	after := tree(t, vault)
	want := "# Notes\n\nask [erased] for keys\nand [erased] for tea\nask jose nunezal for milk\nand [erased]\nand Joanna Kowalskák\n"
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
	for id, body := range left {
		if strings.HasPrefix(id, "db:") && !strings.Contains(body, "Nunezal") {
			t.Errorf("%s says %q", id, body)
		}
	}
	_, err = w.store("db").Provider.Retain(t.Context(), model.RetainRequest{Tier: "session", Key: "n9", Mode: model.Replace, Content: "jose nunez is back"})
	if err == nil {
		t.Error("the name without its marks came back")
	}
}
