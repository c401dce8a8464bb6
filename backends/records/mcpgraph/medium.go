package mcpgraph

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/internal/litefile"
	"memdesk/backends/records"
	"memdesk/model"
)

// medium is the file and what the server and repairs leave beside it.
type medium struct{ f *file }

// Layers lists the file, temporary files, lines set aside, and the older memory.json.
func (m medium) Layers(ctx context.Context) ([]model.Layer, error) {
	if err := model.FromContext(ctx, "layers"); err != nil {
		return nil, err
	}
	names, err := m.f.siblings()
	if err != nil {
		return nil, err
	}
	var out []model.Layer
	for _, name := range append([]string{filepath.Base(m.f.path)}, names...) {
		info, err := os.Lstat(m.at(name))
		if os.IsNotExist(err) {
			continue
		}
		l := model.Layer{ID: name, Kind: model.LayerDerived, Readable: err == nil}
		if err != nil {
			l.Reason = "it cannot be looked at"
		} else {
			l.Bytes = info.Size()
		}
		if m.older(name) {
			l.Kind, l.Reason = model.LayerExternal, "the server's older file: open it as a store of its own and erase there too"
		}
		out = append(out, l)
	}
	return out, nil
}

func (m medium) at(name string) string { return filepath.Join(filepath.Dir(m.f.path), name) }

// older reports whether a file is the server's from before it wrote lines.
func (m medium) older(name string) bool {
	return strings.HasSuffix(name, ".json") && name != filepath.Base(m.f.path)
}

// OpenLayer reads one of the files.
func (m medium) OpenLayer(ctx context.Context, id string) (io.ReadCloser, error) {
	if err := model.FromContext(ctx, "open-layer"); err != nil {
		return nil, err
	}
	if id != filepath.Base(id) || id != filepath.Base(m.f.path) && !m.f.isMine(id) {
		return nil, model.Errorf(model.NotFound, "open-layer", "the store has no layer %q", id)
	}
	r, err := os.Open(m.at(id))
	if err != nil {
		return nil, litefile.Worded("open-layer", err)
	}
	return r, nil
}

// Scrub redacts what the lines of edited entities say beside their observations, and removes files
// beside the store that name the person.
func (m medium) Scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	if req.Concerns == nil {
		return nil, nil
	}
	res, err := m.scrubLines(ctx, req)
	if err != nil {
		return nil, err
	}
	names, err := m.f.siblings()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if m.older(name) {
			continue
		}
		data, err := os.ReadFile(m.at(name))
		if err != nil || !req.Concerns(data) {
			continue // gone meanwhile, or nothing of the person
		}
		refused, may := req.Permits(name, data)
		switch {
		case req.Dry:
			continue
		case !may:
			res = append(res, refused)
			continue
		}
		r := model.LayerResult{Layer: name, Method: "file removed", Rows: 1, Verdict: model.VerdictClean}
		if err := os.Remove(m.at(name)); err != nil {
			r.Verdict, r.Reason = model.VerdictFailed, litefile.Worded("scrub", err).Error()
		}
		res = append(res, r)
	}
	return res, nil
}

func (m medium) scrubLines(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	res := model.LayerResult{Layer: filepath.Base(m.f.path), Method: "values beside the observations rewritten", Verdict: model.VerdictClean}
	clean := func(tx records.Tx) error {
		g := tx.(graphTx)
		raw := g.raw()
		res.Rows = 0
		for i, l := range g.lines {
			if l.tier != entityTier || !slices.Contains(req.Edited, l.id) || req.Redact == nil {
				continue
			}
			o, err := jsonedit.Parse(l.raw)
			if err != nil {
				continue
			}
			for _, name := range names(o) {
				before := o.Raw(name)
				if slices.Contains([]string{"type", "name", "entityType", "observations"}, name) || !req.Concerns(before) {
					continue
				}
				after := req.Redact(before)
				if req.MayEdit != nil && !req.MayEdit(model.RecordEdit{Layer: res.Layer, ID: l.id, Path: name, Before: string(before), After: string(after)}) {
					res.Verdict, res.Reason = model.VerdictResidue, "nobody has seen it as it is now: make a new plan"
					continue
				}
				if next := slices.Clone(l.raw); !req.Dry {
					if o.Set(after, name); string(o.Line) != string(next) {
						raw[i] = o.Line
						res.Rows++
					}
				}
			}
		}
		if res.Rows == 0 {
			return nil
		}
		return g.edit(raw)
	}
	if req.Dry {
		return nil, m.f.View(ctx, "scrub", clean)
	}
	if err := m.f.Change(ctx, "scrub", clean); err != nil {
		res.Verdict, res.Reason = model.VerdictFailed, err.Error()
	}
	return []model.LayerResult{res}, nil
}

func names(o *jsonedit.Object) []string {
	var out []string
	for _, m := range o.Members {
		out = append(out, m.Name)
	}
	return out
}
