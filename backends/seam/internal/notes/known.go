package notes

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"memdesk/backends/seam"
	"memdesk/backends/seam/internal/walk"
	"memdesk/internal/atomicfile"
	"memdesk/internal/statedir"
	"memdesk/model"
)

const knownSuffix = ".known"

// KnownFile is the path, in memdesk's own state directory, of the file that keeps the classes of the notes at root. It is empty
// where no state directory is known, or where a sync of the store would take it along (provider-contract.md S18).
func KnownFile(root string, env func(string) string) string {
	if env == nil {
		return ""
	}
	state, err := statedir.Path(env)
	if err != nil {
		return ""
	}
	dir := filepath.Join(state, "index")
	layout := seam.Layout{Source: filepath.ToSlash(root), SharedAbstracts: filepath.ToSlash(filepath.Join(root, "_meta")), LocalIndex: filepath.ToSlash(dir)}
	if layout.Check() != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(dir, hex.EncodeToString(sum[:8])+knownSuffix)
}

// remember stores the walk's knowledge for the next process; on a failure that process reads the notes.
func (s *store) remember(snap *snapshot) {
	if s.cfg.Known == "" || snap.tree == nil || snap.opened < keepFrom {
		return
	}
	dir := filepath.Dir(s.cfg.Known)
	if statedir.Ensure(filepath.Dir(dir)) != nil || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	_ = walk.KeepKnown(s.cfg.Known, snap.tree.Began.Add(-settles), snap.tree.Len(), func(yield func(walk.File, uint32) bool) {
		for _, f := range snap.tree.All() {
			if isNote(f.Name()) && !yield(f, f.Tag()) {
				return
			}
		}
	})
}

// oldIndex removes the full-text index of the notes that an earlier memdesk kept beside the classes, and unfinished ones.
func (w *scrubbing) oldIndex() {
	if w.store.cfg.Known == "" {
		return
	}
	dir, known := filepath.Split(w.store.cfg.Known)
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.Add("(memdesk)/index", "not looked at", 0, model.E(model.Unavailable, "scrub", atomicfile.Pathless(err)))
	}
	for _, f := range files {
		if f.Name() == strings.TrimSuffix(known, knownSuffix)+".db" || strings.HasPrefix(f.Name(), "building-") {
			w.Removed("(memdesk)/"+f.Name(), "the index of an earlier memdesk removed", atomicfile.Pathless(os.Remove(filepath.Join(dir, f.Name()))))
		}
	}
}
