package mcpgraph

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"

	"memdesk/backends/internal/litefile"
	"memdesk/backends/internal/vitals"
	"memdesk/backends/records"
	"memdesk/internal/atomicfile"
	"memdesk/internal/statedir"
	"memdesk/model"
)

// file is the graph's file and an index of its lines in memory, made anew when the file changes.
type file struct {
	path  string // behind a symbolic link
	locks string // directory of the lock files; empty: no changes

	mu    sync.Mutex
	index *sql.DB
	data  []byte
	lines []line
	at    stamp
	read  bool
	ours  stamp // of what memdesk wrote last
}

// stamp tells one state of a file from another.
type stamp struct {
	size    int64
	changed time.Time
	info    fs.FileInfo
}

func (s stamp) same(o stamp) bool {
	return s.size == o.size && s.changed.Equal(o.changed) && (s.info == nil) == (o.info == nil) && (s.info == nil || os.SameFile(s.info, o.info))
}

func stampOf(path string) (stamp, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return stamp{}, nil
	}
	if err != nil {
		return stamp{}, litefile.Worded("open", err)
	}
	return stamp{info.Size(), info.ModTime(), info}, nil
}

const schema = `CREATE TABLE items (tier TEXT, key TEXT, size INTEGER, body TEXT, title TEXT, name TEXT, etype TEXT, origin TEXT, relation TEXT, target TEXT, line INTEGER, why TEXT);
	CREATE INDEX by_key ON items (tier, key); CREATE INDEX by_origin ON items (origin); CREATE INDEX by_target ON items (target)`

// prefixes are the beginnings of ids by tier.
var prefixes = map[string]string{relationTier: "edge/", problemTier: "problem/"}

func openFile(path, locks string) (*file, error) {
	if path == "" {
		return nil, model.Errorf(model.InvalidInput, "open", "a path is needed: the memory.jsonl")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, litefile.Worded("open", err)
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	if info, err := os.Stat(abs); err == nil && !info.Mode().IsRegular() {
		return nil, model.Errorf(model.InvalidInput, "open", "%q is not a regular file", filepath.Base(abs))
	}
	index, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return nil, litefile.Worded("open", err)
	}
	index.SetMaxOpenConns(1) // each connection of a memory database has its own
	if _, err := index.Exec(schema); err != nil {
		return nil, litefile.Worded("open", err)
	}
	return &file{path: abs, locks: locks, index: index}, nil
}

// refresh reads the file when it has changed.
func (f *file) refresh(ctx context.Context) error {
	now, err := stampOf(f.path)
	if err != nil {
		return err
	}
	if f.read && f.at.same(now) {
		return nil
	}
	data, err := os.ReadFile(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return litefile.Worded("open", err)
	}
	f.at = now
	return f.load(ctx, data)
}

// load makes the index of these bytes.
func (f *file) load(ctx context.Context, data []byte) error {
	f.data, f.lines, f.read = data, parse(data), false
	tx, err := f.index.BeginTx(ctx, nil)
	if err != nil {
		return litefile.Worded("open", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing after a commit
	if _, err := tx.ExecContext(ctx, `DELETE FROM items`); err != nil {
		return litefile.Worded("open", err)
	}
	put, err := tx.PrepareContext(ctx, `INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return litefile.Worded("open", err)
	}
	defer put.Close()
	for _, l := range f.lines {
		if l.tier == "" {
			continue
		}
		if _, err := put.ExecContext(ctx, l.tier, strings.TrimPrefix(l.id, prefixes[l.tier]), len(l.body), l.body, l.title, l.name, l.entityType, l.from, l.relation, l.to, l.number, l.why); err != nil {
			return litefile.Worded("open", err)
		}
	}
	f.read = true
	return litefile.Worded("open", tx.Commit())
}

// graphTx runs statements on the index; edits go to the file's lines.
type graphTx struct {
	*file
	ctx context.Context
}

// Each implements records.Tx.
func (t graphTx) Each(text string, args []any, fn func(scan func(...any) error) error) error {
	rows, err := t.index.QueryContext(t.ctx, text, args...)
	if err != nil {
		return litefile.Worded("read", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows.Scan); err != nil {
			return model.Wrap("read", err)
		}
	}
	return litefile.Worded("read", rows.Err())
}

// One implements records.Tx.
func (t graphTx) One(text string, args []any, dest ...any) (found bool, err error) {
	err = t.Each(text, args, func(scan func(...any) error) error {
		if found {
			return nil
		}
		found = true
		return scan(dest...)
	})
	return found, err
}

// Exec implements records.Tx. The index is made from the lines, so nothing is written to it.
func (t graphTx) Exec(string, ...any) (int64, error) {
	return 0, model.Errorf(model.Internal, "retain", "the index of a graph is not written")
}

// edit replaces the lines and makes the index anew, within a change.
func (t graphTx) edit(lines [][]byte) error {
	return t.load(t.ctx, bytes.Join(lines, []byte("\n")))
}

func (t graphTx) raw() [][]byte {
	out := make([][]byte, len(t.lines))
	for i, l := range t.lines {
		out[i] = l.raw
	}
	return out
}

// View implements records.DB.
func (f *file) View(ctx context.Context, _ string, fn func(records.Tx) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.refresh(ctx); err != nil {
		return err
	}
	return fn(graphTx{f, ctx})
}

// lock takes this program's lock on the file. The server knows none.
func (f *file) lock(ctx context.Context, op string) (func(), error) {
	if f.locks == "" {
		return nil, model.Errorf(model.Unavailable, op, "there is no state directory to hold the lock")
	}
	if err := statedir.Ensure(filepath.Dir(f.locks)); err != nil {
		return nil, model.E(model.Unavailable, op, err)
	}
	if err := os.MkdirAll(f.locks, 0o700); err != nil {
		return nil, litefile.Worded(op, err)
	}
	sum := sha256.Sum256([]byte(f.path))
	lk, err := atomicfile.OS{}.OpenFile(filepath.Join(f.locks, "mcpgraph-"+hex.EncodeToString(sum[:8])), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, litefile.Worded(op, err)
	}
	const wait = 10 * time.Second
	for deadline := time.Now().Add(wait); ; {
		ok, err := lk.TryLock(true)
		if ok {
			return func() { _ = lk.Close() }, nil
		}
		if err != nil || time.Now().After(deadline) || ctx.Err() != nil {
			_ = lk.Close() // nothing was written to it
			if err != nil {
				return nil, litefile.Worded(op, err)
			}
			return nil, model.Errorf(model.Locked, op, "another memdesk is changing the file")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Look implements records.DB.
func (f *file) Look(time.Time) []model.HealthFinding {
	if _, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Dir(f.path)); err != nil {
			return vitals.Down(model.FindingUnreachable, "the directory of the file is gone")
		}
		return nil
	}
	return vitals.Disk(f.path)
}

// Deep implements records.DB: the content is looked at by observe.
func (f *file) Deep(context.Context) []model.HealthFinding { return nil }

// Close implements records.DB.
func (f *file) Close() error { return litefile.Worded("close", f.index.Close()) }

// isMine reports whether a file of the directory is what the server or a repair left beside the
// store, and so may hold its text.
func (f *file) isMine(name string) bool {
	base := filepath.Base(f.path)
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	return strings.HasPrefix(name, base+".") && strings.HasSuffix(name, ".tmp") || strings.HasPrefix(name, base+".aside-") || strings.HasPrefix(name, "."+base+".tmp.") || name == stem+".json"
}

var _ records.DB = (*file)(nil)
