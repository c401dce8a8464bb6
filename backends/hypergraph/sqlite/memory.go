package sqlite

import (
	"context"
	"io"
	"math"

	"memdesk/backends/internal/litefile"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Memory makes an empty store of the own schema in memory, which is gone with Close. A nil clock is the
// system's.
func Memory(ctx context.Context, c clock.Clock) (*Store, error) {
	file, err := litefile.Memory(ctx)
	if err != nil {
		return nil, err
	}
	s := newStore(file, c)
	if err := s.prepare(ctx, Config{Create: true}); err != nil {
		_ = s.Close()
		return nil, err
	}
	if err := file.Direct(ctx, "open", `DROP TABLE node_embeddings`, vectorTable(math.MaxInt32)); err != nil {
		_ = s.Close()
		return nil, err
	}
	s.inMemory = true
	return s, nil
}

// memoryMedium shows that no byte of an item is in any file.
type memoryMedium struct{ s *Store }

func (memoryMedium) Layers(ctx context.Context) ([]model.Layer, error) {
	return nil, model.FromContext(ctx, "layers")
}

func (memoryMedium) OpenLayer(context.Context, string) (io.ReadCloser, error) {
	return nil, model.Errorf(model.NotFound, "layers", "a store in memory has no layers")
}

// Scrub makes the index of words anew: the old one keeps the words of removed items. Freed pages are
// overwritten already.
func (m memoryMedium) Scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	if req.Dry {
		return nil, model.FromContext(ctx, "scrub")
	}
	return nil, m.s.change(ctx, "scrub", func(q *query) error {
		_, err := q.Exec(`INSERT INTO nodes_fts (nodes_fts) VALUES ('rebuild')`)
		return err
	})
}
