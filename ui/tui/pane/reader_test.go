package pane

import (
	"context"
	"testing"

	tea "charm.land/bubbletea/v2"

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
	r.Done(open[0](context.Background()).(ReadDone))
	if len(open) != 1 {
		t.Fatalf("%d reads, want the first only", len(open))
	}
	r.Due(ReadDue{r.gen})
	if len(open) != 2 {
		t.Fatalf("%d reads after the pause, want two", len(open))
	}
	if got := open[1](context.Background()).(ReadDone).want.Ref.ID; got != "b" {
		t.Errorf("%s is read, want b", got)
	}
}

// A read that is asked for again while one is under way is made: the answer may be older than a write in between.
func TestReadAgainWhileReading(t *testing.T) {
	r := NewReader(desktest.New(), 1)
	asked := 0
	r.ask = func(func(context.Context) any) tea.Cmd { asked++; return nil }
	a := Reading{Ref: model.Ref{Store: "s", ID: "a"}}
	old := ReadDone{want: a, text: text.NewPage(nil, "old"), revision: "1"}
	r.Open(a, false)
	r.Open(a, true)
	if r.Done(old); asked != 2 || r.Rev == "1" {
		t.Errorf("%d reads, revision %q", asked, r.Rev)
	}
	if r.Done(old); asked != 2 || r.Rev != "1" {
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
	r.Done(ReadDone{want: item("a"), text: text.NewPage([]text.Line{{Value: safetext.Const("a")}}, "")})
	if r.Shown.ID == "a" || asked != 2 {
		t.Errorf("shown %q after %d reads, want nothing and the second read", r.Shown.ID, asked)
	}
	r.Done(ReadDone{want: item("b"), text: text.NewPage([]text.Line{{Value: safetext.Const("b")}}, "")})
	if r.Shown.ID != "b" {
		t.Errorf("shown %q, want b", r.Shown.ID)
	}
}
