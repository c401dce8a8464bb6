package desk

import (
	"testing"

	"memdesk/internal/safetext"
	"memdesk/model"
)

// TestEmptyFields: fields without a value are named in one line, behind those with one.
func TestEmptyFields(t *testing.T) {
	lines := MetaLines(safetext.Escaper{}, model.Item{Meta: []model.Field{{Name: "owner"}, {Name: "type", Value: "epic"}, {Name: "parent"}}})
	var got []string
	for _, l := range lines[2:] {
		got = append(got, l.Name.String()+" "+l.Value.String())
	}
	if len(got) != 2 || got[0] != "type epic" || got[1] != " empty: owner, parent" {
		t.Errorf("%q", got)
	}
}
