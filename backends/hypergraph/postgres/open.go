package postgres

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Config selects a database and how to open it.
type Config struct {
	// DSN is the connection string, a URL or keywords in libpq's syntax. It is a secret: it may hold a
	// password.
	DSN model.Secret
	// Workspace leads every key; empty is DefaultWorkspace.
	Workspace string
	// MaxConns and MinConns bound the pool; 0 means DefaultMaxConns and no minimum.
	MaxConns, MinConns int
	ReadOnly           bool
	// Distributed says that the rows are on several servers: no advisory lock, notification or trigger
	// is used. Known distributed engines are detected.
	Distributed bool
	Clock       clock.Clock // nil: the system's
}

// DefaultWorkspace is the workspace of a store that names none.
const DefaultWorkspace = "default"

// DefaultMaxConns is enough for a console and its jobs; MaxConns is the published
// limit (provider-contract.md H12).
const (
	DefaultMaxConns = 10
	MaxConns        = 100
)

// Timeouts of the connections themselves; an operation's deadline is its context's.
const (
	connectTimeout = 5 * time.Second
	idleTime       = 5 * time.Minute
	lifeTime       = time.Hour
	hangUpPatience = 5 * time.Second
)

// Open connects and checks the schema, changing nothing. Errors are InvalidInput for an invalid connection string,
// Unavailable for a server that does not answer, and PermissionDenied for one that refuses. A database
// without memdesk's schema is NotFound; a schema of a newer memdesk or an encoding other than UTF-8 is
// Unsupported.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s, err := connect(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := s.prepare(ctx); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// Create makes a missing schema or updates an old one, and opens the workspace.
func Create(ctx context.Context, cfg Config) (*Store, error) {
	s, err := connect(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if _, err = s.Migrate(ctx, latest()); err == nil {
		err = s.prepare(ctx)
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// connect makes the pool and its first connection.
func connect(ctx context.Context, cfg Config) (*Store, error) {
	const op = "open"
	p, err := poolConfig(cfg)
	if err != nil {
		return nil, err
	}
	cfg.Workspace = cmp.Or(cfg.Workspace, DefaultWorkspace)
	if err := sqlgraph.PlainText(op, "the workspace", cfg.Workspace); err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), p)
	if err != nil {
		return nil, worded(op, err)
	}
	s := &Store{workspace: cfg.Workspace, clock: clock.Or(cfg.Clock), pool: pool, location: location(p.ConnConfig, cfg.Workspace), asked: cfg.ReadOnly, distributed: cfg.Distributed, vectors: sqlgraph.NewVectorCache()}
	s.ops = newOps(s, nil)
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, worded(op, err)
	}
	return s, nil
}

// location is the address for display.
func location(c *pgx.ConnConfig, workspace string) string {
	where := c.Host
	if !strings.HasPrefix(c.Host, "/") || c.Port != 5432 { // a socket's directory may hold several servers
		where = net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	}
	return model.InWorkspace(where+", database "+c.Database, workspace)
}

// prepare checks the server and the schema.
func (s *Store) prepare(ctx context.Context) error {
	const op = "open"
	p, err := s.probe(ctx)
	switch {
	case err != nil:
		return err
	case p.encoding != "UTF8":
		return model.Errorf(model.Unsupported, op, "the database is in encoding %s: memdesk needs UTF8", p.encoding)
	case p.version == 0:
		return model.Errorf(model.NotFound, op, "the database has no memdesk schema yet: `memdesk create postgres=NAME`, with the name of the variable that holds the connection string, makes it")
	case p.version > latest():
		return model.Errorf(model.Unsupported, op, "the database has schema %d of a newer memdesk, this one knows %d: open it with the newer program", p.version, latest())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version, s.pgvector, s.indexed = p.version, p.pgvector, p.indexed
	s.distributed = s.distributed || p.distributed()
	s.readOnly, s.outdated = p.readOnly(s.asked), p.outdated(s.distributed)
	s.notes = p.notes(s.distributed)
	return nil
}

// probed is the result of one check of the server.
type probed struct {
	encoding string
	version  int
	standby  bool
	refuses  bool // transactions are read-only
	missing  []string
	pgvector bool
	offered  bool // pgvector can be installed
	indexed  map[int]bool
	notWhole int64
	engine   bool // a known distributed engine
	triggers bool // the schema's triggers notify watchers
}

// distributed reports that the server is a distributed engine, or that the schema was made for one.
func (p probed) distributed() bool { return p.engine || p.version >= watchStep && !p.triggers }

func (s *Store) probe(ctx context.Context) (probed, error) {
	var p probed
	err := s.ops.read(ctx, "open", func(q *query) error {
		var there bool
		if _, err := q.One(`SELECT current_setting('server_encoding'), pg_is_in_recovery(), current_setting('transaction_read_only') = 'on',
			to_regclass('memdesk.schema_migrations') IS NOT NULL,
			to_regtype('vector') IS NOT NULL, EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector')`, nil,
			&p.encoding, &p.standby, &p.refuses, &there, &p.pgvector, &p.offered); err != nil {
			return err
		}
		if _, err := q.One(engines, nil, &p.engine); err != nil || !there {
			return err
		}
		if _, err := q.One(tells, nil, &p.triggers); err != nil {
			return err
		}
		if _, err := q.One(`SELECT COALESCE(max(version), 0) FROM memdesk.schema_migrations`, nil, &p.version); err != nil || p.version == 0 {
			return err
		}
		if err := q.Each(`SELECT DISTINCT act FROM unnest(ARRAY['INSERT', 'UPDATE', 'DELETE']) act,
			unnest(ARRAY['nodes', 'hyperedges', 'membership', 'decisions', 'node_embeddings']) name
			WHERE NOT has_table_privilege('memdesk.' || name, act) ORDER BY 1`, nil, sqlgraph.Collect(&p.missing)); err != nil {
			return err
		}
		var err error
		if p.indexed, err = vectorIndexes(q); err != nil {
			return err
		}
		_, err = q.One(`SELECT count(*) FROM memdesk.nodes WHERE workspace = $1 AND NOT words_whole`, []any{s.workspace}, &p.notWhole)
		return err
	})
	return p, err
}

func (p probed) readOnly(asked bool) string {
	switch {
	case asked:
		return "opened for reading only"
	case p.standby:
		return "the server is a standby, which follows another and takes no changes"
	case p.refuses:
		return "the server or the role is set to read-only (default_transaction_read_only)"
	case len(p.missing) > 0:
		return "the database role may not " + strings.Join(p.missing, ", ") + " on memdesk's tables"
	}
	return ""
}

// outdated says which migration an older schema needs.
func (p probed) outdated(distributed bool) string {
	switch {
	case distributed && p.triggers:
		return mustForgetTriggers
	case p.version >= latest():
		return ""
	}
	return fmt.Sprintf("its schema is version %d and this memdesk writes version %d: `memdesk migrate --store NAME` brings it up to date", p.version, latest())
}

func (p probed) notes(distributed bool) []string {
	var out []string
	if why := p.outdated(distributed); why != "" {
		out = append(out, "it takes no changes: "+why)
	}
	if distributed {
		out = append(out, "the database is distributed: its changes are asked for every few seconds, and the files of its servers are not seen from here")
	}
	switch {
	case len(p.indexed) > 0:
		out = append(out, "vectors are indexed by pgvector (HNSW): similarity search is approximate, and says so")
	case p.pgvector:
		out = append(out, "the server has pgvector; no vector is indexed yet: every one is compared")
	case p.offered:
		out = append(out, "pgvector could be installed on this server (CREATE EXTENSION vector): until then every vector is compared")
	default:
		out = append(out, "the server has no pgvector: every vector is compared")
	}
	if p.notWhole > 0 {
		out = append(out, fmt.Sprintf("%s nodes hold more words than PostgreSQL indexes: a search by words sees their beginning only", sqlgraph.Thousands(p.notWhole)))
	}
	return out
}
