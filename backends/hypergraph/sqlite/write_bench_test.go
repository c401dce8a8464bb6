package sqlite_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
)

// BenchmarkWrites compares a bulk load, a change and a removal of nodes with the same statements on a
// plain table of id and content, in WAL mode with a sync per commit.
func BenchmarkWrites(b *testing.B) {
	const loaded, changed = 20_000, 400
	ctx := b.Context()
	id := func(i int) string { return fmt.Sprintf("n%08d", i) }
	text := func(i, round int) string {
		return fmt.Sprintf("the planner retries broker %d with partial pages, round %d", i, round)
	}
	var ours, plain [3]time.Duration
	timed := func(into *time.Duration, fn func() error) {
		start := time.Now()
		if err := fn(); err != nil {
			b.Fatal(err)
		}
		*into += time.Since(start)
	}
	for range b.N {
		dir := b.TempDir()
		s, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "store.db"), Create: true})
		if err != nil {
			b.Fatal(err)
		}
		db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "plain.db")+"?_journal_mode=WAL&_synchronous=FULL&_txlock=immediate")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := db.Exec(`CREATE TABLE nodes (id TEXT PRIMARY KEY, content TEXT)`); err != nil {
			b.Fatal(err)
		}
		timed(&ours[0], func() error {
			_, err := s.CreateNodes(ctx, func(yield func(hypergraph.Node) bool) {
				for i := range loaded {
					if !yield(hypergraph.Node{ID: id(i), Type: "fact", Tier: "task", Confidence: 1, Content: text(i, 0)}) {
						return
					}
				}
			})
			return err
		})
		timed(&plain[0], func() error {
			tx, err := db.Begin()
			if err != nil {
				return err
			}
			stmt, err := tx.Prepare(`INSERT INTO nodes VALUES (?, ?)`)
			if err != nil {
				return err
			}
			for i := range loaded {
				if _, err := stmt.Exec(id(i), text(i, 0)); err != nil {
					return err
				}
			}
			return tx.Commit()
		})
		timed(&ours[1], func() error {
			for i := range changed {
				if err := s.UpdateNode(ctx, hypergraph.Node{ID: id(i), Type: "fact", Tier: "task", Confidence: 1, Content: text(i, 1)}); err != nil {
					return err
				}
			}
			return nil
		})
		timed(&plain[1], func() error {
			for i := range changed {
				if _, err := db.Exec(`UPDATE nodes SET content = ? WHERE id = ?`, text(i, 1), id(i)); err != nil {
					return err
				}
			}
			return nil
		})
		timed(&ours[2], func() error {
			for i := range changed {
				if err := s.DeleteNode(ctx, id(i)); err != nil {
					return err
				}
			}
			return nil
		})
		timed(&plain[2], func() error {
			for i := range changed {
				if _, err := db.Exec(`DELETE FROM nodes WHERE id = ?`, id(i)); err != nil {
					return err
				}
			}
			return nil
		})
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
	for i, what := range []string{"load", "update", "delete"} {
		b.ReportMetric(float64(ours[i])/float64(plain[i]), "x-plain-"+what)
		b.ReportMetric(float64(ours[i].Milliseconds())/float64(b.N), "ms-"+what)
	}
}
