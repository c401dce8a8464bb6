package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memdesk/backends/backendtest"
	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/postgres"
	"memdesk/internal/testpg"
	"memdesk/model"
)

func fact(id, content string) hypergraph.Node {
	return hypergraph.Node{ID: id, Type: "fact", Tier: "task", Content: content, Confidence: 1}
}

func create(t *testing.T, dsn string) *postgres.Store {
	t.Helper()
	s, err := postgres.Create(t.Context(), postgres.Config{DSN: model.NewSecret(dsn), Workspace: "w"})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func wantError(t *testing.T, what string, err error, kind model.Kind, words string) {
	t.Helper()
	if !errors.Is(err, kind) || !strings.Contains(fmt.Sprint(err), words) {
		t.Errorf("%s: %v, want kind %q with %q", what, err, string(kind), words)
	}
}

// TestServer runs the tests that need a server's roles on one private server.
func TestServer(t *testing.T) {
	t.Parallel()
	srv := testpg.New(t)
	t.Run("another encoding", func(t *testing.T) { otherEncoding(t, srv) })
	t.Run("refused and absent", func(t *testing.T) { refusedAndAbsent(t, srv) })
	t.Run("connections that ended", func(t *testing.T) { endedConnections(t, srv) })
	t.Run("read-only", func(t *testing.T) { readOnly(t, srv) })
	t.Run("a foreign search_path", func(t *testing.T) { foreignPath(t, srv) })
	t.Run("row-level security", func(t *testing.T) { rowSecurity(t, srv) })
	t.Run("restart under load", func(t *testing.T) { restartUnderLoad(t, srv) })
	t.Run("a watcher hears again after a restart", func(t *testing.T) { watchAgain(t, srv) })
}

// refusedAndAbsent tries to open unreachable or forbidden databases. No error may contain a word of the
// connection string.
func refusedAndAbsent(t *testing.T, srv *testpg.Server) {
	const secret = "hunter2"
	for name, c := range map[string]struct {
		dsn   string
		kind  model.Kind
		words string
	}{
		"wrong password":   {srv.DSNWith(testpg.Guarded, secret, "postgres"), model.PermissionDenied, "refuses this user or its password"},
		"no password":      {srv.DSN(testpg.Guarded, "postgres"), model.PermissionDenied, "password"},
		"no such role":     {srv.DSNWith("nobody-"+secret, secret, "postgres"), model.PermissionDenied, "refuses this user"},
		"no such database": {srv.DSN("postgres", "db-"+secret), model.NotFound, "no such database"},
		"no server":        {"postgres://u:" + secret + "@127.0.0.1:1/x", model.Unavailable, "nothing answers"},
		"no socket":        {"postgres://u:" + secret + "@/x?host=/nowhere/" + secret, model.Unavailable, "socket"},
		"no address":       {"postgres://u:" + secret + "@[::1/x", model.InvalidInput, "cannot be read"},
		"odd words":        {"password=" + secret + " port=x", model.InvalidInput, "cannot be read"},
		"empty":            {" ", model.InvalidInput, "empty"},
		"no schema":        {srv.DSN("postgres", "postgres"), model.NotFound, "no memdesk schema"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := postgres.Open(t.Context(), postgres.Config{DSN: model.NewSecret(c.dsn)})
			wantError(t, name, err, c.kind, c.words)
			for _, held := range []string{secret, c.dsn} {
				for e := err; e != nil && strings.TrimSpace(held) != ""; e = errors.Unwrap(e) {
					if strings.Contains(fmt.Sprintf("%v %+v %#v", e, e, e.Error()), held) {
						t.Errorf("the error holds %q: %v", held, e)
					}
				}
			}
		})
	}
	admin := srv.DSN("postgres", "postgres")
	create(t, admin)
	testpg.Exec(t, admin, `GRANT USAGE ON SCHEMA memdesk TO `+testpg.Guarded+`; GRANT SELECT ON ALL TABLES IN SCHEMA memdesk TO `+testpg.Guarded)
	right := srv.DSNWith(testpg.Guarded, testpg.Password, "postgres")
	p, err := postgres.Open(t.Context(), postgres.Config{DSN: model.NewSecret(right)})
	must(t, err)
	if strings.Contains(p.Location(), testpg.Password) || strings.Contains(p.Location(), testpg.Guarded) {
		t.Errorf("the location holds user or password: %s", p.Location())
	}
	must(t, p.Close())
}

// readOnly opens databases that refuse changes, each for its own reason, and reads.
// endedConnections: a read after a restart goes to a new connection, whether it is one statement or a snapshot.
func endedConnections(t *testing.T, srv *testpg.Server) {
	admin := srv.DSN("postgres", "postgres")
	s := create(t, admin)
	must(t, s.CreateNode(t.Context(), fact("ended", "a lamp")))
	for what, read := range map[string]func() error{
		"GetNode":         func() error { _, err := s.GetNode(t.Context(), "ended"); return err },
		"SearchByContent": func() error { _, err := s.SearchByContent(t.Context(), "lamp", hypergraph.SearchOptions{}); return err },
		"ListEdges":       func() error { _, err := s.ListEdges(t.Context(), hypergraph.Listing{Limit: 1}); return err },
		"EdgesOf":         func() error { _, _, err := s.EdgesOf(t.Context(), "ended", 1); return err },
	} {
		must(t, read())
		testpg.Exec(t, admin, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`)
		if err := read(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, s.DeleteNode(t.Context(), "ended"))
}

func readOnly(t *testing.T, srv *testpg.Server) {
	admin := srv.DSN("postgres", "postgres")
	s := create(t, admin)
	must(t, s.CreateNode(t.Context(), fact("n", "readable")))
	testpg.Exec(t, admin, `CREATE ROLE looker LOGIN; GRANT USAGE ON SCHEMA memdesk TO looker; GRANT SELECT ON ALL TABLES IN SCHEMA memdesk TO looker;
		CREATE ROLE tame LOGIN; ALTER ROLE tame SET default_transaction_read_only = on;
		GRANT USAGE ON SCHEMA memdesk TO tame; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA memdesk TO tame`)
	for role, words := range map[string]string{"looker": "may not DELETE, INSERT, UPDATE", "tame": "default_transaction_read_only"} {
		ro, err := postgres.Open(t.Context(), postgres.Config{DSN: model.NewSecret(srv.DSN(role, "postgres")), Workspace: "w"})
		must(t, err)
		if !strings.Contains(ro.ReadOnlyReason(), words) {
			t.Errorf("%s: reason %q, want %q", role, ro.ReadOnlyReason(), words)
		}
		if n, err := ro.GetNode(t.Context(), "n"); err != nil || n.Content != "readable" {
			t.Errorf("%s reads %q, %v", role, n.Content, err)
		}
		wantError(t, role, ro.CreateNode(t.Context(), fact("m", "x")), model.PermissionDenied, words)
		st := adapt(ro)
		if h := backendtest.Health(t, st); !h.OK || !st.ReadOnly {
			t.Errorf("%s: health %+v, read-only %v", role, h, st.ReadOnly)
		}
		must(t, ro.Close())
	}
	// In read-only mode the server itself must refuse: not every statement passes memdesk's own check.
	for _, asked := range []bool{true, false} {
		ro, err := postgres.Open(t.Context(), postgres.Config{DSN: model.NewSecret(admin), Workspace: "w", ReadOnly: asked})
		must(t, err)
		err = postgres.Run(t.Context(), ro, `UPDATE memdesk.nodes SET content = content`)
		if refused := err != nil && strings.Contains(err.Error(), "25006"); refused != asked {
			t.Errorf("read-only %v: the server says %v", asked, err)
		}
		must(t, ro.Close())
	}
	testpg.Exec(t, admin, `REVOKE USAGE ON SCHEMA memdesk FROM looker`)
	_, err := postgres.Open(t.Context(), postgres.Config{DSN: model.NewSecret(srv.DSN("looker", "postgres"))})
	wantError(t, "no privilege at all", err, model.PermissionDenied, "grant it USAGE on schema memdesk")
}

// foreignPath puts another schema's functions before PostgreSQL's own for the connecting role.
func foreignPath(t *testing.T, srv *testpg.Server) {
	admin := srv.DSN("postgres", "postgres")
	testpg.Exec(t, admin, `CREATE SCHEMA evil; GRANT USAGE ON SCHEMA evil TO public;
		CREATE FUNCTION evil.lower(text) RETURNS text LANGUAGE sql AS $$ SELECT 'nothing' $$;
		CREATE FUNCTION evil.length(text) RETURNS integer LANGUAGE sql AS $$ SELECT 0 $$;
		CREATE FUNCTION evil.octet_length(text) RETURNS integer LANGUAGE sql AS $$ SELECT 0 $$;
		CREATE FUNCTION evil.current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT 'SQL_ASCII' $$;
		CREATE FUNCTION evil.eq(text, text) RETURNS boolean LANGUAGE sql AS $$ SELECT false $$;
		CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.eq);
		CREATE TABLE evil.nodes (id text); CREATE TABLE evil.pg_class (oid oid);
		CREATE ROLE misled LOGIN SUPERUSER; ALTER ROLE misled SET search_path = evil, pg_catalog, public`)
	s := create(t, srv.DSN("misled", "postgres"))
	must(t, s.CreateNode(t.Context(), fact("path", "The Quay lamp")))
	st := adapt(s)
	got, err := st.Provider.Recall(t.Context(), model.RecallRequest{Query: "quay lamp", Limit: 5})
	if err != nil || len(got.Hits) != 1 {
		t.Errorf("recall: %d hits, %v", len(got.Hits), err)
	}
	page, err := st.Browser.List(t.Context(), model.PageRequest{Query: "Quay", Limit: 5})
	if err != nil || len(page.Items) != 1 || page.Items[0].Bytes != int64(len("The Quay lamp")) {
		t.Errorf("list: %+v, %v", page.Items, err)
	}
	n, err := st.Provider.Forget(t.Context(), model.ForgetRequest{ID: "path"})
	if err != nil || n.Removed != 1 {
		t.Errorf("forget: %+v, %v", n, err)
	}
}

// rowSecurity hides rows from the role: a partly visible table must be an error, never fewer rows.
func rowSecurity(t *testing.T, srv *testpg.Server) {
	admin := srv.DSN("postgres", "postgres")
	s := create(t, admin)
	must(t, s.CreateNode(t.Context(), fact("hidden", "rows of another")))
	testpg.Exec(t, admin, `CREATE ROLE half LOGIN; GRANT USAGE ON SCHEMA memdesk TO half; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA memdesk TO half;
		ALTER TABLE memdesk.nodes ENABLE ROW LEVEL SECURITY; CREATE POLICY part ON memdesk.nodes TO half USING (id <> 'hidden')`)
	defer testpg.Exec(t, admin, `DROP POLICY part ON memdesk.nodes; ALTER TABLE memdesk.nodes DISABLE ROW LEVEL SECURITY; DELETE FROM memdesk.nodes WHERE id = 'hidden'`)
	half, err := postgres.Open(t.Context(), postgres.Config{DSN: model.NewSecret(srv.DSN("half", "postgres")), Workspace: "w"})
	if err != nil {
		wantError(t, "open", err, model.PermissionDenied, "row-level security")
		return
	}
	defer func() { must(t, half.Close()) }()
	st := adapt(half)
	_, err = st.Browser.List(t.Context(), model.PageRequest{Limit: 5})
	wantError(t, "list", err, model.PermissionDenied, "row-level security")
	_, err = st.Provider.Recall(t.Context(), model.RecallRequest{Query: "rows", Limit: 5})
	wantError(t, "recall", err, model.PermissionDenied, "row-level security")
	if h := st.Provider.Health(t.Context()); h.OK {
		t.Errorf("health: %+v", h)
	}
}

// restartUnderLoad crashes the server under writers. Every acknowledged write must be stored, every
// failure must say how to act, and the store must recover without being reopened.
func restartUnderLoad(t *testing.T, srv *testpg.Server) {
	s := create(t, srv.DSN("postgres", "postgres"))
	st := adapt(s)
	must(t, s.CreateNode(t.Context(), fact("count", "")))
	const there = 1 // readOnly's node
	var acked, failed atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				id := fmt.Sprintf("w%d-%d", w, i)
				err := s.WithTx(t.Context(), func(tx hypergraph.Ops) error { return tx.CreateNode(t.Context(), fact(id, "x")) })
				switch {
				case err == nil:
					acked.Add(1)
				case errors.Is(err, model.Unavailable):
					failed.Add(1)
				default:
					t.Errorf("a writer is told %v", err)
				}
			}
		})
	}
	until(t, func() bool { return acked.Load() > 50 })
	srv.Stop()
	until(t, func() bool { return failed.Load() > 4 })
	if h := backendtest.Health(t, st); h.OK || !strings.Contains(h.Message, "server") {
		t.Errorf("health without a server: %+v", h)
	}
	must(t, srv.Start())
	before := acked.Load()
	until(t, func() bool { return acked.Load() > before+50 })
	stop()
	wg.Wait()
	if h := backendtest.Health(t, st); !h.OK {
		t.Errorf("health after the restart: %+v", h)
	}
	n := int64(0)
	for _, err := range s.AllNodes(t.Context(), hypergraph.NodeFilter{}) {
		must(t, err)
		n++
	}
	n -= there // the nodes from before
	if n-1 < acked.Load() {
		t.Errorf("%d writes were acknowledged, %d are there", acked.Load(), n-1)
	}
}

// until waits for a condition that another goroutine or process fulfils.
func until(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come about")
		}
	}
}

func otherEncoding(t *testing.T, srv *testpg.Server) {
	testpg.Exec(t, srv.DSN("postgres", "postgres"), `CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`)
	_, err := postgres.Open(t.Context(), postgres.Config{DSN: model.NewSecret(srv.DSN("postgres", "latin"))})
	wantError(t, "LATIN1", err, model.Unsupported, "needs UTF8")
}

func TestNULIsRefusedInWords(t *testing.T) {
	s := create(t, testpg.DSN(t))
	wantError(t, "create", s.CreateNode(t.Context(), fact("n", "a\x00b")), model.InvalidInput, "NUL")
	_, err := s.GetNode(t.Context(), "a\x00b")
	wantError(t, "get", err, model.NotFound, "no node")
}

// TestLockedByAnother must wait for a lock no longer than its context.
func TestLockedByAnother(t *testing.T) {
	t.Parallel()
	s := create(t, testpg.DSN(t))
	must(t, s.CreateNode(t.Context(), fact("n", "x")))
	held, release := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- s.WithTx(t.Context(), func(tx hypergraph.Ops) error {
			_, err := tx.GetNode(t.Context(), "n")
			close(held)
			<-release
			return err
		})
	}()
	<-held
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err := s.UpdateNode(ctx, fact("n", "y"))
	if !errors.Is(err, model.Timeout) {
		t.Errorf("a write of what another holds: %v", err)
	}
	close(release)
	must(t, <-done)
	must(t, s.UpdateNode(t.Context(), fact("n", "y")))
}

// TestMembersOfOneEdge takes two of three members out of an edge concurrently: one of the two
// transactions must see that the edge falls.
func TestMembersOfOneEdge(t *testing.T) {
	t.Parallel()
	s := create(t, testpg.DSN(t))
	for i := range 20 {
		ids := []string{fmt.Sprint("a", i), fmt.Sprint("b", i), fmt.Sprint("c", i)}
		e := hypergraph.Edge{ID: fmt.Sprint("e", i), Type: "relation", Weight: 1}
		for j, id := range ids {
			must(t, s.CreateNode(t.Context(), fact(id, "x")))
			e.Members = append(e.Members, hypergraph.Membership{NodeID: id, Role: "participant", Position: int64(j)})
		}
		must(t, s.CreateEdge(t.Context(), e))
		var wg sync.WaitGroup
		for _, id := range ids[:2] {
			wg.Go(func() {
				if err := s.DeleteNode(t.Context(), id); err != nil {
					t.Errorf("delete: %v", err)
				}
			})
		}
		wg.Wait()
		if e, err := s.GetEdge(t.Context(), e.ID); !errors.Is(err, model.NotFound) {
			t.Fatalf("an edge with one member is left: %+v, %v", e.Members, err)
		}
	}
}

func TestLocationOfKeywords(t *testing.T) {
	u, err := url.Parse(testpg.DSN(t))
	must(t, err)
	words := "host=" + u.Query().Get("host") + " user=postgres dbname=" + strings.TrimPrefix(u.Path, "/")
	if u.Query().Get("host") == "" {
		t.Skip("the tests' server is named by the environment")
	}
	s := create(t, words)
	if !strings.Contains(s.Location(), "workspace w") {
		t.Errorf("location %q", s.Location())
	}
}
