package notes

import (
	"context"

	"memdesk/backends/internal/follow"
	"memdesk/model"
)

// Watch follows every directory that holds items.
func (s *store) Watch(ctx context.Context) (<-chan model.Change, error) {
	return follow.Start(ctx, follow.Tree{
		Root: s.cfg.Path, Enter: s.isOpenDir, Telling: s.changed,
		Of: func(id string) (model.Change, bool) { return model.Change{ID: id}, s.isItem(id) },
	})
}
