package erasure

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/gdpr"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// liftDialog asks which hold to lift; a complete request has no ids of held items: the operator types one.
func (rq *requests) liftDialog(r operator.ErasureRequest, item string, at *planPlace) *dialog.Dialog {
	d, esc := rq.D, rq.D.Esc
	lines := []text.Line{{Value: esc.Const("Lift a hold?"), Kind: text.Title}}
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
	dlg := &dialog.Dialog{Title: esc.Const("Hold"), NoReason: true, Lines: lines, Fields: []dialog.Field{{Label: esc.Const("item, STORE:ID: ")}}}
	dlg.Fields[0].Input.Set(item)
	return dlg.Does(esc, "Lift", "not lifted", func(ctx context.Context, fields []string) (dialog.Acted, error) {
		ref, err := model.ParseRef(strings.TrimSpace(fields[0]))
		if err == nil {
			err = d.Erasure.Unhold(ctx, r.ID, gdpr.Hold{Store: ref.Store, ID: ref.ID})
		}
		if r.Done() {
			return dialog.Acted{Ok: true, Text: esc.Const("lifted; memdesk gdpr sweep erases what it kept")}, err
		}
		return rq.replanned(r, nil, "lifted", at), err
	})
}

// withdraw asks why to close a request without an erasure.
func (rq *requests) withdraw(r operator.ErasureRequest) tea.Cmd {
	d, esc := rq.D, rq.D.Esc
	lines := []text.Line{
		{Value: esc.Sprintf("Withdraw %s?", r.ID), Kind: text.Title},
		{Value: esc.Const("It is closed for good: its names, holds and plan go, and the record that there was one stays. No store is touched. The reason says who took it back, and why.")},
	}
	if r.Unfinished() || r.Stopped() {
		lines = append(lines, text.Line{Value: esc.Const("Its erasure has begun: what is erased stays erased, the rest stays."), Kind: text.Alert})
	}
	dlg := &dialog.Dialog{Title: esc.Const("Withdraw"), NoReason: true, Lines: lines, Fields: []dialog.Field{{Label: esc.Const("reason (required): ")}}}
	return d.Modal.Show(dlg.Does(esc, "Withdraw", "not withdrawn", func(ctx context.Context, fields []string) (dialog.Acted, error) {
		return dialog.Acted{Ok: true, Text: esc.Sprintf("withdrawn: %s", r.ID)}, d.Erasure.Withdraw(ctx, r.ID, fields[0])
	}))
}
