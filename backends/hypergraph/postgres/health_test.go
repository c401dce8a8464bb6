package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"memdesk/backends/backendtest"
	"memdesk/backends/hypergraph"
	"memdesk/internal/testpg"
	"memdesk/model"
)

// TestHealthIsOfWhatTheStoreIsFor: a server that answers but cannot serve is unhealthy.
func TestHealthIsOfWhatTheStoreIsFor(t *testing.T) {
	for name, tt := range map[string]struct {
		harm  string
		kind  string
		state model.HealthState
		says  string
	}{
		"in order":      {`SELECT 1`, "", model.HealthOK, ""},
		"no index":      {`DROP INDEX memdesk.nodes_by_words`, model.FindingIndex, model.HealthDegraded, "nodes_by_words"},
		"no column":     {`ALTER TABLE memdesk.nodes RENAME COLUMN words TO words2`, model.FindingSchema, model.HealthDown, "memdesk.nodes.words is missing"},
		"other schema":  {`DELETE FROM memdesk.schema_migrations WHERE version > 1`, model.FindingSchema, model.HealthDown, ""},
		"no schema":     {`DROP SCHEMA memdesk CASCADE`, model.FindingSchema, model.HealthDown, "`memdesk create postgres=NAME`"},
		"vector gone":   {`DELETE FROM memdesk.node_embeddings WHERE node_id = 'n1'`, model.FindingCounters, model.HealthDegraded, "1 nodes"},
		"vector untold": {`UPDATE memdesk.nodes SET has_vector = NOT has_vector WHERE workspace = 'w'`, model.FindingCounters, model.HealthDegraded, "3 nodes"},
		"words gone":    {`UPDATE memdesk.nodes SET words = ''`, model.FindingIndex, model.HealthDegraded, "2 nodes are not in the index of words"},
		"of another workspace": {`INSERT INTO memdesk.nodes (workspace, id, type, has_vector, created_at, updated_at, content)
			VALUES ('v', 'n1', 'fact', true, 1, 1, 'berth nine')`, "", model.HealthOK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := testpg.DSN(t)
			db := create(t, dsn)
			for id, text := range map[string]string{"n1": "berth one", "n2": "berth two", "signs": "-- !!"} {
				must(t, db.CreateNode(t.Context(), fact(id, text)))
			}
			must(t, db.SetEmbedding(t.Context(), "n1", "m", []float32{1, 0}))
			testpg.Exec(t, dsn, tt.harm)
			defer db.Close()
			got := model.NewHealth(time.Now(), append(db.Look(t.Context()), db.Deep(t.Context())...)...)
			if got.State != tt.state || tt.kind == "" != (len(got.Findings) == 0) || tt.kind != "" && (got.Findings[0].Kind != tt.kind || !strings.Contains(got.Findings[0].Message, tt.says)) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestAnIndexThatIsGoneIsMadeAnew by the command that the finding names.
func TestAnIndexThatIsGoneIsMadeAnew(t *testing.T) {
	dsn := testpg.DSN(t)
	db := create(t, dsn)
	testpg.Exec(t, dsn, `DROP INDEX memdesk.nodes_by_words`)
	must(t, db.CreateNode(t.Context(), fact("n1", "berth one")))
	if n, err := db.Reindex(t.Context()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if got := backendtest.Examined(t, adapt(db)); got.State != model.HealthOK {
		t.Errorf("%+v", got)
	}
}

// TestALockThatIsHeld by an open transaction is a finding once it has lasted too long.
func TestALockThatIsHeld(t *testing.T) {
	dsn := testpg.DSN(t)
	s := create(t, dsn)
	other, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	defer other.Close(context.Background())
	_, err = other.Exec(t.Context(), `BEGIN; LOCK TABLE memdesk.nodes IN SHARE ROW EXCLUSIVE MODE`)
	must(t, err)
	until(t, func() bool { return len(s.LookFor(t.Context(), 0)) > 0 })
	if f := s.Look(t.Context()); len(f) != 0 {
		t.Errorf("a lock of a moment: %+v", f)
	}
}

// TestTheDeepProbeIsBounded: it must end with its context and then report nothing, and transfer no
// whole text.
func TestTheDeepProbeIsBounded(t *testing.T) {
	dsn := testpg.DSN(t)
	s := create(t, dsn)
	must(t, s.CreateNode(t.Context(), fact("n1", "berth one")))
	testpg.Exec(t, dsn, `UPDATE memdesk.nodes SET words = ''`)
	if f := s.Deep(t.Context()); len(f) != 1 {
		t.Fatalf("%+v", f)
	}
	other, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	defer other.Close(context.Background())
	_, err = other.Exec(t.Context(), `BEGIN; LOCK TABLE memdesk.nodes`) // nobody can read the rows until this connection ends
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if f := s.Deep(ctx); len(f) != 0 || ctx.Err() == nil {
		t.Errorf("%+v, %v", f, ctx.Err())
	}
}

// TestReindexBesideWriters: writers that have read, and change what they have read, stop no Reindex and lose nothing by it.
func TestReindexBesideWriters(t *testing.T) {
	t.Parallel()
	srv := testpg.New(t)
	dsn := srv.DSN("postgres", "postgres")
	db := create(t, dsn)
	must(t, second(db.CreateNodes(t.Context(), func(yield func(hypergraph.Node) bool) {
		for i := range 5000 {
			if !yield(fact(fmt.Sprintf("n%05d", i), fmt.Sprintf("common word%d other%d", i/2, i%777))) {
				return
			}
		}
	})))
	ctx, stop := context.WithCancel(t.Context())
	wrote := make(chan error)
	for w := range 4 {
		go func() {
			var err error
			for i := 0; ctx.Err() == nil && err == nil; i++ {
				err = db.WithTx(t.Context(), func(tx hypergraph.Ops) error {
					if _, err := tx.SearchByContent(t.Context(), "common", hypergraph.SearchOptions{Limit: 1}); err != nil {
						return err
					}
					return tx.UpdateNode(t.Context(), fact(fmt.Sprintf("n%05d", w*1000+i%1000), "common changed"))
				})
			}
			wrote <- err
		}()
	}
	for range 3 {
		if n, err := db.Reindex(t.Context()); n != 5000 || err != nil {
			t.Errorf("%d nodes, %v", n, err)
		}
	}
	stop()
	for range 4 {
		must(t, <-wrote)
	}
	if found := db.Look(t.Context()); len(found) > 0 {
		t.Errorf("after it: %+v", found)
	}
	db.Close()
	if n := testpg.Value(t, dsn, `SELECT deadlocks::text FROM pg_stat_database WHERE datname = current_database()`); n != "0" {
		t.Errorf("%s deadlocks", n)
	}
}

// TestReindexTwiceAtOnce: the index is whole afterwards, and no run claims what it has not done. One that did not end is in no
// way.
func TestReindexTwiceAtOnce(t *testing.T) {
	t.Parallel()
	dsn := testpg.DSN(t)
	db := create(t, dsn)
	must(t, db.CreateNode(t.Context(), fact("n1", "berth one")))
	testpg.Exec(t, dsn, `CREATE INDEX nodes_by_words_anew ON memdesk.nodes (id)`)
	done := make(chan error)
	for range 4 {
		go func() { done <- second(db.Reindex(t.Context())) }()
	}
	well := 0
	for range 4 {
		if err := <-done; err == nil {
			well++
		} else if !errors.Is(err, model.Locked) {
			t.Error(err)
		}
	}
	if found := db.Look(t.Context()); well == 0 || len(found) > 0 {
		t.Errorf("%d of 4 ended well: %+v", well, found)
	}
	if how := testpg.Value(t, dsn, `SELECT string_agg(indexdef, ' ') FROM pg_indexes WHERE indexname LIKE 'nodes_by_words%'`); !strings.HasSuffix(how, "USING gin (words)") {
		t.Error(how)
	}
}
