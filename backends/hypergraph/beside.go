package hypergraph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"memdesk/model"
)

// maxSeats is the most memberships of a node that are kept with it.
const maxSeats = 10_000

// beside reads a node's vector and memberships, and the stored forms of a node's or an edge's row.
func (a *adapter) beside(ctx context.Context, id string) (model.Beside, error) {
	const op = "beside"
	if err := a.begin(ctx, op, false); err != nil {
		return model.Beside{}, err
	}
	t, err := parseItemID(op, id)
	if err != nil {
		return model.Beside{}, err
	}
	var out model.Beside
	if forms, ok := a.Backend.(Forms); ok {
		if out.Rows, err = forms.Forms(ctx, t.id, t.edge); err != nil {
			return model.Beside{}, model.Wrap(op, err)
		}
	}
	if t.edge {
		return out, nil
	}
	if vectors, ok := a.Backend.(Vectors); ok {
		out.Vector, out.VectorModel, err = vectors.Embedding(ctx, t.id)
		if err != nil && !errors.Is(err, model.Unsupported) {
			return model.Beside{}, model.Wrap(op, err)
		}
	}
	edges, _, err := a.Backend.EdgesOf(ctx, t.id, maxSeats)
	if err != nil {
		return model.Beside{}, model.Wrap(op, err)
	}
	for _, e := range edges {
		for _, m := range e.Members {
			if m.NodeID == t.id {
				out.Seats = append(out.Seats, model.Seat{Relation: EdgeItemID(e.ID), Role: m.Role, Position: m.Position})
			}
		}
	}
	return out, nil
}

// keepTimes gives a new node the times and the count of its document. An unreadable value is left to
// the store.
func keepTimes(n *Node, meta []model.Field) {
	for _, f := range meta {
		at, _ := time.Parse(time.RFC3339Nano, f.Value) // zero: the store stamps it
		switch f.Name {
		case fieldCreated:
			n.CreatedAt = at
		case fieldUpdated:
			n.UpdatedAt = at
		case fieldAccessed:
			n.LastAccessed = at
		case fieldAccesses:
			if count, err := strconv.ParseInt(f.Value, 10, 64); err == nil && count > 0 {
				n.AccessCount = count
			}
		}
	}
}

// movedTimes says which times a new item could not keep: the store counts nanoseconds, from the year 1678 to 2261.
func movedTimes(want, got Node) (lost []string) {
	for _, at := range []struct {
		field     string
		want, got time.Time
	}{{fieldCreated, want.CreatedAt, got.CreatedAt}, {fieldUpdated, want.UpdatedAt, got.UpdatedAt}, {fieldAccessed, want.LastAccessed, got.LastAccessed}} {
		if !at.want.IsZero() && !at.got.Equal(at.want) {
			lost = append(lost, "its "+at.field+" "+formatTime(at.want)+" is kept as "+formatTime(at.got))
		}
	}
	return lost
}

// putBeside gives a node that was just written its vector and its memberships, and says in words which
// of them it could not restore.
func (a *adapter) putBeside(ctx context.Context, tx Ops, node string, b model.Beside) (lost []string, err error) {
	if len(b.Vector) > 0 && !hasVector(ctx, tx, node, b) {
		why, err := a.setVector(ctx, tx, node, b.VectorModel, b.Vector)
		if err != nil {
			return nil, err
		}
		if why != "" {
			lost = append(lost, "its vector was not carried: "+why)
		}
		if forms, ok := tx.(Forms); ok {
			if err := forms.PutVectorForms(ctx, node, b.Rows); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range b.Seats {
		t, err := parseItemID("retain", s.Relation)
		if err == nil && t.edge {
			err = tx.AddMembership(ctx, t.id, Membership{NodeID: node, Role: s.Role, Position: s.Position})
		}
		switch {
		case !t.edge, errors.Is(err, model.InvalidInput):
			lost = append(lost, fmt.Sprintf("its place in %q is none that this store has", s.Relation))
		case errors.Is(err, model.NotFound):
			lost = append(lost, fmt.Sprintf("relation %q is gone: the item is no member of it again", s.Relation))
		case err != nil && !errors.Is(err, model.AlreadyExists):
			return nil, err
		}
	}
	return lost, nil
}

// hasVector reports whether the row of a node that was just written has the vector of b already.
func hasVector(ctx context.Context, tx Ops, node string, b model.Beside) bool {
	vectors, ok := tx.(Vectors)
	if !ok {
		return false
	}
	vector, name, err := vectors.Embedding(ctx, node)
	return err == nil && name == b.VectorModel && slices.Equal(vector, b.Vector)
}

// setVector stores a vector; why says why the store cannot hold it.
func (a *adapter) setVector(ctx context.Context, tx Ops, node, modelName string, vector []float32) (why string, err error) {
	switch err := tx.SetEmbedding(ctx, node, modelName, vector); {
	case errors.Is(err, model.Unsupported), errors.Is(err, model.InvalidInput):
		return reason(err), nil
	default:
		return "", err
	}
}

// embedded is the vector of a text that is about to be written. It is computed before the transaction,
// so that no lock waits for another program's answer.
type embedded struct {
	text   string
	vector []float32
	failed string // why there is none, in words
}

// embed computes the vector of the text that a request would leave in a node. It is the zero value
// where nothing is to embed: no embedder, a request that brings a vector, a text that has one, or a
// text that the scanner rejects.
func (a *adapter) embed(ctx context.Context, t itemID, req model.RetainRequest) (embedded, error) {
	if a.Embedder == nil || !a.caps.VectorSearch || t.edge || req.Beside != nil && len(req.Beside.Vector) > 0 {
		return embedded{}, nil
	}
	have, err := a.Backend.GetNode(ctx, t.id)
	if err != nil && !errors.Is(err, model.NotFound) {
		return embedded{}, err
	}
	e := embedded{text: req.Content}
	if req.Mode == model.Append {
		e.text = have.Content + req.Content
	}
	if e.text == "" || len(e.text) > MaxText || have.Oversize > 0 || have.HasVector && e.text == have.Content || a.scanner.Rejects(e.text) {
		return embedded{}, nil
	}
	if e.vector, err = a.Embedder.Embed(ctx, e.text); err != nil {
		if end := model.FromContext(ctx, "retain"); end != nil {
			return embedded{}, end
		}
		e.failed = reason(err)
	}
	return e, nil
}

// embedModel is the name under which the store keeps vectors that it computes itself.
func (a *adapter) embedModel() string {
	if named, ok := a.Embedder.(interface{ Model() string }); ok {
		return named.Model()
	}
	return ""
}

// putVector stores the computed vector if its text is the text that was written, and warns where
// semantic recall lacks the node.
func (a *adapter) putVector(ctx context.Context, tx Ops, got Node, lostOld bool, e embedded) (warnings []string, err error) {
	switch {
	case e.vector != nil && e.text == got.Content:
		why, err := a.setVector(ctx, tx, got.ID, a.embedModel(), e.vector)
		if err != nil || why == "" {
			return nil, err
		}
		return []string{"semantic recall does not find it, its vector was not stored: " + why}, nil
	case e.failed != "":
		return []string{"semantic recall does not find it until it is written again, it could not be embedded: " + e.failed}, nil
	case lostOld:
		return []string{staleVector}, nil
	}
	return nil, nil
}
