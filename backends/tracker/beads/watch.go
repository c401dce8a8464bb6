package beads

import (
	"context"

	"memdesk/backends/internal/follow"
	"memdesk/model"
)

// Watch follows the directory, since both files are replaced and not rewritten in place. It does not say
// which items changed: any line may have.
func (s *Store) Watch(ctx context.Context) (<-chan model.Change, error) {
	return follow.Start(ctx, follow.Tree{
		Root: s.dir, Enter: func(string) bool { return false },
		Of: func(file string) (model.Change, bool) { return model.Change{}, file == issuesName || file == depsName },
	})
}
