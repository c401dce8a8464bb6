package tui

import (
	"time"

	"memdesk/internal/clock"
	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// maxMessages bounds the kept messages of a session; older ones are counted.
const maxMessages = 500

// messages are the texts of the status line, the newest last, in memory, for the session.
type messages struct {
	text safetext.Text // that stands there now
	tone paint.Tone
	news bool // nobody waits for that text
	kept []message
	time clock.Clock
	gone int // older ones
}

type message struct {
	at   time.Time
	tone paint.Tone
	text safetext.Text
}

func (m *messages) say(t paint.Tone, text safetext.Text) {
	m.tone, m.text, m.news = t, text, false
	m.add(t, text)
}

func (m *messages) add(t paint.Tone, text safetext.Text) {
	if text.IsEmpty() {
		return
	}
	m.kept = append(m.kept, message{m.time.Now(), t, text})
	if over := len(m.kept) - maxMessages; over > 0 {
		m.kept, m.gone = m.kept[over:], m.gone+over
	}
}

// messageLines is the page of messages, the newest first.
func (ps *pages) messageLines() []text.Line {
	esc := ps.a.D.Esc
	lines := []text.Line{{Value: esc.Const("What was said on the status line in this session, the last first. The audit log has what was done."), Kind: text.Note}, {Kind: text.Blank}}
	for i := len(ps.a.said.kept) - 1; i >= 0; i-- {
		m := ps.a.said.kept[i]
		kind := text.Field
		if m.tone != paint.ToneInfo {
			kind = text.Warn
		}
		lines = append(lines, text.Line{Name: esc.Const(m.at.UTC().Format("15:04:05Z")), Value: m.text, Kind: kind})
	}
	switch {
	case len(ps.a.said.kept) == 0:
		lines = append(lines, text.Line{Value: esc.Const("Nothing was said yet.")})
	case ps.a.said.gone > 0:
		lines = append(lines, text.Line{Value: esc.Sprintf("%s are not kept any more.", prose.Plural(ps.a.said.gone, "older message")), Kind: text.Note})
	}
	return lines
}
