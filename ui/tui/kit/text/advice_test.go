package text

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/paint"
)

// TestAdvicePaintsItsKeys: the keys of the format are painted, and backquotes of a store's text are text.
func TestAdvicePaintsItsKeys(t *testing.T) {
	line := Advice(safetext.Escaper{}, "%s. `ctrl+r` asks again, `%s` leaves.", "`x` is\x1b lost", "q")
	if d := cmp.Diff("`x` is^[ lost. ctrl+r asks again, q leaves.", line.Value.String()); d != "" {
		t.Error(d)
	}
	var keys []string
	for _, r := range line.Runs {
		if r.Look != paint.LookCode {
			t.Errorf("look %v", r.Look)
		}
		keys = append(keys, line.Value.String()[r.Start:r.End])
	}
	if d := cmp.Diff([]string{"ctrl+r", "q"}, keys); d != "" {
		t.Error(d)
	}
}
