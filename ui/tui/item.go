package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/kit/keys"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
)

// itemPage is one item on the whole screen. What can be done with it is the same
// wherever it was opened from.
type itemPage struct {
	d      *desk
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
func (p itemPage) bindings() []keys.Binding {
	app := p.d.app
	return append([]keys.Binding{
		{Keys: []string{"n"}, Hint: "next", Description: "the next " + p.of, Handler: func() tea.Cmd { return p.step(1) }},
		{Keys: []string{"p"}, Hint: "previous", Description: "the " + p.of + " before", Handler: func() tea.Cmd { return p.step(-1) }},
		{Keys: []string{"e"}, Hint: "edit", Description: editWords, Disabled: p.noEdit, Handler: func() tea.Cmd { return app.d.edits.editItem(p.ref()) }},
		{Keys: []string{"A"}, Hint: "append", Description: "append to this item, in $EDITOR", Disabled: p.noEdit, Handler: func() tea.Cmd { return app.d.edits.appendItem(p.ref()) }},
		{Keys: []string{"d"}, Hint: "forget", Description: "forget this item, after a question", Disabled: p.noForget, Handler: func() tea.Cmd { return p.d.removals.forget(p.ref(), p.seen()) }},
		{Keys: []string{"m"}, Hint: "markdown", Description: "markdown rendered, or the text as it is stored", Handler: func() tea.Cmd { return p.reader.toggleMarkdown() }},
		{Keys: []string{"y"}, Hint: "copy text", Description: "copy the item's text to the clipboard of the terminal", Handler: p.copyBody},
		{Keys: []string{"Y"}, Description: "copy the row as one line of JSON", Handler: p.copyRow},
		{Keys: []string{"x"}, Hint: "export", Description: "export the item to a file, as it is stored", Disabled: p.d.noExport, Handler: func() tea.Cmd { return app.d.exports.exportItem(p.ref()) }},
		{Keys: []string{"H"}, Hint: "history", Description: "the recorded versions of this item, to read and to compare", Disabled: p.noHistory, Handler: func() tea.Cmd { return p.d.revisions.openHistory(p.ref()) }},
		{Keys: []string{"left", "h"}, Show: "left", Description: "back to the " + p.place, Handler: p.back},
	}, keys.Movement(p.reader.pager, "line")...)
}

// editWords describe the key that edits, wherever it stands.
const editWords = "edit this item in $EDITOR; nothing is written before you have seen the difference"

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
