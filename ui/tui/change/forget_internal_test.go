package change

import (
	"context"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/task"
)

// stamped is a store whose headers have a stamp and no revision.
type stamped struct{ model.Browser }

func (stamped) Read(_ context.Context, id string) (model.Item, error) {
	return model.Item{Header: model.Header{ID: id, Stamp: "2", Revision: "r"}, Body: "now"}, nil
}

type quiet struct{ desk.Acts }

func (quiet) Preview(context.Context, string, string) ([]string, error) { return nil, nil }

// host keeps the operator where the question was asked.
type host struct{ dialog.Host }

func (host) Here() int       { return 0 }
func (host) Refusal() string { return "" }

// TestForgetTellsAChangedStamp: a store without revisions tells by the stamp that an item has changed since it was marked.
func TestForgetTellsAChangedStamp(t *testing.T) {
	d := desktest.New(backends.Member{Name: "a", Store: model.Store{Name: "a", Browser: stamped{}}})
	d.Acts = quiet{}
	d.Modal.Host = host{}
	for stamp, want := range map[string]bool{"": false, "1": true, "2": false} {
		reply := Forget(d, model.Ref{Store: "a", ID: "x"}, "", stamp)().(loop.Reply)
		var all []safetext.Text
		for _, l := range reply.Msg.(dialog.Proposal).Dialog.Lines {
			all = append(all, l.Value)
		}
		if got := d.Esc.Join(all, "\n").String(); strings.Contains(got, "has changed") != want {
			t.Errorf("stamp %q: %s", stamp, got)
		}
	}
}

// parent has children: its store refuses to forget it.
type parent struct{ quiet }

func (parent) Forget(context.Context, string, model.ForgetRequest, string) (operator.Done, error) {
	return operator.Done{}, model.Errorf(model.Conflict, "forget", "it has children")
}

// TestForgetSaysWhyAStoreRefuses: an item that is as it was seen has not changed.
func TestForgetSaysWhyAStoreRefuses(t *testing.T) {
	d := desktest.New(backends.Member{Name: "a", Store: model.Store{Name: "a", Browser: stamped{}}})
	d.Acts = parent{}
	for seen, want := range map[model.Revision]string{"r": "it has children", "q": "has changed"} {
		ref := model.Ref{Store: "a", ID: "x"}
		out, _ := DoForget(d, t.Context(), ref, seen, "")
		if one := forgetOne(d, t.Context(), &task.Bulk{Noun: "item"}, Target{Ref: ref, Seen: seen}, ""); !strings.Contains(out.Text.String(), want) || !strings.Contains(one.Why.String(), want) {
			t.Errorf("seen at %q: %q, %q", seen, out.Text, one.Why)
		}
	}
}

// TestForgetManyNamesEveryEnvironment: an item has the words of its row before its place, and items of a demo store must not be said to be in production, nor the other way round.
func TestForgetManyNamesEveryEnvironment(t *testing.T) {
	member := func(name, environment string) backends.Member {
		return backends.Member{Name: name, Store: model.Store{Name: name, Environment: environment}}
	}
	d := desktest.New(member("a", "demo"), member("b", "production"), member("c", ""))
	d.Acts = quiet{}
	q := Question{Verb: "Delete", What: "entry"}
	for _, store := range []string{"a", "b", "c"} {
		q.Items = append(q.Items, Target{Ref: model.Ref{Store: store, ID: "x"}, Name: "notes/" + store + ".md", Title: "- 2026-11-23T07:55:00Z — staging gate passed"})
	}
	m := manyDialog(&task.Underway{D: d}, t.Context(), q)
	if m.Dialog == nil {
		t.Fatal(m.No)
	}
	var all []safetext.Text
	for _, l := range m.Dialog.Lines {
		all = append(all, l.Value)
	}
	got := d.Esc.Join(all, "\n").String()
	for _, want := range []string{"from the stores a, b and c", "The environment: demo. The store: a.", "The environment: PRODUCTION. The store: b.", "- staging gate passed  a.md  notes/"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is absent:\n%s", want, got)
		}
	}
}
