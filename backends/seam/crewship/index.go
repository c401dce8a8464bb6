package crewship

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path"
	"path/filepath"
	"slices"

	"github.com/mattn/go-sqlite3"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// index removes the rows of removed files, and those that name the subject, from a memory directory's
// search index, without leaving a byte of them. Crewship rebuilds a file's rows when it next indexes.
func (w *scrubbing) index(f file) (int64, error) {
	switch _, err := f.dir.Stat(f.Path); {
	case errors.Is(err, model.NotFound):
		return 0, nil
	case err != nil: // it has become a link
		return 0, err
	}
	q := url.Values{"mode": {"rw"}, "_busy_timeout": {"1000"}}
	db := sql.OpenDB(connector{(&url.URL{Scheme: "file", OmitHost: true, Path: f.index(), RawQuery: q.Encode()}).String()})
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(w.ctx, "PRAGMA trusted_schema = OFF"); err != nil {
		return 0, indexError(err)
	}
	rows, err := w.indexRows(db, f)
	if err != nil {
		return 0, indexError(err)
	}
	if len(rows) == 0 {
		// Rows removed earlier, by Crewship or by an interrupted scrub, leave their words until the file is
		// rewritten.
		if dirty, err := w.dirty(f); err != nil || !dirty {
			return 0, err
		}
	}
	return max(int64(len(rows)), 1), indexError(dropIndexRows(w.ctx, db, rows))
}

// index is the path of a search index.
func (f file) index() string {
	return filepath.Join(f.memory.root, filepath.FromSlash(below(f.memory.dir, f.Path)))
}

// rows lists the rows of the search indexes.
func (w *scrubbing) rows(memories []*memoryDir) (failed error) {
	for _, p := range memories {
		err := w.store.eachFile(w.ctx, p, func(f file) {
			if path.Base(f.Path) != indexName || f.Problem != "" || f.Meta.Kind != rootdir.File || failed != nil {
				return
			}
			failed = indexError(database{f.index()}.read(w.ctx, func(db *sql.DB) error {
				_, err := w.indexRows(db, f)
				return err
			}))
		})
		if failed = cmp.Or(failed, err); failed != nil {
			return failed
		}
	}
	return nil
}

// dirty reports whether the bytes of an index and of its log hold a trace.
func (w *scrubbing) dirty(f file) (bool, error) {
	if w.Req.Traces == nil {
		return false, nil
	}
	for _, suffix := range []string{"", "-wal", "-journal"} {
		r, _, err := f.dir.Reader(f.Path + suffix)
		if errors.Is(err, model.NotFound) {
			continue
		}
		if err != nil {
			return false, err
		}
		found, err := w.Req.Traces(w.ctx, r)
		if err = errors.Join(err, r.Close()); err != nil || found {
			return found, err
		}
	}
	return false, nil
}

// indexRows are the rows to remove; those of memories on hold stay. A request with SideRows gets the rows, and nothing is to be
// removed. An index of another shape is an error: it never counts as clean.
func (w *scrubbing) indexRows(db *sql.DB, f file) ([]int64, error) {
	rows, err := db.QueryContext(w.ctx, "SELECT rowid, coalesce(file, ''), coalesce(content, '') FROM memory_chunks")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []int64
	for rows.Next() {
		var id int64
		var name, content string
		if err := rows.Scan(&id, &name, &content); err != nil {
			return nil, err
		}
		of := f.memory.prefix + name
		held, card := w.held[of], isCard(w.cards, name)
		if w.Req.SideRows != nil && (held || w.Req.Concerns != nil) {
			w.Req.SideRows(model.SideRow{Layer: f.id(), Of: []string{of}, Whole: card, Cells: []model.SideCell{{Column: "file", Text: name, Words: name}, {Column: "content", Text: content, Words: content}}})
		}
		if held || w.Req.SideRows != nil {
			continue
		}
		if card || slices.Contains(w.Req.Removed, of) || w.Names([]byte(name)) || w.Names([]byte(content)) {
			out = append(out, id)
		}
	}
	return out, rows.Err()
}

func dropIndexRows(ctx context.Context, db *sql.DB, rows []int64) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing after a commit
	for _, id := range rows {
		if _, err := tx.ExecContext(ctx, "DELETE FROM memory_chunks WHERE rowid = ?", id); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	for _, text := range []string{"INSERT INTO memory_chunks (memory_chunks) VALUES ('optimize')", "PRAGMA temp_store = MEMORY", "VACUUM"} {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	var busy, log, moved int64
	if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &moved); err != nil {
		return err
	}
	if busy != 0 {
		return model.Errorf(model.Locked, "scrub", "Crewship reads an older state of the index: its log cannot be emptied before it is done")
	}
	return nil
}

// indexError words SQLite's error; a lock is waited for.
func indexError(err error) error {
	var se sqlite3.Error
	if !errors.As(err, &se) {
		return err
	}
	if se.Code == sqlite3.ErrBusy || se.Code == sqlite3.ErrLocked {
		return model.Errorf(model.Locked, "scrub", "the search index is in use; try again when Crewship is done")
	}
	return model.Errorf(model.Internal, "scrub", "the search index could not be cleaned: %w", words(err))
}
