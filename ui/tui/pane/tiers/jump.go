package tiers

import (
	"path"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/list"
)

// itemNames are the texts to find an item by: title, id, and the id's last part.
func itemNames(r ItemRow) []string {
	return []string{r.Header.Title, r.Header.ID, path.Base(r.Header.ID)}
}

// seek looks through the list, page by page.
func (l *items) seek(want func(ItemRow) bool, word safetext.Text) tea.Cmd {
	return l.List.Follow(&list.Trail[ItemRow]{Word: word, Near: func(r ItemRow) (int, bool) { return 0, want(r) }})
}

// trailed takes a page of a trail, and says how the trail ended.
func (l *items) trailed(m list.Trailed[ItemRow]) tea.Cmd {
	cmd, over, found := l.List.Trailed(m)
	l.fitted()
	l.pinned = l.pinned && !found
	if over {
		list.TrailOver(&l.d.Loop, m, found)
	}
	return tea.Batch(cmd, l.preview())
}

func (l *items) startJump() tea.Cmd {
	l.jump.Open(l.List.Sel)
	return nil
}

// jumped follows the letters among the rows that are loaded.
func (l *items) jumped() tea.Cmd {
	rows := l.List.Rows
	return list.JumpHere(&l.d.Loop, &l.jump, len(rows), l.List.Sel, func(i int) []string { return itemNames(rows[i]) }, l.Move)
}

func (l *items) jumpBindings() []act.Act {
	here := func(text string) bool {
		row, ok := l.List.Current()
		return ok && list.Begins(text, itemNames(row))
	}
	return list.JumpKeys(&l.jump, here, func(text string) tea.Cmd {
		return l.seek(func(r ItemRow) bool { return list.Begins(text, itemNames(r)) }, l.d.Esc.Sprintf("%q", text))
	}, func() tea.Cmd { return l.Move(l.jump.From - l.List.Sel) })
}
