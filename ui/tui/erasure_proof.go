package tui

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/internal/safetext"
	"memdesk/model"
)

// verdictWords say what a layer's verdict means, with a sign: never by colour
// alone (erasure-physical.md, Verdicts).
func verdictWords(v model.Verdict) string {
	switch v {
	case model.VerdictClean:
		return "+ clean"
	case model.VerdictResidue:
		return "! something left"
	case model.VerdictPending:
		return "~ waits"
	case model.VerdictUnaudited:
		return "? not looked at"
	case model.VerdictFailed:
		return "x failed"
	case model.VerdictOutOfScope:
		return "- out of reach"
	case model.VerdictAttested:
		return "= attested"
	}
	return "? " + string(v)
}

func passes(v model.Verdict) bool { return receipt.Passes(v) }

// verdictAdvice says what there is to do about a verdict.
func verdictAdvice(v model.Verdict) string {
	switch v {
	case model.VerdictClean:
		return "Looked at, and nothing names the person."
	case model.VerdictResidue:
		return "The person is still there: something came back, changed meanwhile or was kept. p plans again, then E."
	case model.VerdictPending:
		return "Somebody holds the layer back: a reader with an old snapshot, or a sync. When it has gone, r goes on."
	case model.VerdictUnaudited:
		return "Nobody could look at it, so nobody can say that it is clean. Put right what the reason names, or look at it yourself and attest it with t; then r."
	case model.VerdictFailed:
		return "The store did not do it. 1 Health tries the store again; then r goes on."
	case model.VerdictOutOfScope:
		return "memdesk cannot change it; the receipt names it, with the reason. What is on hold stands here too. Where it holds the person, the request stays open until that is done or attested with t."
	case model.VerdictAttested:
		return "A person looked at it where memdesk cannot. Another text of it asks for that again."
	}
	return ""
}

// openVerdicts lists the layers of a request with their verdicts.
func (a *App) openVerdicts(r ErasureRequest) tea.Cmd {
	d := a.d
	return a.layersSide(r, "Layers of "+r.ID, func(ctx context.Context) ([]receipt.Layer, error) {
		if r.Done() {
			_, rec, _, err := d.erasure.Receipt(ctx, r.ID)
			return rec.Layers, err
		}
		out, _, err := d.erasure.Report(ctx, r.ID)
		return out.Layers, err
	})
}

// layersSide lists what is not clean, the worst first, and after it what is clean in
// one row; that row in full names each. A filter looks through all.
func (a *App) layersSide(r ErasureRequest, title string, get func(ctx context.Context) ([]receipt.Layer, error)) tea.Cmd {
	d := a.d
	return a.openSide(title, recordKind{
		noun: "layer", empty: "There are no layers.",
		columns: []column{{"STORE", 13, false}, {"VERDICT", 17, false}, {"BYTES", 12, true}, {"LAYER", 0, false}},
		fetch: func(ctx context.Context, q PageQuery) (span[record], said, error) {
			layers, err := get(ctx)
			if err != nil {
				return span[record]{}, said{}, err
			}
			start := 0
			if q.Cursor != "" {
				if start, err = strconv.Atoi(q.Cursor); err != nil {
					return span[record]{}, said{}, model.Errorf(model.InvalidInput, "layers", "this cursor is of another list")
				}
			}
			rows, clean := receipt.Split(layers)
			if q.Filter != "" {
				rows = append(rows, clean.Rows...)
			}
			out := span[record]{total: model.Count{N: int64(len(rows)), Unknown: q.Filter != ""}}
			i := start
			for ; i < len(rows) && len(out.rows) < q.Limit; i++ {
				l := rows[i]
				if containsAll(q, l.Store, l.Layer, verdictWords(l.Verdict), l.Method, l.Reason) {
					out.rows = append(out.rows, layerRecord(d.esc, i, l))
				}
			}
			switch {
			case i < len(rows):
				out.next = strconv.Itoa(i)
			case q.Filter == "" && clean.Layers > 0:
				out.rows, out.total.N = append(out.rows, foldRecord(d.esc, clean)), out.total.N+1
			}
			return out, said{text: layersNotice(d.esc, layers)}, nil
		},
		detail: func(_ context.Context, raw any) *text {
			if f, folded := raw.(receipt.Fold); folded {
				return foldText(d.esc, f)
			}
			return layerText(d.esc, raw.(receipt.Layer))
		},
		keys: func(p *records) []Binding { return a.layerKeys(p, r) },
		crumb: func(raw any) safetext.Text {
			if f, folded := raw.(receipt.Fold); folded {
				return d.esc.Const(plural(f.Layers, "clean layer"))
			}
			return d.esc.Line(raw.(receipt.Layer).Store)
		},
	})
}

// foldRecord is the row that stands for what is clean.
func foldRecord(esc safetext.Escaper, f receipt.Fold) record {
	return record{key: "clean", raw: f, cells: []safetext.Text{
		esc.Const(plural(f.Layers, "layer")), esc.Const(verdictWords(model.VerdictClean)), esc.Const(size(f.Bytes)), esc.LineMax(f.Words(), maxField),
	}}
}

// foldText names each clean layer, store by store.
func foldText(esc safetext.Escaper, f receipt.Fold) *text {
	head := []headLine{
		{value: esc.Sprintf("%s clean", plural(f.Layers, "layer")), kind: headTitle},
		{value: esc.Const(verdictAdvice(model.VerdictClean))},
		{name: esc.Const("kinds"), value: esc.LineMax(f.Words(), maxField)},
		{name: esc.Const("looked at"), value: esc.Sprintf("%s (%s bytes)", size(f.Bytes), group(f.Bytes))},
		{kind: headBlank},
	}
	for _, l := range f.Rows {
		head = append(head, layerLine(esc, l))
	}
	return newText(head, "")
}

// layerLine is a layer in a line of a page.
func layerLine(esc safetext.Escaper, l receipt.Layer) headLine {
	line := esc.Sprintf("%s: %s, %s looked at", verdictWords(l.Verdict), esc.LineMax(l.Layer, maxTitle), size(l.BytesScanned))
	if l.Reason != "" {
		line = esc.Sprintf("%s. %s", line, esc.LineMax(l.Reason, maxTitle))
	}
	return headLine{name: esc.Line(l.Store), value: line}
}

// layersNotice says how many layers do not pass; nothing when all do.
func layersNotice(esc safetext.Escaper, layers []receipt.Layer) safetext.Text {
	bad := 0
	for _, l := range layers {
		if !passes(l.Verdict) {
			bad++
		}
	}
	if bad == 0 {
		return safetext.Text{}
	}
	return esc.Sprintf("%s of %s not clean yet", group(int64(bad)), plural(int64(len(layers)), "layer"))
}

func layerRecord(esc safetext.Escaper, i int, l receipt.Layer) record {
	t := toneInfo
	switch {
	case l.Verdict == model.VerdictResidue || l.Verdict == model.VerdictFailed:
		t = toneBad
	case !passes(l.Verdict):
		t = toneWarn
	}
	return record{key: strconv.Itoa(i), raw: l, tones: []tone{toneInfo, t}, cells: []safetext.Text{
		esc.Line(l.Store), esc.Const(verdictWords(l.Verdict)), esc.Const(size(l.BytesScanned)), esc.LineMax(l.Layer, maxTitle),
	}}
}

func layerText(esc safetext.Escaper, l receipt.Layer) *text {
	field := func(name string, v safetext.Text) headLine { return headLine{name: esc.Const(name), value: v} }
	head := []headLine{
		{value: esc.LineMax(l.Layer, maxField), kind: headTitle},
		field("verdict", esc.Const(verdictWords(l.Verdict))),
		{value: esc.Const(verdictAdvice(l.Verdict)), kind: headNote},
	}
	if l.Reason != "" {
		head = append(head, field("reason", esc.LineMax(l.Reason, maxReason)))
	}
	return newText(append(head, field("store", esc.Line(l.Store)), field("method", esc.LineMax(l.Method, maxField)),
		field("looked at", esc.Sprintf("%s (%s bytes)", size(l.BytesScanned), group(l.BytesScanned))), field("found", esc.Sprintf("%s", plural(l.Hits, "hit")))), "")
}

// verifyErasure looks again at everything; a complete request has no names any
// more, so the person's id is asked for.
func (a *App) verifyErasure(r ErasureRequest) tea.Cmd {
	if !r.Done() {
		return a.verifyNow(r, "")
	}
	esc := a.d.st.esc
	dlg := &dialog{title: esc.Const("Verify"), noReason: true, lines: []headLine{
		{value: esc.Sprintf("Look again at every store for the person of %s?", r.ID), kind: headTitle},
		{value: esc.Const("The names are gone from here. Type the person's id as it was filed; it is not kept, and another person's is refused.")},
		{value: esc.Const("Each other name that you give, ; between them, is looked for in recall and in the bytes of databases too."), kind: headNote},
	}, fields: []field{{label: esc.Const("person's id: ")}, {label: esc.Const("other names: ")}}}
	dlg.choices = []choice{{verb: "Look again", act: func(_ context.Context, f filled) acted {
		id := strings.TrimSpace(f.fields[0])
		return acted{ok: true, quiet: true, then: func() tea.Cmd { return a.verifyNow(r, id, namesIn(f.fields[1], id)...) }}
	}}}
	return a.show(dlg)
}

// verifyNow runs as long work, then lists the layers.
func (a *App) verifyNow(r ErasureRequest, typed string, aliases ...string) tea.Cmd {
	d := a.d
	if why := d.noBulk(); why != "" {
		d.say(toneWarn, d.st.esc.Const(why))
		return nil
	}
	var layers []receipt.Layer
	b := &bulk{kind: "console-verify", title: "verify " + r.ID, noun: "store", bad: "not clean", total: len(d.fleet.Members())}
	b.run = func(ctx context.Context, _ Job, b *bulk) error {
		b.note(d.esc.Const("every store and layer is looked at again"))
		var err error
		if layers, err = d.erasure.Verify(ctx, r.ID, typed, aliases...); err != nil {
			if ctx.Err() != nil {
				b.stop()
			}
			return err
		}
		var rows []outcome
		for _, l := range layers {
			rows = append(rows, outcome{store: l.Store, name: l.Layer, ok: passes(l.Verdict), word: verdictWords(l.Verdict), why: d.esc.LineMax(l.Reason, maxReason)})
		}
		b.settle(rows, "layer")
		return nil
	}
	b.then = func() tea.Cmd {
		if b.err != nil {
			return nil
		}
		return a.layersSide(r, "Layers of "+r.ID+", looked at now", func(context.Context) ([]receipt.Layer, error) { return layers, nil })
	}
	return a.watch(b)
}

// approvalDialog stands where an erasure was asked for that somebody else has to
// approve first.
func (a *App) approvalDialog(r ErasureRequest, p gdpr.Plan, why string) *dialog {
	return &dialog{title: a.d.esc.Const("Approval"), noReason: true, lines: a.approvalLines(r, p, why)}
}

func (a *App) approvalLines(r ErasureRequest, p gdpr.Plan, why string) []headLine {
	d, esc := a.d, a.d.esc
	rules := d.erasure.Rules()
	title := esc.Const("The plan is approved, or needs no approval")
	if why != "" {
		title = esc.Sprintf("Not yet: %s", esc.LineMax(why, maxReason))
	}
	lines := []headLine{{value: title, kind: headTitle}}
	switch {
	case !rules.RequireApproval:
		lines = append(lines, headLine{value: esc.Const("The configuration demands no second operator ([gdpr] require_approval).")})
	case len(rules.Approvers) == 0:
		lines = append(lines, headLine{value: esc.Const("Any other operator may approve, with an SSH key that is not the requester's.")})
	default:
		lines = append(lines, headLine{value: esc.Const("One of these keys has to approve, and not the requester's own:")})
		for _, k := range rules.Approvers {
			lines = append(lines, headLine{value: esc.Sprintf("  %s", esc.LineMax(k, maxTitle))})
		}
	}
	lines = append(lines, headLine{value: esc.Const("They look at the plan and sign exactly this one; it is void when anything in it changes:"), kind: headNote},
		headLine{value: esc.Sprintf("  memdesk gdpr approve %s --plan-hash %s --key FILE", r.ID, p.Hash)})
	for _, s := range r.Approvals {
		lines = append(lines, headLine{value: esc.Sprintf("signed by %s, counts until %s", esc.LineMax(s.Fingerprint, maxTitle), moment(s.Expires))})
	}
	return lines
}

// showApproval is the same as a page.
func (a *App) showApproval(r ErasureRequest) tea.Cmd {
	d := a.d
	return a.ask(func(ctx context.Context) any {
		now, err := d.erasure.Request(ctx, r.ID)
		var p gdpr.Plan
		if err == nil {
			p, err = d.erasure.Plan(ctx, r.ID)
		}
		var why string
		if err == nil {
			why, err = d.erasure.Unapproved(ctx, r.ID)
		}
		if err != nil {
			return acted{quiet: true, text: reason(d.esc, err)}
		}
		return acted{ok: true, quiet: true, title: "Approval", page: newText(a.approvalLines(now, p, why), "")}
	})
}

// showReceipt is the receipt as a page, with whether it is as it was signed.
func (a *App) showReceipt(r ErasureRequest) tea.Cmd {
	d := a.d
	return a.ask(func(ctx context.Context) any {
		_, rec, key, err := d.erasure.Receipt(ctx, r.ID)
		if errors.Is(err, receipt.ErrTampered) {
			return acted{quiet: true, title: "Receipt", text: d.esc.Const("the receipt is NOT as it was signed"), page: newText([]headLine{
				{value: d.esc.Const("!! The receipt is not as it was signed, so it proves nothing."), kind: headWarn},
				{value: reason(d.esc, err)},
				{value: d.esc.Const("Take the file from a backup of the state directory, or look again with v."), kind: headNote},
			}, "")}
		}
		if err != nil {
			return acted{quiet: true, text: reason(d.esc, err)}
		}
		return acted{ok: true, quiet: true, title: "Receipt of " + r.ID, page: newText(receiptLines(d.esc, rec, key), "")}
	})
}

// receiptLines are the receipt for people.
func receiptLines(esc safetext.Escaper, rec receipt.Receipt, key string) []headLine {
	field := func(name string, v safetext.Text) headLine { return headLine{name: esc.Const(name), value: v} }
	approver := esc.LineMax(rec.ApproverWords(), maxTitle)
	head := []headLine{
		{value: esc.Sprintf("Receipt of the erasure %s", esc.Line(rec.Request)), kind: headTitle},
		field("signature", esc.Sprintf("+ verified: every byte is as it was signed, with key %s", esc.Line(key))),
		field("person", esc.Sprintf("%s (keyed pseudonym)", esc.Line(rec.Subject))),
		field("status", esc.LineMax(rec.StatusWords(), maxField)), field("ground", esc.LineMax(rec.Ground, maxTitle)),
		field("done", esc.Sprintf("%s forgotten, %s redacted, %s on hold", group(rec.Forgotten), group(rec.Redacted), group(receipt.Items(rec.Held)))),
		field("received", esc.Line(rec.Received)), field("deadline", esc.Line(rec.Deadline)),
		field("begun", esc.Line(rec.Begun)), field("finished", esc.Line(rec.Finished)),
		field("operator", esc.LineMax(rec.Operator.String(), maxTitle)), field("approved by", approver), field("plan", esc.Line(rec.Plan)),
		{kind: headBlank}, {value: esc.Const("Stores"), kind: headTitle},
	}
	for _, s := range rec.Stores {
		head = append(head, headLine{name: esc.Line(s.Store), value: esc.Sprintf("%s forgotten, %s redacted, %s on hold, %s scrubbed",
			group(s.Forgotten), group(s.Redacted), group(s.Held), plural(s.Rows, "row"))})
	}
	head = append(head, headLine{kind: headBlank}, headLine{value: esc.Const("Layers"), kind: headTitle})
	standing, clean := receipt.Split(rec.Layers)
	for _, l := range standing {
		head = append(head, layerLine(esc, l))
	}
	if clean.Layers > 0 {
		head = append(head, headLine{value: esc.Sprintf("%s. V lists all.", esc.LineMax(clean.String(), maxField))})
		for _, n := range clean.Notes {
			head = append(head, headLine{name: esc.Line(n.Store), value: esc.Sprintf("%s: %s", esc.LineMax(n.Layer, maxTitle), esc.LineMax(n.Reason, maxTitle))})
		}
	}
	head = append(head, chapter(esc, "Where the person still is", rec.Open)...)
	head = append(head, chapter(esc, "Attested", rec.Attested)...)
	head = append(head, chapter(esc, "Exports", rec.Exports)...)
	head = append(head, chapter(esc, "Recipients", rec.Recipients)...)
	head = append(head, chapter(esc, "Backups", rec.Backups)...)
	if len(rec.Notes) > 0 {
		head = append(head, headLine{kind: headBlank}, headLine{value: esc.Const("Limits"), kind: headTitle})
		for _, n := range rec.Notes {
			head = append(head, headLine{value: esc.LineMax(n, maxReason)})
		}
	}
	return append(head, headLine{kind: headBlank}, headLine{value: esc.Const("This page is for people. S saves the signed file, which is the proof: memdesk gdpr verify FILE checks it offline."), kind: headNote})
}

// chapter is a heading with a line for each row; nothing without rows.
func chapter[T fmt.Stringer](esc safetext.Escaper, title string, rows []T) []headLine {
	if len(rows) == 0 {
		return nil
	}
	head := []headLine{{kind: headBlank}, {value: esc.Const(title), kind: headTitle}}
	for _, r := range rows {
		head = append(head, headLine{value: esc.LineMax(r.String(), maxReason)})
	}
	return head
}

// saveReceipt asks for a file to write the receipt to, or as long as there is none the
// status report.
func (a *App) saveReceipt(r ErasureRequest) tea.Cmd {
	name := r.ID + ".json"
	if !r.Receipted() {
		name = r.ID + "-report.md"
	}
	return a.show(a.saveDialogOf(r, "~/"+name, ""))
}

func (a *App) saveDialogOf(r ErasureRequest, path, wrong string) *dialog {
	d, esc := a.d, a.d.st.esc
	dlg := &dialog{title: esc.Const("Receipt"), noReason: true, lines: []headLine{
		{value: esc.Sprintf("Save the receipt of %s?", r.ID), kind: headTitle},
		{value: esc.Const("The signed file, or a page to read and print where the name ends in .md. A file that is there is not overwritten."), kind: headNote},
	}}
	if !r.Receipted() {
		dlg.title = esc.Const("Report")
		dlg.lines = []headLine{
			{value: esc.Sprintf("Save the status report of %s?", r.ID), kind: headTitle},
			{value: esc.Const("It is not complete, so this is no receipt: what is done, what is left and what to do, and nobody's name. JSON, or a page to read and print where the name ends in .md. A file that is there is not overwritten."), kind: headNote},
		}
	}
	if wrong != "" {
		dlg.lines = append([]headLine{{value: esc.Sprintf("!! %s", wrong), kind: headWarn}}, dlg.lines...)
	}
	dlg.fields = []field{{label: esc.Const("file: ")}}
	dlg.fields[0].input.set(path)
	dlg.choices = []choice{{verb: "Save", act: func(ctx context.Context, f filled) acted {
		n, err := d.erasure.SaveReceipt(ctx, r.ID, strings.TrimSpace(f.fields[0]))
		if err != nil {
			return acted{next: a.saveDialogOf(r, f.fields[0], "not saved: "+reason(d.esc, err).String())}
		}
		return acted{ok: true, quiet: true, text: d.esc.Sprintf("saved, %s bytes: %s", group(n), d.esc.LineMax(f.fields[0], maxTitle))}
	}}}
	return dlg
}

// exportErasure asks where everything about the person should be written.
func (a *App) exportErasure(r ErasureRequest) tea.Cmd {
	return a.show(a.personExportDialog(r, "~/"+r.ID+"-export", ""))
}

func (a *App) personExportDialog(r ErasureRequest, path, wrong string) *dialog {
	d, esc := a.d, a.d.st.esc
	lines := []headLine{
		{value: esc.Sprintf("Export everything about %s?", esc.LineMax(r.Subject, maxTitle)), kind: headTitle},
		{value: esc.Const("For the person (Art. 15, 20): a new directory with export.json and a document per item, or one file where the name ends in .zip, for your eyes only. Shared items: only the lines that name the person."), kind: headNote},
	}
	if wrong != "" {
		lines = append([]headLine{{value: esc.Sprintf("!! %s", wrong), kind: headWarn}}, lines...)
	}
	dlg := &dialog{title: esc.Const("Export"), noReason: true, lines: lines, fields: []field{{label: esc.Const("directory or .zip: ")}}}
	dlg.fields[0].input.set(path)
	dlg.choices = []choice{{verb: "Export", act: func(ctx context.Context, f filled) acted {
		n, missing, err := d.erasure.Export(ctx, r.ID, strings.TrimSpace(f.fields[0]))
		if err != nil {
			return acted{next: a.personExportDialog(r, f.fields[0], "not exported: "+reason(d.esc, err).String())}
		}
		out := acted{ok: true, quiet: true, text: d.esc.Sprintf("exported %s: %s", plural(n, "item"), d.esc.LineMax(f.fields[0], maxTitle))}
		if len(missing) > 0 {
			out.ok = false
			out.title, out.page = "Export", d.warningPage(d.esc.Sprintf("Exported %s, but not all there is:", plural(n, "item")), missing)
		}
		return out
	}}}
	return dlg
}
