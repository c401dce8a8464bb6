package gdpr_test

import (
	"net/url"
	"strings"
	"testing"

	"memdesk/backends/hypergraph/postgres"
	"memdesk/gdpr"
	"memdesk/internal/testpg"
	"memdesk/model"
)

// TestWithoutASuperuser: a role that owns the tables erases and scrubs, but may not read the server's
// files. The unaudited row must name the commands and the role they need, its SQL must run unchanged,
// and with a superuser's connection the same request must complete.
func TestWithoutASuperuser(t *testing.T) {
	super := testpg.DSN(t)
	testpg.Exec(t, super, `DO $$ BEGIN CREATE ROLE gdpr_tenant LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`)
	u, err := url.Parse(super)
	if err != nil {
		t.Fatal(err)
	}
	testpg.Exec(t, super, `ALTER DATABASE "`+strings.TrimPrefix(u.Path, "/")+`" OWNER TO gdpr_tenant`)
	u.User = url.User("gdpr_tenant")
	w := newWorld(t)
	w.addPostgres(u.String())
	w.open()
	w.put("pg", model.RetainRequest{Tier: "longterm", Key: "p1", Content: "talked with " + name})
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		w.put("pg", model.RetainRequest{Tier: "longterm", Key: key, Content: "tides"})
	}
	r := w.file()
	p := w.plan(r.ID)
	named := false
	for _, st := range p.Stores[1].Steps {
		named = named || strings.Contains(st.Reason, "a superuser runs VACUUM (FULL, ANALYZE) memdesk.nodes; CHECKPOINT;")
	}
	if !named {
		t.Errorf("the plan does not say what to run: %+v", p.Stores[1].Steps)
	}
	if out, err := w.erase(p); err != nil || out.Status != gdpr.StatePartial {
		t.Fatalf("%s, %v; want partial", out.Status, err)
	}
	rep, err := w.desk.StatusReport(t.Context(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	do := ""
	for _, l := range rep.Left {
		if l.Layer == "" && l.Store == "pg" {
			do = l.Do
		}
		if l.Layer == "nodes" && (l.Verdict != model.VerdictUnaudited || !strings.Contains(l.Reason, "a superuser runs VACUUM") || l.Do != "as said of the store") {
			t.Errorf("nodes: %+v", l)
		}
	}
	for _, want := range []string{postgres.SearchSQL, "dsn_env", "memdesk gdpr plan " + r.ID, "CHECKPOINT;", "\\set id"} {
		if !strings.Contains(do, want) {
			t.Errorf("what to do lacks %q: %s", want, do)
		}
	}
	if page := rep.Markdown(false); !strings.Contains(page, "SELECT pg_switch_wal(); CHECKPOINT; three times over") {
		t.Errorf("the page does not say what to run about the log of changes:\n%s", page)
	}
	// The SQL must find exactly the existing traces.
	search := func(id string) string {
		text := strings.ReplaceAll(strings.TrimSuffix(postgres.SearchSQL, ";"), ":'id'", "'"+id+"'")
		testpg.Exec(t, super, "CHECKPOINT")
		return testpg.Value(t, super, "SELECT bool_or(found)::text FROM ("+text+") s")
	}
	if got := search("tides"); got != "true" {
		t.Errorf("what is there: %s", got)
	}
	if got := search(name); got != "false" {
		t.Errorf("what was scrubbed: %s", got)
	}
	// With a superuser's connection the request completes.
	t.Setenv("MEMDESK_GDPR_DSN", super)
	w.open()
	w.complete(w.plan(r.ID))
}
