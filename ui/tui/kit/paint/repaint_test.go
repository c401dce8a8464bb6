package paint

import (
	"reflect"
	"sync"
	"testing"

	"memdesk/internal/safetext"
)

// TestRepaintLeavesTheSigns: commands draw with the signs while the update loop takes over another theme, so a theme
// must not write them, not even anew. The race detector sees what the fields do not tell.
func TestRepaintLeavesTheSigns(t *testing.T) {
	looks := Looks{Colour: true, Theme: ThemeAuto}
	st := New(looks, true)
	signs, dim := reflect.ValueOf(st.Glyphs.Fold).Pointer(), st.Dim
	var commands sync.WaitGroup
	commands.Go(func() {
		for range 100 {
			_ = st.Badge(ToneBad, safetext.Const("down"))
			_, _ = st.Gauge(50)
			_ = st.Width(safetext.Const("東京"))
		}
	})
	looks.Theme = ThemeHighContrast
	for range 100 {
		st.Repaint(looks, false)
	}
	commands.Wait()
	if st.Dim == dim {
		t.Error("the theme is not taken over")
	}
	if reflect.ValueOf(st.Glyphs.Fold).Pointer() != signs {
		t.Error("the theme writes the signs anew")
	}
}
