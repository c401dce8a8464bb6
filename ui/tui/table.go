package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/ui/act"
)

// table is a cursor over rows that are all in memory: stores, tiers, hits. Rows
// that cannot be selected are stepped over.
type table struct {
	n, sel, top, height int
	leap                bool             // scroll by half a screen: something stands beside the rows
	skip                func(i int) bool // nil: every row can be selected
	moved               func() tea.Cmd   // after the selection has changed; may be nil
}

func (t *table) set(n int) {
	t.n = n
	t.clamp(1)
}

func (t *table) resize(height int, beside bool) {
	t.height, t.leap = max(height, 1), beside
	t.clamp(1)
}

// clamp keeps the selection on a row that can be selected, looking in the
// direction of the movement first.
func (t *table) clamp(dir int) {
	t.sel = max(min(t.sel, t.n-1), 0)
	if t.skip != nil {
		at := t.sel
		for at >= 0 && at < t.n && t.skip(at) {
			at += dir
		}
		if at < 0 || at >= t.n {
			for at = t.sel; at >= 0 && at < t.n && t.skip(at); {
				at -= dir
			}
		}
		t.sel = max(min(at, t.n-1), 0)
	}
	t.top = scrolled(t.top, t.sel, t.n, t.height, t.leap)
	if t.sel > 0 && t.sel <= t.top && t.skip != nil && t.skip(t.sel-1) {
		t.top = max(t.sel-1, 0) // the heading of the first row stays visible
	}
}

func (t *table) Move(by int) tea.Cmd {
	was := t.sel
	t.sel += by
	if by < 0 {
		t.clamp(-1)
	} else {
		t.clamp(1)
	}
	if t.sel == was || t.moved == nil {
		return nil
	}
	return t.moved()
}

func (t *table) Page(by float64) tea.Cmd {
	n := act.Steps(by, t.height)
	t.top = max(min(t.top+n, t.n-t.height), 0)
	return t.Move(n)
}

func (t *table) Home() tea.Cmd { return t.Move(-t.n) }
func (t *table) End() tea.Cmd  { return t.Move(t.n) }
