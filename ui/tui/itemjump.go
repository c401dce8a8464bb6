package tui

import (
	"path"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
)

// itemNames are what an item is looked for by: its title, its id and the id's last
// part.
func itemNames(r itemRow) []string {
	return []string{r.header.Title, r.header.ID, path.Base(r.header.ID)}
}

// seek looks through the list, page by page.
func (l *items) seek(want func(itemRow) bool, word safetext.Text) tea.Cmd {
	return l.list.follow(&trail[itemRow]{word: word, kin: func(r itemRow) (int, bool) { return 0, want(r) }})
}

// trailed takes a page of what is being looked for, and says how it ended.
func (l *items) trailed(m trailed[itemRow]) tea.Cmd {
	cmd, over, found := l.list.trailed(m)
	l.pinned = l.pinned && !found
	if over {
		trailOver(&l.d.loop, m, found)
	}
	return tea.Batch(cmd, l.preview())
}

func (l *items) startJump() tea.Cmd {
	l.jump.open(l.list.sel)
	return nil
}

// jumped follows the letters among the rows that are loaded.
func (l *items) jumped() tea.Cmd {
	rows := l.list.rows
	return jumpHere(&l.d.loop, &l.jump, len(rows), l.list.sel, func(i int) []string { return itemNames(rows[i]) }, l.Move)
}

func (l *items) jumpBindings() []act.Act {
	here := func(text string) bool {
		row, ok := l.list.current()
		return ok && begins(text, itemNames(row))
	}
	return jumpKeys(&l.jump, here, func(text string) tea.Cmd {
		return l.seek(func(r itemRow) bool { return begins(text, itemNames(r)) }, l.d.esc.Sprintf("%q", text))
	}, func() tea.Cmd { return l.Move(l.jump.from - l.list.sel) })
}
