package desk

import (
	"slices"
	"strings"
	"testing"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/ui/tui/kit/text"
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

// TestAnItemBeginsWithItsText: above it stand its title and state alone, below it the rest, and nothing twice.
func TestAnItemBeginsWithItsText(t *testing.T) {
	d := testDesk()
	s := model.Store{Name: "work", Tiers: []model.TierSpec{{Name: "open", Cap: 4000, CapUnit: model.CapBytes}}}
	page := ItemText(d, s, model.Item{Header: model.Header{ID: "yard-1", Title: "Ovens", Tier: "open", Bytes: 8}, Body: "Waits.\n", Links: []model.Link{{Role: "blocks", Other: []string{"yard-2"}}},
		Meta: []model.Field{{Name: "title", Value: "Ovens"}, {Name: "status", Value: "open"}, {Name: "was", Value: "open"}}})
	lines := func(all []text.Line) (out string) {
		for _, l := range all {
			out += l.Name.String() + ": " + l.Value.String() + "\n"
		}
		return out
	}
	if got := lines(page.Head); got != ": Ovens\n: open, 8 B of 4.0 KB\n: \n" {
		t.Errorf("above the text: %q", got)
	}
	got := lines(page.Foot)
	for _, want := range []string{"blocks: yard-2\n", "reference: work:yard-1\n", "was: open\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q below the text:\n%s", want, got)
		}
	}
	if strings.Contains(got, "title: ") || strings.Contains(got, "status: ") || strings.Contains(got, "size: ") {
		t.Errorf("below the text a second time:\n%s", got)
	}
	s.Tiers[0].CapUnit = model.CapChars
	for bytes, want := range map[int64]string{8: "size: 8 B, cap 4,000 characters\n", 4608: "size: 4.6 KB (4,608 bytes), cap 4,000 characters\n"} {
		if got := lines(ItemText(d, s, model.Item{Header: model.Header{ID: "a", Tier: "open", Bytes: bytes}}).Foot); !strings.Contains(got, want) {
			t.Errorf("no %q below the text:\n%s", want, got)
		}
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
