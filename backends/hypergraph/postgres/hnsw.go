package postgres

import (
	"context"

	"memdesk/backends/hypergraph"
)

func vectorIndexes(q *query) (map[int]bool, error) { return nil, nil }

func (s *Store) hasIndex(q *query, dimensions int) bool { return false }

func (s *Store) indexVectors(ctx context.Context) error { return nil }

func (s *Store) indexedNearest(q *query, vector []float32, c *conditions, limit int) (hypergraph.SearchResult, error) {
	return hypergraph.SearchResult{}, nil
}
