package postgres

import (
	"context"
	"fmt"

	"memdesk/backends/internal/vitals"
	"memdesk/model"
)

// mustHave are the indexes without which a recall reads every row.
var mustHave = []string{"nodes_by_words"}

// heldTooLong is how long a transaction of somebody else may hold a write lock on the tables,
// in seconds.
const heldTooLong = 120

// Look is what Health asks beside a ping, within its deadline: the schema, the index of words,
// whether the server takes writes, and a lock that a transaction has kept for minutes.
func (s *Store) Look(ctx context.Context) []model.HealthFinding { return s.look(ctx, heldTooLong) }

func (s *Store) look(ctx context.Context, held int) []model.HealthFinding {
	var version int
	var readOnly bool
	var missing []string
	var holder, seconds int64
	err := s.read(ctx, "health", func(q *query) (err error) {
		if version, err = schemaVersion(q); err != nil {
			return err
		}
		// The transaction itself only reads, so the session's default is asked for.
		if _, err = q.One(`SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean`, nil, &readOnly); err != nil {
			return err
		}
		missing = nil
		err = q.Each(`SELECT wanted.name FROM unnest($1::text[]) AS wanted (name) WHERE NOT EXISTS (
			SELECT 1 FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
			WHERE c.relname = wanted.name AND c.relnamespace = to_regnamespace('memdesk') AND i.indisvalid AND i.indisready)`,
			[]any{mustHave}, func(scan func(...any) error) error {
				var name string
				if err := scan(&name); err != nil {
					return err
				}
				missing = append(missing, name)
				return nil
			})
		if err != nil {
			return err
		}
		holder = 0
		_, err = q.One(`SELECT a.pid, extract(epoch FROM clock_timestamp() - a.xact_start)::bigint FROM pg_locks l
			JOIN pg_stat_activity a ON a.pid = l.pid JOIN pg_class c ON c.oid = l.relation
			WHERE c.relnamespace = to_regnamespace('memdesk') AND l.granted AND a.pid <> pg_backend_pid()
				AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
				AND a.xact_start < clock_timestamp() - make_interval(secs => $1)
			ORDER BY a.xact_start LIMIT 1`, []any{held}, &holder, &seconds)
		return err
	})
	if err != nil {
		return vitals.Down(model.FindingUnreachable, vitals.Words(err, ""))
	}
	return s.judge(version, readOnly, missing, holder, seconds)
}

func (s *Store) judge(version int, readOnly bool, missing []string, holder, seconds int64) []model.HealthFinding {
	var found []model.HealthFinding
	if version != latest() {
		found = append(found, vitals.Down(model.FindingSchema, fmt.Sprintf("the schema is at %d and this program works with %d: run `memdesk migrate`", version, latest()))...)
	}
	if readOnly && s.ReadOnlyReason() == "" {
		found = append(found, vitals.Down(model.FindingDisk, "the server takes no writes: it is a standby, or its sessions are read-only")...)
	}
	for _, name := range missing {
		if version == latest() {
			found = append(found, vitals.Degraded(model.FindingIndex, name,
				"the index "+name+" is missing or not valid: every recall reads all rows; make it anew with `memdesk migrate --to 1`, then `memdesk migrate`")...)
		}
	}
	if holder != 0 {
		found = append(found, vitals.Down(model.FindingLock, fmt.Sprintf("server process %d has held a lock on the tables for %d s: nothing can be retained until its transaction ends", holder, seconds))...)
	}
	return found
}
