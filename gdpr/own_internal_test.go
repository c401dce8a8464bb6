package gdpr

import (
	"strings"
	"testing"

	"memdesk/model"
	"memdesk/undo"
)

// TestUndoEntryNamesByItsIndexLine: an index line in an undo entry is text of the subject too.
func TestUndoEntryNamesByItsIndexLine(t *testing.T) {
	names := func(s string) bool { return strings.Contains(s, "Ada") }
	line := func(text string) *model.Beside { return &model.Beside{Lines: []model.BesideLine{{Text: text}}} }
	for text, want := range map[string]bool{"- [about Ada](x.md)\n": true, "- [tides](x.md)\n": false} {
		if got := entryNames(undo.Entry{Item: "x.md", Beside: line(text)}, "tea", names); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
