package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"testing"
	"time"

	"memdesk/backends/backendtest"
	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/hypergraphtest"
	"memdesk/backends/hypergraph/postgres"
	"memdesk/internal/testpg"
	"memdesk/model"
)

// takeAway limits a role to the features of a distributed engine: no advisory lock, no notification, no
// trigger and no function of its own.
const takeAway = `
	CREATE ROLE tenant LOGIN;
	DO $$ DECLARE f text; BEGIN
		FOR f IN SELECT oid::regprocedure::text FROM pg_proc WHERE proname LIKE 'pg\_%advisory%' OR proname = 'pg_notify' LOOP
			EXECUTE 'REVOKE EXECUTE ON FUNCTION ' || f || ' FROM PUBLIC';
		END LOOP;
	END $$;
	CREATE FUNCTION public.refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '% is not supported by this engine', tg_tag; END $$;
	CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE TRIGGER', 'CREATE FUNCTION') EXECUTE FUNCTION public.refuse();
	GRANT CREATE ON DATABASE postgres TO tenant;`

// shards are two servers, each with hash partitions of the schema. A workspace is on one of them, as a
// distributed engine routes it.
func shards(t *testing.T) func(t *testing.T) *postgres.Store {
	t.Helper()
	var dsn []string
	for range 2 {
		server := testpg.New(t)
		testpg.Exec(t, server.DSN("postgres", "postgres"), takeAway)
		dsn = append(dsn, server.DSN("tenant", "postgres"))
	}
	for _, d := range dsn {
		if s, err := postgres.Create(t.Context(), postgres.Config{DSN: model.NewSecret(d)}); err == nil {
			_ = s.Close()
			t.Fatal("the role may make triggers: nothing is shown")
		}
		s, err := postgres.Create(t.Context(), postgres.Config{DSN: model.NewSecret(d), Distributed: true})
		must(t, err)
		must(t, s.Close())
		testpg.Exec(t, d, recipe(t))
	}
	return func(t *testing.T) *postgres.Store {
		t.Helper()
		cfg := postgres.Config{Workspace: fmt.Sprint("ws-", workspaces.Add(1)), Distributed: true}
		h := fnv.New32a()
		_, _ = h.Write([]byte(cfg.Workspace))
		cfg.DSN = model.NewSecret(dsn[h.Sum32()%2])
		s, err := postgres.Open(t.Context(), cfg)
		must(t, err)
		configs.Store(s, cfg)
		return s
	}
}

// TestSpread runs the suites on two servers, under a role that may use nothing that a distributed
// engine lacks.
func TestSpread(t *testing.T) {
	t.Parallel()
	open := shards(t)
	t.Run("backend", func(t *testing.T) {
		hypergraphtest.Run(t, func(t *testing.T) hypergraph.Backend { return open(t) })
	})
	t.Run("provider", func(t *testing.T) {
		backendtest.Run(t, harness(open))
	})
}

// TestSpreadEngine runs the suites on an installed distributed engine: DISTRIBUTE.md makes and
// distributes the tables there.
func TestSpreadEngine(t *testing.T) {
	const variable = "MEMDESK_TEST_DISTRIBUTED"
	dsn := os.Getenv(variable)
	if dsn == "" {
		t.Skipf("no distributed engine: put its connection string into %s", variable)
	}
	open := func(t *testing.T) *postgres.Store {
		cfg := postgres.Config{DSN: model.NewSecret(dsn), Workspace: fmt.Sprint("ws-", time.Now().UnixNano()), Distributed: true}
		s, err := postgres.Open(t.Context(), cfg)
		must(t, err)
		configs.Store(s, cfg)
		return s
	}
	hypergraphtest.Run(t, func(t *testing.T) hypergraph.Backend { return open(t) })
	backendtest.Run(t, harness(open))
}

// TestSpreadIsAskedFor: a watcher of a distributed database must receive that something changed, and
// nothing else.
func TestSpreadIsAskedFor(t *testing.T) {
	postgres.PollOften(t)
	dsn := testpg.DSN(t)
	cfg := postgres.Config{DSN: model.NewSecret(dsn), Workspace: "watched", Distributed: true}
	s, err := postgres.Create(t.Context(), cfg)
	must(t, err)
	defer s.Close()
	must(t, s.CreateNode(t.Context(), fact("before", "x")))
	ctx, cancel := context.WithCancel(t.Context())
	ch, err := s.Watch(ctx)
	must(t, err)
	for _, act := range []struct {
		name string
		do   func() error
	}{
		{"create", func() error { return s.CreateNode(ctx, fact("a", "x")) }},
		{"edit", func() error { return s.UpdateNode(ctx, fact("a", "y")) }},
		{"edge", func() error {
			return s.CreateEdge(ctx, hypergraph.Edge{ID: "e", Type: "relation", Weight: 1, Members: []hypergraph.Membership{{NodeID: "a", Role: "subject"}, {NodeID: "before", Role: "object"}}})
		}},
		{"member", func() error {
			return s.AddMembership(ctx, "e", hypergraph.Membership{NodeID: "a", Role: "context"})
		}},
		{"delete", func() error { return s.DeleteNode(ctx, "a") }},
	} {
		must(t, act.do())
		if c := <-ch; c != (model.Change{Lost: true}) {
			t.Errorf("%s: told %+v", act.name, c)
		}
	}
	cancel()
	for c := range ch {
		t.Errorf("told %+v after the last change", c)
	}
}

// TestSpreadIsFoundOut: a schema made for a distributed database must be recognised, and no other may
// be written to as one.
func TestSpreadIsFoundOut(t *testing.T) {
	t.Parallel()
	for _, made := range []bool{true, false} {
		dsn := testpg.DSN(t)
		s, err := postgres.Create(t.Context(), postgres.Config{DSN: model.NewSecret(dsn), Distributed: made})
		must(t, err)
		must(t, s.Close())
		if n := testpg.Value(t, dsn, `SELECT count(*)::text FROM pg_trigger WHERE NOT tgisinternal`); (n == "0") != made {
			t.Errorf("distributed %v: %s triggers", made, n)
		}
		s, err = postgres.Open(t.Context(), postgres.Config{DSN: model.NewSecret(dsn), Distributed: !made})
		must(t, err)
		found := strings.Contains(strings.Join(s.Notes(), "\n"), "distributed")
		if !found {
			t.Errorf("distributed %v: the notes say nothing: %q", made, s.Notes())
		}
		err = s.CreateNode(t.Context(), fact("a", "x"))
		if made != (err == nil) {
			t.Errorf("distributed %v: a write: %v", made, err)
		}
		for _, to := range []int{2, 3} {
			if _, err := s.Migrate(t.Context(), to); err != nil {
				t.Fatalf("distributed %v: to %d: %v", made, to, err)
			}
		}
		if err := s.CreateNode(t.Context(), fact("b", "x")); err != nil {
			t.Errorf("distributed %v: after the migration: %v", made, err)
		}
		must(t, s.Close())
	}
}

// TestSpreadFilesAreNotSeen: even a superuser of the coordinator sees no file of the servers, and the
// scrub must say so.
func TestSpreadFilesAreNotSeen(t *testing.T) {
	t.Parallel()
	s, err := postgres.Create(t.Context(), postgres.Config{DSN: model.NewSecret(testpg.DSN(t)), Distributed: true})
	must(t, err)
	defer s.Close()
	layers, err := s.Maintainer().Layers(t.Context())
	must(t, err)
	there := false
	for _, l := range layers {
		there = there || l.ID == "other servers"
		if l.Readable {
			t.Errorf("the layer %s is readable", l.ID)
		}
	}
	results, err := s.Maintainer().Scrub(t.Context(), model.ScrubRequest{})
	must(t, err)
	said := false
	for _, r := range results {
		said = said || r.Layer == "other servers" && r.Verdict == model.VerdictOutOfScope
	}
	if !there || !said {
		t.Errorf("the other servers: in the layers %v, in the scrub %v", there, said)
	}
	if _, err := s.Maintainer().OpenLayer(t.Context(), "nodes"); model.KindOf(err) != model.Unsupported {
		t.Errorf("a file is opened: %v", err)
	}
}

// TestSpreadMigratesOnce: two processes compete for the row that a migration locks.
func TestSpreadMigratesOnce(t *testing.T) {
	t.Parallel()
	dsn := testpg.DSN(t)
	failed := make(chan error)
	for range 4 {
		go func() {
			s, err := postgres.Create(context.Background(), postgres.Config{DSN: model.NewSecret(dsn), Distributed: true})
			if err == nil {
				err = s.Close()
			}
			failed <- err
		}()
	}
	var errs []error
	for range 4 {
		errs = append(errs, <-failed)
	}
	must(t, errors.Join(errs...))
	if n := testpg.Value(t, dsn, `SELECT string_agg(version::text, ' ' ORDER BY version) FROM memdesk.schema_migrations`); n != "0 1 2 3" {
		t.Errorf("recorded: %s", n)
	}
}
