package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

const (
	// watchQueue is how many changes wait for a slow reader before they are told as
	// one that says to look at everything again.
	watchQueue = 1000
	// watchAgain is the pause between two attempts to take the lock that another
	// watcher holds, and at most between two attempts to connect.
	watchAgain = 5 * time.Second
	// watchHold is how long the lock is waited for at once.
	watchHold = time.Second
)

// Watch implements model.Watcher: it hears of every change of nodes, edges and
// members of the workspace, whoever makes it, committed after Watch returned. It holds
// a connection of its own; where that breaks it connects again and says that changes
// may have been lost.
//
// Writers notify only while a watcher holds the workspace's lock (schema.go). They
// hold it shared for their transaction, so who takes it has waited for those that
// began without it. Of several watchers one holds it and all hear; when that one
// leaves, the next takes its place and says that something may have been lost.
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

// watchStep is the version of the schema that tells watchers.
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

// connect listens, and sees to it that writers notify.
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
	for !l.holds { // a long transaction may stand in the way of the first attempt
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

// hold tries to take the lock; that it cannot is no error.
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

// listen passes on what it hears until ctx ends.
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
			if l.holds && !tell(model.Change{Lost: true}) { // who held it has left, and some time ago maybe
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

// reconnect tries until it is done; false when ctx has ended.
func (l *listener) reconnect(ctx context.Context) bool {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, watchAgain) {
		if l.connect(ctx) == nil {
			return true
		}
		l.close()
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return false
		case <-timer.C:
		}
	}
}

// itemOf reads what a trigger wrote: n or e and the id.
func itemOf(payload string) model.Change {
	switch {
	case len(payload) > 1 && payload[0] == 'n':
		return model.Change{ID: hypergraph.NodeItemID(payload[1:])}
	case len(payload) > 1 && payload[0] == 'e':
		return model.Change{ID: hypergraph.EdgeItemID(payload[1:])}
	}
	return model.Change{}
}

// deliver hands changes to the reader. What waits for a slow one is told once each,
// and where too much waits, as lost.
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
