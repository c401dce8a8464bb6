package postgres

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/jackc/puddle/v2"
)

// Levels of isolation, as BEGIN takes them.
const (
	repeatableRead = `ISOLATION LEVEL REPEATABLE READ`
	readCommitted  = `ISOLATION LEVEL READ COMMITTED`
)

// endPatience bounds a commit or rollback that has begun.
const endPatience = 30 * time.Second

// tx is a transaction, with a connection of the pool to itself.
type tx struct {
	*conn
	pool *pool
	res  *puddle.Resource[*conn]
	over bool // the server has said so, and the connection is gone
}

// begin starts a transaction. The caller ends it.
func (p *pool) begin(ctx context.Context, how string) (*tx, error) {
	res, err := p.acquire(ctx)
	if err != nil {
		return nil, err
	}
	t := &tx{conn: res.Value(), pool: p, res: res}
	if _, err := t.exec(ctx, `BEGIN `+how); err != nil {
		p.release(res) // which keeps no connection whose state is not known
		return nil, err
	}
	return t, nil
}

// errRolledBack is a commit that the server turned into a rollback.
var errRolledBack = errors.New("the transaction was rolled back")

// commit lets the connection go where it succeeds. It is not interrupted once it has
// begun: its outcome would be unknown.
func (t *tx) commit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
	defer cancel()
	results, err := t.pg.Exec(ctx, `COMMIT`).ReadAll()
	if err != nil {
		return err
	}
	t.over = true
	t.pool.release(t.res)
	if len(results) == 1 && results[0].CommandTag.String() == "ROLLBACK" {
		return errRolledBack
	}
	return nil
}

// end rolls back what was not committed and lets the connection go. Where that fails
// the connection is ended, and with it the transaction.
func (t *tx) end() {
	if t.over {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endPatience)
	defer cancel()
	_, _ = t.exec(ctx, `ROLLBACK`) // release looks at the outcome
	t.pool.release(t.res)
}

// copyFrom runs a COPY … FROM STDIN and returns how many rows it made.
func (t *tx) copyFrom(ctx context.Context, text string, from io.Reader) (int64, error) {
	tag, err := t.pg.CopyFrom(ctx, from, text)
	return tag.RowsAffected(), err
}
