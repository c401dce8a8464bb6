package notes

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"

	"memdesk/backends/seam/internal/walk"
)

// Names walks the directories alone, and not at all while the last walk is current.
func (s *store) Names(ctx context.Context, yield func(id string) bool) ([]string, error) {
	tree, err := s.named(ctx, "names")
	if err != nil || tree == nil {
		return nil, err
	}
	for _, f := range tree.All() {
		if !yield(f.Path()) {
			break
		}
	}
	return tree.Problems, nil
}

// named is a current tree, perhaps of names alone; nil where the first write will make the store's directory.
func (s *store) named(ctx context.Context, op string) (*walk.Tree, error) {
	snap, _, fresh := s.last()
	if !fresh && s.follows() {
		var err error
		if snap, err = s.look(ctx); err != nil {
			return nil, err
		}
		fresh = true
	}
	var old *walk.Tree
	if snap != nil {
		old = snap.tree
	}
	if fresh {
		return old, nil
	}
	root, err := s.open(op)
	if err != nil || root == nil {
		return nil, err
	}
	defer root.Close()
	return walk.Scan(ctx, op, root, s.rules(), old, nil, nil)
}

// Shown reports whether a file or directory of this name is not a program's own.
func Shown(name string) bool { return !strings.HasPrefix(name, ".") && name != "node_modules" }

var literal = regexp.MustCompile(`[*?\[\\]`)

// Glob finds the files of a directory that match a pattern, whatever characters the directory's own path has.
func Glob(dir, pattern string) []string {
	found, _ := filepath.Glob(filepath.Join(literal.ReplaceAllString(dir, `\$0`), filepath.FromSlash(pattern))) // the patterns are well formed
	return found
}
