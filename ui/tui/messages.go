package tui

import (
	"time"

	"memdesk/internal/safetext"
)

// maxMessages is how many messages of a session are kept; what is older is counted.
const maxMessages = 500

// messages are what was said on the status line, the last one last. They live in
// memory only, as long as the session.
type messages struct {
	kept []message
	gone int // older ones
}

type message struct {
	at   time.Time
	tone tone
	text safetext.Text
}

func (m *messages) add(at time.Time, t tone, text safetext.Text) {
	if text.IsEmpty() {
		return
	}
	m.kept = append(m.kept, message{at, t, text})
	if over := len(m.kept) - maxMessages; over > 0 {
		m.kept, m.gone = m.kept[over:], m.gone+over
	}
}

// messageLines is the page of them, the last one first.
func (a *App) messageLines() []headLine {
	esc := a.d.st.esc
	lines := []headLine{{value: esc.Const("What was said on the status line in this session, the last first. The audit log has what was done."), kind: headNote}, {kind: headBlank}}
	for i := len(a.log.kept) - 1; i >= 0; i-- {
		m := a.log.kept[i]
		kind := headField
		if m.tone != toneInfo {
			kind = headWarn
		}
		lines = append(lines, headLine{name: esc.Const(m.at.UTC().Format("15:04:05Z")), value: m.text, kind: kind})
	}
	switch {
	case len(a.log.kept) == 0:
		lines = append(lines, headLine{value: esc.Const("Nothing was said yet.")})
	case a.log.gone > 0:
		lines = append(lines, headLine{value: esc.Sprintf("%s are not kept any more.", plural(int64(a.log.gone), "older message")), kind: headNote})
	}
	return lines
}

// leavePage closes the page that the command line was opened over, unless the command
// leaves the operator where he is.
func (a *App) leavePage(verb string) {
	switch verb {
	case "theme", "lock":
		return
	}
	a.overlay = nil
}
