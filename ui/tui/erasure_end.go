package tui

import (
	"context"
	"strings"

	"memdesk/gdpr"
	"memdesk/model"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// liftDialog asks which hold of a request is to be lifted: the item of item where a
// list has it, else the one that is typed. Of a complete request the names of what it
// holds are gone, and only the operator knows them.
func (rq *requests) liftDialog(r ErasureRequest, item, wrong string, at *planPlace) *dialog {
	d, esc := rq.d, rq.d.st.Esc
	lines := []text.Line{{Value: esc.Const("Lift a hold?"), Kind: text.Title}}
	if wrong != "" {
		lines = append([]text.Line{{Value: esc.Sprintf("!! %s", esc.LineMax(wrong, prose.MaxReason)), Kind: text.Warn}}, lines...)
	}
	for _, h := range r.Holds {
		ref := model.Ref{Store: h.Store, ID: h.ID}.String()
		if item == "" && !r.Done() {
			item = ref
		}
		lines = append(lines, text.Line{Value: esc.Sprintf("%s: %s", esc.LineMax(ref, prose.MaxTitle), esc.LineMax(h.Ground, prose.MaxTitle))})
	}
	next := "This voids the plan and its approvals, and replans."
	if r.Done() {
		next = "The item's name is gone from the request: type it. `memdesk gdpr sweep` erases what the hold kept."
	}
	lines = append(lines, text.Line{Value: esc.Const(next), Kind: text.Note})
	dlg := &dialog{title: esc.Const("Hold"), noReason: true, lines: lines, fields: []field{{label: esc.Const("item, STORE:ID: ")}}}
	dlg.fields[0].input.Set(item)
	dlg.choices = []choice{{verb: "Lift", act: func(ctx context.Context, f filled) acted {
		ref, err := model.ParseRef(strings.TrimSpace(f.fields[0]))
		if err == nil {
			err = d.Erasure.Unhold(ctx, r.ID, gdpr.Hold{Store: ref.Store, ID: ref.ID})
		}
		switch {
		case err != nil:
			return acted{next: rq.liftDialog(r, f.fields[0], "not lifted: "+prose.Reason(d.esc, err).String(), at)}
		case r.Done():
			return acted{ok: true, text: d.esc.Const("lifted; memdesk gdpr sweep erases what it kept")}
		}
		return rq.replanned(r, nil, "lifted", at)
	}}}
	return dlg
}

// withdrawDialog asks why a request is closed without an erasure.
func (rq *requests) withdrawDialog(r ErasureRequest, wrong string) *dialog {
	d, esc := rq.d, rq.d.st.Esc
	lines := []text.Line{
		{Value: esc.Sprintf("Withdraw %s?", r.ID), Kind: text.Title},
		{Value: esc.Const("It is closed for good: its names, holds and plan go, and the record that there was one stays. No store is touched.")},
	}
	if r.Unfinished() || r.Stopped() {
		lines = append(lines, text.Line{Value: esc.Const("!! Its erasure has begun: what is erased stays erased, the rest stays."), Kind: text.Warn})
	}
	if wrong != "" {
		lines = append([]text.Line{{Value: esc.Sprintf("!! %s", esc.LineMax(wrong, prose.MaxReason)), Kind: text.Warn}}, lines...)
	}
	dlg := &dialog{title: esc.Const("Withdraw"), noReason: true, lines: lines, fields: []field{{label: esc.Const("who took it back and why, required: ")}}}
	dlg.choices = []choice{{verb: "Withdraw", act: func(ctx context.Context, f filled) acted {
		if err := d.Erasure.Withdraw(ctx, r.ID, f.fields[0]); err != nil {
			return acted{next: rq.withdrawDialog(r, "not withdrawn: "+prose.Reason(d.esc, err).String())}
		}
		return acted{ok: true, text: d.esc.Sprintf("withdrawn: %s", r.ID)}
	}}}
	return dlg
}
