package records_test

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"memdesk/backends/records"
	"memdesk/internal/testpg"
	"memdesk/model"
)

// server makes a database with a table of one row, and opens it.
func server(t *testing.T, statements ...string) (s records.Server, dsn string) {
	t.Helper()
	dsn = testpg.DSN(t)
	for _, text := range append([]string{`CREATE TABLE notes (id text PRIMARY KEY, body text)`, `INSERT INTO notes VALUES ('a', 'old')`}, statements...) {
		testpg.Exec(t, dsn, text)
	}
	s, _, err := records.Connect(model.NewSecret(dsn), "", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, dsn
}

// TestVacuumBesideAReader: a table is not clean while another session uses it, or sees its removed rows; the
// samples of removed rows go too.
func TestVacuumBesideAReader(t *testing.T) {
	for name, reads := range map[string]string{"another table": `SELECT 1`, "this table": `SELECT * FROM notes`} {
		t.Run(name, func(t *testing.T) {
			s, dsn := server(t, `INSERT INTO notes VALUES ('b', 'erased'), ('c', 'stays'), ('d', 'stays')`, `ANALYZE notes`)
			reader, err := pgx.Connect(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close(context.Background())
			for _, text := range []string{`BEGIN ISOLATION LEVEL REPEATABLE READ`, reads} {
				if _, err := reader.Exec(t.Context(), text); err != nil {
					t.Fatal(err)
				}
			}
			testpg.Exec(t, dsn, `DELETE FROM notes WHERE id = 'b'`)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if err := s.Vacuum(ctx, "notes"); !errors.Is(err, model.Locked) {
				t.Errorf("beside a reader of %s: %v", name, err)
			}
			if _, err := reader.Exec(t.Context(), `COMMIT`); err != nil {
				t.Fatal(err)
			}
			if err := s.Vacuum(ctx, "notes"); err != nil {
				t.Errorf("after the reader is done: %v", err)
			}
			if n := testpg.Value(t, dsn, `SELECT count(*)::text FROM pg_stats WHERE tablename = 'notes' AND pg_stats::text LIKE '%erased%'`); n != "0" {
				t.Error("a sample of the removed row is left")
			}
		})
	}
}

// TestVacuumWithoutOwnership: the server only warns a role that does not own the table, and keeps the removed rows.
func TestVacuumWithoutOwnership(t *testing.T) {
	s, dsn := server(t, `CREATE ROLE writer`, `GRANT SELECT, DELETE ON notes TO writer`)
	t.Cleanup(func() { testpg.Exec(t, dsn, `DROP OWNED BY writer; DROP ROLE writer`) })
	as := s.Pool.Config()
	as.ConnConfig.RuntimeParams["role"] = "writer"
	pool, err := pgxpool.NewWithConfig(t.Context(), as)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if err := (records.Server{Pool: pool}).Vacuum(t.Context(), "notes"); !errors.Is(err, model.PermissionDenied) {
		t.Errorf("not the owner: %v", err)
	}
	if err := s.Vacuum(t.Context(), "notes"); err != nil {
		t.Errorf("the owner: %v", err)
	}
}

// TestCommitPastTheDeadline: a deadline must not interrupt a commit, since its outcome would be unknown.
func TestCommitPastTheDeadline(t *testing.T) {
	s, dsn := server(t, `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(3); RETURN NULL; END'`,
		`CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON notes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := s.Change(ctx, "retain", func(tx records.Tx) error {
		_, err := tx.Exec(`UPDATE notes SET body = 'new'`)
		time.AfterFunc(time.Second, cancel) // in the middle of the commit, however long the way to it was
		return err
	})
	if body := testpg.Value(t, dsn, `SELECT body FROM notes`); err != nil || ctx.Err() == nil || body != "new" {
		t.Errorf("the change: %v; the row is %q", err, body)
	}
}

// TestRowSecurity: a partly visible table is an error, never fewer rows; an erasure would miss the others.
func TestRowSecurity(t *testing.T) {
	_, dsn := server(t, `CREATE ROLE half LOGIN`, `GRANT SELECT, DELETE ON notes TO half`,
		`ALTER TABLE notes ENABLE ROW LEVEL SECURITY`, `CREATE POLICY part ON notes TO half USING (id <> 'a')`)
	t.Cleanup(func() { testpg.Exec(t, dsn, `DROP OWNED BY half; DROP ROLE half`) })
	half := dsn + " role=half"
	if u, err := url.Parse(dsn); err == nil && u.Scheme != "" {
		q := u.Query()
		q.Set("role", "half")
		u.RawQuery = q.Encode()
		half = u.String()
	}
	s, _, err := records.Connect(model.NewSecret(half), "", false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.View(t.Context(), "list", func(tx records.Tx) error {
		return tx.Each(`SELECT id FROM notes`, nil, func(func(...any) error) error { return nil })
	})
	if !errors.Is(err, model.PermissionDenied) || !strings.Contains(err.Error(), "row-level security") {
		t.Errorf("list: %v", err)
	}
	if err := s.Copy(t.Context(), `SELECT * FROM notes`, io.Discard); !errors.Is(err, model.PermissionDenied) {
		t.Errorf("copy: %v", err)
	}
}

// TestALayerEndsWithItsReader: no connection and no snapshot outlives a reader that stopped early.
func TestALayerEndsWithItsReader(t *testing.T) {
	s, _ := server(t, `INSERT INTO notes SELECT n::text, repeat('x', 1000) FROM generate_series(1, 20000) n`)
	m := records.ServerMedium{DB: s, Schema: "public", Tables: []string{"notes"}, Columns: map[string][]string{"notes": {"id", "body"}}}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for range s.Pool.Config().MaxConns + 1 { // the last one waits for a connection
		r, err := m.OpenLayer(ctx, "notes")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Read(make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoValueInAnError: a server's message quotes rows.
func TestNoValueInAnError(t *testing.T) {
	s, _ := server(t, `CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'row of %', NEW.body; END $$`,
		`CREATE TRIGGER no BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION no()`)
	for text, code := range map[string]string{`INSERT INTO notes VALUES ('n', ?)`: "P0001", `SELECT id FROM notes WHERE id::uuid::text = ?`: "22P02", `DELETE FROM notes WHERE id = ? AND body::uuid IS NULL`: "22P02"} {
		err := s.Change(t.Context(), "retain", func(tx records.Tx) error {
			_, err := tx.Exec(text, "a")
			return err
		})
		if err == nil || !strings.Contains(err.Error(), code) || strings.Contains(err.Error(), "row of") || strings.Contains(err.Error(), "old") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestAFullServerChangesNothing: the error must prove it, for undo then keeps no entry.
func TestAFullServerChangesNothing(t *testing.T) {
	s, _ := server(t)
	for code, want := range map[string]bool{"53100": true, "P0001": false} {
		err := s.Change(t.Context(), "retain", func(tx records.Tx) error {
			_, err := tx.Exec(`DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '` + code + `'; END $$`)
			return err
		})
		if err == nil || model.Unchanged(err) != want {
			t.Errorf("%s: %v, unchanged %v", code, err, !want)
		}
	}
}

// What is remembered of a store is kept under its location: two places must not have the same.
func TestLocationsDiffer(t *testing.T) {
	for _, tt := range []struct{ dsn, schema, want string }{
		{"postgres://u:secret@db/memory", "", "db/memory"},
		{"postgres://u:secret@db/memory", "public", "db/memory"},
		{"postgres://u:secret@db/memory", "second", "db/memory/second"},
		{"postgres://u:secret@db:5433/memory", "", "db:5433/memory"},
		{"host=/run/pg port=5433 dbname=memory", "second", "/run/pg:5433/memory/second"},
	} {
		s, location, err := records.Connect(model.NewSecret(tt.dsn), tt.schema, false)
		if err != nil || location != tt.want {
			t.Errorf("%q, want %q; %v", location, tt.want, err)
			continue
		}
		_ = s.Close()
	}
}
