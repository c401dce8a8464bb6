package change

import (
	"reflect"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/model"
	"memdesk/ui/tui/desk"
)

// TestAChangeIsExported: of a version whose text is gone the change may be all that is left. Its texts must be strings,
// for only in these does a table escape a formula.
func TestAChangeIsExported(t *testing.T) {
	old := "=1+1"
	got := versionDatum(model.Version{ID: "7", Change: &model.Edit{Action: "DELETE", Previous: &old}}).Object()
	for name, want := range map[string]any{"action": "DELETE", "previous": old, "new": nil} {
		if v, ok := got[name]; !ok || !reflect.DeepEqual(v, want) {
			t.Errorf("%s: %#v, want %#v", name, v, want)
		}
	}
	page := versionText(&desk.Desk{Fleet: backends.NewFleet(nil, nil)}, t.Context(), model.Ref{Store: "s", ID: "a"}, model.Version{Change: &model.Edit{Action: "DELETE", Previous: &old}})
	if page.Body != old {
		t.Errorf("its page has %q", page.Body)
	}
	if said := page.Head[len(page.Head)-1].Value.String(); !strings.Contains(said, "the text before it") {
		t.Errorf("nothing says that this is the text before the change: %q", said)
	}
	if _, ok := versionDatum(model.Version{ID: "7"}).Object()["action"]; ok {
		t.Error("a version without a change has an action")
	}
}
