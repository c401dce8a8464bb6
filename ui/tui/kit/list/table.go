package list

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/ui/act"
)

// Table is a cursor over rows in memory: stores, tiers, hits. It skips rows that cannot be selected.
type Table struct {
	N, Sel, Top, Height int
	leap                bool             // scroll by half a screen: there is a detail beside the rows
	Skip                func(i int) bool // nil: every row can be selected
	Moved               func() tea.Cmd   // after the selection has changed; may be nil
}

func (t *Table) Set(n int) {
	t.N = n
	t.Clamp(1)
}

func (t *Table) Resize(height int, beside bool) {
	t.Height, t.leap = max(height, 1), beside
	t.Clamp(1)
}

// Clamp keeps the selection on a selectable row, looking in the direction of the movement first.
func (t *Table) Clamp(dir int) {
	t.Sel = max(min(t.Sel, t.N-1), 0)
	if t.Skip != nil {
		at := t.Sel
		for at >= 0 && at < t.N && t.Skip(at) {
			at += dir
		}
		if at < 0 || at >= t.N {
			for at = t.Sel; at >= 0 && at < t.N && t.Skip(at); {
				at -= dir
			}
		}
		t.Sel = max(min(at, t.N-1), 0)
	}
	t.Top = scrolled(t.Top, t.Sel, t.N, t.Height, t.leap)
	if t.Sel > 0 && t.Sel <= t.Top && t.Skip != nil && t.Skip(t.Sel-1) {
		t.Top = max(t.Sel-1, 0) // the heading of the first row stays visible
	}
}

func (t *Table) Move(by int) tea.Cmd {
	was := t.Sel
	t.Sel += by
	if by < 0 {
		t.Clamp(-1)
	} else {
		t.Clamp(1)
	}
	if t.Sel == was || t.Moved == nil {
		return nil
	}
	return t.Moved()
}

func (t *Table) Page(by float64) tea.Cmd {
	n := act.Steps(by, t.Height)
	t.Top = max(min(t.Top+n, t.N-t.Height), 0)
	return t.Move(n)
}

// Scroll moves the rows on the screen, not the selection; behind the last row too, until the next move.
func (t *Table) Scroll(by int) { t.Top += by }

func (t *Table) Home() tea.Cmd { return t.Move(-t.N) }
func (t *Table) End() tea.Cmd  { return t.Move(t.N) }
