package postgres

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

// The lists of the schema's CHECK constraints.
var (
	vocabulary       = hypergraph.Recurse()
	decisionKinds    = []string{"goal", "decision", "option", "action", "outcome", "observation"}
	decisionStatuses = []string{"active", "completed", "rejected"}
	roles            = []string{"subject", "object", "context", "participant"}
)

// decisionType is the type of the nodes that may have a row in decisions.
const decisionType = "decision"

// checkNode is InvalidInput for what the schema refuses, in words an operator can
// act on: inside a transaction an error of the server would end it.
func checkNode(op string, n hypergraph.Node) error {
	if n.ID == "" {
		return model.Errorf(model.InvalidInput, op, "a node needs an id")
	}
	for _, err := range []error{
		oneOf(op, "type", n.Type, vocabulary.NodeTypes),
		oneOf(op, "tier", n.Tier, vocabulary.Tiers),
		jsonField(op, "provenance", n.Provenance, '{', n.AsStored),
		jsonField(op, "metadata", n.Metadata, '{', n.AsStored),
		plainText(op, "id", n.ID), plainText(op, "subtype", n.Subtype), plainText(op, "subject", n.SubjectID),
		plainText(op, "content", n.Content),
	} {
		if err != nil {
			return err
		}
	}
	if math.IsNaN(n.Confidence) || n.Confidence < 0 || n.Confidence > 1 {
		return model.Errorf(model.InvalidInput, op, "confidence %v is not in 0..1", n.Confidence)
	}
	if n.Decision == nil {
		return nil
	}
	return checkDecision(op, n)
}

func checkDecision(op string, n hypergraph.Node) error {
	d := n.Decision
	if n.Type != decisionType {
		return model.Errorf(model.InvalidInput, op, "only a node of type decision has a decision, this one is %q", n.Type)
	}
	for _, err := range []error{
		oneOf(op, "decision type", d.Kind, decisionKinds),
		oneOf(op, "decision status", d.Status, decisionStatuses),
		jsonField(op, "files", d.Files, '[', n.AsStored),
		plainText(op, "prompt", d.Prompt), plainText(op, "branch", d.Branch), plainText(op, "commit", d.Commit), plainText(op, "parent", d.ParentID),
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

func checkEdge(op string, e hypergraph.Edge) error {
	if e.ID == "" {
		return model.Errorf(model.InvalidInput, op, "an edge needs an id")
	}
	if math.IsNaN(e.Weight) || math.IsInf(e.Weight, 0) || e.Weight < 0 {
		return model.Errorf(model.InvalidInput, op, "weight %v is not a number of 0 or more", e.Weight)
	}
	for _, err := range []error{
		oneOf(op, "edge type", e.Type, vocabulary.EdgeTypes),
		jsonField(op, "metadata", e.Metadata, '{', e.AsStored),
		plainText(op, "id", e.ID), plainText(op, "label", e.Label),
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

// jsonField is InvalidInput for a value that is not JSON of the kind that the
// opening bracket names.
func jsonField(op, what, value string, open byte, asStored bool) error {
	if value == "" || asStored {
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

// plainText refuses what PostgreSQL does not store.
func plainText(op, what, value string) error {
	switch {
	case !utf8.ValidString(value):
		return model.Errorf(model.InvalidInput, op, "%s is not UTF-8 text", what)
	case strings.ContainsRune(value, 0):
		return model.Errorf(model.InvalidInput, op, "%s holds a NUL character, which PostgreSQL does not store", what)
	}
	return nil
}

// storable reports whether a text can be in the database at all: what is looked
// for under another one is not there.
func storable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// maxVectorDimensions is the published limit (provider-contract.md H12).
const maxVectorDimensions = 16000

func checkVector(op string, v []float32) error {
	if len(v) == 0 || len(v) > maxVectorDimensions {
		return model.Errorf(model.InvalidInput, op, "a vector has 1 to %d dimensions, this one has %d", maxVectorDimensions, len(v))
	}
	zero := true
	for _, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return model.Errorf(model.InvalidInput, op, "the vector holds a value that is no number")
		}
		zero = zero && x == 0
	}
	if zero {
		return model.Errorf(model.InvalidInput, op, "the vector is all zeros: it points nowhere")
	}
	return nil
}

// encodeVector is little-endian float32, as in recurse (recurse.md, Encodings as
// stored).
func encodeVector(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
