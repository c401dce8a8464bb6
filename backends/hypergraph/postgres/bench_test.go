package postgres_test

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/mattn/go-sqlite3"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/postgres"
	"memdesk/internal/testpg"
	"memdesk/model"
)

// durable opens a store on a cluster that survives a loss of power, as the peers do.
func durable(b *testing.B, conns int) *postgres.Store {
	b.Helper()
	srv := testpg.New(b)
	srv.Stop()
	if err := srv.Start("-c", "fsync=on", "-c", "full_page_writes=on", "-c", "shared_buffers=512MB"); err != nil {
		b.Fatal(err)
	}
	s, err := postgres.Create(b.Context(), postgres.Config{DSN: model.NewSecret(srv.DSN("postgres", "postgres")), Workspace: "w", MaxConns: conns})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

const (
	clients  = 32
	heldOpen = 5 * time.Millisecond
	perPeer  = 4 * time.Second
	rows     = 10_000
)

func rowID(i int) string { return fmt.Sprintf("n%05d", i) }

// rate runs one writer per client for a while and returns the commits per second.
func rate(b *testing.B, write func(id string) error) float64 {
	b.Helper()
	var done atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for c := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(c)))
			for time.Since(start) < perPeer {
				if err := write(rowID(r.IntN(rows))); err != nil {
					b.Errorf("a writer: %v", err)
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(done.Load()) / time.Since(start).Seconds()
}

// BenchmarkWriters has 32 clients commit transactions that read an item, keep it open for a reviewer's
// 5 ms, and write it; then the same without the wait. The peers are SQLite with a connection per
// client, and SQLite with one writer behind a queue, both with WAL and a sync per commit.
func BenchmarkWriters(b *testing.B) {
	pg := durable(b, clients+4)
	if _, err := pg.CreateNodes(b.Context(), func(yield func(hypergraph.Node) bool) {
		for i := range rows {
			if !yield(fact(rowID(i), strings.Repeat("some words to review ", 8))) {
				return
			}
		}
	}); err != nil {
		b.Fatal(err)
	}
	plain := peer(b)
	queue := make(chan func(), clients)
	go func() { // ends with the queue
		for fn := range queue {
			fn()
		}
	}()
	defer close(queue)
	for range b.N {
		for what, wait := range map[string]time.Duration{"held 5 ms": heldOpen, "short": 0} {
			ours := rate(b, func(id string) error {
				return pg.WithTx(b.Context(), func(tx hypergraph.Ops) error {
					n, err := tx.GetNode(b.Context(), id)
					if err != nil {
						return err
					}
					time.Sleep(wait)
					n.Content = fmt.Sprintf("reviewed %d: %s", rand.Uint32(), n.Content[max(0, len(n.Content)-150):])
					return tx.UpdateNode(b.Context(), n)
				})
			})
			each := rate(b, func(id string) error { return reviewed(plain, id, wait) })
			queued := rate(b, func(id string) error {
				done := make(chan error)
				queue <- func() { done <- reviewed(plain, id, wait) }
				return <-done
			})
			b.Logf("%s: PostgreSQL %.0f/s, plain SQLite %.0f/s (%.1fx), queued single writer %.0f/s (%.1fx)", what, ours, each, ours/each, queued, ours/queued)
			if wait > 0 {
				b.ReportMetric(ours/each, "x-plain")
				b.ReportMetric(ours/queued, "x-queued")
			}
		}
	}
}

// peer is a plain SQLite table with as many rows.
func peer(b *testing.B) *sql.DB {
	b.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(b.TempDir(), "peer.db")+"?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=60000&_txlock=immediate")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(clients)
	db.SetMaxIdleConns(clients)
	tx, err := db.Begin()
	if err != nil {
		b.Fatal(err)
	}
	if _, err := tx.Exec(`CREATE TABLE nodes (id TEXT PRIMARY KEY, content TEXT)`); err != nil {
		b.Fatal(err)
	}
	for i := range rows {
		if _, err := tx.Exec(`INSERT INTO nodes VALUES (?, ?)`, rowID(i), strings.Repeat("some words to review ", 8)); err != nil {
			b.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	return db
}

func reviewed(db *sql.DB, id string, wait time.Duration) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var content string
	if err := tx.QueryRow(`SELECT content FROM nodes WHERE id = ?`, id).Scan(&content); err != nil {
		return err
	}
	time.Sleep(wait)
	if _, err := tx.Exec(`UPDATE nodes SET content = ? WHERE id = ?`, fmt.Sprintf("reviewed %d: %s", rand.Uint32(), content[max(0, len(content)-150):]), id); err != nil {
		return err
	}
	return tx.Commit()
}

// BenchmarkLoad compares COPY with a statement per node, first each in its own transaction, then all in one.
func BenchmarkLoad(b *testing.B) {
	s := durable(b, 4)
	seq := 0
	nodes := func(n int) func(func(hypergraph.Node) bool) {
		return func(yield func(hypergraph.Node) bool) {
			for range n {
				seq++
				if !yield(fact(fmt.Sprintf("load-%08d", seq), benchText(seq))) {
					return
				}
			}
		}
	}
	perSecond := func(n int, load func()) float64 {
		start := time.Now()
		load()
		return float64(n) / time.Since(start).Seconds()
	}
	for range b.N {
		copied := perSecond(60_000, func() { must(b, second(s.CreateNodes(b.Context(), nodes(60_000)))) })
		single := perSecond(2000, func() {
			for n := range nodes(2000) {
				must(b, s.CreateNode(b.Context(), n))
			}
		})
		oneTx := perSecond(4000, func() {
			must(b, s.WithTx(b.Context(), func(tx hypergraph.Ops) error {
				for n := range nodes(4000) {
					if err := tx.CreateNode(b.Context(), n); err != nil {
						return err
					}
				}
				return nil
			}))
		})
		b.Logf("COPY %.0f rows/s, single inserts %.0f rows/s (%.0fx), inserts in one transaction %.0f rows/s (%.1fx)", copied, single, copied/single, oneTx, copied/oneTx)
		b.ReportMetric(copied/single, "x-single")
	}
}

func second[A any](_ A, err error) error { return err }

var benchWords = strings.Fields(`cache loader planner broker exporter scheduler merges splits orders prints measures retries
	small large wide nested empty partial files rows tables calls tokens writes reads queue index page cursor memory agent`)

// benchText contains one word that all texts share, one of every hundredth and one of every
// fifty-thousandth text.
func benchText(i int) string {
	r := rand.New(rand.NewPCG(1, uint64(i)))
	text := []string{"everywhere"}
	for range 10 + r.IntN(30) {
		text = append(text, benchWords[r.IntN(len(benchWords))])
	}
	if i%100 == 7 {
		text = append(text, "uncommon")
	}
	if i%20000 == 11 {
		text = append(text, "needle")
	}
	return strings.Join(text, " ")
}

// BenchmarkRecall compares the two-stage search with one that ranks every match and takes twenty.
func BenchmarkRecall(b *testing.B) {
	const size = 300_000
	srv := testpg.New(b)
	dsn := srv.DSN("postgres", "postgres")
	s, err := postgres.Create(b.Context(), postgres.Config{DSN: model.NewSecret(dsn), Workspace: "w"})
	must(b, err)
	defer s.Close()
	begin := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	must(b, second(s.CreateNodes(b.Context(), func(yield func(hypergraph.Node) bool) {
		for i := range size {
			n := fact(fmt.Sprintf("%08x-%d", uint32(i)*2654435761, i), benchText(i))
			n.CreatedAt = begin.Add(time.Duration(i) * time.Second)
			if !yield(n) {
				return
			}
		}
	})))
	testpg.Exec(b, dsn, `VACUUM ANALYZE memdesk.nodes`)
	conn, err := pgx.Connect(b.Context(), dsn)
	must(b, err)
	defer conn.Close(context.Background())
	for _, word := range []string{"needle", "uncommon", "planner", "everywhere"} {
		b.Run(word, func(b *testing.B) {
			var ours, theirs time.Duration
			for range b.N {
				start := time.Now()
				res, err := s.SearchByContent(b.Context(), word, hypergraph.SearchOptions{Limit: 20})
				must(b, err)
				ours += time.Since(start)
				if len(res.Hits) == 0 {
					b.Fatal("no hits")
				}
				start = time.Now()
				rows, err := conn.Query(b.Context(), `SELECT content, ts_rank(words, q, 1) AS r FROM memdesk.nodes, to_tsquery('simple', $1) q
					WHERE workspace = 'w' AND words @@ q ORDER BY r DESC LIMIT 20`, word)
				must(b, err)
				for rows.Next() {
				}
				must(b, rows.Err())
				theirs += time.Since(start)
			}
			b.ReportMetric(float64(ours.Microseconds())/float64(b.N)/1000, "ms")
			b.ReportMetric(float64(theirs.Microseconds())/float64(b.N)/1000, "ms-rank-all")
			b.ReportMetric(float64(ours)/float64(theirs), "x-rank-all")
		})
	}
}

// BenchmarkSimilar compares every one of 100,000 vectors of 384 dimensions. The floor is the time in
// which all processors read as many bytes.
func BenchmarkSimilar(b *testing.B) {
	const size, dimensions = 100_000, 384
	srv := testpg.New(b)
	dsn := srv.DSN("postgres", "postgres")
	s, err := postgres.Create(b.Context(), postgres.Config{DSN: model.NewSecret(dsn), Workspace: "w"})
	must(b, err)
	defer s.Close()
	must(b, second(s.CreateNodes(b.Context(), func(yield func(hypergraph.Node) bool) {
		for i := range size {
			if !yield(fact(fmt.Sprintf("v%06d", i), "x")) {
				return
			}
		}
	})))
	conn, err := pgx.Connect(b.Context(), dsn)
	must(b, err)
	defer conn.Close(context.Background())
	r := rand.New(rand.NewPCG(3, 4))
	raw := make([]byte, 4*dimensions)
	_, err = conn.CopyFrom(b.Context(), pgx.Identifier{"memdesk", "node_embeddings"},
		[]string{"workspace", "node_id", "embedding", "model", "dimensions", "created_at", "updated_at"},
		pgx.CopyFromSlice(size, func(i int) ([]any, error) {
			for d := range dimensions {
				binary.LittleEndian.PutUint32(raw[4*d:], math.Float32bits(float32(r.NormFloat64())))
			}
			return []any{"w", fmt.Sprintf("v%06d", i), raw, "m", dimensions, 1, 1}, nil
		}))
	must(b, err)
	testpg.Exec(b, dsn, `UPDATE memdesk.nodes SET has_vector = true`)
	testpg.Exec(b, dsn, `VACUUM ANALYZE`)
	q := make([]float32, dimensions)
	for d := range q {
		q[d] = float32(r.NormFloat64())
	}
	low := floor(size * dimensions / 2)
	best := time.Hour
	for b.Loop() {
		start := time.Now()
		must(b, second(s.SearchByEmbedding(b.Context(), q, hypergraph.SearchOptions{Limit: 20})))
		best = min(best, time.Since(start))
	}
	b.ReportMetric(float64(best)/float64(low), "x-floor") // the best of each: other programs share the machine
	b.ReportMetric(float64(low.Microseconds())/1000, "ms-floor")
}

// floor is the best time of five in which all processors read n words of 8 bytes.
func floor(n int) time.Duration {
	data := make([]uint64, n)
	for i := range data {
		data[i] = uint64(i)
	}
	best := time.Hour
	var sink atomic.Uint64
	for range 5 {
		start := time.Now()
		var wg sync.WaitGroup
		parts := runtime.GOMAXPROCS(0)
		for p := range parts {
			wg.Go(func() {
				var a, b, c, d uint64
				part := data[p*n/parts : (p+1)*n/parts]
				for len(part) >= 4 {
					a, b, c, d = a+part[0], b+part[1], c+part[2], d+part[3]
					part = part[4:]
				}
				sink.Add(a + b + c + d)
			})
		}
		wg.Wait()
		best = min(best, time.Since(start))
	}
	return best
}

// BenchmarkPartitions compares a workspace in one of eight hash partitions, beside seven others of its
// size, with the same workspace alone in plain tables.
func BenchmarkPartitions(b *testing.B) {
	const size, others, rounds = 100_000, 7, 200
	begin := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	fill := func(dsn, workspace string) *postgres.Store {
		s, err := postgres.Open(b.Context(), postgres.Config{DSN: model.NewSecret(dsn), Workspace: workspace})
		must(b, err)
		b.Cleanup(func() { _ = s.Close() })
		must(b, second(s.CreateNodes(b.Context(), func(yield func(hypergraph.Node) bool) {
			for i := range size {
				n := fact(fmt.Sprintf("%08x-%d", uint32(i)*2654435761, i), benchText(i))
				n.CreatedAt = begin.Add(time.Duration(i) * time.Second)
				if !yield(n) {
					return
				}
			}
		})))
		return s
	}
	database := func(distributed bool) (string, *postgres.Store) {
		dsn := testpg.New(b).DSN("postgres", "postgres")
		s, err := postgres.Create(b.Context(), postgres.Config{DSN: model.NewSecret(dsn), Distributed: distributed})
		must(b, err)
		must(b, s.Close())
		if distributed {
			testpg.Exec(b, dsn, strings.Replace(recipe(b), "parts constant int := 4", "parts constant int := 8", 1))
			for i := range others {
				fill(dsn, fmt.Sprint("other-", i))
			}
		}
		s = fill(dsn, "w")
		testpg.Exec(b, dsn, `VACUUM ANALYZE`)
		return dsn, s
	}
	dsn, spread := database(true)
	_, plain := database(false)
	bytes, err := strconv.ParseFloat(testpg.Value(b, dsn, fmt.Sprintf(
		`SELECT (sum(pg_total_relation_size(relid)) / %d)::bigint::text FROM pg_partition_tree('memdesk.nodes')`, size*(others+1))), 64)
	must(b, err)
	added := 0
	for _, act := range []struct {
		name string
		do   func(s *postgres.Store) error
	}{
		{"page", func(s *postgres.Store) error {
			return second(s.ListNodes(b.Context(), hypergraph.Listing{Limit: 50}))
		}},
		{"recall", func(s *postgres.Store) error {
			return second(s.SearchByContent(b.Context(), "needle", hypergraph.SearchOptions{Limit: 20}))
		}},
		{"retain", func(s *postgres.Store) error {
			added++
			return s.CreateNode(b.Context(), fact(fmt.Sprint("new-", added), benchText(added)))
		}},
	} {
		b.Run(act.name, func(b *testing.B) {
			var ours, theirs time.Duration
			for b.Loop() {
				for range rounds {
					start := time.Now()
					must(b, act.do(spread))
					ours += time.Since(start)
					start = time.Now()
					must(b, act.do(plain))
					theirs += time.Since(start)
				}
			}
			b.ReportMetric(bytes, "bytes/row") // indexes included
			b.ReportMetric(float64(ours)/float64(theirs), "x-alone")
			b.ReportMetric(float64(ours.Microseconds())/float64(b.N*rounds)/1000, "ms")
		})
	}
}
