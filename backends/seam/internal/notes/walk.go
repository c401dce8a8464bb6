package notes

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"memdesk/backends/seam/internal/paging"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/walk"
)

// entry is one file of the walk.
type entry struct {
	id, tier string
	class
	meta rootdir.Meta
}

// class is the part of a note's front matter that lists need: status is one of statuses, or empty.
type class struct{ kind, status string }

// snapshot is the result of one walk over the store. It is immutable except for the lists made of it.
type snapshot struct {
	tree    *walk.Tree // its files' tags are numbers of classes, their marks numbers of tiers
	labels  *labels
	opened  int64 // notes opened for their class
	changes int64 // made by this process, before the walk
	lists   paging.Lists
}

func (s *snapshot) problems() []string {
	if s == nil || s.tree == nil {
		return nil
	}
	return s.tree.Problems
}

// at is the entry at a position in the order of ids.
func (s *snapshot) at(i int) entry { return s.entry(s.tree.At(i)) }

func (s *snapshot) entry(f walk.File) entry {
	return entry{id: f.Path(), tier: s.labels.tier(f.Mark()), class: s.labels.class(f.Tag()), meta: f.Meta()}
}

// labels number the classes and the tiers of a store. Number 0 is the empty one.
type labels struct {
	mu      sync.RWMutex
	classes []class
	tiers   []string
	numbers map[class]uint32
	marks   map[string]uint16
}

func newLabels() *labels {
	return &labels{classes: []class{{}}, tiers: []string{""}, numbers: map[class]uint32{{}: 0}, marks: map[string]uint16{"": 0}}
}

func (l *labels) class(n uint32) class {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.classes[n]
}

func (l *labels) tier(n uint16) string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.tiers[n]
}

func (l *labels) number(c class) uint32 {
	l.mu.RLock()
	n, ok := l.numbers[c]
	l.mu.RUnlock()
	if ok {
		return n
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n, ok = l.numbers[c]; !ok {
		c = class{strings.Clone(c.kind), strings.Clone(c.status)} // a part of the note's beginning
		n = uint32(len(l.classes))
		l.classes, l.numbers[c] = append(l.classes, c), n
	}
	return n
}

// mark numbers a tier; tiers are declared, and few.
func (l *labels) mark(tier string) uint16 {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, ok := l.marks[tier]
	if !ok {
		n = uint16(len(l.tiers))
		l.tiers, l.marks[tier] = append(l.tiers, tier), n
	}
	return n
}

// kinds are those of front matter, sorted.
func (l *labels) kinds() []string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	var out []string
	for _, c := range l.classes {
		if c.kind != "" {
			out = append(out, c.kind)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// look returns a current snapshot. It is cheap without changes.
func (s *store) look(ctx context.Context) (*snapshot, error) {
	if snap, _, fresh := s.last(); fresh {
		return snap, nil
	}
	end, err := s.resident.Turn(ctx, "list")
	if err != nil {
		return nil, err
	}
	defer end()
	snap, changes, fresh := s.last()
	if fresh {
		return snap, nil
	}
	s.follows()
	return s.renew(ctx, snap, changes, nil)
}

// follows reports whether changes of the store are heard of from now on.
func (s *store) follows() bool { return !s.cfg.SearchOnly && s.resident.Begin(s.cfg.Path) }

// last is the newest snapshot; fresh: it is current.
func (s *store) last() (snap *snapshot, changes int64, fresh bool) {
	s.mu.Lock()
	snap, changes = s.snap, s.changes
	s.mu.Unlock()
	return snap, changes, snap != nil && (s.heard(snap) || !s.resident.Changed() && snap.changes == changes && s.current(snap))
}

// heard reports whether the snapshot is current by what the system reports.
func (s *store) heard(snap *snapshot) bool { return s.resident.Current(s.cfg.Path, snap.tree) }

// renew walks and keeps the snapshot, unless the store is open for a search alone: that walk has read no
// front matter. r may be nil; else it searches every file of the walk.
func (s *store) renew(ctx context.Context, old *snapshot, changes int64, r *recall) (*snapshot, error) {
	snap, err := s.walk(ctx, old, r == nil, r)
	if err != nil || s.cfg.SearchOnly && r != nil {
		return snap, err
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
	isTier := func(n string) bool { return known[n] }
	files, others := s.labels.mark(tierFiles), map[string]uint16{} // of notes without a kind, by their directory
	for _, f := range snap.tree.All() {
		kind := s.labels.class(f.Tag()).kind
		if f.Mark() != 0 { // of a snapshot before, which others read
			continue
		}
		switch {
		case s.cfg.Layout != nil:
			f.SetMark(s.labels.mark(s.tierOf(f.Path(), kind, isTier)))
		case known[kind]:
			f.SetMark(s.labels.mark(kind))
		case !isNote(f.Name()):
			f.SetMark(files)
		default:
			mark, ok := others[f.Dir()]
			if !ok {
				mark = s.labels.mark(s.tierOf(f.Path(), kind, isTier))
				others[f.Dir()] = mark
			}
			f.SetMark(mark)
		}
	}
}

// changed makes the next look a full walk, after a change by this process.
func (s *store) changed() {
	s.mu.Lock()
	s.changes++
	s.mu.Unlock()
}

func (s *store) current(snap *snapshot) bool {
	return snap.tree != nil && snap.tree.Fresh(func(string) (*rootdir.Dir, error) { return s.open("list") })
}

// rules are those of every walk over the store: no dot folder, no machinery.
func (s *store) rules() walk.Rules {
	if l := s.cfg.Layout; l != nil {
		return l.rules()
	}
	return walk.Rules{
		Enter: s.isOpenDir,
		Take:  func(_ string, name []byte) bool { return !isMachinery(string(name)) },
		Aside: func(_ string, name []byte) bool { return bytes.Contains(name, tempMark) && isLeftover(string(name)) },
	}
}

func (l *Layout) rules() walk.Rules {
	return walk.Rules{Enter: l.Enter, Linked: true, Take: func(dir string, name []byte) bool {
		return l.isItem(rootdir.Place{Dir: dir, Name: string(name)}.Path())
	}}
}

func baseName(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }

// walk looks at every file and reads the beginning of the notes that neither old, which may be nil, nor an
// earlier process knows in their current form. follow: it reads only what has changed, where that is
// known, in the caller's turn. r may be nil; else it reads and searches every file.
func (s *store) walk(ctx context.Context, old *snapshot, follow bool, r *recall) (*snapshot, error) {
	snap := &snapshot{labels: s.labels}
	root, err := s.open("list")
	if err != nil || root == nil {
		return snap, err
	}
	defer root.Close()
	g := glance{s: s, recall: r, known: &walk.Known{}}
	var before *walk.Tree
	if old != nil {
		before = old.tree
	}
	if before == nil && r == nil && s.cfg.Known != "" {
		g.known = walk.OpenKnown(s.cfg.Known)
	}
	if follow {
		snap.tree, err = s.resident.Scan(ctx, "list", s.cfg.Path, root, s.rules(), before, g.look)
	} else {
		snap.tree, err = walk.Scan(ctx, "list", root, s.rules(), before, nil, g.look)
	}
	if err == nil && r != nil {
		err = r.err
	}
	if err != nil {
		return nil, err
	}
	snap.opened = g.opened.Load()
	return snap, nil
}

// glance is the state of one walk's looks.
type glance struct {
	s      *store
	recall *recall // nil without a search
	known  *walk.Known
	opened atomic.Int64
	mu     sync.Mutex
	of     map[uint16]uint32 // the class of each number in known
}

// look returns a file's facts for lists: a note's class comes from its beginning, unless it is known.
func (g *glance) look(files *rootdir.Files, at rootdir.Place, was walk.File) (m rootdir.Meta, tag uint32, ok bool) {
	if g.recall != nil {
		m, tag, ok = g.recall.glance(g.s, files, at)
	} else {
		m, tag, ok = g.glance(files, at, was)
	}
	return m, tag, ok && (g.s.cfg.Layout == nil || m.Kind != rootdir.Link)
}

func (g *glance) glance(files *rootdir.Files, at rootdir.Place, was walk.File) (m rootdir.Meta, tag uint32, ok bool) {
	if !isNote(at.Name) {
		m, ok = walk.Stat(files, at)
		return m, 0, ok
	}
	if !was.Exists() && g.known.Empty() {
		if m, tag, ok = g.read(files, at); ok {
			return m, tag, ok
		}
	}
	if m, ok = walk.Stat(files, at); !ok || m.Kind != rootdir.File {
		return m, 0, ok
	}
	if was.Exists() && was.Meta().Same(m) {
		return m, was.Tag(), true
	}
	if number, ok := g.known.Class(at, m); ok {
		return m, g.meaning(number, files, at), true
	}
	if now, tag, ok := g.read(files, at); ok { // else its header will report that
		return now, tag, true
	}
	return m, 0, true
}

// meaning is the class of a number, learned from its first file.
func (g *glance) meaning(number uint16, files *rootdir.Files, at rootdir.Place) uint32 {
	g.mu.Lock()
	tag, ok := g.of[number]
	g.mu.Unlock()
	if ok {
		return tag
	}
	_, tag, ok = g.read(files, at)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of == nil {
		g.of = map[uint16]uint32{}
	}
	if ok {
		g.of[number] = tag
	}
	return tag
}

// read reads a note's beginning.
func (g *glance) read(files *rootdir.Files, at rootdir.Place) (m rootdir.Meta, tag uint32, ok bool) {
	g.opened.Add(1)
	data, m, err := files.Head(at, headBytes)
	if err != nil {
		return m, 0, false
	}
	return m, g.s.labels.number(g.s.headOf(at, data)), true
}

// keepFrom is the number of opened notes from which a walk's knowledge is kept: a smaller store is read
// faster than that.
const keepFrom = 2000

// settles is the minimum age of a note's last change at a walk, so that a further one shows in its times.
var settles = 3 * time.Second

// classOf is only the kind and status of a note's beginning: the text after its fences is ignored.
func classOf(data []byte) class {
	if !bytes.HasPrefix(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("---")) {
		return class{}
	}
	const fence = "\n---"
	for at := 0; ; {
		i := bytes.Index(data[at:], []byte(fence))
		if i < 0 {
			break
		}
		at += i + len(fence)
		if line, _, _ := bytes.Cut(data[at:], []byte("\n")); len(bytes.TrimRight(line, "\r")) == 0 {
			data = data[:at]
			break
		}
	}
	h := parseHead(string(data))
	if !slices.Contains(statuses, h.status) {
		h.status = ""
	}
	return class{h.kind, h.status}
}
