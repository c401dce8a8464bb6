package notes

import (
	"context"

	"memdesk/backends/seam/internal/walk"
)

// Names walks the directories alone.
func (s *store) Names(ctx context.Context, yield func(id string) bool) ([]string, error) {
	root, err := s.open("names")
	if err != nil || root == nil {
		return nil, err
	}
	defer root.Close()
	return walk.Names(ctx, "names", root, s.rules(), nil, yield)
}
