package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/model"
)

// benchRows is the size of the store that the benchmarks share.
const benchRows = 1_000_000

var benchWords = strings.Fields(`cache loader planner broker exporter scheduler merges splits orders prints measures retries
	small large wide nested empty partial files rows tables calls tokens writes reads queue index page cursor memory agent
	session tier decision option goal because after before never always under over quickly slowly`)

// benchStore seeds the shared store once per machine, in a temporary directory named by size.
func benchStore(b *testing.B) *sqlite.Store {
	b.Helper()
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("memdesk-bench-sqlite-%d-v3", benchRows))
	path := filepath.Join(dir, "store.db")
	ctx := context.Background()
	if _, err := os.Stat(path); err != nil {
		started := time.Now()
		half := path + fmt.Sprintf(".%d.new", os.Getpid())
		s, err := sqlite.Open(ctx, sqlite.Config{Path: half, Create: true})
		if err != nil {
			b.Fatal(err)
		}
		if n, err := s.CreateNodes(ctx, benchNodes); err != nil || n != benchRows {
			b.Fatal(n, err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		if err := os.Rename(half, path); err != nil {
			b.Fatal(err)
		}
		b.Logf("seeded %d nodes in %.1f s", benchRows, time.Since(started).Seconds())
	}
	s, err := sqlite.Open(ctx, sqlite.Config{Path: path})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// benchNodes yields nodes with ids in no order, one word that all hold, one in every hundredth node and
// one in every fifty-thousandth.
func benchNodes(yield func(hypergraph.Node) bool) {
	r := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	tiers := []string{"task", "session", "longterm", "longterm", "longterm", "archive"}
	for i := range benchRows {
		words := []string{"everywhere"}
		for range 10 + r.IntN(30) {
			words = append(words, benchWords[r.IntN(len(benchWords))])
		}
		if i%100 == 7 {
			words = append(words, "uncommon")
		}
		if i%50000 == 11 {
			words = append(words, "needle")
		}
		n := hypergraph.Node{
			ID: fmt.Sprintf("%08x-%04x-%07d", r.Uint32(), r.Uint32()&0xffff, i), Type: "fact", Subtype: "learned_fact",
			Tier: tiers[i%len(tiers)], Confidence: 1, Content: strings.Join(words, " "), CreatedAt: start.Add(time.Duration(i) * time.Second),
		}
		if !yield(n) {
			return
		}
	}
}

// median runs fn times times and returns the median duration.
func median(b *testing.B, times int, fn func() error) time.Duration {
	b.Helper()
	took := make([]time.Duration, times)
	for i := range took {
		start := time.Now()
		if err := fn(); err != nil {
			b.Fatal(err)
		}
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	return took[times/2]
}

// BenchmarkPageDepth compares a page at depth 900,000 with the first one.
func BenchmarkPageDepth(b *testing.B) {
	s := benchStore(b)
	ctx := context.Background()
	for _, c := range []struct {
		name   string
		filter hypergraph.NodeFilter
		order  model.Order
		depth  int
	}{
		{"newest", hypergraph.NodeFilter{}, model.OrderNewest, 900_000},
		{"id", hypergraph.NodeFilter{}, model.OrderID, 900_000},
		{"one tier", hypergraph.NodeFilter{Tiers: []string{"longterm"}}, model.OrderNewest, 450_000},
		{"three tiers, no bookkeeping", hypergraph.NodeFilter{Tiers: []string{"task", "session", "longterm"},
			NotSubtypes: hypergraph.Recurse().Bookkeeping}, model.OrderNewest, 800_000},
	} {
		b.Run(strings.ReplaceAll(c.name, " ", "_"), func(b *testing.B) {
			l := hypergraph.Listing{Filter: c.filter, Order: c.order, Limit: 1000}
			for range c.depth / l.Limit {
				p, err := s.ListNodes(ctx, l)
				if err != nil {
					b.Fatal(err)
				}
				l.Cursor = p.Next
			}
			first := hypergraph.Listing{Filter: c.filter, Order: c.order, Limit: 100}
			deep := first
			deep.Cursor = l.Cursor
			page := func(l hypergraph.Listing) func() error {
				return func() error {
					_, err := s.ListNodes(ctx, l)
					return err
				}
			}
			for b.Loop() {
				one := median(b, 41, page(first))
				far := median(b, 41, page(deep))
				b.ReportMetric(float64(one.Microseconds()), "page1-µs")
				b.ReportMetric(float64(far.Microseconds()), "deep-µs")
				b.ReportMetric(float64(far)/float64(one), "deep/page1")
			}
		})
	}
}

// BenchmarkRecall compares a search with the plain statement that ranks every match, and reports how
// many of the plain answer's twenty it finds.
func BenchmarkRecall(b *testing.B) {
	s := benchStore(b)
	ctx := context.Background()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(os.TempDir(), fmt.Sprintf("memdesk-bench-sqlite-%d-v3", benchRows), "store.db")+"?mode=ro")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, word := range []string{"needle", "uncommon", "everywhere", "needle everywhere", "cache memory"} {
		b.Run(strings.ReplaceAll(word, " ", "_"), func(b *testing.B) {
			var plain, ours []string
			var note string
			peer := func() error {
				var err error
				plain, err = plainSearch(ctx, db, word)
				return err
			}
			search := func() error {
				res, err := s.SearchByContent(ctx, word, hypergraph.SearchOptions{Limit: 20, IncludeArchived: true})
				ours = ours[:0]
				for _, h := range res.Hits {
					ours = append(ours, h.Node.ID)
				}
				note = res.BoundNote
				return err
			}
			for b.Loop() {
				times := 5
				if word == "needle" {
					times = 101
				}
				p, o := median(b, times, peer), median(b, times, search)
				found, err := asGood(ctx, db, word, plain, ours)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(p.Microseconds()), "plain-µs")
				b.ReportMetric(float64(o.Microseconds()), "ours-µs")
				b.ReportMetric(float64(o)/float64(p), "ours/plain")
				b.ReportMetric(float64(found)/float64(max(len(plain), 1)), "recall@20")
			}
			b.Logf("%q: %s", word, note)
		})
	}
}

// asGood counts the hits whose exact weight is at least that of the plain answer's last hit: many
// weights are equal, and their order is unspecified.
func asGood(ctx context.Context, db *sql.DB, words string, plain, ours []string) (int, error) {
	if len(plain) == 0 {
		return 0, nil
	}
	weight := func(id string) (w float64, err error) {
		err = db.QueryRowContext(ctx, `SELECT rank FROM nodes_fts WHERE nodes_fts MATCH ? AND rowid = (SELECT seq FROM nodes WHERE id = ?)`, words, id).Scan(&w)
		return w, err
	}
	last, err := weight(plain[len(plain)-1])
	if err != nil {
		return 0, err
	}
	n := 0
	for _, id := range ours {
		w, err := weight(id)
		if err != nil {
			return 0, err
		}
		if w <= last-1e-6*last {
			n++
		}
	}
	return n, nil
}

// plainSearch is the peer: it ranks all matches, joins and cuts.
func plainSearch(ctx context.Context, db *sql.DB, words string) ([]string, error) {
	rows, err := db.QueryContext(ctx, `SELECT n.id, n.type, n.subtype, n.content, n.tier, n.confidence,
		n.provenance, n.metadata, n.subject_id, n.created_at, n.updated_at, n.access_count, n.row_version FROM nodes_fts JOIN nodes n ON n.seq = nodes_fts.rowid
		WHERE nodes_fts MATCH ? ORDER BY rank LIMIT 20`, words)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var n hypergraph.Node
		var created, updated int64
		if err := rows.Scan(&n.ID, &n.Type, &n.Subtype, &n.Content, &n.Tier, &n.Confidence, &n.Provenance, &n.Metadata, &n.SubjectID,
			&created, &updated, &n.AccessCount, &n.RowVersion); err != nil {
			return nil, err
		}
		n.CreatedAt, n.UpdatedAt = time.Unix(0, created), time.Unix(0, updated)
		ids = append(ids, n.ID)
	}
	return ids, rows.Err()
}
