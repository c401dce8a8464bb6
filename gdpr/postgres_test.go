package gdpr_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/internal/testpg"
	"memdesk/model"
)

// TestErasePostgres erases a subject from a PostgreSQL server, an SQLite file and a Crewship directory
// in one request, scrub and verification included.
func TestErasePostgres(t *testing.T) {
	w := newWorld(t)
	w.addPostgres(testpg.DSN(t))
	w.open()
	w.fill()
	put := func(id, subject, text string) {
		t.Helper()
		if _, err := w.store("pg").Provider.Retain(t.Context(), model.RetainRequest{ID: id, Tier: "task", Mode: model.Replace, Content: text, DataSubjectID: subject}); err != nil {
			t.Fatal(err)
		}
	}
	put("p1", ana, "prefers the early boat")
	put("p2", "", "talked with "+name+" about rye")
	put("p3", "", "wrote to "+mail+"\nand to "+other+" about the pier")
	put("b1", other, "keeps the oven, no relation")
	for i := range 40 {
		put("f"+strings.Repeat("x", i+1), "", "a note about tides")
	}
	before := w.contents()
	r := w.file()
	out := w.complete(w.plan(r.ID))
	layers := 0
	for _, l := range out.Layers {
		if l.Store == "pg" {
			layers++
			if !receipt.Passes(l.Verdict) {
				t.Errorf("%+v", l)
			}
		}
	}
	if layers < 3 {
		t.Errorf("%d layers of the server were looked at", layers)
	}
	after := w.contents()
	for _, id := range []string{"pg:p1", "pg:p2"} {
		if strings.Contains(after[id], name) || id == "pg:p1" && after[id] != "" {
			t.Errorf("%s: %q", id, after[id])
		}
	}
	for ref, body := range before {
		if strings.HasPrefix(ref, "pg:b") || strings.HasPrefix(ref, "pg:f") {
			if after[ref] != body {
				t.Errorf("bystander %s changed", ref)
			}
		}
	}
	hits, err := w.store("pg").Provider.Recall(t.Context(), model.RecallRequest{Query: name})
	if err != nil || slices.ContainsFunc(hits.Hits, func(h model.RecallSnippet) bool { return strings.Contains(h.Snippet, name) }) {
		t.Errorf("recall still finds her: %+v, %v", hits, err)
	}
	if left := w.traces(w.dir, w.desk.State); len(left) > 0 {
		t.Errorf("traces: %q", left)
	}
}

// TestPostgresForeignTable leaves a subject in another program's table of the same database: no run may
// be complete, and the receipt must list the table, its hits and the role that can finish it.
func TestPostgresForeignTable(t *testing.T) {
	dsn := testpg.DSN(t)
	w := newWorld(t)
	w.addPostgres(dsn)
	testpg.Exec(t, dsn, `CREATE TABLE public.crm (n int, who text); INSERT INTO public.crm VALUES (1, '`+name+`'), (2, '`+other+`')`)
	w.open()
	w.put("pg", model.RetainRequest{ID: "p1", Tier: "task", Content: "talked with " + name})
	r := w.file()
	out, err := w.erase(w.plan(r.ID))
	if err != nil || out.Status != gdpr.StateInScope {
		t.Fatalf("%s %s, %v; want complete_in_scope", out.Status, out.Problems, err)
	}
	i := slices.IndexFunc(out.Layers, func(l receipt.Layer) bool { return l.Store == "pg" && l.Layer == "table crm" })
	if i < 0 || out.Layers[i].Verdict != model.VerdictOutOfScope || out.Layers[i].Hits != 1 || !strings.Contains(out.Layers[i].Reason, "FROM public.crm") {
		t.Errorf("layers %+v; want table crm out of scope with its hit", out.Layers)
	}
	testpg.Exec(t, dsn, `DELETE FROM public.crm WHERE n = 1`)
	w.complete(w.plan(r.ID))
}

// TestPostgresOtherWorkspace leaves the subject in another workspace of the same tables, whose bytes lie in
// the same files: the residue must say which workspace to make a store.
func TestPostgresOtherWorkspace(t *testing.T) {
	w := newWorld(t)
	w.addPostgres(testpg.DSN(t))
	harbour := w.more[0]
	harbour.Name, harbour.Workspace = "harbour", "harbour"
	w.more = append(w.more, harbour)
	w.open()
	w.put("pg", model.RetainRequest{ID: "p", Tier: "task", Content: "talked with " + name})
	w.put("harbour", model.RetainRequest{ID: "p", Tier: "task", Content: "talked with " + name})
	w.more = w.more[:1]
	w.open()
	out, err := w.erase(w.plan(w.file().ID))
	if err != nil {
		t.Fatal(err)
	}
	told := slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
		return l.Store == "pg" && l.Layer == "nodes" && l.Verdict == model.VerdictResidue && strings.Contains(l.Reason, "harbour")
	})
	if out.Status != gdpr.StatePartial || !told {
		t.Errorf("status %s, told %v: %+v", out.Status, told, out.Layers)
	}
}

// TestPostgresHoldInAnotherWorkspace: the files of the tables hold the rows of both stores, so what is on hold
// in one is no residue of the other.
func TestPostgresHoldInAnotherWorkspace(t *testing.T) {
	w := newWorld(t)
	w.addPostgres(testpg.DSN(t))
	harbour := w.more[0]
	harbour.Name, harbour.Workspace = "harbour", "harbour"
	w.more = append(w.more, harbour)
	w.open()
	w.put("pg", model.RetainRequest{ID: "p", Tier: "task", Content: "talked with " + name + " of the early boat"})
	w.put("harbour", model.RetainRequest{ID: "h", Tier: "task", Content: "a claim of " + name + " is open"})
	r := w.file()
	w.plan(r.ID)
	if _, err := w.desk.Hold(t.Context(), r.ID, gdpr.Hold{Store: "harbour", ID: "h", Ground: "Art. 17(3)(e)"}); err != nil {
		t.Fatal(err)
	}
	w.inScope(w.plan(r.ID))
	if text := w.contents()["harbour:h"]; !strings.Contains(text, name) {
		t.Errorf("the item on hold is %q", text)
	}
}

// TestPostgresWorkspacesAreSearchedOnce: to verify a workspace takes a search of each other one in the same files, and
// they are searched once for all.
func TestPostgresWorkspacesAreSearchedOnce(t *testing.T) {
	w := newWorld(t)
	w.addPostgres(testpg.DSN(t))
	for _, place := range []string{"harbour", "quay", "mole", "pier"} {
		c := w.more[0]
		c.Name, c.Workspace = place, place
		w.more = append(w.more, c)
	}
	var searches atomic.Int64
	w.extra = []model.Middleware{func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Op == model.OpConcerning && c.Store.Kind == "postgres" {
			searches.Add(1)
		}
		return next(ctx)
	}}
	w.open()
	p := w.plan(w.file().ID)
	planned := searches.Swap(0)
	if _, err := w.erase(p); err != nil || planned != 5 || searches.Load() != 2*planned {
		t.Errorf("%d searches to plan and %d to verify, %v; want 5 and 10", planned, searches.Load(), err)
	}
}
