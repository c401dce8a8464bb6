package crewship

import (
	"context"
	"errors"
	"iter"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"memdesk/backends/seam/internal/paging"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/walk"
	"memdesk/model"
)

// entry is one file of the walk.
type entry struct {
	id     string
	memory *memoryDir
	label  string
	tier   string
	meta   rootdir.Meta
	// decided: an approved or rejected proposal.
	decided bool
}

// snapshot is the result of one walk over the store. It is immutable except for the lists made of it.
type snapshot struct {
	memories []*memoryDir
	parts    []part // in the order of ids
	problems []string
	names    *directory
	db       string // stamp of the database before the names were read
	age      walk.Age
	changes  int64 // made by this process, before the walk
	lists    paging.Lists
	above    []string              // the problems of the survey alone
	trees    map[string]*walk.Tree // of the memory directories, by their paths
}

// part is the files of a memory directory. Their tags are their tiers.
type part struct {
	memory *memoryDir
	names  *directory
	tree   *walk.Tree
	first  int // of its files among all
}

func tagOf(tier string) uint32 { return uint32(slices.Index(tierNames, tier)) }

func tierAt(f walk.File) string { return tierNames[f.Tag()] }

func (p part) entry(f walk.File) *entry {
	id := p.memory.prefix + f.Path()
	return &entry{id: id, memory: p.memory, label: id[len(p.memory.prefix):], tier: tierAt(f), meta: f.Meta(), decided: p.names.isDecided(f.Name())}
}

// partAt is the part of the file at a position in the order of ids.
func (snap *snapshot) partAt(i int32) part {
	n := sort.Search(len(snap.parts), func(n int) bool { return snap.parts[n].first > int(i) })
	return snap.parts[n-1]
}

// at is the file at a position in the order of ids.
func (snap *snapshot) at(i int32) (part, walk.File) {
	p := snap.partAt(i)
	return p, p.tree.At(int(i) - p.first)
}

// all gives every file in the order of ids.
func (snap *snapshot) all() iter.Seq2[part, walk.File] {
	return func(yield func(part, walk.File) bool) {
		for _, p := range snap.parts {
			for _, f := range p.tree.All() {
				if !yield(p, f) {
					return
				}
			}
		}
	}
}

// look returns a current snapshot. Without changes it is cheap: it looks at directories instead of files.
func (s *store) look(ctx context.Context) (*snapshot, error) {
	end, err := s.resident.Turn(ctx, "list")
	if err != nil {
		return nil, err
	}
	defer end()
	s.mu.Lock()
	last, changes := s.snap, s.changes
	s.mu.Unlock()
	snap, err := s.survey(ctx, "list")
	if err != nil {
		return nil, err
	}
	if last != nil && last.as(snap) && (s.heard(last) || last.changes == changes && !s.resident.Changed() && s.current(last)) {
		return last, nil
	}
	if err := s.walk(ctx, snap, walk.Stat); err != nil {
		return nil, err
	}
	snap.changes, snap.age.Took = changes, time.Since(snap.age.Began)
	s.mu.Lock()
	s.snap = snap
	s.mu.Unlock()
	return snap, nil
}

// walkNames returns a snapshot for one search, which reads every file itself: the walk looks at none and takes
// all for files.
func (s *store) walkNames(ctx context.Context) (*snapshot, error) {
	end, err := s.resident.Turn(ctx, "list")
	if err != nil {
		return nil, err
	}
	defer end()
	snap, err := s.survey(ctx, "list")
	if err != nil {
		return nil, err
	}
	return snap, s.walk(ctx, snap, func(*rootdir.Files, rootdir.Place) (rootdir.Meta, bool) { return rootdir.Meta{}, true })
}

// changed makes the next look a full walk, after a change by this process.
func (s *store) changed() {
	s.mu.Lock()
	s.changes++
	s.mu.Unlock()
}

func (s *store) current(snap *snapshot) bool {
	return snap.age.Fresh(func(root string) (*rootdir.Dir, error) { return rootdir.Open(root, nil) })
}

// as reports whether a later survey found the same memory directories and names.
func (snap *snapshot) as(now *snapshot) bool {
	return snap.db == now.db && snap.names.problem == now.names.problem && slices.Equal(snap.above, now.problems) &&
		slices.EqualFunc(snap.memories, now.memories, func(a, b *memoryDir) bool { return *a == *b })
}

// heard reports whether every memory directory is current by what the system reports.
func (s *store) heard(snap *snapshot) bool {
	return !slices.ContainsFunc(snap.memories, func(p *memoryDir) bool {
		return !p.missing && !s.resident.Current(p.path(), snap.trees[p.path()])
	})
}

// survey enumerates the memory directories without their files: its cost does not grow with the memories.
func (s *store) survey(ctx context.Context, op string) (*snapshot, error) {
	if err := model.FromContext(ctx, op); err != nil {
		return nil, err
	}
	snap := &snapshot{age: walk.Age{Began: time.Now()}, db: database{s.at.db}.stamp()}
	snap.names = s.loadNames(ctx)
	var err error
	snap.memories, snap.problems, err = s.memoryDirs(snap.names)
	return snap, err
}

// facts describe a file; with false it is left out.
type facts func(*rootdir.Files, rootdir.Place) (rootdir.Meta, bool)

// walk lists the files of a survey's places, each as of describes it, in the caller's turn.
func (s *store) walk(ctx context.Context, snap *snapshot, of facts) error {
	snap.above, snap.trees = slices.Clone(snap.problems), map[string]*walk.Tree{}
	for _, p := range snap.there() {
		if err := s.walkPlace(ctx, snap, p, of); err != nil {
			return err
		}
	}
	s.resident.Keep(snap.trees)
	slices.SortFunc(snap.parts, func(a, b part) int { return strings.Compare(a.memory.prefix, b.memory.prefix) })
	n := 0
	for i := range snap.parts {
		snap.parts[i].first = n
		n += snap.parts[i].tree.Len()
	}
	return nil
}

func (s *store) walkPlace(ctx context.Context, snap *snapshot, p *memoryDir, of facts) error {
	dir, err := s.open(p)
	if err != nil {
		if s.at.single || errors.Is(err, model.Unavailable) {
			return err
		}
		snap.problems = append(snap.problems, p.scope()+": "+err.Error())
		return nil
	}
	defer dir.Close()
	if !s.cfg.SearchOnly {
		s.resident.Begin(p.path())
	}
	tree, err := s.resident.Scan(ctx, "list", p.path(), dir, memories, nil, func(files *rootdir.Files, at rootdir.Place, _ walk.File) (rootdir.Meta, uint32, bool) {
		m, ok := of(files, at)
		return m, tagOf(classify(p.kind, at.Path())), ok
	})
	if err != nil {
		return err
	}
	if snap.trees[p.path()] = tree; tree.Len() > 0 {
		snap.parts = append(snap.parts, part{memory: p, names: snap.names, tree: tree})
	}
	for _, problem := range tree.Problems {
		snap.problems = append(snap.problems, p.prefix+problem)
	}
	snap.age.Add(tree.Age, p.root, func(at string) string { return below(p.dir, at) })
	return nil
}

// memories are the rules of a walk over a memory directory.
var memories = walk.Rules{Enter: func(dir string) bool { return isOpenDir(path.Base(dir)) }, Take: func(dir string, name []byte) bool {
	return isMemory(rootdir.Place{Dir: dir, Name: string(name)}.Path())
}}

// of is the part of a memory directory; one without files has an empty tree.
func (snap *snapshot) of(p *memoryDir) part {
	i, ok := slices.BinarySearchFunc(snap.parts, p.prefix, func(a part, prefix string) int { return strings.Compare(a.memory.prefix, prefix) })
	if !ok {
		return part{memory: p}
	}
	return snap.parts[i]
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

// topicsSlug is the crew's slug, the directory of its topics: from the database, else from the only
// directory with topics. Empty when unknown.
func (s *store) topicsSlug(known *directory, p *memoryDir) string {
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
	for _, p := range snap.memories {
		if (p.kind == kindCrew || p.kind == kindSingle) && s.topicsSlug(snap.names, p) == "" {
			return false
		}
	}
	return true
}
