package sqlite

import (
	"bytes"
	"database/sql/driver"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"

	"memdesk/backends/hypergraph"
	"memdesk/backends/internal/litefile"
	"memdesk/model"
)

func openMemory(t *testing.T) *Store {
	t.Helper()
	s, err := Memory(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func fact(id, content string) hypergraph.Node {
	return hypergraph.Node{ID: id, Type: "fact", Tier: "task", Content: content, Confidence: 1}
}

// onWriter runs fn on the connection for changes.
func onWriter(t *testing.T, s *Store, fn func(*sqlite3.SQLiteConn) error) error {
	t.Helper()
	conn, err := s.file.Writer().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.Raw(func(c any) error { return fn(c.(*sqlite3.SQLiteConn)) })
}

// TestMemoryKeepsNothingOfARemovedItem: no page, free or used, and no word of the index may hold the text of an item that
// was forgotten or edited, once the medium is scrubbed, and the others must stay.
func TestMemoryKeepsNothingOfARemovedItem(t *testing.T) {
	s := openMemory(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	vector := []float32{0.125, 0.0625, 7.5}
	for i := range 400 {
		id, whose := fmt.Sprintf("n%03d", i), "marenholt"
		if i%2 == 1 {
			whose = "bystander"
		}
		n := fact(id, fmt.Sprintf("note %d of %s%d about routers %s", i, whose, i, bytes.Repeat([]byte(whose+" "), i)))
		n.Metadata, n.SubjectID = fmt.Sprintf(`{"by":"%s"}`, whose), whose
		must(s.CreateNode(t.Context(), n))
		must(s.SetEmbedding(t.Context(), id, "model of "+whose, vector))
	}
	for i := 0; i < 400; i += 2 {
		e := hypergraph.Edge{ID: fmt.Sprint("marenholt", i), Type: "relation", Label: "marenholt knows", Weight: 1, Members: []hypergraph.Membership{
			{NodeID: fmt.Sprintf("n%03d", i), Role: "subject"}, {NodeID: "n001", Role: "object"}}}
		must(s.CreateEdge(t.Context(), e))
	}
	if _, err := s.SearchByContent(t.Context(), "marenholt", hypergraph.SearchOptions{}); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < 400; i += 4 {
		must(s.DeleteNode(t.Context(), fmt.Sprintf("n%03d", i)))
	}
	for i := 2; i < 400; i += 4 {
		n := fact(fmt.Sprintf("n%03d", i), "quiet")
		must(s.UpdateNode(t.Context(), n))
		must(s.DeleteEdge(t.Context(), fmt.Sprint("marenholt", i)))
	}
	if _, err := s.Maintainer().Scrub(t.Context(), model.ScrubRequest{}); err != nil {
		t.Fatal(err)
	}
	must(onWriter(t, s, func(c *sqlite3.SQLiteConn) error {
		pages, err := c.Serialize("main")
		if n := bytes.Count(pages, []byte("maren")); n > 0 {
			t.Errorf("%d places of %d bytes hold what was removed", n, len(pages))
		}
		if n := bytes.Count(pages, []byte("bystander")); n < 400 {
			t.Errorf("the others are in %d places", n)
		}
		return err
	}))
	if r, err := s.SearchByContent(t.Context(), "bystander", hypergraph.SearchOptions{}); err != nil || r.Total.N != 200 {
		t.Errorf("%d of the others are found, %v", r.Total.N, err)
	}
}

// TestMemoryBoundsNoVector: no length of a vector is published for it.
func TestMemoryBoundsNoVector(t *testing.T) {
	s := openMemory(t)
	v := make([]float32, 3*maxVectorDimensions)
	v[0] = 1
	if err := s.CreateNode(t.Context(), fact("n", "x")); err != nil {
		t.Fatal(err)
	}
	if err := s.SetEmbedding(t.Context(), "n", "m", v); err != nil {
		t.Fatal(err)
	}
	r, err := s.SearchByEmbedding(t.Context(), v, hypergraph.SearchOptions{})
	if err != nil || len(r.Hits) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestMemoryOutlivesAConnection: the pools may close any connection, and a database in memory is gone with its last one.
func TestMemoryOutlivesAConnection(t *testing.T) {
	s := openMemory(t)
	if err := s.CreateNode(t.Context(), fact("n", "x")); err != nil {
		t.Fatal(err)
	}
	_ = onWriter(t, s, func(*sqlite3.SQLiteConn) error { return driver.ErrBadConn })
	s.file.Readers().SetMaxIdleConns(0)
	if _, err := s.GetNode(t.Context(), "n"); err != nil {
		t.Fatal(err)
	}
	other := openMemory(t)
	if _, err := other.GetNode(t.Context(), "n"); model.KindOf(err) != model.NotFound {
		t.Errorf("a second store has the first one's node: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); model.KindOf(err) != model.Unavailable {
		t.Errorf("after Close: %v", err)
	}
	if err := s.CreateNode(t.Context(), fact("m", "x")); model.KindOf(err) != model.Unavailable {
		t.Errorf("after Close: %v", err)
	}
}

// TestMemoryNeverSaysLocked: readers and writers take turns, so that none meets the lock of another, however long that one
// works.
func TestMemoryNeverSaysLocked(t *testing.T) {
	s := openMemory(t)
	ctx := litefile.Impatient(t.Context()) // a lock is not waited for
	for i := range 300 {
		if err := s.CreateNode(ctx, fact(fmt.Sprint("n", i), "needle in hay")); err != nil {
			t.Fatal(err)
		}
		if err := s.SetEmbedding(ctx, fmt.Sprint("n", i), "m", []float32{1, float32(i)}); err != nil {
			t.Fatal(err)
		}
	}
	only := func(_ any, err error) error { return err }
	steps := []func(i int) error{
		func(i int) error { return only(s.SearchByContent(ctx, "needle", hypergraph.SearchOptions{Limit: 3})) },
		func(i int) error {
			return only(s.SearchByEmbedding(ctx, []float32{1, 0}, hypergraph.SearchOptions{Limit: 3}))
		},
		func(i int) error {
			return only(s.ListNodes(ctx, hypergraph.Listing{Order: model.OrderNewest, Limit: 100, Text: "hay"}))
		},
		func(i int) error {
			for n, err := range s.AllNodes(ctx, hypergraph.NodeFilter{}) { // a change while it is read
				if err != nil {
					return err
				}
				if n.ID == "n7" {
					return s.SetEmbedding(ctx, "n7", "m", []float32{1, float32(i)})
				}
			}
			return nil
		},
		func(i int) error { return only(s.GetConnected(ctx, "n1", hypergraph.TraversalOptions{MaxDepth: 2})) },
		func(i int) error {
			return s.CreateEdge(ctx, hypergraph.Edge{ID: fmt.Sprint("e", i), Type: "relation", Weight: 1, Members: []hypergraph.Membership{
				{NodeID: "n1", Role: "subject"}, {NodeID: fmt.Sprint("n", 2+i), Role: "object"}}})
		},
		func(i int) error { return s.CreateNode(ctx, fact(fmt.Sprint("w", i), "needle")) },
		func(i int) error {
			return s.WithTx(ctx, func(tx hypergraph.Ops) error {
				n, err := tx.GetNode(ctx, "n3")
				if err != nil {
					return err
				}
				n.Content += " more"
				err = tx.UpdateNode(ctx, n)
				time.Sleep(10 * time.Millisecond) // it holds its locks
				return err
			})
		},
	}
	var wg sync.WaitGroup
	for k, step := range steps {
		wg.Go(func() {
			for i := range 30 {
				if err := step(i); err != nil {
					t.Errorf("step %d: %v", k, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestMemoryHasNoTemporaryFile: a sort of more than SQLite keeps for one must not go to a file.
func TestMemoryHasNoTemporaryFile(t *testing.T) {
	s := openMemory(t)
	err := s.view(t.Context(), "look", func(q *query) error {
		var where int
		if _, err := q.One(`PRAGMA temp_store`, nil, &where); err != nil || where != 2 {
			t.Errorf("a reader's temp_store is %d, %v; want 2, memory", where, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.change(t.Context(), "look", func(q *query) error {
		var where, overwrites int
		if _, err := q.One(`PRAGMA temp_store`, nil, &where); err != nil || where != 2 {
			t.Errorf("the writer's temp_store is %d, %v; want 2, memory", where, err)
		}
		_, err := q.One(`PRAGMA secure_delete`, nil, &overwrites)
		if overwrites != 1 {
			t.Errorf("secure_delete is %d", overwrites)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
