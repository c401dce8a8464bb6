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
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
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
func (rq *requests) openVerdicts(r ErasureRequest) tea.Cmd {
	d := rq.d
	return rq.layersSide(r, "Layers of "+r.ID, func(ctx context.Context) ([]receipt.Layer, error) {
		if r.Done() {
			_, rec, _, err := d.Erasure.Receipt(ctx, r.ID)
			return rec.Layers, err
		}
		out, _, err := d.Erasure.Report(ctx, r.ID)
		return out.Layers, err
	})
}

// layersSide lists what is not clean, the worst first, and after it what is clean in
// one row; that row in full names each. A filter looks through all.
func (rq *requests) layersSide(r ErasureRequest, title string, get func(ctx context.Context) ([]receipt.Layer, error)) tea.Cmd {
	d := rq.d
	return openSide(rq.d.desk, title, recordKind[layerRow]{
		noun: "layer", empty: "There are no layers.",
		columns: []column{{"STORE", 13, false}, {"VERDICT", 17, false}, {"BYTES", 12, true}, {"LAYER", 0, false}},
		fetch: func(ctx context.Context, q PageQuery) (span[record[layerRow]], said, error) {
			layers, err := get(ctx)
			if err != nil {
				return span[record[layerRow]]{}, said{}, err
			}
			start := 0
			if q.Cursor != "" {
				if start, err = strconv.Atoi(q.Cursor); err != nil {
					return span[record[layerRow]]{}, said{}, model.Errorf(model.InvalidInput, "layers", "this cursor is of another list")
				}
			}
			rows, clean := receipt.Split(layers)
			if q.Filter != "" {
				rows = append(rows, clean.Rows...)
			}
			out := span[record[layerRow]]{total: model.Count{N: int64(len(rows)), Unknown: q.Filter != ""}}
			i := start
			for ; i < len(rows) && len(out.rows) < q.Limit; i++ {
				l := rows[i]
				if q.Matches(l.Store, l.Layer, verdictWords(l.Verdict), l.Method, l.Reason) {
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
		detail: func(_ context.Context, raw layerRow) *text.Page {
			if raw.folded {
				return foldText(d.esc, raw.clean)
			}
			return layerText(d.esc, raw.layer)
		},
		keys: func(p *records[layerRow]) []act.Act { return rq.layerKeys(p, r) },
		crumb: func(raw layerRow) safetext.Text {
			if raw.folded {
				return d.esc.Const(prose.Plural(raw.clean.Layers, "clean layer"))
			}
			return d.esc.Line(raw.layer.Store)
		},
	})
}

// layerRow is a layer, or all that are clean in one row.
type layerRow struct {
	layer  receipt.Layer
	clean  receipt.Fold
	folded bool
}

// foldRecord is the row that stands for what is clean.
func foldRecord(esc safetext.Escaper, f receipt.Fold) record[layerRow] {
	return record[layerRow]{key: "clean", raw: layerRow{clean: f, folded: true}, cells: []safetext.Text{
		esc.Const(prose.Plural(f.Layers, "layer")), esc.Const(verdictWords(model.VerdictClean)), esc.Const(prose.Size(f.Bytes)), esc.LineMax(f.Words(), maxField),
	}}
}

// foldText names each clean layer, store by store.
func foldText(esc safetext.Escaper, f receipt.Fold) *text.Page {
	head := []text.Line{
		{Value: esc.Sprintf("%s clean", prose.Plural(f.Layers, "layer")), Kind: text.Title},
		{Value: esc.Const(verdictAdvice(model.VerdictClean))},
		{Name: esc.Const("kinds"), Value: esc.LineMax(f.Words(), maxField)},
		{Name: esc.Const("looked at"), Value: esc.Sprintf("%s (%s bytes)", prose.Size(f.Bytes), prose.Group(f.Bytes))},
		{Kind: text.Blank},
	}
	for _, l := range f.Rows {
		head = append(head, layerLine(esc, l))
	}
	return text.NewPage(head, "")
}

// layerLine is a layer in a line of a page.
func layerLine(esc safetext.Escaper, l receipt.Layer) text.Line {
	line := esc.Sprintf("%s: %s, %s looked at", verdictWords(l.Verdict), esc.LineMax(l.Layer, prose.MaxTitle), prose.Size(l.BytesScanned))
	if l.Reason != "" {
		line = esc.Sprintf("%s. %s", line, esc.LineMax(l.Reason, prose.MaxTitle))
	}
	return text.Line{Name: esc.Line(l.Store), Value: line}
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
	return esc.Sprintf("%s of %s not clean yet", prose.Group(int64(bad)), prose.Plural(int64(len(layers)), "layer"))
}

func layerRecord(esc safetext.Escaper, i int, l receipt.Layer) record[layerRow] {
	t := paint.ToneInfo
	switch {
	case l.Verdict == model.VerdictResidue || l.Verdict == model.VerdictFailed:
		t = paint.ToneBad
	case !passes(l.Verdict):
		t = paint.ToneWarn
	}
	return record[layerRow]{key: strconv.Itoa(i), raw: layerRow{layer: l}, tones: []paint.Tone{paint.ToneInfo, t}, cells: []safetext.Text{
		esc.Line(l.Store), esc.Const(verdictWords(l.Verdict)), esc.Const(prose.Size(l.BytesScanned)), esc.LineMax(l.Layer, prose.MaxTitle),
	}}
}

func layerText(esc safetext.Escaper, l receipt.Layer) *text.Page {
	field := func(name string, v safetext.Text) text.Line { return text.Line{Name: esc.Const(name), Value: v} }
	head := []text.Line{
		{Value: esc.LineMax(l.Layer, maxField), Kind: text.Title},
		field("verdict", esc.Const(verdictWords(l.Verdict))),
		{Value: esc.Const(verdictAdvice(l.Verdict)), Kind: text.Note},
	}
	if l.Reason != "" {
		head = append(head, field("reason", esc.LineMax(l.Reason, prose.MaxReason)))
	}
	return text.NewPage(append(head, field("store", esc.Line(l.Store)), field("method", esc.LineMax(l.Method, maxField)),
		field("looked at", esc.Sprintf("%s (%s bytes)", prose.Size(l.BytesScanned), prose.Group(l.BytesScanned))), field("found", esc.Sprintf("%s", prose.Plural(l.Hits, "hit")))), "")
}

// verifyErasure looks again at everything; a complete request has no names any
// more, so the person's id is asked for.
func (rq *requests) verifyErasure(r ErasureRequest) tea.Cmd {
	if !r.Done() {
		return rq.verifyNow(r, "")
	}
	esc := rq.d.st.Esc
	dlg := &dialog{title: esc.Const("Verify"), noReason: true, lines: []text.Line{
		{Value: esc.Sprintf("Look again at every store for the person of %s?", r.ID), Kind: text.Title},
		{Value: esc.Const("The names are gone from here. Type the person's id as it was filed; it is not kept, and another person's is refused.")},
		{Value: esc.Const("Each other name that you give, ; between them, is looked for in recall and in the bytes of databases too."), Kind: text.Note},
	}, fields: []field{{label: esc.Const("person's id: ")}, {label: esc.Const("other names: ")}}}
	dlg.choices = []choice{{verb: "Look again", act: func(_ context.Context, f filled) acted {
		id := strings.TrimSpace(f.fields[0])
		return acted{ok: true, quiet: true, then: func() tea.Cmd { return rq.verifyNow(r, id, namesIn(f.fields[1], id)...) }}
	}}}
	return rq.d.modal.show(dlg)
}

// verifyNow runs as long work, then lists the layers.
func (rq *requests) verifyNow(r ErasureRequest, typed string, aliases ...string) tea.Cmd {
	d := rq.d
	if why := d.noBulk(); why != "" {
		d.say(paint.ToneWarn, d.st.Esc.Const(why))
		return nil
	}
	var layers []receipt.Layer
	b := &bulk{kind: "console-verify", title: "verify " + r.ID, noun: "store", bad: "not clean", total: len(d.fleet.Members())}
	b.run = func(ctx context.Context, _ Job, b *bulk) error {
		b.note(d.esc.Const("every store and layer is looked at again"))
		var err error
		if layers, err = d.Erasure.Verify(ctx, r.ID, typed, aliases...); err != nil {
			if ctx.Err() != nil {
				b.stop()
			}
			return err
		}
		var rows []outcome
		for _, l := range layers {
			rows = append(rows, outcome{store: l.Store, name: l.Layer, ok: passes(l.Verdict), word: verdictWords(l.Verdict), why: d.esc.LineMax(l.Reason, prose.MaxReason)})
		}
		b.settle(rows, "layer")
		return nil
	}
	b.then = func() tea.Cmd {
		if b.err != nil {
			return nil
		}
		return rq.layersSide(r, "Layers of "+r.ID+", looked at now", func(context.Context) ([]receipt.Layer, error) { return layers, nil })
	}
	return rq.d.work.watch(b)
}

// approvalDialog stands where an erasure was asked for that somebody else has to
// approve first.
func (rq *requests) approvalDialog(r ErasureRequest, p gdpr.Plan, why string) *dialog {
	return &dialog{title: rq.d.esc.Const("Approval"), noReason: true, lines: rq.approvalLines(r, p, why)}
}

func (rq *requests) approvalLines(r ErasureRequest, p gdpr.Plan, why string) []text.Line {
	d, esc := rq.d, rq.d.esc
	rules := d.Erasure.Rules()
	title := esc.Const("The plan is approved, or needs no approval")
	if why != "" {
		title = esc.Sprintf("Not yet: %s", esc.LineMax(why, prose.MaxReason))
	}
	lines := []text.Line{{Value: title, Kind: text.Title}}
	switch {
	case !rules.RequireApproval:
		lines = append(lines, text.Line{Value: esc.Const("The configuration demands no second operator ([gdpr] require_approval).")})
	case len(rules.Approvers) == 0:
		lines = append(lines, text.Line{Value: esc.Const("Any other operator may approve, with an SSH key that is not the requester's.")})
	default:
		lines = append(lines, text.Line{Value: esc.Const("One of these keys has to approve, and not the requester's own:")})
		for _, k := range rules.Approvers {
			lines = append(lines, text.Line{Value: esc.Sprintf("  %s", esc.LineMax(k, prose.MaxTitle))})
		}
	}
	lines = append(lines, text.Line{Value: esc.Const("They look at the plan and sign exactly this one; it is void when anything in it changes:"), Kind: text.Note},
		text.Line{Value: esc.Sprintf("  memdesk gdpr approve %s --plan-hash %s --key FILE", r.ID, p.Hash)})
	for _, s := range r.Approvals {
		lines = append(lines, text.Line{Value: esc.Sprintf("signed by %s, counts until %s", esc.LineMax(s.Fingerprint, prose.MaxTitle), prose.Moment(s.Expires))})
	}
	return lines
}

// showReceipt is the receipt as a page, with whether it is as it was signed.
func (rq *requests) showReceipt(r ErasureRequest) tea.Cmd {
	d := rq.d
	return rq.d.ask(func(ctx context.Context) any {
		_, rec, key, err := d.Erasure.Receipt(ctx, r.ID)
		if errors.Is(err, receipt.ErrTampered) {
			return acted{quiet: true, title: "Receipt", text: d.esc.Const("the receipt is NOT as it was signed"), page: text.NewPage([]text.Line{
				{Value: d.esc.Const("!! The receipt is not as it was signed, so it proves nothing."), Kind: text.Warn},
				{Value: prose.Reason(d.esc, err)},
				{Value: d.esc.Const("Take the file from a backup of the state directory, or look again with v."), Kind: text.Note},
			}, "")}
		}
		if err != nil {
			return acted{quiet: true, text: prose.Reason(d.esc, err)}
		}
		return acted{ok: true, quiet: true, title: "Receipt of " + r.ID, page: text.NewPage(receiptLines(d.esc, rec, key), "")}
	})
}

// receiptLines are the receipt for people.
func receiptLines(esc safetext.Escaper, rec receipt.Receipt, key string) []text.Line {
	field := func(name string, v safetext.Text) text.Line { return text.Line{Name: esc.Const(name), Value: v} }
	approver := esc.LineMax(rec.ApproverWords(), prose.MaxTitle)
	head := []text.Line{
		{Value: esc.Sprintf("Receipt of the erasure %s", esc.Line(rec.Request)), Kind: text.Title},
		field("signature", esc.Sprintf("+ verified: every byte is as it was signed, with key %s", esc.Line(key))),
		field("person", esc.Sprintf("%s (keyed pseudonym)", esc.Line(rec.Subject))),
		field("status", esc.LineMax(rec.StatusWords(), maxField)), field("ground", esc.LineMax(rec.Ground, prose.MaxTitle)),
		field("done", esc.Sprintf("%s forgotten, %s redacted, %s on hold", prose.Group(rec.Forgotten), prose.Group(rec.Redacted), prose.Group(receipt.Items(rec.Held)))),
		field("received", esc.Line(rec.Received)), field("deadline", esc.Line(rec.Deadline)),
		field("begun", esc.Line(rec.Begun)), field("finished", esc.Line(rec.Finished)),
		field("operator", esc.LineMax(rec.Operator.String(), prose.MaxTitle)), field("approved by", approver), field("plan", esc.Line(rec.Plan)),
		{Kind: text.Blank}, {Value: esc.Const("Stores"), Kind: text.Title},
	}
	for _, s := range rec.Stores {
		head = append(head, text.Line{Name: esc.Line(s.Store), Value: esc.Sprintf("%s forgotten, %s redacted, %s on hold, %s scrubbed",
			prose.Group(s.Forgotten), prose.Group(s.Redacted), prose.Group(s.Held), prose.Plural(s.Rows, "row"))})
	}
	head = append(head, text.Line{Kind: text.Blank}, text.Line{Value: esc.Const("Layers"), Kind: text.Title})
	standing, clean := receipt.Split(rec.Layers)
	for _, l := range standing {
		head = append(head, layerLine(esc, l))
	}
	if clean.Layers > 0 {
		head = append(head, text.Line{Value: esc.Sprintf("%s. V lists all.", esc.LineMax(clean.String(), maxField))})
		for _, n := range clean.Notes {
			head = append(head, text.Line{Name: esc.Line(n.Store), Value: esc.Sprintf("%s: %s", esc.LineMax(n.Layer, prose.MaxTitle), esc.LineMax(n.Reason, prose.MaxTitle))})
		}
	}
	head = append(head, chapter(esc, "Where the person still is", rec.Open)...)
	head = append(head, chapter(esc, "Attested", rec.Attested)...)
	head = append(head, chapter(esc, "Exports", rec.Exports)...)
	head = append(head, chapter(esc, "Recipients", rec.Recipients)...)
	head = append(head, chapter(esc, "Backups", rec.Backups)...)
	if len(rec.Notes) > 0 {
		head = append(head, text.Line{Kind: text.Blank}, text.Line{Value: esc.Const("Limits"), Kind: text.Title})
		for _, n := range rec.Notes {
			head = append(head, text.Line{Value: esc.LineMax(n, prose.MaxReason)})
		}
	}
	return append(head, text.Line{Kind: text.Blank}, text.Line{Value: esc.Const("This page is for people. S saves the signed file, which is the proof: memdesk gdpr verify FILE checks it offline."), Kind: text.Note})
}

// chapter is a heading with a line for each row; nothing without rows.
func chapter[T fmt.Stringer](esc safetext.Escaper, title string, rows []T) []text.Line {
	if len(rows) == 0 {
		return nil
	}
	head := []text.Line{{Kind: text.Blank}, {Value: esc.Const(title), Kind: text.Title}}
	for _, r := range rows {
		head = append(head, text.Line{Value: esc.LineMax(r.String(), prose.MaxReason)})
	}
	return head
}

// saveReceipt asks for a file to write the receipt to, or as long as there is none the
// status report.
func (rq *requests) saveReceipt(r ErasureRequest) tea.Cmd {
	name := r.ID + ".json"
	if !r.Receipted() {
		name = r.ID + "-report.md"
	}
	return rq.d.modal.show(rq.saveDialogOf(r, "~/"+name, ""))
}

func (rq *requests) saveDialogOf(r ErasureRequest, path, wrong string) *dialog {
	d, esc := rq.d, rq.d.st.Esc
	dlg := &dialog{title: esc.Const("Receipt"), noReason: true, lines: []text.Line{
		{Value: esc.Sprintf("Save the receipt of %s?", r.ID), Kind: text.Title},
		{Value: esc.Const("The signed file, or a page to read and print where the name ends in .md. A file that is there is not overwritten."), Kind: text.Note},
	}}
	if !r.Receipted() {
		dlg.title = esc.Const("Report")
		dlg.lines = []text.Line{
			{Value: esc.Sprintf("Save the status report of %s?", r.ID), Kind: text.Title},
			{Value: esc.Const("It is not complete, so this is no receipt: what is done, what is left and what to do, and nobody's name. JSON, or a page to read and print where the name ends in .md. A file that is there is not overwritten."), Kind: text.Note},
		}
	}
	if wrong != "" {
		dlg.lines = append([]text.Line{{Value: esc.Sprintf("!! %s", wrong), Kind: text.Warn}}, dlg.lines...)
	}
	dlg.fields = []field{{label: esc.Const("file: ")}}
	dlg.fields[0].input.Set(path)
	dlg.choices = []choice{{verb: "Save", act: func(ctx context.Context, f filled) acted {
		n, err := d.Erasure.SaveReceipt(ctx, r.ID, strings.TrimSpace(f.fields[0]))
		if err != nil {
			return acted{next: rq.saveDialogOf(r, f.fields[0], "not saved: "+prose.Reason(d.esc, err).String())}
		}
		return acted{ok: true, quiet: true, text: d.esc.Sprintf("saved, %s bytes: %s", prose.Group(n), d.esc.LineMax(f.fields[0], prose.MaxTitle))}
	}}}
	return dlg
}

// exportErasure asks where everything about the person should be written.
func (rq *requests) exportErasure(r ErasureRequest) tea.Cmd {
	return rq.d.modal.show(rq.personExportDialog(r, "~/"+r.ID+"-export", ""))
}

func (rq *requests) personExportDialog(r ErasureRequest, path, wrong string) *dialog {
	d, esc := rq.d, rq.d.st.Esc
	lines := []text.Line{
		{Value: esc.Sprintf("Export everything about %s?", esc.LineMax(r.Subject, prose.MaxTitle)), Kind: text.Title},
		{Value: esc.Const("For the person (Art. 15, 20): a new directory with export.json and a document per item, or one file where the name ends in .zip, for your eyes only. Shared items: only the lines that name the person."), Kind: text.Note},
	}
	if wrong != "" {
		lines = append([]text.Line{{Value: esc.Sprintf("!! %s", wrong), Kind: text.Warn}}, lines...)
	}
	dlg := &dialog{title: esc.Const("Export"), noReason: true, lines: lines, fields: []field{{label: esc.Const("directory or .zip: ")}}}
	dlg.fields[0].input.Set(path)
	dlg.choices = []choice{{verb: "Export", act: func(ctx context.Context, f filled) acted {
		n, missing, err := d.Erasure.Export(ctx, r.ID, strings.TrimSpace(f.fields[0]))
		if err != nil {
			return acted{next: rq.personExportDialog(r, f.fields[0], "not exported: "+prose.Reason(d.esc, err).String())}
		}
		out := acted{ok: true, quiet: true, text: d.esc.Sprintf("exported %s: %s", prose.Plural(n, "item"), d.esc.LineMax(f.fields[0], prose.MaxTitle))}
		if len(missing) > 0 {
			out.ok = false
			out.title, out.page = "Export", d.warningPage(d.esc.Sprintf("Exported %s, but not all there is:", prose.Plural(n, "item")), missing)
		}
		return out
	}}}
	return dlg
}
