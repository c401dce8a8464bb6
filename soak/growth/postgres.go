package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"

	"memdesk/backends"
	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/postgres"
	"memdesk/internal/testpg"
	"memdesk/model"
)

// server is a PostgreSQL: the one that testpg.Variable names, where databases stay for a later
// run, else a private one that is gone with the run.
type server struct {
	private *testpg.Server
	dsn     string
}

func (s *server) close() {
	if s != nil && s.private != nil {
		s.private.Remove()
	}
}

func (r *run) postgres() (*server, error) {
	if r.server != nil {
		return r.server, nil
	}
	if dsn := os.Getenv(testpg.Variable); dsn != "" {
		r.server = &server{dsn: dsn}
		return r.server, nil
	}
	private, err := testpg.Begin()
	if err != nil {
		return nil, err
	}
	r.server = &server{private, private.DSN("postgres", "postgres")}
	private.Stop()
	return r.server, private.Start("-c", "shared_buffers=512MB", "-c", "max_wal_size=16GB")
}

// in is the connection string of another database.
func (s *server) in(database string) (string, error) {
	u, err := url.Parse(s.dsn)
	if err != nil || u.Scheme == "" {
		return "", errors.New(testpg.Variable + " must be a connection string in the form of a URL")
	}
	u.Path = "/" + database
	return u.String(), nil
}

// statements runs these on one connection.
func statements(dsn string, all ...string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, text := range all {
		if _, err := conn.Exec(ctx, text); err != nil {
			return fmt.Errorf("%.60s: %w", text, err)
		}
	}
	return nil
}

// variable names the connection string, as memdesk takes it.
const variable = "MEMDESK_GROWTH_DSN"

// database gives the store of PostgreSQL with n items.
func (r *run) database(n int) (source, error) {
	s, err := r.postgres()
	if err != nil {
		return source{}, err
	}
	name := fmt.Sprint("growth_", n)
	dsn, err := s.in(name)
	if err == nil && statements(dsn, `SELECT 1 / count(*) FROM pg_description WHERE description = 'whole'`) != nil { // no run before has left it
		err = statements(s.dsn, `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`, `CREATE DATABASE `+name+` ENCODING 'UTF8' TEMPLATE template0`)
		if err == nil {
			err = seedPostgres(dsn, n)
		}
		if err == nil {
			err = statements(dsn, `COMMENT ON SCHEMA memdesk IS 'whole'`)
		}
	}
	if err != nil {
		return source{}, fmt.Errorf("seeding: %w", err)
	}
	query := func(text string) func() error {
		return func() error {
			ctx := context.Background()
			conn, err := pgx.Connect(ctx, dsn)
			if err != nil {
				return err
			}
			defer conn.Close(ctx)
			rows, err := conn.Query(ctx, text)
			if err != nil {
				return err
			}
			for rows.Next() {
			}
			return rows.Err()
		}
	}
	return source{kind: "postgres", config: backends.StoreConfig{Name: "postgres", Kind: "postgres", DSNEnv: variable}, env: map[string]string{variable: dsn}, open: "postgres=" + variable,
		peers: peers{
			names: [3]string{"connect, SELECT", "connect, @@ … ts_rank"},
			open:  query(`SELECT id, tier, content FROM memdesk.nodes WHERE workspace = '` + postgres.DefaultWorkspace + `' ORDER BY created_at DESC, id DESC LIMIT 50`),
			recall: query(`SELECT id, content FROM memdesk.nodes WHERE workspace = '` + postgres.DefaultWorkspace +
				`' AND words @@ 'needle'::tsquery ORDER BY ts_rank(words, 'needle'::tsquery) DESC LIMIT 20`),
		}}, nil
}

// seedPostgres lets memdesk write the items that searches look for, and one of each other text. The server
// multiplies these, and builds the word index at the end, which saves an hour for ten million.
func seedPostgres(dsn string, n int) error {
	ctx := context.Background()
	store, err := postgres.Create(ctx, postgres.Config{DSN: model.NewSecret(dsn)})
	if err != nil {
		return err
	}
	_, err = store.CreateNodes(ctx, func(yield func(hypergraph.Node) bool) {
		for i := range n {
			if special(i, n) && !yield(node(i, n)) {
				return
			}
		}
	})
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	patterns, err := postgres.Open(ctx, postgres.Config{DSN: model.NewSecret(dsn), Workspace: "patterns"})
	if err != nil {
		return err
	}
	_, err = patterns.CreateNodes(ctx, func(yield func(hypergraph.Node) bool) {
		for i := range period {
			p := node(i, n)
			if p.ID, p.Content = fmt.Sprint(i), strings.Join(plain(i), " ")+"\n"; !yield(p) {
				return
			}
		}
	})
	if err = errors.Join(err, patterns.Close()); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var columns, index string // those that an item has from its pattern
	err = conn.QueryRow(ctx, `SELECT string_agg('p.' || column_name, ', ' ORDER BY ordinal_position), pg_get_indexdef('memdesk.nodes_by_words'::regclass) FROM information_schema.columns
		WHERE table_schema = 'memdesk' AND table_name = 'nodes' AND column_name NOT IN ('workspace', 'id', 'tier', 'created_at', 'updated_at')`).Scan(&columns, &index)
	if err != nil {
		return err
	}
	multiply := fmt.Sprintf(`INSERT INTO memdesk.nodes (workspace, id, tier, created_at, updated_at, %s)
		SELECT '%s', 'n' || lpad((i * 7919 %% %d)::text, 7, '0'), CASE i %% 2 WHEN 0 THEN 'session' ELSE 'longterm' END, %d + i * 1000000000, p.updated_at, %s
		FROM generate_series(0::bigint, %d) i JOIN memdesk.nodes p ON p.workspace = 'patterns' AND p.id = (i %% %d)::text
		WHERE i %% %d <> 3 AND i %% %d <> 7`, strings.ReplaceAll(columns, "p.", ""), postgres.DefaultWorkspace, n, begin.UnixNano(), columns, n-1, period, n/20, n/named)
	return statements(dsn, `SET maintenance_work_mem = '1GB'`, `SET session_replication_role = replica`, `DROP INDEX memdesk.nodes_by_words`, multiply,
		`DELETE FROM memdesk.nodes WHERE workspace = 'patterns'`, index, `VACUUM ANALYZE`)
}
