package conflicts

import (
	"context"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/conflict"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/pane"
	"memdesk/ui/tui/record"
)

// TestTheNextConflictIsForetold: a redundant copy of a base that is replaced holds the text that was displaced, so the
// question must name it; a base that stays makes no conflict.
func TestTheNextConflictIsForetold(t *testing.T) {
	d := desktest.New()
	rs := &resolutions{d: &pane.Bench{Desk: d}, list: record.New(d, record.Kind[conflict.Copy]{})}
	newer, same := conflict.Copy{Store: "notes", ID: "a (2).md", BaseID: "a.md"}, conflict.Copy{Store: "notes", ID: "a copy.md", BaseID: "a.md", Redundant: true}
	other := conflict.Copy{Store: "desk", ID: "a copy.md", BaseID: "a.md", Redundant: true}
	rs.list.Window.Rows = []record.Row[conflict.Copy]{{Raw: newer}, {Raw: same}, {Raw: other}}
	for _, c := range []struct {
		take conflict.Take
		of   conflict.Copy
		want string
	}{
		{conflict.TakeCopy, newer, "a copy.md is byte for byte the base as it is now: it becomes a conflict. D first removes it."},
		{conflict.TakeMerged, newer, "a copy.md is byte for byte the base as it is now: it becomes a conflict. D first removes it."},
		{conflict.TakeBase, newer, ""}, {conflict.TakeBoth, newer, ""}, {conflict.TakeCopy, same, ""},
	} {
		got := ""
		for _, l := range rs.revived([]conflict.Copy{c.of}, c.take) {
			got += l.Value.String()
		}
		if got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.take, c.of.ID, got, c.want)
		}
	}
}

type still struct{ dialog.Host }

func (still) Here() int       { return 0 }
func (still) Refusal() string { return "" }

// TestAQuestionReadsTheRowsFirst: the list changes its rows while a command prepares the question, so that must not read
// them.
func TestAQuestionReadsTheRowsFirst(t *testing.T) {
	d := desktest.New(backends.Member{Name: "notes", Store: model.Store{Name: "notes"}})
	d.Modal.Host = still{}
	rs := &resolutions{d: &pane.Bench{Desk: d}, list: record.New(d, record.Kind[conflict.Copy]{})}
	newer := conflict.Copy{Store: "notes", ID: "a (2).md", BaseID: "a.md"}
	rs.list.Window.Rows = []record.Row[conflict.Copy]{{Raw: newer}, {Raw: conflict.Copy{Store: "notes", ID: "a copy.md", BaseID: "a.md", Redundant: true}}}
	ask := rs.take(newer, conflict.TakeCopy)
	rs.list.Window.Rows = nil
	got := ""
	for _, l := range ask().(loop.Reply).Msg.(dialog.Proposal).Dialog.Lines {
		got += l.Value.String() + "\n"
	}
	if !strings.Contains(got, "it becomes a conflict") {
		t.Errorf("the question says\n%s", got)
	}
}

// paged has one redundant copy on each page.
type paged struct {
	desk.ConflictSource
	next string
}

func (p paged) Conflicts(context.Context, operator.PageQuery) (operator.Page[conflict.Copy], error) {
	return operator.Page[conflict.Copy]{Rows: []conflict.Copy{{Store: "notes", ID: "a copy.md", BaseID: "a.md", Redundant: true}}, Next: p.next}, nil
}

// TestAPageCountsNoOther: redundant copies are counted where the page has all of them.
func TestAPageCountsNoOther(t *testing.T) {
	for next, want := range map[string]string{"": "1 redundant: D removes them", "2": "some are redundant: D removes them"} {
		d := desktest.New(backends.Member{Name: "notes", Store: model.Store{Name: "notes"}})
		d.Conflicts, d.Acts = paged{next: next}, struct{ desk.Acts }{}
		p, _ := New(pane.NewBench(d), 0)
		page, err := p.(*record.List[conflict.Copy]).Kind.Fetch(t.Context(), operator.PageQuery{})
		if got := page.Said.Text.String(); err != nil || got != want {
			t.Errorf("next %q: %q, %v; want %q", next, got, err, want)
		}
	}
}

// TestAnUndoneConflictHasTheCursor: z brings a conflict back, and the next key must be about it. The undo of any other
// act moves no cursor here.
func TestAnUndoneConflictHasTheCursor(t *testing.T) {
	d := pane.NewBench(desktest.New())
	p, _ := New(d, 0)
	rs := resolutions{d: d, list: p.(*record.List[conflict.Copy]), done: map[string]bool{}}
	c := conflict.Copy{Store: "notes", ID: "plan (copy).md"}
	for i, want := range []string{"", key(c.Store, c.ID), ""} {
		if i == 1 {
			rs.resolved(c, nil)()
		}
		rs.list.Pick = ""
		rs.undone(c.Store, c.ID)
		if got := rs.list.Pick; got != want {
			t.Errorf("%d: the cursor goes to %q, want %q", i, got, want)
		}
	}
}
