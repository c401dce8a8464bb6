package langgraph

import (
	"context"
	"io"
	"slices"
	"strings"

	"memdesk/backends/records"
	"memdesk/model"
)

// medium are the tables as a maintainer sees them.
type medium struct {
	db records.Server
	l  layout
}

// scanned are the tables that can hold a person's text.
var scanned = []string{"store", "store_vectors", "checkpoints", "checkpoint_blobs", "checkpoint_writes"}

// outside is what no statement reaches.
const outside = "write-ahead log, replicas, base backups, dumps, LangSmith"

// Layers lists the tables, and what lies outside them.
func (m medium) Layers(ctx context.Context) ([]model.Layer, error) {
	var out []model.Layer
	err := m.db.View(ctx, "layers", func(tx records.Tx) error {
		out = nil
		for _, t := range scanned {
			if !m.l.has(t) {
				continue
			}
			var n int64
			if _, err := tx.One(`SELECT pg_table_size(?::regclass)`, []any{m.l.table(t)}, &n); err != nil {
				return err
			}
			out = append(out, model.Layer{ID: t, Kind: model.LayerDerived, Bytes: n, Readable: true})
		}
		return nil
	})
	return append(out, model.Layer{ID: outside, Kind: model.LayerExternal, Reason: "no statement reaches them: they keep old rows until they are recycled, expire or are deleted"}), err
}

// OpenLayer streams a table's rows; blobs as bytes, so that text inside them is found.
func (m medium) OpenLayer(ctx context.Context, id string) (io.ReadCloser, error) {
	if !slices.Contains(scanned, id) || !m.l.has(id) {
		return nil, model.Errorf(model.NotFound, "open-layer", "the store has no layer %q", id)
	}
	var columns []string
	for _, c := range m.l.have[id] {
		switch c {
		case "blob":
			columns = append(columns, `encode(blob, 'escape')`)
		case "embedding":
		default:
			columns = append(columns, `"`+c+`"::text`)
		}
	}
	r, w := io.Pipe()
	go func() { // ends with the copy, which the reader's Close ends
		w.CloseWithError(m.db.Copy(ctx, `SELECT `+strings.Join(columns, `, `)+` FROM `+m.l.table(id), w))
	}()
	return r, nil
}

// Scrub removes what deleted threads left, redacts what is no item, and rewrites the tables without
// dead rows.
func (m medium) Scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	if req.Dry {
		return nil, nil
	}
	orphans := int64(0)
	err := m.db.Change(ctx, "scrub", func(tx records.Tx) error {
		orphans = 0
		for _, t := range []string{"checkpoint_writes", "checkpoint_blobs"} {
			if !m.l.has(t) || !m.l.has("checkpoints") {
				continue
			}
			for _, id := range req.Removed {
				raw, ok := strings.CutPrefix(id, "thread/")
				key, good := records.Unescape(raw)
				if !ok || !good {
					continue
				}
				n, err := tx.Exec(`DELETE FROM `+m.l.table(t)+` WHERE thread_id = ?`, key)
				if err != nil {
					return err
				}
				orphans += n
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []model.LayerResult
	for _, t := range scanned {
		if !m.l.has(t) {
			continue
		}
		if req.Step != nil {
			req.Step(t, "the table is rewritten (VACUUM FULL)")
		}
		res := model.LayerResult{Layer: t, Method: "VACUUM FULL", Rows: orphans, Verdict: model.VerdictClean}
		if err := m.db.Vacuum(ctx, m.l.table(t)); err != nil {
			res.Verdict, res.Reason = model.VerdictPending, err.Error()+": have the table's owner run VACUUM FULL"
		}
		orphans = 0
		out = append(out, res)
	}
	return out, nil
}
