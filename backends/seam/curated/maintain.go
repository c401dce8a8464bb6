package curated

import (
	"context"
	"errors"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/walk"
	"memdesk/model"
)

// sessionsLayer stands for data that no file shows.
const sessionsLayer = "(running sessions)"

// layer is one file of the medium and its place.
type layer struct {
	model.Layer
	pending bool // below the proposals, else below the memories
	name    string
}

// cutOff is the name of an interrupted write by memdesk; the agent's have eight other characters. With the
// locks held, no live writer owns one.
var cutOff = regexp.MustCompile(`^\.mem_[0-9a-f]{16}\.tmp$`)

// interrupted reports whether the file is the rest of a write by memdesk: an unfinished copy, or an
// unfinished lock.
func (l layer) interrupted() bool {
	return cutOff.MatchString(l.name) || rootdir.IsLockTemp(l.name) && l.Bytes == 0
}

// derivedFile reports whether the agent makes the file beside its own: locks, backups and temporary files.
func derivedFile(name string) bool {
	if strings.HasPrefix(name, ".mem_") && strings.HasSuffix(name, ".tmp") || rootdir.IsLockTemp(name) {
		return true
	}
	for _, f := range fileNames {
		if name == f+".lock" || strings.HasPrefix(name, f+".bak.") || strings.HasPrefix(name, f+".tmp.") {
			return true
		}
	}
	return false
}

// Layers implements model.Maintainer.
func (s *store) Layers(ctx context.Context) ([]model.Layer, error) {
	layers, err := s.layers(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]model.Layer, len(layers))
	for i, l := range layers {
		out[i] = l.Layer
	}
	return out, nil
}

func (s *store) layers(ctx context.Context) ([]layer, error) {
	if err := model.FromContext(ctx, "layers"); err != nil {
		return nil, err
	}
	d, err := s.root()
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var out []layer
	if err := walk.Everything(ctx, "layers", d, nowhere, func(f walk.Found) { out = append(out, memoryLayer(s.path, f)) }); err != nil {
		return nil, err
	}
	switch p, err := s.pendingRoot(); {
	case err != nil:
		out = append(out, pendingLayer(filepath.Join(s.home, pendingDir), walk.Found{Path: ".", Problem: err.Error()}))
	case p != nil:
		defer p.Close()
		if err := walk.Everything(ctx, "layers", p, nowhere, func(f walk.Found) { out = append(out, pendingLayer(filepath.Join(s.home, pendingDir), f)) }); err != nil {
			return nil, err
		}
	}
	return append(out, layer{Layer: model.Layer{
		ID: sessionsLayer, Kind: model.LayerExternal, Reason: "a session that began before a change keeps the old text until it ends, and so does its transcript",
	}}), nil
}

// memoryLayer is a file of the memories directory dir.
func memoryLayer(dir string, f walk.Found) layer {
	l := layerOf(dir, f)
	switch {
	case !l.Readable:
	case slices.Contains(fileNames, l.name):
		l.Kind = model.LayerItem
	case !derivedFile(l.name):
		l.Kind, l.Reason = model.LayerExternal, "it is not this store's: only looked at"
	}
	return l
}

// pendingLayer is a file of the proposals' directory dir.
func pendingLayer(dir string, f walk.Found) layer {
	l := layerOf(dir, f)
	l.pending, l.ID = true, path.Join(pendingDir, l.name)
	if name, ok := proposalName(l.name); ok && l.Readable {
		l.Kind, l.ItemID = model.LayerItem, TierPending+"/"+name
	}
	return l
}

// layerOf is a file as a layer that the agent made, or as one that is only named.
func layerOf(dir string, f walk.Found) layer {
	l := layer{name: f.Path, Layer: model.Layer{ID: f.Path, Kind: model.LayerDerived, Bytes: f.Meta.Size,
		Readable: f.Problem == "" && f.Meta.Kind == rootdir.File, File: filepath.Join(dir, filepath.FromSlash(f.Path))}}
	switch {
	case f.Problem != "":
		l.Reason = "it cannot be looked into: " + f.Problem
	case f.Meta.Kind == rootdir.Link:
		l.Kind, l.Reason = model.LayerExternal, model.LinkReason
	case !l.Readable:
		l.Kind, l.Reason = model.LayerExternal, "it is no regular file"
	default:
		l.Links = max(0, int64(f.Meta.Links())-1)
	}
	return l
}

// OpenLayer implements model.Maintainer.
func (s *store) OpenLayer(ctx context.Context, id string) (io.ReadCloser, error) {
	layers, err := s.layers(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(layers, func(l layer) bool { return l.ID == id })
	switch {
	case i < 0:
		return nil, model.Errorf(model.NotFound, "open-layer", "there is no layer %q", id)
	case !layers[i].Readable:
		return nil, model.Errorf(model.Unsupported, "open-layer", "%q cannot be read: %s", id, layers[i].Reason)
	}
	d, err := s.layerDir(layers[i])
	if err != nil {
		return nil, err
	}
	defer d.Close()
	r, _, err := d.Reader(layers[i].name)
	return r, err
}

func (s *store) layerDir(l layer) (*rootdir.Dir, error) {
	if !l.pending {
		return s.root()
	}
	d, err := s.pendingRoot()
	if err == nil && d == nil {
		err = model.Errorf(model.NotFound, "open-layer", "there are no proposals any more")
	}
	return d, err
}

func (s *store) readLayer(l layer) ([]byte, error) {
	d, err := s.layerDir(l)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	data, _, err := d.Read(l.name, 0)
	return data, err
}

// Scrub removes the backups and temporary files that hold forgotten text, and the proposals that name the
// subject. It holds the locks of both files, in their order, so that no temporary file is a live writer's.
func (s *store) Scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	if req.SideRows != nil {
		return nil, nil // no file holds a part of an entry
	}
	if err := s.reason.Check("scrub"); err != nil && !req.Dry {
		return nil, err
	}
	layers, err := s.layers(ctx)
	if err != nil {
		return nil, err
	}
	concerned := concernedBy(req)
	if !req.Dry && slices.ContainsFunc(layers, func(l layer) bool {
		return l.Kind == model.LayerDerived && !l.pending && (l.Bytes > 0 || l.interrupted())
	}) {
		unlock, err := s.lockBoth(ctx)
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	var out []model.LayerResult
	for _, l := range layers {
		if err := model.FromContext(ctx, "scrub"); err != nil {
			return nil, err
		}
		r := s.scrubLayer(l, req, concerned)
		if req.Dry {
			continue
		}
		if req.Step != nil {
			req.Step(r.Layer, r.Method)
		}
		out = append(out, r)
	}
	return out, nil
}

func (s *store) lockBoth(ctx context.Context) (unlock func(), err error) {
	d, err := s.root()
	if err != nil {
		return nil, err
	}
	var held []*rootdir.Lock
	unlock = func() {
		for _, l := range slices.Backward(held) {
			l.Unlock()
		}
		_ = d.Close()
	}
	for _, name := range fileNames {
		l, err := d.Lock(ctx, name+".lock", fileMode)
		if err != nil {
			unlock()
			return nil, err
		}
		held = append(held, l)
	}
	return unlock, nil
}

// concernedBy reports whether bytes must go: by the caller's test, or because they hold a removed entry.
func concernedBy(req model.ScrubRequest) func(data []byte) bool {
	removed := map[string]bool{}
	for _, id := range req.Removed {
		if at, ok := parseID(id); ok && at.hash != "" {
			removed[at.hash] = true
		}
	}
	return func(data []byte) bool {
		if req.Concerns != nil && req.Concerns(data) {
			return true
		}
		return slices.ContainsFunc(parse(string(data)), func(e entry) bool { return removed[e.hash] })
	}
}

func (s *store) scrubLayer(l layer, req model.ScrubRequest, concerned func([]byte) bool) model.LayerResult {
	r := model.LayerResult{Layer: l.ID, Method: "read", Verdict: model.VerdictClean}
	fail := func(v model.Verdict, reason string) model.LayerResult {
		r.Verdict, r.Reason = v, reason
		return r
	}
	if !l.Readable {
		if l.Kind == model.LayerExternal {
			return fail(model.VerdictOutOfScope, l.Reason)
		}
		return fail(model.VerdictUnaudited, l.Reason)
	}
	data, err := s.readLayer(l)
	switch {
	case errors.Is(err, model.NotFound):
		return r
	case errors.Is(err, rootdir.ErrTooLarge): // the scan reads it, and judges it
		return fail(model.VerdictUnaudited, "it is too large to be removed here: "+err.Error())
	case err != nil:
		return fail(model.VerdictFailed, "it cannot be read: "+err.Error())
	case !concerned(data) && !l.interrupted():
		return r
	case l.Kind == model.LayerExternal:
		return fail(model.VerdictOutOfScope, "it names the person, and is not this store's to remove")
	case l.Kind == model.LayerItem && !l.pending:
		return fail(model.VerdictResidue, "an entry still names the person: forget or redact it")
	}
	if !l.interrupted() {
		if left, ok := req.Permits(l.ID, data); !ok {
			return left
		}
	} else if req.Dry {
		return r
	}
	d, err := s.layerDir(l)
	if err == nil {
		defer d.Close()
		err = d.Remove(l.name)
	}
	if err != nil && !errors.Is(err, model.NotFound) {
		return fail(model.VerdictFailed, "it cannot be removed: "+err.Error())
	}
	r.Method, r.Rows = "removed", 1
	return r
}
