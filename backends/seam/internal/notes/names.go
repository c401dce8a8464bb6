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
	w := nameWalk{root: root, yield: yield}
	_, err = w.directory(ctx, ".")
	return w.problems, err
}

type nameWalk struct {
	root     *rootdir.Dir
	yield    func(string) bool
	problems []string
}

// directory reports whether the walk goes on.
func (w *nameWalk) directory(ctx context.Context, at string) (bool, error) {
	if err := model.FromContext(ctx, "names"); err != nil {
		return false, err
	}
	var dirs []string
	more := true
	err := w.root.Names(at, func(name string, dir bool) bool {
		switch {
		case dir && isOpenDir(name):
			dirs = append(dirs, below(at, name))
		case !dir && !isMachinery(name):
			more = w.yield(below(at, name))
		}
		return more
	})
	if err != nil && !errors.Is(err, model.NotFound) {
		w.problems = append(w.problems, err.Error())
	}
	for _, d := range dirs {
		if !more {
			break
		}
		if more, err = w.directory(ctx, d); err != nil {
			return false, err
		}
	}
	return more, nil
}
