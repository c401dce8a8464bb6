package records

import (
	"context"
	"errors"
	"time"

	"memdesk/model"
)

// Joined is a database with another beside it. They share no transaction: a change is committed to the other
// first.
type Joined struct {
	DB
	Beside DB
}

// joinedTx is a transaction in each of the two.
type joinedTx struct {
	Tx
	beside Tx
}

// Beside is the transaction of the other database; tx itself where there is only one.
func Beside(tx Tx) Tx {
	if two, ok := tx.(joinedTx); ok {
		return two.beside
	}
	return tx
}

// View implements DB.
func (j Joined) View(ctx context.Context, op string, fn func(Tx) error) error {
	return j.DB.View(ctx, op, func(tx Tx) error {
		return j.Beside.View(ctx, op, func(beside Tx) error { return fn(joinedTx{tx, beside}) })
	})
}

// Change implements DB.
func (j Joined) Change(ctx context.Context, op string, fn func(Tx) error) error {
	return j.DB.Change(ctx, op, func(tx Tx) error {
		return j.Beside.Change(ctx, op, func(beside Tx) error { return fn(joinedTx{tx, beside}) })
	})
}

// Look implements DB.
func (j Joined) Look(now time.Time) []model.HealthFinding {
	return append(j.DB.Look(now), j.Beside.Look(now)...)
}

// Deep implements DB.
func (j Joined) Deep(ctx context.Context) []model.HealthFinding {
	return append(j.DB.Deep(ctx), j.Beside.Deep(ctx)...)
}

// Close implements DB.
func (j Joined) Close() error { return errors.Join(j.DB.Close(), j.Beside.Close()) }
