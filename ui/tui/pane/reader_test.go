package pane

import (
	"context"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/model"
	"memdesk/ui/tui/desk/desktest"
)

// empty is a store that is open and has no item.
type empty struct{ model.Browser }

func (empty) Read(context.Context, string) (model.Item, error) {
	return model.Item{}, model.Errorf(model.NotFound, "read", "the item does not exist")
}

// TestOnlyAnItemOfAnOpenStoreIsGone: a store that is not there must not read as an item that somebody removed.
func TestOnlyAnItemOfAnOpenStoreIsGone(t *testing.T) {
	d := desktest.New(backends.Member{Name: "s", Store: model.Store{Browser: empty{}}}, backends.Member{Name: "away", Err: model.Errorf(model.NotFound, "open", "the vault is not there; mount it")})
	for store, want := range map[string]string{"s": "it was forgotten or moved: ", "away": "it cannot be shown: the vault is not there; mount it", "none": `it cannot be shown: no store is named "none"`} {
		page := Read(t.Context(), d, model.Ref{Store: store, ID: "x"}, nil)
		if got := page.Head[2].Value.String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", store, got, want)
		}
	}
}
