package tui

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/ui/tui/kit/paint"
)

func TestThemesOfTheConfiguration(t *testing.T) {
	if !slices.Equal(backends.Themes, paint.Themes()) {
		t.Errorf("the configuration takes %v, the console has %v", backends.Themes, paint.Themes())
	}
	for in, want := range map[string]string{"": paint.ThemeAuto, "Color-Blind": paint.ThemeColourBlind, "light": paint.ThemeLight} {
		if got, ok := paint.ThemeNamed(in); got != want || !ok {
			t.Errorf("%q is %q, %v", in, got, ok)
		}
	}
	if _, ok := paint.ThemeNamed("pink"); ok {
		t.Error("pink is a theme")
	}
}

// linearRGB is a colour without the gamma of sRGB.
func linearRGB(c color.Color) [3]float64 {
	r, g, b, _ := c.RGBA()
	var out [3]float64
	for i, v := range []uint32{r, g, b} {
		x := float64(v) / 0xffff
		if x <= 0.04045 {
			out[i] = x / 12.92
		} else {
			out[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return out
}

// contrast is the ratio of WCAG 2.
func contrast(a, b color.Color) float64 {
	l := func(c color.Color) float64 {
		v := linearRGB(c)
		return 0.2126*v[0] + 0.7152*v[1] + 0.0722*v[2] + 0.05
	}
	return max(l(a), l(b)) / min(l(a), l(b))
}

// Text must be readable in every theme: 4.5 to one (AA), 7 to one in high contrast.
func TestContrast(t *testing.T) {
	for _, theme := range paint.Themes() {
		for _, dark := range []bool{true, false} {
			background := paint.Hex("#FFFFFF")
			if dark && theme != paint.ThemeLight || theme == paint.ThemeDark {
				background = paint.Hex("#1E1E1E")
			}
			least := 4.5
			if theme == paint.ThemeHighContrast {
				least = 7
			}
			p := paint.PaletteOf(theme, dark)
			for name, pair := range map[string][2]color.Color{
				"accent": {p.Accent, background}, "dim": {p.Dim, background}, "good": {p.Good, background}, "warn": {p.Warn, background},
				"bad": {p.Bad, background}, "match": {p.Match, background}, "escape": {p.Escape, background},
				"selected": {p.SelFg, p.SelBg}, "bar": {p.BarFg, p.BarBg}, "alarm": {p.AlarmFg, p.AlarmBg},
			} {
				if got := contrast(pair[0], pair[1]); got < least {
					t.Errorf("%s, dark %v: %s has a contrast of %.1f, less than %.1f", theme, dark, name, got, least)
				}
			}
		}
	}
}

// dichromat is a colour as seen without the green or the red cones (Viénot, Brettel and Mollon 1999, in
// linear RGB).
func dichromat(c color.Color, kind string) [3]float64 {
	v := linearRGB(c)
	m := map[string][3][3]float64{
		"protan": {{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
		"deutan": {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}},
	}[kind]
	var out [3]float64
	for i := range out {
		out[i] = m[i][0]*v[0] + m[i][1]*v[1] + m[i][2]*v[2]
		out[i] = math.Pow(min(max(out[i], 0), 1), 1/2.2)
	}
	return out
}

func TestColourBlindTheme(t *testing.T) {
	distance := func(p paint.Palette, kind string) float64 {
		least := math.Inf(1)
		for _, pair := range [][2]color.Color{{p.Good, p.Warn}, {p.Good, p.Bad}, {p.Warn, p.Bad}} {
			a, b := dichromat(pair[0], kind), dichromat(pair[1], kind)
			least = min(least, math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2]))
		}
		return least
	}
	for _, dark := range []bool{true, false} {
		for _, kind := range []string{"protan", "deutan"} {
			if got := distance(paint.PaletteOf(paint.ThemeColourBlind, dark), kind); got < 0.2 {
				t.Errorf("dark %v, %s: states are %.2f apart", dark, kind, got)
			}
		}
	}
}

// No state may be shown by colour alone. The goldens of plain mode show that every tone also has a word
// or sign; this test shows that no theme styles two states alike.
func TestStatesDiffer(t *testing.T) {
	for _, theme := range paint.Themes() {
		s := paint.New(paint.Looks{Colour: true, Theme: theme}, true)
		seen := map[string]string{}
		for name, p := range map[string]paint.Paint{"good": s.Good, "warn": s.Warn, "bad": s.Bad, "selected": s.Selected, "alarm": s.Alarm} {
			if other, twice := seen[p.On]; twice {
				t.Errorf("%s: %s and %s look alike", theme, name, other)
			}
			seen[p.On] = name
		}
	}
}

func TestBackgroundBeforeTheTerminalAnswers(t *testing.T) {
	for v, want := range map[string]bool{"": true, "15;0": true, "0;15": false, "0;default;7": false, "nonsense": true} {
		if got := paint.DarkFirst(map[string]string{"COLORFGBG": v}); got != want {
			t.Errorf("COLORFGBG=%q: dark %v", v, got)
		}
	}
}

// Production must stand out in letters and, where there is colour, in colour.
func TestProductionIsLoud(t *testing.T) {
	for _, tt := range []struct {
		environment string
		loud        bool
	}{{"Production", true}, {"staging", false}, {"", false}} {
		for _, colour := range []bool{true, false} {
			a := New(Options{Fleet: backends.NewFleet([]backends.Member{{Name: "s", Kind: "k", Environment: tt.environment}}, nil), NoColor: !colour})
			a.width, a.height = 100, 30
			v := a.View().Content
			if got := strings.Contains(v, "PRODUCTION"); got != tt.loud {
				t.Errorf("%q: worded %v", tt.environment, got)
			}
			if got := strings.Count(v, a.D.St.Alarm.On) > 1; got != tt.loud {
				t.Errorf("%q, colour %v: painted %v", tt.environment, colour, fmt.Sprint(got))
			}
		}
	}
}
