package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/model"
)

func TestTransactionRollsBack(t *testing.T) {
	eachSchema(t, func(t *testing.T, s *sqlite.Store) {
		ctx := context.Background()
		must(t, s.CreateNode(ctx, fact("kept", "before")))
		write := func(o hypergraph.Ops) {
			must(t, o.CreateNode(ctx, fact("new", "x")))
			must(t, o.UpdateNode(ctx, fact("kept", "after")))
			must(t, o.CreateEdge(ctx, hypergraph.Edge{ID: "e", Type: "relation"}))
			if n, err := o.GetNode(ctx, "kept"); err != nil || n.Content != "after" {
				t.Error("a transaction does not see its own writes", err)
			}
			if n, err := s.GetNode(ctx, "kept"); err == nil && n.Content != "before" {
				t.Error("others see an uncommitted write")
			}
		}
		unchanged := func(what string) {
			t.Helper()
			n, err := s.GetNode(ctx, "kept")
			if err != nil || n.Content != "before" {
				t.Errorf("%s: %+v %v", what, n, err)
			}
			if _, err := s.GetNode(ctx, "new"); !errors.Is(err, model.NotFound) {
				t.Errorf("%s: %v", what, err)
			}
			checkCounters(t, s)
		}
		wrong := errors.New("wrong")
		if err := s.WithTx(ctx, func(o hypergraph.Ops) error { write(o); return wrong }); !errors.Is(err, wrong) {
			t.Error(err)
		}
		unchanged("error")
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			_ = s.WithTx(ctx, func(o hypergraph.Ops) error { write(o); panic("out") })
		}()
		unchanged("panic")
		cancelled, cancel := context.WithCancel(ctx)
		if err := s.WithTx(cancelled, func(o hypergraph.Ops) error { write(o); cancel(); return nil }); !errors.Is(err, model.Timeout) {
			t.Error(err)
		}
		unchanged("cancel")
		must(t, s.WithTx(ctx, func(o hypergraph.Ops) error { write(o); return nil }))
		if n, err := s.GetNode(ctx, "kept"); err != nil || n.Content != "after" {
			t.Error("nothing was committed", err)
		}
		checkCounters(t, s)
	})
}

// TestFailedStepLeavesNothingOfItself: the function may continue after an error.
func TestFailedStepLeavesNothingOfItself(t *testing.T) {
	eachSchema(t, func(t *testing.T, s *sqlite.Store) {
		ctx := context.Background()
		must(t, s.WithTx(ctx, func(o hypergraph.Ops) error {
			must(t, o.CreateNode(ctx, fact("a", "x")))
			lost := hypergraph.Edge{ID: "lost", Type: "relation", Members: []hypergraph.Membership{{NodeID: "a", Role: "subject"}, {NodeID: "nobody", Role: "object"}}}
			if err := o.CreateEdge(ctx, lost); !errors.Is(err, model.Conflict) {
				t.Error(err)
			}
			return o.CreateNode(ctx, fact("b", "x"))
		}))
		if _, err := s.GetEdge(ctx, "lost"); !errors.Is(err, model.NotFound) {
			t.Error(err)
		}
		if _, err := s.GetNode(ctx, "b"); err != nil {
			t.Error(err)
		}
		checkCounters(t, s)
	})
}

// TestBrokenTransactionCommitsNothing: SQLite may have rolled back by itself after an interrupted
// statement, so later statements must not run outside the transaction.
func TestBrokenTransactionCommitsNothing(t *testing.T) {
	s, _, _ := newStore(t)
	ctx := context.Background()
	gone, cancel := context.WithCancel(ctx)
	cancel()
	err := s.WithTx(ctx, func(o hypergraph.Ops) error {
		must(t, o.CreateNode(ctx, fact("a", "x")))
		if err := o.CreateNode(gone, fact("b", "x")); !errors.Is(err, model.Timeout) {
			t.Error(err)
		}
		if err := o.CreateNode(ctx, fact("c", "x")); !errors.Is(err, model.Timeout) {
			t.Error("a broken transaction accepts more", err)
		}
		if err := o.RemoveMembership(ctx, "no", "body"); !errors.Is(err, model.Timeout) {
			t.Error("a broken transaction accepts more", err)
		}
		return nil
	})
	if !errors.Is(err, model.Timeout) {
		t.Error(err)
	}
	if ids := listIDs(t, s, hypergraph.Listing{Limit: 10}); len(ids) != 0 {
		t.Error(ids)
	}
}

func TestCancelInMidWrite(t *testing.T) {
	s, _, path := newStore(t)
	ctx, cancel := context.WithCancel(context.Background())
	n, err := s.CreateNodes(ctx, func(yield func(hypergraph.Node) bool) {
		for i := range 50000 {
			if i == 30000 {
				cancel()
			}
			if !yield(fact(fmt.Sprint("n", i), "words and words")) {
				return
			}
		}
	})
	if !errors.Is(err, model.Timeout) || n != 20000 {
		t.Error(n, err)
	}
	p, err := s.ListNodes(context.Background(), hypergraph.Listing{Limit: 1})
	if err != nil || p.Total.N != 20000 {
		t.Error(p.Total, err)
	}
	if got := peek(t, path, `SELECT count(*) FROM nodes`); got[0] != "20000" {
		t.Error(got)
	}
}

func TestBulkStopsAtTheFirstBadNode(t *testing.T) {
	s, _, _ := newStore(t)
	n, err := s.CreateNodes(context.Background(), func(yield func(hypergraph.Node) bool) {
		_ = yield(fact("good", "x")) && yield(fact("good", "again"))
	})
	if n != 0 || !errors.Is(err, model.AlreadyExists) {
		t.Error(n, err)
	}
	checkCounters(t, s)
}

// TestNoLostUpdate adds to one node from two handles and many goroutines, each reading and writing in
// one transaction, while others read.
func TestNoLostUpdate(t *testing.T) {
	paths := map[string]func(*testing.T) string{
		"own": func(t *testing.T) string {
			s, _, path := newStore(t)
			must(t, s.CreateNode(context.Background(), fact("counter", "0")))
			return path
		},
		"recurse": func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "rlm.db")
			writeRecurse(t, path, `INSERT INTO nodes (id, type, content) VALUES ('counter', 'fact', '0')`)
			return path
		},
	}
	for name, path := range paths {
		t.Run(name, func(t *testing.T) {
			path := path(t)
			ctx := context.Background()
			const handles, writers, adds = 2, 3, 8
			var wg sync.WaitGroup
			for range handles {
				s, err := sqlite.Open(ctx, sqlite.Config{Path: path})
				must(t, err)
				defer s.Close()
				for range writers {
					wg.Go(func() {
						for range adds {
							if err := s.WithTx(ctx, increment); err != nil {
								t.Error(err)
							}
						}
					})
					wg.Go(func() {
						for range adds {
							if _, err := s.GetNode(ctx, "counter"); err != nil {
								t.Error(err)
							}
							if _, err := s.ListNodes(ctx, hypergraph.Listing{Limit: 5}); err != nil {
								t.Error(err)
							}
						}
					})
				}
			}
			wg.Wait()
			if got := peek(t, path, `SELECT content FROM nodes WHERE id = 'counter'`); got[0] != fmt.Sprint(handles*writers*adds) {
				t.Error(got)
			}
		})
	}
}

func increment(o hypergraph.Ops) error {
	n, err := o.GetNode(context.Background(), "counter")
	if err != nil {
		return err
	}
	i, err := strconv.Atoi(n.Content)
	if err != nil {
		return err
	}
	n.Content = strconv.Itoa(i + 1)
	return o.UpdateNode(context.Background(), n)
}

// TestCommitWaitsForReaders: in a file with a rollback journal a reader blocks a commit; if the reader
// stays, nothing is half written.
func TestCommitWaitsForReaders(t *testing.T) {
	s, path := newRecurse(t)
	db, err := sql.Open("sqlite3", path)
	must(t, err)
	defer db.Close()
	reader, err := db.Conn(context.Background())
	must(t, err)
	defer reader.Close()
	_, err = reader.ExecContext(context.Background(), `BEGIN; SELECT count(*) FROM nodes`)
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := s.CreateNode(ctx, fact("new", "x")); !errors.Is(err, model.Locked) {
		t.Error(err)
	}
	_, err = reader.ExecContext(context.Background(), `ROLLBACK`)
	must(t, err)
	if _, err := s.GetNode(context.Background(), "new"); !errors.Is(err, model.NotFound) {
		t.Error(err)
	}
	must(t, s.CreateNode(context.Background(), fact("new", "x")))
}

// A store's first write opens a connection. It must wait for another program's lock as later writes do:
// until the caller's context ends.
func TestFirstWriteWaitsForTheLock(t *testing.T) {
	s, path := newRecurse(t)
	db, err := sql.Open("sqlite3", path)
	must(t, err)
	defer db.Close()
	other, err := db.Conn(context.Background())
	must(t, err)
	defer other.Close()
	_, err = other.ExecContext(context.Background(), `BEGIN EXCLUSIVE`)
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	if err := s.CreateNode(ctx, fact("new", "x")); !errors.Is(err, model.Locked) || ctx.Err() == nil {
		t.Errorf("gave up with %v while the context had time: %v", err, ctx.Err() == nil)
	}
	_, err = other.ExecContext(context.Background(), `ROLLBACK`)
	must(t, err)
	must(t, s.CreateNode(context.Background(), fact("new", "x")))
}

func TestSearchCanBeInterrupted(t *testing.T) {
	s, _, _ := newStore(t)
	_, err := s.CreateNodes(context.Background(), func(yield func(hypergraph.Node) bool) {
		for i := range 20000 {
			if !yield(fact(fmt.Sprint("n", i), "words and words")) {
				return
			}
		}
	})
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Microsecond)
	defer cancel()
	if _, err := s.SearchByContent(ctx, "ords", hypergraph.SearchOptions{}); !errors.Is(err, model.Timeout) {
		t.Error(err)
	}
	must(t, s.CreateNode(context.Background(), fact("last", "unlike the others")))
	res, err := s.SearchByContent(context.Background(), "nlik", hypergraph.SearchOptions{})
	must(t, err)
	if len(res.Hits) != 1 || !res.Total.AtLeast || res.BoundNote != "no word of the index matches: looked for the text in the newest 20,000 of 20,001 nodes" {
		t.Errorf("%d hits, %+v, %q", len(res.Hits), res.Total, res.BoundNote)
	}
}

func TestClosedStore(t *testing.T) {
	s, _, _ := newStore(t)
	must(t, s.Close())
	must(t, s.Close())
	if err := s.Ping(context.Background()); err == nil {
		t.Error("a closed store answers")
	}
}
