package records

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"memdesk/backends/internal/litefile"
	"memdesk/model"
)

// File is a file that may hold a store's text. Why says what keeps memdesk from cleaning it; empty: nothing
// does.
type File struct{ ID, Path, Why string }

// Files are the layers of a store that is one flat file: the file itself, and copies that its owner's
// program, an operator or memdesk left.
type Files struct {
	Store  string // path of the file
	Beside func() ([]File, error)
}

func (f Files) all() ([]File, error) {
	beside, err := f.Beside()
	return append([]File{{ID: filepath.Base(f.Store), Path: f.Store}}, beside...), err
}

// Layers lists the files that exist.
func (f Files) Layers(ctx context.Context) ([]model.Layer, error) {
	if err := model.FromContext(ctx, "layers"); err != nil {
		return nil, err
	}
	all, err := f.all()
	if err != nil {
		return nil, err
	}
	var out []model.Layer
	for _, k := range all {
		info, err := os.Lstat(k.Path)
		if os.IsNotExist(err) {
			continue
		}
		l := model.Layer{ID: k.ID, Kind: model.LayerDerived, Reason: k.Why, Readable: err == nil, HeldWith: k.Path}
		if k.Why != "" {
			l.Kind = model.LayerExternal
		}
		if err != nil {
			l.Reason = "it cannot be looked at"
		} else {
			l.Bytes = info.Size()
		}
		out = append(out, l)
	}
	return out, nil
}

// OpenLayer reads one of them.
func (f Files) OpenLayer(ctx context.Context, id string) (io.ReadCloser, error) {
	const op = "open-layer"
	if err := model.FromContext(ctx, op); err != nil {
		return nil, err
	}
	all, err := f.all()
	if err != nil {
		return nil, err
	}
	for _, k := range all {
		if k.ID == id {
			r, err := OpenFlat(op, k.Path)
			if err != nil {
				return nil, err
			}
			return r, nil
		}
	}
	return nil, model.Errorf(model.NotFound, op, "the store has no layer %q", id)
}

// Remove removes the files beside the store that name the subject and that memdesk may clean.
func (f Files) Remove(req model.ScrubRequest) (res []model.LayerResult, err error) {
	all, err := f.Beside()
	if err != nil {
		return nil, err
	}
	for _, k := range all {
		if k.Why != "" {
			continue // a backup may be larger than the memory, and is not cleaned here
		}
		data, err := os.ReadFile(k.Path)
		if err != nil || !req.Concerns(data) {
			continue // gone since, or without the subject
		}
		refused, may := req.Permits(k.ID, data)
		switch {
		case req.Dry:
			continue
		case !may:
			res = append(res, refused)
			continue
		}
		r := model.LayerResult{Layer: k.ID, Method: "file removed", Rows: 1, Verdict: model.VerdictClean}
		if err := os.Remove(k.Path); err != nil {
			r.Verdict, r.Reason = model.VerdictFailed, litefile.Worded("scrub", err).Error()
		}
		res = append(res, r)
	}
	return res, nil
}
