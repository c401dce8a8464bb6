package change

import (
	"context"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/loop"
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
		reply := (&Removals{D: d}).Forget(model.Ref{Store: "a", ID: "x"}, "", stamp)().(loop.Reply)
		var all []safetext.Text
		for _, l := range reply.Msg.(dialog.Proposal).Dialog.Lines {
			all = append(all, l.Value)
		}
		if got := d.Esc.Join(all, "\n").String(); strings.Contains(got, "has changed") != want {
			t.Errorf("stamp %q: %s", stamp, got)
		}
	}
}
