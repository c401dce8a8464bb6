package crewship

import (
	"context"
	"errors"
	"slices"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/texts"
	"memdesk/model"
)

// EachText implements model.Texts: the files of one walk, each opened once.
func (s *store) EachText(ctx context.Context, yield func(model.Text, error) bool) ([]string, error) {
	snap, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range snap.parts {
		if more, err := s.textsOf(ctx, p, yield); err != nil || !more {
			return slices.Clone(snap.problems), err
		}
	}
	return slices.Clone(snap.problems), nil
}

func (s *store) textsOf(ctx context.Context, p part, yield func(model.Text, error) bool) (more bool, err error) {
	dir, err := s.open(p.memory)
	if err != nil { // Read says why, of each
		for _, f := range p.tree.All() {
			id := p.memory.prefix + f.Path()
			it, err := s.Read(ctx, id)
			if !errors.Is(err, model.NotFound) && !yield(model.Text{ID: id, Body: it.Body, Binary: it.Has(model.FlagBinary)}, err) {
				return false, nil
			}
		}
		return true, model.FromContext(ctx, "texts")
	}
	defer dir.Close()
	return texts.Each(ctx, dir, p.tree.Len(), func(i int) (string, rootdir.Place, error) {
		f := p.tree.At(i)
		return p.memory.prefix + f.Path(), f.Place(), nil
	}, yield)
}
