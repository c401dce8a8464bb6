package postgres

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"memdesk/backends/internal/pgserver"
	"memdesk/model"
)

// runner is a pool, a connection or a transaction.
type runner interface {
	Exec(ctx context.Context, text string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, text string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// poolConfig reads the connection settings. The pool's size comes from the store's configuration;
// pool_max_conns in the connection string is ignored.
func poolConfig(cfg Config) (*pgxpool.Config, error) {
	const op = "open"
	if strings.TrimSpace(cfg.DSN.Reveal()) == "" {
		return nil, model.Errorf(model.InvalidInput, op, "the connection string is empty: give postgres://user@host/database, or keywords such as host=… dbname=…")
	}
	p, err := pgxpool.ParseConfig(cfg.DSN.Reveal())
	if err != nil { // the error's text repeats the string, which may name a password
		if words := pgserver.Unreadable(err); words != "" {
			return nil, model.Errorf(model.InvalidInput, op, "%s", words)
		}
		return nil, model.Errorf(model.InvalidInput, op, "the connection string cannot be read: give postgres://user@host/database, special characters in the password as %%XX, or keywords such as host=… dbname=…")
	}
	most := cmp.Or(cfg.MaxConns, DefaultMaxConns)
	if most < 0 || most > MaxConns || cfg.MinConns < 0 || cfg.MinConns > most {
		return nil, model.Errorf(model.InvalidInput, op, "max_conns goes from 1 to %d, min_conns from 0 to max_conns", MaxConns)
	}
	p.MaxConns, p.MinConns = int32(most), int32(cfg.MinConns)
	p.MaxConnIdleTime, p.MaxConnLifetime, p.MaxConnLifetimeJitter = idleTime, lifeTime, lifeTime/10
	p.AfterConnect = dress
	c := p.ConnConfig
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = connectTimeout
	}
	c.RuntimeParams["application_name"] = cmp.Or(c.RuntimeParams["application_name"], "memdesk")
	if cfg.ReadOnly { // the server refuses changes too
		c.RuntimeParams["default_transaction_read_only"] = "on"
	}
	// When a caller leaves, the statement ends on the server too, and the connection stays.
	c.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: time.Second}
	}
	return p, nil
}

// dress makes a connection independent of settings of the role or the database: names resolve to
// PostgreSQL's own functions first, then to pgvector's, whatever another search_path says. Rows that a
// policy would hide are an error: otherwise an erasure or a verification would miss them.
func dress(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, `SET lock_timeout = '5s'; SET idle_in_transaction_session_timeout = '5min'; SET row_security = off; SET search_path = pg_catalog;
		SELECT set_config('search_path', COALESCE((SELECT quote_ident(n.nspname) FROM pg_extension e
			JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'), 'public'), false)`)
	return err
}

// dial opens a connection beside the pool. The caller closes it.
func (s *Store) dial(ctx context.Context, onNotice pgconn.NoticeHandler) (*pgx.Conn, error) {
	cfg := s.pool.Config().ConnConfig
	cfg.OnNotice = onNotice
	c, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := dress(ctx, c); err != nil {
		hangUp(c)
		return nil, err
	}
	return c, nil
}

// hangUp closes a connection that dial made.
func hangUp(c *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), hangUpPatience)
	defer cancel()
	_ = c.Close(ctx) // a lost connection is closed too
}

// quote makes an SQL identifier of any name.
func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
