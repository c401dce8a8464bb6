package postgres

import (
	"cmp"
	"context"
	"fmt"
	"regexp"

	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/hypergraph/internal/words"
	"memdesk/backends/internal/vitals"
	"memdesk/model"
)

// mustHave are the indexes without which every recall reads all rows.
var mustHave = []string{"nodes_by_words"}

// columns are those of the tables of schema step 1, as "table.column": without one no statement works that names it.
var columns = func() (out []string) {
	named := regexp.MustCompile(`(?m)^CREATE TABLE memdesk\.(\w+)|^\t\t([a-z_]+) `)
	for _, text := range tablesUp {
		table := ""
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			if table = cmp.Or(m[1], table); m[2] != "" {
				out = append(out, table+"."+m[2])
			}
		}
	}
	return out
}()

// heldTooLong is how long another program's transaction may hold a write lock on the tables, in seconds.
const heldTooLong = 120

// Look makes Health's checks beside the ping, within its deadline: the schema and its columns, the index of words,
// whether the server takes writes, and a lock that a transaction has held for minutes.
func (s *Store) Look(ctx context.Context) []model.HealthFinding { return s.look(ctx, heldTooLong) }

func (s *Store) look(ctx context.Context, held int) []model.HealthFinding {
	var version int
	var readOnly bool
	var lost, missing []string
	var holder, seconds int64
	err := s.read(ctx, "health", func(q *query) (err error) {
		if version, err = schemaVersion(q); err != nil {
			return err
		}
		// This transaction is read-only itself, so the session's default is queried.
		if _, err = q.One(`SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean`, nil, &readOnly); err != nil {
			return err
		}
		lost, missing = nil, nil
		err = q.Each(`SELECT name FROM unnest($1::text[]) AS wanted (name) EXCEPT SELECT c.relname || '.' || a.attname
			FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE c.relnamespace = to_regnamespace('memdesk') AND NOT a.attisdropped`,
			[]any{columns}, sqlgraph.Collect(&lost))
		if err != nil {
			return err
		}
		err = q.Each(`SELECT wanted.name FROM unnest($1::text[]) AS wanted (name) WHERE NOT EXISTS (
			SELECT 1 FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
			WHERE c.relname = wanted.name AND c.relnamespace = to_regnamespace('memdesk') AND i.indisvalid AND i.indisready)`,
			[]any{mustHave}, sqlgraph.Collect(&missing))
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
	return s.judge(version, readOnly, lost, missing, holder, seconds)
}

func (s *Store) judge(version int, readOnly bool, lost, missing []string, holder, seconds int64) []model.HealthFinding {
	var found []model.HealthFinding
	switch version {
	case latest():
		for _, column := range lost {
			found = append(found, vitals.Down(model.FindingSchema, "the column memdesk."+column+" is missing: somebody else changed the schema, and recall or retain fails until it is put back")...)
		}
	case 0: // a new process cannot open it, so it cannot migrate it
		found = append(found, vitals.Down(model.FindingSchema, "the database has no memdesk schema anymore: `memdesk create postgres=NAME`, with the name of the variable that holds the connection string, makes it")...)
	default:
		found = append(found, vitals.Down(model.FindingSchema, fmt.Sprintf("the schema is at %d and this program works with %d: run `memdesk migrate`", version, latest()))...)
	}
	if readOnly && s.ReadOnlyReason() == "" {
		found = append(found, vitals.Down(model.FindingDisk, "the server takes no writes: it is a standby, or its sessions are read-only")...)
	}
	for _, name := range missing {
		if version == latest() {
			found = append(found, vitals.Degraded(model.FindingIndex, name,
				"the index "+name+" is missing or not valid: every recall reads all rows; make it anew with `memdesk reindex`")...)
		}
	}
	if holder != 0 {
		found = append(found, vitals.Down(model.FindingLock, fmt.Sprintf("server process %d has held a lock on the tables for %d s: nothing can be retained until its transaction ends", holder, seconds))...)
	}
	return found
}

// inStep counts derived values of a workspace that differ from its rows. Tiers are counted anew each
// time, so there are no other stored counts.
var inStep = []struct{ kind, ref, message, needs, query string }{
	{model.FindingCounters, "has_vector", "%d nodes are listed with a vector that is not stored, or without one that is", "memdesk.node_embeddings", `
		SELECT count(*) FROM memdesk.nodes n LEFT JOIN memdesk.node_embeddings e ON e.workspace = n.workspace AND e.node_id = n.id
		WHERE n.workspace = $1 AND n.has_vector <> (e.node_id IS NOT NULL)`},
	{model.FindingIndex, "node_vectors", "%d vectors are not in pgvector's index: recall by meaning may not find them; `memdesk migrate` adds them", "memdesk.node_vectors", `
		SELECT count(*) FROM memdesk.node_embeddings e LEFT JOIN memdesk.node_vectors v ON v.workspace = e.workspace AND v.node_id = e.node_id
		WHERE e.workspace = $1 AND e.dimensions <= 2000 AND v.dimensions IS DISTINCT FROM e.dimensions`},
}

// wordless are the nodes without an entry in the index of words. The beginnings of their texts
// distinguish those with words from those of signs only.
const wordless = `SELECT left(content, 1000), left(metadata, 1000) FROM memdesk.nodes WHERE workspace = $1 AND words_whole AND words = ''`

// Deep is the part of Health that reads the workspace's rows: it checks the index of words and the
// stored vector data against them. It runs in the background, on one connection, until its context
// ends, and transfers no whole text.
func (s *Store) Deep(ctx context.Context) []model.HealthFinding {
	var found []model.HealthFinding
	err := s.read(ctx, "health", func(q *query) error {
		found = nil
		for _, check := range inStep {
			var n int64
			if _, err := q.One(`SELECT count(*) FROM pg_class WHERE oid = to_regclass($1)`, []any{check.needs}, &n); err != nil {
				return err
			}
			if n == 0 {
				continue
			}
			if _, err := q.One(check.query, []any{s.workspace}, &n); err != nil {
				return err
			}
			if n > 0 {
				found = append(found, vitals.Degraded(check.kind, check.ref, fmt.Sprintf(check.message, n))...)
			}
		}
		missed := 0
		err := q.Each(wordless, []any{s.workspace}, func(scan func(...any) error) error {
			var content, metadata string
			if err := scan(&content, &metadata); err != nil {
				return err
			}
			if len(words.Tokens(content)) > 0 || len(words.Tokens(metadata)) > 0 {
				missed++
			}
			return nil
		})
		if missed > 0 {
			found = append(found, vitals.Degraded(model.FindingIndex, "words", fmt.Sprintf("%d nodes are not in the index of words: recall does not find them; retain them again", missed))...)
		}
		return err
	})
	if err != nil {
		return nil // Look reports a failing query
	}
	return found
}
