package paint

import (
	"image/color"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// Every colour must be one of a terminal of 256, so that it looks the same over SSH; with 16 the states
// must still differ, and bad ones be red.
func TestColoursOfSimpleTerminals(t *testing.T) {
	for name, p := range map[string]Palette{"dark": PaletteOf(ThemeDark, false), "light": PaletteOf(ThemeLight, true), "colour-blind, dark": PaletteOf(ThemeColourBlind, true), "colour-blind, light": PaletteOf(ThemeColourBlind, false), "contrast": PaletteOf(ThemeHighContrast, true)} {
		for what, c := range map[string]color.Color{"accent": p.Accent, "dim": p.Dim, "good": p.Good, "warn": p.Warn, "bad": p.Bad, "match": p.Match, "escape": p.Escape,
			"selFg": p.SelFg, "selBg": p.SelBg, "barFg": p.BarFg, "barBg": p.BarBg, "alarmFg": p.AlarmFg, "alarmBg": p.AlarmBg, "shade": p.Shade} {
			r, g, b, _ := c.RGBA()
			got := colorprofile.ANSI256.Convert(c)
			if r2, g2, b2, _ := got.RGBA(); r != r2 || g != g2 || b != b2 {
				t.Errorf("%s: %s is %v, and %v with 256 colours", name, what, c, got)
			}
		}
	}
	for name, p := range map[string]Palette{"dark": PaletteOf(ThemeDark, false), "light": PaletteOf(ThemeLight, true)} {
		good, warn, bad := colorprofile.ANSI.Convert(p.Good), colorprofile.ANSI.Convert(p.Warn), colorprofile.ANSI.Convert(p.Bad)
		if good == warn || warn == bad || good == bad {
			t.Errorf("%s: with 16 colours good, warn and bad are %v, %v, %v", name, good, warn, bad)
		}
		if bad != ansi.Red && bad != ansi.BrightRed {
			t.Errorf("%s: with 16 colours bad is %v", name, bad)
		}
		if fg, bg := colorprofile.ANSI.Convert(p.SelFg), colorprofile.ANSI.Convert(p.SelBg); fg == bg {
			t.Errorf("%s: with 16 colours the selection is %v on itself", name, fg)
		}
	}
}
