package pane

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/change"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/edit"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// ItemPage is one item on the whole screen, over the list it was opened from. Its acts are the same in every pane.
type ItemPage struct {
	D      *Bench
	Reader *text.Reader
	Ref    func() model.Ref                    // the item that is or will be shown
	Tier   func() string                       // of the item, empty where it is unknown; nil: unknown
	Of     string                              // the kind of its neighbours, in words
	Place  string                              // where back goes
	Step   func(by int) tea.Cmd                // to a neighbour
	Alone  func() string                       // why there is none; nil: there may be one
	Back   func() tea.Cmd                      // to where it was opened from
	Row    func() (row desk.Datum, why string) // of the list it was opened from, or why there is none
}

// Position is the place in the text; busy: the item is still being read.
func (p *ItemPage) Position() (at safetext.Text, busy bool) {
	return p.Reader.Position(), p.Reader.Reading() || p.Reader.Busy
}

// Refresh reads the item again.
func (p *ItemPage) Refresh() tea.Cmd { return p.Reader.Again() }

func (p *ItemPage) noEdit() string   { return edit.NoEdit(p.D.Desk, p.Ref().Store, p.tier()) }
func (p *ItemPage) noAppend() string { return edit.NoAppend(p.D.Desk, p.Ref().Store, p.tier()) }

func (p *ItemPage) tier() string {
	if p.Tier == nil {
		return ""
	}
	return p.Tier()
}

// NoHistory says why a store has no versions to show.
func NoHistory(d *desk.Desk, store string) string {
	s, err := d.Fleet.Store(store)
	switch {
	case err != nil:
		return "the store is not open: 1 Health tries it again"
	case s.History == nil:
		return "this store keeps no earlier versions"
	}
	return ""
}

func (p *ItemPage) Bindings() []act.Act {
	return append([]act.Act{
		{Keys: []string{"n"}, Name: "next", Doc: "the next " + p.Of, Why: p.Alone, Do: func() tea.Cmd { return p.Step(1) }},
		{Keys: []string{"p"}, Name: "previous", Doc: "the " + p.Of + " before", Why: p.Alone, Do: func() tea.Cmd { return p.Step(-1) }},
		act.Edit.With(p.noEdit, func() tea.Cmd { return p.D.Edits.EditItem(p.Ref()) }),
		act.Append.With(p.noAppend, func() tea.Cmd { return p.D.Edits.AppendItem(p.Ref()) }),
		act.Forget.Called("forget this item, after a question").With(func() string { return p.D.Locked(p.Ref().Store) }, func() tea.Cmd { return change.Forget(p.D.Desk, p.Ref(), Seen(p.Reader.Pager, p.Ref()), "") }),
		{Keys: []string{"m"}, Name: "markdown", Doc: "markdown rendered, or the text as it is stored", Do: func() tea.Cmd { return ToggleMarkdown(p.D.Desk, p.Reader.Pager) }},
		{Keys: []string{"y"}, Name: "copy text", Doc: "copy the item's text to the clipboard of the terminal", Do: p.copyBody},
		{Keys: []string{"Y"}, Doc: "copy the row as one line of JSON", Do: p.copyRow},
		act.Export.Called("export the item to a file, as it is stored").With(p.D.NoExport, func() tea.Cmd { return p.D.Exports.ExportItem(p.Ref()) }),
		act.History.With(func() string { return NoHistory(p.D.Desk, p.Ref().Store) }, func() tea.Cmd { return change.Versions(p.D.Desk, p.Ref()) }),
		act.Log.With(p.D.NoLog, func() tea.Cmd { return p.D.Log(p.Ref()) }),
		{Keys: []string{"left", "h"}, Show: "left", Doc: "back to the " + p.Place, Do: p.Back},
	}, act.Movement(p.Reader.Pager, "line")...)
}

// copyBody copies the text on the screen, not the store's current one.
func (p *ItemPage) copyBody() tea.Cmd {
	if p.Reader.Text == nil || p.Reader.Text.Item != p.Ref() {
		return p.D.Tell("it is still being read")
	}
	return p.D.CopyText(p.D.Esc.LineMax(p.Ref().ID, prose.MaxTitle), p.Reader.Text.Body)
}

func (p *ItemPage) copyRow() tea.Cmd {
	row, why := p.Row()
	if why != "" {
		return p.D.Tell("%s; y copies its text", why)
	}
	return p.D.CopyRow(row.Object())
}

// ToggleMarkdown renders the body, or shows it as stored.
func ToggleMarkdown(d *desk.Desk, p *text.Pager) tea.Cmd {
	on := !p.Markdown
	word := safetext.Const("the text is shown as it is stored")
	if on {
		word = safetext.Const("markdown is rendered; m shows the text as it is stored")
	}
	d.Say(paint.ToneInfo, word)
	return p.AsMarkdown(on)
}
