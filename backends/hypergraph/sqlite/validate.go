package sqlite

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

var (
	decisionKinds    = []string{"goal", "decision", "option", "action", "outcome", "observation"}
	decisionStatuses = []string{"active", "completed", "rejected"}
	roles            = []string{"subject", "object", "context", "participant"}
)

// checkNode is InvalidInput for what the schema's lists refuse, in words an
// operator can act on. old is what is stored, so that an odd value which a live
// writer stored may stay.
func (s *Store) checkNode(op string, n hypergraph.Node, old *hypergraph.Node) error {
	if n.ID == "" {
		return model.Errorf(model.InvalidInput, op, "a node needs an id")
	}
	if old == nil {
		old = &hypergraph.Node{}
	}
	if n.AsStored {
		old = &n
	}
	for _, err := range []error{
		oneOf(op, "type", n.Type, s.vocabulary.NodeTypes),
		oneOf(op, "tier", n.Tier, s.vocabulary.Tiers),
		jsonField(op, "provenance", n.Provenance, old.Provenance, '{'),
		jsonField(op, "metadata", n.Metadata, old.Metadata, '{'),
		plainText(op, "id", n.ID), plainText(op, "subtype", n.Subtype), plainText(op, "subject", n.SubjectID),
	} {
		if err != nil {
			return err
		}
	}
	if math.IsNaN(n.Confidence) || n.Confidence < 0 || n.Confidence > 1 {
		return model.Errorf(model.InvalidInput, op, "confidence %v is not in 0..1", n.Confidence)
	}
	if n.SubjectID != "" && !s.layout.own {
		return model.Errorf(model.Unsupported, op, "a recurse database has no place for a data subject's id")
	}
	if n.Decision == nil {
		return nil
	}
	oldFiles := ""
	if old.Decision != nil {
		oldFiles = old.Decision.Files
	}
	return checkDecision(op, n, oldFiles)
}

func checkDecision(op string, n hypergraph.Node, oldFiles string) error {
	d := n.Decision
	if n.Type != decisionType {
		return model.Errorf(model.InvalidInput, op, "only a node of type decision has a decision, this one is %q", n.Type)
	}
	for _, err := range []error{
		oneOf(op, "decision type", d.Kind, decisionKinds),
		oneOf(op, "decision status", d.Status, decisionStatuses),
		jsonField(op, "files", d.Files, oldFiles, '['),
	} {
		if err != nil {
			return err
		}
	}
	if d.Confidence < 0 || d.Confidence > 100 {
		return model.Errorf(model.InvalidInput, op, "decision confidence %d is not in 0..100", d.Confidence)
	}
	if d.ParentID == n.ID {
		return model.Errorf(model.InvalidInput, op, "a decision cannot be its own parent")
	}
	return nil
}

func (s *Store) checkEdge(op string, e hypergraph.Edge, old *hypergraph.Edge) error {
	if e.ID == "" {
		return model.Errorf(model.InvalidInput, op, "an edge needs an id")
	}
	if old == nil {
		old = &hypergraph.Edge{}
	}
	if e.AsStored {
		old = &e
	}
	if math.IsNaN(e.Weight) || math.IsInf(e.Weight, 0) || e.Weight < 0 {
		return model.Errorf(model.InvalidInput, op, "weight %v is not a number of 0 or more", e.Weight)
	}
	for _, err := range []error{
		oneOf(op, "edge type", e.Type, s.vocabulary.EdgeTypes),
		jsonField(op, "metadata", e.Metadata, old.Metadata, '{'),
		plainText(op, "id", e.ID),
	} {
		if err != nil {
			return err
		}
	}
	type seat struct{ node, role string }
	taken := map[seat]bool{}
	for _, m := range e.Members {
		if err := oneOf(op, "role", m.Role, roles); err != nil {
			return err
		}
		if taken[seat{m.NodeID, m.Role}] {
			return model.Errorf(model.InvalidInput, op, "node %.200q stands twice as %s", m.NodeID, m.Role)
		}
		taken[seat{m.NodeID, m.Role}] = true
	}
	return nil
}

func oneOf(op, what, value string, allowed []string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return model.Errorf(model.InvalidInput, op, "%s %.80q is not one of %s", what, value, strings.Join(allowed, ", "))
}

// jsonField is InvalidInput for a new value that is not JSON of the kind that the
// opening bracket names.
func jsonField(op, what, value, old string, open byte) error {
	if value == "" || value == old {
		return nil
	}
	if trimmed := strings.TrimLeft(value, " \t\r\n"); json.Valid([]byte(value)) && trimmed[0] == open {
		return nil
	}
	kind := "a JSON object"
	if open == '[' {
		kind = "a JSON array"
	}
	return model.Errorf(model.InvalidInput, op, "%s is not %s", what, kind)
}

// plainText refuses what SQLite would store but not give back or order as it was.
func plainText(op, what, value string) error {
	if utf8.ValidString(value) && !strings.ContainsRune(value, 0) {
		return nil
	}
	return model.Errorf(model.InvalidInput, op, "%s is not UTF-8 text", what)
}
