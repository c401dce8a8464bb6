package desk_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/kit/dialog"
)

type still struct{ dialog.Host }

func (still) Hush() {}

// TestAnIncompleteExportSaysSo: the file stands, and the result must warn of what is not in it.
func TestAnIncompleteExportSaysSo(t *testing.T) {
	for _, missing := range []string{"", "not looked at: line 9"} {
		d := desktest.New()
		d.Modal.Host = still{}
		d.Exports.ExportTable("toys", func(_ context.Context, write func(desk.Datum) error) (out []safetext.Text, err error) {
			if missing != "" {
				out = []safetext.Text{d.Esc.Line(missing)}
			}
			return out, write(desk.DatumOf("toy", "bear"))
		})
		path := filepath.Join(t.TempDir(), "toys.csv")
		got := d.Modal.Dialog.Choices[0].Act(t.Context(), dialog.Filled{Fields: []string{path}})
		if got.Next != nil || got.Ok != (missing == "") || !strings.HasPrefix(got.Text.String(), "wrote 1 row to ") || !strings.HasSuffix(got.Text.String(), missing) {
			t.Errorf("missing %q: ok %v, %q", missing, got.Ok, got.Text)
		}
	}
}
