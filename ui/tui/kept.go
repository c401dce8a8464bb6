package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/drafts"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// openKept lists the operator's texts that no store took.
func (ed *edits) openKept() tea.Cmd {
	if ed.d.Drafts == nil {
		ed.d.say(paint.ToneWarn, ed.d.esc.Const("there is no state directory, so no text was put aside"))
		return nil
	}
	return openSide(ed.d, "Kept texts", ed.keptKind())
}

func (ed *edits) keptKind() recordKind[drafts.Kept] {
	d := ed.d
	return recordKind[drafts.Kept]{
		noun: "text", empty: "No text was put aside: every one that you wrote was saved, or thrown away by you.", name: "kept",
		columns: []column{{"WHEN", 21, false}, {"AGE", 5, true}, {"SIZE", 10, true}, {"NAME", 0, false}},
		fetch: func(_ context.Context, q PageQuery) (span[record[drafts.Kept]], said, error) {
			all, err := d.Drafts.Kept()
			if err != nil {
				return span[record[drafts.Kept]]{}, said{}, model.Errorf(model.Unavailable, "kept texts", "%s", d.esc.Err(err).String())
			}
			var out span[record[drafts.Kept]]
			for _, k := range all {
				if q.Matches(k.Name) {
					out.rows = append(out.rows, record[drafts.Kept]{key: k.Name, raw: k, cells: []safetext.Text{
						d.esc.Const(prose.Moment(k.At)), d.esc.Const(d.time.Age(k.At)), d.esc.Const(prose.Size(k.Bytes)), d.esc.LineMax(k.Name, prose.MaxTitle),
					}})
				}
			}
			out.total = model.Count{N: int64(len(out.rows))}
			return out, said{text: d.esc.Sprintf("Texts that were not saved stay here for %d days.", int(drafts.Keep/(24*time.Hour))), calm: true}, nil
		},
		detail: func(_ context.Context, raw drafts.Kept) *text.Page { return ed.keptText(raw) },
		keys: func(p *records[drafts.Kept]) []act.Act {
			return []act.Act{{Keys: []string{"enter"}, Name: "edit", Doc: "open this text in $EDITOR again; what you save is compared with the item as you saw it",
				Why: func() string { return ed.noReopen(p) }, Do: func() tea.Cmd {
					r, _ := p.list.current()
					return ed.reopen(r.raw)
				}}, {Keys: []string{"y"}, Name: "copy text", Doc: "copy the whole text to the clipboard of the terminal", Why: p.none, Do: func() tea.Cmd {
				r, _ := p.list.current()
				return ed.copyKept(r.raw)
			}}}
		},
	}
}

func (ed *edits) keptText(k drafts.Kept) *text.Page {
	esc := ed.d.esc
	head := []text.Line{
		{Value: esc.LineMax(k.Name, maxField), Kind: text.Title},
		{Name: esc.Const("file"), Value: ed.d.where(k.Path)},
		{Name: esc.Const("put aside"), Value: esc.Const(changed(ed.d, k.At))},
		{Name: esc.Const("goes"), Value: esc.Const(prose.Moment(k.At.Add(drafts.Keep)))},
	}
	next := esc.Const("y copies the text; memdesk retain writes the file to an item.")
	if o, ok := purposeOf(k); ok {
		head = append(head, text.Line{Name: esc.Const("for"), Value: esc.LineMax(model.Ref{Store: o.Store, ID: o.Label}.String(), maxField)})
		next = esc.Const("enter opens it in the editor again; y copies the text.")
	}
	head = append(head, text.Line{Value: next, Kind: text.Note}, text.Line{Kind: text.Blank})
	body, err := ed.d.Drafts.ReadKept(k.Name)
	if err != nil {
		return text.NewPage(append(head, text.Line{Value: esc.Sprintf("!! it cannot be read: %s", esc.Err(err)), Kind: text.Warn}), "")
	}
	return text.NewPage(head, body)
}

// copyKept reads the text in a command and hands it to the clipboard.
func (ed *edits) copyKept(k drafts.Kept) tea.Cmd {
	esc := ed.d.esc
	return ed.d.ask(func(context.Context) any {
		body, err := ed.d.Drafts.ReadKept(k.Name)
		if err != nil {
			return acted{quiet: true, text: esc.Sprintf("not copied: %s", esc.Err(err))}
		}
		return acted{ok: true, quiet: true, then: func() tea.Cmd { return ed.d.copyText(esc.LineMax(k.Name, prose.MaxTitle), body) }}
	})
}
