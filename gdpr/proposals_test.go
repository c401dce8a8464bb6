package gdpr_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/model"
)

// TestPropose asks two stores for the names that they tie to a subject: it must leave out known
// identifiers, other persons' names and values that cannot be aliases.
func TestPropose(t *testing.T) {
	w := newWorld(t)
	second := backends.StoreConfig{Name: "second", Kind: "sqlite", Path: filepath.Join(w.dir, "second.sqlite")}
	kind, _ := backends.Builtin().Kind("sqlite")
	if err := kind.Create(t.Context(), second, backends.Env{Clock: w.clock}); err != nil {
		t.Fatal(err)
	}
	w.more = []backends.StoreConfig{second}
	w.open()
	tie := func(store, key, who, metadata string) {
		t.Helper()
		w.put(store, model.RetainRequest{Tier: "session", Key: key, Content: "prefers tea, called Teatime Ana", DataSubjectID: who, Meta: []model.Field{{Name: "metadata", Value: metadata}}})
	}
	tie("db", "n1", ana, `{"display_name": "Nana Zx", "email": "`+mail+`", "colour": "Green Door"}`)
	tie("db", "n2", ana, `{"Name": "Nana Zx", "full_name": "`+strings.ToUpper(name)+`", "user_name": "`+strings.Repeat("long ", 60)+`"}`)
	tie("db", "b1", other, `{"display_name": "Bob Yw", "email": "bob@example.test"}`)
	tie("second", "n1", ana, `{"email": ["ana.old@example.test", "`+ana+`"], "mail": "*"}`)

	in := gdpr.Intake{Subject: ana, Aliases: []string{mail, name}}
	got, notes, err := gdpr.Propose(t.Context(), w.fleet, in)
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "stand: 1;") {
		t.Fatalf("notes %q, %v", notes, err)
	}
	want := []gdpr.Proposal{{Store: "db", Field: "display_name", Value: "Nana Zx"}, {Store: "second", Field: "email", Value: "ana.old@example.test"}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("proposed %+v; want %+v", got, want)
	}
	p := w.plan(w.file().ID)
	for i, one := range want {
		if notes := strings.Join(p.Stores[i].Notes, "\n"); !strings.Contains(notes, one.Field+" "+one.Value) || strings.Contains(notes, "Bob") {
			t.Errorf("the plan's notes on %s: %q", one.Store, notes)
		}
	}

	for i := range 30 {
		tie("second", fmt.Sprintf("m%d", i), ana, fmt.Sprintf(`{"nickname": "Nana Number%d"}`, i))
	}
	got, notes, err = gdpr.Propose(t.Context(), w.fleet, in)
	if err != nil || len(got) != 21 || len(notes) != 2 || !strings.Contains(notes[0], "second: names that are not shown: 11") {
		t.Errorf("%d proposals, notes %q, %v; want the bound said", len(got), notes, err)
	}
}

// TestProposeWhatADatabaseCalls: Crewship's database has a user's name that no item has.
func TestProposeWhatADatabaseCalls(t *testing.T) {
	w := newWorld(t)
	w.agent(map[string]string{"AGENT.md": "met Nana Zx"})
	root := filepath.Join(w.dir, "data")
	if err := os.MkdirAll(filepath.Join(root, "output/crews/c1/agents/ada/.memory"), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", filepath.Join(root, "crewship.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE users (id TEXT PRIMARY KEY, email TEXT, full_name TEXT); INSERT INTO users VALUES (?, ?, 'Nana Zx')", ana, mail); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	w.more = []backends.StoreConfig{{Name: "ship", Kind: "crewship", Path: root}}
	w.open()
	got, notes, err := gdpr.Propose(t.Context(), w.fleet, gdpr.Intake{Subject: ana, Aliases: []string{mail, name}})
	if want := []gdpr.Proposal{{Store: "ship", Field: "full_name", Value: "Nana Zx"}}; err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("proposed %+v, %q, %v; want %+v", got, notes, err, want)
	}
	found := false
	for _, s := range w.plan(w.file().ID).Stores {
		found = found || s.Store == "ship" && strings.Contains(strings.Join(s.Notes, "\n"), "full_name Nana Zx")
	}
	if !found {
		t.Error("the plan does not tell the name")
	}
}
