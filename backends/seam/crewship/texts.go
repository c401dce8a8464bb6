package crewship

import (
	"context"
	"errors"
	"slices"
	"unicode/utf8"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// EachText implements model.Texts: the files of one walk, each opened once, by as
// many readers as there are processors.
func (s *store) EachText(ctx context.Context, yield func(model.Text, error) bool) ([]string, error) {
	snap, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	for from := 0; from < len(snap.entries); { // they lie by memory directory
		to := from + 1
		for to < len(snap.entries) && snap.entries[to].memory == snap.entries[from].memory {
			to++
		}
		more, err := s.textsOf(ctx, snap.entries[from:to], yield)
		if err != nil || !more {
			return slices.Clone(snap.problems), err
		}
		from = to
	}
	return slices.Clone(snap.problems), nil
}

// errEnough ends a walk whose caller has heard enough.
var errEnough = errors.New("enough")

func (s *store) textsOf(ctx context.Context, entries []entry, yield func(model.Text, error) bool) (more bool, err error) {
	dir, err := s.open(entries[0].memory)
	if err != nil { // Read says why, of each
		for i := range entries {
			it, err := s.Read(ctx, entries[i].id)
			if !errors.Is(err, model.NotFound) && !yield(model.Text{ID: entries[i].id, Body: it.Body, Binary: it.Has(model.FlagBinary)}, err) {
				return false, nil
			}
		}
		return true, model.FromContext(ctx, "texts")
	}
	defer dir.Close()
	err = rootdir.InParallel(ctx, "texts", dir, len(entries), func(files *rootdir.Files, i int) error {
		e := &entries[i]
		data, _, err := files.Read(rootdir.PlaceOf(e.label), wholeLimit)
		if errors.Is(err, model.NotFound) {
			return nil
		}
		t := model.Text{ID: e.id}
		if err == nil {
			t.Body, t.Binary = string(data), !utf8.Valid(data)
		}
		if !yield(t, err) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return false, nil
	}
	return true, err
}
