package inmem

import (
	"context"
	"io"

	"memdesk/model"
)

// Maintainer shows that there is no medium: no byte of a forgotten item is in any file.
func (s *Store) Maintainer() model.Maintainer { return medium{} }

type medium struct{}

func (medium) Layers(ctx context.Context) ([]model.Layer, error) {
	return nil, model.FromContext(ctx, "layers")
}

func (medium) OpenLayer(context.Context, string) (io.ReadCloser, error) {
	return nil, model.Errorf(model.NotFound, "layers", "a store in memory has no layers")
}

func (medium) Scrub(ctx context.Context, _ model.ScrubRequest) ([]model.LayerResult, error) {
	return nil, model.FromContext(ctx, "scrub")
}
