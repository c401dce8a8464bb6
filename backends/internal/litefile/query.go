package litefile

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"memdesk/model"
)

// busyWait is how long a lock that another program holds is waited for.
const busyWait = 5 * time.Second

// busyPause keeps a lock that SQLite does not wait for from being asked for in a
// tight loop.
const busyPause = 5 * time.Millisecond

// Query runs statements on one connection, inside one transaction.
type Query struct {
	ctx  context.Context
	conn *sql.Conn
	op   string
	// broken is the first failure of the database itself. SQLite may have rolled
	// the transaction back by then, so nothing may run after it.
	broken error
	// prepared statements by text, where the same one runs many times.
	prepared map[string]*sql.Stmt
}

// Op names the operation in errors.
func (q *Query) Op() string { return q.op }

// Broken is the first failure of the database itself, after which nothing more is accepted.
func (q *Query) Broken() error { return q.broken }

// Break makes err the failure that the transaction does not survive.
func (q *Query) Break(err error) { q.broken = err }

// Prepare keeps these statements prepared, so that Exec with the same text need not parse
// it again. The caller calls release before the transaction ends.
func (q *Query) Prepare(texts ...string) (release func(), err error) {
	q.prepared = map[string]*sql.Stmt{}
	release = func() {
		for _, st := range q.prepared {
			_ = st.Close()
		}
		q.prepared = nil
	}
	for _, text := range texts {
		st, err := q.conn.PrepareContext(q.ctx, text)
		if err != nil {
			release()
			return nil, q.failed(err)
		}
		q.prepared[text] = st
	}
	return release, nil
}

// Context is the one that statements end with.
func (q *Query) Context() context.Context { return q.ctx }

// Under makes the statements that follow end with another context.
func (q *Query) Under(ctx context.Context) { q.ctx = ctx }

// Borrow runs fn in this transaction under the caller's own context and operation.
func (q *Query) Borrow(ctx context.Context, op string, fn func() error) error {
	outerCtx, outerOp := q.ctx, q.op
	q.ctx, q.op = ctx, op
	defer func() { q.ctx, q.op = outerCtx, outerOp }()
	return fn()
}

// Exec runs one statement and returns how many rows it changed.
func (q *Query) Exec(text string, args ...any) (int64, error) {
	if q.broken != nil {
		return 0, q.broken
	}
	if err := q.ctx.Err(); err != nil { // the driver may be done before it looks
		return 0, q.failed(err)
	}
	var res sql.Result
	var err error
	if st := q.prepared[text]; st != nil {
		res, err = st.ExecContext(q.ctx, args...)
	} else {
		res, err = q.conn.ExecContext(q.ctx, text, args...)
	}
	if err != nil {
		return 0, q.failed(err)
	}
	n, err := res.RowsAffected()
	return n, q.failed(err)
}

// Each hands every row to fn.
func (q *Query) Each(text string, args []any, fn func(scan func(...any) error) error) error {
	if q.broken != nil {
		return q.broken
	}
	rows, err := q.conn.QueryContext(q.ctx, text, args...)
	if err != nil {
		return q.failed(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows.Scan); err != nil {
			var known *model.Error
			if errors.As(err, &known) {
				return err
			}
			return model.E(model.Internal, q.op, err)
		}
	}
	return q.failed(rows.Err())
}

// One scans the first row into dest and reports whether there was one.
func (q *Query) One(text string, args []any, dest ...any) (bool, error) {
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

// Texts reads the only column of every row.
func Texts(q interface {
	Each(text string, args []any, fn func(scan func(...any) error) error) error
}, text string, args ...any) (out []string, err error) {
	err = q.Each(text, args, func(scan func(...any) error) error {
		var s string
		err := scan(&s)
		out = append(out, s)
		return err
	})
	return out, err
}

// Columns are those of a table; none where it is absent.
func Columns(q *Query, table string) ([]string, error) {
	return Texts(q, `SELECT name FROM pragma_table_info(?)`, table)
}

// failed words an error and remembers one that the transaction cannot survive.
func (q *Query) failed(err error) error {
	if err == nil {
		return nil
	}
	worded := Worded(q.op, err)
	switch model.KindOf(worded) {
	case model.AlreadyExists, model.InvalidInput, model.Conflict:
	default:
		q.broken = worded
	}
	return worded
}

// Atomically runs fn so that a failure leaves nothing of it while the transaction
// around it stays usable.
func (q *Query) Atomically(fn func() error) error {
	if _, err := q.Exec(`SAVEPOINT step`); err != nil {
		return err
	}
	done := false
	defer func() {
		if done || q.broken != nil { // a broken transaction is undone as a whole
			return
		}
		if _, rerr := q.Exec(`ROLLBACK TO step`); rerr == nil {
			_, _ = q.Exec(`RELEASE step`)
		}
	}()
	if err := fn(); err != nil {
		return err
	}
	if _, err := q.Exec(`RELEASE step`); err != nil {
		return err
	}
	done = true
	return nil
}

func direct(ctx context.Context, conn *sql.Conn, op, text string) error {
	_, err := conn.ExecContext(ctx, text)
	return Worded(op, err)
}

func shortWaits(conn *sql.Conn) {
	_, _ = conn.ExecContext(context.Background(), `PRAGMA busy_timeout = 100`)
}

// rollback ends a transaction whatever state it is in; SQLite may have ended it
// already.
func rollback(conn *sql.Conn) {
	_, _ = conn.ExecContext(context.Background(), `ROLLBACK`)
}

// Connect takes a connection from the pool. A new one reads the file's schema, so
// it waits for an exclusive lock like every other read.
func Connect(ctx context.Context, db *sql.DB) (conn *sql.Conn, err error) {
	err = RetryBusy(ctx, func() error {
		conn, err = db.Conn(ctx)
		return err
	})
	return conn, err
}

type impatient struct{}

// Impatient makes a context under which a lock of another program is given up after busySlice: for what
// is better missing than late.
func Impatient(ctx context.Context) context.Context { return context.WithValue(ctx, impatient{}, true) }

// RetryBusy repeats fn while another program's lock is in the way, up to busyWait
// or the end of ctx; it is then Locked, also where ctx ended a later attempt: the lock is what
// used up the time.
func RetryBusy(ctx context.Context, fn func() error) error {
	deadline := time.Now().Add(busyWait)
	var busy error
	for {
		err := fn()
		if busy != nil && ctx.Err() != nil && model.KindOf(Worded("", err)) == model.Timeout {
			return busy
		}
		if err == nil || !isBusy(err) {
			return err
		}
		busy = err
		if time.Now().After(deadline) || ctx.Value(impatient{}) != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(busyPause):
		}
	}
}

// waitedForLock is Locked where the context ran out while a writer of this
// program held the connection.
func waitedForLock(op string, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return model.Errorf(model.Locked, op, "another change to this store is still running; try again when it is done")
	}
	return Worded(op, err)
}
