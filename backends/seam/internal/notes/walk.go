package notes

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"unique"

	"memdesk/backends/seam/internal/paging"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/walk"
)

// entry is one file of the walk.
type entry struct {
	id           string
	tier         string
	kind, status string // of a note's front matter
	meta         rootdir.Meta
}

// hidden entries are left out of plain lists.
func (e *entry) hidden() bool { return hidden(e.id) || archived(e.status) }

// snapshot is the result of one walk over the store. It is immutable but for
// the lists made of it.
type snapshot struct {
	tree     *walk.Tree
	entries  []entry // sorted by id
	problems []string
	kinds    []string // of front matter, sorted
	left     []string // what writes that were cut off left; not looked for under a layout
	changes  int64    // of our own, before the walk
	lists    paging.Lists
}

// look gives a current snapshot. It is cheap while nothing changes.
func (s *store) look(ctx context.Context) (*snapshot, error) {
	snap, changes, fresh := s.last()
	if fresh {
		return snap, nil
	}
	return s.renew(ctx, snap, changes, nil)
}

// last is the newest snapshot, and whether it is current.
func (s *store) last() (snap *snapshot, changes int64, fresh bool) {
	s.mu.Lock()
	snap, changes = s.snap, s.changes
	s.mu.Unlock()
	return snap, changes, snap != nil && snap.changes == changes && s.current(snap)
}

// renew walks and keeps the snapshot, unless the store is open for a search alone: that one
// has read no front matter. r may be nil; else it searches every file that the walk meets.
func (s *store) renew(ctx context.Context, old *snapshot, changes int64, r *recall) (*snapshot, error) {
	snap, err := s.walk(ctx, old, r)
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
	for i := range snap.entries {
		e := &snap.entries[i]
		e.tier = s.tierOf(e.id, e.kind, func(n string) bool { return known[n] })
	}
}

// changed makes the next look a walk, after a change of our own.
func (s *store) changed() {
	s.mu.Lock()
	s.changes++
	s.mu.Unlock()
}

func (s *store) current(snap *snapshot) bool {
	return snap.tree != nil && snap.tree.Fresh(func(string) (*rootdir.Dir, error) { return s.open("list") })
}

// rules are of every walk over the store: no dot folder, no machinery.
func (s *store) rules() walk.Rules {
	take := func(path string) bool { return !isMachinery(baseName(path)) }
	if s.cfg.Layout != nil {
		take = s.cfg.Layout.Item
	}
	return walk.Rules{Enter: s.isOpenDir, Take: take}
}

func baseName(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }

// walk looks at every file and reads the beginning of the notes that are not known as
// they are from old, which may be nil. r may be nil; else it reads and searches every file.
func (s *store) walk(ctx context.Context, old *snapshot, r *recall) (*snapshot, error) {
	snap := &snapshot{}
	root, err := s.open("list")
	if err != nil || root == nil {
		return snap, err
	}
	defer root.Close()
	rules := s.rules()
	if take := rules.Take; s.cfg.Layout == nil {
		rules.Take = func(path string) bool {
			if isLeftover(path) {
				snap.left = append(snap.left, path)
			}
			return take(path)
		}
	}
	snap.tree, snap.entries, err = walk.Walk(ctx, "list", root, rules, func(files *rootdir.Files, id string) (entry, bool) {
		var e entry
		var ok bool
		if r != nil {
			e, ok = r.glance(s, files, id)
		} else {
			e, ok = s.glance(files, id, old)
		}
		return e, ok && (s.cfg.Layout == nil || e.meta.Kind != rootdir.Link)
	})
	if err == nil && r != nil {
		err = r.err
	}
	if err != nil {
		return nil, err
	}
	snap.problems = snap.tree.Problems
	kinds := map[string]bool{}
	for i := range snap.entries {
		if k := snap.entries[i].kind; k != "" && !kinds[k] {
			kinds[k] = true
			snap.kinds = append(snap.kinds, k)
		}
	}
	slices.Sort(snap.kinds)
	return snap, nil
}

// glance tells of one file what lists need: a note's kind and status come from its
// beginning, unless it stands as it did in old.
func (s *store) glance(files *rootdir.Files, id string, old *snapshot) (entry, bool) {
	e := entry{id: id}
	known, ok := old.find(id)
	if !ok && isNote(id) && e.read(s, files) {
		return e, true
	}
	if e.meta, ok = walk.Stat(files, id); !ok || e.meta.Kind != rootdir.File || !isNote(id) {
		return e, ok
	}
	if known.meta.Same(e.meta) {
		e.kind, e.status = known.kind, known.status
	} else {
		e.read(s, files) // if it cannot be, its header will say so
	}
	return e, true
}

// read takes up what a note's beginning tells.
func (e *entry) read(s *store, files *rootdir.Files) bool {
	data, m, err := files.Head(e.id, headBytes)
	if err == nil {
		e.meta = m
		e.kind, e.status = s.headOf(e.id, data)
	}
	return err == nil
}

func (s *snapshot) find(id string) (entry, bool) {
	if s == nil {
		return entry{}, false
	}
	i, ok := slices.BinarySearchFunc(s.entries, id, func(e entry, id string) int { return strings.Compare(e.id, id) })
	if !ok {
		return entry{}, false
	}
	return s.entries[i], true
}

// headOf is the kind and status alone of a note's beginning: what follows its fences is
// not looked at.
func headOf(data []byte) (kind, status string) {
	if !bytes.HasPrefix(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("---")) {
		return "", ""
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
	return unique.Make(h.kind).Value(), unique.Make(h.status).Value()
}
