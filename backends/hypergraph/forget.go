package hypergraph

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"memdesk/model"
)

// Forget removes a node or an edge, or every node of one subject.
func (a *adapter) Forget(ctx context.Context, req model.ForgetRequest) (model.ForgetResult, error) {
	err := cmp.Or(a.begin(ctx, "forget", true), req.CheckSelectors(), a.CheckBound("forget", req.WorkspaceID, req.AgentID, req.CrewID))
	if err != nil {
		return model.ForgetResult{}, err
	}
	if req.DataSubjectID != "" {
		return a.forgetSubject(ctx, req.DataSubjectID)
	}
	t, err := parseItemID("forget", req.ID)
	if err != nil {
		return model.ForgetResult{}, err
	}
	var res model.ForgetResult
	err = a.Backend.WithTx(ctx, func(tx Ops) error {
		removed, err := a.remove(ctx, tx, t, req.IfMatch)
		res.Removed = removed
		return err
	})
	if err != nil {
		return model.ForgetResult{}, model.Wrap("forget", err)
	}
	return res, nil
}

// remove deletes one item and returns how many were deleted: 0 for an absent one.
func (a *adapter) remove(ctx context.Context, tx Ops, t itemID, match model.Revision) (int64, error) {
	revision, drop := a.nodeState, tx.DeleteNode
	if t.edge {
		revision, drop = edgeState, tx.DeleteEdge
	}
	current, err := revision(ctx, tx, t.id)
	if errors.Is(err, model.NotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if err := model.CheckMatch("forget", match, true, current); err != nil {
		return 0, err
	}
	switch err := drop(ctx, t.id); {
	case errors.Is(err, model.NotFound): // removed by another writer
		return 0, nil
	case err != nil:
		return 0, err
	}
	return 1, nil
}

func (a *adapter) nodeState(ctx context.Context, tx Ops, id string) (model.Revision, error) {
	n, err := tx.GetNode(ctx, id)
	if err != nil {
		return "", err
	}
	return a.nodeRevision(n), nil
}

func edgeState(ctx context.Context, tx Ops, id string) (model.Revision, error) {
	e, err := tx.GetEdge(ctx, id)
	if err != nil {
		return "", err
	}
	return edgeRevision(e), nil
}

// forgetSubject removes every node of a subject in one transaction, archived and bookkeeping ones
// included (R33). Removed counts nodes; the edges that fall with them are not the subject's items.
func (a *adapter) forgetSubject(ctx context.Context, subject string) (model.ForgetResult, error) {
	if !a.caps.HasSubjects {
		return model.ForgetResult{}, model.NoCascade("")
	}
	var removed int64
	err := a.Backend.WithTx(ctx, func(tx Ops) error {
		removed = 0
		ids, err := subjectNodes(ctx, tx, subject)
		if err != nil {
			return err
		}
		if err := model.FromContext(ctx, "forget"); err != nil {
			return err
		}
		steps := ctx
		if !a.caps.Transactions { // a cancelled cascade would stay half done (R40)
			steps = context.WithoutCancel(ctx)
		}
		removed, err = tx.DeleteNodes(steps, ids)
		return err
	})
	if err != nil {
		return model.ForgetResult{}, model.Wrap("forget", err)
	}
	return model.ForgetResult{Removed: removed}, nil
}

// subjectNodes lists a subject's nodes so that no decision comes before one of its children. A child
// that does not belong to the subject is detected before anything is deleted, because a backend may
// have no rollback.
func subjectNodes(ctx context.Context, tx Ops, subject string) ([]string, error) {
	var ids []string
	parent := map[string]string{} // of the subject's decisions
	for id, err := range tx.NodeIDs(ctx, NodeFilter{SubjectID: subject}) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	for n, err := range tx.AllNodes(ctx, NodeFilter{SubjectID: subject, Types: []string{DecisionType}}) {
		if err != nil {
			return nil, err
		}
		if n.Decision != nil {
			parent[n.ID] = n.Decision.ParentID
		}
	}
	if len(parent) == 0 {
		return ids, nil
	}
	for n, err := range tx.AllNodes(ctx, NodeFilter{Types: []string{DecisionType}}) {
		if err != nil {
			return nil, err
		}
		if n.Decision == nil || n.SubjectID == subject {
			continue
		}
		if _, goes := parent[n.Decision.ParentID]; goes {
			return nil, model.Errorf(model.Conflict, "forget", "decision %q hangs under %q, which is to go, and is not this person's: give it another parent first", n.ID, n.Decision.ParentID)
		}
	}
	slices.SortStableFunc(ids, func(x, y string) int { return depth(parent, y) - depth(parent, x) })
	return ids, nil
}

// depth counts the ancestors among the subject's decisions, each once even in a cycle.
func depth(parent map[string]string, id string) int {
	n := 0
	for p, ok := parent[id]; ok && p != "" && n <= len(parent); p, ok = parent[p] {
		n++
	}
	return n
}
