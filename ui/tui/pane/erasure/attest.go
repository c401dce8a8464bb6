package erasure

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/record"
)

// layerKeys are the keys of a list of layers beside those of every list.
func layerKeys(rq *requests, p *record.List[layerRow], r operator.ErasureRequest) []act.Act {
	layer := func() (receipt.Layer, bool) {
		row, ok := p.Window.Current()
		return row.Raw.layer, ok && !row.Raw.folded
	}
	return []act.Act{act.Attest.With(act.Unless(func() string { return rq.D.Locked("") }, func() string { return noChange(r) }, func() string {
		l, ok := layer()
		switch {
		case !ok:
			return "this row is no layer"
		case l.Verdict == model.VerdictUnaudited, l.HoldsPerson():
			return ""
		case l.Verdict == model.VerdictAttested:
			return "it is attested"
		}
		return "the program can judge it itself: " + verdictWords(l.Verdict)
	}), func() tea.Cmd {
		l, _ := layer()
		return rq.attest(r, l)
	})}
}

// attest asks for the ground on which an inspected layer may stay as it is.
func (rq *requests) attest(r operator.ErasureRequest, l receipt.Layer) tea.Cmd {
	d, esc := rq.D, rq.D.Esc
	lines := []text.Line{
		{Value: esc.Sprintf("Attest %s?", esc.LineMax(l.Store+": "+l.Layer, prose.MaxTitle)), Kind: text.Title},
		{Value: esc.Const("You say that you looked at it where the program cannot, and that it holds nothing of the person or may stay. The receipt names you, the day and the article of the ground, never its words.")},
		text.Advice(esc, "When its bytes change it is asked again. `r` looks again at the end."),
	}
	lines = append(lines, text.Known(text.Line{Value: esc.LineMax(l.Reason, prose.MaxReason), Kind: text.Note})...)
	dlg := &dialog.Dialog{Title: esc.Const("Attest"), NoReason: true, Lines: lines, Fields: []dialog.Field{{Label: esc.Const("ground (required): ")}, {Label: esc.Const("who looked (empty: you): ")}}}
	return d.Modal.Show(dlg.Does(esc, "Attest", "not attested", func(ctx context.Context, fields []string) (dialog.Acted, error) {
		in := gdpr.Looked{Store: l.Store, Layers: []string{l.Layer}, Ground: strings.TrimSpace(fields[0]), By: strings.TrimSpace(fields[1])}
		return dialog.Acted{Ok: true, Text: esc.Sprintf("attested: %s; r looks again", esc.LineMax(l.Layer, prose.MaxTitle))}, d.Erasure.Attest(ctx, r.ID, in)
	}))
}
