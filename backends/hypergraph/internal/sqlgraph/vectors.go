package sqlgraph

import (
	"context"
	"math"
	"slices"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/vectors"
	"memdesk/model"
)

var vectorColumns = []string{"node_id", "embedding", "model", "dimensions", "created_at", "updated_at"}

// SetEmbedding implements hypergraph.Ops.
func (w Writes) SetEmbedding(ctx context.Context, node, modelName string, vector []float32) error {
	const op = "set embedding"
	if rules := w.Rules(); vector != nil {
		if err := first(rules.Vector(op, vector), rules.text(op, "model", modelName)); err != nil {
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

// vectorBytes is how much of vectors is kept in memory between two searches: of more,
// every search reads them again.
const vectorBytes = 256 << 20

// VectorSet keeps the vectors of one snapshot for the searches that follow. Once it is
// filled it does not change.
type VectorSet[K any] struct {
	Dims int  // of every vector; 0: there is none
	Full bool // they are more than is kept
	// Mixed: several models' vectors. The plain way counts those of others under a filter.
	Mixed bool

	rows   []vectorRow[K]
	blocks [][]float32 // of unit vectors, perBlock rows in each: one slice of all would be copied as it grows
	words  map[string]string
}

// VectorNode holds the fields that a search filters by.
type VectorNode struct {
	Tier, Type, Subtype string
	Confidence          float64
}

type vectorRow[K any] struct {
	key K
	VectorNode
	known bool // its node was described
}

// Serves reports whether the set holds every vector.
func (s *VectorSet[K]) Serves() bool { return !s.Full && !s.Mixed }

// Add keeps a vector and gives its row, -1 where it is passed over: it points nowhere,
// or the set does not serve.
func (s *VectorSet[K]) Add(v []float32) int {
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
	s.rows, s.blocks[at] = append(s.rows, vectorRow[K]{}), append(s.blocks[at], unit...)
	return len(s.rows) - 1
}

// perBlock is how many vectors have room in a block of 4 MB.
func (s *VectorSet[K]) perBlock() int { return max(1, 1<<20/s.Dims) }

// unit gives a row's vector.
func (s *VectorSet[K]) unit(row int) []float32 {
	at := row % s.perBlock() * s.Dims
	return s.blocks[row/s.perBlock()][at : at+s.Dims]
}

// Describe tells of which node a row's vector is. A row that is never described has no
// node and is not found.
func (s *VectorSet[K]) Describe(row int, key K, n VectorNode) {
	n.Tier, n.Type, n.Subtype = s.same(n.Tier), s.same(n.Type), s.same(n.Subtype)
	s.rows[row] = vectorRow[K]{key, n, true}
}

// same keeps one copy of a word that many rows have.
func (s *VectorSet[K]) same(w string) string {
	if s.words == nil {
		s.words = map[string]string{}
	}
	if _, ok := s.words[w]; !ok {
		s.words[w] = w
	}
	return s.words[w]
}

// Rank gives the nearest by their cosine, best first, and counts all that were compared.
// unit has length 1; prefer orders keys of one score.
func (s *VectorSet[K]) Rank(unit []float32, o hypergraph.SearchOptions, archive string, prefer func(a, b K) int) ([]vectors.Scored[K], int64) {
	keep := func(r *vectorRow[K]) bool {
		return r.known && (o.IncludeArchived || r.Tier != archive) && r.Confidence >= o.MinConfidence &&
			(len(o.Tiers) == 0 || slices.Contains(o.Tiers, r.Tier)) && (len(o.Types) == 0 || slices.Contains(o.Types, r.Type)) &&
			!slices.Contains(o.NotSubtypes, r.Subtype)
	}
	scores := vectors.Each(len(s.rows), func(i int) float64 {
		if !keep(&s.rows[i]) {
			return math.NaN()
		}
		return float64(vectors.Dot(unit, s.unit(i)))
	})
	best := vectors.Best[K]{Limit: o.Limit, Prefer: prefer}
	var compared int64
	for i, cosine := range scores {
		if !math.IsNaN(cosine) {
			compared++
			best.Offer(s.rows[i].key, cosine)
		}
	}
	return best.Sorted(), compared
}
