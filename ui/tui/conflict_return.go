package tui

import (
	"context"
	"path"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/conflict"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
)

// settleTime is what sync layers take to bring back what was removed
// (conflict-names.md, Vendor cautions).
const settleTime = 2 * time.Minute

// lookAgain asks whether a removed copy stands there again.
type lookAgain struct{ c conflict.Copy }

// cameBack is the event that it does.
type cameBack struct{ c conflict.Copy }

func (rs *resolutions) lookAgain(m lookAgain) tea.Cmd {
	return rs.d.ask(func(ctx context.Context) any {
		// A store that cannot be asked now shows it in the next list.
		if back, err := rs.d.Conflicts.Returned(ctx, m.c); err != nil || !back {
			return nil
		}
		return cameBack(m)
	})
}

func (rs *resolutions) cameBack(m cameBack) tea.Cmd {
	rs.d.say(paint.ToneWarn, rs.d.esc.Sprintf("%s has come back: 5 Conflicts lists it again", rs.d.esc.LineMax(path.Base(m.c.ID), prose.MaxTitle)))
	if rs.d.app.opened[paneConflicts] {
		return rs.d.app.panes[paneConflicts].refresh()
	}
	return nil
}
