package notes

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/backends/seam/internal/erasure"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/walk"
	"memdesk/model"
)

// OutsideDir is a directory outside the store where AgentM keeps text of its notes.
type OutsideDir struct {
	Prefix string // of its layers' ids: "(state)"
	Path   string
	// Names are path.Match patterns of the relevant files; the rest is not listed.
	Names []string
	// Lines: the files are append-only JSON lines; scrubbing drops those that name the subject. Otherwise
	// nothing in it is written.
	Lines  bool
	Reason string // why a directory is not written: its owner and the remedy
}

// oldVersions are the folders in which sync tools and editors keep removed or replaced files.
var oldVersions = []string{".stversions", ".trash", ".trashed"}

// layer kinds of this package's own walk.
type sort int

const (
	sortItem    sort = iota
	sortCopy         // a temporary file, a backup, an old version: removed when it names the subject
	sortBooks        // AgentM's per-slug books
	sortForeign      // another program's own
	sortEmpty        // an empty directory: only its name holds data
	sortGit          // a git repository, not searched
	sortLines        // another program's text: lines that name the subject are removed
)

// found is one file of the walk over everything.
type found struct {
	walk.Found
	sort sort
	// side is the layout's, of a file that is no item.
	side Side
}

// Layers lists every file beneath the root, dot folders included, and AgentM's own
// places outside.
func (s *store) Layers(ctx context.Context) ([]model.Layer, error) {
	var out []model.Layer
	err := s.eachFound(ctx, func(f found) { out = append(out, f.layer(s.cfg.Path)) })
	if err != nil {
		return nil, err
	}
	err = s.eachOutside(ctx, func(p OutsideDir, _ *rootdir.Dir, f found) {
		l := f.layer(p.Path)
		l.ID, l.ItemID, l.Kind = p.Prefix+"/"+f.Path, "", model.LayerDerived
		if !p.Lines {
			l.Kind = model.LayerExternal
			l.Reason = cmp.Or(l.Reason, p.Reason)
		}
		out = append(out, l)
	})
	if err != nil {
		return nil, err
	}
	for _, p := range s.parts() {
		layers, err := p.Layers(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, layers...)
	}
	if l := s.cfg.Layout; l != nil && l.Outside != nil {
		out = append(out, l.Outside()...)
	}
	return out, nil
}

// layer is the file as a layer; dir is the start of the walk.
func (f found) layer(dir string) model.Layer {
	l := erasure.Layer(f.Found, cmp.Or(f.side.Name, f.Path), dir)
	switch f.sort {
	case sortItem:
		if l.Kind == model.LayerDerived {
			l.Kind, l.ItemID = model.LayerItem, f.Path
		}
	case sortForeign:
		if l.Readable {
			l.Reason = cmp.Or(f.side.Reason, "another program keeps it for itself; what it holds of a person is removed there")
		}
		l.Kind = model.LayerExternal
	case sortEmpty:
		l.ID += "/"
	case sortLines:
		l.Waits = waits(f.Meta)
	case sortCopy, sortBooks, sortGit:
	}
	if !l.Readable {
		l.Kind = model.LayerExternal
	}
	return l
}

// eachFound walks everything beneath the root.
func (s *store) eachFound(ctx context.Context, fn func(found)) error {
	root, err := s.open("layers")
	if err != nil || root == nil {
		return err
	}
	defer root.Close()
	return walk.Everything(ctx, "layers", root, nil, func(w walk.Found) {
		f := sorted(w)
		if s.ofPart(f.Path) {
			return
		}
		if l := s.cfg.Layout; l != nil && f.sort == sortItem && f.Meta.Kind == rootdir.File && !l.isItem(f.Path) {
			f.sort, f.side = sortForeign, l.Side(f.Path)
			if f.side.Lines {
				f.sort = sortLines
			}
		}
		fn(f)
	})
}

// ofPart reports whether a path belongs to a medium of its own.
func (s *store) ofPart(id string) bool {
	path := filepath.Join(s.cfg.Path, filepath.FromSlash(id))
	return slices.ContainsFunc(s.parts(), func(p Part) bool { return p.Owns(path) })
}

// sorted turns a file of the walk into a layer's.
func sorted(w walk.Found) found {
	f := found{Found: w}
	name := baseName(w.Path)
	for dir := range strings.SplitSeq(strings.TrimSuffix(w.Path[:len(w.Path)-len(name)], "/"), "/") {
		if f.sort == sortItem && dir != "" {
			f.sort = dirSort(dir)
		}
	}
	switch {
	case f.Problem != "":
		f.sort = sortForeign
	case w.Repository:
		f.sort = sortGit
	case w.Empty:
		f.sort = sortEmpty
	case f.sort != sortItem:
	case slices.Contains(bookkeeping, name):
		f.sort = sortBooks
	case isConfig(name):
		f.sort = sortForeign
	case isMachinery(name):
		f.sort = sortCopy
	}
	return f
}

// dirSort is the sort of the files in a directory.
func dirSort(name string) sort {
	switch {
	case isOpenDir(name):
		return sortItem
	case slices.Contains(oldVersions, strings.ToLower(name)):
		return sortCopy
	}
	return sortForeign
}

// eachOutside passes on the files of AgentM's own directories.
func (s *store) eachOutside(ctx context.Context, fn func(OutsideDir, *rootdir.Dir, found)) error {
	for _, p := range s.cfg.Outside {
		if err := model.FromContext(ctx, "layers"); err != nil {
			return err
		}
		dir, err := rootdir.Open(p.Path, nil)
		if errors.Is(err, model.NotFound) {
			continue
		}
		if err != nil {
			fn(p, nil, found{Found: walk.Found{Path: ".", Problem: err.Error()}, sort: sortForeign})
			continue
		}
		children, err := dir.List(".")
		if err != nil {
			fn(p, dir, found{Found: walk.Found{Path: ".", Problem: err.Error()}, sort: sortForeign})
		}
		for _, c := range children {
			if c.Kind != rootdir.Directory && slices.ContainsFunc(p.Names, func(pattern string) bool { return matches(pattern, c.Name) }) {
				fn(p, dir, found{Found: walk.Found{Path: c.Name, Meta: c.Meta}, sort: sortCopy})
			}
		}
		_ = dir.Close()
	}
	return nil
}

// OpenLayer reads a layer's bytes.
func (s *store) OpenLayer(ctx context.Context, id string) (io.ReadCloser, error) {
	if err := model.FromContext(ctx, "layer"); err != nil {
		return nil, err
	}
	if strings.HasSuffix(id, "/") {
		return io.NopCloser(strings.NewReader("")), nil // an empty directory
	}
	for _, p := range s.parts() {
		if r, err := p.OpenLayer(ctx, id); !errors.Is(err, model.NotFound) {
			return r, err
		}
	}
	name := id
	if s.cfg.Layout != nil {
		name = s.cfg.Layout.Path(id)
	}
	own, err := openIn(s.cfg.Path, name)
	for _, p := range s.cfg.Outside {
		rest, ok := strings.CutPrefix(id, p.Prefix+"/")
		if !ok {
			continue
		}
		beside, berr := openIn(p.Path, rest)
		if errors.Is(berr, model.NotFound) {
			continue // a directory of the store may have the name of the prefix
		}
		if err == nil {
			_ = own.Close() // only read
			if berr == nil {
				_ = beside.Close()
			}
			return nil, model.Errorf(model.Unsupported, "layer", "a file of the store and one beside it have this name")
		}
		return beside, berr
	}
	return own, err
}

// openIn opens a file of a directory.
func openIn(dir, name string) (io.ReadCloser, error) {
	root, err := rootdir.Open(dir, nil)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	r, _, err := root.Reader(name)
	return r, err
}
