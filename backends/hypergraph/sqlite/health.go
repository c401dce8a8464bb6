package sqlite

import (
	"context"
	"fmt"

	"memdesk/backends/internal/vitals"
	"memdesk/model"
)

// Look is the part of Health within its deadline: whether this program can search the file, whether its
// schema is the opened one, and whether it is writable.
func (s *Store) Look(ctx context.Context) []model.HealthFinding {
	found := s.file.Look(s.clock.Now())
	if reason, err := s.file.Trigger(ctx); err == nil && reason != "" {
		found = append(found, model.HealthFinding{Kind: model.FindingSchema, Ref: "trigger", State: model.HealthDegraded, Message: "nothing can be changed here: " + reason})
	}
	if s.kind != OwnSchema {
		return found
	}
	var fts bool
	var version, hits int64
	err := s.view(ctx, "health", func(q *query) error {
		if _, err := q.One(`PRAGMA user_version`, nil, &version); err != nil {
			return err
		}
		_, err := q.One(`SELECT sqlite_compileoption_used('ENABLE_FTS5')`, nil, &fts)
		return err
	})
	switch {
	case err != nil:
		return append(found, vitals.Down(model.FindingUnreachable, vitals.Words(err, s.file.Path))...)
	case !fts:
		return append(found, vitals.Down(model.FindingIndex, "this program was built without the tag sqlite_fts5: nothing can be searched or retained here")...)
	case version != schemaVersion():
		return append(found, vitals.Down(model.FindingSchema, "nothing can be recalled or retained: "+outdated(version))...)
	}
	err = s.view(ctx, "health", func(q *query) error {
		_, err := q.One(`SELECT (SELECT count(*) FROM (SELECT rowid FROM nodes_fts WHERE nodes_fts MATCH 'a' LIMIT 1)) +
			(SELECT count(*) FROM (SELECT 1 FROM nodes_fts_docsize LIMIT 1))`, nil, &hits)
		return err
	})
	if err != nil && ctx.Err() == nil && model.KindOf(err) != model.Locked {
		found = append(found, model.HealthFinding{Kind: model.FindingIndex, Ref: "nodes_fts", State: model.HealthDown,
			Message: "the index of words cannot be used (" + vitals.Words(err, s.file.Path) +
				"): nothing can be recalled or retained; make it anew with `memdesk reindex`"})
	}
	return found
}

// Deep is the part of Health that reads the whole file: it checks every page, and the index and the
// stored counts against the rows.
func (s *Store) Deep(ctx context.Context) []model.HealthFinding {
	found := s.file.Deep(ctx)
	if s.kind != OwnSchema || len(found) > 0 {
		return found
	}
	return append(found, s.stepFindings(ctx)...)
}

// inStep lists queries that must count 0; the message takes the number of differing rows.
var inStep = []struct{ kind, ref, message, query string }{
	{model.FindingIndex, "nodes_fts", "%d nodes are not in the index of words: recall does not find them; make it anew with `memdesk reindex`",
		`SELECT count(*) FROM nodes WHERE NOT EXISTS (SELECT 1 FROM nodes_fts_docsize d WHERE d.id = nodes.seq)`},
	{model.FindingIndex, "nodes_fts", "the index of words has %d entries without a node; make it anew with `memdesk reindex`",
		`SELECT count(*) FROM nodes_fts_docsize d WHERE NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.seq = d.id)`},
	{model.FindingCounters, "counters", "%d stored counts of items or bytes differ from the rows: totals are wrong; make them anew with `memdesk reindex`", `
		WITH rows (tier, type, subtype, items, bytes) AS (` + countedRows + `),
		kept AS (SELECT tier, type, subtype, items, bytes FROM counters WHERE items <> 0 OR bytes <> 0)
		SELECT count(*) FROM (SELECT tier, type, subtype FROM (SELECT * FROM rows EXCEPT SELECT * FROM kept)
			UNION SELECT tier, type, subtype FROM (SELECT * FROM kept EXCEPT SELECT * FROM rows))`},
}

func (s *Store) stepFindings(ctx context.Context) []model.HealthFinding {
	var found []model.HealthFinding
	_ = s.view(ctx, "health", func(q *query) error { // Look reports a failing query
		found = nil
		for _, check := range inStep {
			var n int64
			if _, err := q.One(check.query, nil, &n); err != nil {
				return err
			}
			if n > 0 {
				found = append(found, vitals.Degraded(check.kind, check.ref, fmt.Sprintf(check.message, n))...)
			}
		}
		return nil
	})
	return found
}
