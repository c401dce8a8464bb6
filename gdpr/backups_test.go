package gdpr_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memdesk/audit"
	"memdesk/gdpr"
	"memdesk/model"
)

// TestStoreExportsAreNamed: a whole store that memdesk wrote into a directory still holds the person, and the log
// knows of it. The plan names it before the act, the receipt after it; of a refused one nothing is said.
func TestStoreExportsAreNamed(t *testing.T) {
	w := newWorld(t)
	w.fill()
	entry := func(store string) audit.Entry {
		return audit.Entry{Action: gdpr.ActExport, Store: store, Target: "/srv/copy"}
	}
	if err := w.desk.Log.Act(t.Context(), entry("db"), func(context.Context) (map[string]int64, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	if err := w.desk.Log.Note(t.Context(), entry("agent"), audit.Result{Verdict: audit.Refused}); err != nil {
		t.Fatal(err)
	}
	r := w.file()
	p := w.plan(r.ID)
	if !strings.HasPrefix(p.Note, "db: memdesk exported the whole store") || strings.Contains(p.Note, "agent") {
		t.Errorf("the plan's note is %q", p.Note)
	}
	w.complete(p)
	_, rec, _, err := w.desk.Receipt(r.ID)
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, b := range rec.Backups {
		if strings.Contains(b.Reason, "exported") {
			named = append(named, b.Store)
		}
	}
	if len(named) != 1 || named[0] != "db" {
		t.Errorf("the receipt names exports of %q: %+v", named, rec.Backups)
	}
}

// TestStoreExportsOfBeforeTheLog: where the log's old records are retired, nobody knows whether one was an export.
func TestStoreExportsOfBeforeTheLog(t *testing.T) {
	w := newWorld(t)
	log, err := audit.Open(audit.Options{Dir: filepath.Join(w.desk.State, "audit"), Clock: w.clock, Tool: "test", FS: nosync{}, SegmentBytes: 3000, Actor: audit.Actor{ID: "op"}})
	if err != nil {
		t.Fatal(err)
	}
	w.desk.Log = log
	w.open()
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "asked by " + name})
	r := w.file()
	if p := w.plan(r.ID); strings.Contains(p.Note, "is not known") {
		t.Errorf("a whole log: %q", p.Note)
	}
	for range 20 {
		w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "rain"})
	}
	w.clock.Advance(365 * 24 * time.Hour)
	for range 20 {
		w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "rain"})
	}
	if n, err := log.Retire(t.Context(), w.clock.Now().Add(-30*24*time.Hour)); err != nil || n == 0 {
		t.Fatalf("%d records went, %v", n, err)
	}
	if p := w.plan(r.ID); !strings.Contains(p.Note, "db: whether memdesk exported the whole store before 20") {
		t.Errorf("the plan's note is %q", p.Note)
	}
}
