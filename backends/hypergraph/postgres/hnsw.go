package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"memdesk/backends/hypergraph/internal/sqlgraph"
)

// pgvector indexes vectors of one dimension, up to indexedDimensions. So every dimension has its own
// index over memdesk.node_vectors, a copy of node_embeddings in the extension's type that may be
// dropped at any time.
const (
	indexedDimensions = 2000
	indexPrefix       = "node_vectors_hnsw_"
	// indexedLimit is the most hits taken from an index; for more, every vector is compared.
	indexedLimit = 400
)

const vectorsTable = `CREATE TABLE IF NOT EXISTS memdesk.node_vectors (
	workspace  text COLLATE "C" NOT NULL,
	node_id    text COLLATE "C" NOT NULL,
	dimensions integer NOT NULL,
	vec        vector NOT NULL,
	PRIMARY KEY (workspace, node_id),
	FOREIGN KEY (workspace, node_id) REFERENCES memdesk.node_embeddings (workspace, node_id) ON DELETE CASCADE
)`

// fillVectors copies the embeddings of every workspace that are missing, or differ. A row that stays is not written: the index
// would take it anew.
const fillVectors = `INSERT INTO memdesk.node_vectors (workspace, node_id, dimensions, vec)
	SELECT e.workspace, e.node_id, e.dimensions, memdesk.vector_of(e.embedding)
	FROM memdesk.node_embeddings e WHERE e.dimensions <= 2000
	ON CONFLICT (workspace, node_id) DO UPDATE SET dimensions = excluded.dimensions, vec = excluded.vec
		WHERE CASE WHEN node_vectors.dimensions = excluded.dimensions THEN node_vectors.vec <> excluded.vec ELSE true END`

// vectorOf decodes little-endian float32 on the server: sign, exponent and fraction of each number.
const vectorOf = `CREATE OR REPLACE FUNCTION memdesk.vector_of(raw bytea) RETURNS vector LANGUAGE sql IMMUTABLE AS $$
	SELECT array_agg((CASE WHEN bits = 0 OR bits = 2147483648 THEN 0
		ELSE (CASE WHEN bits >= 2147483648 THEN -1 ELSE 1 END)
			* (CASE WHEN (bits >> 23) & 255 = 0 THEN (bits & 8388607) / 8388608.0::float8 * 2.0::float8 ^ (-126)
				ELSE (1 + (bits & 8388607) / 8388608.0::float8) * 2.0::float8 ^ (((bits >> 23) & 255) - 127) END) END)::real ORDER BY i)::vector
	FROM (SELECT i, get_byte(raw, 4*i)::bigint + (get_byte(raw, 4*i+1)::bigint << 8) + (get_byte(raw, 4*i+2)::bigint << 16) + (get_byte(raw, 4*i+3)::bigint << 24) AS bits
		FROM generate_series(0, length(raw)/4 - 1) i) b $$`

// vectorIndexes are the dimensions with a ready index.
func vectorIndexes(q *query) (map[int]bool, error) {
	out := map[int]bool{}
	err := q.Each(`SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
		WHERE c.relnamespace = to_regnamespace('memdesk') AND i.indisvalid AND c.relname LIKE 'node\_vectors\_hnsw\_%'`, nil,
		func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			if n, bad := strconv.Atoi(strings.TrimPrefix(name, indexPrefix)); bad == nil {
				out[n] = true
			}
			return err
		})
	return out, err
}

func (s *Store) hasIndex(dimensions int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pgvector && s.indexed[dimensions]
}

func (s *Store) hasPgvector() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pgvector
}

// indexVectors makes the table and an index for every stored dimension, when the server has pgvector,
// or offers it and lets this role install it.
func (s *Store) indexVectors(ctx context.Context) error {
	const op = "index vectors"
	// Where the role may not install it, the store works without: vectors are then compared one by one.
	_ = s.migration(ctx, op, func(q *query) error {
		var offered bool
		if _, err := q.One(`SELECT EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector' AND installed_version IS NULL)`, nil, &offered); err != nil || !offered {
			return err
		}
		_, err := q.Exec(`CREATE EXTENSION IF NOT EXISTS vector`)
		return err
	})
	var there bool
	err := s.migration(ctx, op, func(q *query) error {
		if _, err := q.One(`SELECT to_regtype('vector') IS NOT NULL`, nil, &there); err != nil || !there {
			return err
		}
		if err := lockSchema(q); err != nil {
			return err
		}
		for _, text := range []string{vectorOf, vectorsTable, fillVectors} {
			if _, err := q.Exec(text); err != nil {
				return err
			}
		}
		var dimensions []int
		if err := q.Each(`SELECT DISTINCT dimensions FROM memdesk.node_vectors ORDER BY 1`, nil, sqlgraph.Collect(&dimensions)); err != nil {
			return err
		}
		for _, n := range dimensions {
			if err := makeIndex(q, n); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// makeIndex is idempotent. The index of a new dimension covers few rows.
func makeIndex(q *query, dimensions int) error {
	_, err := q.Exec(fmt.Sprintf(`CREATE INDEX IF NOT EXISTS %s%d ON memdesk.node_vectors USING hnsw ((vec::vector(%d)) vector_cosine_ops) WHERE dimensions = %d`,
		indexPrefix, dimensions, dimensions, dimensions))
	return err
}

// putIndexed updates the copy of a vector that was just stored. The first vector of a dimension creates
// its index, where the role owns the table.
func (s *Store) putIndexed(q *query, node string, vector []float32) error {
	if !s.hasPgvector() {
		return nil
	}
	var there, owner bool
	if _, err := q.One(`SELECT to_regclass('memdesk.node_vectors') IS NOT NULL,
		COALESCE((SELECT pg_has_role(c.relowner, 'USAGE') FROM pg_class c WHERE c.oid = to_regclass('memdesk.node_vectors')), false)`, nil, &there, &owner); err != nil || !there {
		return err
	}
	if len(vector) > indexedDimensions {
		_, err := q.Exec(`DELETE FROM memdesk.node_vectors WHERE workspace = $1 AND node_id = $2`, s.workspace, node)
		return err
	}
	if _, err := q.Exec(`INSERT INTO memdesk.node_vectors (workspace, node_id, dimensions, vec) VALUES ($1, $2, $3, $4::text::vector)
		ON CONFLICT (workspace, node_id) DO UPDATE SET dimensions = excluded.dimensions, vec = excluded.vec`,
		s.workspace, node, len(vector), vectorText(vector)); err != nil {
		return err
	}
	if s.hasIndex(len(vector)) || !owner {
		return nil
	}
	if err := makeIndex(q, len(vector)); err != nil {
		return err
	}
	q.after = append(q.after, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.indexed == nil {
			s.indexed = map[int]bool{}
		}
		s.indexed[len(vector)] = true
	})
	return nil
}

// vectorText is a vector in the extension's notation.
func vectorText(v []float32) string {
	b := []byte{'['}
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(x), 'g', -1, 32)
	}
	return string(append(b, ']'))
}

// indexedNearest searches the index. done is false where it returned fewer hits than the limit: a
// filter that keeps few rows leaves it short, so every vector is compared then.
func (d dialect) indexedNearest(q *query, c conditions, near *sqlgraph.Nearest) (done bool, err error) {
	if err := q.freshPlans(); err != nil {
		return false, err
	}
	limit := near.Best.Limit
	// An index scan examines this many candidates; the extension's default is 40.
	if _, err := q.Exec(`SELECT set_config('hnsw.ef_search', $1, true)`, strconv.Itoa(min(max(100, 4*limit), 1000))); err != nil {
		return false, err
	}
	c = c.Clone()
	n := strconv.Itoa(len(near.Vector))
	distance := `(v.vec::vector(` + n + `) <=> ` + c.Param(vectorText(near.Vector)) + `::text::vector(` + n + `))`
	best, found := sqlgraph.Best{Limit: limit}, 0
	err = q.Each(`SELECT n.id, n.created_at, 1 - `+distance+` FROM memdesk.node_vectors v
		JOIN memdesk.nodes n ON n.workspace = v.workspace AND n.id = v.node_id`+c.Where()+` AND v.workspace = $1 AND v.dimensions = `+n+`
		ORDER BY `+distance+` LIMIT `+c.Param(limit), c.Args, func(scan func(...any) error) error {
		var m sqlgraph.Match
		err := scan(&m.ID, &m.Seq, &m.Score)
		best.Offer(m)
		found++
		return err
	})
	if err != nil || found < limit {
		return false, err
	}
	near.Best, near.Total.Unknown = best, true
	near.Notes = append(near.Notes, "found by pgvector's index, which may miss a near one")
	return true, nil
}
