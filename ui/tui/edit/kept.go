package edit

import (
	"cmp"
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/drafts"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/record"
)

// OpenKept lists the operator's texts that no store took.
func (ed *Edits) OpenKept() tea.Cmd {
	if ed.D.Drafts == nil {
		return ed.D.Warn("there is no state directory, so no text was put aside")
	}
	return ed.D.Frame.Beside("Kept texts", false, ed.Kept)
}

func (ed *Edits) Kept(address int) desk.Listing { return record.Of(ed.D, keptKind(ed), address) }

func keptKind(ed *Edits) record.Kind[drafts.Kept] {
	d := ed.D
	return record.Kind[drafts.Kept]{
		Noun: "text", Empty: "No text was put aside: every one that you wrote was saved, or thrown away by you.", Name: "kept",
		Columns: []record.Column{{Title: "WHEN", Width: 21, Dim: true}, {Title: "AGE", Width: 5, Least: 5, Right: true, Dim: true, Age: true}, {Title: "SIZE", Width: 10, Right: true, Dim: true}, {Title: "NAME", Least: 20}},
		Traits: record.Traits[drafts.Kept]{Less: map[int]func(a, b drafts.Kept) int{
			2: func(a, b drafts.Kept) int { return cmp.Compare(a.Bytes, b.Bytes) },
		}},
		Fetch: func(_ context.Context, q operator.PageQuery) (record.Page[drafts.Kept], error) {
			all, err := d.Drafts.Kept()
			if model.IsRefusal(err) {
				return record.Page[drafts.Kept]{}, err
			}
			if err != nil {
				return record.Page[drafts.Kept]{}, model.Errorf(model.Unavailable, "kept texts", "%s", d.Esc.Err(err).String())
			}
			out := record.OnePage(all, func(_ int, k drafts.Kept) (record.Row[drafts.Kept], bool) {
				return record.Row[drafts.Kept]{Key: k.Name, Raw: k, At: k.At, Cells: []safetext.Text{
					d.Esc.Const(prose.Moment(k.At)), {}, d.Esc.Const(prose.Size(k.Bytes)), d.Esc.LineMax(k.Name, prose.MaxTitle),
				}}, q.Matches(k.Name)
			})
			out.Said = list.Said{Text: d.Esc.Sprintf("Texts that were not saved stay here for %d days.", int(drafts.Keep/(24*time.Hour))), Calm: true}
			return out, nil
		},
		Detail: func(_ context.Context, raw drafts.Kept) *text.Page { return ed.keptText(raw) },
		Keys: func(p *record.List[drafts.Kept]) []act.Act {
			return []act.Act{{Keys: []string{"enter"}, Name: "edit", Verb: "edit", Args: "NUMBER", Doc: "open this text in $EDITOR again; what you save is compared with the item as you saw it",
				Why: act.Unless(p.None, func() string { return ed.noReopen(p.Here()) }), Do: func() tea.Cmd { return ed.reopen(p.Here()) }}, {Keys: []string{"y"}, Name: "copy text", Doc: "copy the whole text to the clipboard of the terminal", Why: p.None, Do: func() tea.Cmd { return ed.copyKept(p.Here()) }}}
		},
	}
}

func (ed *Edits) keptText(k drafts.Kept) *text.Page {
	esc := ed.D.Esc
	head := []text.Line{
		{Value: esc.LineMax(k.Name, desk.MaxField), Kind: text.Title},
		{Name: esc.Const("put aside"), Value: esc.Const(desk.Changed(ed.D, k.At))},
		{Name: esc.Const("goes"), Value: esc.Const(prose.Moment(k.At.Add(drafts.Keep)))},
	}
	next := text.Advice(esc, "`y` copies the text.")
	if !ed.D.Remote { // there a path of the server is of no use
		head = slices.Insert(head, 1, text.Line{Name: esc.Const("file"), Value: ed.D.Where(k.Path)})
		next = text.Advice(esc, "`y` copies the text; memdesk retain writes the file to an item.")
	}
	if o, ok := purposeOf(k); ok {
		head = append(head, text.Line{Name: esc.Const("for"), Value: esc.LineMax(model.Ref{Store: o.Store, ID: o.Label}.String(), desk.MaxField)})
		next = text.Advice(esc, "`enter` opens it in the editor again; `y` copies the text.")
	}
	head = append(head, next, text.Line{Kind: text.Blank})
	body, err := ed.D.Drafts.ReadKept(k.Name)
	if err != nil {
		return text.NewPage(append(head, text.Line{Value: esc.Sprintf("it cannot be read: %s", esc.Err(err)), Kind: text.Alert}), "")
	}
	return text.NewPage(head, body)
}

// copyKept reads the text in a command and hands it to the clipboard.
func (ed *Edits) copyKept(k drafts.Kept) tea.Cmd {
	esc := ed.D.Esc
	return ed.D.Ask(func(context.Context) any {
		body, err := ed.D.Drafts.ReadKept(k.Name)
		if err != nil {
			return dialog.Acted{Quiet: true, Text: esc.Sprintf("not copied: %s", esc.Err(err))}
		}
		return dialog.Acted{Ok: true, Quiet: true, Then: func() tea.Cmd { return ed.D.CopyText(esc.LineMax(k.Name, prose.MaxTitle), body) }}
	})
}
