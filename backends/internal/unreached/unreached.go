// Package unreached names what holds the data of a store and lies where memdesk does not look.
package unreached

import (
	"context"
	"io"
	"slices"

	"memdesk/model"
)

// Layers are named and neither read nor cleaned, as model.Maintainer.
type Layers []model.Layer

var _ model.Maintainer = Layers{}

// Named is one such layer.
func Named(id, reason string) Layers {
	return Layers{{ID: id, Kind: model.LayerExternal, Reason: reason}}
}

// Layers returns them.
func (l Layers) Layers(context.Context) ([]model.Layer, error) { return l, nil }

// OpenLayer is Unsupported for one of them.
func (l Layers) OpenLayer(_ context.Context, id string) (io.ReadCloser, error) {
	if !slices.ContainsFunc(l, func(one model.Layer) bool { return one.ID == id }) {
		return nil, model.Errorf(model.NotFound, "open-layer", "the store has no layer %q", id)
	}
	return nil, model.Errorf(model.Unsupported, "open-layer", "nothing here shows %.100q", id)
}

// Scrub does nothing.
func (Layers) Scrub(context.Context, model.ScrubRequest) ([]model.LayerResult, error) {
	return nil, nil
}
