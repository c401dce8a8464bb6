package pane

import (
	"context"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/kit/text"
)

// A read that ends while the cursor still moves must not start the next one, which waits for its own pause.
func TestReadThatEndsWhileTheCursorMoves(t *testing.T) {
	var open []func(context.Context) any
	r := NewReader(desktest.New(), 1)
	r.ask = func(f func(context.Context) any) tea.Cmd { open = append(open, f); return nil }
	item := func(id string) Reading { return Reading{Ref: model.Ref{Store: "s", ID: id}} }
	r.Open(item("a"), false)
	r.Rest(item("b"))
	r.done(open[0](context.Background()).(readDone))
	if len(open) != 1 {
		t.Fatalf("%d reads, want the first only", len(open))
	}
	r.due(readDue{r.gen})
	if len(open) != 2 {
		t.Fatalf("%d reads after the pause, want two", len(open))
	}
	if got := open[1](context.Background()).(readDone).want.Ref.ID; got != "b" {
		t.Errorf("%s is read, want b", got)
	}
}

// A read that is asked for again while one is under way is made: the answer may be older than a write in between.
func TestReadAgainWhileReading(t *testing.T) {
	r := NewReader(desktest.New(), 1)
	asked := 0
	r.ask = func(func(context.Context) any) tea.Cmd { asked++; return nil }
	a := Reading{Ref: model.Ref{Store: "s", ID: "a"}}
	old := readDone{want: a, text: text.NewPage(nil, "old"), revision: "1"}
	r.Open(a, false)
	r.Open(a, true)
	if r.done(old); asked != 2 || r.Rev == "1" {
		t.Errorf("%d reads, revision %q", asked, r.Rev)
	}
	if r.done(old); asked != 2 || r.Rev != "1" {
		t.Errorf("%d reads, revision %q", asked, r.Rev)
	}
}

// Only one item may be read at a time, and only the wanted one shown.
func TestReaderShowsWhatIsWanted(t *testing.T) {
	d := desktest.New()
	r := NewReader(d, 1)
	asked := 0
	r.ask = func(func(context.Context) any) tea.Cmd {
		asked++
		return nil
	}
	item := func(id string) Reading { return Reading{Ref: model.Ref{Store: "s", ID: id}} }
	r.Open(item("a"), false)
	r.Open(item("b"), false)
	if asked != 1 {
		t.Fatalf("%d reads under way", asked)
	}
	r.done(readDone{want: item("a"), text: text.NewPage([]text.Line{{Value: safetext.Const("a")}}, "")})
	if r.Shown.ID == "a" || asked != 2 {
		t.Errorf("shown %q after %d reads, want nothing and the second read", r.Shown.ID, asked)
	}
	r.done(readDone{want: item("b"), text: text.NewPage([]text.Line{{Value: safetext.Const("b")}}, "")})
	if r.Shown.ID != "b" {
		t.Errorf("shown %q, want b", r.Shown.ID)
	}
}

// empty is a store that is open and has no item.
type empty struct{ model.Browser }

func (empty) Read(context.Context, string) (model.Item, error) {
	return model.Item{}, model.Errorf(model.NotFound, "read", "the item does not exist")
}

// TestOnlyAnItemOfAnOpenStoreIsGone: a store that is not there must not read as an item that somebody removed.
func TestOnlyAnItemOfAnOpenStoreIsGone(t *testing.T) {
	d := desktest.New(backends.Member{Name: "s", Store: model.Store{Browser: empty{}}}, backends.Member{Name: "away", Err: model.Errorf(model.NotFound, "open", "the vault is not there; mount it")})
	for store, want := range map[string]string{"s": "it was forgotten or moved: ", "away": "it cannot be shown: the vault is not there; mount it", "none": `it cannot be shown: no store is named "none"`} {
		page, _ := Read(t.Context(), d, Reading{Ref: model.Ref{Store: store, ID: "x"}})
		if got := page.Head[2].Value.String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", store, got, want)
		}
	}
}
