package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/internal/pgserver"
	"memdesk/model"
)

// query runs statements, each alone or inside one transaction.
type query struct {
	ctx context.Context
	on  runner
	op  string
	// changing: inside a transaction that may write. A read by id then locks the row until the commit.
	changing bool
	// broken is the first server error inside the transaction: the transaction accepts nothing after it.
	broken error
	// held are the nodes that this transaction has locked and not changed since.
	held map[string]hypergraph.Node
	tx   pgx.Tx
	// lost: outside a transaction, a statement met a connection that had ended. handed: one has handed out a row.
	lost, handed bool
	// after runs when the transaction is committed.
	after []func()
}

// Op names the operation in errors.
func (q *query) Op() string { return q.op }

// Exec runs one statement and returns how many rows it changed.
func (q *query) Exec(text string, args ...any) (int64, error) {
	if q.broken != nil {
		return 0, q.broken
	}
	tag, err := q.on.Exec(q.ctx, text, args...)
	return tag.RowsAffected(), q.failed(err)
}

// Each calls fn with every row.
func (q *query) Each(text string, args []any, fn func(scan func(...any) error) error) error {
	if q.broken != nil {
		return q.broken
	}
	rows, err := q.on.Query(q.ctx, text, args...)
	return q.every(rows, err, fn)
}

// every calls fn with every row of a statement's answer.
func (q *query) every(rows pgx.Rows, err error, fn func(scan func(...any) error) error) error {
	if err != nil {
		return q.failed(err)
	}
	defer rows.Close() // reads and drops the rows after an error of fn
	for rows.Next() {
		q.handed = true
		if err := fn(rows.Scan); err != nil { // fn's own error breaks no transaction
			return worded(q.Op(), err)
		}
	}
	return q.failed(rows.Err())
}

// eachPlanned is Each with a plan for these arguments: the best plan depends on how rare the words are, and
// the server may keep one plan of a prepared statement for all words. Both statements are one round trip, and
// one transaction where there is none yet; the setting ends with it.
func (q *query) eachPlanned(text string, args []any, fn func(scan func(...any) error) error) error {
	if q.broken != nil {
		return q.broken
	}
	var b pgx.Batch
	b.Queue(`SELECT set_config('plan_cache_mode', 'force_custom_plan', true)`)
	b.Queue(text, args...)
	results := q.on.SendBatch(q.ctx, &b)
	defer results.Close()
	if _, err := results.Exec(); err != nil {
		return q.failed(err)
	}
	rows, err := results.Query()
	return q.every(rows, err, fn)
}

// One scans the first row into dest and reports whether there was one.
func (q *query) One(text string, args []any, dest ...any) (bool, error) {
	found := false
	err := q.Each(text, args, func(scan func(...any) error) error {
		if found {
			return nil
		}
		found = true
		return scan(dest...)
	})
	return found, err
}

// failed words an error. Inside a transaction it is final: the server has aborted the transaction.
func (q *query) failed(err error) error {
	if err == nil {
		return nil
	}
	out := worded(q.Op(), err)
	if again(err) {
		out = model.Errorf(model.Locked, q.Op(), "%w; try again", errAgain)
	}
	if q.tx != nil {
		q.broken = out
	}
	q.lost = q.tx == nil && lost(err)
	return out
}

// atomically runs fn inside a transaction: what the server refuses of it is undone, and the transaction goes on.
func (q *query) atomically(fn func() error) error {
	if _, err := q.Exec(`SAVEPOINT part`); err != nil {
		return err
	}
	err := fn()
	end := `RELEASE SAVEPOINT part`
	if err != nil {
		if errors.Is(err, errAgain) || model.FromContext(q.ctx, q.op) != nil {
			return err
		}
		q.broken, end = nil, `ROLLBACK TO SAVEPOINT part`
	}
	if _, failed := q.Exec(end); failed != nil { // the connection is lost
		return failed
	}
	return err
}

// ops are the operations, outside or inside a transaction.
type ops struct {
	sqlgraph.Writes
	s  *Store
	tx *query
}

func newOps(s *Store, tx *query) ops {
	o := ops{s: s, tx: tx}
	d, r := dialect{s}, runs{s, tx}
	schema := sqlgraph.Schema{Prefix: schemaName + `.`, Server: true, Workspace: s.workspace}
	o.Writes = sqlgraph.Writes{Reads: sqlgraph.Reads{Schema: schema, Dialect: d, Runner: r, Rules: func() sqlgraph.Rules { return rules }},
		NodeTable: d, EdgeTable: d, VectorTable: d, Changer: r}
	return o
}

// runs gives the shared operations their queries.
type runs struct {
	s  *Store
	tx *query
}

// Read implements sqlgraph.Runner.
func (r runs) Read(ctx context.Context, op string, fn func(sqlgraph.Query) error) error {
	return ops{s: r.s, tx: r.tx}.read(ctx, op, func(q *query) error { return fn(q) })
}

// View implements sqlgraph.Runner.
func (r runs) View(ctx context.Context, op string, fn func(sqlgraph.Query) error) error {
	return ops{s: r.s, tx: r.tx}.view(ctx, op, func(q *query) error { return fn(q) })
}

// Change implements sqlgraph.Changer.
func (r runs) Change(ctx context.Context, op string, fn func(sqlgraph.Query) error) error {
	return ops{s: r.s, tx: r.tx}.change(ctx, op, func(q *query) error { return fn(q) })
}

// ChangeWhole implements sqlgraph.Changer: any server error ends a transaction.
func (r runs) ChangeWhole(ctx context.Context, op string, fn func(sqlgraph.Query) error) error {
	return r.Change(ctx, op, fn)
}

// read runs fn, which executes one statement, without a transaction of its own.
func (o ops) read(ctx context.Context, op string, fn func(*query) error) error {
	if o.tx != nil {
		return o.tx.borrowed(ctx, op, func() error { return fn(o.tx) })
	}
	if err := model.FromContext(ctx, op); err != nil {
		return err
	}
	return o.s.revived(func() error {
		q := &query{ctx: ctx, on: o.s.pool, op: op}
		err := fn(q)
		if err != nil && q.lost && !q.handed {
			return errLost{err, true}
		}
		return err
	})
}

// view runs fn on one consistent snapshot. fn must set its results anew on each call: it is rerun after
// a lost connection was replaced.
func (o ops) view(ctx context.Context, op string, fn func(*query) error) error {
	if o.tx != nil {
		return o.tx.borrowed(ctx, op, func() error { return fn(o.tx) })
	}
	if err := model.FromContext(ctx, op); err != nil {
		return err
	}
	return o.s.revived(func() error {
		tx, err := o.s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
		if err != nil {
			return errLost{worded(op, err), lost(err)}
		}
		defer end(tx)
		return fn(&query{ctx: ctx, on: tx, op: op, tx: tx})
	})
}

// errLost is an error from before the transaction began.
type errLost struct {
	error
	lost bool
}

func (e errLost) Unwrap() error { return e.error }

// revived reruns a read when the server had ended the pooled connection: a restart in between goes unnoticed.
func (s *Store) revived(fn func() error) error {
	err := fn()
	var e errLost
	if errors.As(err, &e) {
		if !e.lost {
			return e.error
		}
		err = fn()
		if errors.As(err, &e) {
			return e.error
		}
	}
	return err
}

// change runs fn in a short transaction of its own, or inside the surrounding one.
func (o ops) change(ctx context.Context, op string, fn func(*query) error) error {
	if o.tx != nil {
		return o.tx.borrowed(ctx, op, func() error { return fn(o.tx) })
	}
	return o.s.transaction(ctx, op, fn)
}

// borrowed runs fn in a surrounding transaction under the caller's own context.
func (q *query) borrowed(ctx context.Context, op string, fn func() error) error {
	if err := model.FromContext(ctx, op); err != nil {
		return err
	}
	outerCtx, outerOp := q.ctx, q.op
	q.ctx, q.op = ctx, op
	defer func() { q.ctx, q.op = outerCtx, outerOp }()
	return fn()
}

const (
	// txAttempts bounds the runs of a transaction that conflicts with others.
	txAttempts = 40
	// txPause is the longest first pause before a rerun; it doubles up to txPauseMax.
	txPause    = 2 * time.Millisecond
	txPauseMax = 100 * time.Millisecond
)

// transaction runs fn and commits; any failure rolls back. It runs on one snapshot and locks rows that
// it reads by id: if it writes a row that another transaction has changed since, the server undoes it,
// and fn runs again.
func (s *Store) transaction(ctx context.Context, op string, fn func(*query) error) error {
	return s.transactionAt(ctx, op, pgx.RepeatableRead, s.refusal, fn)
}

func (s *Store) transactionAt(ctx context.Context, op string, level pgx.TxIsoLevel, refusal func() string, fn func(*query) error) error {
	pause := txPause
	for attempt := 1; ; attempt++ {
		err := s.attempt(ctx, op, level, refusal, fn)
		var e errLost
		switch {
		case errors.As(err, &e) && (!e.lost || attempt > 3):
			return e.error
		case errors.As(err, &e): // the connection had ended before the transaction began
			continue
		case !errors.Is(err, errAgain) || attempt == txAttempts:
			return err
		}
		select {
		case <-ctx.Done():
			return model.FromContext(ctx, op)
		case <-time.After(rand.N(pause)):
		}
		pause = min(2*pause, txPauseMax)
	}
}

func (s *Store) attempt(ctx context.Context, op string, level pgx.TxIsoLevel, refusal func() string, fn func(*query) error) error {
	if err := model.FromContext(ctx, op); err != nil {
		return err
	}
	if why := refusal(); why != "" {
		return model.Errorf(model.PermissionDenied, op, "the store takes no changes: %s", why)
	}
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: level})
	if err != nil {
		return errLost{worded(op, err), lost(err)}
	}
	defer end(tx) // also after a panic in fn
	q := &query{ctx: ctx, on: tx, op: op, changing: true, held: map[string]hypergraph.Node{}, tx: tx}
	if err := fn(q); err != nil {
		if q.broken != nil && errors.Is(q.broken, errAgain) { // even if fn ignored the error
			return q.broken
		}
		return err
	}
	if q.broken != nil {
		return q.broken
	}
	if err := model.FromContext(ctx, op); err != nil {
		return err
	}
	if err := pgserver.Unbroken(ctx, tx.Commit); err != nil {
		return q.failed(err)
	}
	for _, fn := range q.after {
		fn()
	}
	return nil
}

// end rolls back an uncommitted transaction. Where that fails the pool closes the connection, which
// ends the transaction.
func end(tx pgx.Tx) { _ = pgserver.Unbroken(context.Background(), tx.Rollback) }

var _ hypergraph.Ops = ops{}
