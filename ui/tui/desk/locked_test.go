package desk_test

import (
	"testing"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/desk"
)

// Several stores of one environment are one line.
func TestEnvironmentLineNamesItsStores(t *testing.T) {
	for want, stores := range map[string][]string{
		"The environment: demo.":                            nil,
		"The environment: demo. The store: harbor.":         {"harbor"},
		"The environment: demo. The stores: harbor, notes.": {"harbor", "notes"},
	} {
		if got := desk.EnvironmentLine(safetext.Escaper{}, "demo", stores...); got.Value.String() != want {
			t.Errorf("%q, want %q", got.Value, want)
		}
	}
}
