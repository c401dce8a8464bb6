package sqlgraph

import (
	"cmp"
	"context"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/vectors"
	"memdesk/model"
)

var vectorColumns = []string{"node_id", "embedding", "model", "dimensions", "created_at", "updated_at"}

// SetEmbedding implements hypergraph.Ops.
func (w Writes) SetEmbedding(ctx context.Context, node, modelName string, vector []float32) error {
	const op = "set embedding"
	if rules := w.Rules(); vector != nil {
		if err := cmp.Or(rules.Vector(op, vector), rules.text(op, "model", modelName)); err != nil {
			return err
		}
		if rules.NoVectors != "" {
			return model.Errorf(model.Unsupported, op, "%s", rules.NoVectors)
		}
	}
	return w.Change(ctx, op, func(q Query) error {
		n, err := w.Node(q, node)
		if err != nil {
			return err
		}
		if vector == nil {
			err = w.DropVector(q, node)
		} else {
			now := w.Time(w.Now())
			err = w.Upsert(q, "node_embeddings", vectorColumns, "created_at", node, vectors.Encode(vector), modelName, len(vector), now, now)
		}
		if err != nil {
			return err
		}
		return w.MarkVector(q, n, vector)
	})
}

// Embedding implements hypergraph.Vectors.
func (w Writes) Embedding(ctx context.Context, node string) (vector []float32, modelName string, err error) {
	err = w.View(ctx, "embedding", func(q Query) error {
		_, err := w.Node(q, node)
		if err == nil {
			vector, modelName, err = w.Vector(q, node)
		}
		if err == nil && len(vector) == 0 {
			err = model.Errorf(model.Unsupported, q.Op(), "%s", hypergraph.NoVector)
		}
		return err
	})
	return vector, modelName, err
}

// vectorBytes is the most bytes of vectors kept in memory between two searches: if there are more,
// every search reads them again.
const vectorBytes = 256 << 20

// VectorSet keeps the vectors of one snapshot for later searches. Once filled it does not change.
type VectorSet struct {
	Dims int  // of every vector; 0: there is none
	Full bool // they exceed vectorBytes
	// Mixed: vectors of several dimensions, so of several models. Only the uncached search counts the
	// others under a filter.
	Mixed bool

	rows   []vectorRow
	blocks [][]float32 // of unit vectors, perBlock rows in each: a single slice would be copied as it grows
	words  map[string]string
}

// VectorNode holds the fields that a search ranks and filters by.
type VectorNode struct {
	ID                  string
	Seq                 int64
	Tier, Type, Subtype string
	Confidence          float64
}

type vectorRow struct {
	VectorNode
	known bool // Describe was called for the row
}

// Serves reports whether the set holds every vector.
func (s *VectorSet) Serves() bool { return !s.Full && !s.Mixed }

// Add keeps a vector and returns its row, -1 where it is skipped: it has no direction, or the set does
// not serve.
func (s *VectorSet) Add(v []float32) int {
	unit := vectors.Unit(v)
	if !s.Serves() {
		return -1
	}
	if s.Dims == 0 {
		s.Dims = len(v)
	}
	s.Full, s.Mixed = 4*(len(s.rows)+1)*len(v) > vectorBytes, len(v) != s.Dims
	if !s.Serves() {
		s.rows, s.blocks = nil, nil
		return -1
	}
	if unit == nil {
		return -1
	}
	at := len(s.rows) / s.perBlock()
	if at == len(s.blocks) {
		s.blocks = append(s.blocks, nil)
		if at > 0 {
			s.blocks[at] = make([]float32, 0, s.perBlock()*s.Dims)
		}
	}
	s.rows, s.blocks[at] = append(s.rows, vectorRow{}), append(s.blocks[at], unit...)
	return len(s.rows) - 1
}

// perBlock is the number of vectors in a block of 4 MB.
func (s *VectorSet) perBlock() int { return max(1, 1<<20/s.Dims) }

// unit returns a row's vector.
func (s *VectorSet) unit(row int) []float32 {
	at := row % s.perBlock() * s.Dims
	return s.blocks[row/s.perBlock()][at : at+s.Dims]
}

// Describe sets the node of a row's vector. A row without a description has no node and is not found.
func (s *VectorSet) Describe(row int, n VectorNode) {
	n.Tier, n.Type, n.Subtype = s.same(n.Tier), s.same(n.Type), s.same(n.Subtype)
	s.rows[row] = vectorRow{n, true}
}

// same keeps one copy of a word that many rows share.
func (s *VectorSet) same(w string) string {
	if s.words == nil {
		s.words = map[string]string{}
	}
	if _, ok := s.words[w]; !ok {
		s.words[w] = w
	}
	return s.words[w]
}

// VectorCache keeps one search's vectors for the next searches.
type VectorCache struct {
	turn   chan struct{} // holds one token while a search uses the fields below
	set    *VectorSet
	stamp  string // of the set's snapshot
	excess bool   // the vectors once exceeded the limit
}

// NewVectorCache makes an empty cache.
func NewVectorCache() VectorCache { return VectorCache{turn: make(chan struct{}, 1)} }

// Take waits for the search's turn, which Release ends.
func (c *VectorCache) Take(ctx context.Context, op string) error {
	select {
	case c.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return model.FromContext(ctx, op)
	}
}

// Release ends a turn.
func (c *VectorCache) Release() { <-c.turn }

// At returns the vectors of the snapshot with that stamp; read fills them anew where the stamp has
// changed. nil where they are not kept. Only the search that holds the turn calls it.
func (c *VectorCache) At(stamp string, read func(*VectorSet) error) (*VectorSet, error) {
	if c.excess {
		return nil, nil
	}
	if c.set == nil || c.stamp != stamp {
		c.set = nil // never two sets in memory
		set := &VectorSet{}
		if err := read(set); err != nil {
			return nil, err
		}
		c.set, c.stamp, c.excess = set, stamp, set.Full
	}
	if !c.set.Serves() {
		return nil, nil
	}
	return c.set, nil
}
