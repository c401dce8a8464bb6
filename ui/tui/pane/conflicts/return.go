package conflicts

import (
	"context"
	"path"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/conflict"
	"memdesk/conflict/names"
	"memdesk/operator"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/prose"
)

// SettleTime is the time in which sync layers restore a file (conflict-names.md, Vendor cautions).
const SettleTime = 2 * time.Minute

// after looks again for a removed copy once sync layers could restore it; nil where none would.
func (rs *resolutions) after(c conflict.Copy, done operator.Done) func() tea.Cmd {
	if done.Removed == 0 || c.Class != names.Conflict {
		return nil
	}
	return func() tea.Cmd {
		return rs.d.Later(loop.Over)(rs.d.Settle, loop.Someday(func() tea.Cmd { return rs.lookAgain(c) }))
	}
}

// lookAgain asks whether a removed copy has returned.
func (rs *resolutions) lookAgain(c conflict.Copy) tea.Cmd {
	return rs.d.Ask(func(ctx context.Context) any {
		// A store that cannot be asked now shows it in the next list.
		if back, err := rs.d.Conflicts.Returned(ctx, c); err != nil || !back {
			return nil
		}
		return loop.Then(func() tea.Cmd { return rs.cameBack(c) })
	})
}

func (rs *resolutions) cameBack(c conflict.Copy) tea.Cmd {
	rs.d.Warn("%s has come back: 5 Conflicts lists it again", rs.d.Esc.LineMax(path.Base(c.ID), prose.MaxTitle))
	if rs.list != nil && rs.list.Entered {
		return rs.list.Refresh()
	}
	return nil
}
