package erasure

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/jobs"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/chart"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// erase asks whether to carry out, or continue, the plan of a request.
func (rq *requests) erase(r operator.ErasureRequest) tea.Cmd {
	d := rq.D
	return rq.D.Modal.Prepare(func(ctx context.Context) dialog.Proposal {
		esc := d.Esc
		now, p, why, err := rq.standing(ctx, r.ID)
		switch {
		case err != nil:
			return dialog.Proposal{No: prose.Reason(esc, err)}
		case noChange(now) != "":
			return dialog.Proposal{No: esc.Const(noChange(now))}
		case now.PlanHash != p.Hash:
			return dialog.Proposal{No: esc.Const("the plan is void, something was changed since: p plans again")}
		case why != "":
			return rq.unapproved(now, p, why)
		}
		return dialog.Proposal{Dialog: rq.eraseDialog(ctx, now, p)}
	})
}

// standing is a request as it is now with its plan, and why that has to be approved first.
func (rq *requests) standing(ctx context.Context, id string) (r operator.ErasureRequest, p gdpr.Plan, why string, err error) {
	if r, err = rq.D.Erasure.Request(ctx, id); err == nil {
		p, err = rq.D.Erasure.Plan(ctx, id)
	}
	if err == nil {
		why, err = rq.D.Erasure.Unapproved(ctx, id)
	}
	return r, p, why, err
}

// eraseDialog says in numbers what will happen.
func (rq *requests) eraseDialog(ctx context.Context, r operator.ErasureRequest, p gdpr.Plan) *dialog.Dialog {
	d, esc := rq.D, rq.D.Esc
	items, _ := p.Count()
	whose := esc.LineMax(r.Subject, prose.MaxTitle)
	verb, title := "Erase", esc.Sprintf("Erase %s, for good?", whose)
	if r.Unfinished() || r.Stopped() {
		verb, title = "Go on", esc.Sprintf("Go on with the erasure of %s?", whose)
	}
	lines := []text.Line{{Value: title, Kind: text.Title}, {Value: esc.Sprintf("Plan: %s.", fateWords(countPlan(&p)))}}
	if verb == "Go on" {
		lines = append(lines, rq.missingLines(ctx, r, p)...)
	}
	max := d.Erasure.Rules().MaxShare
	over := p.OverShare(max)
	if len(over) > 0 {
		lines = append(lines, text.Line{Value: esc.Sprintf("%s.", esc.LineMax(over[0].ShareWords(max), prose.MaxReason)), Kind: text.Alert})
	}
	lines = append(lines, text.Line{Value: esc.Const("It cannot be undone: nothing is kept for z."), Kind: text.Alert, Pin: true})
	lines = append(lines, unsearchedLines(esc, p, "Nothing is erased there, and the request stays partial.")...)
	var changed []string
	for _, s := range p.Stores {
		if c := countSteps(s.Steps); c[chart.Goes]+c[chart.Redacted]+c[chart.Scrubbed] > 0 {
			changed = append(changed, s.Store)
		}
	}
	lines = append(lines, d.Environments(changed...)...)
	if tied := d.Erasure.Tied(); tied != "" {
		lines = append(lines, text.Advice(esc, "Leaving this console stops it: %s. What is erased then stays erased, and `r` goes on.", esc.LineMax(tied, prose.MaxReason)))
	} else {
		lines = append(lines, text.Line{Value: esc.Const("It runs on its own: leaving this pane or the connection does not stop it."), Kind: text.Note})
	}
	dlg := &dialog.Dialog{Title: esc.Const("Erase"), Lines: lines, Name: esc.Line(r.ID), NoReason: true, Body: text.NewPage(rq.eraseStores(p), "")}
	if len(over) > 0 {
		whole := ""
		if verb == "Go on" {
			whole = " of the whole plan"
		}
		dlg.Fields = []dialog.Field{{Label: esc.Sprintf("a large part of a store goes; type %s, the number of items%s: ", strconv.FormatInt(items, 10), esc.Const(whole))}}
	}
	dlg.Choices = []dialog.Choice{{Verb: verb, Typed: true, Act: func(ctx context.Context, f dialog.Filled) dialog.Acted {
		o := gdpr.Order{Request: r.ID, PlanHash: p.Hash}
		if len(over) > 0 {
			o.ConfirmCount, _ = strconv.ParseInt(strings.TrimSpace(f.Fields[0]), 10, 64)
			if o.ConfirmCount != items {
				return dlg.Again(dialog.Filled{}, esc.Sprintf("the number of items was not typed: %d", items))
			}
		}
		return rq.beginErasure(ctx, o)
	}}}
	return dlg
}

// missingMost bounds the missing parts that the question names.
const missingMost = 3

// missingLines say what the last run left, before the question whether to go on. It runs in a command.
func (rq *requests) missingLines(ctx context.Context, r operator.ErasureRequest, p gdpr.Plan) []text.Line {
	esc := rq.D.Esc
	again := []text.Line{{Value: esc.Const("What is done already is not done again."), Kind: text.Note}}
	rep, err := rq.D.Erasure.StatusReport(ctx, r.ID)
	if err != nil { // the question stands without it
		return again
	}
	var out []text.Line
	more := 0
	for _, l := range rep.Left {
		switch {
		case l.Store == "": // no run has ended yet
		case len(out) == missingMost:
			more++
		default:
			at := l.Store
			if l.Layer != "" {
				at += ": " + l.Layer
			}
			out = append(out, text.Line{Value: esc.Sprintf("Missing: %s: %s", esc.LineMax(at, prose.MaxTitle), esc.LineMax(l.Reason, prose.MaxTitle)), Kind: text.Warn})
		}
	}
	if more > 0 {
		out = append(out, text.Line{Value: esc.Sprintf("Missing: %s more; the page of the request names all.", prose.Group(more)), Kind: text.Warn})
	}
	if rep.Plan != p.Hash {
		out = append(out, text.Line{Value: esc.Sprintf("That was of an earlier plan; the new one: %s.", countWords(countPlan(&p)))})
	}
	if n := rep.Forgotten + rep.Redacted; n > 0 {
		again[0].Value = esc.Sprintf("Done already, and not again: %s.", didWords(rep.Forgotten, rep.Redacted, 0, 0))
	}
	return append(out, again...)
}

// eraseStores says what happens, store by store: in a table, or in sentences for a listener.
func (rq *requests) eraseStores(p gdpr.Plan) []text.Line {
	esc := rq.D.Esc
	var rows []chart.Row
	var trouble, said []text.Line
	for _, s := range p.Stores {
		steps := countSteps(s.Steps)
		row := chart.Row{Store: s.Store, Counts: steps}
		if row.Found() > 0 {
			said = append(said, text.Line{Name: esc.Line(s.Store), Value: esc.Const(fateWords(steps))})
		}
		switch {
		case s.Error != "":
			row.Trouble = true
			trouble = append(trouble, text.Line{Name: esc.Line(s.Store), Value: esc.LineMax(s.Error, prose.MaxTitle), Kind: text.Warn})
		case len(s.Problems) > 0:
			row.Trouble = true
			trouble = append(trouble, text.Line{Name: esc.Line(s.Store), Value: esc.Sprintf("%s not looked at", prose.Plural(len(s.Problems), "place")), Kind: text.Alert})
		}
		rows = append(rows, row)
	}
	if !rq.D.Spoken {
		said = chart.Table(rq.D.St, rows)
	}
	return append(said, trouble...)
}

// unsigned reports whether what a run left has a new plan that nobody has approved yet, where somebody must.
func unsigned(rules gdpr.Policy, r operator.ErasureRequest) bool {
	switch r.State {
	case gdpr.StatePartial, gdpr.StatePending, gdpr.StateInScope:
		return rules.RequireApproval && !slices.ContainsFunc(r.Approvals, func(a gdpr.Approval) bool { return a.PlanHash == r.PlanHash })
	}
	return false
}

// phaseLine is what is done of a request, and its next step as a verb with its key; none for a withdrawn one.
func (rq *requests) phaseLine(r operator.ErasureRequest) []text.Line {
	type step struct{ done, verb, key string }
	steps := []step{{"planned", "plan", "p"}, {"approved", "approve", "A"}, {"erased", "erase", "E"}, {"verified", "verify", "r"}}
	at := map[gdpr.State]int{
		gdpr.StatePlanned: 1, gdpr.StateApproved: 2, gdpr.StateRunning: 2, gdpr.StateComplete: len(steps),
		gdpr.StatePartial: 3, gdpr.StatePending: 3, gdpr.StateInScope: 3, // the person is still somewhere
	}[r.State]
	switch {
	case r.State == gdpr.StateWithdrawn, rq.D.Spoken: // signs and keys say nothing to a listener
		return nil
	case r.Stopped():
		steps[at].key = "r"
	case unsigned(rq.D.Erasure.Rules(), r):
		at, steps[2].key = 1, "r"
	case r.State == gdpr.StateRunning && strings.HasSuffix(r.Run.Note, " verify"):
		at, steps[3] = 3, step{verb: "verifying"}
	case r.State == gdpr.StateRunning:
		steps[at] = step{verb: "erasing"}
	}
	if !rq.D.Erasure.Rules().RequireApproval && len(r.Approvals) == 0 { // no approval is involved
		steps = slices.Delete(steps, 1, 2)
		if at > 1 {
			at--
		}
	}
	var done, rest []string
	next := ""
	for i, s := range steps {
		switch {
		case i < at:
			done = append(done, s.done)
		case i > at:
			rest = append(rest, s.verb)
		case s.key == "":
			next = s.verb
		default:
			next = "`" + s.key + "` " + s.verb
		}
	}
	return []text.Line{chart.Phases(rq.D.St, done, next, rest, r.Stopped() || r.State == gdpr.StatePartial && !unsigned(rq.D.Erasure.Rules(), r))}
}

// beginErasure runs in a command.
func (rq *requests) beginErasure(ctx context.Context, o gdpr.Order) dialog.Acted {
	esc := rq.D.Esc
	if err := rq.D.Erasure.Erase(ctx, o); err != nil {
		return dialog.Acted{Text: esc.Sprintf("not begun, nothing was erased: %s", prose.Reason(esc, err))}
	}
	rq.D.Stuck.Set("an erasure is for good")
	said := esc.Sprintf("the erasure of %s has begun; P pauses it", o.Request)
	return dialog.Acted{Ok: true, Text: said, Then: func() tea.Cmd {
		rq.D.Tied = rq.D.Tied || rq.D.Erasure.Tied() != ""
		p := rq.List
		cmd := rq.D.Frame.Enter(p.Kind.Pane)
		p.Full = true
		p.began(o.Request, said)
		return tea.Batch(cmd, p.Layout(), p.Refresh())
	}}
}

// pauseErasure pauses a run at its next step, or resumes it.
func (rq *requests) pauseErasure(r operator.ErasureRequest) tea.Cmd {
	d := rq.D
	return rq.D.Ask(func(ctx context.Context) any {
		run, word := d.Erasure.Pause, "it pauses at its next step"
		if r.Run.State == jobs.Paused {
			run, word = d.Erasure.Resume, "it goes on"
		}
		err := run(ctx, r.Run.ID)
		if err != nil {
			return dialog.Acted{Text: d.Esc.Sprintf("not changed: %s", prose.Reason(d.Esc, err))}
		}
		return dialog.Acted{Ok: true, Text: d.Esc.Const(word)}
	})
}

// runLines are the progress of a run: each store of the plan, and the steps after it.
func (rq *requests) runLines(ctx context.Context, r operator.ErasureRequest) []text.Line {
	if r.Run == nil || !r.Under() && !r.Stopped() {
		return nil
	}
	esc := rq.D.Esc
	head := []text.Line{{Kind: text.Blank}}
	head = append(head, desk.Field("run", esc.Sprintf("%s, begun %s, job %s", esc.Line(string(r.Run.State)), rq.D.Time.Ago(r.Run.Started), esc.Line(string(r.Run.ID)))))
	head = append(head, text.Known(desk.Field("ended by", esc.LineMax(r.Run.Class, prose.MaxTitle)))...)
	p, err := rq.D.Erasure.Plan(ctx, r.ID)
	if err != nil {
		return append(head, desk.Field("progress", esc.Sprintf("%s, %s of %s", esc.LineMax(r.Run.Note, prose.MaxTitle), prose.Group(r.Run.Done), prose.Group(r.Run.Total))))
	}
	head = append(head, chart.Progress(rq.D.St, r.Run.Done, r.Run.Total))
	return append(head, progressLines(rq.D.St, p, r.Run)...)
}

// progressLines derive each store's progress from the one at work: all are erased, then verified, in plan order.
func progressLines(st *paint.Styles, p gdpr.Plan, run *jobs.Status) []text.Line {
	esc := st.Esc
	store, what := run.Note, ""
	if i := strings.LastIndexByte(store, ' '); i >= 0 {
		store, what = store[:i], store[i+1:]
	}
	at := -1
	for i, s := range p.Stores {
		if s.Store == store {
			at = i
		}
	}
	verifying := what == "verify"
	var out []text.Line
	for i, s := range p.Stores {
		tone, word := paint.ToneInfo, "waits"
		switch {
		case s.Error != "":
			tone, word = paint.ToneBad, "not searched: nothing is erased there"
		case at < 0:
		case verifying && i < at:
			tone, word = paint.ToneGood, "done, verified"
		case verifying && i == at:
			tone, word = paint.ToneWarn, "verifying"
		case verifying || i < at:
			tone, word = paint.ToneGood, "done, to be verified"
		case i == at && what == string(gdpr.Scrub):
			tone, word = paint.ToneWarn, "what deleting leaves is scrubbed"
		case i == at:
			tone, word = paint.ToneWarn, what
			if run.Total > 0 {
				word += ", step " + prose.Group(run.Done) + " of " + prose.Group(run.Total)
			}
		}
		out = append(out, text.State(st, tone, esc.Const(word)).Named(esc.Line(s.Store)))
	}
	return out
}

// reportLines list the work left by the last run.
func (rq *requests) reportLines(ctx context.Context, r operator.ErasureRequest) []text.Line {
	if !r.Unfinished() || r.Under() {
		return nil
	}
	esc := rq.D.Esc
	rep, err := rq.D.Erasure.StatusReport(ctx, r.ID)
	if errors.Is(err, model.NotFound) {
		return nil
	}
	if err != nil {
		return []text.Line{{Kind: text.Blank}, {Value: prose.Reason(esc, err), Kind: text.Alert}}
	}
	head := []text.Line{{Kind: text.Blank}, {Value: esc.Const("Left after the last run"), Kind: text.Title},
		{Value: esc.Const(didWords(rep.Forgotten, rep.Redacted, rep.Held, rowsOf(rep.Stores)))}}
	if rep.Plan != r.PlanHash {
		head = append(head, text.Line{Value: esc.Const("It was of an earlier plan."), Kind: text.Note})
	}
	for _, l := range rep.Left {
		head = append(head, text.Line{Value: esc.LineMax(l.String(), prose.MaxReason), Kind: text.Alert})
	}
	head = append(head, text.Lines(esc, text.Alert, rep.Notes)...)
	clean := 0
	for _, l := range rep.Layers {
		if passes(l) {
			clean++
		}
	}
	head = append(head, text.Advice(esc, "%s of %s are clean, attested or out of reach; `V` lists all.", prose.Group(clean), prose.Plural(len(rep.Layers), "layer")))
	head = append(head, chapter(esc, "Backups", receipt.Folded(rep.Backups))...)
	if rq.D.NoExport() != "" {
		return head
	}
	return append(head, text.Advice(esc, "`S` saves it as a page to print, with what to do."))
}

func (rq *requests) deadline(r operator.ErasureRequest) tea.Cmd {
	d, esc := rq.D, rq.D.Esc
	dlg := &dialog.Dialog{Title: esc.Const("Deadline"), NoReason: true, Lines: []text.Line{
		{Value: esc.Sprintf("The deadline of %s: %s, %s", r.ID, r.Deadline.Format(time.DateOnly), r.At(d.Time.Clock.Now()).Words), Kind: text.Title},
		{Value: esc.Const("Two further months are allowed once, where the request is complex, and the person is told within the first month (Art. 12(3)). While an identity is checked the clock may stand (Art. 12(6)).")},
	}}
	add := func(verb, done string, do func(ctx context.Context, id, told string) error) {
		dlg.Does(esc, verb, "Not changed", func(ctx context.Context, fields []string) (dialog.Acted, error) {
			return dialog.Acted{Ok: true, Text: esc.Const(done)}, do(ctx, r.ID, strings.TrimSpace(strings.Join(fields, "")))
		})
	}
	if !r.Extended {
		if r.At(d.Time.Clock.Now()).Left < 0 {
			dlg.Fields = []dialog.Field{{Label: esc.Const("the month is over; the person was told of an extension on (YYYY-MM-DD): ")}}
		}
		add("Extend by two months", "extended by two months", d.Erasure.Extend)
	}
	if r.PausedSince == "" {
		add("Stop the clock", "the clock stands; T lets it run again", func(ctx context.Context, id, _ string) error { return d.Erasure.StopClock(ctx, id) })
	} else {
		add("Let it run", "the clock runs again", func(ctx context.Context, id, _ string) error { return d.Erasure.StartClock(ctx, id) })
	}
	return d.Modal.Show(dlg)
}
