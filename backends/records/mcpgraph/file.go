package mcpgraph

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"memdesk/backends/internal/litefile"
	"memdesk/backends/internal/vitals"
	"memdesk/backends/records"
	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// file is the graph's file with an index of its lines in memory, which follows the file's changes.
type file struct {
	path  string // with symbolic links resolved
	locks string // directory of the lock files; empty: no changes
	swap  func(path string, want, data []byte) (came []byte, aside string, err error)

	mu     sync.Mutex
	index  *records.Memory
	data   []byte
	lines  []line
	again  map[string][]string // for repeated; nil: it makes it
	places records.Places
	// indexed says that the index fits data and lines, and read that these fit the file at stamp at.
	indexed, read bool
	at            records.Stamp
	ours          records.Stamp // stamp of memdesk's last write
}

// prefixes are the prefixes of ids by tier.
var prefixes = map[string]string{relationTier: "edge/", problemTier: "problem/"}

// key is a line's id in its tier.
func (l line) key() string { return strings.TrimPrefix(l.id, prefixes[l.tier]) }

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
	index, err := records.NewMemory("items", strings.Split("tier key size body title name etype origin relation target line why more", " "), "tier, key", "origin", "target")
	if err != nil {
		return nil, err
	}
	return &file{path: abs, locks: locks, swap: atomicfile.Swap, index: index}, nil
}

// refresh reads the file when it has changed.
func (f *file) refresh(ctx context.Context) error {
	now, err := records.StampOf(f.path)
	if err != nil {
		return err
	}
	if f.read && f.at.Same(now) {
		return nil
	}
	data, err := records.ReadFlat("open", f.path)
	if err != nil {
		return err
	}
	f.at = now
	return f.load(ctx, data)
}

// load brings the index to these bytes, changing only the lines that differ where possible.
func (f *file) load(ctx context.Context, data []byte) error {
	if f.read = true; f.indexed && bytes.Equal(f.data, data) {
		return nil
	}
	old := f.lines
	lines, from, to, ok := splice(old, data)
	if ok = ok && f.indexed; !ok {
		lines = parse(data)
		from, to = 0, len(lines)
	}
	err := f.index.Edit(ctx, func(put func(...any) error, exec func(string, ...any) error) (err error) {
		if !ok {
			err = exec(`DELETE FROM items`)
		} else {
			shift := len(lines) - len(old)
			for _, l := range old[from : to-shift] {
				if err == nil {
					err = exec(`DELETE FROM items WHERE tier = ? AND key = ?`, l.tier, l.key())
				}
			}
			if err == nil && shift != 0 {
				err = exec(`UPDATE items SET line = line + ? WHERE tier = 'problem' AND line > ?`, shift, to-shift)
			}
		}
		for _, l := range lines[from:to] {
			if err == nil && l.tier != "" {
				err = put(l.tier, l.key(), len(l.body), l.body, l.title, l.name, l.entityType, l.from, l.relation, l.to, l.number, l.why, l.more)
			}
		}
		return err
	})
	f.data, f.lines, f.again, f.places, f.indexed, f.read = data, lines, nil, nil, err == nil, err == nil
	return err
}

// graphTx reads the index; edits change the file's lines.
type graphTx struct {
	records.Tx
	*file
	ctx context.Context
}

func (f *file) tx(ctx context.Context) graphTx { return graphTx{f.index.Tx(ctx), f, ctx} }

// edit replaces the lines, within a change.
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
	return fn(f.tx(ctx))
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

// Deep implements records.DB: observe checks the content.
func (f *file) Deep(context.Context) []model.HealthFinding { return nil }

// Close implements records.DB.
func (f *file) Close() error { return f.index.Close() }

var _ records.DB = (*file)(nil)
