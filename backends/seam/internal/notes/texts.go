package notes

import (
	"context"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/texts"
	"memdesk/model"
)

// EachText implements model.Texts: one walk over the names, then each file opened once.
func (s *store) EachText(ctx context.Context, yield func(model.Text, error) bool) ([]string, error) {
	var ids []string
	problems, err := s.Names(ctx, func(id string) bool {
		ids = append(ids, id)
		return true
	})
	if err != nil {
		return nil, err
	}
	root, err := s.open("texts")
	if err != nil || root == nil {
		return problems, err
	}
	defer root.Close()
	_, err = texts.Each(ctx, root, len(ids), func(i int) (string, rootdir.Place, error) {
		return ids[i], rootdir.PlaceOf(ids[i]), s.checkID("texts", ids[i])
	}, func(t model.Text, err error) bool {
		if err == nil {
			t.Meta = s.metaOf(ctx, t.ID)
		}
		return yield(t, err)
	})
	return problems, err
}
