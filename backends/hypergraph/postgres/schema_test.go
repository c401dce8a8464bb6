package postgres_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/postgres"
	"memdesk/internal/testpg"
	"memdesk/model"
)

func TestMigrateDownAndUp(t *testing.T) {
	dsn := testpg.DSN(t)
	s := create(t, dsn)
	must(t, s.CreateNode(t.Context(), fact("n", "a needle")))
	for _, to := range []int{2, 1} {
		state, err := s.Migrate(t.Context(), to)
		if err != nil || state.Current != to {
			t.Fatalf("to %d: %+v, %v", to, state, err)
		}
		if n, err := s.GetNode(t.Context(), "n"); err != nil || n.Content != "a needle" {
			t.Errorf("at %d: %+v, %v", to, n, err)
		}
		if r, err := s.SearchByContent(t.Context(), "needle", hypergraph.SearchOptions{}); err != nil || len(r.Hits) != 1 {
			t.Errorf("at %d: search finds %+v, %v", to, r.Hits, err)
		}
		wantError(t, "a write to an old schema", s.CreateNode(t.Context(), fact("m", "x")), model.PermissionDenied, "memdesk migrate")
	}
	state, err := s.Migrate(t.Context(), 3)
	if err != nil || state.Current != state.Latest || !state.Steps[2].Applied {
		t.Fatalf("up: %+v, %v", state, err)
	}
	must(t, s.CreateNode(t.Context(), fact("m", "x")))
	_, err = s.Migrate(t.Context(), 4)
	wantError(t, "a version nobody knows", err, model.InvalidInput, "no schema 4")
	if _, err := s.Migrate(t.Context(), 0); !model.IsRefusal(err) {
		t.Errorf("a migration takes items with it: %v", err)
	}
	must(t, s.DeleteNode(t.Context(), "n"))
	must(t, s.DeleteNode(t.Context(), "m"))
	if _, err := s.Migrate(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	_, err = postgres.Open(t.Context(), postgres.Config{DSN: model.NewSecret(dsn)})
	wantError(t, "after the last step down", err, model.NotFound, "no memdesk schema")
}

// TestWriteBesideAMigration: an old schema takes no writes of others while a migration of it is under way.
func TestWriteBesideAMigration(t *testing.T) {
	dsn := testpg.DSN(t)
	s := create(t, dsn)
	_, err := s.Migrate(t.Context(), 1)
	must(t, err)
	conn, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	defer conn.Close(context.Background())
	tx, err := conn.Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), `SELECT 1 FROM memdesk.schema_migrations WHERE version = 0 FOR UPDATE`)
	must(t, err)
	up := make(chan error, 1)
	go func() { _, err := s.Migrate(t.Context(), 3); up <- err }()
	for testpg.Value(t, dsn, `SELECT count(*)::text FROM pg_locks WHERE NOT granted AND transactionid IS NOT NULL`) == "0" {
		time.Sleep(5 * time.Millisecond)
	}
	wantError(t, "a write beside a migration", s.CreateNode(t.Context(), fact("m", "x")), model.PermissionDenied, "memdesk migrate")
	must(t, tx.Rollback(t.Context()))
	must(t, <-up)
	must(t, s.CreateNode(t.Context(), fact("m", "x")))
}

func TestNewerSchemaIsLeftAlone(t *testing.T) {
	dsn := testpg.DSN(t)
	create(t, dsn)
	testpg.Exec(t, dsn, `INSERT INTO memdesk.schema_migrations VALUES (99, 'from the future', 0)`)
	_, err := postgres.Open(t.Context(), postgres.Config{DSN: model.NewSecret(dsn)})
	wantError(t, "schema 99", err, model.Unsupported, "newer memdesk")
}

// TestMigrateTwiceAtOnce runs two migrations concurrently, as two processes would.
func TestMigrateTwiceAtOnce(t *testing.T) {
	dsn := testpg.DSN(t)
	done := make(chan error)
	for range 4 {
		go func() {
			s, err := postgres.Create(t.Context(), postgres.Config{DSN: model.NewSecret(dsn)})
			if err == nil {
				err = s.Close()
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestWatch(t *testing.T) {
	dsn := testpg.DSN(t)
	s := create(t, dsn)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	one, err := s.Watch(ctx)
	must(t, err)
	two, err := s.Watch(ctx)
	must(t, err)
	must(t, s.CreateNode(ctx, fact("n", "x")))
	must(t, s.CreateNode(ctx, fact("edge/odd", "x")))
	must(t, s.CreateEdge(ctx, hypergraph.Edge{ID: "e", Type: "relation", Weight: 1, Members: []hypergraph.Membership{{NodeID: "n", Role: "subject"}, {NodeID: "edge/odd", Role: "object"}}}))
	// A foreign writer, and another workspace.
	testpg.Exec(t, dsn, `INSERT INTO memdesk.nodes (workspace, id, type, created_at, updated_at, content) VALUES ('w', 'foreign', 'fact', 1, 1, 'x'), ('other', 'not-mine', 'fact', 1, 1, 'x')`)
	must(t, s.DeleteNode(ctx, "n"))
	for _, ch := range []<-chan model.Change{one, two} {
		waits := []string{"n", "node/edge/odd", "edge/e", "foreign"} // two changes of n may arrive as one
		var got []string
		end := time.After(time.Minute)
		for len(waits) > 0 {
			select {
			case c := <-ch: // a watcher that takes the lock may also report lost changes
				got = append(got, c.ID)
				waits = slices.DeleteFunc(waits, func(id string) bool { return id == c.ID })
			case <-end:
				t.Fatalf("nobody told of %q: %q", waits, got)
			}
		}
		if slices.Contains(got, "not-mine") {
			t.Errorf("told of another workspace: %q", got)
		}
	}
	cancel()
	for range one {
	}
	for range two {
	}
}

// watchAgain must receive changes after the server's restart, and before them the report that some may
// be lost.
func watchAgain(t *testing.T, srv *testpg.Server) {
	s := create(t, srv.DSN("postgres", "postgres"))
	ch, err := s.Watch(t.Context())
	must(t, err)
	srv.Stop()
	must(t, srv.Start())
	if c := <-ch; !c.Lost {
		t.Errorf("after a restart: %+v", c)
	}
	must(t, s.CreateNode(t.Context(), fact("after", "x")))
	for c := range ch {
		if c.ID == "after" {
			break
		}
	}
}

// TestCascade must take a subject's nodes as they are inside the transaction.
func TestCascade(t *testing.T) {
	s := create(t, testpg.DSN(t))
	st := adapt(s)
	for i, who := range []string{"ann", "ann", "anna", ""} {
		n := fact(string(rune('a'+i)), "x")
		n.SubjectID = who
		if i == 1 {
			n.Tier = "archive"
		}
		must(t, s.CreateNode(t.Context(), n))
	}
	must(t, s.CreateEdge(t.Context(), hypergraph.Edge{ID: "e", Type: "relation", Label: "of ann", Weight: 1, Members: []hypergraph.Membership{{NodeID: "a", Role: "subject"}, {NodeID: "d", Role: "object"}}}))
	var hits []model.SubjectHit
	must(t, st.Subjects.Concerning(t.Context(), []string{"ann", ""}, func(h model.SubjectHit) bool { hits = append(hits, h); return true }))
	var got []string
	for _, h := range hits {
		got = append(got, h.ID)
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"a", "b", "edge/e"}) {
		t.Errorf("concerning ann: %+v", hits)
	}
	res, err := st.Provider.Forget(t.Context(), model.ForgetRequest{DataSubjectID: "ann"})
	if err != nil || res.Removed != 2 {
		t.Errorf("cascade: %+v, %v", res, err)
	}
	for id, want := range map[string]bool{"a": false, "b": false, "c": true, "d": true} {
		if _, err := s.GetNode(t.Context(), id); (err == nil) != want {
			t.Errorf("%s: %v", id, err)
		}
	}
}
