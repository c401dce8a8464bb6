package records

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"memdesk/backends/internal/piped"
	"memdesk/model"
)

// ServerMedium are the tables of a kind on a PostgreSQL server, as model.Maintainer.
type ServerMedium struct {
	DB     Server
	Schema string
	// Tables are the tables that can hold a subject's text, and Columns the columns of each; a table without
	// columns does not exist.
	Tables  []string
	Columns map[string][]string
	// Vectors names the columns that hold vectors, which no scan for text reads.
	Vectors []string
	// Blob is the column blob of a row as text; nil where no table has that column.
	Blob func(blob []byte) string
	// Unread says by table which values no scan for text can read. nil: there are none.
	Unread func(tx Tx) (why map[string]string, err error)
	// Outside names data that no statement reaches.
	Outside string
	// Clean removes and rewrites rows that are no items, and values beside the text in rows of edited items, before
	// the tables are rewritten without dead rows; done counts the rows by table. It asks may before it changes a table
	// because rows name the person, which a dry run never allows, and MayEdit before it changes a value of an edited
	// item. nil: there is nothing to clean.
	Clean func(tx Tx, req model.ScrubRequest, may func(table string) bool) (done map[string]int64, err error)
	// SideRows lists the rows of model.ScrubRequest.SideRows. nil: the items show everything.
	SideRows func(tx Tx, req model.ScrubRequest) error
	// Tell says by table whose rows still name the subject where the items do not show it, and what to do. nil:
	// the items show everything.
	Tell func(tx Tx, concerns func([]byte) bool) (why map[string]string, err error)
}

var _ model.Maintainer = ServerMedium{}

func (m ServerMedium) has(table string) bool { return len(m.Columns[table]) > 0 }

func (m ServerMedium) qualified(table string) string {
	return pgx.Identifier{m.Schema, table}.Sanitize()
}

// Layers lists the tables, those with values that cannot be read once more for these, and the data outside of
// them.
func (m ServerMedium) Layers(ctx context.Context) ([]model.Layer, error) {
	var out []model.Layer
	err := m.DB.View(ctx, "layers", func(tx Tx) error {
		out = nil
		for _, t := range m.Tables {
			if !m.has(t) {
				continue
			}
			var n int64
			if _, err := One(tx, `SELECT pg_table_size(?::regclass)`, []any{m.qualified(t)}, &n); err != nil {
				return err
			}
			out = append(out, model.Layer{ID: t, Kind: model.LayerDerived, Bytes: n, Readable: true})
		}
		if m.Unread == nil {
			return nil
		}
		why, err := m.Unread(tx)
		for _, t := range m.Tables {
			if why[t] != "" {
				out = append(out, model.Layer{ID: t + " (unread values)", Kind: model.LayerDerived, Reason: why[t]})
			}
		}
		return err
	})
	return append(out, model.Layer{ID: layerStatistics, Kind: model.LayerExternal, Reason: m.samples()}, model.Layer{ID: m.Outside, Kind: model.LayerExternal, Reason: "no statement reaches them: they keep old rows until they are recycled, expire or are deleted"}), err
}

const layerStatistics = "statistics"

// samples says which values of removed rows the catalogue keeps, and who removes them.
func (m ServerMedium) samples() string {
	return "samples of replaced rows stay in pg_statistic until it is vacuumed, and those of a table without a row stay for good: a superuser runs " +
		"DELETE FROM pg_catalog.pg_statistic WHERE starelid IN (SELECT oid FROM pg_class WHERE relnamespace = to_regnamespace('" + strings.ReplaceAll(pgx.Identifier{m.Schema}.Sanitize(), "'", "''") +
		"') AND reltuples = 0); VACUUM FULL pg_catalog.pg_statistic"
}

// OpenLayer streams a table's rows; bytes are unencoded, so that text inside them is found.
func (m ServerMedium) OpenLayer(ctx context.Context, id string) (io.ReadCloser, error) {
	if !slices.Contains(m.Tables, id) || !m.has(id) {
		return nil, model.Errorf(model.NotFound, "open-layer", "the store has no layer %q", id)
	}
	var columns []string
	blobs := false
	for _, c := range m.Columns[id] {
		switch {
		case c == "blob" && m.Blob != nil:
			blobs = true
		case !slices.Contains(m.Vectors, c):
			columns = append(columns, pgx.Identifier{c}.Sanitize()+`::text`)
		}
	}
	return piped.Reader(ctx, func(ctx context.Context, w io.Writer) error {
		if blobs {
			return m.copyBlobs(ctx, `SELECT concat_ws(chr(9), `+strings.Join(columns, `, `)+`), blob FROM `+m.qualified(id), w)
		}
		return m.DB.Copy(ctx, `SELECT `+strings.Join(columns, `, `)+` FROM `+m.qualified(id), w)
	}), nil
}

// copyBlobs streams rows of a text and a blob.
func (m ServerMedium) copyBlobs(ctx context.Context, query string, w io.Writer) error {
	return m.DB.View(ctx, "open-layer", func(tx Tx) error {
		return tx.Each(query, nil, func(scan func(...any) error) error {
			var text string
			var blob []byte
			err := scan(&text, &blob)
			if err == nil {
				_, err = io.WriteString(w, text+"\t"+m.Blob(blob)+"\n")
			}
			return err
		})
	})
}

// Scrub cleans rows that are no items, and rewrites the tables without dead rows.
func (m ServerMedium) Scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	if req.SideRows != nil {
		if m.SideRows == nil {
			return nil, nil
		}
		return nil, m.DB.View(ctx, "texts", func(tx Tx) error { return m.SideRows(tx, req) })
	}
	var done map[string]int64
	refused := map[string]model.LayerResult{}
	if m.Clean != nil {
		edit := req.MayEdit
		req.MayEdit = func(e model.RecordEdit) bool {
			ok := edit == nil || edit(e)
			if !ok {
				refused[e.Layer] = model.LayerResult{Verdict: model.VerdictResidue, Reason: "nobody has seen it as it is now: make a new plan"}
			}
			return ok
		}
		run := m.DB.Change
		if req.Dry {
			run = m.DB.View
		}
		err := run(ctx, "scrub", func(tx Tx) (err error) {
			done, err = m.Clean(tx, req, func(table string) bool {
				res, ok := req.Permits(table, nil)
				refused[table] = res
				return ok
			})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if req.Dry {
		return nil, nil
	}
	var why map[string]string
	if m.Tell != nil && req.Concerns != nil {
		err := m.DB.View(ctx, "scrub", func(tx Tx) (err error) {
			why, err = m.Tell(tx, req.Concerns)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	var out []model.LayerResult
	for _, t := range m.Tables {
		if !m.has(t) {
			continue
		}
		if req.Step != nil {
			req.Step(t, "the table is rewritten (VACUUM FULL)")
		}
		res := model.LayerResult{Layer: t, Method: "VACUUM FULL", Rows: done[t], Verdict: model.VerdictClean, Reason: why[t]}
		if err := m.DB.Vacuum(ctx, m.qualified(t)); err != nil {
			res.Verdict, res.Reason = model.VerdictPending, err.Error()
			if model.KindOf(err) == model.PermissionDenied {
				res.Reason += ": run this again as the table's owner"
			}
		}
		if r := refused[t]; r.Verdict != "" {
			res.Verdict, res.Reason = r.Verdict, r.Reason
		}
		out = append(out, res)
	}
	return append(out, model.LayerResult{Layer: layerStatistics, Method: "ANALYZE", Verdict: model.VerdictOutOfScope, Reason: m.samples()}), nil
}

// ServerColumns names the columns of a schema's tables.
func ServerColumns(tx Tx, schema string) (map[string][]string, error) {
	out := map[string][]string{}
	err := tx.Each(`SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = ? ORDER BY table_name, ordinal_position`, []any{schema}, func(scan func(...any) error) error {
		var table, column string
		err := scan(&table, &column)
		out[table] = append(out[table], column)
		return err
	})
	return out, err
}
