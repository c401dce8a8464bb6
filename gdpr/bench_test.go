package gdpr_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/suppress"
	"memdesk/internal/clock"
	"memdesk/model"
)

// BenchmarkDiscover plans over a Crewship agent of many daily files. The peer is ripgrep, or else grep,
// with the same patterns over the whole of every file, as discovery reads them. Both must name the same
// files. Each side is the best of five, in turn.
func BenchmarkDiscover(b *testing.B) {
	files := 2000
	if os.Getenv("MEMDESK_SOAK") != "" {
		files = 100_000
	}
	w := newWorld(b)
	dir := filepath.Join(w.path("agent"), "daily")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	day := time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range files {
		text := fmt.Sprintf("- note %d about routers and what they forget, at some length so that there is something to read\n- quiet\n", i)
		if i%200 == 0 {
			text += "- " + name + " called\n"
		}
		if err := os.WriteFile(filepath.Join(dir, day.AddDate(0, 0, i).Format("2006-01-02")+".md"), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	w.open()
	r := w.file()
	peers := map[string][]string{"grep": {"grep", "-rlF"}}
	if _, err := exec.LookPath("rg"); err == nil {
		peers["rg"] = []string{"rg", "-lF", "-uuu"}
	}
	best := map[string]time.Duration{}
	least := func(what string, took time.Duration) {
		if was, ok := best[what]; !ok || took < was {
			best[what] = took
		}
	}
	for b.Loop() {
		for range 5 {
			for what, args := range peers {
				begun := time.Now()
				out, err := exec.CommandContext(b.Context(), args[0], append(args[1:], "-e", ana, "-e", mail, "-e", name, w.path("agent"))...).Output()
				if err != nil || bytes.Count(out, []byte{'\n'}) != files/200 {
					b.Fatalf("%s: %d files, %v", what, bytes.Count(out, []byte{'\n'}), err)
				}
				least(what, time.Since(begun))
			}
			w.open() // like a new command: nothing is cached
			begun := time.Now()
			p, err := w.desk.MakePlan(b.Context(), r.ID, w.fleet, nil)
			if err != nil {
				b.Fatal(err)
			}
			least("desk", time.Since(begun))
			if n, _ := p.Count(); n != int64(files/200) {
				b.Fatalf("%d found; want %d", n, files/200)
			}
		}
	}
	b.ReportMetric(float64(best["desk"].Milliseconds()), "ms")
	for what := range peers {
		b.ReportMetric(float64(best["desk"])/float64(best[what]), "x/"+what)
		b.ReportMetric(float64(best[what].Milliseconds()), what+"-ms")
	}
}

// BenchmarkSweep searches 20,000 rows, 200,000 with MEMDESK_SOAK, for five erased subjects known only
// by keyed hashes. The peer is the discovery of one subject with known identifiers over the same rows.
func BenchmarkSweep(b *testing.B) {
	rows := 20_000
	if os.Getenv("MEMDESK_SOAK") != "" {
		rows *= 10
	}
	w := newWorld(b)
	if err := w.fleet.Close(); err != nil {
		b.Fatal(err)
	}
	s := sample{rows: rows, share: rows, words: 30}
	s.seed(b)
	s.copyTo(b, w.path("db"))
	w.open()
	r := w.file()
	suppress5(b, w.desk)
	best := map[string]time.Duration{}
	for b.Loop() {
		for i := range 3 {
			begun := time.Now()
			if _, err := w.desk.MakePlan(b.Context(), r.ID, w.fleet, nil); err != nil {
				b.Fatal(err)
			}
			plan := time.Since(begun)
			begun = time.Now()
			if found, problems, err := w.desk.Sweep(b.Context(), w.fleet, "", nil); err != nil || len(found)+len(problems) > 0 {
				b.Fatal(found, problems, err)
			}
			sweep := time.Since(begun)
			if i == 0 || plan < best["plan"] {
				best["plan"] = plan
			}
			if i == 0 || sweep < best["sweep"] {
				best["sweep"] = sweep
			}
		}
	}
	b.ReportMetric(float64(best["sweep"])/float64(best["plan"]), "x/discovery")
	b.ReportMetric(float64(best["sweep"].Microseconds())/float64(rows), "us/row")
}

// suppress5 suppresses five subjects with three identifiers each.
func suppress5(b *testing.B, d *gdpr.Desk) {
	b.Helper()
	key, err := suppress.LoadKey(filepath.Join(d.State, "gdpr", "keys", "pseudonym"))
	if err != nil {
		b.Fatal(err)
	}
	for i := range 5 {
		id := fmt.Sprintf("gone-%04d", i)
		if err := d.Suppressed().Add(key, key.Pseudonym(id), "er-20260101-00000000", time.Unix(0, 0), id, fmt.Sprintf("Person Number%d", i), id+"@example.test"); err != nil {
			b.Fatal(err)
		}
	}
}

func rawStore(b *testing.B, path string) model.Store {
	b.Helper()
	kind, _ := backends.Builtin().Kind("sqlite")
	s, err := kind.Open(b.Context(), backends.StoreConfig{Name: "db", Kind: "sqlite", Path: path}, backends.Env{Clock: at("2026-03-01T12:00:00Z")})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkGate is the gate's cost for one Retain, as in a copy of many items: twenty requests, three
// of them with a hold, five subjects suppressed.
func BenchmarkGate(b *testing.B) {
	d := newDesk(b, clock.System{})
	for i := range 20 {
		r, err := d.File(b.Context(), gdpr.Intake{Subject: fmt.Sprintf("subj-%04d-q", i), Received: "2026-02-20", Ground: "consent withdrawn"})
		if err != nil {
			b.Fatal(err)
		}
		if i < 3 {
			if _, err := d.Hold(b.Context(), r.ID, gdpr.Hold{Store: "db", ID: fmt.Sprintf("n%d", i), Ground: "a claim"}); err != nil {
				b.Fatal(err)
			}
		}
	}
	suppress5(b, d)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(d.State, "gdpr", "requests"), old, old); err != nil {
		b.Fatal(err)
	}
	gate := d.Gate()
	req := model.RetainRequest{ID: "x1", Content: "note about routers and what they forget, at some length so that there is something to read", Mode: model.Replace}
	call := &model.Call{Op: model.OpRetain, Store: &model.Store{Name: "db"}, ID: "x1", Retain: &req}
	b.ReportAllocs()
	for b.Loop() {
		if err := gate(b.Context(), call, func(context.Context) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
