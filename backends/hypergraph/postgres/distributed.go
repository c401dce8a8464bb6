package postgres

import (
	"context"
	"time"

	"memdesk/model"
)

// A distributed database keeps the rows on several servers behind one address: Citus, YugabyteDB and
// others that speak PostgreSQL's protocol (DISTRIBUTE.md). There, advisory locks, notifications and
// statement triggers are per server or absent. memdesk uses the same schema without them: it locks
// rows, and a watcher polls.

// engines reports whether the server is a known distributed engine.
const engines = `SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') OR version() LIKE '%-YB-%' OR version() LIKE 'CockroachDB%'`

// tells reports whether the schema notifies watchers by triggers.
const tells = `SELECT EXISTS (SELECT 1 FROM pg_proc WHERE pronamespace = to_regnamespace('memdesk') AND proname = 'tell')`

// mustForgetTriggers says how to move a schema from one server to several.
const mustForgetTriggers = "its schema tells watchers by triggers, which a distributed database does not run: " +
	"`memdesk migrate --store NAME --to 2`, then `memdesk migrate --store NAME`, leave them out"

// isDistributed is valid once the store is prepared.
func (s *Store) isDistributed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.distributed
}

// otherServers is the layer of the data that the coordinator does not show.
func otherServers() model.Layer {
	return model.Layer{ID: "other servers", Kind: model.LayerExternal, Reason: otherServersReason}
}

const otherServersReason = "the rows lie on the servers of a distributed database, whose files, logs and samples memdesk does not see: " +
	"on each of them a superuser runs VACUUM (FULL, ANALYZE) of memdesk's tables, then CHECKPOINT, and looks"

// A poll of a workspace reads all its keys. pollPause is the least pause between two polls; after a
// slow poll the pause is pollShare times as long as the poll, so that a watcher costs the database at
// most two percent of its time.
var pollPause = 5 * time.Second

const pollShare = 50

// fingerprint sums up the keys and versions of a workspace: it differs after any node or edge was
// created, changed or removed.
const fingerprint = `SELECT
	(SELECT count(*) || ' ' || COALESCE(sum(hashtextextended(id, row_version)), 0) FROM memdesk.nodes WHERE workspace = $1) || ' ' ||
	(SELECT count(*) || ' ' || COALESCE(sum(hashtextextended(id, row_version)), 0) FROM memdesk.hyperedges WHERE workspace = $1)`

func (s *Store) print(ctx context.Context) (string, error) {
	var at string
	err := s.read(ctx, "watch", func(q *query) error {
		_, err := q.One(fingerprint, []any{s.workspace}, &at)
		return err
	})
	return at, err
}

// poll is Watch without notifications: it reports that something changed, not which item.
func (s *Store) poll(ctx context.Context) (<-chan model.Change, error) {
	last, err := s.print(ctx)
	if err != nil {
		return nil, err
	}
	out := make(chan model.Change)
	go func() { // ends with ctx
		defer close(out)
		pause := pollPause
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			began := time.Now()
			at, err := s.print(ctx)
			pause = max(pollPause, pollShare*time.Since(began))
			if err != nil || at == last { // Health reports a server that does not answer
				continue
			}
			last = at
			select {
			case out <- model.Change{Lost: true}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, nil
}
