package paint

import (
	"image/color"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
)

// The themes. Auto is dark or light, by the terminal's background; the last two exist for both.
const (
	ThemeAuto         = "auto"
	ThemeDark         = "dark"
	ThemeLight        = "light"
	ThemeHighContrast = "high-contrast"
	ThemeColourBlind  = "colour-blind"
)

// Themes are the values of [ui] theme and :theme.
func Themes() []string {
	return []string{ThemeAuto, ThemeDark, ThemeLight, ThemeHighContrast, ThemeColourBlind}
}

// ThemeNamed accepts the American spelling and an empty name, which is auto.
func ThemeNamed(s string) (string, bool) {
	s = strings.Replace(strings.ToLower(strings.TrimSpace(s)), "color-", "colour-", 1)
	if s == "" {
		return ThemeAuto, true
	}
	return s, slices.Contains(Themes(), s)
}

// Palette holds the colours of a theme. The colours of good, warn and bad only repeat a word or a
// sign. Each is one of the 256 that every terminal has: over SSH most terminals do not report more,
// and a colour in between would become the nearest one, red for example a grey. Shade is the text
// behind a box.
type Palette struct {
	Accent, Dim, Good, Warn, Bad, Match, Escape, SelFg, SelBg, BarBg, BarFg, AlarmFg, AlarmBg, Shade color.Color
}

func Hex(s string) color.Color { return lipgloss.Color(s) }

// palettes are the colours of a theme, on a light background and on a dark one. High contrast keeps a contrast
// of seven to one or more (WCAG 2, AAA). Colour blind separates good, warn and bad by blue, yellow and red to
// orange, which differ for the common kinds of colour blindness (after Okabe and Ito, 2008).
var palettes = map[string]map[bool]Palette{
	ThemeAuto: {
		true: {
			Accent: Hex("#87AFD7"), Dim: Hex("#949494"), Good: Hex("#87AF5F"), Warn: Hex("#D7D75F"), Bad: Hex("#FF8787"),
			Match: Hex("#FFFF87"), Escape: Hex("#D787FF"), SelFg: Hex("#FFFFFF"), SelBg: Hex("#005F87"),
			BarBg: Hex("#262626"), BarFg: Hex("#B2B2B2"), AlarmFg: Hex("#FFFFFF"), AlarmBg: Hex("#AF0000"), Shade: Hex("#6C6C6C"),
		},
		false: {
			Accent: Hex("#005F87"), Dim: Hex("#626262"), Good: Hex("#005F00"), Warn: Hex("#5F5F00"), Bad: Hex("#AF0000"),
			Match: Hex("#5F5F00"), Escape: Hex("#870087"), SelFg: Hex("#121212"), SelBg: Hex("#AFD7FF"),
			BarBg: Hex("#E4E4E4"), BarFg: Hex("#444444"), AlarmFg: Hex("#FFFFFF"), AlarmBg: Hex("#AF0000"), Shade: Hex("#8A8A8A"),
		},
	},
	ThemeHighContrast: {
		true: {
			Accent: Hex("#87D7FF"), Dim: Hex("#D0D0D0"), Good: Hex("#87FF87"), Warn: Hex("#FFD75F"), Bad: Hex("#FFAFAF"),
			Match: Hex("#FFD75F"), Escape: Hex("#FFAFFF"), SelFg: Hex("#000000"), SelBg: Hex("#FFFFFF"),
			BarBg: Hex("#000000"), BarFg: Hex("#FFFFFF"), AlarmFg: Hex("#000000"), AlarmBg: Hex("#FFD700"), Shade: Hex("#D0D0D0"),
		},
		false: {
			Accent: Hex("#003A5C"), Dim: Hex("#333333"), Good: Hex("#0B4A0B"), Warn: Hex("#4F3400"), Bad: Hex("#7A0012"),
			Match: Hex("#4F3400"), Escape: Hex("#4B0070"), SelFg: Hex("#FFFFFF"), SelBg: Hex("#000000"),
			BarBg: Hex("#FFFFFF"), BarFg: Hex("#000000"), AlarmFg: Hex("#FFFFFF"), AlarmBg: Hex("#7A0012"), Shade: Hex("#333333"),
		},
	},
	ThemeColourBlind: {
		true: {
			Accent: Hex("#5FAFFF"), Dim: Hex("#949494"), Good: Hex("#5FAFFF"), Warn: Hex("#FFFF5F"), Bad: Hex("#FF8700"),
			Match: Hex("#FFFF5F"), Escape: Hex("#D787AF"), SelFg: Hex("#FFFFFF"), SelBg: Hex("#005F87"),
			BarBg: Hex("#262626"), BarFg: Hex("#BCBCBC"), AlarmFg: Hex("#000000"), AlarmBg: Hex("#FFAF00"), Shade: Hex("#6C6C6C"),
		},
		false: {
			Accent: Hex("#005FAF"), Dim: Hex("#626262"), Good: Hex("#005FAF"), Warn: Hex("#875F00"), Bad: Hex("#87005F"),
			Match: Hex("#875F00"), Escape: Hex("#875F87"), SelFg: Hex("#FFFFFF"), SelBg: Hex("#005FAF"),
			BarBg: Hex("#E4E4E4"), BarFg: Hex("#303030"), AlarmFg: Hex("#000000"), AlarmBg: Hex("#FFAF00"), Shade: Hex("#8A8A8A"),
		},
	},
}

// PaletteOf chooses by theme and by the background of the terminal.
func PaletteOf(theme string, dark bool) Palette {
	if of, ok := palettes[theme]; ok {
		return of[dark]
	}
	return palettes[ThemeAuto][theme == ThemeDark || theme != ThemeLight && dark]
}

// DarkFirst is the background until the terminal answers, if it does: by COLORFGBG, else dark.
func DarkFirst(env map[string]string) bool {
	v := env["COLORFGBG"]
	bg := v[strings.LastIndex(v, ";")+1:]
	return bg != "7" && bg != "15"
}
