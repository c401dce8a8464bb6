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
		var hits []model.SubjectHit
		tell := func() (more bool, err error) {
			more, err = s.tell(ctx, hits, told, yield)
			hits = hits[:0]
			return more, err
		}
		for n, err := range s.Backend.AllNodes(ctx, NodeFilter{SubjectID: key}) {
			if err != nil {
				return model.Wrap(op, err)
			}
			hits = append(hits, model.SubjectHit{ID: n.ID, Subject: key, Reason: "tagged", Revision: s.nodeRevision(n)})
			if len(hits) < concerningBatch {
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

// tell yields a subject's nodes, whose hits have the ids of nodes, and their edges, each once.
func (s subjects) tell(ctx context.Context, nodes []model.SubjectHit, told map[string]bool, yield func(model.SubjectHit) bool) (more bool, err error) {
	if len(nodes) == 0 {
		return true, nil
	}
	ids := make([]string, len(nodes))
	for i, h := range nodes {
		ids[i] = h.ID
	}
	edges, err := s.Backend.EdgesOfAll(ctx, ids)
	if err != nil {
		return false, err
	}
	for i, h := range nodes {
		h.ID = NodeItemID(h.ID)
		if !yield(h) {
			return false, nil
		}
		for _, e := range edges[ids[i]] {
			if told[e] {
				continue
			}
			told[e] = true
			if !yield(model.SubjectHit{ID: EdgeItemID(e), Subject: h.Subject, Reason: "ties " + h.ID + ", which is tagged"}) {
				return false, nil
			}
		}
	}
	return true, nil
}
