package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/gdpr"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// planKeys are the keys of a plan beside those of every list.
func (rq *requests) planKeys(p *records[planRow], r ErasureRequest) []act.Act {
	step := func() *gdpr.Step {
		if row, ok := p.list.current(); ok {
			return row.raw.step
		}
		return nil
	}
	item := func() string {
		if why := rq.d.locked(""); why != "" {
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
	free := func() string { return rq.d.locked("") }
	out := []act.Act{
		act.Erase.Called("carry this plan out, after a question").With(free, func() tea.Cmd { return rq.erase(r) }),
		act.Hold.With(item, func() tea.Cmd { return rq.d.modal.show(rq.holdDialog(r, *step(), placeIn(p))) }),
		act.Lift.Called("lift the hold on this item, so that it goes too").With(func() string {
			if why := item(); why != "" {
				return why
			}
			if step().Action != gdpr.Held {
				return "it is not on hold"
			}
			return ""
		}, func() tea.Cmd {
			return rq.d.modal.show(rq.liftDialog(r, model.Ref{Store: step().Store, ID: step().ID}.String(), "", placeIn(p)))
		}),
		act.Choose.With(func() string {
			if why := item(); why != "" {
				return why
			}
			if step().Action == gdpr.Held {
				return "it is on hold"
			}
			return ""
		}, func() tea.Cmd { return rq.d.modal.show(rq.chooseDialog(r, *step(), placeIn(p))) }),
		act.Plan.Called("search every store again and make the plan anew").With(func() string {
			if why := rq.d.locked(""); why != "" {
				return why
			}
			return rq.d.noBulk()
		}, func() tea.Cmd { return rq.discover(r, placeIn(p)) }),
		act.Approve.With(nil, func() tea.Cmd { return rq.approve(r) }),
	}
	if p.full {
		return slices.DeleteFunc(out, func(b act.Act) bool { return b.Keys[0] == "p" }) // the step before
	}
	return out
}

// holdDialog asks for the ground of a hold.
func (rq *requests) holdDialog(r ErasureRequest, st gdpr.Step, at *planPlace) *dialog {
	d, esc := rq.d, rq.d.st.Esc
	dlg := &dialog{title: esc.Const("Hold"), noReason: true, lines: []text.Line{
		{Value: esc.Sprintf("Keep %s back from the erasure?", esc.LineMax(st.ID, prose.MaxTitle)), Kind: text.Title},
		{Value: esc.Const("It stays as it is, and the receipt says so, with the article alone. The ground is the exception that applies, such as Art. 17(3)(e), a legal claim.")},
		{Value: esc.Const("This voids the plan and its approvals, and replans."), Kind: text.Note},
	}, fields: []field{{label: esc.Const("ground, required: ")}}}
	dlg.choices = []choice{{verb: "Hold", act: func(ctx context.Context, f filled) acted {
		err := d.Erasure.Hold(ctx, r.ID, gdpr.Hold{Store: st.Store, ID: st.ID, Ground: strings.TrimSpace(f.fields[0])})
		return rq.replanned(r, err, "on hold", at)
	}}}
	return dlg
}

// chooseDialog asks whether an item is to be treated otherwise.
func (rq *requests) chooseDialog(r ErasureRequest, st gdpr.Step, at *planPlace) *dialog {
	d, esc := rq.d, rq.d.st.Esc
	other, verb := gdpr.Forget, "Forget it"
	if st.Action == gdpr.Forget {
		other, verb = gdpr.Redact, "Redact it"
	}
	return &dialog{title: esc.Const("Choose"), noReason: true, lines: []text.Line{
		{Value: esc.Sprintf("%s is to %s. Shall it %s instead?", esc.LineMax(st.ID, prose.MaxTitle), passive(st.Action), passive(other)), Kind: text.Title},
		{Value: esc.Sprintf("The reason for the plan as it is: %s", esc.LineMax(st.Reason, prose.MaxReason))},
		{Value: esc.Const("This voids the plan and its approvals, and replans."), Kind: text.Note},
	}, choices: []choice{{verb: verb, act: func(ctx context.Context, _ filled) acted {
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
func (rq *requests) replanned(r ErasureRequest, err error, what string, at *planPlace) acted {
	if err != nil {
		return acted{text: rq.d.esc.Sprintf("not changed: %s", prose.Reason(rq.d.esc, err))}
	}
	out := acted{ok: true, text: rq.d.esc.Sprintf("%s: the plan is made anew", what)}
	if rq.d.noBulk() == "" {
		out.then = func() tea.Cmd { return rq.discover(r, at) }
	}
	return out
}
