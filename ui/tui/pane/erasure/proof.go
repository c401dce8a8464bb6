package erasure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/record"
	"memdesk/ui/tui/task"
)

// verdictWords say what a layer's verdict means (erasure-physical.md, Verdicts).
func verdictWords(v model.Verdict) string {
	return cmp.Or(map[model.Verdict]string{
		model.VerdictResidue: "something left", model.VerdictPending: "waits", model.VerdictUnaudited: "not looked at", model.VerdictOutOfScope: "out of reach",
	}[v], string(v))
}

func verdictTone(l receipt.Layer) paint.Tone {
	switch l.Verdict {
	case model.VerdictClean, model.VerdictAttested:
		return paint.ToneGood
	case model.VerdictResidue, model.VerdictFailed:
		return paint.ToneBad
	}
	if passes(l) {
		return paint.ToneInfo
	}
	return paint.ToneWarn
}

// verdictAdvice says what to do about a verdict.
var verdictAdvice = map[model.Verdict]string{
	model.VerdictClean:      "Looked at, and nothing names the person.",
	model.VerdictResidue:    "The person is still there: something came back, changed meanwhile or was kept. `p` plans again, then `r`.",
	model.VerdictPending:    "Somebody holds the layer back: a reader with an old snapshot, or a sync. When it has gone, `r` goes on.",
	model.VerdictUnaudited:  "Nobody could look at it, so nobody can say that it is clean. Put right what the reason names, or look at it yourself and attest it with `t`; then `r`.",
	model.VerdictFailed:     "The store did not do it. `1` Health tries the store again; then `r` goes on.",
	model.VerdictOutOfScope: "memdesk cannot change it; the receipt names it, with the reason. What is on hold stands here too. Where it holds the person, the request stays open until that is done or attested with `t`.",
	model.VerdictAttested:   "A person looked at it where memdesk cannot. Another text of it asks for that again.",
}

// openVerdicts lists the layers of a request with their verdicts.
func (rq *requests) openVerdicts(r operator.ErasureRequest) tea.Cmd {
	d := rq.D
	return rq.layersSide(r, "Layers of "+r.ID, func(ctx context.Context) ([]receipt.Layer, error) {
		if r.Done() {
			_, rec, _, err := d.Erasure.Receipt(ctx, r.ID)
			return rec.Layers, err
		}
		out, _, err := d.Erasure.Report(ctx, r.ID)
		return out.Layers, err
	})
}

// layersSide lists the layers that are not clean, the worst first, and without a filter one row for the clean ones.
func (rq *requests) layersSide(r operator.ErasureRequest, title string, get func(ctx context.Context) ([]receipt.Layer, error)) tea.Cmd {
	d := rq.D
	return record.Open(rq.D.Desk, title, record.Kind[layerRow]{
		Noun: "layer", Empty: "There are no layers.", Traits: record.Traits[layerRow]{Badge: 2},
		Columns: []record.Column{{Title: "STORE", Width: 13, Least: 9}, {Title: "VERDICT", Width: 17, Least: 17}, {Title: "BYTES", Width: 12, Right: true, Dim: true}, {Title: "LAYER", Least: 20}},
		Fetch: func(ctx context.Context, q operator.PageQuery) (record.Page[layerRow], error) {
			layers, err := get(ctx)
			if err != nil {
				return record.Page[layerRow]{}, err
			}
			standing, clean := listed(layers)
			if q.Filter != "" {
				standing = append(standing, clean.Rows...)
			}
			out := record.OnePage(standing, func(i int, l receipt.Layer) (record.Row[layerRow], bool) {
				return layerRecord(d.St, i, l), q.Matches(l.Store, l.Layer, verdictWords(l.Verdict), l.Method, l.Reason)
			})
			if q.Filter == "" && clean.Layers > 0 {
				out.Rows = append(out.Rows, foldRecord(d.St, clean))
				out.Total.N++
			}
			out.Said = list.Said{Text: layersNotice(d.Esc, layers)}
			return out, nil
		},
		Detail: func(_ context.Context, raw layerRow) *text.Page {
			if raw.folded {
				return foldText(d.St, raw.clean)
			}
			return layerText(d.St, raw.layer)
		},
		Keys: func(p *record.List[layerRow]) []act.Act { return layerKeys(rq, p, r) },
		Crumb: func(raw layerRow) safetext.Text {
			if raw.folded {
				return d.Esc.Const(prose.Plural(raw.clean.Layers, "clean layer"))
			}
			return d.Esc.Line(raw.layer.Store)
		},
	})
}

// layerRow is a layer, or one row for all clean ones.
type layerRow struct {
	layer  receipt.Layer
	clean  receipt.Fold
	folded bool
}

// listed are the layers with a row of their own: those that are not clean, and those that are though memdesk cannot
// change them, for the plan has counted both as left.
func listed(layers []receipt.Layer) (rows []receipt.Layer, clean receipt.Fold) {
	rows, clean = receipt.Split(layers)
	var rest []receipt.Layer
	for _, l := range clean.Rows {
		if l.Remarked() {
			rows = append(rows, l)
		} else {
			rest = append(rest, l)
		}
	}
	_, clean = receipt.Split(rest)
	return rows, clean
}

func foldRecord(st *paint.Styles, f receipt.Fold) record.Row[layerRow] {
	esc := st.Esc
	return record.Row[layerRow]{Key: "clean", Raw: layerRow{clean: f, folded: true}, Tones: []paint.Tone{1: paint.ToneGood}, Cells: []safetext.Text{
		esc.Const(prose.Plural(f.Layers, "layer")), esc.Const(verdictWords(model.VerdictClean)), esc.Const(prose.Size(f.Bytes)), esc.LineMax(f.Words(), desk.MaxField),
	}}
}

// foldText names each clean layer, store by store.
func foldText(st *paint.Styles, f receipt.Fold) *text.Page {
	esc := st.Esc
	head := []text.Line{
		{Value: esc.Sprintf("%s clean", prose.Plural(f.Layers, "layer")), Kind: text.Title},
		text.Advice(esc, verdictAdvice[model.VerdictClean]).As(text.Field),
		{Name: esc.Const("kinds"), Value: esc.LineMax(f.Words(), desk.MaxField)},
		{Name: esc.Const("looked at"), Value: esc.Const(prose.Bytes(f.Bytes))},
		{Kind: text.Blank},
	}
	for _, l := range f.Rows {
		head = append(head, layerLine(st, l))
	}
	return text.NewPage(head, "")
}

func layerLine(st *paint.Styles, l receipt.Layer) text.Line {
	esc := st.Esc
	words := esc.Sprintf("%s: %s", esc.Line(verdictWords(l.Verdict)), esc.LineMax(l.Layer, prose.MaxTitle))
	if l.BytesScanned > 0 || l.Verdict == model.VerdictClean {
		words = esc.Sprintf("%s, %s looked at", words, prose.Size(l.BytesScanned))
	}
	if l.Reason != "" {
		words = esc.Sprintf("%s. %s", words, esc.LineMax(l.Reason, prose.MaxTitle))
	}
	return text.State(st, verdictTone(l), words).Named(esc.Line(l.Store))
}

// passes reports whether nothing of the person is left in a layer, as far as is known.
func passes(l receipt.Layer) bool { return receipt.Passes(l.Verdict) && !l.HoldsPerson() }

// layersNotice counts the layers that do not pass; empty when all do.
func layersNotice(esc safetext.Escaper, layers []receipt.Layer) safetext.Text {
	bad := 0
	for _, l := range layers {
		if !passes(l) {
			bad++
		}
	}
	if bad == 0 {
		return safetext.Text{}
	}
	return esc.Sprintf("%s of %s not clean yet", prose.Group(bad), prose.Plural(len(layers), "layer"))
}

func layerRecord(st *paint.Styles, i int, l receipt.Layer) record.Row[layerRow] {
	esc := st.Esc
	return record.Row[layerRow]{Key: strconv.Itoa(i), Raw: layerRow{layer: l}, Tones: []paint.Tone{1: verdictTone(l)}, Cells: []safetext.Text{
		esc.Line(l.Store), esc.Line(verdictWords(l.Verdict)), esc.Const(prose.Size(l.BytesScanned)), esc.LineMax(l.Layer, prose.MaxTitle),
	}}
}

func layerText(st *paint.Styles, l receipt.Layer) *text.Page {
	esc := st.Esc
	head := []text.Line{
		{Value: esc.LineMax(l.Layer, desk.MaxField), Kind: text.Title},
		text.State(st, verdictTone(l), esc.Line(verdictWords(l.Verdict))).Named(esc.Const("verdict")),
		text.Advice(esc, verdictAdvice[l.Verdict]),
	}
	head = append(head, text.Known(desk.Field("reason", esc.LineMax(l.Reason, prose.MaxReason)))...)
	return text.NewPage(append(head, desk.Field("store", esc.Line(l.Store)), desk.Field("method", esc.LineMax(l.Method, desk.MaxField)),
		desk.Field("looked at", esc.Const(prose.Bytes(l.BytesScanned))), desk.Field("found", esc.Sprintf("%s", prose.Plural(l.Hits, "hit")))), "")
}

// verifyErasure looks again at every layer; a complete request has no identifiers, so the id is asked for.
func (rq *requests) verifyErasure(r operator.ErasureRequest) tea.Cmd {
	if !r.Done() {
		return rq.verifyNow(r, "")
	}
	esc := rq.D.Esc
	dlg := &dialog.Dialog{Title: esc.Const("Verify"), NoReason: true, Lines: []text.Line{
		{Value: esc.Sprintf("Look again at every store for the person of %s?", r.ID), Kind: text.Title},
		{Value: esc.Const("The names are gone from here. Type the person's id as it was filed; it is not kept, and another person's is refused.")},
		{Value: esc.Const("Each other name that you give, ; between them, is looked for in recall and in the bytes of databases too."), Kind: text.Note},
	}, Fields: []dialog.Field{{Label: esc.Const("person's id: ")}, {Label: esc.Const("other names: ")}}}
	dlg.Choices = []dialog.Choice{{Verb: "Look again", Act: func(_ context.Context, f dialog.Filled) dialog.Acted {
		id := strings.TrimSpace(f.Fields[0])
		return dialog.Acted{Ok: true, Quiet: true, Then: func() tea.Cmd { return rq.verifyNow(r, id, namesIn(f.Fields[1], id)...) }}
	}}}
	return rq.D.Modal.Show(dlg)
}

// verifyNow runs as long work, then lists the layers.
func (rq *requests) verifyNow(r operator.ErasureRequest, typed string, aliases ...string) tea.Cmd {
	d := rq.D
	if why := d.NoBulk(); why != "" {
		return d.Warn("%s", why)
	}
	var layers []receipt.Layer
	b := &task.Bulk{Kind: "console-verify", Title: "verify " + r.ID, Noun: "store", Total: len(d.Fleet.Members())}
	b.Run = func(ctx context.Context, _ operator.Running, b *task.Bulk) error {
		b.Note(d.Esc.Const("every store and layer is looked at again"))
		var err error
		if layers, err = d.Erasure.Verify(ctx, r.ID, typed, aliases...); err != nil {
			if ctx.Err() != nil {
				b.Stop()
			}
			return err
		}
		var rows []task.Outcome
		for _, l := range layers {
			rows = append(rows, task.Outcome{Store: l.Store, Name: l.Layer, Ok: passes(l), Word: verdictWords(l.Verdict), Why: d.Esc.LineMax(l.Reason, prose.MaxReason)})
		}
		b.Settle(rows, "layer")
		return nil
	}
	b.Then = func() tea.Cmd {
		if b.Err != nil {
			return nil
		}
		return rq.layersSide(r, "Layers of "+r.ID+", looked at now", func(context.Context) ([]receipt.Layer, error) { return layers, nil })
	}
	return rq.D.Work.Watch(b)
}

// approvalLines say who has to approve a plan, and how; why is the reason that it is not approved. signs: the operator
// at hand is asked for a signature, which counts also where a session approves.
func (rq *requests) approvalLines(r operator.ErasureRequest, p gdpr.Plan, why string, signs bool) []text.Line {
	d, esc := rq.D, rq.D.Esc
	rules := d.Erasure.Rules()
	lines := []text.Line{{Value: esc.Sprintf("Not yet: %s", esc.LineMax(why, prose.MaxReason)), Kind: text.Title}}
	who, ok := approverLines(esc, rules, r.ByKey)
	if lines = append(lines, who...); !ok {
		return append(lines, rq.approvedLines(r)...)
	}
	if rules.Approval == gdpr.BySession {
		lines = append(lines, text.Advice(esc, "They log in with that key, open `6` and press `A`. You need not wait here: the approval appears by itself, and is void when anything in the plan changes."))
	}
	if signs || rules.Approval != gdpr.BySession {
		how := "They look at the plan and sign exactly this one; it is void when anything in it changes:"
		if signs {
			how = "Or from a shell that has the key:"
		}
		lines = append(lines, text.Line{Value: esc.Const(how), Kind: text.Note},
			text.Line{Value: esc.Sprintf("  memdesk gdpr approve %s --plan-hash %s --key FILE", r.ID, p.Short())})
	}
	return append(lines, rq.approvedLines(r)...)
}

// approverLines name who may approve; not ok: nobody may, since the requester's own keys do not count.
func approverLines(esc safetext.Escaper, rules gdpr.Policy, requester string) (lines []text.Line, ok bool) {
	if len(rules.Approvers) == 0 {
		return []text.Line{{Value: esc.Const("Any other operator may approve, with an SSH key that is not the requester's.")}}, true
	}
	lines = []text.Line{{Value: esc.Const("One of these keys has to approve:")}}
	for _, k := range rules.Approvers {
		if name := rules.Names[k]; k != requester && (name == "" || name != rules.Names[requester]) {
			lines = append(lines, text.Line{Value: esc.Sprintf("  %s", esc.LineMax(strings.TrimSpace(name+" "+k), prose.MaxTitle))})
		}
	}
	if len(lines) == 1 {
		return []text.Line{{Value: esc.Const("Nobody can: approvers in [gdpr] of the configuration names only the requester's own keys. Add another person's key."), Kind: text.Warn}}, false
	}
	return lines, true
}

// approvedLines say who approved, when and how, and how long that counts.
func (rq *requests) approvedLines(r operator.ErasureRequest) (out []text.Line) {
	esc := rq.D.Esc
	for _, a := range r.Approvals {
		who := cmp.Or(rq.D.Erasure.Rules().Names[a.Fingerprint], a.Fingerprint)
		line := desk.Field("approved by", esc.Sprintf("%s, %s, by %s; %s", esc.LineMax(who, prose.MaxTitle), prose.Moment(a.At), a.Method(), approvalEnd(a.Expires, rq.D.Time.Clock.Now())))
		if a.PlanHash != r.PlanHash {
			line.Value = esc.Sprintf("%s, of an earlier plan", line.Value)
		}
		out = append(out, line)
	}
	return out
}

// approvalEnd says until when an approval counts.
func approvalEnd(end, now time.Time) string {
	day := end.UTC().Format(time.DateOnly)
	switch left := end.Sub(now); {
	case left <= 0:
		return "ended " + day
	case left < 24*time.Hour:
		return "ends within a day, " + day
	default:
		return "ends in " + prose.Plural(int(left/(24*time.Hour)), "day") + ", " + day
	}
}

// didWords count what a run has done, in the order and the units of its plan.
func didWords(forgotten, redacted, held, rows int64) string {
	var parts []string
	add := func(n int64, what string) {
		if n > 0 {
			parts = append(parts, what)
		}
	}
	add(forgotten, prose.Plural(forgotten, "item")+" gone")
	add(redacted, prose.Group(redacted)+" redacted")
	add(rows, prose.Plural(rows, "row")+" scrubbed from layers")
	add(held, prose.Group(held)+" on hold")
	return cmp.Or(strings.Join(parts, ", "), "nothing was changed")
}

// rowsOf are the rows that were scrubbed from the layers of stores.
func rowsOf(all []receipt.Store) (n int64) {
	for _, s := range all {
		n += s.Rows
	}
	return n
}

// doneLines say what the run of a complete request has done, from its receipt; that of another one has a report. They
// run in a command.
func (rq *requests) doneLines(ctx context.Context, r operator.ErasureRequest) []text.Line {
	if r.State != gdpr.StateComplete {
		return nil
	}
	esc := rq.D.Esc
	_, rec, _, err := rq.D.Erasure.Receipt(ctx, r.ID)
	if err != nil {
		return []text.Line{{Value: prose.Reason(esc, err), Kind: text.Alert}}
	}
	done := esc.Const(didWords(rec.Forgotten, rec.Redacted, receipt.Items(rec.Held), rowsOf(rec.Stores)))
	standing, clean := receipt.Split(rec.Layers)
	again := esc.Sprintf("%s: %s clean", prose.Plural(len(rec.Stores), "store"), prose.Plural(clean.Layers, "layer"))
	var n int64
	for i, l := range standing { // in the order of their verdicts
		if n += max(l.Count, 1); i+1 == len(standing) || standing[i+1].Verdict != l.Verdict {
			again, n = esc.Sprintf("%s, %s %s", again, prose.Group(n), verdictWords(l.Verdict)), 0
		}
	}
	return append([]text.Line{{Kind: text.Blank}}, desk.Field("done", done), desk.Field("looked at", again))
}

// showReceipt shows the receipt, and whether its signature holds.
func (rq *requests) showReceipt(r operator.ErasureRequest) tea.Cmd {
	d := rq.D
	return rq.D.Ask(func(ctx context.Context) any {
		signed, rec, key, err := d.Erasure.Receipt(ctx, r.ID)
		if errors.Is(err, receipt.ErrTampered) {
			return dialog.Acted{Quiet: true, Title: "Receipt", Text: d.Esc.Const("the receipt is NOT as it was signed"), Page: text.NewPage([]text.Line{
				{Value: d.Esc.Const("The receipt is not as it was signed, so it proves nothing."), Kind: text.Alert},
				{Value: prose.Reason(d.Esc, err)},
				{Value: d.Esc.Const("Take the file from a backup of the state directory, or look again with v."), Kind: text.Note},
			}, "")}
		}
		if err != nil {
			return dialog.Acted{Quiet: true, Text: prose.Reason(d.Esc, err)}
		}
		unsaved := act.Unless(func() string { return d.Locked("") }, d.NoExport)
		page := text.NewPage(receiptLines(d.St, rec, key, unsaved() == "", desk.TooLong(string(signed))), "")
		save, layers := act.Receipt.With(unsaved, func() tea.Cmd { return rq.saveReceipt(r) }), act.Layers.With(nil, func() tea.Cmd { return rq.openVerdicts(r) })
		save.Name, layers.Name = "save", "layers"
		page.Acts = []act.Act{save, layers, {Keys: []string{"y"}, Name: "copy", Doc: "copy the signed receipt to the clipboard of the terminal", Why: func() string { return desk.TooLong(string(signed)) }, Do: func() tea.Cmd {
			return d.CopyText(d.Esc.Sprintf("the receipt of %s", r.ID), string(signed))
		}}}
		return dialog.Acted{Ok: true, Quiet: true, Title: "Receipt of " + r.ID, Page: page}
	})
}

// momentOf is a time of a receipt as the console writes times.
func momentOf(stamp string) string {
	if t, err := time.Parse(time.RFC3339, stamp); err == nil {
		return prose.Moment(t)
	}
	return stamp
}

func receiptLines(st *paint.Styles, rec receipt.Receipt, key string, saves bool, long string) []text.Line {
	esc := st.Esc
	approver := esc.LineMax(rec.ApproverWords(), prose.MaxTitle)
	head := []text.Line{
		{Value: esc.Sprintf("Receipt of the erasure %s", esc.Line(rec.Request)), Kind: text.Title},
		desk.Field("status", esc.LineMax(rec.StatusWords(), desk.MaxField)),
		text.State(st, paint.ToneGood, esc.Sprintf("verified: every byte is as it was signed, with key %s", esc.Line(key))).Named(esc.Const("signature")),
		desk.Field("person", esc.Sprintf("%s (keyed pseudonym)", esc.Line(rec.Subject))), desk.Field("ground", esc.LineMax(rec.Ground, prose.MaxTitle)),
		desk.Field("done", esc.Const(didWords(rec.Forgotten, rec.Redacted, receipt.Items(rec.Held), rowsOf(rec.Stores)))),
		desk.Field("received", esc.Line(rec.Received)), desk.Field("deadline", esc.Line(rec.Deadline)),
		desk.Field("begun", esc.Line(momentOf(rec.Begun))), desk.Field("finished", esc.Line(momentOf(rec.Finished))),
		desk.Field("operator", esc.LineMax(rec.Operator.String(), prose.MaxTitle)), desk.Field("approved by", approver), desk.Field("plan", esc.Line(rec.Plan)),
		{Kind: text.Blank}, {Value: esc.Const("Stores"), Kind: text.Title},
	}
	var without []string // any item or row of the person
	for _, s := range rec.Stores {
		if s.Forgotten+s.Redacted+s.Held+s.Rows == 0 {
			without = append(without, s.Store)
			continue
		}
		head = append(head, text.Line{Name: esc.Line(s.Store), Value: esc.Const(didWords(s.Forgotten, s.Redacted, s.Held, s.Rows))})
	}
	if len(without) > 0 {
		head = append(head, text.Line{Value: esc.Sprintf("Nothing to erase in %s: %s.", prose.Plural(len(without), "store"), esc.LineMax(strings.Join(without, ", "), prose.MaxReason))})
	}
	head = append(head, text.Line{Kind: text.Blank}, text.Line{Value: esc.Const("Layers"), Kind: text.Title})
	rows, clean := listed(rec.Layers)
	for _, l := range rows {
		head = append(head, layerLine(st, l))
	}
	if clean.Layers > 0 {
		head = append(head, text.Advice(esc, "%s. `V` lists all.", esc.LineMax(clean.String(), desk.MaxField)).As(text.Field))
	}
	head = append(head, chapter(esc, "Where the person still is", rec.Open)...)
	head = append(head, chapter(esc, "Attested", rec.Attested)...)
	head = append(head, chapter(esc, "Exports", rec.Exports)...)
	head = append(head, chapter(esc, "Recipients", rec.Recipients)...)
	head = append(head, chapter(esc, "Backups", receipt.Folded(rec.Backups))...)
	if len(rec.Notes) > 0 {
		head = append(head, text.Line{Kind: text.Blank}, text.Line{Value: esc.Const("Limits"), Kind: text.Title})
		head = append(head, text.Lines(esc, text.Field, rec.Notes)...)
	}
	proof := "This page is for people. `y` copies the signed receipt, which is the proof: memdesk gdpr verify FILE checks it offline."
	switch {
	case saves && long != "":
		proof = "This page is for people. `S` saves the signed file, which is the proof: memdesk gdpr verify FILE checks it offline. It %s: `y` does not copy it."
	case long != "":
		proof = "This page is for people. The signed file is the proof. It %s: memdesk gdpr receipt %s --out FILE writes it on the server."
	case saves:
		proof = "This page is for people. `S` saves the signed file, which is the proof, and `y` copies it: memdesk gdpr verify FILE checks it offline."
	}
	return append(head, text.Line{Kind: text.Blank}, text.Advice(esc, proof, long, rec.Request))
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

// saveReceipt asks for a file for the receipt, or for the status report while there is none.
func (rq *requests) saveReceipt(r operator.ErasureRequest) tea.Cmd {
	name := r.ID + ".json"
	if !r.Receipted() {
		name = r.ID + "-report.md"
	}
	d, esc := rq.D, rq.D.Esc
	dlg := &dialog.Dialog{Title: esc.Const("Receipt"), NoReason: true, Lines: []text.Line{
		{Value: esc.Sprintf("Save the receipt of %s?", r.ID), Kind: text.Title},
		{Value: esc.Const("The signed file, or a page to read and print where the name ends in .md. A file that is there is not overwritten."), Kind: text.Note},
	}}
	if !r.Receipted() {
		dlg.Title = esc.Const("Report")
		dlg.Lines = []text.Line{
			{Value: esc.Sprintf("Save the status report of %s?", r.ID), Kind: text.Title},
			{Value: esc.Const("It is not complete, so this is no receipt: what is done, what is left and what to do, and nobody's name. JSON, or a page to read and print where the name ends in .md. A file that is there is not overwritten."), Kind: text.Note},
		}
	}
	dlg.Fields = []dialog.Field{{Label: esc.Const("to: ")}}
	dlg.Fields[0].Input.Set("~/" + name)
	return d.Modal.Show(dlg.Does(esc, "Save", "not saved", func(ctx context.Context, fields []string) (dialog.Acted, error) {
		n, err := d.Erasure.SaveReceipt(ctx, r.ID, strings.TrimSpace(fields[0]))
		if model.IsPartial(err) {
			return dialog.Acted{Ok: true, Text: prose.Reason(esc, err)}, nil
		}
		return dialog.Acted{Ok: true, Quiet: true, Text: esc.Sprintf("saved, %s bytes: %s", prose.Group(n), esc.LineMax(fields[0], prose.MaxTitle))}, err
	}))
}

// exportErasure asks where to write all data about the subject.
func (rq *requests) exportErasure(r operator.ErasureRequest) tea.Cmd {
	d, esc := rq.D, rq.D.Esc
	dlg := &dialog.Dialog{Title: esc.Const("Export"), NoReason: true, Fields: []dialog.Field{{Label: esc.Const("to: ")}}, Lines: []text.Line{
		{Value: esc.Sprintf("Export everything about %s?", esc.LineMax(r.Subject, prose.MaxTitle)), Kind: text.Title},
		{Value: esc.Const("For the person (Art. 15, 20): a new directory with export.json and a document per item, or one file where the name ends in .zip, for your eyes only. Shared items: only the lines that name the person."), Kind: text.Note},
	}}
	dlg.Fields[0].Input.Set("~/" + r.ID + "-export")
	return d.Modal.Show(dlg.Does(esc, "Export", "not exported", func(ctx context.Context, fields []string) (dialog.Acted, error) {
		n, missing, err := d.Erasure.Export(ctx, r.ID, strings.TrimSpace(fields[0]))
		out := dialog.Acted{Ok: len(missing) == 0, Quiet: true, Text: esc.Sprintf("exported %s: %s", prose.Plural(n, "item"), esc.LineMax(fields[0], prose.MaxTitle))}
		if len(missing) > 0 {
			out.Title, out.Page = "Export", d.WarningPage(esc.Sprintf("Exported %s, but not all there is:", prose.Plural(n, "item")), missing)
		}
		return out, err
	}))
}
