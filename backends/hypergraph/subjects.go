package hypergraph

import (
	"context"

	"memdesk/model"
)

// subjects is the Subjects facet of a backend that keeps data-subject keys.
type subjects struct{ *adapter }

// Concerning implements model.Subjects: the nodes that carry one of the keys, and
// the edges of such nodes, whose labels may speak of the person.
func (s subjects) Concerning(ctx context.Context, keys []string, yield func(model.SubjectHit) bool) error {
	const op = "subjects"
	if err := s.begin(ctx, op, false); err != nil {
		return err
	}
	told := map[string]bool{} // edges
	for _, key := range keys {
		if key == "" { // no key is nobody's, never everybody's
			continue
		}
		for n, err := range s.Backend.AllNodes(ctx, NodeFilter{SubjectID: key}) {
			if err != nil {
				return wrap(op, err)
			}
			if n.SubjectID != key {
				continue
			}
			if !yield(model.SubjectHit{ID: NodeItemID(n.ID), Subject: key, Reason: "tagged"}) {
				return nil
			}
			more, err := s.edgesOf(ctx, n.ID, key, told, yield)
			if err != nil || !more {
				return wrap(op, err)
			}
		}
	}
	return nil
}

// edgesOf yields the edges of a person's node, each once.
func (s subjects) edgesOf(ctx context.Context, node, key string, told map[string]bool, yield func(model.SubjectHit) bool) (more bool, err error) {
	limit := model.LinkLimit
	edges, total, err := s.Backend.EdgesOf(ctx, node, limit)
	if err == nil && total > int64(limit) { // all of them: erasure must not miss one
		edges, _, err = s.Backend.EdgesOf(ctx, node, int(total))
	}
	if err != nil {
		return false, err
	}
	for _, e := range edges {
		if told[e.ID] {
			continue
		}
		told[e.ID] = true
		if !yield(model.SubjectHit{ID: EdgeItemID(e.ID), Subject: key, Reason: "ties " + NodeItemID(node) + ", which is tagged"}) {
			return false, nil
		}
	}
	return true, nil
}
