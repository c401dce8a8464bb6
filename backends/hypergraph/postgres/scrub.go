package postgres

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/internal/snippet"
	"memdesk/model"
)

// scrubLockTimeout is how long a rewrite waits for readers of its table. Others queue behind it meanwhile.
const scrubLockTimeout = `SET lock_timeout = '2s'`

// Scrub cleans the tables of the schema that hold no items, then the medium (erasure-physical.md,
// PostgreSQL): every table is rewritten with its indexes, TOAST and samples; a superuser's scrub also
// rewrites the catalogue's samples and overwrites the log of changes. Data that another session still
// sees or a lock protects is pending; steps that this role may not take are out of scope, and the
// result names who may.
func (m maintainer) Scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	if req.SideRows != nil {
		return nil, m.rows(ctx, req)
	}
	step := req.Step
	if step == nil {
		step = func(string, string) {}
	}
	out, err := m.scrubSideTables(ctx, req, step)
	if err != nil || req.Dry { // no file is removed: the layers that hold traces are rewritten
		return nil, err
	}
	c, err := m.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	q := &query{ctx: ctx, on: c.conn, op: "scrub"}
	files, err := readRelations(q, relations)
	if err != nil {
		return nil, err
	}
	super, err := m.s.seesFiles(q)
	if err != nil {
		return nil, err
	}
	shared, err := m.s.otherWorkspaces(q, len(files) > 0)
	if err != nil {
		return nil, err
	}
	rewritten := c.rewriteTables(q, files, step)
	if super {
		rewritten = append(rewritten, c.rewriteSamples(q, step))
	}
	for _, res := range rewritten {
		if res.Verdict == model.VerdictClean { // told only where the scan still finds the subject
			res.Reason = shared
		}
		out = append(out, res)
	}
	if !super {
		set, err := settings(q)
		if err != nil {
			return nil, err
		}
		if m.s.isDistributed() {
			out = append(out, model.LayerResult{Layer: otherServers().ID, Method: "none", Verdict: model.VerdictOutOfScope, Reason: otherServersReason})
		}
		return append(out, model.LayerResult{Layer: layerStatistics, Method: "ANALYZE", Verdict: model.VerdictOutOfScope, Reason: statisticsReason},
			model.LayerResult{Layer: layerWAL, Method: "none", Verdict: model.VerdictOutOfScope, Reason: walReason(set)}), nil
	}
	return append(out, c.overwriteLog(q, step)), ctxErr(ctx)
}

// otherWorkspaces says whose rows the tables hold beside this store's, since no erasure in this store reaches
// them; empty for none.
func (s *Store) otherWorkspaces(q *query, made bool) (string, error) {
	if !made {
		return "", nil
	}
	var names []string
	err := q.Each(`SELECT workspace FROM (SELECT workspace FROM memdesk.nodes UNION SELECT workspace FROM memdesk.hyperedges) w
		WHERE workspace <> $1 ORDER BY 1`, []any{s.workspace}, sqlgraph.Collect(&names))
	if err != nil || len(names) == 0 {
		return "", err
	}
	return "the same files hold the rows of other workspaces, which this store does not change: " + snippet.Names(names, 5) +
		"; make each that knows the person a [[store]] with its workspace, then plan again", nil
}

func ctxErr(ctx context.Context) error { return model.FromContext(ctx, "scrub") }

// scrubber has its own connection, because VACUUM runs in no transaction and reports rows that it kept
// by a notice.
type scrubber struct {
	conn *pgx.Conn
	kept int64 // dead rows that the last rewrite kept
}

func (m maintainer) dial(ctx context.Context) (*scrubber, error) {
	const op = "scrub"
	if why := m.s.refusal(); why != "" {
		return nil, model.Errorf(model.PermissionDenied, op, "the store takes no changes: %s", why)
	}
	c := &scrubber{}
	conn, err := m.s.dial(ctx, func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if found := deadRows.FindStringSubmatch(n.Detail); found != nil {
			dead, _ := strconv.ParseInt(found[1], 10, 64) // digits
			c.kept += dead
		}
	})
	if err != nil {
		return nil, worded(op, err)
	}
	c.conn = conn
	if _, err := conn.Exec(ctx, scrubLockTimeout); err != nil {
		c.close()
		return nil, worded(op, err)
	}
	return c, nil
}

// deadRows matches the detail of VACUUM FULL VERBOSE in any language of the server: the first number
// counts the dead rows that cannot be removed yet.
var deadRows = regexp.MustCompile(`^\D*(\d+)`)

func (c *scrubber) close() { hangUp(c.conn) }

// rewriteTables returns a result for every layer of every table.
func (c *scrubber) rewriteTables(q *query, files []relation, step func(string, string)) []model.LayerResult {
	var out []model.LayerResult
	byTable := map[string]model.LayerResult{}
	for _, f := range files {
		res, done := byTable[f.table]
		if !done {
			step(f.table, "the table and its indexes are rewritten (VACUUM FULL)")
			res = c.rewriteTable(q, f)
			byTable[f.table] = res
		}
		if res.Layer = f.layer; !slices.Contains(out, res) {
			out = append(out, res)
		}
	}
	return out
}

func (c *scrubber) rewriteTable(q *query, f relation) model.LayerResult {
	res := model.LayerResult{Method: "VACUUM (FULL, ANALYZE)", Verdict: model.VerdictClean}
	if !f.owner {
		res.Method, res.Verdict = "none", model.VerdictOutOfScope
		res.Reason = "the database role does not own the table: its owner runs VACUUM (FULL, ANALYZE) memdesk." + f.table
		return res
	}
	name := schemaName + "." + quote(f.table)
	err := c.vacuum(q, `VACUUM (FULL, ANALYZE, VERBOSE) `+name)
	switch {
	case model.KindOf(err) == model.Locked:
		res.Method, res.Verdict = "VACUUM, REINDEX CONCURRENTLY", model.VerdictPending
		res.Reason = "another session uses the table, so it was not rewritten: removed rows may stand in its free space until it is done; scrub again then" + c.readers(q)
		for _, text := range []string{`VACUUM (ANALYZE) ` + name, `REINDEX TABLE CONCURRENTLY ` + name} {
			if err := c.vacuum(q, text); err != nil {
				res.Reason += "; " + err.Error()
				break
			}
		}
	case err != nil:
		res.Verdict, res.Reason = model.VerdictFailed, err.Error()
	case c.kept > 0:
		res.Verdict = model.VerdictPending
		res.Reason = fmt.Sprintf("%d removed rows are kept for a session that still sees them; scrub again when it is done%s", c.kept, c.readers(q))
	}
	return res
}

// vacuum runs one statement without a transaction and counts the rows it had to keep.
func (c *scrubber) vacuum(q *query, text string) error {
	c.kept = 0
	_, err := c.conn.Exec(q.ctx, text)
	return worded(q.Op(), err)
}

// readers names the sessions that hold old rows, as far as the role may see them.
func (c *scrubber) readers(q *query) string {
	var who []string
	err := q.Each(`SELECT w FROM (
			SELECT 'session ' || pid || COALESCE(' (' || NULLIF(application_name, '') || ')', '') AS w, age(backend_xmin) AS old FROM pg_stat_activity
			WHERE pid <> pg_backend_pid() AND backend_xmin IS NOT NULL AND backend_type = 'client backend'
			UNION ALL SELECT 'prepared transaction ' || gid, age(transaction) FROM pg_prepared_xacts
			UNION ALL SELECT 'replication slot ' || slot_name, age(COALESCE(xmin, catalog_xmin)) FROM pg_replication_slots WHERE COALESCE(xmin, catalog_xmin) IS NOT NULL
		) all_of_them ORDER BY old DESC LIMIT 3`, nil, sqlgraph.Collect(&who))
	if err != nil || len(who) == 0 {
		return ""
	}
	return ": " + strings.Join(who, ", ")
}

// dropEmpty removes the samples of tables without a row, which ANALYZE leaves as they are.
const dropEmpty = `DELETE FROM pg_catalog.pg_statistic WHERE starelid IN (SELECT oid FROM pg_class WHERE relnamespace = to_regnamespace('memdesk') AND reltuples = 0)`

// rewriteSamples removes the samples that ANALYZE has replaced from the catalogue's files.
func (c *scrubber) rewriteSamples(q *query, step func(string, string)) model.LayerResult {
	res := model.LayerResult{Layer: layerStatistics, Method: "ANALYZE, VACUUM FULL of the catalogue's samples", Verdict: model.VerdictClean}
	step(layerStatistics, "samples of removed rows are dropped")
	if _, err := q.Exec(dropEmpty); err != nil {
		res.Verdict, res.Reason = model.VerdictFailed, err.Error()
		return res
	}
	for _, table := range []string{"pg_statistic", "pg_statistic_ext_data"} {
		err := c.vacuum(q, `VACUUM (FULL, VERBOSE) pg_catalog.`+table)
		switch {
		case model.KindOf(err) == model.Locked:
			res.Verdict, res.Reason = model.VerdictPending, "another session uses "+table+"; scrub again when it is done"
		case err != nil:
			res.Verdict, res.Reason = model.VerdictFailed, err.Error()
		case c.kept > 0 && res.Verdict == model.VerdictClean:
			res.Verdict, res.Reason = model.VerdictPending, "replaced samples are kept for a session that still sees them; scrub again when it is done"+c.readers(q)
		}
	}
	return res
}

// overwriteLog makes the server drop the log of changes up to now, and overwrites the files that it
// keeps for reuse, which still hold their old bytes.
func (c *scrubber) overwriteLog(q *query, step func(string, string)) model.LayerResult {
	res := model.LayerResult{Layer: layerWAL, Method: "log switched, CHECKPOINT, kept segments overwritten", Verdict: model.VerdictClean}
	fail := func(err error) model.LayerResult {
		res.Verdict, res.Reason = model.VerdictFailed, err.Error()
		return res
	}
	next := func() error {
		_, err := q.Exec(`SELECT pg_logical_emit_message(false, 'memdesk', ''::text), pg_switch_wal()`)
		return err
	}
	step(layerWAL, "the log of changes is switched and overwritten")
	if err := next(); err != nil {
		return fail(err)
	}
	var from string // the first segment that may stay
	if _, err := q.One(`SELECT pg_walfile_name(pg_current_wal_insert_lsn())`, nil, &from); err != nil {
		return fail(err)
	}
	if _, err := q.Exec(`CHECKPOINT`); err != nil {
		return fail(err)
	}
	var waiting int64
	if _, err := q.One(`SELECT count(*) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$' AND name > pg_walfile_name(pg_current_wal_insert_lsn())`, nil, &waiting); err != nil {
		return fail(err)
	}
	for i := range waiting + 1 {
		if i%16 == 15 {
			step(layerWAL, fmt.Sprintf("segment %d of %d is overwritten", i+1, waiting+1))
		}
		if err := next(); err != nil {
			return fail(err)
		}
	}
	if _, err := q.Exec(`CHECKPOINT`); err != nil {
		return fail(err)
	}
	var left int64
	if _, err := q.One(`SELECT count(*) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$' AND name < $1`, []any{from}, &left); err != nil {
		return fail(err)
	}
	if left > 0 {
		res.Verdict = model.VerdictPending
		res.Reason = fmt.Sprintf("the server keeps %d older segments for a replication slot, an archive that lags or wal_keep_size; scrub again when they are gone", left)
	}
	return res
}
