// Package erasure makes layers of files, and keeps the results of an erasure that goes from file to file. A file that cannot be
// erased is reported in the results, and the erasure goes on with the next.
package erasure

import (
	"errors"
	"path/filepath"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/walk"
	"memdesk/internal/gitlog"
	"memdesk/model"
)

// Layer is a file as a layer with an id; root is where the walk began.
func Layer(f walk.Found, id, root string) model.Layer {
	l := model.Layer{ID: id, Kind: model.LayerDerived, Bytes: f.Meta.Size, Readable: true}
	if f.Repository || f.Meta.Kind == rootdir.File || f.Meta.Kind == rootdir.Link {
		l.File = filepath.Join(root, filepath.FromSlash(f.Path))
	}
	switch {
	case f.Problem != "":
		l.Readable, l.Reason = false, f.Problem
	case f.Repository:
		l.Kind, l.Readable, l.Reason, l.Repository = model.LayerExternal, false, gitlog.Kept, true
	case f.Empty: // only its name holds data
		l.Bytes = 0
	case f.Meta.Kind == rootdir.Link:
		l.Kind, l.Readable, l.Reason = model.LayerExternal, false, model.LinkReason
	case f.Meta.Kind != rootdir.File:
		l.Readable, l.Reason = false, "a special file, which is not read"
	case f.Meta.Links() > 1:
		l.Links = int64(f.Meta.Links()) - 1
		l.Reason = "the file has a second name: removing this one leaves its bytes under the other"
	}
	return l
}

// Run is one erasure.
type Run struct {
	Req model.ScrubRequest
	Out []model.LayerResult
}

// Add records a result and reports it as progress; without anything done there is none.
func (r *Run) Add(layer, method string, rows int64, err error) {
	res := model.LayerResult{Layer: layer, Method: method, Rows: rows, Verdict: model.VerdictClean}
	switch {
	case errors.Is(err, model.Locked), errors.Is(err, model.Timeout):
		res.Verdict, res.Reason = model.VerdictPending, err.Error()
	case errors.Is(err, rootdir.ErrTooLarge): // the scan reads it, and judges it
		res.Verdict, res.Reason = model.VerdictUnaudited, "it is too large to be removed here: "+err.Error()
	case err != nil:
		res.Verdict, res.Reason = model.VerdictFailed, err.Error()
	case rows == 0:
		return
	}
	r.Out = append(r.Out, res)
	if r.Req.Step != nil {
		r.Req.Step(layer, method)
	}
}

// Removed records that one file is gone, by this erasure or before it.
func (r *Run) Removed(layer, method string, err error) {
	if errors.Is(err, model.NotFound) {
		err = nil
	}
	r.Add(layer, method, 1, err)
}

// May reports whether a layer may be changed; one that must stay is a result.
func (r *Run) May(layer string, data []byte) bool {
	left, ok := r.Req.Permits(layer, data)
	if !ok && left.Layer != "" {
		r.Out = append(r.Out, left)
	}
	return ok
}

// Names reports whether bytes name the subject.
func (r *Run) Names(data []byte) bool { return r.Req.Concerns != nil && r.Req.Concerns(data) }

// Link removes a symbolic link whose own name names the subject, never its target.
func (r *Run) Link(dir *rootdir.Dir, layer, name string) {
	to, err := dir.Readlink(name)
	if errors.Is(err, model.NotFound) || err == nil && !r.May(layer, []byte(to)) {
		return
	}
	if err == nil {
		err = dir.Unlink(name)
	}
	r.Removed(layer, "the symbolic link itself removed, and not what it leads to", err)
}
