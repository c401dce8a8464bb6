package crewship

import (
	"bytes"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"memdesk/backends/seam/internal/erasure"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// Scrub removes Crewship's copies beside the memories that name the subject: temporary files, snapshots
// before a run, version blobs, rows of the search index; and the lock files of removed items. It never
// writes Crewship's database: a configured server erases the subject's rows, and the rest is reported as
// out of scope.
func (s *store) Scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	if req.SideRows != nil && len(req.Held) == 0 && req.Concerns == nil {
		return nil, nil
	}
	if !req.Dry {
		if err := s.reason.Check("scrub"); err != nil {
			return nil, err
		}
		defer s.changed()
	}
	snap, err := s.survey(ctx, "scrub")
	if err != nil {
		return nil, err
	}
	w := scrubbing{store: s, ctx: ctx, Run: erasure.Run{Req: req}, held: map[string]bool{}, cards: snap.userSlugs(req.Subjects)}
	for _, id := range req.Held {
		w.held[id] = true
	}
	if req.SideRows != nil {
		return nil, w.rows(s.places(snap))
	}
	for _, p := range s.places(snap) {
		if err := s.eachFile(ctx, p, w.file); err != nil {
			return nil, err
		}
	}
	for _, l := range s.databaseLayers() {
		w.eraseRows(l)
	}
	if req.Dry {
		return nil, nil
	}
	return w.Out, nil
}

// scrubbing is one erasure in the store, from file to file.
type scrubbing struct {
	erasure.Run
	store *store
	ctx   context.Context
	held  map[string]bool   // those of the request: an index has many rows
	cards map[string]string // subjects by the names of their peer cards and user models
}

// ofRemoved reports whether a file is a copy of a removed item, or of one that the subject's own id names:
// a snapshot of it or an unfinished write.
func (w *scrubbing) ofRemoved(f file) bool {
	label := f.Path
	if rest, in := strings.CutPrefix(label, snapshots); in {
		_, label, _ = strings.Cut(rest, "/") // behind the run
	}
	if isTemp(path.Base(label)) {
		label = label[:strings.LastIndex(label, ".tmp.")]
	}
	removed := slices.Contains(w.Req.Removed, f.memory.prefix+label)
	if isTemp(path.Base(f.Path)) && !(w.Req.Dry && removed) {
		if _, err := f.dir.Stat(label); err == nil {
			return false // written anew, or its writer is at work
		}
	}
	return removed || isCard(w.cards, label)
}

// snapshots holds the copies that Crewship makes before a run, by run.
const snapshots = ".snapshots/"

func (w *scrubbing) file(f file) {
	switch {
	case f.Problem != "":
		w.Add(f.id(), "not looked at", 0, errors.New(f.Problem))
	case f.Meta.Kind == rootdir.Link && w.Names([]byte(path.Base(f.Path))):
		w.Link(f.dir, f.id(), f.Path)
	case w.Req.Dry && (f.isItem() || isIndex(path.Base(f.Path)) || strings.HasSuffix(f.Path, ".lock")): // not asked about
	case f.Repository, f.isItem(), f.Meta.Kind != rootdir.File: // git keeps a repository
	case isIndex(path.Base(f.Path)):
		if path.Base(f.Path) == indexName && !slices.Contains(w.Req.HeldFiles, f.index()) {
			n, err := w.index(f)
			w.Add(f.id(), "rows removed, index optimised, VACUUM, checkpoint TRUNCATE", n, err)
		}
	case strings.HasSuffix(f.Path, ".lock"):
		w.lock(f)
	default:
		w.copy(f)
	}
}

// lock removes the sentinel of a removed item, while holding it.
func (w *scrubbing) lock(f file) {
	item := strings.TrimSuffix(f.id(), ".lock")
	if !slices.Contains(w.Req.Removed, item) && !w.Names([]byte(f.Path)) {
		return
	}
	if _, err := f.dir.Stat(strings.TrimSuffix(f.Path, ".lock")); !errors.Is(err, model.NotFound) {
		return // written anew
	}
	if f.Meta.Size > 0 { // a lock file holds nothing: this is somebody's text
		w.copy(f)
		return
	}
	held, err := f.dir.Lock(w.ctx, f.Path, privateMode)
	if err == nil {
		err = f.dir.Remove(f.Path)
		held.Unlock()
	}
	w.Removed(f.id(), "lock file removed", err)
}

// copy removes a file that is a copy of memories and names the subject.
func (w *scrubbing) copy(f file) {
	if w.Req.Concerns == nil {
		return
	}
	removed := w.ofRemoved(f)
	data, _, err := f.dir.Read(f.Path, 0)
	if errors.Is(err, model.NotFound) {
		return
	}
	if err != nil {
		w.Add(f.id(), "not read", 0, err)
		return
	}
	if !removed && !w.Names(data) && !w.Names([]byte(f.Path)) {
		if !w.Req.Dry {
			w.leftover(f, data)
		}
		return
	}
	if !w.May(f.id(), data) {
		return
	}
	err = f.dir.Remove(f.Path)
	method := "copy removed"
	if f.memory.kind == kindVersions { // its name is its hash, so it cannot be redacted in place
		method = "the text of an old version removed; its record in crewship.db stays, and Crewship answers 410 for that version"
	}
	w.Removed(f.id(), method, err)
	if last := len(w.Out) - 1; err == nil && f.Meta.Links() > 1 {
		w.Out[last].Verdict, w.Out[last].Reason = model.VerdictOutOfScope, "its bytes stay under a second name of the same file"
	}
}

// leftover removes the rest of an interrupted write if nothing is lost by it: it is the beginning of the
// memory's own content. A writer about to rename it holds the memory's lock.
func (w *scrubbing) leftover(f file, data []byte) {
	at := strings.LastIndex(f.Path, ".tmp.")
	if rootdir.IsLockTemp(path.Base(f.Path)) && len(data) == 0 {
		w.Removed(f.id(), "what an interrupted write left removed", f.dir.Remove(f.Path))
		return
	}
	if !isTemp(path.Base(f.Path)) {
		return
	}
	of := f.Path[:at]
	if _, err := f.dir.Stat(of + ".lock"); err != nil { // it is not from a writer of this memory directory
		return
	}
	now, _, err := f.dir.Read(of, 0)
	if err != nil || !bytes.HasPrefix(now, data) {
		return
	}
	held, err := f.dir.Lock(w.ctx, of+".lock", privateMode)
	if err == nil {
		err = f.dir.Remove(f.Path)
		held.Unlock()
	}
	w.Removed(f.id(), "what an interrupted write left removed", err)
}
