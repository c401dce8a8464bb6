// Package audit is the pane that reads the audit log.
package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/origin"
	"memdesk/ui/act"
	"memdesk/ui/tui/change"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
	"memdesk/ui/tui/record"
)

// auditHint is shown in an empty filter.
const auditHint = "actor:ann action:forget store:x outcome:refused since:2026-05-01 words; ! inverts a term"

// New is the pane that reads the audit log, newest first.
func New(d *pane.Bench, at int) desk.Listing {
	kind := events(d, model.Ref{})
	kind.Pane = at
	return record.New(d.Desk, kind)
}

// Of lists what the log has about an item.
func Of(d *pane.Bench, ref model.Ref) tea.Cmd {
	kind := events(d, ref)
	kind.Empty, kind.About = "The log has nothing about this item: nobody changed it through memdesk, or the clear name was erased.", d.Esc.LineMax(ref.ID, prose.MaxTitle)
	return record.Open(d.Desk, "Log", kind)
}

// events are the records of the log, or of one item, and what the stores tell.
func events(d *pane.Bench, of model.Ref) record.Kind[operator.AuditEvent] {
	kind := record.Kind[operator.AuditEvent]{
		Noun: "record", Tell: tellEvent,
		Empty: "The log has no records yet.",
		Columns: []record.Column{
			{Title: "SEQ", Width: 7, Right: true, Dim: true}, {Title: "WHEN, UTC", Width: 12, Least: 12, Dim: true}, {Title: "ACTOR", Width: 16, Least: 10}, {Title: "ACTION", Width: 20, Least: 13}, {Title: "OUTCOME", Width: 11, Least: 10}, {Title: "TARGET", Least: 20},
		},
		Traits: record.Traits[operator.AuditEvent]{Badge: 5, Beside: 120, Store: func(e operator.AuditEvent) string { return e.Store }},
	}
	kind.Missing = cmp.Or(act.When(d.Audit == nil, "no audit log is attached to this console: memdesk audit list shows it"), d.Closed(operator.ReadLog, "the audit log"))
	kind.Fetch = func(ctx context.Context, q operator.PageQuery) (record.Page[operator.AuditEvent], error) {
		if q.Not { // the whole filter is one term then, after !
			q.Filter, q.Not = "!"+q.Filter, false
		}
		if _, err := operator.ParseAuditFilter(q.Filter, d.Time.Clock.Now()); err != nil {
			return record.Page[operator.AuditEvent]{}, err
		}
		q.Of = of
		page, err := d.Audit.Events(ctx, q)
		if err != nil {
			return record.Page[operator.AuditEvent]{}, err
		}
		out := record.Page[operator.AuditEvent]{Next: page.Next, Total: page.Total, Said: list.Said{Text: d.Esc.LineMax(cmp.Or(page.Notice, page.Verified), prose.MaxReason), Calm: page.Notice == ""}}
		for _, e := range page.Events {
			out.Rows = append(out.Rows, auditRecord(d.Desk, e))
		}
		return out, nil
	}
	kind.Check = func(query string) error {
		_, err := operator.ParseAuditFilter(query, d.Time.Clock.Now())
		return err
	}
	kind.Hint, kind.Name, kind.Datum = auditHint, "audit", auditDatum
	kind.Crumb = func(e operator.AuditEvent) safetext.Text {
		if e.Noted { // it has no number
			return d.Esc.LineMax(e.Action, prose.MaxTitle)
		}
		return d.Esc.Sprintf("%s %s", prose.Group(e.Seq), d.Esc.LineMax(e.Action, prose.MaxTitle))
	}
	kind.Field = operator.AuditEvent.About
	if d.Audit != nil {
		kind.Live = d.Audit.Stamp
	}
	kind.Detail = func(_ context.Context, raw operator.AuditEvent) *text.Page {
		return auditText(d.Desk, raw)
	}
	kind.Keys = func(p *record.List[operator.AuditEvent]) []act.Act {
		return []act.Act{change.Takeback(d.Work, act.Unless(p.None, func() string {
			r, _ := p.Window.Current()
			return act.When(!wrote(r.Raw), "nothing was written here; at a retain it takes back what its writer wrote")
		}), func() change.Writer {
			r, _ := p.Window.Current()
			if r.Raw.Actor == "" {
				return nil
			}
			return func(ctx context.Context) change.Writing { return writingOfEvent(d.Desk, ctx, r.Raw) }
		})}
	}
	return kind
}

// wrote reports whether a record is of a write that could be taken back.
func wrote(e operator.AuditEvent) bool {
	return !e.Noted && slices.Contains([]string{string(model.OpRetain), string(operator.Create), string(operator.Edit), string(operator.Append)}, e.Action)
}

// writingOfEvent is the writer of an event; the log writes "agent NAME", a door notes NAME alone.
func writingOfEvent(d *desk.Desk, ctx context.Context, e operator.AuditEvent) change.Writing {
	w := change.Writing{Source: e.Actor, Names: []string{e.Actor}, Since: e.At.UTC().Format(time.DateOnly)}
	if name, ok := strings.CutPrefix(e.Actor, "agent "); ok {
		w.Names = append(w.Names, name)
		if plan, err := d.Origins.PlanTakeback(ctx, w.Source, e.At.UTC().Truncate(24*time.Hour)); err == nil && !slices.ContainsFunc(plan, func(t origin.Taken) bool { return t.ID != "" }) {
			w.Source = name
		}
	}
	return w
}

func auditRecord(d *desk.Desk, e operator.AuditEvent) record.Row[operator.AuditEvent] {
	esc := d.Esc
	if e.Noted { // by a store's own system: it has no number
		return record.Row[operator.AuditEvent]{Key: fmt.Sprintf("%s/%d/%d", e.Store, e.At.UnixNano(), e.N), Raw: e, Cells: []safetext.Text{
			esc.Const("-"), esc.Const(d.Time.Day(e.At)), esc.Const(e.Actor), esc.Line(e.Action), esc.Const(e.Phase), esc.LineMax(e.About(), prose.MaxTitle),
		}}
	}
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
	return record.Row[operator.AuditEvent]{
		Key: strconv.FormatInt(e.Seq, 10), Raw: e, Tones: []paint.Tone{4: result},
		Cells: []safetext.Text{
			esc.Const(prose.Group(e.Seq)), esc.Const(d.Time.Day(e.At)), actorCell(esc, e.Actor), esc.Line(e.Action),
			esc.LineMax(word, prose.MaxTitle), prose.NameFirst(esc, e.About()),
		},
	}
}

// claimed precedes an operator without a checked key.
const claimed = "unauthenticated "

// actorCell is an operator in a narrow column, with a question mark before a name that is only claimed.
func actorCell(esc safetext.Escaper, actor string) safetext.Text {
	if name, ok := strings.CutPrefix(actor, claimed); ok {
		return esc.Sprintf("? %s", esc.LineMax(name, prose.MaxTitle))
	}
	return esc.LineMax(actor, prose.MaxTitle)
}

func auditText(d *desk.Desk, e operator.AuditEvent) *text.Page {
	esc := d.Esc
	head := []text.Line{{Value: esc.Sprintf("record %s: %s", prose.Group(e.Seq), e.Action), Kind: text.Title}}
	if e.Noted {
		head = []text.Line{
			{Value: esc.LineMax(e.Action, prose.MaxTitle), Kind: text.Title},
			{Value: esc.Const("The store's own system wrote this event: it is no record of memdesk's log."), Kind: text.Note},
		}
	}
	if e.Open {
		head = append(head, text.Line{Kind: text.Alert, Value: esc.Const("An open intent: the act began and no outcome is recorded. It is under way in another session, or its program was cut off before it could write one. " +
			"Whether the change was made is not known: look at the item, and at the history and the undo list of its store.")})
	}
	add := func(name, value string) {
		if value != "" {
			head = append(head, text.Line{Name: esc.Const(name), Value: esc.LineMax(value, desk.MaxField)})
		}
	}
	add("when", desk.Changed(d, e.At))
	fields := e.Fields
	if e.Target == "" && e.Store == "" && e.Scope != "" { // a request, as in the row
		add("target", e.Scope)
		fields = slices.DeleteFunc(slices.Clone(fields), func(f model.Field) bool { return f.Name == "scope" })
	}
	for _, f := range e.Facts() {
		add(f.Name, f.Value)
	}
	if e.Target == "" && e.Subject == "" && e.Scope == "" && !e.Noted {
		head = append(head, text.Line{Value: esc.Const("No clear name is kept for this record: there was none, or it was erased. It holds keyed hashes only."), Kind: text.Note})
	}
	if len(e.Steps) > 0 {
		head = append(head, text.Line{Kind: text.Blank}, text.Line{Value: esc.Sprintf("%s on this page of the log; a filter lists all", prose.Plural(len(e.Steps), "step")), Kind: text.Title})
	}
	for _, s := range slices.Backward(e.Steps) {
		head = append(head, text.Line{Name: esc.LineMax(s.Action, prose.MaxTitle), Value: esc.Sprintf("%s  record %s", prose.NameFirst(esc, cmp.Or(s.About(), s.Store)), prose.Group(s.Seq))})
	}
	return text.NewPage(append(head, desk.MetaLines(esc, model.Item{Meta: fields})...), "")
}

func auditDatum(e operator.AuditEvent) desk.Datum {
	var r desk.Datum
	r.Add("seq", e.Seq)
	r.Add("ts", desk.StampOf(e.At))
	r.Add("action", e.Action)
	r.Add("open", e.Open)
	for _, f := range e.Facts() {
		name := f.Name
		if name == "target" { // as audit list --json calls the clear name
			name = "name"
		}
		r.Add(name, f.Value)
	}
	var steps []int64
	for _, s := range e.Steps {
		steps = append(steps, s.Seq)
	}
	if steps != nil {
		r.Add("steps", steps)
	}
	fields := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		fields[i] = f.Name + "=" + f.Value
	}
	r.Add("fields", fields)
	return r
}

func tellEvent(esc safetext.Escaper, e operator.AuditEvent) safetext.Text {
	if e.Noted { // it has neither a number nor a result
		return esc.Sprintf("Event of the store %s, %s: %s", esc.Line(e.Store), prose.Minute(e.At), esc.Line(e.Action))
	}
	result := e.Result
	switch {
	case e.Open:
		result = "an OPEN intent: no outcome is recorded"
	case result == "":
		result = "no result in this record"
	}
	return esc.Sprintf("Record %s, %s: %s %s by %s, %s. %s %s", prose.Group(e.Seq), prose.Minute(e.At), e.Action, e.Phase, e.Actor, result,
		esc.LineMax(e.About(), prose.MaxTitle), esc.LineMax(e.Reason, prose.MaxTitle))
}
