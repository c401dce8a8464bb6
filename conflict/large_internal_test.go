package conflict

import (
	"testing"

	"memdesk/model"
)

type unread struct{ model.Browser }

// TestALargeStoreIsNotOpened: the note that says so names the limit as people write it.
func TestALargeStoreIsNotOpened(t *testing.T) {
	var said string
	l := &list{ctx: t.Context(), s: model.Store{Browser: unread{}}, n: 100_000, opt: Options{Note: func(s string, _ bool) { said = s }}}
	if done, err := l.marked(nil); !done || err != nil {
		t.Fatal(done, err)
	}
	if want := "merge markers inside items were not looked for: the store has more than 10,000 items, and each must be opened"; said != want {
		t.Errorf("%q", said)
	}
}
