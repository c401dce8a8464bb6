package sqlgraph

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/vectors"
	"memdesk/model"
)

// Rules are a schema's own limits, beside the lists that all schemas share.
type Rules struct {
	Vocabulary hypergraph.Vocabulary
	// PlainText: no text holds a NUL or a byte that is not UTF-8, contents and labels
	// included.
	PlainText  bool
	Subjects   bool // a node may name its subject; false in a recurse file, where a decision's status and a member's role may be NULL
	Dimensions int  // of a vector, at most
	// NoVectors says why no vector is stored; empty where vectors are stored.
	NoVectors string
}

// Node is InvalidInput for a value that the schema's lists refuse, in words an operator can act on: a
// database error would end the transaction. old is the stored value, nil for a new node: an odd value
// that a live writer stored may stay.
func (r Rules) Node(op string, n hypergraph.Node, old *hypergraph.Node) error {
	if n.ID == "" {
		return model.Errorf(model.InvalidInput, op, "a node needs an id")
	}
	stored := old != nil
	if old == nil {
		old = &hypergraph.Node{}
	}
	lists := cmp.Or(
		listed(op, "type", n.Type, old.Type, stored, r.Vocabulary.NodeTypes),
		listed(op, "tier", n.Tier, old.Tier, stored, r.Vocabulary.Tiers),
	)
	was, plain := old.Decision, r.plain(n.AsStored)
	if n.AsStored {
		old = &n
	}
	if err := cmp.Or(
		lists,
		r.jsonField(op, "provenance", n.Provenance, old.Provenance, '{'),
		r.jsonField(op, "metadata", n.Metadata, old.Metadata, '{'),
		plain(op, "id", n.ID), plain(op, "subtype", n.Subtype), plain(op, "subject", n.SubjectID),
		r.text(op, "content", n.Content),
	); err != nil {
		return err
	}
	switch {
	case math.IsNaN(n.Confidence) || n.Confidence < 0 || n.Confidence > 1:
		return model.Errorf(model.InvalidInput, op, "confidence %v: give a number from 0 to 1", n.Confidence)
	case n.SubjectID != "" && !r.Subjects:
		return model.Errorf(model.Unsupported, op, "a recurse database has no place for a data subject's id")
	case n.Decision == nil:
		return nil
	}
	return r.decision(op, n, was)
}

func (r Rules) decision(op string, n hypergraph.Node, old *hypergraph.Decision) error {
	d, stored := n.Decision, old != nil
	if old == nil {
		old = &hypergraph.Decision{}
	}
	files := old.Files
	if n.AsStored {
		files = d.Files
	}
	if n.Type != hypergraph.DecisionType && r.Subjects { // recurse's table takes a row of any node
		return model.Errorf(model.InvalidInput, op, "only a node of type decision has a decision, this one is %q", n.Type)
	}
	if err := cmp.Or(
		listed(op, "decision_kind", d.Kind, old.Kind, stored, hypergraph.DecisionKinds),
		listed(op, "decision_status", d.Status, old.Status, stored || n.AsStored && !r.Subjects, hypergraph.DecisionStatuses),
		r.jsonField(op, "decision_files", d.Files, files, '['),
		r.text(op, "decision_prompt", d.Prompt), r.text(op, "decision_branch", d.Branch), r.text(op, "decision_commit", d.Commit), r.text(op, "decision_parent", d.ParentID),
	); err != nil {
		return err
	}
	if d.Confidence < 0 || d.Confidence > 100 {
		return model.Errorf(model.InvalidInput, op, "decision_confidence %d: give a whole number from 0 to 100", d.Confidence)
	}
	if d.ParentID == n.ID {
		return model.Errorf(model.InvalidInput, op, "a decision cannot be its own parent")
	}
	return nil
}

// Edge checks an edge with its members as Node does.
func (r Rules) Edge(op string, e hypergraph.Edge, old *hypergraph.Edge) error {
	if e.ID == "" {
		return model.Errorf(model.InvalidInput, op, "an edge needs an id")
	}
	stored := old != nil
	if old == nil {
		old = &hypergraph.Edge{}
	}
	types, plain := listed(op, "type", e.Type, old.Type, stored, r.Vocabulary.EdgeTypes), r.plain(e.AsStored)
	if e.AsStored {
		old = &e
	}
	if math.IsNaN(e.Weight) || math.IsInf(e.Weight, 0) || e.Weight < 0 {
		return model.Errorf(model.InvalidInput, op, "weight %v: give a number from 0", e.Weight)
	}
	if err := cmp.Or(
		types,
		r.jsonField(op, "metadata", e.Metadata, old.Metadata, '{'),
		plain(op, "id", e.ID), r.text(op, "label", e.Label),
	); err != nil {
		return err
	}
	type seat struct{ node, role string }
	taken := map[seat]bool{}
	for _, m := range e.Members {
		if err := r.role(op, m.Role, e.AsStored); err != nil {
			return err
		}
		if taken[seat{m.NodeID, m.Role}] {
			return model.Errorf(model.InvalidInput, op, "node %.200q stands twice as %s", m.NodeID, m.Role)
		}
		taken[seat{m.NodeID, m.Role}] = true
	}
	return nil
}

// role checks a member's role; asStored: it comes from a store.
func (r Rules) role(op, role string, asStored bool) error {
	return listed(op, "role", role, "", asStored && !r.Subjects, hypergraph.EdgeRoles)
}

// Vector is InvalidInput for a vector that cannot be compared.
func (r Rules) Vector(op string, v []float32) error {
	if len(v) == 0 || len(v) > r.Dimensions {
		return model.Errorf(model.InvalidInput, op, "a vector has 1 to %d dimensions, this one has %d", r.Dimensions, len(v))
	}
	for _, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return model.Errorf(model.InvalidInput, op, "the vector holds a value that is no number")
		}
	}
	if vectors.Length(v) == 0 {
		return model.Errorf(model.InvalidInput, op, "the vector is all zeros: it points nowhere")
	}
	return nil
}

// listed is oneOf for a value that may stay as it was where it is stored already.
func listed(op, what, value, was string, stored bool, allowed []string) error {
	if stored && value == was {
		return nil
	}
	return oneOf(op, what, value, allowed)
}

func oneOf(op, what, value string, allowed []string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return model.Errorf(model.InvalidInput, op, "%s %.80q: give one of %s", what, value, strings.Join(allowed, ", "))
}

// jsonField is InvalidInput for a new value that is not JSON of the kind that begins with open.
func (r Rules) jsonField(op, what, value, old string, open byte) error {
	if err := r.text(op, what, value); err != nil {
		return err
	}
	if value == "" || value == old {
		return nil
	}
	kind, valid := "a JSON object", json.Valid([]byte(value))
	if open == '[' {
		kind, valid = "a JSON array of strings", json.Unmarshal([]byte(value), &[]string{}) == nil
	}
	if valid && strings.TrimLeft(value, " \t\r\n")[0] == open {
		return nil
	}
	return model.Errorf(model.InvalidInput, op, "%s is not %s", what, kind)
}

// plain is PlainText, but for what a recurse file has stored: its program writes any bytes, and they come back.
func (r Rules) plain(asStored bool) func(op, what, value string) error {
	if asStored && !r.Subjects {
		return r.text
	}
	return PlainText
}

func (r Rules) text(op, what, value string) error {
	if !r.PlainText {
		return nil
	}
	return PlainText(op, what, value)
}

// PlainText is InvalidInput for a text that a database would refuse, return changed or order differently.
func PlainText(op, what, value string) error {
	switch {
	case !utf8.ValidString(value):
		return model.Errorf(model.InvalidInput, op, "%s is not UTF-8 text", what)
	case strings.ContainsRune(value, 0):
		return model.Errorf(model.InvalidInput, op, "%s holds a NUL character, which is not stored", what)
	}
	return nil
}

// Storable reports whether a text can be in a database at all: nothing is stored under any other.
func Storable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
