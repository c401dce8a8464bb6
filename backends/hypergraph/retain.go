package hypergraph

import (
	"cmp"
	"context"
	"errors"
	"unicode/utf8"

	"memdesk/backends/internal/verdicts"
	"memdesk/model"
)

// staleVector is the warning of an edit that left semantic recall without a
// vector for the node (recurse.md, Traps).
const staleVector = "semantic recall is stale until re-embedded: the node's vector belonged to the old text and was dropped"

// createAttempts bounds how often a write starts over because another writer created the same item
// between the check and the insert.
const createAttempts = 5

// Retain writes a node or an edge, in one transaction with the check of its revision.
func (a *adapter) Retain(ctx context.Context, req model.RetainRequest) (model.RetainResult, error) {
	if err := a.begin(ctx, "retain", true); err != nil {
		return model.RetainResult{}, err
	}
	target, err := a.checkRetain(req)
	if err != nil {
		return model.RetainResult{}, err
	}
	vector, err := a.embed(ctx, target, req)
	if err != nil {
		return model.RetainResult{}, model.Wrap("retain", err)
	}
	write := func(ctx context.Context, tx Ops, t itemID, req model.RetainRequest) (model.RetainResult, error) {
		return a.retainNode(ctx, tx, t, req, vector)
	}
	if target.edge {
		write = a.retainEdge
	}
	for attempt := 1; ; attempt++ {
		var res model.RetainResult
		err := a.Backend.WithTx(ctx, func(tx Ops) (err error) {
			res, err = write(ctx, tx, target, req)
			return err
		})
		switch {
		case err == nil:
			return res, nil
		case errors.Is(err, model.AlreadyExists) && attempt < createAttempts && ctx.Err() == nil:
			continue // created by another writer: nothing was written, so check again
		}
		return model.RetainResult{}, model.Wrap("retain", err)
	}
}

// checkRetain applies every rule that needs no read of the store, and returns the target.
func (a *adapter) checkRetain(req model.RetainRequest) (itemID, error) {
	if err := cmp.Or(req.Mode.Check(), a.CheckBound("retain", req.WorkspaceID, req.AgentID, req.CrewID)); err != nil {
		return itemID{}, err
	}
	target, err := a.target(req)
	if err != nil {
		return itemID{}, err
	}
	switch {
	case !utf8.ValidString(req.Content):
		return itemID{}, model.Errorf(model.InvalidInput, "retain", "the content is not valid UTF-8 text")
	case req.Content == "" && !target.edge && !req.Restore && req.Beside == nil && (!verdicts.Cleans(req) || req.Meta == nil): // an edge without a label is an ordinary one
		return itemID{}, emptyContent()
	case req.Content == "" && req.Meta == nil && req.Beside == nil:
		return itemID{}, model.Errorf(model.InvalidInput, "retain", "the content is empty")
	case req.DataSubjectID != "" && target.edge:
		return itemID{}, model.Errorf(model.Unsupported, "retain", "an edge carries no data subject key")
	case req.DataSubjectID != "" && !a.caps.HasSubjects:
		return itemID{}, model.Errorf(model.Unsupported, "retain", "this store keeps no data subject keys")
	}
	return target, nil
}

func emptyContent() error {
	return model.Errorf(model.InvalidInput, "retain", "the content is empty: forget the item to remove it")
}

// target resolves ID, or Tier and Key, to an item; those that are set must agree.
func (a *adapter) target(req model.RetainRequest) (itemID, error) {
	if req.ID == "" || req.Tier != "" {
		if err := a.checkTier("retain", req.Tier); err != nil {
			return itemID{}, err
		}
	}
	if req.ID == "" {
		if err := checkKey(req.Key); err != nil {
			return itemID{}, err
		}
		t := itemID{edge: req.Tier == EdgeTier, id: req.Key}
		if t.id == "" {
			t.id = newID()
		}
		return t, nil
	}
	t, err := parseItemID("retain", req.ID)
	switch {
	case err != nil:
		return itemID{}, err
	case req.Key != "" && req.Key != t.id:
		return itemID{}, model.Errorf(model.InvalidInput, "retain", "id %q and key %q name two items", req.ID, req.Key)
	case req.Tier != "" && t.edge != (req.Tier == EdgeTier):
		return itemID{}, model.Errorf(model.InvalidInput, "retain", "id %q is not of tier %q", req.ID, req.Tier)
	}
	return t, nil
}

// found checks the result of reading the target: whether it may be written.
func found(t itemID, req model.RetainRequest, err error, oversize int64, revision model.Revision) (exists bool, _ error) {
	exists = err == nil
	switch {
	case !exists && !errors.Is(err, model.NotFound):
		return false, err
	case oversize > 0:
		return exists, tooLarge("retain", t.String(), oversize)
	}
	return exists, model.CheckMatch("retain", req.IfMatch, exists, revision)
}

func (a *adapter) retainNode(ctx context.Context, tx Ops, t itemID, req model.RetainRequest, vector embedded) (model.RetainResult, error) {
	have, err := tx.GetNode(ctx, t.id)
	exists, err := found(t, req, err, have.Oversize, a.nodeRevision(have))
	if err != nil {
		return model.RetainResult{}, err
	}
	if req.Content == "" && have.Content != "" && !req.Restore && req.Beside == nil { // another program's node may be empty, and stay so
		return model.RetainResult{}, emptyContent()
	}
	var want Node
	if exists {
		want, err = a.editedNode(have, req)
	} else {
		want, err = a.newNode(t.id, req)
	}
	if err := cmp.Or(err, fits(want.Content, want.Provenance, want.Metadata)); err != nil {
		return model.RetainResult{}, err
	}
	if req.Beside != nil {
		want.Forms = req.Beside.Rows
	}
	if err := a.scanner.AdmitDocument(a.nodeDocument(have), a.nodeDocument(want), exists && verdicts.Cleans(req)); err != nil {
		return model.RetainResult{}, err
	}
	if err := checkParent(ctx, tx, have, want); err != nil {
		return model.RetainResult{}, err
	}
	switch {
	case !exists:
		err = tx.CreateNode(ctx, want)
	case a.nodeRevision(want) != a.nodeRevision(have):
		err = tx.UpdateNode(ctx, want)
	}
	if err != nil {
		return model.RetainResult{}, err
	}
	got, err := tx.GetNode(ctx, t.id)
	if err != nil {
		return model.RetainResult{}, err
	}
	res := model.RetainResult{ID: t.String(), Bytes: int64(len(got.Content)), Revision: a.nodeRevision(got)}
	if req.Beside != nil {
		if res.Warnings, err = a.putBeside(ctx, tx, t.id, *req.Beside); err != nil {
			return model.RetainResult{}, err
		}
		if !exists {
			res.Warnings = append(res.Warnings, movedTimes(want, got)...)
		}
	}
	if req.Beside == nil || len(req.Beside.Vector) == 0 {
		warnings, err := a.putVector(ctx, tx, got, have.HasVector && got.Content != have.Content, vector)
		if err != nil {
			return model.RetainResult{}, err
		}
		res.Warnings = append(res.Warnings, warnings...)
	}
	return res, req.Foretell(got.Content, res)
}

func (a *adapter) editedNode(have Node, req model.RetainRequest) (Node, error) {
	if req.Tier != "" && req.Tier != have.Tier {
		return Node{}, model.Errorf(model.InvalidInput, "retain", "node %q is in tier %q, not %q; its field tier moves it", have.ID, have.Tier, req.Tier)
	}
	n := have
	n.Content = req.Content
	if req.Mode == model.Append {
		if !utf8.ValidString(have.Content) {
			return Node{}, model.Errorf(model.InvalidInput, "retain", "the stored content is not UTF-8 text: replace it or remove it, text cannot be appended")
		}
		n.Content = have.Content + req.Content
	}
	if req.Meta != nil {
		if err := a.applyNode(&n, req, false); err != nil {
			return Node{}, err
		}
	}
	return tagged(n, req)
}

func (a *adapter) newNode(id string, req model.RetainRequest) (Node, error) {
	if err := checkNewID(id, req); err != nil {
		return Node{}, err
	}
	n := Node{ID: id, Type: a.Vocabulary.DefaultType, Tier: cmp.Or(req.Tier, a.Vocabulary.DefaultTier), Confidence: 1, Content: req.Content}
	if err := a.applyNode(&n, req, true); err != nil {
		return Node{}, err
	}
	if req.Beside != nil {
		keepTimes(&n, req.Meta)
	}
	if req.Tier != "" && n.Tier != req.Tier {
		return Node{}, model.Errorf(model.InvalidInput, "retain", "tier %q is asked for, but the field tier says %q", req.Tier, n.Tier)
	}
	return tagged(n, req)
}

// tagged sets the subject that the request names. An item of another person would change hands, with text about that person,
// and neither's erasure would be right; the error does not name the other.
func tagged(n Node, req model.RetainRequest) (Node, error) {
	if req.DataSubjectID == "" {
		return n, nil
	}
	if n.SubjectID != "" && n.SubjectID != req.DataSubjectID {
		return Node{}, model.Errorf(model.InvalidInput, "retain", "the item's field subject names another person than the request: write an item of its own")
	}
	n.SubjectID = req.DataSubjectID
	return n, nil
}

// checkParent refuses a new parent that is no decision: the request named it, so it is the request that is wrong.
func checkParent(ctx context.Context, tx Ops, have, want Node) error {
	d := want.Decision
	if d == nil || d.ParentID == "" || have.Decision != nil && have.Decision.ParentID == d.ParentID {
		return nil
	}
	parent, err := tx.GetNode(ctx, d.ParentID)
	if errors.Is(err, model.NotFound) || err == nil && parent.Decision == nil {
		return model.Errorf(model.InvalidInput, "retain", "%s %q: there is no such decision", fieldDecisionParent, d.ParentID)
	}
	return err
}

func (a *adapter) retainEdge(ctx context.Context, tx Ops, t itemID, req model.RetainRequest) (model.RetainResult, error) {
	have, err := tx.GetEdge(ctx, t.id)
	exists, err := found(t, req, err, have.Oversize, edgeRevision(have))
	if err != nil {
		return model.RetainResult{}, err
	}
	var want Edge
	if exists {
		want, err = a.editedEdge(have, req)
	} else {
		want, err = a.newEdge(t.id, req)
	}
	if err := cmp.Or(err, fits(want.Label, want.Metadata)); err != nil {
		return model.RetainResult{}, err
	}
	if req.Beside != nil {
		want.Forms = req.Beside.Rows
	}
	if err := a.scanner.AdmitDocument(edgeDocument(have), edgeDocument(want), exists && verdicts.Cleans(req)); err != nil {
		return model.RetainResult{}, err
	}
	switch {
	case !exists:
		err = tx.CreateEdge(ctx, want)
	case edgeRevision(want) != edgeRevision(have):
		err = tx.UpdateEdge(ctx, want)
	}
	if err != nil {
		return model.RetainResult{}, err
	}
	got, err := tx.GetEdge(ctx, t.id)
	if err != nil {
		return model.RetainResult{}, err
	}
	res := model.RetainResult{ID: t.String(), Bytes: int64(len(got.Label)), Revision: edgeRevision(got)}
	if !exists {
		res.Warnings = movedTimes(Node{CreatedAt: want.CreatedAt}, Node{CreatedAt: got.CreatedAt})
	}
	return res, req.Foretell(got.Label, res)
}

func (a *adapter) editedEdge(have Edge, req model.RetainRequest) (Edge, error) {
	e := have
	e.Label = req.Content
	if req.Mode == model.Append {
		e.Label = have.Label + req.Content
	}
	if req.Meta == nil {
		return e, nil
	}
	return e, a.applyEdge(&e, req, false)
}
