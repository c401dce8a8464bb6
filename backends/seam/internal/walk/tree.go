package walk

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/internal/gitlog"
	"memdesk/model"
)

// Look returns a walk's facts about a file: its size and times, and a tag of the caller's. was is the file
// in the earlier tree, if it was there. With false the file is left out. It is called from several
// goroutines.
type Look func(files *rootdir.Files, at rootdir.Place, was File) (m rootdir.Meta, tag uint32, ok bool)

// Tree holds the files below a root, in the order of their paths, from one walk. Directories share their
// paths and a file has 48 bytes beside its name. It is immutable except for the marks.
type Tree struct {
	Age
	Problems []string // the directories that could not be read, and the links of Rules.Linked, in words
	Aside    []string // paths of the files that the rules put aside
	root     *folder
	spans    []span // in the order of paths
	n        int
}

// folder is a directory with its files, both in the order of names.
type folder struct {
	path  string // from the root, empty for it
	meta  rootdir.Meta
	names string
	rows  []row
	subs  []sub
	aside []string // names
	links []string // names
	// problem is the read error, in words. again: not every change in the directory is reported.
	problem string
	again   bool
	at      time.Time // when it was read
	signs   *signs
}

// signs hold a search's knowledge of a folder's files, a number of words for each.
type signs struct {
	once  sync.Once
	words []atomic.Uint64
}

// sub is a directory in a folder.
type sub struct {
	name string
	*folder
}

// row is a file.
type row struct {
	size, seconds, changed int64
	ino                    uint64
	nanos                  uint32 // and the kind, in the upper two bits
	name                   uint32 // its offset in the names
	tag                    uint32
	mark                   uint16
	length                 uint16 // of the name
}

const kindShift = 30

// span is a run of a folder's rows that are also consecutive in the order of paths.
type span struct {
	first, from int
	*folder
}

// File is a file of a tree; the zero value is none.
type File struct {
	in *folder
	at int
}

func (f File) row() *row { return &f.in.rows[f.at] }

// Name is the file's name in its directory.
func (f File) Name() string { return f.in.name(f.row()) }

// Dir is the path of the file's directory, empty for the root.
func (f File) Dir() string { return f.in.path }

// Place is both.
func (f File) Place() rootdir.Place { return rootdir.Place{Dir: f.in.path, Name: f.Name()} }

// Path is the path from the root.
func (f File) Path() string { return f.Place().Path() }

// Kind is the file's kind as the walk saw it.
func (f File) Kind() rootdir.Kind { return rootdir.Kind(f.row().nanos >> kindShift) }

// Size is in bytes.
func (f File) Size() int64 { return f.row().size }

// Tag is the tag that Look gave the file.
func (f File) Tag() uint32 { return f.row().tag }

// Mark is a number that the tree's owner keeps with the file, 0 at first.
func (f File) Mark() uint16 { return f.row().mark }

// SetMark must not be called once others read the tree.
func (f File) SetMark(to uint16) {
	if r := f.row(); r.mark != to {
		r.mark = to
	}
}

// Sign holds n words of knowledge about the file's text, zero at first and after another tree has read its
// directory again. Nil for a file of a tree that is not followed: it may change unreported.
func (f File) Sign(n int) []atomic.Uint64 {
	s := f.in.signs
	if s == nil {
		return nil
	}
	s.once.Do(func() { s.words = make([]atomic.Uint64, n*len(f.in.rows)) })
	return s.words[f.at*n : (f.at+1)*n]
}

// Exists is false for the zero value.
func (f File) Exists() bool { return f.in != nil }

// Meta describes the file as the walk saw it, without the number of its names.
func (f File) Meta() rootdir.Meta {
	r := f.row()
	return rootdir.Parts{Kind: f.Kind(), Size: r.size, Seconds: r.seconds, Nanos: int64(r.nanos & (1<<kindShift - 1)), Inode: r.ino, Changed: r.changed}.In(f.in.meta)
}

func (d *folder) name(r *row) string { return d.names[r.name : r.name+uint32(r.length)] }

// file finds a file by its name; the zero value where there is none.
func (d *folder) file(name string) File {
	if d == nil {
		return File{}
	}
	i, ok := slices.BinarySearchFunc(d.rows, name, func(r row, name string) int { return strings.Compare(d.name(&r), name) })
	if !ok {
		return File{}
	}
	return File{d, i}
}

// Len is the number of files.
func (t *Tree) Len() int {
	if t == nil {
		return 0
	}
	return t.n
}

// At is the file at a position in the order of paths.
func (t *Tree) At(i int) File {
	n := sort.Search(len(t.spans), func(n int) bool { return t.spans[n].first > i })
	s := &t.spans[n-1]
	return File{s.folder, s.from + i - s.first}
}

// All gives every file in the order of paths.
func (t *Tree) All() iter.Seq2[int, File] {
	return func(yield func(int, File) bool) {
		if t == nil {
			return
		}
		for n := range t.spans {
			s, end := &t.spans[n], t.n
			if n+1 < len(t.spans) {
				end = t.spans[n+1].first
			}
			for i := s.first; i < end; i++ {
				if !yield(i, File{s.folder, s.from + i - s.first}) {
					return
				}
			}
		}
	}
}

// folder finds a directory by its path.
func (t *Tree) folder(path string) *folder {
	if t == nil || path == "" || t.root == nil {
		return t.top()
	}
	d := t.root
	for name := range strings.SplitSeq(path, "/") {
		d = d.sub(name)
	}
	return d
}

// File finds a file by its path; the zero value where there is none.
func (t *Tree) File(path string) File {
	at := rootdir.PlaceOf(path)
	return t.folder(at.Dir).file(at.Name)
}

func (t *Tree) top() *folder {
	if t == nil {
		return nil
	}
	return t.root
}

// compareDirs orders directories like the paths of their files: "a-b/c" precedes "a/c".
func compareDirs(a, b string) int {
	n := min(len(a), len(b))
	if c := strings.Compare(a[:n], b[:n]); c != 0 || len(a) == len(b) {
		return c
	}
	if len(a) > n {
		return cmp.Compare(a[n], '/')
	}
	return cmp.Compare('/', b[n])
}

// Scan reads the names below root, and looks at the files of each directory in parallel. look may be nil:
// then only the names are known, and those of unchanged directories are taken from old while that lives. old may
// be nil. follow may be nil; else directories unchanged since its last walk, which made old, are taken from there.
func Scan(ctx context.Context, op string, root *rootdir.Dir, r Rules, old *Tree, follow *Follower, look Look) (_ *Tree, err error) {
	s := scan{ctx: ctx, op: op, rules: r, look: look, from: root, full: true, Tree: &Tree{Age: Age{Began: time.Now()}}}
	before := old.top()
	s.reuse = look == nil && old != nil && old.lives()
	if follow != nil {
		if s.heard, s.full, err = follow.take(); err != nil {
			return nil, err
		}
		s.follow, s.full = follow, s.full || old == nil
		defer func() { follow.done(&s, err != nil) }()
	}
	s.files = rootdir.Start(ctx, op, root)
	s.root, err = s.directory(nil, rootdir.Place{}, before)
	if werr := s.files.Wait(); err == nil {
		err = werr
	}
	if err != nil {
		return nil, err
	}
	for _, m := range s.met {
		s.finish(m.now, m.was)
	}
	s.order(s.root)
	s.Took = time.Since(s.Began)
	return s.Tree, nil
}

type scan struct {
	ctx    context.Context
	op     string
	rules  Rules
	look   Look
	files  *rootdir.Workers // look at them
	from   *rootdir.Dir     // the root
	follow *Follower
	heard  changes
	full   bool        // read every directory
	reuse  bool        // take the names of unchanged directories from the earlier tree
	linked atomic.Bool // a file has more than one name
	met    []met
	names  []byte // buffers
	taken  []entry
	*Tree
}

// met is a directory that was read, and itself in the earlier tree, or nil.
type met struct{ now, was *folder }

// directory reads one directory and those below it. above is its open parent, nil where that was not
// opened. before is the directory in the earlier tree, or nil.
func (s *scan) directory(above *rootdir.Dir, at rootdir.Place, before *folder) (*folder, error) {
	if err := model.FromContext(s.ctx, s.op); err != nil {
		return nil, err
	}
	path := at.Path()
	if !s.full && before != nil && !before.again && !s.heard.has(path) {
		return s.keep(before)
	}
	d := &folder{path: path, at: time.Now()}
	if s.follow != nil { // from before the names are read
		var err error
		if d.again, err = s.follow.watch(path); err != nil {
			return nil, err
		}
		d.signs = &signs{}
	}
	dir, err := s.open(above, at)
	if err == nil {
		if path != "" {
			defer dir.Close()
		}
		if d.meta, err = dir.Stat("."); err == nil && !(s.reuse && d.take(before)) {
			err = s.read(d, dir)
		}
	}
	d.fail(err)
	d.again = d.again || s.root != nil && !d.meta.SameDevice(s.root.meta) // only changes of the root's file system are reported
	if s.root == nil {
		s.root = d
	}
	s.note(d)
	s.met = append(s.met, met{d, before})
	if s.look != nil {
		s.files.Each(len(d.rows), func(files *rootdir.Files, i int) error {
			s.file(files, d, i, before)
			return nil
		})
	}
	for i := range d.subs {
		below := &d.subs[i]
		if below.folder, err = s.directory(dir, rootdir.Place{Dir: path, Name: below.name}, before.sub(below.name)); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (s *scan) open(above *rootdir.Dir, at rootdir.Place) (*rootdir.Dir, error) {
	switch {
	case at.Name == "":
		return s.from, nil
	case above != nil:
		return above.Sub(at.Name)
	}
	return s.from.Sub(at.Path())
}

// keep keeps an unchanged directory, and looks for changes below it.
func (s *scan) keep(d *folder) (*folder, error) {
	if s.root == nil {
		s.root = d
	}
	s.note(d)
	same := true
	subs := make([]sub, len(d.subs))
	for i, b := range d.subs {
		now, err := s.directory(nil, rootdir.Place{Dir: d.path, Name: b.name}, b.folder)
		if err != nil {
			return nil, err
		}
		subs[i] = sub{b.name, now}
		same = same && now == b.folder
	}
	if same {
		return d, nil
	}
	kept := *d
	kept.subs = subs
	return &kept, nil
}

// note records a directory's own facts.
func (s *scan) note(d *folder) {
	if d.problem != "" {
		s.Problems = append(s.Problems, orRoot(d.path)+": "+d.problem)
		return
	}
	s.Dirs = append(s.Dirs, Seen{Path: orRoot(d.path), meta: d.meta})
	for _, name := range d.links {
		s.Problems = append(s.Problems, rootdir.Place{Dir: d.path, Name: name}.Path()+" "+model.LinkProblem)
	}
	for _, name := range d.aside {
		s.Aside = append(s.Aside, rootdir.Place{Dir: d.path, Name: name}.Path())
	}
}

// fail records why a directory could not be read, unless it has just vanished.
func (d *folder) fail(err error) {
	if err != nil {
		d.again = true
	}
	if err != nil && !errors.Is(err, model.NotFound) {
		d.problem = err.Error()
	}
}

func (d *folder) sub(name string) *folder {
	if d == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(d.subs, name, func(s sub, name string) int { return compareDirs(s.name, name) })
	if !ok {
		return nil
	}
	return d.subs[i].folder
}

func orRoot(path string) string {
	if path == "" {
		return "."
	}
	return path
}

// take takes the names of the directory in the earlier tree, where it is unchanged since.
func (d *folder) take(before *folder) bool {
	if before == nil || before.again || !before.meta.Same(d.meta) || before.at.Sub(before.meta.Modified) < racy {
		return false
	}
	d.names, d.rows, d.aside, d.links, d.subs = before.names, before.rows, before.aside, before.links, slices.Clone(before.subs)
	return true
}

// read collects the names that the rules admit; none of a git repository's own directory.
func (s *scan) read(d *folder, dir *rootdir.Dir) error {
	names, taken, r := s.names[:0], s.taken[:0], s.rules
	var marks gitlog.Marks
	err := dir.Names(".", func(name []byte, isDir bool) bool {
		marks.See(string(name), isDir)
		switch {
		case isDir:
			at := rootdir.Place{Dir: d.path, Name: string(name)}
			if r.Enter == nil || r.Enter(at.Path()) {
				d.subs = append(d.subs, sub{name: at.Name})
			}
		case r.Aside != nil && r.Aside(d.path, name):
			d.aside = append(d.aside, string(name))
		case r.Take == nil || r.Take(d.path, name):
			taken = append(taken, entry{begin(name), uint32(len(names)), uint16(len(name))})
			names = append(names, name...)
		case r.Linked && r.Enter(rootdir.Place{Dir: d.path, Name: string(name)}.Path()):
			d.links = append(d.links, string(name))
		}
		return true
	})
	d.links = slices.DeleteFunc(d.links, func(name string) bool {
		m, err := dir.Stat(name)
		return err != nil || m.Kind != rootdir.Link
	})
	slices.Sort(d.links)
	if d.path != "" && marks.Repository() {
		names, taken, d.subs, d.aside, d.links = names[:0], taken[:0], nil, nil, nil
	}
	s.names, s.taken = names, taken
	d.keep(names, taken)
	slices.SortFunc(d.subs, func(a, b sub) int { return compareDirs(a.name, b.name) })
	return err
}

// entry is a name in the buffer of a directory's names.
type entry struct {
	begin  uint64 // of the name
	at     uint32
	length uint16
}

// begin is a number in whose order names are that differ in their first eight bytes. No name has a zero byte.
func begin(name []byte) uint64 {
	var first [8]byte
	copy(first[:], name)
	return binary.BigEndian.Uint64(first[:])
}

// keep makes the rows of the names, both in the order of names.
func (d *folder) keep(names []byte, taken []entry) {
	name := func(e entry) []byte { return names[e.at : e.at+uint32(e.length)] }
	slices.SortFunc(taken, func(a, b entry) int {
		if a.begin != b.begin {
			return cmp.Compare(a.begin, b.begin)
		}
		return bytes.Compare(name(a), name(b))
	})
	var all strings.Builder
	all.Grow(len(names))
	d.rows = make([]row, len(taken))
	for i, e := range taken {
		d.rows[i] = row{name: uint32(all.Len()), length: e.length}
		all.Write(name(e))
	}
	d.names = all.String()
}

// file looks at one file of a directory. A row without a name is left out.
func (s *scan) file(files *rootdir.Files, d *folder, i int, was *folder) {
	r := &d.rows[i]
	at := rootdir.Place{Dir: d.path, Name: d.name(r)}
	m, tag, ok := s.look(files, at, was.file(at.Name))
	r.set(m)
	r.tag = tag
	if !ok {
		r.length = 0
	}
	if m.Links() > 1 {
		s.linked.Store(true)
	}
}

// finish ends a directory after the looks at its files.
func (s *scan) finish(d, was *folder) {
	d.rows = slices.DeleteFunc(d.rows, func(r row) bool { return r.length == 0 })
	if s.look != nil && s.follow != nil && d.as(was) {
		d.signs = was.signs
	}
}

// settles is the minimum age of a file's last change at a walk, so that a further one shows.
const settles = 3 * time.Second

// as reports whether a folder's files are those of before, unchanged since what was learned of them.
func (d *folder) as(o *folder) bool {
	if o == nil || o.signs == nil || len(d.rows) != len(o.rows) {
		return false
	}
	for i := range d.rows {
		now, was := (File{d, i}), (File{o, i})
		if m := was.Meta(); now.Name() != was.Name() || !now.Meta().Same(m) || !m.Settled(o.at.Add(-settles)) {
			return false
		}
	}
	return true
}

// order notes the runs of files that follow one another.
func (t *Tree) order(d *folder) {
	from := 0
	for _, at := range d.subs {
		to := from + sort.Search(len(d.rows)-from, func(i int) bool {
			return compareFile(d.name(&d.rows[from+i]), at.name) > 0
		})
		t.span(d, from, to)
		from = to
		t.order(at.folder)
	}
	t.span(d, from, len(d.rows))
}

// compareFile orders a file and a directory beside it as their paths are.
func compareFile(file, dir string) int {
	if n := len(dir); len(file) > n && file[:n] == dir {
		return cmp.Compare(file[n], '/')
	}
	return strings.Compare(file, dir) // a file of the directory's own name cannot be
}

func (t *Tree) span(d *folder, from, to int) {
	if from < to {
		t.spans = append(t.spans, span{t.n, from, d})
		t.n += to - from
	}
}

func (r *row) set(m rootdir.Meta) {
	p := m.Parts()
	r.size, r.seconds, r.ino, r.changed = p.Size, p.Seconds, p.Inode, p.Changed
	r.nanos = uint32(p.Nanos) | uint32(p.Kind)<<kindShift
}
