package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// layerKeys are the keys of a list of layers beside those of every list.
func (rq *requests) layerKeys(p *records[layerRow], r ErasureRequest) []act.Act {
	layer := func() (receipt.Layer, bool) {
		row, ok := p.list.current()
		return row.raw.layer, ok && !row.raw.folded
	}
	return []act.Act{act.Attest.With(func() string {
		if why := rq.d.locked(""); why != "" {
			return why
		}
		if why := stillOpen(r); why != "" {
			return why
		}
		l, ok := layer()
		switch {
		case !ok:
			return "this row is no layer"
		case l.Verdict == model.VerdictUnaudited, l.HoldsPerson():
			return ""
		case l.Verdict == model.VerdictAttested:
			return "it is attested"
		}
		return "the program can judge it itself: " + strings.TrimLeft(verdictWords(l.Verdict), "+!~?x-= ")
	}, func() tea.Cmd {
		l, _ := layer()
		return rq.d.modal.show(rq.attestDialog(r, l, "", ""))
	})}
}

// attestDialog asks on which ground a layer that was looked at may stay as it is.
func (rq *requests) attestDialog(r ErasureRequest, l receipt.Layer, ground, wrong string) *dialog {
	d, esc := rq.d, rq.d.st.Esc
	lines := []text.Line{
		{Value: esc.Sprintf("Attest %s?", esc.LineMax(l.Store+": "+l.Layer, prose.MaxTitle)), Kind: text.Title},
		{Value: esc.Const("You say that you looked at it where the program cannot, and that it holds nothing of the person or may stay. The receipt names you, the day and the article of the ground, never its words.")},
		{Value: esc.Const("When its bytes change it is asked again. r looks again at the end."), Kind: text.Note},
	}
	if l.Reason != "" {
		lines = append(lines, text.Line{Value: esc.LineMax(l.Reason, prose.MaxReason), Kind: text.Note})
	}
	if wrong != "" {
		lines = append([]text.Line{{Value: esc.Sprintf("!! %s", esc.LineMax(wrong, prose.MaxReason)), Kind: text.Warn}}, lines...)
	}
	dlg := &dialog{title: esc.Const("Attest"), noReason: true, lines: lines, fields: []field{{label: esc.Const("ground, required: ")}, {label: esc.Const("who looked, empty for you: ")}}}
	dlg.fields[0].input.Set(ground)
	dlg.choices = []choice{{verb: "Attest", act: func(ctx context.Context, f filled) acted {
		in := gdpr.Looked{Store: l.Store, Layers: []string{l.Layer}, Ground: strings.TrimSpace(f.fields[0]), By: strings.TrimSpace(f.fields[1])}
		if err := d.Erasure.Attest(ctx, r.ID, in); err != nil {
			return acted{next: rq.attestDialog(r, l, f.fields[0], "not attested: "+prose.Reason(d.esc, err).String())}
		}
		return acted{ok: true, text: d.esc.Sprintf("attested: %s; r looks again", d.esc.LineMax(l.Layer, prose.MaxTitle))}
	}}}
	return dlg
}
