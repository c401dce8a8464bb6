package hypergraph

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"memdesk/model"
)

// textBatch is the number of nodes that one worker takes at a time.
const textBatch = 256

// EachText implements model.Texts: one reader streams the backend's nodes, and one worker per processor
// hands them on.
func (a *adapter) EachText(ctx context.Context, yield func(model.Text, error) bool) ([]string, error) {
	const op = "texts"
	if err := a.begin(ctx, op, false); err != nil {
		return nil, err
	}
	var stopped atomic.Bool
	give := func(t model.Text) {
		if !stopped.Load() && !yield(t, nil) {
			stopped.Store(true)
		}
	}
	refuse := func(id string, bytes int64) {
		if !stopped.Load() && !yield(model.Text{ID: id}, tooLarge(op, id, bytes)) {
			stopped.Store(true)
		}
	}
	err := a.eachNode(ctx, &stopped, func(n *Node) {
		if n.Oversize > 0 {
			refuse(NodeItemID(n.ID), n.Oversize)
			return
		}
		meta := a.nodeMeta(*n)
		give(model.Text{ID: NodeItemID(n.ID), Body: n.Content, Meta: meta, Binary: !utf8.ValidString(n.Content),
			Whole: func() model.Item { return a.nodeItem(*n, meta) }})
	})
	if err == nil && !stopped.Load() {
		err = a.eachEdge(ctx, &stopped, func(e Edge) {
			if e.Oversize > 0 {
				refuse(EdgeItemID(e.ID), e.Oversize)
				return
			}
			give(model.Text{ID: EdgeItemID(e.ID), Body: e.Label, Meta: edgeMeta(e), Binary: !utf8.ValidString(e.Label),
				Whole: func() model.Item { return a.edgeItem(e) }})
		})
	}
	return nil, model.Wrap(op, err)
}

func (a *adapter) eachNode(ctx context.Context, stopped *atomic.Bool, give func(*Node)) error {
	work := make(chan []Node, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for nodes := range work {
				for i := range nodes {
					give(&nodes[i])
				}
			}
		})
	}
	defer wg.Wait()
	defer close(work)
	batch := make([]Node, 0, textBatch)
	for n, err := range a.Backend.StreamNodes(ctx) {
		if err != nil {
			return err
		}
		if stopped.Load() {
			return nil
		}
		if batch = append(batch, n); len(batch) == textBatch {
			work <- batch
			batch = make([]Node, 0, textBatch)
		}
	}
	work <- batch
	return nil
}

func (a *adapter) eachEdge(ctx context.Context, stopped *atomic.Bool, give func(Edge)) error {
	l := Listing{Order: model.OrderID, Limit: model.MaxPage}
	for {
		page, err := a.Backend.ListEdges(ctx, l)
		if err != nil {
			return err
		}
		for _, e := range page.Edges {
			give(e)
		}
		if l.Cursor = page.Next; l.Cursor == "" || stopped.Load() {
			return nil
		}
	}
}
