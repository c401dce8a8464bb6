package erasure

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/gdpr"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/record"
)

// PlanKeys are the keys of a plan beside those of every list.
func (rq *Requests) PlanKeys(p *record.List[PlanRow], r operator.ErasureRequest) []act.Act {
	step := func() *gdpr.Step {
		if row, ok := p.Window.Current(); ok {
			return row.Raw.step
		}
		return nil
	}
	item := func() string {
		if why := rq.D.Locked(""); why != "" {
			return why
		}
		st := step()
		switch {
		case st == nil:
			return "this row is no item"
		case st.Action == gdpr.Scrub || st.Action == gdpr.OutOfScope:
			return "this row is a layer and no item"
		}
		return ""
	}
	free := func() string { return rq.D.Locked("") }
	out := []act.Act{
		act.Erase.Called("carry this plan out, after a question").With(free, func() tea.Cmd { return rq.erase(r) }),
		act.Hold.With(item, func() tea.Cmd { return rq.D.Modal.Show(rq.holdDialog(r, *step(), placeIn(p))) }),
		act.Lift.Called("lift the hold on this item, so that it goes too").With(func() string {
			if why := item(); why != "" {
				return why
			}
			if step().Action != gdpr.Held {
				return "it is not on hold"
			}
			return ""
		}, func() tea.Cmd {
			return rq.D.Modal.Show(rq.liftDialog(r, model.Ref{Store: step().Store, ID: step().ID}.String(), "", placeIn(p)))
		}),
		act.Choose.With(func() string {
			if why := item(); why != "" {
				return why
			}
			if step().Action == gdpr.Held {
				return "it is on hold"
			}
			return ""
		}, func() tea.Cmd { return rq.D.Modal.Show(rq.chooseDialog(r, *step(), placeIn(p))) }),
		act.Plan.Called("search every store again and make the plan anew").With(func() string {
			if why := rq.D.Locked(""); why != "" {
				return why
			}
			return rq.D.NoBulk()
		}, func() tea.Cmd { return rq.discover(r, placeIn(p)) }),
		act.Approve.With(nil, func() tea.Cmd { return rq.approve(r) }),
	}
	if p.Full {
		return slices.DeleteFunc(out, func(b act.Act) bool { return b.Keys[0] == "p" }) // the step before
	}
	return out
}

// holdDialog asks for the ground of a hold.
func (rq *Requests) holdDialog(r operator.ErasureRequest, st gdpr.Step, at *planPlace) *dialog.Dialog {
	d, esc := rq.D, rq.D.St.Esc
	dlg := &dialog.Dialog{Title: esc.Const("Hold"), NoReason: true, Lines: []text.Line{
		{Value: esc.Sprintf("Keep %s back from the erasure?", esc.LineMax(st.ID, prose.MaxTitle)), Kind: text.Title},
		{Value: esc.Const("It stays as it is, and the receipt says so, with the article alone. The ground is the exception that applies, such as Art. 17(3)(e), a legal claim.")},
		{Value: esc.Const("This voids the plan and its approvals, and replans."), Kind: text.Note},
	}, Fields: []dialog.Field{{Label: esc.Const("ground, required: ")}}}
	dlg.Choices = []dialog.Choice{{Verb: "Hold", Act: func(ctx context.Context, f dialog.Filled) dialog.Acted {
		err := d.Erasure.Hold(ctx, r.ID, gdpr.Hold{Store: st.Store, ID: st.ID, Ground: strings.TrimSpace(f.Fields[0])})
		return rq.replanned(r, err, "on hold", at)
	}}}
	return dlg
}

// chooseDialog asks whether an item is to be treated otherwise.
func (rq *Requests) chooseDialog(r operator.ErasureRequest, st gdpr.Step, at *planPlace) *dialog.Dialog {
	d, esc := rq.D, rq.D.St.Esc
	other, verb := gdpr.Forget, "Forget it"
	if st.Action == gdpr.Forget {
		other, verb = gdpr.Redact, "Redact it"
	}
	return &dialog.Dialog{Title: esc.Const("Choose"), NoReason: true, Lines: []text.Line{
		{Value: esc.Sprintf("%s is to %s. Shall it %s instead?", esc.LineMax(st.ID, prose.MaxTitle), passive(st.Action), passive(other)), Kind: text.Title},
		{Value: esc.Sprintf("The reason for the plan as it is: %s", esc.LineMax(st.Reason, prose.MaxReason))},
		{Value: esc.Const("This voids the plan and its approvals, and replans."), Kind: text.Note},
	}, Choices: []dialog.Choice{{Verb: verb, Act: func(ctx context.Context, _ dialog.Filled) dialog.Acted {
		return rq.replanned(r, d.Erasure.Choose(ctx, r.ID, gdpr.Choice{Store: st.Store, ID: st.ID, Action: other}), "noted", at)
	}}}}
}

func passive(act gdpr.Action) string {
	if act == gdpr.Forget {
		return "be forgotten"
	}
	return "be redacted"
}

// replanned goes on with a new plan after a decision on an item.
func (rq *Requests) replanned(r operator.ErasureRequest, err error, what string, at *planPlace) dialog.Acted {
	if err != nil {
		return dialog.Acted{Text: rq.D.Esc.Sprintf("not changed: %s", prose.Reason(rq.D.Esc, err))}
	}
	out := dialog.Acted{Ok: true, Text: rq.D.Esc.Sprintf("%s: the plan is made anew", what)}
	if rq.D.NoBulk() == "" {
		out.Then = func() tea.Cmd { return rq.discover(r, at) }
	}
	return out
}
