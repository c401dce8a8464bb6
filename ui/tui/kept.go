package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/drafts"
	"memdesk/internal/safetext"
	"memdesk/model"
)

// openKept lists the operator's texts that no store took.
func (a *App) openKept() tea.Cmd {
	if a.d.drafts == nil {
		a.say(toneWarn, a.d.esc.Const("there is no state directory, so no text was put aside"))
		return nil
	}
	return a.openSide("Kept texts", a.keptKind())
}

func (a *App) keptKind() recordKind {
	d := a.d
	return recordKind{
		noun: "text", empty: "No text was put aside: every one that you wrote was saved, or thrown away by you.", name: "kept",
		columns: []column{{"WHEN", 21, false}, {"AGE", 5, true}, {"SIZE", 10, true}, {"NAME", 0, false}},
		fetch: func(_ context.Context, q PageQuery) (span[record], said, error) {
			all, err := d.drafts.Kept()
			if err != nil {
				return span[record]{}, said{}, model.Errorf(model.Unavailable, "kept texts", "%s", d.esc.Err(err).String())
			}
			var out span[record]
			for _, k := range all {
				if containsAll(q, k.Name) {
					out.rows = append(out.rows, record{key: k.Name, raw: k, cells: []safetext.Text{
						d.esc.Const(moment(k.At)), d.esc.Const(d.time.age(k.At)), d.esc.Const(size(k.Bytes)), d.esc.LineMax(k.Name, maxTitle),
					}})
				}
			}
			out.total = model.Count{N: int64(len(out.rows))}
			return out, said{d.esc.Sprintf("Texts that were not saved stay here for %d days.", int(drafts.Keep/(24*time.Hour))), true}, nil
		},
		detail: func(_ context.Context, raw any) *text { return a.keptText(raw.(drafts.Kept)) },
		keys: func(p *records) []Binding {
			return []Binding{{Keys: []string{"enter"}, Hint: "edit", Description: "open this text in $EDITOR again; what you save is compared with the item as you saw it",
				Disabled: func() string { return a.noReopen(p) }, Handler: func() tea.Cmd {
					r, _ := p.list.current()
					return a.reopen(r.raw.(drafts.Kept))
				}}, {Keys: []string{"y"}, Hint: "copy text", Description: "copy the whole text to the clipboard of the terminal", Disabled: p.none, Handler: func() tea.Cmd {
				r, _ := p.list.current()
				return a.copyKept(r.raw.(drafts.Kept))
			}}}
		},
	}
}

func (a *App) keptText(k drafts.Kept) *text {
	esc := a.d.esc
	head := []headLine{
		{value: esc.LineMax(k.Name, maxField), kind: headTitle},
		{name: esc.Const("file"), value: a.where(k.Path)},
		{name: esc.Const("put aside"), value: esc.Const(changed(a.d, k.At))},
		{name: esc.Const("goes"), value: esc.Const(moment(k.At.Add(drafts.Keep)))},
	}
	next := esc.Const("y copies the text; memdesk retain writes the file to an item.")
	if o, ok := originOf(k); ok {
		head = append(head, headLine{name: esc.Const("for"), value: esc.LineMax(model.Ref{Store: o.Store, ID: o.Label}.String(), maxField)})
		next = esc.Const("enter opens it in the editor again; y copies the text.")
	}
	head = append(head, headLine{value: next, kind: headNote}, headLine{kind: headBlank})
	body, err := a.d.drafts.ReadKept(k.Name)
	if err != nil {
		return newText(append(head, headLine{value: esc.Sprintf("!! it cannot be read: %s", esc.Err(err)), kind: headWarn}), "")
	}
	return newText(head, body)
}

// copyKept reads the text in a command and hands it to the clipboard.
func (a *App) copyKept(k drafts.Kept) tea.Cmd {
	esc := a.d.esc
	return a.ask(func(context.Context) any {
		body, err := a.d.drafts.ReadKept(k.Name)
		if err != nil {
			return acted{quiet: true, text: esc.Sprintf("not copied: %s", esc.Err(err))}
		}
		return acted{ok: true, quiet: true, then: func() tea.Cmd { return a.d.copyText(esc.LineMax(k.Name, maxTitle), body) }}
	})
}
