package hypergraph

import (
	"context"

	"memdesk/model"
)

// subjects is the Subjects facet of a backend that keeps data-subject keys.
type subjects struct{ *adapter }

// Concerning implements model.Subjects: it yields the nodes that carry one of the keys, and their
// edges, whose labels may mention the subject.
func (s subjects) Concerning(ctx context.Context, keys []string, yield func(model.SubjectHit) bool) error {
	const op = "subjects"
	if err := s.begin(ctx, op, false); err != nil {
		return err
	}
	told := map[string]bool{} // edges
	for _, key := range keys {
		if key == "" { // an empty key would match every node
			continue
		}
		var ids []string
		tell := func() (more bool, err error) {
			more, err = s.tell(ctx, ids, key, told, yield)
			ids = ids[:0]
			return more, err
		}
		for id, err := range s.Backend.NodeIDs(ctx, NodeFilter{SubjectID: key}) {
			if err != nil {
				return model.Wrap(op, err)
			}
			if ids = append(ids, id); len(ids) < concerningBatch {
				continue
			}
			if more, err := tell(); err != nil || !more {
				return model.Wrap(op, err)
			}
		}
		if more, err := tell(); err != nil || !more {
			return model.Wrap(op, err)
		}
	}
	return nil
}

// concerningBatch is the number of nodes per query for edges.
const concerningBatch = 500

// tell yields a subject's nodes and their edges, each once.
func (s subjects) tell(ctx context.Context, nodes []string, key string, told map[string]bool, yield func(model.SubjectHit) bool) (more bool, err error) {
	if len(nodes) == 0 {
		return true, nil
	}
	edges, err := s.Backend.EdgesOfAll(ctx, nodes)
	if err != nil {
		return false, err
	}
	for _, node := range nodes {
		if !yield(model.SubjectHit{ID: NodeItemID(node), Subject: key, Reason: "tagged"}) {
			return false, nil
		}
		for _, e := range edges[node] {
			if told[e] {
				continue
			}
			told[e] = true
			if !yield(model.SubjectHit{ID: EdgeItemID(e), Subject: key, Reason: "ties " + NodeItemID(node) + ", which is tagged"}) {
				return false, nil
			}
		}
	}
	return true, nil
}
