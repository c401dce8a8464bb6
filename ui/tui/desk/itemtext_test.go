package desk

import (
	"slices"
	"testing"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/origin"
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

// TestLinksReadFromTheItem: first comes what the item is in a link, then the others.
func TestLinksReadFromTheItem(t *testing.T) {
	lines := linkLines(safetext.Escaper{}, model.Item{Links: []model.Link{
		{Kind: "blocks", Role: "blocked by", Other: []string{"yard-1.2"}}, {Kind: "parent-child", Role: "blocks", Other: []string{"yard-2"}},
		{Kind: "relation", Role: "subject", Label: "is about", Other: []string{"entity-3"}}, {Kind: "uses", Other: []string{"a", "b"}}, {Other: []string{"c"}},
	}})
	want := []string{"blocked by: yard-1.2", "blocks: yard-2 (parent-child)", "subject: is about: entity-3 (relation)", "uses: a, b", "link: c"}
	var got []string
	for _, l := range lines[2:] {
		got = append(got, l.Name.String()+": "+l.Value.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestWriterCell: a narrow column names the writer, without the words before the name.
func TestWriterCell(t *testing.T) {
	for actor, want := range map[string]string{"agent dara": "dara", "unauthenticated root@pts/16": "root@pts/16", "ana": "ana", "": Nobody} {
		if got := WriterCell(safetext.Escaper{}, origin.Row{Writer: origin.Writer{Actor: actor}}).String(); got != want {
			t.Errorf("%q is %q, want %q", actor, got, want)
		}
	}
}
