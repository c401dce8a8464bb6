package paint

import (
	"strconv"
	"strings"

	"memdesk/internal/safetext"
)

// BadgeSign is the columns of a badge before its state: the sign and a blank.
const BadgeSign = 2

// Badge is a state with the sign of its tone, readable without colour and at a glance.
func (s *Styles) Badge(t Tone, state safetext.Text) safetext.Text {
	if state.IsEmpty() {
		return state
	}
	return s.Esc.Sprintf("%s %s", s.Esc.Const(s.Glyphs.State[t]), state)
}

// gaugeCells is the width of a gauge without its number.
const gaugeCells = 5

// GaugeWidth is the width of a gauge with its number.
const GaugeWidth = gaugeCells + 7

// Gauge draws the used percentage of a cap, with its number, and the tone for how near the cap is.
func (s *Styles) Gauge(percent int64) (safetext.Text, Tone) {
	const steps = 5 // of a cell
	used := int(min(max(percent, 0), 100) * gaugeCells * steps / 100)
	if percent > 0 {
		used = max(used, 1)
	}
	p := ToneInfo
	switch {
	case percent > 100:
		p = ToneBad
	case percent >= 80:
		p = ToneWarn
	}
	full := used / steps
	bar := strings.Repeat(s.Glyphs.Full, full)
	if part := used % steps; part > 0 {
		bar += s.Glyphs.Parts[part-1]
		full++
	}
	bar += strings.Repeat(s.Glyphs.Rest, gaugeCells-full)
	n := strconv.FormatInt(min(percent, 9999), 10)
	return s.Esc.Const(bar + strings.Repeat(" ", 5-len(n)) + n + " %"), p
}
