package hypergraph

import (
	"encoding/json"
	"slices"
	"strings"

	"memdesk/internal/exactjson"
	"memdesk/model"
)

// member is a membership in the document of an edge.
type member struct {
	Node     string `json:"node"`
	Role     string `json:"role"`
	Position int64  `json:"position"`
}

func formatMembers(ms []Membership) string {
	out := make([]member, len(ms))
	for i, m := range ms {
		out[i] = member{Node: m.NodeID, Role: m.Role, Position: m.Position}
	}
	text := func(v any) string {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(v) // strings and numbers always encode
		return strings.TrimSuffix(b.String(), "\n")
	}
	if s := text(out); !strings.Contains(s, `\ufffd`) { // the encoder writes it only for a byte that is no UTF-8
		return s
	}
	return text(exactjson.Form(out))
}

func edgeMeta(e Edge) []model.Field {
	return []model.Field{
		{Name: fieldType, Value: e.Type},
		{Name: fieldWeight, Value: formatFloat(e.Weight)},
		{Name: fieldMetadata, Value: e.Metadata},
		readOnly(fieldMembers, formatMembers(e.Members)),
		readOnly(fieldCreated, formatTime(e.CreatedAt)),
	}
}

func edgeDocument(e Edge) model.Document {
	return model.Document{Meta: edgeMeta(e), Body: e.Label}
}

func edgeRevision(e Edge) model.Revision { return model.RevisionOf(edgeDocument(e)) }

// applyEdge does for an edge what applyNode does for a node.
func (a *adapter) applyEdge(e *Edge, req model.RetainRequest, creating bool) error {
	have := *e
	set, err := wanted(edgeMeta(have), req, creating)
	if err != nil {
		return err
	}
	e.AsStored = req.Restore
	if e.Type, err = set.required(fieldType); err != nil {
		return err
	}
	if e.Weight, err = set.number(fieldWeight, have.Weight); err != nil {
		return err
	}
	e.Metadata, _ = set.take(fieldMetadata)
	return set.unknown()
}

// newEdge is the edge that a document describes when none is stored: the writer then chooses its members.
func (a *adapter) newEdge(id string, req model.RetainRequest) (Edge, error) {
	if err := checkNewID(id, req); err != nil {
		return Edge{}, err
	}
	i := slices.IndexFunc(req.Meta, func(f model.Field) bool { return f.Name == fieldMembers })
	if i < 0 {
		return Edge{}, model.Errorf(model.InvalidInput, "retain", "a new edge needs the field %s: a JSON array of {\"node\",\"role\",\"position\"}, two at least", fieldMembers)
	}
	members, err := parseMembers(req.Meta[i].Value, req.Restore)
	if err != nil {
		return Edge{}, err
	}
	e := Edge{ID: id, Type: a.Vocabulary.EdgeTypes[0], Weight: 1, Label: req.Content, Members: members}
	if err := a.applyEdge(&e, req, true); err != nil {
		return Edge{}, err
	}
	if req.Beside != nil {
		var at Node
		keepTimes(&at, req.Meta)
		e.CreatedAt = at.CreatedAt
	}
	return e, nil
}

// parseMembers reads the field of members. restore: they come from a store, where a deletion by another
// program may have left one or none, and a role may be missing.
func parseMembers(text string, restore bool) ([]Membership, error) {
	var in []member
	if err := exactjson.Unmarshal([]byte(text), &in); err != nil {
		return nil, model.Errorf(model.InvalidInput, "retain", "%s: give a JSON array of {\"node\",\"role\",\"position\"}", fieldMembers)
	}
	nodes := map[string]bool{}
	out := make([]Membership, len(in))
	for i, m := range in {
		nodes[m.Node] = true
		out[i] = Membership{NodeID: m.Node, Role: m.Role, Position: m.Position}
	}
	if len(nodes) < 2 && !restore {
		return nil, model.Errorf(model.InvalidInput, "retain", "%s: an edge ties two nodes at least", fieldMembers)
	}
	return out, nil
}
