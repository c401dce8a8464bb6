package tui

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// auditHint stands in the empty input.
const auditHint = "actor:ann action:forget store:x outcome:refused since:2026-05-01 words; ! inverts a term"

// newAudit is the pane that reads the operator log, newest first.
func newAudit(d *bench, at int) *records[AuditEvent] {
	kind := recordKind[AuditEvent]{
		pane: at, noun: "event", tell: tellEvent,
		empty: "The log has no events yet.",
		columns: []column{
			{"SEQ", 7, true}, {"WHEN, UTC", 17, false}, {"ACTOR", 18, false}, {"ACTION", 11, false}, {"OUTCOME", 11, false}, {"TARGET", 0, false},
		},
		least: []int{0, 17, 10, 9, 11, 14}, traits: traits[AuditEvent]{badge: 5, store: func(e AuditEvent) string { return e.Store }},
	}
	if d.Audit == nil {
		kind.missing = "no audit log is attached to this console: memdesk audit list shows the operator log"
	}
	kind.fetch = func(ctx context.Context, q PageQuery) (span[record[AuditEvent]], said, error) {
		if q.Not { // the whole filter is one term then, and ! stands before it
			q.Filter, q.Not = "!"+q.Filter, false
		}
		if _, err := operator.ParseAuditFilter(q.Filter); err != nil {
			return span[record[AuditEvent]]{}, said{}, err
		}
		page, err := d.Audit.Events(ctx, q)
		if err != nil {
			return span[record[AuditEvent]]{}, said{}, err
		}
		out := span[record[AuditEvent]]{next: page.Next, total: page.Total}
		for _, e := range page.Events {
			out.rows = append(out.rows, auditRecord(d.desk, e))
		}
		if page.Notice != "" {
			return out, said{text: d.esc.LineMax(page.Notice, prose.MaxReason)}, nil
		}
		return out, said{text: d.esc.LineMax(page.Verified, prose.MaxReason), calm: true}, nil
	}
	kind.check = func(query string) error {
		_, err := operator.ParseAuditFilter(query)
		return err
	}
	kind.hint, kind.name, kind.datum = auditHint, "audit", auditDatum
	kind.field = func(e AuditEvent) string {
		if e.Target == "" {
			return e.Store
		}
		return e.Store + ":" + e.Target
	}
	if d.Audit != nil {
		kind.live = d.Audit.Stamp
	}
	kind.detail = func(_ context.Context, raw AuditEvent) *text.Page { return auditText(d.desk, raw) }
	kind.keys = func(p *records[AuditEvent]) []act.Act {
		return []act.Act{d.takebacks.key(p.none, func() func(context.Context) (writing, bool) {
			r, _ := p.list.current()
			return func(ctx context.Context) (writing, bool) { return d.writingOfEvent(ctx, r.raw) }
		})}
	}
	return newRecords(d.desk, kind)
}

// writingOfEvent is the writer of an event. The log calls an agent so; what it wrote is noted
// under its name alone where it came in by a door.
func (d *desk) writingOfEvent(ctx context.Context, e AuditEvent) (writing, bool) {
	if e.Noted || e.Actor == "" {
		return writing{}, false
	}
	w := writing{source: e.Actor, names: []string{e.Actor}, since: e.At.UTC().Format(time.DateOnly)}
	if name, ok := strings.CutPrefix(e.Actor, "agent "); ok {
		w.names = append(w.names, name)
		if plan, err := d.Origins.PlanTakeback(ctx, w.source, e.At.UTC().Truncate(24*time.Hour)); err == nil && len(plan) == 0 {
			w.source = name
		}
	}
	return w, true
}

func auditTarget(e AuditEvent) string {
	switch {
	case e.Target != "" && e.Store != "": // the log's names are references already
		return e.Store + ":" + strings.TrimPrefix(e.Target, e.Store+":")
	case e.Target != "":
		return e.Target
	}
	return e.Store
}

// notedRecord is an event of a store's own system: marked by who noted it, without
// a number.
func notedRecord(d *desk, e AuditEvent) record[AuditEvent] {
	esc := d.esc
	return record[AuditEvent]{
		key: fmt.Sprintf("%s/%d/%d", e.Store, e.At.UnixNano(), e.N), raw: e, tones: []paint.Tone{paint.ToneInfo, paint.ToneInfo, paint.ToneInfo, paint.ToneInfo, paint.ToneInfo},
		cells: []safetext.Text{
			esc.Const("-"), esc.Const(prose.Minute(e.At)), esc.Const(e.Actor), esc.Line(e.Action), esc.Const("noted"), esc.LineMax(auditTarget(e), prose.MaxTitle),
		},
	}
}

func auditRecord(d *desk, e AuditEvent) record[AuditEvent] {
	if e.Noted {
		return notedRecord(d, e)
	}
	esc := d.esc
	result, word := paint.ToneInfo, e.Phase
	switch {
	case e.Open:
		result, word = paint.ToneWarn, "open"
	case e.Phase == "outcome" && e.Result != "":
		word = e.Result
	}
	switch e.Result {
	case "":
	case "ok", "done":
		result = paint.ToneGood
	case "failed":
		result = paint.ToneBad
	default:
		result = paint.ToneWarn
	}
	return record[AuditEvent]{
		key: strconv.FormatInt(e.Seq, 10), raw: e, tones: []paint.Tone{paint.ToneInfo, paint.ToneInfo, paint.ToneInfo, paint.ToneInfo, result},
		cells: []safetext.Text{
			esc.Const(prose.Group(e.Seq)), esc.Const(prose.Minute(e.At)), actorCell(esc, e.Actor), esc.Line(e.Action),
			esc.LineMax(word, prose.MaxTitle), prose.NameFirst(esc, auditTarget(e)),
		},
	}
}

// claimed stands before an operator whose key nobody has checked.
const claimed = "unauthenticated "

// actorCell is an operator in a narrow column: the name first, and a question mark
// where it is only claimed; the event itself says that in words.
func actorCell(esc safetext.Escaper, actor string) safetext.Text {
	if name, ok := strings.CutPrefix(actor, claimed); ok {
		return esc.Sprintf("? %s", esc.LineMax(name, prose.MaxTitle))
	}
	return esc.LineMax(actor, prose.MaxTitle)
}

func auditText(d *desk, e AuditEvent) *text.Page {
	esc := d.esc
	head := []text.Line{{Value: esc.Sprintf("event %s: %s", prose.Group(e.Seq), e.Action), Kind: text.Title}}
	if e.Noted {
		head = []text.Line{
			{Value: esc.LineMax(e.Action, prose.MaxTitle), Kind: text.Title},
			{Value: esc.Const("Noted by the store's own system. The operator log does not hold it."), Kind: text.Note},
		}
	}
	if e.Open {
		head = append(head, text.Line{Kind: text.Warn, Value: esc.Const("!! An open intent: the act began and no outcome is recorded. It is under way in another session, or its program was cut off before it could write one. " +
			"Whether the change was made is not known: look at the item, and at the history and the undo list of its store.")})
	}
	add := func(name, value string) {
		if value != "" {
			head = append(head, text.Line{Name: esc.Const(name), Value: esc.LineMax(value, maxField)})
		}
	}
	add("when", changed(d, e.At))
	for _, f := range e.Facts() {
		add(f.Name, f.Value)
	}
	if e.Target == "" && e.Subject == "" && !e.Noted {
		head = append(head, text.Line{Value: esc.Const("No clear name is kept for this event: there was none, or it was erased. The record holds keyed hashes only."), Kind: text.Note})
	}
	return text.NewPage(append(head, metaLines(esc, model.Item{Meta: e.Fields})...), "")
}

func auditDatum(e AuditEvent) datum {
	var r datum
	r.add("seq", e.Seq)
	r.add("ts", stampOf(e.At))
	r.add("action", e.Action)
	r.add("open", e.Open)
	for _, f := range e.Facts() {
		name := f.Name
		if name == "target" { // as audit list --json calls the clear name
			name = "name"
		}
		r.add(name, f.Value)
	}
	fields := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		fields[i] = f.Name + "=" + f.Value
	}
	r.add("fields", fields)
	return r
}

// tellEvent is an event of the log as a sentence.
func tellEvent(esc safetext.Escaper, e AuditEvent) safetext.Text {
	result := e.Result
	switch {
	case e.Open:
		result = "an OPEN intent: no outcome is recorded"
	case result == "":
		result = "no result in this record"
	}
	return esc.Sprintf("Event %s, %s: %s %s by %s, %s. %s %s", prose.Group(e.Seq), prose.Minute(e.At), e.Action, e.Phase, e.Actor, result,
		esc.LineMax(auditTarget(e), prose.MaxTitle), esc.LineMax(e.Reason, prose.MaxTitle))
}
