package crewship

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"memdesk/backends/seam/internal/paging"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// entry is one file of the walk.
type entry struct {
	id    string
	place *place
	label string
	tier  string
	meta  rootdir.Meta
	// decided: a proposal that somebody has approved or rejected.
	decided bool
}

// snapshot is what one walk over the store saw. It is immutable but for
// the lists made of it.
type snapshot struct {
	places   []*place
	entries  []entry // sorted by id
	problems []string
	names    *directory
	db       string // stamp of the database before the names were read
	dirs     []seenDir
	at       time.Time
	took     time.Duration
	changes  int64 // of our own, before the walk
	lists    paging.Lists
}

// seenDir is a directory of the walk and when it last changed.
type seenDir struct {
	root, dir string
	stamp     string
	modified  time.Time
}

// Snapshot lifetimes. A directory's time tells of files made, renamed and
// removed, which is how Crewship writes; a file rewritten in place by an agent's
// own tools does not show there, so a snapshot lives a second, or ten times as
// long as the walk took. Pages read their files anew in any case. Within racy of a
// change the clock of the file system may not tell two changes apart.
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
	snap.changes, snap.took = changes, time.Since(snap.at)
	s.mu.Lock()
	s.snap = snap
	s.mu.Unlock()
	return snap, nil
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
	if (database{s.at.db}).stamp() != snap.db {
		return false
	}
	var root *rootdir.Dir
	var path string
	defer func() {
		if root != nil {
			_ = root.Close()
		}
	}()
	for _, d := range snap.dirs {
		if snap.at.Sub(d.modified) < racy {
			return false
		}
		if root == nil || d.root != path {
			if root != nil {
				_ = root.Close()
			}
			var err error
			if root, err = rootdir.Open(d.root, nil); err != nil {
				return false
			}
			path = d.root
		}
		if m, err := root.Stat(d.dir); err != nil || m.Stamp() != d.stamp {
			return false
		}
	}
	return true
}

// survey looks who there is, without their files: what it costs does not grow
// with the memories.
func (s *store) survey(ctx context.Context, op string) (*snapshot, error) {
	if err := model.FromContext(ctx, op); err != nil {
		return nil, err
	}
	snap := &snapshot{at: time.Now(), db: database{s.at.db}.stamp()}
	snap.names = s.loadNames(ctx)
	var err error
	snap.places, snap.problems, err = s.places(snap.names)
	return snap, err
}

func (s *store) walk(ctx context.Context) (*snapshot, error) {
	snap, err := s.survey(ctx, "list")
	if err != nil {
		return nil, err
	}
	if !s.at.single {
		snap.sawAbove(s.at.base, "crews", "solo", "workspace/shared")
		if s.at.memory != "" {
			snap.sawAbove(s.at.memory, ".")
		}
	}
	for _, p := range snap.places {
		if p.missing {
			continue
		}
		if err := s.walkPlace(ctx, snap, p); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(snap.entries, func(a, b entry) int { return strings.Compare(a.id, b.id) })
	return snap, nil
}

// sawAbove notes the directories above the places, in which places come and go.
func (snap *snapshot) sawAbove(base string, dirs ...string) {
	root, err := rootdir.Open(base, nil)
	if err != nil {
		return
	}
	defer root.Close()
	seen := map[string]bool{}
	for _, p := range snap.places {
		if p.root != base || p.missing {
			continue
		}
		parts := strings.Split(p.dir, "/")
		for n := 1; n < len(parts); n++ {
			dirs = append(dirs, strings.Join(parts[:n], "/"))
		}
	}
	for _, d := range append(dirs, ".") {
		if m, err := root.Stat(d); err == nil && !seen[d] {
			seen[d] = true
			snap.dirs = append(snap.dirs, seenDir{base, d, m.Stamp(), m.Modified})
		}
	}
}

func (s *store) walkPlace(ctx context.Context, snap *snapshot, p *place) error {
	dir, err := s.open(p)
	if err != nil {
		if s.at.single || errors.Is(err, model.Unavailable) {
			return err
		}
		snap.problems = append(snap.problems, p.scope()+": "+err.Error())
		return nil
	}
	defer dir.Close()
	w := placeWalk{snap: snap, place: p, dir: dir}
	return w.directory(ctx, ".")
}

type placeWalk struct {
	snap  *snapshot
	place *place
	dir   *rootdir.Dir
}

// directory takes up the memories of one directory and those below. Links are
// listed and never followed.
func (w *placeWalk) directory(ctx context.Context, at string) error {
	if err := model.FromContext(ctx, "list"); err != nil {
		return err
	}
	m, err := w.dir.Stat(at)
	var children []rootdir.Entry
	if err == nil {
		children, err = w.dir.List(at)
	}
	if err != nil {
		if !errors.Is(err, model.NotFound) {
			w.snap.problems = append(w.snap.problems, w.place.prefix+err.Error())
		}
		return nil
	}
	w.snap.dirs = append(w.snap.dirs, seenDir{w.place.root, below(w.place.dir, at), m.Stamp(), m.Modified})
	for _, c := range children {
		label := below(at, c.Name)
		switch {
		case c.Kind == rootdir.Directory:
			if isOpenDir(c.Name) {
				if err := w.directory(ctx, label); err != nil {
					return err
				}
			}
		case isMemory(label):
			w.snap.entries = append(w.snap.entries, entry{
				id: w.place.prefix + label, place: w.place, label: label,
				tier: classify(w.place.kind, label), meta: c.Meta, decided: w.snap.names.isDecided(label),
			})
		}
	}
	return nil
}

func below(dir, name string) string {
	switch {
	case dir == ".":
		return name
	case name == ".":
		return dir
	}
	return dir + "/" + name
}

// topicsSlug is the crew's slug, under which its topics lie: from the database,
// else from the one directory that has topics. Empty when neither tells.
func (s *store) topicsSlug(known *directory, p *place) string {
	if c, ok := known.crews[p.crew]; ok && segment(c.slug) {
		return c.slug
	}
	dir, err := s.open(p)
	if err != nil {
		return ""
	}
	defer dir.Close()
	children, err := dir.List(".")
	if err != nil {
		return ""
	}
	found := ""
	for _, c := range children {
		if c.Kind != rootdir.Directory || !isOpenDir(c.Name) {
			continue
		}
		if m, err := dir.Stat(c.Name + "/topics"); err != nil || m.Kind != rootdir.Directory {
			continue
		}
		if found != "" {
			return ""
		}
		found = c.Name
	}
	return found
}

// topicsKnown reports whether every crew's slug is known.
func (s *store) topicsKnown(snap *snapshot) bool {
	for _, p := range snap.places {
		if (p.kind == kindCrew || p.kind == kindSingle) && s.topicsSlug(snap.names, p) == "" {
			return false
		}
	}
	return true
}
