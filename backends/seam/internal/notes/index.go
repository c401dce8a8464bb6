package notes

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver of the index

	"memdesk/backends/seam"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/internal/atomicfile"
	"memdesk/internal/filelock"
	"memdesk/internal/statedir"
	"memdesk/model"
)

// Index is the path of a store's local index: the one derived tier that memdesk builds, a SQLite file with
// FTS5. It is never inside a synced tree (provider-contract.md S18).
type Index struct{ path string }

// OpenIndex finds the place for the index of the store at root: in memdesk's own state directory. nil with
// the reason when no state directory is known, or when it is inside the store. It makes nothing.
func OpenIndex(root string, env func(string) string) (*Index, string) {
	if env == nil {
		env = func(string) string { return "" }
	}
	state, err := statedir.Path(env)
	if err != nil {
		return nil, "no local index: " + err.Error()
	}
	dir := filepath.Join(state, "index")
	layout := seam.Layout{Source: filepath.ToSlash(root), SharedAbstracts: filepath.ToSlash(filepath.Join(root, "_meta")), LocalIndex: filepath.ToSlash(dir)}
	if err := layout.Check(); err != nil {
		return nil, "no local index: memdesk's state directory lies inside the store, where a sync would take it along"
	}
	sum := sha256.Sum256([]byte(root))
	return &Index{filepath.Join(dir, hex.EncodeToString(sum[:8])+".db")}, ""
}

// Path is the index's file, for searches.
func (x *Index) Path() string { return x.path }

const indexSchema = `
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO meta VALUES ('schema_version', '1');
CREATE TABLE docmeta(id INTEGER PRIMARY KEY, path TEXT UNIQUE NOT NULL, tier TEXT NOT NULL, status TEXT NOT NULL, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL);
CREATE VIRTUAL TABLE docs USING fts5(path UNINDEXED, title, body, tokenize = 'porter unicode61');
`

// building begins the name of an index that is not complete.
const building = "building-"

// Reindex rebuilds the local index from the notes that a search may return: text, not skipped by the
// agent's own search, and not rejected by the scanner. The old index stays until the new one is complete.
func (s *store) Reindex(ctx context.Context, tier string) (int64, error) {
	if tier != "" && seam.StorageTier(tier) != seam.LocalIndex {
		return 0, model.Errorf(model.InvalidInput, "reindex", "%q is no derived tier of memdesk's: there is %s", tier, seam.LocalIndex)
	}
	snap, err := s.look(ctx)
	if err != nil {
		return 0, err
	}
	if err := ensureIndexDir(s.cfg.Index.path); err != nil {
		return 0, err
	}
	(&scrubbing{}).cutOff(filepath.Dir(s.cfg.Index.path), time.Minute) // what cannot be removed stays for an erasure
	temp, err := os.CreateTemp(filepath.Dir(s.cfg.Index.path), building+"*.db")
	if err != nil {
		return 0, model.Errorf(model.Unavailable, "reindex", "the index cannot be made: %w", atomicfile.Pathless(err))
	}
	name := temp.Name()
	defer os.Remove(name)
	defer filelock.Close(temp)
	if ok, err := filelock.Try(temp, true); err != nil || !ok { // the lock says that its process lives
		return 0, model.Errorf(model.Unavailable, "reindex", "the index cannot be locked while it is made")
	}
	n, err := s.build(ctx, snap, name)
	if err != nil {
		return 0, err
	}
	if err := os.Rename(name, s.cfg.Index.path); err != nil {
		return 0, model.Errorf(model.Unavailable, "reindex", "the index cannot be put in its place: %w", atomicfile.Pathless(err))
	}
	return n, nil
}

func ensureIndexDir(path string) error {
	if err := statedir.Ensure(filepath.Dir(filepath.Dir(path))); err != nil {
		return model.E(model.Unavailable, "reindex", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return model.Errorf(model.Unavailable, "reindex", "the index's directory cannot be made: %w", atomicfile.Pathless(err))
	}
	return nil
}

func (s *store) build(ctx context.Context, snap *snapshot, name string) (n int64, err error) {
	db, err := sql.Open("sqlite3", "file:"+(&fileURL{name}).String()+"?_journal_mode=OFF&_synchronous=OFF&_locking_mode=EXCLUSIVE")
	if err != nil {
		return 0, model.E(model.Internal, "reindex", err)
	}
	db.SetMaxOpenConns(1)
	defer func() {
		if cerr := db.Close(); err == nil && cerr != nil {
			err = model.E(model.Internal, "reindex", cerr)
		}
	}()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, indexError(ctx, err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if _, err := tx.ExecContext(ctx, indexSchema); err != nil {
		return 0, indexError(ctx, err)
	}
	if n, err = s.fill(ctx, snap, tx); err != nil {
		return 0, err
	}
	if err := tx.Commit(); err != nil {
		return 0, indexError(ctx, err)
	}
	return n, nil
}

func (s *store) fill(ctx context.Context, snap *snapshot, tx *sql.Tx) (n int64, err error) {
	root, err := s.open("reindex")
	if err != nil || root == nil {
		return 0, err
	}
	defer root.Close()
	meta, err := tx.PrepareContext(ctx, "INSERT INTO docmeta(id, path, tier, status, mtime_ns, size) VALUES (?, ?, ?, ?, ?, ?)")
	if err != nil {
		return 0, indexError(ctx, err)
	}
	docs, err := tx.PrepareContext(ctx, "INSERT INTO docs(rowid, path, title, body) VALUES (?, ?, ?, ?)")
	if err != nil {
		return 0, indexError(ctx, err)
	}
	for _, f := range snap.tree.All() {
		e := snap.entry(f)
		if !s.recalled(e.id, e.status) || e.meta.Kind != rootdir.File {
			continue
		}
		if err := model.FromContext(ctx, "reindex"); err != nil {
			return 0, err
		}
		text, f, m, err := s.facts.Read(root, e.id, e.id)
		switch {
		case errors.Is(err, model.NotFound), err == nil && (f.Binary || f.TooBig || !s.recalled(e.id, f.Status) || !f.Verdict.Clean()):
			continue
		case err != nil:
			return 0, err
		}
		n++
		if _, err := meta.ExecContext(ctx, n, e.id, e.tier, f.Status, m.Modified.UnixNano(), m.Size); err != nil {
			return 0, indexError(ctx, err)
		}
		if _, err := docs.ExecContext(ctx, n, e.id, f.Title, text); err != nil {
			return 0, indexError(ctx, err)
		}
	}
	return n, nil
}

// fileURL escapes a path for SQLite's URI form.
type fileURL struct{ path string }

func (u *fileURL) String() string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.ToSlash(u.path))
}

func indexError(ctx context.Context, err error) error {
	if cerr := model.FromContext(ctx, "reindex"); cerr != nil {
		return cerr
	}
	return model.Errorf(model.Unavailable, "reindex", "the index cannot be written: %w", err)
}

// ChangedSince uses the files' modification times.
func (s *store) ChangedSince(ctx context.Context, mtime float64, yield func(id string) bool) error {
	snap, err := s.walk(ctx, nil, false, nil)
	if err != nil {
		return err
	}
	for _, f := range snap.tree.All() {
		if float64(f.Meta().Modified.UnixNano())/1e9 >= mtime && !yield(f.Path()) {
			return nil
		}
	}
	return nil
}

// cutOff removes what killed processes left of the indexes that they were building. One that is still being
// built may hold removed text. One younger than least may not be locked by its process yet, and stays.
func (w *scrubbing) cutOff(dir string, least time.Duration) {
	found, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.Add("(memdesk)/index", "not looked at", 0, model.E(model.Unavailable, "scrub", atomicfile.Pathless(err)))
	}
	for _, e := range found {
		if !strings.HasPrefix(e.Name(), building) {
			continue
		}
		if fi, err := e.Info(); err == nil && time.Since(fi.ModTime()) < least {
			continue
		}
		name := filepath.Join(dir, e.Name())
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var free bool
		if err == nil {
			if free, err = filelock.Try(f, true); free {
				err = os.Remove(name)
			}
			_ = filelock.Close(f)
		}
		switch {
		case err != nil:
			err = model.E(model.Unavailable, "scrub", atomicfile.Pathless(err))
		case !free:
			err = model.Errorf(model.Locked, "scrub", "another process builds the local index: run the erasure again when it is done")
		}
		w.Add("(memdesk)/"+e.Name(), "an index that was cut off removed", 1, err)
	}
}

// index applies an erasure to the local index, which is rebuilt from the remaining notes.
func (w *scrubbing) index() {
	path := w.store.cfg.Index.path
	w.cutOff(filepath.Dir(path), 0)
	if _, err := os.Lstat(path); err != nil {
		return // none was built
	}
	w.store.changed()
	n, err := w.store.Reindex(w.ctx, string(seam.LocalIndex))
	w.Add("(memdesk)/"+filepath.Base(path), fmt.Sprintf("built anew from %d notes", n), max(n, 1), err)
}
