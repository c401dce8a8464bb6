package hypergraph

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"memdesk/backends/internal/fields"
	"memdesk/model"
)

// The field names of a node's document.
const (
	fieldType       = "type"
	fieldSubtype    = "subtype"
	fieldTier       = "tier"
	fieldConfidence = "confidence"
	fieldProvenance = "provenance"
	fieldMetadata   = "metadata"
	fieldSubject    = "subject"

	fieldDecisionKind       = "decision_kind"
	fieldDecisionStatus     = "decision_status"
	fieldDecisionConfidence = "decision_confidence"
	fieldDecisionParent     = "decision_parent"
	fieldDecisionPrompt     = "decision_prompt"
	fieldDecisionFiles      = "decision_files"
	fieldDecisionBranch     = "decision_branch"
	fieldDecisionCommit     = "decision_commit"

	fieldCreated  = "created_at"
	fieldUpdated  = "updated_at"
	fieldAccesses = "access_count"
	fieldAccessed = "last_accessed"
	fieldVector   = "vector"

	fieldWeight  = "weight"
	fieldMembers = "members"
)

// The lists of the tables of decisions and memberships (recurse.md, Schema).
var (
	DecisionKinds    = []string{"goal", "decision", "option", "action", "outcome", "observation"}
	DecisionStatuses = []string{"active", "completed", "rejected"}
	EdgeRoles        = []string{"subject", "object", "context", "participant"}
)

// nodeMeta writes a node's fields in their fixed order. JSON values are written as stored, so that
// writing back a read document changes no byte.
func (a *adapter) nodeMeta(n Node) []model.Field {
	m := append(make([]model.Field, 0, 12), // without a decision there are no more
		model.Field{Name: fieldType, Value: n.Type},
		model.Field{Name: fieldSubtype, Value: n.Subtype},
		model.Field{Name: fieldTier, Value: n.Tier},
		model.Field{Name: fieldConfidence, Value: formatFloat(n.Confidence)},
		model.Field{Name: fieldProvenance, Value: n.Provenance},
		model.Field{Name: fieldMetadata, Value: n.Metadata},
	)
	if a.caps.HasSubjects {
		m = append(m, model.Field{Name: fieldSubject, Value: n.SubjectID})
	}
	if d := n.Decision; d != nil {
		m = append(m,
			model.Field{Name: fieldDecisionKind, Value: d.Kind},
			model.Field{Name: fieldDecisionStatus, Value: d.Status},
			model.Field{Name: fieldDecisionConfidence, Value: strconv.FormatInt(d.Confidence, 10)},
			model.Field{Name: fieldDecisionParent, Value: d.ParentID},
			model.Field{Name: fieldDecisionPrompt, Value: d.Prompt},
			model.Field{Name: fieldDecisionFiles, Value: d.Files},
			model.Field{Name: fieldDecisionBranch, Value: d.Branch},
			model.Field{Name: fieldDecisionCommit, Value: d.Commit},
		)
	}
	vector := "no"
	if n.HasVector {
		vector = "yes"
	}
	return append(m,
		readOnly(fieldCreated, formatTime(n.CreatedAt)),
		readOnly(fieldUpdated, formatTime(n.UpdatedAt)),
		readOnly(fieldAccesses, strconv.FormatInt(n.AccessCount, 10)),
		readOnly(fieldAccessed, formatTime(n.LastAccessed)),
		readOnly(fieldVector, vector),
	)
}

func readOnly(name, value string) model.Field {
	return model.Field{Name: name, Value: value, ReadOnly: true}
}

func (a *adapter) nodeDocument(n Node) model.Document {
	return model.Document{Meta: a.nodeMeta(n), Body: n.Content}
}

func (a *adapter) nodeRevision(n Node) model.Revision {
	return model.RevisionOf(a.nodeDocument(n))
}

// formatFloat is the shortest text that reads back as the same number.
func formatFloat(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// fieldSet is the wanted fields by name. A looked-up field is known; a field that no code looked up is
// unknown.
type fieldSet struct {
	values map[string]string
	known  map[string]bool
}

// wanted merges the request's fields with the stored ones: on an existing item through model.MergeMeta,
// on a new one over the defaults. A new item ignores the fields that the store itself keeps, so that
// the document of a forgotten item can be retained again as shown.
func wanted(have []model.Field, req model.RetainRequest, creating bool) (fieldSet, error) {
	set := fieldSet{values: map[string]string{}, known: map[string]bool{}}
	if creating {
		kept := map[string]bool{}
		for _, f := range have {
			if f.ReadOnly {
				kept[f.Name] = true
			} else {
				set.values[f.Name] = f.Value
			}
		}
		seen := map[string]bool{}
		for _, f := range req.Meta {
			if seen[f.Name] {
				return set, model.Errorf(model.InvalidInput, "retain", "field %q stands twice", f.Name)
			}
			seen[f.Name] = true
			if !kept[f.Name] {
				set.values[f.Name] = f.Value
			}
		}
		return set, nil
	}
	merged, err := model.MergeMeta("retain", have, fields.Restored(have, req.Meta))
	if err != nil {
		return set, err
	}
	for _, f := range merged {
		if !f.ReadOnly {
			set.values[f.Name] = f.Value
		}
	}
	return set, nil
}

// take looks up a field and marks it as known.
func (s fieldSet) take(name string) (string, bool) {
	s.known[name] = true
	v, ok := s.values[name]
	return v, ok
}

// required is InvalidInput when the field was left out: it always has a value,
// and a default would silently replace the stored one.
func (s fieldSet) required(name string) (string, error) {
	v, ok := s.take(name)
	if !ok {
		return "", model.Errorf(model.InvalidInput, "retain", "field %q is missing: a node or edge always has one", name)
	}
	return v, nil
}

// number is a field's number; a text that is the stored number's keeps it whole.
func (s fieldSet) number(name string, have float64) (float64, error) {
	text, err := s.required(name)
	if err != nil || text == formatFloat(have) {
		return have, err
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, model.Errorf(model.InvalidInput, "retain", "%s %q: give a number", name, text)
	}
	return f, nil
}

func (s fieldSet) unknown() error {
	var names []string
	for name := range s.values {
		if !s.known[name] {
			names = append(names, strconv.Quote(name))
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return model.Errorf(model.InvalidInput, "retain", "the store has no field %s", strings.Join(names, ", "))
}

// applyNode writes the request's fields into n, which holds the stored fields or the defaults of a new node.
// The backend checks the values that change, so that an odd value of another program blocks no edit of the rest.
func (a *adapter) applyNode(n *Node, req model.RetainRequest, creating bool) error {
	have := *n
	set, err := wanted(a.nodeMeta(have), req, creating)
	if err != nil {
		return err
	}
	n.AsStored = req.Restore
	if n.Type, err = set.required(fieldType); err != nil {
		return err
	}
	if n.Type != have.Type && have.Decision != nil && n.Type != DecisionType {
		return model.Errorf(model.InvalidInput, "retain", "the node has a decision record: its type stays %q", have.Type)
	}
	n.Subtype, _ = set.take(fieldSubtype)
	if tier, ok := set.take(fieldTier); ok {
		n.Tier = tier
	}
	if n.Confidence, err = set.number(fieldConfidence, have.Confidence); err != nil {
		return err
	}
	n.Provenance, _ = set.take(fieldProvenance)
	n.Metadata, _ = set.take(fieldMetadata)
	if a.caps.HasSubjects {
		n.SubjectID, _ = set.take(fieldSubject)
	}
	if err := applyDecision(n, have.Decision, creating, set); err != nil {
		return err
	}
	return set.unknown()
}

// applyDecision writes the decision fields, which exist on decision nodes and, since recurse's table takes a row
// of any node, on one that has a row or is put back with it. A store of memdesk's own refuses that.
func applyDecision(n *Node, have *Decision, creating bool, set fieldSet) error {
	if n.Type != DecisionType && have == nil && !creating {
		return nil // a decision field then counts as unknown
	}
	fresh := have == nil
	d := Decision{Kind: "decision", Status: "active"}
	if !fresh {
		d = *have
	}
	given, confidence := false, strconv.FormatInt(d.Confidence, 10)
	for _, f := range []struct {
		name string
		into *string
		must bool
	}{
		{fieldDecisionKind, &d.Kind, true}, {fieldDecisionStatus, &d.Status, true}, {fieldDecisionConfidence, &confidence, true},
		{fieldDecisionParent, &d.ParentID, false}, {fieldDecisionPrompt, &d.Prompt, false}, {fieldDecisionFiles, &d.Files, false},
		{fieldDecisionBranch, &d.Branch, false}, {fieldDecisionCommit, &d.Commit, false},
	} {
		v, ok := set.take(f.name)
		given = given || ok
		switch {
		case ok, !fresh && !f.must:
			*f.into = v
		case !fresh:
			return model.Errorf(model.InvalidInput, "retain", "field %q is missing: the node has a decision record", f.name)
		}
	}
	if !given {
		return nil
	}
	var err error
	if d.Confidence, err = strconv.ParseInt(confidence, 10, 64); err != nil {
		return model.Errorf(model.InvalidInput, "retain", "%s %q: give a whole number from 0 to 100", fieldDecisionConfidence, confidence)
	}
	n.Decision = &d
	return nil
}
