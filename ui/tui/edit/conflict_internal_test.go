package edit

import (
	"context"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/conflict"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/kit/dialog"
)

// sides are the items of a store: their ids are their revisions too, with the number of writes.
type sides struct {
	model.Browser
	at map[string]model.Revision
}

func (s sides) Read(_ context.Context, id string) (model.Item, error) {
	return model.Item{Header: model.Header{ID: id, Revision: s.at[id]}, Body: "the text of " + string(s.at[id]) + "\n"}, nil
}

type strict struct {
	desk.ConflictSource
	at map[string]model.Revision
}

func (s strict) Resolve(_ context.Context, c conflict.Copy, ch conflict.Choice, _ string) (operator.Done, error) {
	if c.CopyRev != s.at[c.ID] || ch.BaseRev != s.at[c.Target] {
		return operator.Done{}, model.Errorf(model.Conflict, "resolve", "a side is not as it was shown")
	}
	return operator.Done{Item: c.Target, Undo: "u"}, nil
}

// TestOverwriteEndsAChangedConflict: the question after a change must be about both sides as they are now, so that its
// answer can be carried out.
func TestOverwriteEndsAChangedConflict(t *testing.T) {
	for _, c := range []struct{ name, copy, changed, says string }{
		{"the copy has changed", "copy", "copy", "has changed the copy"},
		{"the base has changed", "copy", "base", "Somebody else has changed it"},
		{"markers inside one item", "base", "base", "Somebody else has changed it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := map[string]model.Revision{"base": "base 1", "copy": "copy 1"}
			s := model.Store{Name: "a", Browser: sides{at: at}}
			d := desktest.New(backends.Member{Name: "a", Store: s})
			d.Conflicts = strict{at: at}
			_, draft := newDraft(t, "mine\n")
			e := &Edit{What: ResolveItem, Store: s, Label: "base", Kind: model.Opaque, Base: "the text of base 1\n", Draft: draft, Req: model.RetainRequest{ID: "base", IfMatch: at["base"]},
				Second: conflict.Copy{Store: "a", ID: c.copy, Target: "base", BaseID: "base", CopyRev: at[c.copy], BaseRev: at["base"]}, After: func(operator.Done) func() tea.Cmd { return nil }}
			ed := &Edits{D: d}
			at[c.changed] = model.Revision(c.changed + " 2")
			asked := ed.save(t.Context(), e, "mine\n", "").Next
			if asked == nil {
				t.Fatal("a changed side was overwritten")
			}
			if got := asked.Lines[1].Value.String(); !strings.Contains(got, c.says) {
				t.Errorf("it says %q", got)
			}
			if got := asked.Choices[1].Act(t.Context(), dialog.Filled{}); !got.Ok || got.Next != nil {
				t.Errorf("the answer was not carried out: %+v", got)
			}
		})
	}
}
