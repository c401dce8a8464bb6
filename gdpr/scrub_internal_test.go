package gdpr

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/gdpr/subject"
	"memdesk/internal/clock"
	"memdesk/model"
)

// passes counts the passes over all texts of a store.
type passes struct {
	model.Texts
	n *int
}

func (p passes) EachText(ctx context.Context, yield func(model.Text, error) bool) ([]string, error) {
	*p.n++
	return p.Texts.EachText(ctx, yield)
}

// dry answers a dry scrub: as the store does where it is nil.
type dry struct {
	model.Maintainer
	answer func() error
}

func (d dry) Scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	if req.Dry && req.SideRows == nil && d.answer != nil {
		return nil, d.answer()
	}
	return d.Maintainer.Scrub(ctx, req)
}

// The answers of a dry scrub. After an error the run looks for bystanders at once, as for a store of files; a blind one is
// that of a store to which a record came right behind it.
var (
	fails = func() error { return model.Errorf(model.Internal, "scrub", "no answer") }
	blind = func() error { return nil }
)

// scrubbed fills a database from a seed, scrubs it, and returns all its rows, the scrub's results, and the number of passes.
func scrubbed(t *testing.T, seed uint64, named bool, answer func() error) (rows []string, res []model.LayerResult, n int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db.sqlite")
	made, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	kind, _ := backends.Builtin().Kind("sqlite")
	s, err := kind.Open(t.Context(), backends.StoreConfig{Name: "db", Kind: "sqlite", Path: path}, backends.Env{Clock: clock.System{}})
	if err != nil {
		t.Fatal(err)
	}
	s.Texts, s.Maintainer = passes{s.Texts, &n}, dry{s.Maintainer, answer}
	fleet := backends.NewFleet([]backends.Member{{Name: "db", Kind: "sqlite", Store: s}}, nil)
	defer fleet.Close()
	raw, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	r := rand.New(rand.NewPCG(seed, 1))
	words := []string{"tea", "subj-ana2", "xsubj-ana", "pre-subj-ana.org", "subj-anabel", "tides"}
	text := func() string {
		of := make([]string, 1+r.IntN(4))
		for i := range of {
			of[i] = words[r.IntN(len(words))]
		}
		if named && r.IntN(3) == 0 {
			of = append(of, "subj-ana")
		}
		return strings.Join(of, " ")
	}
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := raw.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TABLE notes (n INTEGER PRIMARY KEY, node_id TEXT, word TEXT, packed BLOB)`)
	for i := range 5 + r.IntN(20) {
		if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{Mode: model.Replace, Tier: "session", Key: fmt.Sprintf("n%d", i), Content: "item " + words[r.IntN(len(words))]}); err != nil {
			t.Fatal(err)
		}
		if word := text(); named {
			exec(`INSERT INTO notes (node_id, word, packed) VALUES (?, ?, ?)`, fmt.Sprintf("n%d", r.IntN(30)), word, []byte("\x00\x01"+text()+"\x00"))
		}
	}
	exec(`INSERT INTO notes (node_id, word) VALUES ('gone', 'tea'), ('n1', 'tides')`)

	m, err := subject.New("subj-ana")
	if err != nil {
		t.Fatal(err)
	}
	d := &Desk{State: t.TempDir(), Clock: clock.System{}}
	layers, err := s.Maintainer.Layers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sp := StorePlan{Store: "db", Kind: "sqlite", Where: s.Identity(), Steps: []Step{{Store: "db", ID: "gone", Layer: layerItem, Action: Forget}}}
	for _, l := range layers {
		sp.Steps = append(sp.Steps, Step{Store: "db", ID: l.ID, Layer: layerName(l), Action: Scrub})
	}
	log, err := openRunLog(t, d, sp)
	if err != nil {
		t.Fatal(err)
	}
	defer log.close()
	x := d.newRun(&Request{ID: "er-20260220-00000000", Subject: "subj-ana"}, Plan{Stores: []StorePlan{sp}}, m, fleet, log)
	p := x.parts[0]
	if why, err := x.clean(t.Context(), s, p); err != nil {
		t.Fatal(why, err)
	}
	for _, query := range []string{`SELECT id || content || metadata FROM nodes ORDER BY 1`, `SELECT n || COALESCE(node_id, '') || COALESCE(word, '') || COALESCE(hex(packed), '') FROM notes ORDER BY n`} {
		all, err := raw.Query(query)
		if err != nil {
			t.Fatal(err)
		}
		for all.Next() {
			var row string
			if err := all.Scan(&row); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, row)
		}
		if err := all.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return rows, p.scrubbed, n
}

// openRunLog opens a journal in which the plan's first step is done.
func openRunLog(t *testing.T, d *Desk, sp StorePlan) (*runLog, error) {
	t.Helper()
	if err := d.prepare(); err != nil {
		return nil, err
	}
	log, err := d.openRun("er-20260220-00000000", "hash")
	if err != nil {
		return nil, err
	}
	return log, log.mark(0, 0, "removed")
}

// TestAScrubWithoutBystanders: it leaves the same rows as one that knows whom to spare, and reads no text where no record names
// the subject.
func TestAScrubWithoutBystanders(t *testing.T) {
	for seed := range uint64(20) {
		for _, named := range []bool{false, true} {
			want, results, n := scrubbed(t, seed, named, fails)
			if n == 0 {
				t.Fatal("a scrub that knows whom to spare has read no text")
			}
			for name, answer := range map[string]func() error{"the store's own": nil, "blind": blind} {
				got, res, n := scrubbed(t, seed, named, answer)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("seed %d, %s, rows: %s", seed, name, diff)
				}
				if diff := cmp.Diff(results, res); diff != "" {
					t.Errorf("seed %d, %s, results: %s", seed, name, diff)
				}
				if (n > 0) != named {
					t.Errorf("seed %d, %s: %d passes; records that name the subject: %v", seed, name, n, named)
				}
			}
		}
	}
}
