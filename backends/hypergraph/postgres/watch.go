package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

const (
	// watchQueue is how many changes wait for a slow reader before they become a single one that says
	// that changes were lost.
	watchQueue = 1000
	// watchAgain is the pause between two attempts to take the lock that another watcher holds, and the
	// longest between two attempts to connect.
	watchAgain = 5 * time.Second
	// watchHold is how long one attempt waits for the lock.
	watchHold = time.Second
)

// Watch implements model.Watcher: it receives every change of the workspace's nodes, edges and members
// that any program commits after Watch returned. It holds its own connection; if that breaks it
// reconnects and reports that changes may have been lost.
//
// Writers notify only while a watcher holds the workspace's lock (schema.go). They hold it shared
// during their transaction, so taking it waits for the transactions that began without it. Of several
// watchers one holds the lock and all receive; when that one leaves, the next takes the lock and
// reports that changes may have been lost.
func (s *Store) Watch(ctx context.Context) (<-chan model.Change, error) {
	const op = "watch"
	if s.schemaVersion() < watchStep {
		return nil, model.Errorf(model.Unsupported, op, "schema version %d tells nobody of changes: `memdesk migrate --store NAME` brings it up to date", s.schemaVersion())
	}
	if s.isDistributed() {
		return s.poll(ctx)
	}
	l := &listener{s: s}
	if err := l.connect(ctx); err != nil {
		l.close()
		return nil, worded(op, err)
	}
	heard, out := make(chan model.Change), make(chan model.Change)
	go func() { // both end with ctx
		defer close(heard)
		defer l.close()
		l.listen(ctx, heard)
	}()
	go deliver(ctx, heard, out)
	return out, nil
}

// watchStep is the schema version that adds the notifying triggers.
const watchStep = 3

func (s *Store) schemaVersion() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// listener is a watcher's connection.
type listener struct {
	s     *Store
	conn  *pgx.Conn
	holds bool // the lock that makes writers notify
}

// connect starts to listen, and returns once this or another watcher holds the lock that makes writers
// notify.
func (l *listener) connect(ctx context.Context) error {
	l.close()
	conn, err := l.s.dial(ctx, nil)
	if err != nil {
		return err
	}
	l.conn = conn
	var channel string
	if err := conn.QueryRow(ctx, `SELECT memdesk.watch_channel($1)`, l.s.workspace).Scan(&channel); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, `LISTEN `+quote(channel)); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, `SELECT set_config('lock_timeout', $1, false), set_config('idle_in_transaction_session_timeout', '0', false)`, watchHold.String()); err != nil {
		return err
	}
	for !l.holds { // a long transaction may block the first attempt
		if err := l.hold(ctx); err != nil {
			return err
		}
		if l.holds {
			break
		}
		var other bool
		if err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_locks l, memdesk.watch_key($1) k WHERE l.locktype = 'advisory' AND l.granted
			AND l.mode = 'ExclusiveLock' AND l.objsubid = 1 AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND ((l.classid::bigint << 32) | l.objid::bigint) = k)`, l.s.workspace).Scan(&other); err != nil {
			return err
		}
		if other {
			return nil
		}
	}
	return nil
}

// hold tries to take the lock; a failure to get it in time is no error.
func (l *listener) hold(ctx context.Context) error {
	_, err := l.conn.Exec(ctx, `SELECT pg_advisory_lock(memdesk.watch_key($1))`, l.s.workspace)
	if err != nil && model.KindOf(worded("watch", err)) == model.Locked {
		return nil
	}
	l.holds = err == nil
	return err
}

func (l *listener) close() {
	l.holds = false
	if l.conn != nil {
		hangUp(l.conn)
		l.conn = nil
	}
}

// listen passes on notifications until ctx ends.
func (l *listener) listen(ctx context.Context, heard chan<- model.Change) {
	tell := func(c model.Change) bool {
		select {
		case heard <- c:
			return true
		case <-ctx.Done():
			return false
		}
	}
	for ctx.Err() == nil {
		wait, cancel := ctx, context.CancelFunc(func() {})
		if !l.holds {
			wait, cancel = context.WithTimeout(ctx, watchAgain)
		}
		note, err := l.conn.WaitForNotification(wait)
		timeUp := wait.Err() != nil
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			if !tell(itemOf(note.Payload)) {
				return
			}
		case timeUp && !l.conn.IsClosed():
			err := l.hold(ctx)
			if l.holds && !tell(model.Change{Lost: true}) { // the former holder has left, perhaps a while ago
				return
			}
			if err == nil {
				continue
			}
			fallthrough
		default:
			if !l.reconnect(ctx) || !tell(model.Change{Lost: true}) {
				return
			}
		}
	}
}

// reconnect retries until it succeeds; false when ctx has ended.
func (l *listener) reconnect(ctx context.Context) bool {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, watchAgain) {
		if l.connect(ctx) == nil {
			return true
		}
		l.close()
		select {
		case <-ctx.Done():
			return false
		case <-time.After(pause):
		}
	}
}

// itemOf parses a trigger's payload: n or e and the id.
func itemOf(payload string) model.Change {
	switch {
	case len(payload) > 1 && payload[0] == 'n':
		return model.Change{ID: hypergraph.NodeItemID(payload[1:])}
	case len(payload) > 1 && payload[0] == 'e':
		return model.Change{ID: hypergraph.EdgeItemID(payload[1:])}
	}
	return model.Change{}
}

// deliver hands changes to the reader. Changes that wait for a slow reader are merged per item, and too
// many become a single report of loss.
func deliver(ctx context.Context, heard <-chan model.Change, out chan<- model.Change) {
	defer close(out)
	var queue []model.Change
	waits := map[model.Change]bool{}
	for {
		var to chan<- model.Change
		var next model.Change
		if len(queue) > 0 {
			to, next = out, queue[0]
		}
		select {
		case c, ok := <-heard:
			switch {
			case !ok:
				return
			case waits[c]:
			case len(queue) >= watchQueue:
				queue = []model.Change{{Lost: true}}
				clear(waits)
				waits[queue[0]] = true
			default:
				queue, waits[c] = append(queue, c), true
			}
		case to <- next:
			queue = queue[1:]
			delete(waits, next)
		case <-ctx.Done():
			return
		}
	}
}

var _ model.Watcher = (*Store)(nil)
