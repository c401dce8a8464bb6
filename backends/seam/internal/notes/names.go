package notes

import (
	"context"
	"errors"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// Names walks the directories alone.
func (s *store) Names(ctx context.Context, yield func(id string) bool) ([]string, error) {
	root, err := s.open("names")
	if err != nil || root == nil {
		return nil, err
	}
	defer root.Close()
	w := nameWalk{take: func(name string) bool { return !isMachinery(name) }, yield: yield}
	_, err = w.directory(ctx, root, ".")
	return w.problems, err
}

type nameWalk struct {
	take     func(name string) bool
	yield    func(string) bool
	problems []string
}

// directory reports whether the walk goes on.
func (w *nameWalk) directory(ctx context.Context, dir *rootdir.Dir, at string) (bool, error) {
	if err := model.FromContext(ctx, "names"); err != nil {
		return false, err
	}
	var dirs []string
	prefix, more := "", true
	if at != "." {
		prefix = at + "/"
	}
	err := dir.Names(".", func(name string, isDir bool) bool {
		switch {
		case isDir && isOpenDir(name):
			dirs = append(dirs, name)
		case !isDir && w.take(name):
			more = w.yield(prefix + name)
		}
		return more
	})
	w.problem(at, err)
	for _, d := range dirs {
		if !more {
			break
		}
		sub, err := dir.Sub(d)
		if err != nil {
			w.problem(prefix+d, err)
			continue
		}
		more, err = w.directory(ctx, sub, prefix+d)
		_ = sub.Close()
		if err != nil {
			return false, err
		}
	}
	return more, nil
}

func (w *nameWalk) problem(at string, err error) {
	if err != nil && !errors.Is(err, model.NotFound) { // NotFound: it has just gone
		w.problems = append(w.problems, at+": "+err.Error())
	}
}
