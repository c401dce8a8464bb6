package main

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/postgres"
	"memdesk/internal/testpg"
	"memdesk/model"
)

func TestMain(m *testing.M) {
	if code, played := play(); played {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// TestSmallReport measures a thousand items of every kind and writes the page: every chart must have
// every line with its peer, and no value may be missing or zero.
func TestSmallReport(t *testing.T) {
	docs := t.TempDir()
	r := &run{docs: docs, items: 1000, files: 1000, erasures: 1000}
	if err := r.load(); err != nil {
		t.Fatal(err)
	}
	if err := r.measure(1000); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(docs, "growth.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range charts {
		peers := 0
		for _, l := range r.lines[c.key] {
			if l.Peer {
				peers++
			}
			if len(l.At) != 1 || l.At[0].Value <= 0 || !strings.Contains(string(page), "| "+l.Name+" |") {
				t.Errorf("%s, %s: %+v", c.key, l.Name, l.At)
			}
		}
		if peers == 0 || len(r.lines[c.key]) < 2 {
			t.Errorf("%s has %d lines, %d of them of peers", c.key, len(r.lines[c.key]), peers)
		}
		svg, err := os.Open(filepath.Join(docs, "growth", c.key+".svg"))
		if err != nil {
			t.Fatal(err)
		}
		dec := xml.NewDecoder(svg)
		for err == nil {
			_, err = dec.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s.svg: %v", c.key, err)
		}
		_ = svg.Close()
	}
}

// TestKeptFigures: a run of one chart must replace its figures and keep those of the others.
func TestKeptFigures(t *testing.T) {
	docs := t.TempDir()
	before := &run{docs: docs}
	if err := before.load(); err != nil {
		t.Fatal(err)
	}
	for _, chart := range []string{"verify", "open"} {
		before.put(chart, "ours", false, 1000, 5)
		before.put(chart, "ours", false, 1000, 4) // the least of a run counts
		before.put(chart, "ours", false, 100, 1)
	}
	if err := before.write(); err != nil {
		t.Fatal(err)
	}
	after := &run{docs: docs, only: []string{"verify"}}
	if err := after.load(); err != nil {
		t.Fatal(err)
	}
	after.put("verify", "ours", false, 1000, 9) // and replaces the earlier run's
	for chart, want := range map[string][2]float64{"verify": {1, 9}, "open": {1, 4}} {
		if at := after.lines[chart][0].At; len(at) != 2 || at[0].Value != want[0] || at[1].Value != want[1] {
			t.Errorf("%s: %v, want %v", chart, at, want)
		}
	}
	if after.wants("open", "page") || !after.wants("open", "verify") {
		t.Error("a run of one chart wants others, or not its own")
	}
	if (&run{docs: docs, only: []string{"nothing"}}).load() == nil {
		t.Error("a chart that is not there was taken")
	}
}

// TestMultiplied: rows multiplied by the server must equal those that memdesk would have written.
func TestMultiplied(t *testing.T) {
	const n = 1000
	made, written := testpg.DSN(t), testpg.DSN(t)
	if err := seedPostgres(made, n); err != nil {
		t.Fatal(err)
	}
	s, err := postgres.Create(t.Context(), postgres.Config{DSN: model.NewSecret(written)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.CreateNodes(t.Context(), func(yield func(hypergraph.Node) bool) {
		for i := range n {
			if !yield(node(i, n)) {
				return
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		`SELECT string_agg((to_jsonb(n) - 'updated_at')::text, E'\n' ORDER BY id) FROM memdesk.nodes n`,
		`SELECT string_agg(indexdef, E'\n' ORDER BY indexname) FROM pg_indexes WHERE schemaname = 'memdesk'`,
	} {
		if diff := cmp.Diff(strings.Split(testpg.Value(t, written, query), "\n"), strings.Split(testpg.Value(t, made, query), "\n")); diff != "" {
			t.Errorf("-written +multiplied:\n%.2000s", diff)
		}
	}
}

func TestSlope(t *testing.T) {
	for want, values := range map[float64][2]float64{0: {5, 5}, 1: {5, 500}, 0.5: {5, 50}, 2: {1, 10000}} {
		l := line{At: []point{{1000, values[0], 1}, {100_000, values[1], 1}}}
		if got := l.slope(); math.Abs(got-want) > 1e-9 {
			t.Errorf("from %g to %g while the size grows a hundredfold: %g, want %g", values[0], values[1], got, want)
		}
	}
}

// TestPlot: a proportional line over equal decades on both axes must be the diagonal, and the names of
// lines that end together must not overlap.
func TestPlot(t *testing.T) {
	diagonal := []point{{1000, 1, 1}, {10_000, 10, 1}, {100_000, 100, 1}}
	svg := plot("A title", "ms", []line{{Name: "ours", At: diagonal}, {Name: "theirs", Peer: true, At: diagonal}})
	for _, want := range []string{`points="88.0,350.0 299.0,195.0 510.0,40.0"`, `stroke-dasharray`, `y="44.0" fill="#1b6ca8">ours<`, `y="59.0" fill="#1b6ca8">theirs<`, ">100,000<", ">10 ms<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
}
