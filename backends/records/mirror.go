package records

import (
	"context"
	"time"

	"memdesk/model"
)

// Mirror is a DB over rows behind a server's calls: each read copies all of them into a table in memory, for
// the statements of this package. A change makes calls of its own, with the context of MirrorTx.
type Mirror struct {
	turn  chan struct{} // one token: the table serves one transaction at a time
	index *Memory
	fill  func(ctx context.Context, op string, put func(cells ...any) error) error
	close func()
}

// NewMirror makes a mirror of the rows that fill puts; the table is called items. Close calls close.
func NewMirror(columns []string, fill func(ctx context.Context, op string, put func(cells ...any) error) error, close func()) (*Mirror, error) {
	index, err := NewMemory("items", columns, columns[0])
	return &Mirror{turn: make(chan struct{}, 1), index: index, fill: fill, close: close}, err
}

// MirrorTx is one transaction of a mirror.
type MirrorTx struct {
	Tx
	Context context.Context
	mirror  *Mirror
}

// Again reads all rows again, after a change. An error is Internal: the change was sent, whatever the cause says.
func (t MirrorTx) Again(op string) error {
	if err := t.mirror.refresh(t.Context, op); err != nil {
		return model.Errorf(model.Internal, op, "the change was sent, and could not be looked at: %w", err)
	}
	return nil
}

func (m *Mirror) refresh(ctx context.Context, op string) error {
	return m.index.Fill(ctx, func(put func(...any) error) error { return m.fill(ctx, op, put) })
}

// View implements DB.
func (m *Mirror) View(ctx context.Context, op string, fn func(Tx) error) error {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done(): // the server is slow for somebody else
		return model.FromContext(ctx, op)
	}
	if err := m.refresh(ctx, op); err != nil {
		return err
	}
	return fn(MirrorTx{m.index.Tx(ctx), ctx, m})
}

// Change implements DB.
func (m *Mirror) Change(ctx context.Context, op string, fn func(Tx) error) error {
	return m.View(ctx, op, fn)
}

// Look implements DB: View has asked the server already.
func (m *Mirror) Look(time.Time) []model.HealthFinding { return nil }

// Deep implements DB.
func (m *Mirror) Deep(context.Context) []model.HealthFinding { return nil }

// Close implements DB.
func (m *Mirror) Close() error {
	m.close()
	return m.index.Close()
}

var _ DB = (*Mirror)(nil)
