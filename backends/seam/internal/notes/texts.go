package notes

import (
	"context"
	"errors"
	"unicode/utf8"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// EachText implements model.Texts: one walk over the names, then each file opened
// once, by as many readers as there are processors.
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
	err = rootdir.InParallel(ctx, "texts", root, len(ids), func(files *rootdir.Files, i int) error {
		t := model.Text{ID: ids[i]}
		err := s.checkID("texts", t.ID)
		if err == nil {
			var data []byte
			if data, _, err = files.Read(rootdir.PlaceOf(t.ID), wholeLimit); err == nil {
				t.Body, t.Binary = string(data), !utf8.Valid(data)
				t.Meta = s.metaOf(ctx, t.ID)
			}
		}
		if errors.Is(err, model.NotFound) {
			return nil
		}
		if !yield(t, err) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return problems, err
}

// errEnough ends a walk whose caller has heard enough.
var errEnough = errors.New("enough")
