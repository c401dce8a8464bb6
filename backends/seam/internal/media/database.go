// Package media scrubs the data that the owner of a text tree keeps beside its notes: a SQLite file that
// its processes may hold open, and a git repository. It never touches the notes.
package media

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"memdesk/backends/internal/litefile"
	"memdesk/backends/internal/sharedfd"
	"memdesk/model"
)

// Database is one SQLite file. Scrub writes it only where it holds data to be removed, and only while no
// other process holds it.
type Database struct {
	Path  string // of the file
	Layer string // its layer's name
	// Apart names tables whose bytes are a layer of their own; empty: the whole file is one layer.
	Apart      []string
	ApartLayer string
	// Reason says why the tables set apart are not written; empty: they are scrubbed too.
	Reason string
	// Others: its rows belong to no note, and say which longer words are others'.
	Others bool
	// Medium says how to scrub the rows. Its Items must hold the tables that stay unchanged.
	Medium func(*litefile.File) litefile.Medium
	// Tied reports whether a row belongs to one of the removed notes; nil: none does.
	Tied func(ctx context.Context, f *litefile.File, removed []string) (bool, error)
}

var sidecars = []string{"-wal", "-shm", "-journal"}

// Owns reports whether a path is the database or one of SQLite's files beside it.
func (d *Database) Owns(path string) bool {
	rest, ok := strings.CutPrefix(path, d.Path)
	return ok && (rest == "" || rest == sidecars[0] || rest == sidecars[1] || rest == sidecars[2])
}

// Layers lists the file, the tables set apart, and SQLite's own files beside it.
func (d *Database) Layers(ctx context.Context) ([]model.Layer, error) {
	info, err := os.Lstat(d.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || !info.Mode().IsRegular() {
		return []model.Layer{{ID: d.Layer, Kind: model.LayerExternal, Reason: "it is no regular file, or cannot be looked at"}}, nil
	}
	waits := d.held()
	out := []model.Layer{{ID: d.Layer, Kind: model.LayerDerived, Bytes: info.Size(), Readable: true, Waits: waits, Rows: true, HeldWith: d.Path}}
	if len(d.Apart) > 0 {
		out[0].Reason = "all tables but " + strings.Join(d.Apart, ", ") + ": those are the layer " + d.ApartLayer
		l := model.Layer{ID: d.ApartLayer, Kind: model.LayerDerived, Readable: true, Waits: waits, HeldWith: d.Path}
		if d.Reason != "" {
			l.Kind, l.Reason = model.LayerExternal, d.Reason
		}
		out = append(out, l)
		for _, table := range d.packed(ctx) {
			l.ID = d.ApartLayer + ":" + table
			out = append(out, l)
		}
	}
	for _, suffix := range sidecars {
		if info, err := os.Lstat(d.Path + suffix); err == nil && info.Mode().IsRegular() {
			out = append(out, model.Layer{ID: d.Layer + suffix, Kind: model.LayerDerived, Bytes: info.Size(), Readable: true, Waits: waits, Rows: true, HeldWith: d.Path})
		}
	}
	return out, nil
}

// packed are the tables set apart that may hold compressed cells: one on several pages can only be opened by its cell.
// A database that cannot be read has none: its other layers tell.
func (d *Database) packed(ctx context.Context) (tables []string) {
	f, err := litefile.Open(d.Path, true)
	if err != nil {
		return nil
	}
	defer f.Close()
	_ = f.View(ctx, "layers", func(q *litefile.Query) error {
		tables = nil
		for _, table := range d.Apart {
			var n int64
			if _, err := q.One(`SELECT count(*) FROM pragma_table_info(?) WHERE upper(type) = 'BLOB'`, []any{table}, &n); err != nil {
				return err
			}
			if n > 0 {
				tables = append(tables, table)
			}
		}
		return nil
	})
	return tables
}

// cells reads a table set apart as a tar archive of its cells.
func (d *Database) cells(ctx context.Context, table string) (io.ReadCloser, error) {
	f, err := litefile.Open(d.Path, true)
	if err != nil {
		return nil, err
	}
	r, err := litefile.Medium{File: f}.OpenLayer(ctx, f.Name+":"+table)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &reader{Reader: r, close: func() error { return errors.Join(r.Close(), f.Close()) }}, nil
}

// rows lists the rows, those of the tables that stay among them where all are wanted. It opens no file that could hold none:
// one that this user may not read would end the search of the whole store.
func (d *Database) rows(ctx context.Context, req model.ScrubRequest) error {
	if d.Others && req.Concerns == nil {
		req.Concerns = func([]byte) bool { return false }
	}
	if len(req.Held) == 0 && req.Concerns == nil {
		return nil
	}
	f, err := litefile.Open(d.Path, true)
	if err != nil {
		return err
	}
	m, each := d.Medium(f), req.SideRows
	if req.Concerns != nil {
		m.Items = nil
	}
	req.SideRows = func(row model.SideRow) {
		set := slices.Contains(d.Apart, strings.TrimPrefix(row.Layer, f.Name+":"))
		if row.Layer = d.Layer; set {
			row.Layer = d.ApartLayer
		}
		each(row)
	}
	_, err = m.Scrub(ctx, req)
	return errors.Join(err, f.Close())
}

// OpenLayer reads one layer. Where the tables cannot be set apart, the file's layer is the whole file.
func (d *Database) OpenLayer(ctx context.Context, id string) (io.ReadCloser, error) {
	if table, ok := strings.CutPrefix(id, d.ApartLayer+":"); ok && slices.Contains(d.Apart, table) {
		return d.cells(ctx, table)
	}
	suffix, ok := strings.CutPrefix(id, d.Layer)
	path := d.Path + suffix
	if !ok || suffix != "" && !d.Owns(path) {
		if path = d.Path; len(d.Apart) == 0 || id != d.ApartLayer {
			return nil, model.Errorf(model.NotFound, "layer", "the store has no layer %q", id)
		}
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, litefile.Worded("layer", err)
	}
	f, err := sharedfd.Open(info, func() (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0) })
	if err != nil {
		return nil, litefile.Worded("layer", err)
	}
	if len(d.Apart) == 0 || path != d.Path {
		return f, nil
	}
	r := &reader{Reader: f, close: f.Close}
	theirs, others, err := d.apart(ctx, f)
	switch {
	case err != nil && id == d.ApartLayer:
		_ = r.Close()
		return nil, err
	case err != nil: // whatever it holds
	case id == d.Layer:
		r.Reader = others
		return whole{r, f.Fd}, nil
	case theirs == nil:
		r.Reader = strings.NewReader("")
	default:
		r.Reader = theirs
	}
	return r, nil
}

func (d *Database) apart(ctx context.Context, f *sharedfd.File) (theirs, others io.Reader, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, litefile.Worded("layer", err)
	}
	db, err := litefile.Open(d.Path, true)
	if err != nil {
		return nil, nil, err
	}
	theirs, others, err = db.Apart(ctx, f, info.Size(), d.Apart...)
	return theirs, others, errors.Join(err, db.Close())
}

// whole is the layer of the file itself, which has its attributes.
type whole struct {
	*reader
	fd func() uintptr
}

func (w whole) Fd() uintptr { return w.fd() }

type reader struct {
	io.Reader
	once  sync.Once
	close func() error
}

func (r *reader) Close() (err error) {
	r.once.Do(func() { err = r.close() })
	return err
}

// Scrub removes the rows to be erased, and then every byte of them. A file without such data keeps its
// bytes.
func (d *Database) Scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	if _, err := os.Lstat(d.Path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if req.SideRows != nil {
		return nil, d.rows(ctx, req)
	}
	tied, err := d.tied(ctx, req)
	if err != nil {
		return []model.LayerResult{d.unread(err)}, nil
	}
	if req.Dry {
		if tied {
			req.Permits(d.Layer, nil)
		}
		return nil, nil
	}
	traced := tied
	for _, layer := range d.cleaned() {
		if traced {
			break
		}
		if traced, err = d.traces(ctx, req, layer); err != nil {
			return []model.LayerResult{d.unread(err)}, nil
		}
	}
	if !traced {
		return nil, nil
	}
	switch left, ok := req.Permits(d.Layer, nil); {
	case !ok && tied:
		return []model.LayerResult{left}, nil
	case !ok:
		return nil, nil // whether the traces are a bystander's is the plan's knowledge: verification searches again
	}
	if by := d.held(); by != "" {
		return []model.LayerResult{{Layer: d.Layer, Method: "not written", Verdict: model.VerdictPending, Reason: by}}, nil
	}
	f, err := litefile.Open(d.Path, false)
	if err != nil {
		return []model.LayerResult{d.unread(err)}, nil
	}
	req.May = nil // it permits the file as a whole
	out, err := d.Medium(f).Scrub(ctx, req)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return []model.LayerResult{d.unread(err)}, nil
	}
	for i := range out {
		out[i].Layer = d.Layer + strings.TrimPrefix(out[i].Layer, filepath.Base(d.Path))
	}
	return out, nil
}

// held says why the file cannot be written now; empty: it can. An unknown state counts as held.
func (d *Database) held() string {
	by, err := litefile.Held(d.Path)
	if err != nil {
		by = err.Error()
	}
	if by == "" {
		return ""
	}
	return by + ": end the program that uses it, then run the erasure again"
}

// cleaned are the layers that Scrub may write.
func (d *Database) cleaned() []string {
	out := []string{d.Layer}
	if len(d.Apart) > 0 && d.Reason == "" {
		out = append(out, d.ApartLayer)
	}
	for _, suffix := range sidecars {
		if _, err := os.Lstat(d.Path + suffix); err == nil {
			out = append(out, d.Layer+suffix)
		}
	}
	return out
}

func (d *Database) traces(ctx context.Context, req model.ScrubRequest, layer string) (bool, error) {
	if req.Traces == nil {
		return false, nil
	}
	r, err := d.OpenLayer(ctx, layer)
	if err != nil {
		if errors.Is(err, model.NotFound) {
			err = nil
		}
		return false, err
	}
	found, err := req.Traces(ctx, r)
	return found, errors.Join(err, r.Close())
}

// tied reports whether a row names the subject or belongs to a removed note.
func (d *Database) tied(ctx context.Context, req model.ScrubRequest) (tied bool, err error) {
	f, err := litefile.Open(d.Path, true)
	if err != nil {
		return false, err
	}
	_, err = d.Medium(f).Scrub(ctx, model.ScrubRequest{Dry: true, Held: req.Held, Concerns: req.Concerns, Redact: req.Redact, May: func(string, []byte) bool {
		tied = true
		return false
	}})
	if err == nil && !tied && d.Tied != nil && len(req.Removed) > 0 {
		tied, err = d.Tied(ctx, f, req.Removed)
	}
	return tied, errors.Join(err, f.Close())
}

func (d *Database) unread(err error) model.LayerResult {
	r := model.LayerResult{Layer: d.Layer, Method: "not cleaned", Verdict: model.VerdictFailed, Reason: err.Error()}
	if k := model.KindOf(err); k == model.Locked || k == model.Timeout {
		r.Verdict = model.VerdictPending
	}
	return r
}
