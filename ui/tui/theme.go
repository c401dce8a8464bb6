package tui

import (
	"image/color"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
)

// The themes. Auto is dark or light, as the terminal says; high contrast and
// colour blind exist for both and take the background from it too.
const (
	ThemeAuto         = "auto"
	ThemeDark         = "dark"
	ThemeLight        = "light"
	ThemeHighContrast = "high-contrast"
	ThemeColourBlind  = "colour-blind"
)

// Themes lists what [ui] theme and :theme take.
func Themes() []string {
	return []string{ThemeAuto, ThemeDark, ThemeLight, ThemeHighContrast, ThemeColourBlind}
}

// themeNamed accepts the American spelling and an empty name, which is auto.
func themeNamed(s string) (string, bool) {
	s = strings.Replace(strings.ToLower(strings.TrimSpace(s)), "color-", "colour-", 1)
	if s == "" {
		return ThemeAuto, true
	}
	return s, slices.Contains(Themes(), s)
}

// palette holds what differs between themes. The colours of good, warn and bad
// only repeat what a word or a sign says.
type palette struct {
	accent, dim, good, warn, bad, match, escape, selFg, selBg, barBg, barFg, alarmFg, alarmBg color.Color
}

// paletteOf chooses by theme and by the background of the terminal.
func paletteOf(theme string, dark bool) palette {
	switch theme {
	case ThemeDark:
		return darkPalette()
	case ThemeLight:
		return lightPalette()
	case ThemeHighContrast:
		return contrastPalette(dark)
	case ThemeColourBlind:
		return safePalette(dark)
	}
	if dark {
		return darkPalette()
	}
	return lightPalette()
}

func hex(s string) color.Color { return lipgloss.Color(s) }

func darkPalette() palette {
	return palette{
		accent: hex("#7FB4CA"), dim: hex("#8A93A1"), good: hex("#98BB6C"), warn: hex("#E6C384"), bad: hex("#F0808D"),
		match: hex("#E6C384"), escape: hex("#C792EA"), selFg: hex("#EEF2F6"), selBg: hex("#2F4A63"),
		barBg: hex("#232A33"), barFg: hex("#AAB4C0"), alarmFg: hex("#FFFFFF"), alarmBg: hex("#B3261E"),
	}
}

func lightPalette() palette {
	return palette{
		accent: hex("#1F5F82"), dim: hex("#5F6672"), good: hex("#33691A"), warn: hex("#7A5000"), bad: hex("#B3263A"),
		match: hex("#7A5000"), escape: hex("#7A3E9D"), selFg: hex("#10202C"), selBg: hex("#CFE3F2"),
		barBg: hex("#E6EAEE"), barFg: hex("#3C4652"), alarmFg: hex("#FFFFFF"), alarmBg: hex("#B3261E"),
	}
}

// contrastPalette keeps a contrast of seven to one or more (WCAG 2, AAA).
func contrastPalette(dark bool) palette {
	if dark {
		return palette{
			accent: hex("#8FD8FF"), dim: hex("#D0D0D0"), good: hex("#7CFC7C"), warn: hex("#FFE066"), bad: hex("#FFB0B0"),
			match: hex("#FFE066"), escape: hex("#FFA8FF"), selFg: hex("#000000"), selBg: hex("#FFFFFF"),
			barBg: hex("#000000"), barFg: hex("#FFFFFF"), alarmFg: hex("#000000"), alarmBg: hex("#FFD400"),
		}
	}
	return palette{
		accent: hex("#003A5C"), dim: hex("#333333"), good: hex("#0B4A0B"), warn: hex("#4F3400"), bad: hex("#7A0012"),
		match: hex("#4F3400"), escape: hex("#4B0070"), selFg: hex("#FFFFFF"), selBg: hex("#000000"),
		barBg: hex("#FFFFFF"), barFg: hex("#000000"), alarmFg: hex("#FFFFFF"), alarmBg: hex("#7A0012"),
	}
}

// safePalette tells good, warn and bad apart by blue, yellow and red to orange, which
// differ for the common kinds of colour blindness (after Okabe and Ito, 2008).
func safePalette(dark bool) palette {
	if dark {
		return palette{
			accent: hex("#56B4E9"), dim: hex("#9099A6"), good: hex("#56B4E9"), warn: hex("#F0E442"), bad: hex("#E8752A"),
			match: hex("#F0E442"), escape: hex("#CC79A7"), selFg: hex("#FFFFFF"), selBg: hex("#1F4E79"),
			barBg: hex("#232A33"), barFg: hex("#C0C8D2"), alarmFg: hex("#000000"), alarmBg: hex("#F0A202"),
		}
	}
	return palette{
		accent: hex("#005A9C"), dim: hex("#5A6069"), good: hex("#005A9C"), warn: hex("#7A6400"), bad: hex("#9C0050"),
		match: hex("#7A6400"), escape: hex("#8A2F66"), selFg: hex("#FFFFFF"), selBg: hex("#005A9C"),
		barBg: hex("#E6EAEE"), barFg: hex("#2F3740"), alarmFg: hex("#000000"), alarmBg: hex("#F0A202"),
	}
}

// darkFirst is what is taken for the background until the terminal answers, and
// for good when it never does: COLORFGBG, which some terminals set, else dark.
func darkFirst(env map[string]string) bool {
	v := env["COLORFGBG"]
	bg := v[strings.LastIndex(v, ";")+1:]
	return bg != "7" && bg != "15"
}
