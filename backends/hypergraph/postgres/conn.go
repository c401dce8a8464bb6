package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// statementsKept is how many statements a connection keeps: of more, the one that was
// not used for longest goes.
const statementsKept = 512

// dialing says how connections are made.
type dialing struct {
	*pgconn.Config
	// unnamed: nothing stays prepared on the server, for a pooler that gives every
	// transaction another connection.
	unnamed bool
}

// parseDSN reads a connection string as libpq does. Of the words that tell a driver
// how to run statements, default_query_exec_mode counts: anything but cache_statement
// keeps no statement on the server. The pool's size is the store's configuration.
func parseDSN(dsn string) (dialing, error) {
	cfg, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return dialing{}, err
	}
	d := dialing{Config: cfg}
	mode, given := cfg.RuntimeParams["default_query_exec_mode"]
	switch mode {
	case "", "cache_statement":
	case "cache_describe", "describe_exec", "exec", "simple_protocol":
		d.unnamed = true
	}
	if given && mode != "cache_statement" && !d.unnamed {
		return dialing{}, fmt.Errorf("unknown default_query_exec_mode %q", mode)
	}
	for name := range cfg.RuntimeParams { // the server knows none of these
		if name == "default_query_exec_mode" || name == "statement_cache_capacity" || name == "description_cache_capacity" || strings.HasPrefix(name, "pool_") {
			delete(cfg.RuntimeParams, name)
		}
	}
	return d, nil
}

// conn is one connection. It is not safe for concurrent use.
type conn struct {
	pg      *pgconn.PgConn
	unnamed bool
	life    time.Duration // in a pool

	statements map[string]*statement // by their text
	stale      []string              // names of forgotten statements that the server still holds
	made, runs uint64

	notes []string // payloads heard and not taken yet
}

// statement is a prepared one.
type statement struct {
	*pgconn.StatementDescription
	formats []int16 // of its columns
	used    uint64
}

// dial connects. The caller closes.
func dial(ctx context.Context, d dialing) (*conn, error) {
	c := &conn{unnamed: d.unnamed, statements: map[string]*statement{}}
	cfg := d.Copy()
	cfg.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { c.notes = append(c.notes, n.Payload) }
	var err error
	c.pg, err = pgconn.ConnectConfig(ctx, cfg)
	return c, err
}

func (c *conn) close(ctx context.Context) { _ = c.pg.Close(ctx) } // a lost connection is closed too

// use implements runner.
func (c *conn) use(_ context.Context, fn func(*conn) error) error { return fn(c) }

// exec runs one statement and returns how many rows it changed. Without arguments it
// is sent as it is, and may be several.
func (c *conn) exec(ctx context.Context, text string, args ...any) (int64, error) {
	if len(args) == 0 {
		results := c.pg.Exec(ctx, text)
		var tag pgconn.CommandTag
		for results.NextResult() {
			tag, _ = results.ResultReader().Close() // results.Close gives the error
		}
		return tag.RowsAffected(), results.Close()
	}
	rows, err := c.run(ctx, text, args)
	if err != nil {
		return 0, err
	}
	tag, err := rows.Close()
	return tag.RowsAffected(), c.outcome(text, err)
}

// each hands every row to fn, whose first error ends it and is returned as it is.
func (c *conn) each(ctx context.Context, text string, args []any, fn func(scan func(...any) error) error) error {
	rows, err := c.run(ctx, text, args)
	if err != nil {
		return err
	}
	defer func() { _, _ = rows.Close() }() // when fn fails: what follows is read and dropped
	scan := row{rows}.scan
	for rows.NextRow() {
		if err := fn(scan); err != nil {
			return err
		}
	}
	_, err = rows.Close()
	return c.outcome(text, err)
}

// one scans the first row into dest and reports whether there was one.
func (c *conn) one(ctx context.Context, text string, args []any, dest ...any) (bool, error) {
	found := false
	err := c.each(ctx, text, args, func(scan func(...any) error) error {
		if found {
			return nil
		}
		found = true
		return scan(dest...)
	})
	return found, err
}

// run prepares a statement, if the connection does not know it, and executes it. The
// caller closes the reader.
func (c *conn) run(ctx context.Context, text string, args []any) (*pgconn.ResultReader, error) {
	st, err := c.prepared(ctx, text)
	if err != nil {
		return nil, err
	}
	if len(args) != len(st.ParamOIDs) {
		return nil, fmt.Errorf("the statement takes %d arguments and has %d", len(st.ParamOIDs), len(args))
	}
	values, formats := make([][]byte, len(args)), make([]int16, len(args))
	for i, arg := range args {
		if values[i], formats[i], err = encode(arg); err != nil {
			return nil, err
		}
	}
	if c.unnamed {
		return c.pg.ExecParams(ctx, text, values, st.ParamOIDs, formats, st.formats), nil
	}
	return c.pg.ExecStatement(ctx, st.StatementDescription, values, formats, st.formats), nil
}

// prepared looks a statement up, or describes it and keeps it.
func (c *conn) prepared(ctx context.Context, text string) (*statement, error) {
	if err := c.dropStale(ctx); err != nil {
		return nil, err
	}
	c.runs++
	if st := c.statements[text]; st != nil {
		st.used = c.runs
		return st, nil
	}
	if len(c.statements) >= statementsKept {
		c.forget(c.oldest())
	}
	name := ""
	if !c.unnamed {
		c.made++
		name = "memdesk_" + strconv.FormatUint(c.made, 10)
	}
	described, err := c.pg.Prepare(ctx, name, text, nil)
	if err != nil {
		return nil, err
	}
	st := &statement{StatementDescription: described, formats: make([]int16, len(described.Fields)), used: c.runs}
	for i, f := range described.Fields {
		st.formats[i] = formatOf(f.DataTypeOID)
	}
	c.statements[text] = st
	return st, nil
}

func (c *conn) oldest() (text string) {
	used := c.runs + 1
	for t, st := range c.statements {
		if st.used < used {
			text, used = t, st.used
		}
	}
	return text
}

// outcome forgets a statement that failed: the schema may have changed under it.
func (c *conn) outcome(text string, err error) error {
	if err != nil {
		c.forget(text)
	}
	return err
}

func (c *conn) forget(text string) {
	if st := c.statements[text]; st != nil {
		delete(c.statements, text)
		if st.Name != "" {
			c.stale = append(c.stale, st.Name)
		}
	}
}

// dropStale frees what the server still holds of forgotten statements, as soon as its
// transaction takes commands.
func (c *conn) dropStale(ctx context.Context) error {
	if c.pg.TxStatus() == txFailed {
		return nil
	}
	for len(c.stale) > 0 {
		if err := c.pg.Deallocate(ctx, c.stale[0]); err != nil {
			return err
		}
		c.stale = c.stale[1:]
	}
	return nil
}

// What a connection says of its transaction (the PostgreSQL manual, ReadyForQuery).
const (
	txNone   = 'I'
	txFailed = 'E'
)

// heard waits for a notification and takes its payload.
func (c *conn) heard(ctx context.Context) (string, error) {
	for len(c.notes) == 0 {
		if err := c.pg.WaitForNotification(ctx); err != nil {
			return "", err
		}
	}
	payload := c.notes[0]
	c.notes = c.notes[1:]
	return payload, nil
}
