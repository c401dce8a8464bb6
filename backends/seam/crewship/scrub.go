package crewship

import (
	"bytes"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

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
		if err := s.checkWritable("scrub"); err != nil {
			return nil, err
		}
		defer s.changed()
	}
	snap, err := s.survey(ctx, "scrub")
	if err != nil {
		return nil, err
	}
	w := scrubbing{store: s, ctx: ctx, req: req, held: map[string]bool{}, cards: snap.userSlugs(req.Subjects)}
	for _, id := range req.Held {
		w.held[id] = true
	}
	if req.SideRows != nil {
		return nil, w.rows(snap.memories)
	}
	for _, p := range snap.memories {
		if p.missing {
			continue
		}
		if err := s.eachFile(ctx, p, w.file); err != nil {
			return nil, err
		}
	}
	if err := s.eachBlob(ctx, w.file); err != nil {
		return nil, err
	}
	for _, l := range s.databaseLayers() {
		w.eraseRows(l)
	}
	if req.Dry {
		return nil, nil
	}
	return w.out, nil
}

// scrubbing goes from file to file. A failed file is a result, and the next one follows.
type scrubbing struct {
	store *store
	ctx   context.Context
	req   model.ScrubRequest
	held  map[string]bool   // those of req: an index has many rows
	cards map[string]string // subjects by the names of their peer cards and user models
	out   []model.LayerResult
}

// ofRemoved reports whether a file is a copy of a removed item, or of one that the subject's own id names:
// a snapshot of it or an unfinished write.
func (w *scrubbing) ofRemoved(f file) bool {
	if f.memory == nil {
		return false
	}
	label := f.label
	if rest, in := strings.CutPrefix(label, snapshots); in {
		_, label, _ = strings.Cut(rest, "/") // behind the run
	}
	if isTemp(path.Base(label)) {
		label = label[:strings.LastIndex(label, ".tmp.")]
	}
	removed := slices.Contains(w.req.Removed, f.memory.prefix+label)
	if _, err := f.dir.Stat(label); err == nil && isTemp(path.Base(f.label)) && !(w.req.Dry && removed) {
		return false // written anew, or its writer is at work
	}
	return removed || isCard(w.cards, label)
}

// snapshots holds the copies that Crewship makes before a run, by run.
const snapshots = ".snapshots/"

func (w *scrubbing) file(f file) {
	switch {
	case f.problem != "":
		w.add(f, "not looked at", 0, errors.New(f.problem))
	case f.meta.Kind == rootdir.Link && w.req.Concerns != nil && w.req.Concerns([]byte(path.Base(f.label))):
		w.link(f)
	case w.req.Dry && (f.isItem() || isIndex(path.Base(f.label)) || strings.HasSuffix(f.label, ".lock")): // not asked about
	case f.repository, f.isItem(), f.meta.Kind != rootdir.File: // git keeps a repository
	case isIndex(path.Base(f.label)):
		if path.Base(f.label) == indexName {
			n, err := w.index(f)
			w.add(f, "rows removed, index optimised, VACUUM, checkpoint TRUNCATE", n, err)
		}
	case strings.HasSuffix(f.label, ".lock"):
		w.lock(f)
	default:
		w.copy(f)
	}
}

// add records a result; without anything done there is none.
func (w *scrubbing) add(f file, method string, rows int64, err error) {
	r := model.LayerResult{Layer: f.id(), Method: method, Rows: rows, Verdict: model.VerdictClean}
	switch {
	case errors.Is(err, model.Locked):
		r.Verdict, r.Reason = model.VerdictPending, err.Error()
	case isTooLarge(err): // the scan reads it, and judges it
		r.Verdict, r.Reason = model.VerdictUnaudited, "it is too large to be removed here: "+err.Error()
	case err != nil:
		r.Verdict, r.Reason = model.VerdictFailed, err.Error()
	case rows == 0:
		return
	}
	w.out = append(w.out, r)
}

// leave records a layer that must not be touched.
func (w *scrubbing) leave(left model.LayerResult) {
	if left.Layer != "" {
		w.out = append(w.out, left)
	}
}

func (w *scrubbing) step(f file, what string) {
	if w.req.Step != nil {
		w.req.Step(f.id(), what)
	}
}

// lock removes the sentinel of a removed item, while holding it.
func (w *scrubbing) lock(f file) {
	item := strings.TrimSuffix(f.id(), ".lock")
	if !slices.Contains(w.req.Removed, item) && (w.req.Concerns == nil || !w.req.Concerns([]byte(f.label))) {
		return
	}
	if _, err := f.dir.Stat(strings.TrimSuffix(f.label, ".lock")); !errors.Is(err, model.NotFound) {
		return // written anew
	}
	if f.meta.Size > 0 { // a lock file holds nothing: this is somebody's text
		w.copy(f)
		return
	}
	held, err := f.dir.Lock(w.ctx, f.label, privateMode)
	if err == nil {
		err = f.dir.Remove(f.label)
		held.Unlock()
	}
	w.add(f, "lock file removed", 1, ignoreAbsent(err))
}

// link removes a symbolic link whose own name names the subject, never its target.
func (w *scrubbing) link(f file) {
	to, err := f.dir.Readlink(f.label)
	if errors.Is(err, model.NotFound) {
		return
	}
	if err == nil {
		if left, ok := w.req.Permits(f.id(), []byte(to)); !ok {
			w.leave(left)
			return
		}
		err = f.dir.Unlink(f.label)
	}
	w.add(f, "the symbolic link itself removed, and not what it leads to", 1, ignoreAbsent(err))
}

// copy removes a file that is a copy of memories and names the subject.
func (w *scrubbing) copy(f file) {
	if w.req.Concerns == nil {
		return
	}
	removed := w.ofRemoved(f)
	data, _, err := f.dir.Read(f.label, 0)
	if errors.Is(err, model.NotFound) {
		return
	}
	if err != nil {
		w.add(f, "not read", 0, err)
		return
	}
	if !removed && !w.req.Concerns(data) && !w.req.Concerns([]byte(f.label)) {
		if !w.req.Dry {
			w.leftover(f, data)
		}
		return
	}
	if left, ok := w.req.Permits(f.id(), data); !ok {
		w.leave(left)
		return
	}
	w.step(f, "removed")
	err = f.dir.Remove(f.label)
	method := "copy removed"
	if f.memory == nil { // its name is its hash, so it cannot be redacted in place
		method = "the text of an old version removed; its record in crewship.db stays, and Crewship answers 410 for that version"
	}
	w.add(f, method, 1, ignoreAbsent(err))
	if last := len(w.out) - 1; err == nil && f.meta.Links() > 1 {
		w.out[last].Verdict, w.out[last].Reason = model.VerdictOutOfScope, "its bytes stay under a second name of the same file"
	}
}

// leftover removes the rest of an interrupted write if nothing is lost by it: it is the beginning of the
// memory's own content. A writer about to rename it holds the memory's lock.
func (w *scrubbing) leftover(f file, data []byte) {
	at := strings.LastIndex(f.label, ".tmp.")
	if rootdir.IsLockTemp(path.Base(f.label)) && len(data) == 0 {
		w.add(f, "what an interrupted write left removed", 1, ignoreAbsent(f.dir.Remove(f.label)))
		return
	}
	if !isTemp(path.Base(f.label)) {
		return
	}
	of := f.label[:at]
	if _, err := f.dir.Stat(of + ".lock"); err != nil { // it is not from a writer of this memory directory
		return
	}
	now, _, err := f.dir.Read(of, 0)
	if err != nil || !bytes.HasPrefix(now, data) {
		return
	}
	held, err := f.dir.Lock(w.ctx, of+".lock", privateMode)
	if err == nil {
		err = f.dir.Remove(f.label)
		held.Unlock()
	}
	w.add(f, "what an interrupted write left removed", 1, ignoreAbsent(err))
}

func ignoreAbsent(err error) error {
	if errors.Is(err, model.NotFound) {
		return nil
	}
	return err
}
