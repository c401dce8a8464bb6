package crewship

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"memdesk/backends/internal/sharedfd"
	"memdesk/backends/seam/internal/erasure"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/walk"
	"memdesk/model"
)

// Layers lists every file beneath the memory directories, machinery included, the version
// blobs, and the database, which only Crewship may change.
func (s *store) Layers(ctx context.Context) ([]model.Layer, error) {
	snap, err := s.survey(ctx, "layers")
	if err != nil {
		return nil, err
	}
	var out []model.Layer
	for _, why := range snap.problems {
		out = append(out, model.Layer{ID: "(not looked at)", Kind: model.LayerExternal, Reason: why})
	}
	for _, p := range s.places(snap) {
		if err := s.eachFile(ctx, p, func(f file) { out = append(out, f.layer()) }); err != nil {
			return nil, err
		}
	}
	return append(out, s.databaseLayers()...), nil
}

// places are the memory directories that are there, and that of the version blobs.
func (s *store) places(snap *snapshot) []*memoryDir {
	if p := s.versions(); p != nil {
		return append(snap.there(), p)
	}
	return snap.there()
}

// versions is the directory of the version blobs; nil where there is none.
func (s *store) versions() *memoryDir {
	if s.at.memory == "" || s.at.single {
		return nil
	}
	if root := existing(s.at.memory, "versions"); root != "" {
		return &memoryDir{prefix: "versions/", kind: kindVersions, root: root, dir: "."}
	}
	return nil
}

// file is one name beneath a memory directory.
type file struct {
	walk.Found
	memory *memoryDir
	dir    *rootdir.Dir // open during the walk
}

func (f file) id() string { return f.memory.prefix + f.Path }

func (f file) isItem() bool {
	_, quarantined := quarantineLabel(f.Path)
	return f.memory.kind != kindVersions && (quarantined || isMemory(f.Path))
}

// layer is the file as a layer. A memory directory has one index, and a copy of that is older than the items.
func (f file) layer() model.Layer {
	l := erasure.Layer(f.Found, f.id(), f.memory.path())
	l.Rows = isIndex(f.Path)
	if f.isItem() && l.Kind == model.LayerDerived {
		l.Kind, l.ItemID = model.LayerItem, l.ID
	}
	return l
}

// eachFile walks everything beneath a memory directory. An unreadable part is passed on as a file with a problem.
func (s *store) eachFile(ctx context.Context, p *memoryDir, fn func(file)) error {
	dir, err := s.open(p)
	switch {
	case errors.Is(err, model.NotFound):
		return nil
	case errors.Is(err, model.Unavailable):
		return err
	case err != nil:
		fn(file{memory: p, Found: walk.Found{Path: ".", Problem: err.Error()}})
		return nil
	}
	defer dir.Close()
	return walk.Everything(ctx, "layers", dir, nil, func(w walk.Found) {
		if !w.Empty {
			fn(file{w, p, dir})
		}
	})
}

// databaseLayers are Crewship's own database and its log. memdesk never writes them; a subject's data in
// them goes through Crewship's erasure.
func (s *store) databaseLayers() []model.Layer {
	if s.at.db == "" {
		return nil
	}
	advice := "an administrator of Crewship deletes the person's account and journal there"
	if s.api == nil {
		advice = "Crewship's own cascade erases the person there: set api_url, api_token_file and workspace of this store, so that memdesk asks it, or call Crewship's GDPR endpoint"
	}
	var out []model.Layer
	for _, suffix := range []string{"", "-wal", "-journal"} {
		info, err := os.Lstat(s.at.db + suffix)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		l := model.Layer{ID: dbName + suffix, Kind: model.LayerExternal, Readable: true,
			Reason: "Crewship's own database (accounts, peer cards, journal, version records): only Crewship's GDPR endpoint erases there", Advice: advice}
		if s.api != nil && suffix == "" {
			l.Reason += ": an erasure that changes this store calls it, and it deletes peer cards, user models, version and inbox rows of the person in workspace " + quote(s.api.workspace)
		}
		switch {
		case err != nil:
			l.Readable, l.Reason = false, "it cannot be looked at: "+reason(err)
		case !info.Mode().IsRegular():
			l.Readable, l.Reason = false, "it is no regular file"
		default:
			l.Bytes = info.Size()
		}
		out = append(out, l)
	}
	return out
}

// OpenLayer reads one file unchanged.
func (s *store) OpenLayer(ctx context.Context, id string) (io.ReadCloser, error) {
	if suffix, ok := strings.CutPrefix(id, dbName); ok && s.at.db != "" && !strings.Contains(suffix, "/") {
		return openRegular(s.at.db + suffix)
	}
	p, label := s.versions(), ""
	if p != nil && strings.HasPrefix(id, p.prefix) {
		label = id[len(p.prefix):]
	} else {
		prefix, below, err := s.splitID("open-layer", id)
		if err != nil {
			return nil, err
		}
		snap, err := s.survey(ctx, "open-layer")
		if err != nil {
			return nil, err
		}
		if p, label = snap.find(prefix), below; p == nil {
			return nil, absent("open-layer", id)
		}
	}
	dir, err := s.open(p)
	if err != nil {
		return nil, err
	}
	defer dir.Close() // an open file does not need it
	r, _, err := dir.Reader(label)
	return r, err
}

// openRegular opens a file of the database.
func openRegular(path string) (io.ReadCloser, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, model.Errorf(model.NotFound, "open-layer", "%q is gone", filepath.Base(path))
	case err != nil:
		return nil, model.Errorf(model.Unavailable, "open-layer", "%q: %s", filepath.Base(path), reason(err))
	case !info.Mode().IsRegular():
		return nil, model.Errorf(model.Unsupported, "open-layer", "%q is no regular file", filepath.Base(path))
	}
	f, err := sharedfd.Open(info, func() (*os.File, error) { return os.Open(path) })
	if err != nil {
		return nil, model.Errorf(model.PermissionDenied, "open-layer", "%q: %s", filepath.Base(path), reason(err))
	}
	return f, nil
}

// Names streams the ids of the memories; one walk over the directories, no file
// is opened.
func (s *store) Names(ctx context.Context, yield func(string) bool) ([]string, error) {
	snap, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	for p, f := range snap.all() {
		if !yield(p.memory.prefix + f.Path()) {
			break
		}
	}
	return snap.problems, nil
}
