package record

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"memdesk/internal/clock"
	"memdesk/internal/safetext"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

// The last cell of a row must have the room of the columns that the row lacks. A cell that is too wide must be cut
// as its kind wants it.
func TestCellsOfARow(t *testing.T) {
	p := New(desktest.New(), Kind[string]{Columns: []Column{{Title: "A", Width: 8}, {Title: "B", Width: 4, Right: true}, {Title: "C"}},
		Traits: Traits[string]{Cut: func(raw string, column int, _ safetext.Text, width int) safetext.Text {
			return safetext.Sprintf("%s/%d/%d", safetext.Const(raw), column, width)
		}}})
	for want, cells := range map[string][]safetext.Text{
		" short     2 third        ": {safetext.Const("short"), safetext.Const("2"), safetext.Const("third")},
		" short   all of the rest  ": {safetext.Const("short"), safetext.Const("all of the rest")},
		" raw/0/8   2 third        ": {safetext.Const("too long for it"), safetext.Const("2"), safetext.Const("third")},
		" short   more than the re…": {safetext.Const("short"), safetext.Const("more than the rest holds")},
	} {
		r := Row[string]{Raw: "raw", Cells: cells, Runs: map[int][]paint.Stretch{0: {{End: cells[0].Len(), Look: paint.LookStrong}}}}
		if got := ansi.Strip(p.drawRow(r, false, 26, []int{8, 4, 0})); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		p.Window.Rows = []Row[string]{r}
		p.Fitted()
	}
	if got := p.fit.Width(1, 99); got != 3 {
		t.Errorf("the second column takes %d columns: a cell over several columns must not count", got)
	}
}

// TestAgesGoOn: an age must be true while it is looked at, on the screen and read out, and must sort by its time.
func TestAgesGoOn(t *testing.T) {
	d := desktest.New()
	p := New(d, Kind[string]{Columns: []Column{{Title: "AGE", Width: 5, Right: true, Age: true}, {Title: "TOY"}},
		Fetch: func(context.Context, operator.PageQuery) (out Page[string], _ error) {
			for key, at := range map[string]int64{"old": 0, "young": 240} {
				out.Rows = append(out.Rows, Row[string]{Key: key, At: time.Unix(at, 0), Cells: []safetext.Text{{}, d.Esc.Line(key)}})
			}
			return out, nil
		},
		Detail: func(context.Context, string) *text.Page { return text.NewPage(nil, "") },
	})
	p.sorted = sorting{column: 1}
	runAll(p, p.Resize(120, 20))
	runAll(p, p.Enter())
	d.Time.Clock = clock.Fixed(time.Unix(300, 0))
	for i, want := range []string{" 1m young", " 5m old"} {
		if got := ansi.Strip(p.drawRow(p.Window.Rows[i], false, 12, []int{5, 0})); !strings.Contains(got, want) {
			t.Errorf("row %d: %q, want %q", i, got, want)
		}
	}
	if p.Row().String() != "age 1m, toy young" {
		t.Errorf("read out: %q", p.Row())
	}
}

// Keys of the kind go first; rows of a tree cannot be sorted by a column, which would part them from those above.
func TestKeysOfAKind(t *testing.T) {
	own := act.Act{Keys: []string{"enter", "right"}, Name: "own", Do: func() tea.Cmd { return nil }}
	kind := Kind[string]{Columns: []Column{{Title: "A"}}, Keys: func(*List[string]) []act.Act { return []act.Act{own, {Keys: []string{"/"}, Name: "own"}} }}
	shown := func(tree bool) (out []string) {
		kind.Tree = tree
		for _, b := range New(desktest.New(), kind).Bindings() {
			out = append(out, strings.Join(b.Keys, "+")+" "+b.Name+" "+b.Show)
		}
		return out
	}
	all := shown(false)
	for _, want := range []string{"enter+right own ", "/ own ", "l  l", ">  "} {
		if !slices.Contains(all, want) {
			t.Errorf("no %q in %q", want, all)
		}
	}
	if slices.ContainsFunc(all, func(b string) bool { return strings.Contains(b, " filter ") }) || slices.Contains(shown(true), ">  ") {
		t.Errorf("a key that the kind has taken: %q, or a column of a tree: %q", all, shown(true))
	}
}

// Over a connection the refusal of an export must name only keys that the list has.
func TestNoExportNamesItsKeys(t *testing.T) {
	d := desktest.New()
	d.Remote = true
	for _, field := range []func(string) string{nil, func(s string) string { return s }} {
		p := New(d, Kind[string]{Columns: []Column{{Title: "A"}}, Datum: func(string) desk.Datum { return desk.DatumOf() }, Field: field})
		p.Window.Rows = []Row[string]{{}}
		_, copies := act.Find(p.Bindings(), "y")
		if x, ok := act.Find(p.Bindings(), "x"); !ok || !strings.Contains(x.Why(), "Y copies the row") || strings.Contains(x.Why(), "y copies,") != copies {
			t.Errorf("with y: %v: %q", copies, x.Why())
		}
	}
}

// TestUnknownCellsAskForNoColumn: a column of question marks tells as much as an empty one, and stays away too.
func TestUnknownCellsAskForNoColumn(t *testing.T) {
	kind := Kind[int]{Columns: []Column{{Title: "NAME", Width: 9}, {Title: "ORIGIN", Width: 9}, {Title: "WHAT"}}}
	row := func(who string) Row[int] {
		return Row[int]{Cells: []safetext.Text{safetext.Const("a"), safetext.Const(who), safetext.Const("b")}}
	}
	p := New(desktest.New(), kind)
	see := func(rows ...Row[int]) int {
		p.Window.Rows = rows
		p.Fitted()
		return p.fit.Width(1, 9)
	}
	if see(row(desk.Nobody), row(desk.Nobody)) != 0 || see(row("ada")) == 0 {
		t.Errorf("%v", p.fit)
	}
}
