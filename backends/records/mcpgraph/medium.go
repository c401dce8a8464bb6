package mcpgraph

import (
	"context"
	"encoding/json"
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

// medium is the file, and the files that the server and repairs leave beside it.
type medium struct{ f *file }

// kept lists the server's and repairs' files beside the store, copies, and other server versions' files in
// npm's cache.
func (f *file) kept() (out []records.File, err error) {
	dir, base := filepath.Split(f.path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, litefile.Worded("layers", err)
	}
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	for _, e := range entries {
		name, why := e.Name(), ""
		switch {
		case !e.Type().IsRegular() || name == base:
			continue
		case strings.HasPrefix(name, base+".") && strings.HasSuffix(name, ".tmp"), strings.HasPrefix(name, "."+base+".tmp."), strings.HasPrefix(name, base+".aside-"), strings.HasPrefix(name, "."+base+".aside-"): // with a dot: half written
		case name == stem+".json":
			why = "the server's older file: open it as a store of its own and erase there too"
		case strings.HasPrefix(name, base), strings.HasPrefix(name, stem+" "), strings.HasPrefix(name, stem+"."), strings.HasPrefix(name, "."+base):
			why = "a copy or backup beside the file: delete it, or open it as a store and erase there too"
		default:
			continue
		}
		out = append(out, records.File{ID: name, Path: filepath.Join(dir, name), Why: why})
	}
	cache, rest, in := strings.Cut(filepath.ToSlash(f.path), "/_npx/")
	if _, tail, ok := strings.Cut(rest, "/"); in && ok {
		versions, _ := os.ReadDir(cache + "/_npx") // a directory that cannot be listed counts as empty
		for _, v := range versions {
			if path := cache + "/_npx/" + v.Name() + "/" + tail; path != filepath.ToSlash(f.path) && records.IsFile(path) {
				out = append(out, records.File{ID: "npx " + v.Name(), Path: path, Why: "the graph of another version of the server in npm's cache: open it as a store of its own and erase there too"})
			}
		}
	}
	return out, nil
}

// Layers lists the file, the files beside it, and layers out of reach.
func (m medium) Layers(ctx context.Context) ([]model.Layer, error) {
	out, err := m.files().Layers(ctx)
	return append(out, model.Layer{ID: "free blocks, backups, transcripts", Kind: model.LayerExternal,
		Reason: "the file system's free blocks, backups and the agents' own transcripts are not looked at: an agent can write from its transcript what was erased here"}), err
}

// OpenLayer reads one of the files.
func (m medium) OpenLayer(ctx context.Context, id string) (io.ReadCloser, error) {
	return m.files().OpenLayer(ctx, id)
}

func (m medium) files() records.Files { return records.Files{Store: m.f.path, Beside: m.f.kept} }

// Scrub redacts the lines of edited items beside their fields, and removes files beside the store
// that name the subject.
func (m medium) Scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	if req.Concerns == nil || req.SideRows != nil { // a line is an item whole
		return nil, nil
	}
	res, err := m.scrubLines(ctx, req)
	if err != nil {
		return nil, err
	}
	more, err := m.files().Remove(req)
	return append(res, more...), err
}

func (m medium) scrubLines(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	res := model.LayerResult{Layer: filepath.Base(m.f.path), Method: "values beside the observations rewritten", Verdict: model.VerdictClean}
	clean := func(tx records.Tx) error {
		g := tx.(graphTx)
		raw := g.raw()
		res.Rows = 0
		for i, l := range g.lines {
			own := map[string][]string{entityTier: entityMembers, relationTier: relationMembers}[l.tier]
			if own == nil || !slices.Contains(req.Edited, l.id) || req.Redact == nil {
				continue
			}
			o, err := jsonedit.Parse(l.raw)
			if err != nil {
				continue
			}
			for n := len(o.Members) - 1; n >= 0; n-- {
				name, before := o.Members[n].Name, o.Members[n].Value.In(o.Line)
				if !o.Extra(n, own...) || !req.Concerns(before) && !req.Concerns([]byte(name)) {
					continue
				}
				after := req.Redact(before)
				if o.Find(name) != n || req.Concerns([]byte(name)) || req.Concerns(after) || !json.Valid(after) {
					after = nil
				}
				if req.MayEdit != nil && !req.MayEdit(model.RecordEdit{Layer: res.Layer, ID: l.id, Path: name, Before: string(before), After: string(after)}) {
					res.Verdict, res.Reason = model.VerdictResidue, "nobody has seen it as it is now: make a new plan"
					continue
				}
				if after == nil { // the server's next write drops it too
					o.Cut(n)
				} else {
					o.Set(after, name)
				}
			}
			if !req.Dry && string(o.Line) != string(l.raw) {
				raw[i] = o.Line
				res.Rows++
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
