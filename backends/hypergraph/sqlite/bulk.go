package sqlite

import (
	"context"
	"iter"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

// bulkBatch is how many nodes one transaction of CreateNodes holds.
const bulkBatch = 20000

// CreateNodes adds many nodes fast, for seeding and moving stores. Unlike
// CreateNode it keeps their times where they are set. Each transaction holds 20,000
// nodes; the first failure stops, naming the node, and rolls its transaction back.
// The number returned is of the nodes that are committed.
func (s *Store) CreateNodes(ctx context.Context, nodes iter.Seq[hypergraph.Node]) (int64, error) {
	const op = "create nodes"
	next, stop := iter.Pull(nodes)
	defer stop()
	var committed int64
	for more := true; more; {
		var n int64
		if err := s.file.Change(ctx, op, func(q *query) error {
			b, err := s.newBatch(q)
			if err != nil {
				return err
			}
			defer b.close()
			n, more, err = b.fill(ctx, next)
			return err
		}); err != nil {
			return committed, err
		}
		committed += n
	}
	return committed, nil
}

// batch is one transaction of CreateNodes.
type batch struct {
	*Store
	q       *query
	release func() // of the prepared statements; nil: none
	// counts collects the counters, which are written once per batch.
	counts map[counterKey][2]int64
}

type counterKey struct{ tier, typ, subtype string }

func (s *Store) newBatch(q *query) (*batch, error) {
	b := &batch{Store: s, q: q, counts: map[counterKey][2]int64{}}
	if !s.layout.own {
		return b, nil
	}
	release, err := q.Prepare(insertOwnSQL, insertTextSQL)
	if err != nil {
		return nil, err
	}
	b.release = release
	return b, nil
}

func (b *batch) close() {
	if b.release != nil {
		b.release()
	}
}

// fill writes up to bulkBatch nodes and reports whether there may be more.
func (b *batch) fill(ctx context.Context, next func() (hypergraph.Node, bool)) (int64, bool, error) {
	// The driver starts a goroutine per statement for a context that can end; here
	// the context is looked at between statements instead.
	b.q.Under(context.WithoutCancel(ctx))
	for n := int64(0); ; n++ {
		if n == bulkBatch {
			return n, true, b.writeCounts()
		}
		if err := model.FromContext(ctx, b.q.Op()); err != nil {
			return 0, false, err
		}
		node, ok := next()
		if !ok {
			return n, false, b.writeCounts()
		}
		if err := b.insert(node); err != nil {
			return 0, false, model.Errorf(model.KindOf(err), b.q.Op(), "node %.200q: %w", node.ID, err)
		}
	}
}

func (b *batch) insert(n hypergraph.Node) error {
	if err := b.rules().Node(b.q.Op(), n, nil); err != nil {
		return err
	}
	stampNew(&n, b.now())
	if !b.layout.own {
		return b.insertNode(b.q, n)
	}
	if err := b.insertOwnRow(b.q, n); err != nil {
		return err
	}
	k := counterKey{n.Tier, n.Type, n.Subtype}
	c := b.counts[k]
	b.counts[k] = [2]int64{c[0] + 1, c[1] + int64(len(n.Content))}
	if n.Decision != nil {
		return b.putDecision(b.q, n.ID, *n.Decision)
	}
	return nil
}

func (b *batch) writeCounts() error {
	for k, c := range b.counts {
		if err := count(b.q, k.tier, k.typ, k.subtype, c[0], c[1]); err != nil {
			return err
		}
	}
	return nil
}
