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

func (a *App) lookAgain(m lookAgain) tea.Cmd {
	return a.ask(func(ctx context.Context) any {
		// A store that cannot be asked now shows it in the next list.
		if back, err := a.d.conflicts.Returned(ctx, m.c); err != nil || !back {
			return nil
		}
		return cameBack(m)
	})
}

func (a *App) cameBack(m cameBack) tea.Cmd {
	a.say(paint.ToneWarn, a.d.esc.Sprintf("%s has come back: 5 Conflicts lists it again", a.d.esc.LineMax(path.Base(m.c.ID), prose.MaxTitle)))
	if a.opened[paneConflicts] {
		return a.panes[paneConflicts].refresh()
	}
	return nil
}
