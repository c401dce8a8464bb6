package notes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"memdesk/backends/seam/internal/paging"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// entry is one file of the walk.
type entry struct {
	id   string
	tier string
	head head
	meta rootdir.Meta
}

// hidden entries are left out of plain lists.
func (e *entry) hidden() bool { return hidden(e.id) || e.head.archived() }

// snapshot is what one walk over the store saw. It is immutable but for
// the lists made of it.
type snapshot struct {
	entries  []entry // sorted by id
	problems []string
	dirs     []seenDir
	kinds    []string // of front matter, sorted
	at       time.Time
	took     time.Duration
	changes  int64 // of our own, before the walk
	lists    paging.Lists
}

// seenDir is a directory of the walk and when it last changed.
type seenDir struct {
	name     string
	stamp    string
	modified time.Time
}

// Snapshot lifetimes. A directory's time tells of files made, renamed and removed;
// a file rewritten in place does not show there, so a snapshot lives a second, or
// ten times as long as the walk took. Pages read their files anew in any case.
// Within racy of a change the clock of the file system may not tell two changes
// apart.
const (
	snapshotLife = time.Second
	walkShare    = 10
	racy         = 50 * time.Millisecond
)

// look gives a current snapshot. It is cheap while nothing changes: one look at
// every directory instead of one at every file.
func (s *store) look(ctx context.Context) (*snapshot, error) {
	s.mu.Lock()
	snap, changes := s.snap, s.changes
	s.mu.Unlock()
	if snap != nil && snap.changes == changes && s.current(snap) {
		return snap, nil
	}
	snap, err := s.walk(ctx)
	if err != nil {
		return nil, err
	}
	s.place(snap)
	snap.changes = changes
	s.mu.Lock()
	s.snap = snap
	s.mu.Unlock()
	return snap, nil
}

// place puts every entry into its tier.
func (s *store) place(snap *snapshot) {
	known := map[string]bool{}
	for _, t := range s.tiers {
		known[t.Name] = true
	}
	for i := range snap.entries {
		e := &snap.entries[i]
		e.tier = tierOf(e.id, e.head, func(n string) bool { return known[n] })
	}
}

// changed makes the next look a walk, after a change of our own.
func (s *store) changed() {
	s.mu.Lock()
	s.changes++
	s.mu.Unlock()
}

// current uses the real clock: it compares with the times of the file system.
func (s *store) current(snap *snapshot) bool {
	if time.Since(snap.at) > max(snapshotLife, walkShare*snap.took) {
		return false
	}
	root, err := s.open("list")
	if err != nil || root == nil {
		return false
	}
	defer root.Close()
	for _, d := range snap.dirs {
		if snap.at.Sub(d.modified) < racy {
			return false
		}
		if m, err := root.Stat(d.name); err != nil || m.Stamp() != d.stamp {
			return false
		}
	}
	return true
}

// walk looks at every file and reads the beginning of those that have changed.
func (s *store) walk(ctx context.Context) (*snapshot, error) {
	snap := &snapshot{at: time.Now()}
	root, err := s.open("list")
	if err != nil || root == nil {
		return snap, err
	}
	defer root.Close()
	s.mu.Lock()
	old := s.heads
	s.mu.Unlock()
	w := walker{snap: snap, old: old}
	if err := w.directory(ctx, root, "."); err != nil {
		return nil, err
	}
	slices.SortStableFunc(snap.entries, func(a, b entry) int { return strings.Compare(a.id, b.id) })
	if err := w.readHeads(ctx, root); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.heads = make(map[string]head, len(snap.entries))
	for i := range snap.entries {
		s.heads[snap.entries[i].id] = snap.entries[i].head
	}
	s.mu.Unlock()
	kinds := map[string]bool{}
	for i := range snap.entries {
		if k := snap.entries[i].head.kind; k != "" && !kinds[k] {
			kinds[k] = true
			snap.kinds = append(snap.kinds, k)
		}
	}
	slices.Sort(snap.kinds)
	snap.took = time.Since(snap.at)
	return snap, nil
}

type walker struct {
	snap *snapshot
	old  map[string]head
}

// directory takes up the files of an opened directory and of those below it. Links
// are listed and never followed.
func (w *walker) directory(ctx context.Context, dir *rootdir.Dir, at string) error {
	if err := model.FromContext(ctx, "list"); err != nil {
		return err
	}
	m, err := dir.Stat(".")
	var children []rootdir.Entry
	if err == nil {
		children, err = dir.List(".")
	}
	if err != nil {
		w.problem(at, err)
		return nil
	}
	w.snap.dirs = append(w.snap.dirs, seenDir{at, m.Stamp(), m.Modified})
	for _, c := range children {
		id := below(at, c.Name)
		switch {
		case c.Kind == rootdir.Directory:
			if !isOpenDir(c.Name) {
				continue
			}
			sub, err := dir.Sub(c.Name)
			if err != nil {
				w.problem(id, err)
				continue
			}
			err = w.directory(ctx, sub, id)
			_ = sub.Close()
			if err != nil {
				return err
			}
		case !isMachinery(c.Name):
			w.snap.entries = append(w.snap.entries, entry{id: id, meta: c.Meta})
		}
	}
	return nil
}

func (w *walker) problem(at string, err error) {
	if !errors.Is(err, model.NotFound) { // it has just gone
		w.snap.problems = append(w.snap.problems, fmt.Sprintf("%s: %v", at, err))
	}
}

// readHeads reads the beginnings of the notes that are not known as they are.
func (w *walker) readHeads(ctx context.Context, root *rootdir.Dir) error {
	return rootdir.InParallel(ctx, "list", root, len(w.snap.entries), func(files *reader, i int) error {
		e := &w.snap.entries[i]
		if e.meta.Kind != rootdir.File || !isNote(e.id) {
			return nil
		}
		if h, ok := w.old[e.id]; ok && h.stamp == e.meta.Stamp() {
			e.head = h
			return nil
		}
		dir, name, err := files.At(e.id)
		if err != nil {
			return nil // its header will say so
		}
		data, now, err := dir.Head(name, headBytes)
		if err != nil {
			return nil
		}
		e.head = parseHead(string(data))
		e.head.stamp, e.head.fields = now.Stamp(), nil
		return nil
	})
}

func below(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}
