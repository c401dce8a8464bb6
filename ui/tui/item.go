package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
)

// itemPage is one item on the whole screen. What can be done with it is the same
// wherever it was opened from.
type itemPage struct {
	d      *bench
	reader *reader
	of     string                         // what its neighbours are, in words
	place  string                         // where back goes
	step   func(by int) tea.Cmd           // to a neighbour
	back   func() tea.Cmd                 // to where it was opened from
	row    func() (row datum, why string) // of the list it was opened from, or why there is none
}

// ref is the item that is shown, or about to be.
func (p itemPage) ref() model.Ref { return p.reader.want.ref }

// seen is the revision that the operator has looked at; empty when that is not known.
func (p itemPage) seen() model.Revision {
	if p.reader.shown == p.ref() {
		return p.reader.rev
	}
	return ""
}

func (p itemPage) noEdit() string { return p.d.noEdit(p.ref().Store) }

func (p itemPage) noForget() string { return p.d.locked(p.ref().Store) }

func (p itemPage) noHistory() string { return p.d.noHistory(p.ref().Store) }

// noHistory says why a store has no versions to show.
func (d *desk) noHistory(store string) string {
	s, err := d.fleet.Store(store)
	switch {
	case err != nil:
		return "the store is not open: 1 Health tries it again"
	case s.History == nil:
		return "this store keeps no earlier versions"
	}
	return ""
}

// bindings are the keys of the page.
func (p itemPage) bindings() []act.Act {
	return append([]act.Act{
		{Keys: []string{"n"}, Name: "next", Doc: "the next " + p.of, Do: func() tea.Cmd { return p.step(1) }},
		{Keys: []string{"p"}, Name: "previous", Doc: "the " + p.of + " before", Do: func() tea.Cmd { return p.step(-1) }},
		act.Edit.With(p.noEdit, func() tea.Cmd { return p.d.edits.editItem(p.ref()) }),
		act.Append.With(p.noEdit, func() tea.Cmd { return p.d.edits.appendItem(p.ref()) }),
		act.Forget.Called("forget this item, after a question").With(p.noForget, func() tea.Cmd { return p.d.removals.forget(p.ref(), p.seen()) }),
		{Keys: []string{"m"}, Name: "markdown", Doc: "markdown rendered, or the text as it is stored", Do: func() tea.Cmd { return p.reader.toggleMarkdown() }},
		{Keys: []string{"y"}, Name: "copy text", Doc: "copy the item's text to the clipboard of the terminal", Do: p.copyBody},
		{Keys: []string{"Y"}, Doc: "copy the row as one line of JSON", Do: p.copyRow},
		act.Export.Called("export the item to a file, as it is stored").With(p.d.noExport, func() tea.Cmd { return p.d.exports.exportItem(p.ref()) }),
		act.History.With(p.noHistory, func() tea.Cmd { return p.d.revisions.openHistory(p.ref()) }),
		{Keys: []string{"left", "h"}, Show: "left", Doc: "back to the " + p.place, Do: p.back},
	}, act.Movement(p.reader.pager, "line")...)
}

// copyBody copies what is on the screen, not what the store holds by now.
func (p itemPage) copyBody() tea.Cmd {
	if p.reader.pager.Text == nil || p.reader.shown != p.ref() {
		p.d.say(paint.ToneInfo, p.d.esc.Const("it is still being read"))
		return nil
	}
	return p.d.copyText(p.d.esc.LineMax(p.reader.shown.ID, prose.MaxTitle), p.reader.pager.Text.Body)
}

func (p itemPage) copyRow() tea.Cmd {
	row, why := p.row()
	if why != "" {
		p.d.say(paint.ToneInfo, p.d.esc.Sprintf("%s; y copies its text", why))
		return nil
	}
	return p.d.copyRow(row.object())
}

// toggleMarkdown renders the body, or shows it as it is stored.
func (r *reader) toggleMarkdown() tea.Cmd {
	on := !r.pager.Markdown
	word := safetext.Const("the text is shown as it is stored")
	if on {
		word = safetext.Const("markdown is rendered; m shows the text as it is stored")
	}
	r.d.say(paint.ToneInfo, word)
	return r.pager.AsMarkdown(on)
}
