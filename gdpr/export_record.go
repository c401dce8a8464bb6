package gdpr

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/gdpr/suppress"
	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// Export is a copy of the subject's data that was made for the subject. It has left the program's control:
// receipt and report list it until it is marked as handed over or deleted.
type Export struct {
	N     int       `json:"n"`
	Path  string    `json:"path"`            // where it was written; redacted at the end
	Named string    `json:"named,omitempty"` // the hash of the whole path, where it named the subject
	Made  time.Time `json:"made"`
	Items int64     `json:"items"`
	State string    `json:"state"` // receipt.ExportMade, ExportHandedOver or ExportDeleted
	At    time.Time `json:"at,omitzero"`
}

// told is an export as a receipt states it: without its path.
func (e Export) told() receipt.Export {
	out := receipt.Export{N: e.N, Made: e.Made.UTC().Format(time.RFC3339), Items: e.Items, State: e.State}
	if !e.At.IsZero() {
		out.At = e.At.UTC().Format(time.RFC3339)
	}
	return out
}

// exporting records an export before its first file is written: a copy that a dead process left, whole or in
// part, would be known to nobody. It returns the export's number.
func (d *Desk) exporting(ctx context.Context, r *Request, path string) (n int, err error) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return n, d.edit(ctx, r, func(r *Request) error {
		for _, e := range r.Exports {
			n = max(n, e.N)
		}
		n++
		r.Exports = append(r.Exports, Export{N: n, Path: path, Made: d.Clock.Now().UTC(), State: receipt.ExportMade})
		return nil
	})
}

// notExported removes the record of an export of which nothing is left.
func (d *Desk) notExported(ctx context.Context, r *Request, n int) error {
	return d.edit(context.WithoutCancel(ctx), r, func(r *Request) error {
		r.Exports = slices.DeleteFunc(r.Exports, func(e Export) bool { return e.N == n })
		return nil
	})
}

// exported completes the record of an export.
func (d *Desk) exported(ctx context.Context, r *Request, n int, items int64) error {
	return d.edit(context.WithoutCancel(ctx), r, func(r *Request) error {
		for i := range r.Exports {
			if r.Exports[i].N == n {
				r.Exports[i].Items, r.Exports[i].Made = items, d.Clock.Now().UTC()
			}
		}
		return nil
	})
}

// exports are those of the request; open: those alone that are neither handed over nor deleted.
func (r *Request) exports(open bool) (out []receipt.Export) {
	for _, e := range r.Exports {
		if !open || e.State == receipt.ExportMade {
			out = append(out, e.told())
		}
	}
	return out
}

// MarkExport says what became of an export: handed over, or deleted; it works on a complete request too. n 0
// means the only open one. Marking a file that still exists as deleted is Conflict.
func (d *Desk) MarkExport(ctx context.Context, id string, n int, state string) (Due, error) {
	const op = "gdpr-export"
	if state != receipt.ExportHandedOver && state != receipt.ExportDeleted {
		return Due{}, model.Errorf(model.InvalidInput, op, "an export is marked %s or %s", receipt.ExportHandedOver, receipt.ExportDeleted)
	}
	r, err := d.load(id)
	if err != nil {
		return Due{}, err
	}
	open := r.exports(true)
	if n == 0 && len(open) == 1 {
		n = open[0].N
	}
	numbered := func(e Export) bool { return e.N == n }
	i := slices.IndexFunc(r.Exports, numbered)
	switch {
	case len(r.Exports) == 0:
		return Due{}, model.Errorf(model.NotFound, op, "no export was made under request %s", id)
	case n == 0 && len(open) == 0:
		return Due{}, model.Errorf(model.Conflict, op, "every export of request %s is marked already", id)
	case i < 0:
		return Due{}, model.Errorf(model.InvalidInput, op, "which of %d exports? give its number: --export N, from 1", len(r.Exports))
	}
	if state == receipt.ExportDeleted {
		path, err := d.pathOf(r.Exports[i])
		if err != nil {
			return Due{}, err
		}
		parts, gerr := unfinishedExports(path)
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) || gerr != nil {
			return Due{}, model.Errorf(model.Conflict, op, "export %d is still there: delete it first", n)
		}
		if len(parts) > 0 {
			return Due{}, model.Errorf(model.Conflict, op, "of export %d there is still what an interrupted one left, %s beside it: delete that first", n, filepath.Base(parts[0]))
		}
	}
	return d.amend(ctx, &r, op, map[string]int64{"export": int64(n)}, func(r *Request) error {
		if i := slices.IndexFunc(r.Exports, numbered); i >= 0 {
			r.Exports[i].State, r.Exports[i].At = state, d.Clock.Now().UTC()
		}
		return nil
	})
}

// pathOf is the path of an export. One that named the subject is found by its hash in its directory; where that is
// not known either, nobody can say that the export is gone.
func (d *Desk) pathOf(e Export) (string, error) {
	const op = "gdpr-export"
	if !strings.Contains(e.Path, Erased) {
		return e.Path, nil
	}
	dir := filepath.Dir(e.Path)
	if e.Named == "" || strings.Contains(dir, Erased) {
		return "", model.Errorf(model.Conflict, op, "the path of export %d named the person and is not kept, so nobody can look whether it is gone", e.N)
	}
	key, err := d.pseudonymKey()
	if err != nil {
		return "", err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", model.E(model.Unavailable, op, atomicfile.Pathless(err))
	}
	for _, f := range entries {
		name, _, _ := strings.Cut(f.Name(), tempMark) // of an interrupted export too
		if path := filepath.Join(dir, name); key.Item("export", path) == e.Named {
			return path, nil
		}
	}
	return e.Path, nil
}

// unfinishedExports are what interrupted exports left beside their destination (newSink).
func unfinishedExports(path string) (out []string, err error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+tempMark) {
			out = append(out, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return out, err
}

// forgetNames redacts the subject in what a request keeps after its end.
func (r *Request) forgetNames(key suppress.Key, m *subject.Matcher) {
	r.Gone = nil
	for i, e := range r.Exports {
		if m.Names(e.Path) {
			r.Exports[i].Named = key.Item("export", e.Path)
		}
	}
	for i, a := range r.Attested {
		r.Attested[i].Ground = citedArticles(a.Ground)
	}
	for _, s := range r.texts() {
		*s = m.Redact(*s, Erased)
	}
}
