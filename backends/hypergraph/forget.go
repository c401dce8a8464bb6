package hypergraph

import (
	"cmp"
	"context"
	"errors"

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
	err := a.Backend.WithTx(ctx, func(tx Ops) (err error) {
		removed = 0
		var ids []string
		for id, err := range tx.NodeIDs(ctx, NodeFilter{SubjectID: subject}) {
			if err != nil {
				return err
			}
			ids = append(ids, id)
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
