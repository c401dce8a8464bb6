// Package walk reads the names, sizes and times of a tree of files, and a store's own facts of each, in one
// pass. It does not interpret the files.
package walk

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/internal/gitlog"
	"memdesk/model"
)

// Rules select the files of a walk. Links are listed and never followed.
type Rules struct {
	Enter func(dir string) bool // by the directory's path from the walk's root; nil: every one
	// Take accepts a file by its directory's path, empty for the root, and its name, which is valid until it
	// returns; nil: every file.
	Take func(dir string, name []byte) bool
	// Aside excludes a file from the tree, by its path alone; nil: none.
	Aside func(dir string, name []byte) bool
	// Linked makes a problem of each link that has the path of a directory to enter and is no file to take.
	Linked bool
}

// Seen is a directory of a walk and its last change.
type Seen struct {
	Root string // as its caller opens it; empty unless it walks over several
	Path string // from the root; "." for the root itself
	meta rootdir.Meta
}

// Names calls yield with the path of every file, in the order of paths, until it returns false.
// Problems are as in Tree.
func Names(ctx context.Context, op string, root *rootdir.Dir, r Rules, yield func(path string) bool) (problems []string, err error) {
	t, err := Scan(ctx, op, root, r, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	for _, f := range t.All() {
		if !yield(f.Path()) {
			break
		}
	}
	return t.Problems, nil
}

// Found is a file of a complete walk, or a directory that the walk does not enter.
type Found struct {
	Path  string // from the root
	Meta  rootdir.Meta
	Empty bool // an empty directory
	// Repository: it is a git repository's own directory, or the file that leads there. Each file in it is a part of
	// everybody's history, so the walk does not enter it.
	Repository bool
	Problem    string // why nothing below the path could be read, in words
}

// Everything yields every file below root, dot directories included, in the order of their directories.
// enter decides by its path whether the walk enters a directory; otherwise the directory itself is yielded.
// nil: every one. Sizes and times are read in parallel.
func Everything(ctx context.Context, op string, root *rootdir.Dir, enter func(path string) bool, yield func(Found)) error {
	e := everything{ctx: ctx, op: op, root: root, enter: enter, yield: yield}
	if err := e.directory(root, "."); err != nil {
		return err
	}
	return e.flush()
}

type everything struct {
	ctx   context.Context
	op    string
	root  *rootdir.Dir
	enter func(string) bool
	yield func(Found)
	batch []Found
}

// batchSize is the number of files per batch.
const batchSize = 8 << 10

func (e *everything) directory(dir *rootdir.Dir, at string) error {
	if err := model.FromContext(e.ctx, e.op); err != nil {
		return err
	}
	type child struct {
		name string
		dir  bool
	}
	var children []child
	var marks gitlog.Marks
	err := dir.Names(".", func(name []byte, isDir bool) bool {
		c := child{string(name), isDir}
		marks.See(c.name, isDir)
		children = append(children, c)
		return true
	})
	if err != nil {
		e.problem(at, err)
		return nil
	}
	if at != "." && marks.Repository() {
		e.batch = append(e.batch, Found{Path: at, Repository: true})
		return nil
	}
	if len(children) == 0 && at != "." {
		e.batch = append(e.batch, Found{Path: at, Empty: true})
	}
	slices.SortFunc(children, func(a, b child) int { return strings.Compare(a.name, b.name) })
	for _, c := range children {
		path := c.name
		if at != "." {
			path = at + "/" + c.name
		}
		repository := c.name == ".git" // of a worktree it is a file
		if !c.dir || repository || e.enter != nil && !e.enter(path) {
			if e.batch = append(e.batch, Found{Path: path, Repository: repository}); len(e.batch) >= batchSize {
				if err := e.flush(); err != nil {
					return err
				}
			}
			continue
		}
		sub, err := dir.Sub(c.name)
		if err != nil {
			e.problem(path, err)
			continue
		}
		err = e.directory(sub, path)
		_ = sub.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *everything) problem(at string, err error) {
	if !errors.Is(err, model.NotFound) { // else it has just gone
		e.batch = append(e.batch, Found{Path: at, Problem: err.Error()})
	}
}

// flush stats the files of the batch and yields them, without vanished ones.
func (e *everything) flush() error {
	gone := make([]bool, len(e.batch))
	err := rootdir.InParallel(e.ctx, e.op, e.root, len(e.batch), func(files *rootdir.Files, i int) error {
		f := &e.batch[i]
		if f.Problem != "" {
			return nil
		}
		var err error
		if f.Meta, err = files.Stat(rootdir.PlaceOf(f.Path)); err != nil && !errors.Is(err, model.NotFound) {
			f.Problem = err.Error()
		}
		gone[i] = errors.Is(err, model.NotFound)
		return nil
	})
	if err != nil {
		return err
	}
	for i, f := range e.batch {
		if !gone[i] {
			e.yield(f)
		}
	}
	e.batch = e.batch[:0]
	return nil
}

// Age holds the time of a walk and its directories.
type Age struct {
	Dirs  []Seen
	Began time.Time
	Took  time.Duration
}

// Lifetimes of a tree. A directory's time shows files made, renamed and removed; a file rewritten in place
// does not show there, so a tree lives a second, or ten times as long as the walk took. Within racy of a
// change the clock of the file system may not separate two changes.
const (
	life  = time.Second
	share = 10
	racy  = 50 * time.Millisecond
)

// Stat is a Look for size and time only. A vanished file is left out; an inaccessible one is of a special
// kind.
func Stat(files *rootdir.Files, at rootdir.Place) (rootdir.Meta, bool) {
	m, err := files.Stat(at)
	if err != nil {
		return rootdir.Meta{Kind: rootdir.Special}, !errors.Is(err, model.NotFound)
	}
	return m, true
}

func (t *Age) lives() bool { return time.Since(t.Began) <= max(life, share*t.Took) }

// Fresh reports whether the walk is young enough and its directories are unchanged: one stat of every
// directory instead of every file. It uses the real clock, since it compares with the times of the file
// system. open opens a root by its name.
func (t *Age) Fresh(open func(root string) (*rootdir.Dir, error)) bool {
	if !t.lives() {
		return false
	}
	var root *rootdir.Dir
	at := ""
	defer func() {
		if root != nil {
			_ = root.Close()
		}
	}()
	for _, d := range t.Dirs {
		if t.Began.Sub(d.meta.Modified) < racy {
			return false
		}
		if root == nil || d.Root != at {
			if root != nil {
				_ = root.Close()
			}
			var err error
			if root, err = open(d.Root); err != nil || root == nil {
				return false
			}
			at = d.Root
		}
		if m, err := root.Stat(d.Path); err != nil || !m.Same(d.meta) {
			return false
		}
	}
	return true
}

// Add adds the directories of another walk, below a root and a path there.
func (t *Age) Add(o Age, root string, path func(string) string) {
	for _, d := range o.Dirs {
		d.Root, d.Path = root, path(d.Path)
		t.Dirs = append(t.Dirs, d)
	}
}
