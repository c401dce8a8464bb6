package erasure

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/gdpr"
	"memdesk/internal/safetext"
	"memdesk/jobs"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
	"memdesk/ui/tui/record"
)

// screen is the pane of erasure requests: a list by deadline, and each request with its facts and acts.
type screen struct {
	*record.List[operator.ErasureRequest]
	ticking bool
	begun   begun
	states  map[string]string // of the requests, in words, when last read
	due     dues
	counted atomic.Pointer[dues] // by the newest fetch
}

// dues counts the requests that need an answer soon, and those that wait for this operator's approval.
type dues struct {
	soon, overdue, approve int
	next                   gdpr.Due // the first of soon
	unread                 bool     // others cannot be read, and may be due
}

// Watch reads the requests at the start: the badge says at once what is due.
func (p *screen) Watch() tea.Cmd {
	if !p.Entered && p.Kind.Missing == "" {
		return p.Enter()
	}
	return p.List.Watch()
}

// dueOf counts what could be read; err is gdpr.Damaged for the rest.
func (p *screen) dueOf(all []operator.ErasureRequest, err error) (n dues) {
	n.unread = err != nil
	now := p.D.Time.Clock.Now()
	for _, r := range all {
		if r.State == gdpr.StatePlanned && p.D.Erasure.Rules().RequireApproval && p.D.Erasure.BySession(&r.Request) {
			n.approve++
		}
		switch due := r.At(now); urgency(r, now) {
		case paint.ToneBad:
			n.overdue++
		case paint.ToneWarn:
			if n.soon++; n.soon == 1 || due.Left < n.next.Left {
				n.next = due
			}
		}
	}
	return n
}

func (p *screen) Badge() (safetext.Text, paint.Tone) {
	width, _ := p.D.Frame.Room()
	wide := width >= paint.WideFrom
	day, more := "due", ""
	if wide {
		day = p.due.next.Short
	}
	if p.due.unread {
		more = "+"
	}
	approve := safetext.Sprintf("%d%s to approve", p.due.approve, safetext.Const(more))
	due := safetext.Sprintf("%d%s %s", p.due.soon, safetext.Const(more), safetext.Const(day))
	switch {
	case p.due.overdue > 0 && wide:
		return safetext.Sprintf("%d%s overdue", p.due.overdue, safetext.Const(more)), paint.ToneBad
	case p.due.overdue > 0:
		return safetext.Sprintf("!%d%s", p.due.overdue, safetext.Const(more)), paint.ToneBad
	case p.due.approve > 0 && p.due.soon > 0 && wide:
		return safetext.Sprintf("%s, %s", due, approve), paint.ToneWarn
	case p.due.approve > 0: // it waits for this operator
		return approve, paint.ToneWarn
	case p.due.soon > 0:
		return due, paint.ToneWarn
	case p.due.unread:
		return safetext.Const("0+"), paint.ToneInfo
	}
	return safetext.Text{}, paint.ToneInfo
}

// erasureEvery is the pause between two looks at a running erasure.
const erasureEvery = 400 * time.Millisecond

type erasureTick struct{}

// begun is a run begun here whose end has not been seen.
type begun struct {
	request string
	before  jobs.ID       // the request's run before it
	said    safetext.Text // its line on the status line
}

// Keys are the keys of a plan and of a list of layers, for the key table.
func Keys(d *pane.Bench) (plan, layers []act.Act) {
	rq, p := &requests{D: d}, &record.List[planRow]{}
	plan = append(foldKeys(p, nil), planKeys(rq, p, operator.ErasureRequest{})...)
	return plan, layerKeys(rq, &record.List[layerRow]{}, operator.ErasureRequest{})
}

func New(d *pane.Bench, at int) desk.Listing {
	p := &screen{}
	rq := &requests{D: d, List: p, folds: map[string]*folds{}}
	kind := record.Kind[operator.ErasureRequest]{
		Pane: at, Noun: "request", Name: "erasures",
		Empty: "No erasure requests. Press `a` to file one.",
		Columns: []record.Column{
			{Title: "DUE", Width: 17, Least: 12}, {Title: "STATE", Width: 20, Least: 13}, {Title: "PERSON", Width: 18, Least: 8},
			{Title: "REQUEST", Least: 20, Dim: true}, // operators type the whole id
		},
		Traits: record.Traits[operator.ErasureRequest]{Badge: 2, Poll: true, Less: map[int]func(a, b operator.ErasureRequest) int{0: func(a, b operator.ErasureRequest) int { return a.Deadline.Compare(b.Deadline) }}},
	}
	kind.Missing = cmp.Or(act.When(d.Erasure == nil, "no erasure desk is attached to this console. An erasure is over all stores: open it without --store and --open"), d.Closed(operator.ReadRequests, "requests to be forgotten"))
	kind.Fetch = func(ctx context.Context, q operator.PageQuery) (record.Page[operator.ErasureRequest], error) {
		all, err := d.Erasure.Requests(ctx)
		var damaged gdpr.Damaged
		if err != nil && !errors.As(err, &damaged) {
			return record.Page[operator.ErasureRequest]{}, err
		}
		n := p.dueOf(all, err)
		p.counted.Store(&n)
		out := record.OnePage(all, func(_ int, r operator.ErasureRequest) (record.Row[operator.ErasureRequest], bool) {
			row := erasureRecord(d.Desk, r)
			return row, q.Matches(row.Cells[0].String(), row.Cells[1].String(), r.Subject, strings.Join(r.Aliases, " "), r.Pseudonym, r.ID, r.By)
		})
		if len(damaged) > 0 {
			out.Said = list.Said{Text: d.Esc.Sprintf("%s cannot be read: %s", prose.Plural(len(damaged), "request"), prose.Reason(d.Esc, damaged[0]))}
		}
		return out, nil
	}
	kind.Detail, kind.Keys = rq.text, func(p *record.List[operator.ErasureRequest]) []act.Act { return erasureKeys(rq, p) }
	kind.Crumb = func(raw operator.ErasureRequest) safetext.Text { return d.Esc.Line(raw.ID) }
	kind.Field, kind.Datum = func(raw operator.ErasureRequest) string { return raw.ID }, erasureDatum
	p.List = record.New(d.Desk, kind)
	return p
}

// erasureDatum is a request as a row, with the pseudonym only: no erasure can reach a clipboard.
func erasureDatum(q operator.ErasureRequest) desk.Datum {
	return desk.DatumOf(
		"request", q.ID, "pseudonym", q.Pseudonym, "state", string(q.State), "received", q.Received,
		"deadline", q.Deadline.Format(time.DateOnly), "overdue", q.Overdue, "due", q.Words, "plan_hash", q.PlanHash,
		"approvals", len(q.Approvals), "by", q.By,
	)
}

func (p *screen) Enter() tea.Cmd { return tea.Batch(p.List.Enter(), p.tick()) }

// Renew reads the requests again: a run goes on, or ends, by itself.
func (p *screen) Renew() tea.Cmd { return p.Window.Refresh() }

func (p *screen) Update(msg any) tea.Cmd {
	switch msg := msg.(type) {
	case list.Fetched[record.Row[operator.ErasureRequest]]:
		if msg.Err == nil {
			p.due = *p.counted.Load()
			p.told(msg.Pages)
		}
	case erasureTick:
		p.ticking = false
		if !p.Visible() {
			return p.tick()
		}
		return tea.Batch(p.List.Refresh(), p.tick())
	}
	cmd := p.List.Update(msg)
	p.ended()
	return tea.Batch(cmd, p.tick())
}

// told reports news of a request behind another pane: an approval, the end of a run.
func (p *screen) told(pages []record.Page[operator.ErasureRequest]) {
	now := map[string]string{}
	for _, page := range pages {
		for _, row := range page.Rows {
			r := row.Raw
			now[r.ID] = erasureWord(r)
			if was, known := p.states[r.ID]; known && was != now[r.ID] && !p.Visible() {
				p.D.Frame.News(paint.ToneInfo, p.D.Esc.Sprintf("6 Erasure: %s is now %s", p.D.Esc.Line(r.ID), p.D.Esc.Const(now[r.ID])))
			}
		}
	}
	if p.Query == "" {
		p.states = now
	}
}

// began remembers the run that was begun here.
func (p *screen) began(request string, said safetext.Text) {
	p.begun = begun{request: request, said: said}
	for _, r := range p.Window.Rows {
		if q := r.Raw; q.ID == request && q.Run != nil {
			p.begun.before = q.Run.ID
		}
	}
}

// ended replaces the status line of a run begun here, if it is still there when the run is over.
func (p *screen) ended() {
	for _, row := range p.Window.Rows {
		r := row.Raw
		if p.begun.request == "" || r.ID != p.begun.request || r.Run == nil || r.Run.ID == p.begun.before || r.Under() {
			continue
		}
		if p.D.Frame.Saying().String() == p.begun.said.String() {
			p.D.Tell("the erasure of %s has ended: %s", r.ID, erasureWord(r))
		}
		p.begun = begun{}
	}
}

// tick looks again soon while a run is going.
func (p *screen) tick() tea.Cmd {
	if p.ticking {
		return nil
	}
	for _, r := range p.Window.Rows {
		if r.Raw.Under() {
			p.ticking = true
			return p.D.Later(p.Kind.Pane)(erasureEvery, erasureTick{})
		}
	}
	return nil
}

func erasureRecord(d *desk.Desk, r operator.ErasureRequest) record.Row[operator.ErasureRequest] {
	esc, now := d.Esc, d.Time.Clock.Now()
	state := paint.ToneInfo
	switch {
	case r.Unfinished() || r.Stopped():
		state = paint.ToneWarn
	case r.State == gdpr.StateComplete:
		state = paint.ToneGood
	}
	person := esc.LineMax(r.Subject, prose.MaxTitle)
	if r.Done() || r.Subject == "" { // the detail has the pseudonym
		person = esc.Const("no names")
	}
	return record.Row[operator.ErasureRequest]{Key: r.ID, Raw: r, Tones: []paint.Tone{urgency(r, now), state}, Cells: []safetext.Text{
		esc.Const(strings.TrimPrefix(r.At(now).Short, "due ")), esc.Const(erasureWord(r)), person, esc.Line(r.ID),
	}}
}

// urgency is bad for an overdue request, and a warning from DueWithin days before it.
func urgency(r operator.ErasureRequest, now time.Time) paint.Tone {
	switch due := r.At(now); {
	case due.Overdue:
		return paint.ToneBad
	case r.Done() || r.PausedSince != "" || due.Left > operator.DueWithin:
		return paint.ToneInfo
	}
	return paint.ToneWarn
}

// deadlineLine says when a request is due, in the colour of its urgency.
func deadlineLine(esc safetext.Escaper, r operator.ErasureRequest, now time.Time) text.Line {
	line := desk.Field("deadline", esc.Sprintf("%s, %s", r.Deadline.Format(time.DateOnly), r.At(now).Words))
	switch urgency(r, now) {
	case paint.ToneBad:
		return line.As(text.Bad)
	case paint.ToneWarn:
		return line.As(text.Warn)
	}
	return line
}

func erasureWord(r operator.ErasureRequest) string {
	switch {
	case r.Under() && r.Run.State == jobs.Paused:
		return "paused"
	case r.Under():
		return "running"
	case r.Stopped():
		return "broken off"
	case r.State == gdpr.StatePending:
		return "waiting"
	case r.State == gdpr.StateInScope:
		return "complete in scope"
	case r.State == gdpr.StateOpen:
		return "new"
	}
	return string(r.State)
}

// next says what a state means and what to do. It runs in a command.
func (rq *requests) next(ctx context.Context, r operator.ErasureRequest) string {
	switch {
	case r.Under() && r.Run.State == jobs.Paused:
		return "The run is paused. `P` lets it go on."
	case r.Under():
		return "The run is under way and needs nobody. `P` pauses it at its next step."
	case r.Stopped():
		return "A run began and broke off. What is done stays done: `r` goes on with the rest."
	}
	switch {
	case r.State == gdpr.StatePlanned && rq.D.Erasure.Rules().RequireApproval:
		return "The plan is ready, and `enter` shows it. " + rq.approvalFirst(r) + " Then `E` carries it out."
	case unsigned(rq.D.Erasure.Rules(), r):
		return "Something is left, and its new plan is not approved yet. " + rq.approvalFirst(r) + " Then `r` carries it out."
	case r.State == gdpr.StateComplete && rq.D.NoExport() != "":
		return "No layer that can be reached holds the person. `enter` reads the receipt, `y` there copies it."
	case r.State == gdpr.StateOpen:
		why := "Nothing was searched yet. "
		if _, err := rq.D.Erasure.Plan(ctx, r.ID); err == nil {
			why = "Something was changed since it was planned, so the plan is void. "
		}
		return why + stateAdvice[r.State]
	}
	return stateAdvice[r.State]
}

var stateAdvice = map[gdpr.State]string{
	gdpr.StateOpen:      "`p` searches every store and makes the plan; nothing is changed by it.",
	gdpr.StatePlanned:   "The plan is ready. `enter` shows it, `E` carries it out.",
	gdpr.StateApproved:  "The plan is approved. `E` carries it out.",
	gdpr.StatePartial:   "Something is left, so there is no receipt yet. Put right what is named below; then `r` does what is missing, or `p` plans again where something came back.",
	gdpr.StatePending:   "A reader or a sync holds a layer back. When it has gone, `r` scrubs that layer and looks again.",
	gdpr.StateInScope:   "memdesk changed all that it can reach; the person still is in what is named below, so the request stays open and its deadline runs. When that is done, `r` looks again; `V` lists the layers, `t` there attests one. `S` saves the receipt.",
	gdpr.StateComplete:  "No layer that can be reached holds the person. `enter` reads the receipt.",
	gdpr.StateWithdrawn: "It was withdrawn, and its names are gone. Nothing more is done; `a` files a new one.",
}

// text is everything about a request. It runs in a command.
func (rq *requests) text(ctx context.Context, r operator.ErasureRequest) *text.Page {
	d, esc := rq.D, rq.D.Esc
	now := d.Time.Clock.Now()
	kind := text.Note
	if r.Unfinished() || r.Stopped() {
		kind = text.Warn
	}
	head := []text.Line{
		{Value: esc.Sprintf("%s: %s", esc.Line(r.ID), erasureWord(r)), Kind: text.Title},
	}
	head = append(append(head, rq.phaseLine(r)...), text.Advice(esc, rq.next(ctx, r)).As(kind))
	if r.Reason != "" && !r.Under() && r.State != gdpr.StateWithdrawn {
		head = append(head, text.Line{Value: esc.LineMax(r.Reason, prose.MaxReason), Kind: text.Alert})
	}
	head = append(append(head, rq.doneLines(ctx, r)...), rq.planSummary(ctx, r, rq.runLines(ctx, r))...)
	head = append(head,
		deadlineLine(esc, r, now),
		desk.Field("received", esc.Const(r.Received)))
	if r.Extended {
		head = append(head, desk.Field("extended", esc.Sprintf("by two months, once (Art. 12(3)); the person was told on %s", esc.Line(cmp.Or(r.Told, "a day that is not on record")))))
	}
	if r.PausedSince != "" {
		head = append(head, desk.Field("clock", esc.Sprintf("stopped since %s while the person's identity is checked", esc.Line(r.PausedSince))))
	}
	if r.Done() {
		head = append(head, desk.Field("person", esc.Sprintf("%s (keyed pseudonym; the names are gone)", esc.LineMax(r.Pseudonym, prose.MaxTitle))),
			desk.Field("finished", esc.Const(prose.Moment(r.Finished))))
		head = append(head, text.Known(desk.Field("reason", esc.LineMax(r.Reason, prose.MaxReason)))...)
	} else {
		head = append(head, desk.Field("person", esc.LineMax(r.Subject, desk.MaxField)))
		for _, a := range r.Aliases {
			head = append(head, desk.Field("alias", esc.LineMax(a, desk.MaxField)))
		}
		head = append(head, desk.Field("ground", esc.LineMax(r.Ground, desk.MaxField)))
	}
	head = append(head, desk.Field("filed by", esc.LineMax(r.By, prose.MaxTitle)))
	for _, h := range r.Holds {
		head = append(head, desk.Field("hold", esc.Sprintf("%s: %s", esc.LineMax(model.Ref{Store: h.Store, ID: h.ID}.String(), prose.MaxTitle), esc.LineMax(h.Ground, prose.MaxTitle))))
	}
	head = append(head, rq.reportLines(ctx, r)...)
	return text.NewPage(head, "")
}

// planSummary is the plan in a few lines, after those of its run; a warning of stores not searched comes first.
func (rq *requests) planSummary(ctx context.Context, r operator.ErasureRequest, run []text.Line) []text.Line {
	run = append(run, text.Line{Kind: text.Blank})
	if r.Done() || r.PlanHash == "" {
		return run
	}
	esc := rq.D.Esc
	p, err := rq.D.Erasure.Plan(ctx, r.ID)
	if err != nil {
		return append(run, text.Line{Value: esc.Sprintf("the plan cannot be shown: %s", prose.Reason(esc, err)), Kind: text.Alert})
	}
	head := append(unsearchedLines(esc, p, "`p` plans again when `1` Health shows it up."), run...)
	head = append(head, desk.Field("plan", esc.Sprintf("%s, made %s", p.Short(), prose.Moment(p.Made))))
	why, err := rq.D.Erasure.Unapproved(ctx, r.ID)
	switch {
	case err != nil:
		why = err.Error()
	case why == "" && len(r.Approvals) == 0:
		why = "none is required"
	}
	head = append(head, rq.approvedLines(r)...)
	head = append(head, text.Known(text.Line{Name: esc.Const("approval"), Value: esc.LineMax(why, prose.MaxReason)})...)
	return append(append(append(head, text.Line{Kind: text.Blank}), rq.eraseStores(p)...), text.Line{Kind: text.Blank})
}

// noChange says why a request cannot be changed; empty where it can.
func noChange(r operator.ErasureRequest) string {
	switch {
	case r.State == gdpr.StateWithdrawn:
		return "the request was withdrawn, and its names are gone"
	case r.Done():
		return "the request is complete, and its names are gone"
	case r.Under():
		return "a run of it is under way: P pauses it"
	}
	return ""
}

// erasureKeys are the keys of this pane beside those of every list.
func erasureKeys(rq *requests, p *record.List[operator.ErasureRequest]) []act.Act {
	none := func() string { return act.When(p.None() != "", p.None()+"; a files a request") }
	// on is an act on the request at the cursor; no adds the reasons of the request itself.
	on := func(a act.Act, no func(operator.ErasureRequest) string, do func(operator.ErasureRequest) tea.Cmd) act.Act {
		why := act.Unless(none, func() string { return rq.D.Locked("") })
		return a.With(act.Unless(why, func() string { return no(p.Here()) }), func() tea.Cmd { return do(p.Here()) })
	}
	planned := func(r operator.ErasureRequest) string {
		return cmp.Or(noChange(r), act.When(r.PlanHash == "", "there is no plan yet, or it is void: p makes one"))
	}
	withdrawn := func(r operator.ErasureRequest) string { return act.When(r.State == gdpr.StateWithdrawn, noChange(r)) }
	out := []act.Act{
		act.Request.With(func() string { return rq.D.Locked("") }, func() tea.Cmd { return rq.D.Modal.Show(rq.intakeDialog(rq.intake, -1, "")) }),
		on(act.Plan, func(r operator.ErasureRequest) string { return cmp.Or(noChange(r), rq.D.NoBulk()) }, func(r operator.ErasureRequest) tea.Cmd { return rq.replan(r, nil) }),
		on(act.Erase, func(r operator.ErasureRequest) string {
			return cmp.Or(act.When(r.State == gdpr.StateInScope, "it was carried out: r looks again"), planned(r))
		}, rq.erase),
		on(act.Retry, func(r operator.ErasureRequest) string {
			return cmp.Or(planned(r), act.When(!r.Unfinished() && !r.Stopped(), "no run has begun: E begins one"))
		}, rq.erase),
		on(act.Pause, func(r operator.ErasureRequest) string { return act.When(!r.Under(), "no run is under way") }, rq.pauseErasure),
		on(act.ExportPerson, func(r operator.ErasureRequest) string {
			return cmp.Or(rq.D.NoExport(), withdrawn(r), act.When(r.Done(), "the request is complete: there is nothing left to export"))
		}, rq.exportErasure),
		on(act.Approve, func(r operator.ErasureRequest) string {
			return cmp.Or(act.When(r.State == gdpr.StateInScope && !rq.D.Erasure.Rules().RequireApproval, "it was carried out, and needed no approval"), planned(r), rq.unasked(r))
		}, rq.approve),
		on(act.Deadline, noChange, rq.deadline),
		on(act.Verify, func(r operator.ErasureRequest) string {
			return cmp.Or(act.When(r.Under(), "a run is under way, which looks again at its end"), withdrawn(r))
		}, rq.verifyErasure),
		act.Layers.With(func() string {
			r := p.Here()
			return act.When(p.None() != "" || !r.Receipted() && !r.Unfinished(), "there are verdicts at the end of a run")
		}, func() tea.Cmd { return rq.openVerdicts(p.Here()) }),
		on(act.Receipt, func(r operator.ErasureRequest) string { return cmp.Or(rq.D.NoExport(), withdrawn(r)) }, rq.saveReceipt),
		on(act.Lift, func(r operator.ErasureRequest) string {
			switch {
			case r.Under():
				return noChange(r)
			case len(r.Holds) == 0:
				return "nothing is on hold under this request"
			}
			return ""
		}, func(r operator.ErasureRequest) tea.Cmd { return rq.D.Modal.Show(rq.liftDialog(r, "", nil)) }),
		on(act.Withdraw, noChange, rq.withdraw),
	}
	if p.Full {
		out = append(out[1:], out[0]) // what the page is about comes before a new request
		return append([]act.Act{{Keys: []string{"enter"}, Name: "receipt", Doc: "read the receipt of a request that is complete",
			Why: func() string {
				r := p.Here()
				return act.When(p.None() != "" || !r.Receipted(), "there is a receipt when the request is complete; esc goes back")
			}, Do: func() tea.Cmd { return rq.showReceipt(p.Here()) }}}, out...)
	}
	return append([]act.Act{act.Show.With(none, func() tea.Cmd { return openErasure(rq, p, p.Here()) })}, out...)
}

// openErasure opens the list that a request needs now.
func openErasure(rq *requests, p *record.List[operator.ErasureRequest], r operator.ErasureRequest) tea.Cmd {
	switch {
	case r.State == gdpr.StateComplete:
		return rq.showReceipt(r)
	case r.PlanHash != "" && !r.Under() && !r.Done() && !r.Unfinished() && !r.Stopped():
		return rq.openPlan(r, nil)
	}
	p.Full = true
	return p.Layout()
}
