package notes

import (
	"context"

	"memdesk/backends/seam/internal/walk"
)

// Names walks the directories alone, and not at all while the last walk is current.
func (s *store) Names(ctx context.Context, yield func(id string) bool) ([]string, error) {
	if snap, _, fresh := s.last(); fresh {
		for _, f := range snap.tree.All() {
			if !yield(f.Path()) {
				break
			}
		}
		return snap.problems(), nil
	}
	root, err := s.open("names")
	if err != nil || root == nil {
		return nil, err
	}
	defer root.Close()
	return walk.Names(ctx, "names", root, s.rules(), yield)
}
