package records

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"memdesk/backends/internal/pgserver"
	"memdesk/backends/internal/vitals"
	"memdesk/model"
)

// Server is a DB over a PostgreSQL server. Parameters written `?` become $1, $2 and so on, so statements
// cannot use the operator `?`.
type Server struct{ Pool *pgxpool.Pool }

// Connect prepares a pool; no connection is made yet. Location names host, database and schema without any secret.
func Connect(dsn model.Secret, schema string, readOnly bool) (s Server, location string, err error) {
	cfg, err := pgxpool.ParseConfig(dsn.Reveal())
	if err != nil { // its text repeats the connection string
		if words := pgserver.Unreadable(err); words != "" {
			return Server{}, "", model.Errorf(model.InvalidInput, "open", "%s", words)
		}
		return Server{}, "", model.Errorf(model.InvalidInput, "open", "the connection string cannot be read")
	}
	cfg.MaxConns = 4
	cfg.ConnConfig.RuntimeParams["application_name"] = "memdesk"
	if readOnly {
		cfg.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	}
	// Rows that a policy would hide are an error: otherwise an erasure or a verification would miss them.
	cfg.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, `SET row_security = off`)
		return err
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		return Server{}, "", model.Errorf(model.InvalidInput, "open", "the connection string cannot be used")
	}
	return Server{pool}, place(cfg.ConnConfig, schema), nil
}

// place is the location of a schema's tables: no two have the same. PostgreSQL's own port and schema are left out.
func place(c *pgx.ConnConfig, schema string) string {
	out := c.Host
	if c.Port != 5432 {
		out = net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	}
	if out += "/" + c.Database; schema != "" && schema != "public" {
		out += "/" + schema
	}
	return out
}

// serverTx runs statements in one transaction.
type serverTx struct {
	ctx context.Context
	tx  pgx.Tx
	op  string
}

// numbered writes the parameters in PostgreSQL's form.
func numbered(text string) string {
	if !strings.Contains(text, "?") {
		return text
	}
	var b strings.Builder
	n := 0
	for _, part := range strings.SplitAfter(text, "?") {
		rest, cut := strings.CutSuffix(part, "?")
		b.WriteString(rest)
		if cut {
			n++
			b.WriteString("$" + strconv.Itoa(n))
		}
	}
	return b.String()
}

// Each implements Tx.
func (t serverTx) Each(text string, args []any, fn func(scan func(...any) error) error) error {
	rows, err := t.tx.Query(t.ctx, numbered(text), args...)
	if err != nil {
		return wordedServer(t.op, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows.Scan); err != nil {
			var known *model.Error
			if errors.As(err, &known) {
				return err
			}
			return model.E(model.Internal, t.op, err)
		}
	}
	return wordedServer(t.op, rows.Err())
}

// Exec implements Tx.
func (t serverTx) Exec(text string, args ...any) (int64, error) {
	tag, err := t.tx.Exec(t.ctx, numbered(text), args...)
	return tag.RowsAffected(), wordedServer(t.op, err)
}

// View implements DB.
func (s Server) View(ctx context.Context, op string, fn func(Tx) error) error {
	return s.run(ctx, op, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, fn)
}

// changeAttempts bounds how often a change starts over because another transaction was faster.
const changeAttempts = 40

// errAgain marks a transaction that the server undid because of another one.
var errAgain = errors.New("another transaction was in the way")

// Change implements DB. It runs on one snapshot: a row that another program has changed since fn read it is
// neither written nor removed, and fn runs again.
func (s Server) Change(ctx context.Context, op string, fn func(Tx) error) error {
	for attempt := 1; ; attempt++ {
		err := s.run(ctx, op, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, fn)
		if attempt == changeAttempts || ctx.Err() != nil || !errors.Is(err, errAgain) {
			return err
		}
	}
}

func (s Server) run(ctx context.Context, op string, o pgx.TxOptions, fn func(Tx) error) error {
	tx, err := s.Pool.BeginTx(ctx, o)
	if err != nil {
		return wordedServer(op, err)
	}
	defer func() { _ = pgserver.Unbroken(ctx, tx.Rollback) }() // no effect after a commit
	if err := fn(serverTx{ctx, tx, op}); err != nil {
		return err
	}
	if err := model.FromContext(ctx, op); err != nil {
		return err
	}
	return wordedServer(op, pgserver.Unbroken(ctx, tx.Commit))
}

// Look implements DB: View has asked the server already.
func (s Server) Look(time.Time) []model.HealthFinding { return nil }

// Deep implements DB.
func (s Server) Deep(ctx context.Context) []model.HealthFinding {
	if err := s.Pool.Ping(ctx); err != nil {
		return vitals.Down(model.FindingUnreachable, wordedServer("health", err).Error())
	}
	return nil
}

// Close implements DB.
func (s Server) Close() error {
	s.Pool.Close()
	return nil
}

// keptRows matches the detail of VACUUM FULL VERBOSE: the first number counts the removed rows that it keeps.
var keptRows = regexp.MustCompile(`^\D*(\d+)`)

// Vacuum rewrites a table without its dead rows, and its samples. It is Locked where another session uses the
// table or still sees removed rows, which are then kept. It is PermissionDenied where the server skips the table of
// another owner, of which it only warns.
func (s Server) Vacuum(ctx context.Context, table string) error {
	const op = "scrub"
	kept, skipped := int64(0), false
	cfg := s.Pool.Config().ConnConfig
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		skipped = skipped || n.SeverityUnlocalized == "WARNING"
		if found := keptRows.FindStringSubmatch(n.Detail); found != nil {
			rows, _ := strconv.ParseInt(found[1], 10, 64) // digits
			kept += rows
		}
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return wordedServer(op, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // a lost connection is closed too
	skipped = false                                               // a warning of the connection says nothing of the table
	// Whoever comes after a waiting rewrite waits behind it.
	for _, text := range []string{`SET lock_timeout = '2s'`, `VACUUM (FULL, ANALYZE, VERBOSE) ` + table} {
		if _, err := conn.Exec(ctx, text); err != nil {
			return wordedServer(op, err)
		}
	}
	if skipped {
		return model.Errorf(model.PermissionDenied, op, "the server skipped the table, as it does where the database role is not its owner: removed rows stay in its file")
	}
	if kept > 0 {
		return model.Errorf(model.Locked, op, "%d removed rows are kept for a session that still sees them; scrub again when it is done", kept)
	}
	return nil
}

// Copy streams a table's rows as the server prints them.
func (s Server) Copy(ctx context.Context, query string, to io.Writer) error {
	conn, err := s.Pool.Acquire(ctx)
	if err != nil {
		return wordedServer("open-layer", err)
	}
	defer conn.Release()
	_, err = conn.Conn().PgConn().CopyTo(ctx, to, "COPY ("+query+") TO STDOUT")
	return wordedServer("open-layer", err)
}

// serverWords say what a kind of error means. The server's own message is never passed on: it quotes values, and a
// trigger's says what its author likes.
var serverWords = map[model.Kind]string{
	model.Unavailable:      "the server cannot serve now",
	model.PermissionDenied: "the database role may not do this, or the server takes no changes",
	model.NotFound:         "the server has no such database",
	model.Locked:           "another transaction is in the way; try again when it is done",
	model.AlreadyExists:    "there is such a row already",
	model.Timeout:          "the server ended the statement: cancelled, or over its time",
	model.InvalidInput:     "the server takes a value for invalid",
	model.Conflict:         "a row that depends on this one, or a rule of the table, forbids it",
	model.Internal:         "the server reports an error that memdesk has no words for",
}

// serverKinds are the classes of PostgreSQL's error codes with a kind of their own.
var serverKinds = map[string]model.Kind{
	"08": model.Unavailable, "28": model.PermissionDenied, "53": model.Unavailable, "57": model.Unavailable, "3D": model.NotFound,
	"40": model.Locked, "42501": model.PermissionDenied, "25006": model.PermissionDenied, "23505": model.AlreadyExists, "55P03": model.Locked, "57014": model.Timeout,
	"22": model.InvalidInput, "23": model.Conflict,
}

// wordedServer gives an error its kind. It never contains the connection string.
func wordedServer(op string, err error) error {
	var known *model.Error
	var pg *pgconn.PgError
	var network net.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return model.Ended(op, err)
	case errors.As(err, &pg):
		kind := model.Internal
		for _, code := range []string{pg.Code, pg.Code[:min(2, len(pg.Code))]} {
			if k, ok := serverKinds[code]; ok {
				kind = k
				break
			}
		}
		if words := pgserver.Connect(err); words != "" {
			return model.Errorf(kind, op, "%s (%s)", words, pg.Code)
		}
		if pgserver.Policy(pg) {
			return model.Errorf(kind, op, "%s (%s)", pgserver.HidesRows, pg.Code)
		}
		if pgserver.Again(pg) {
			return model.Errorf(kind, op, "%w (%s)", errAgain, pg.Code)
		}
		return model.E(kind, op, pgserver.Proven(pg, fmt.Errorf("%s (%s)", serverWords[kind], pg.Code)))
	case pgserver.Connect(err) != "":
		return model.Errorf(model.Unavailable, op, "%s", pgserver.Connect(err))
	case errors.As(err, &network), pgconn.SafeToRetry(err):
		return model.Errorf(model.Unavailable, op, "the server does not answer")
	}
	return model.Errorf(model.Unavailable, op, "the connection to the server broke")
}
