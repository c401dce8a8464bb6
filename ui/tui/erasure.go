package tui

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/gdpr"
	"memdesk/internal/safetext"
	"memdesk/jobs"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// erasures is the pane of erasure requests: a list by deadline, and what there is
// to know and to do about the one at the cursor.
type erasures struct {
	*records[ErasureRequest]
	ticking bool
	begun   begun
	states  map[string]string // of the requests, in words, when they were last seen
	due     due
}

// due are the requests that want an answer soon: the badge of the tab.
type due struct{ soon, overdue int }

// Requests that are due within dueDays are on the tab of every pane; dueEvery is how
// often they are counted.
const (
	dueDays  = 3
	dueEvery = 15 * time.Second
)

type dueTick struct{}

// countDue counts off the update loop, and again after a while.
func (p *erasures) countDue() tea.Cmd {
	if p.d.Erasure == nil {
		return nil
	}
	source, now := p.d.Erasure, p.d.time.Clock
	return tea.Batch(p.d.later(p.kind.pane)(dueEvery, dueTick{}), p.ask(func(ctx context.Context) any {
		all, err := source.Requests(ctx)
		if err != nil {
			return nil // the pane says why when it is opened
		}
		return dueOf(all, now.Now())
	}))
}

func dueOf(all []ErasureRequest, now time.Time) (n due) {
	for _, r := range all {
		switch left := r.DaysLeft(now); {
		case r.Done() || r.PausedSince != "":
		case left < 0:
			n.overdue++
		case left <= dueDays:
			n.soon++
		}
	}
	return n
}

func (p *erasures) badge() (safetext.Text, paint.Tone) {
	switch {
	case p.due.overdue > 0:
		return safetext.Sprintf("!%d", p.due.overdue), paint.ToneBad
	case p.due.soon > 0:
		return safetext.Sprintf("%d due", p.due.soon), paint.ToneWarn
	}
	return safetext.Text{}, paint.ToneInfo
}

// erasureEvery is the pause between two looks at a run that is under way.
const erasureEvery = 400 * time.Millisecond

type erasureTick struct{}

// begun is a run that was begun here and has not been seen to end.
type begun struct {
	request string
	before  jobs.ID       // the run of the request before it
	said    safetext.Text // what the status line said of it
}

func newErasures(d *bench, at int) *erasures {
	p := &erasures{}
	rq := &requests{d: d, list: p}
	kind := recordKind[ErasureRequest]{
		pane: at, noun: "request",
		empty: "No erasure requests. Press a to file one.",
		columns: []column{
			{"DUE", 17, false}, {"STATE", 13, false}, {"PERSON", 18, false}, {"REQUEST", 0, false},
		},
		traits: traits[ErasureRequest]{badge: 2, poll: true, less: map[int]func(a, b ErasureRequest) int{0: func(a, b ErasureRequest) int { return a.Deadline.Compare(b.Deadline) }}},
	}
	if d.Erasure == nil {
		kind.missing = "no erasure desk is attached to this console. An erasure is over all stores: open it without --store"
	}
	kind.fetch = func(ctx context.Context, q PageQuery) (span[record[ErasureRequest]], said, error) {
		all, err := d.Erasure.Requests(ctx)
		if err != nil {
			return span[record[ErasureRequest]]{}, said{}, err
		}
		var out span[record[ErasureRequest]]
		for _, r := range all {
			row := erasureRecord(d.desk, r)
			if q.Matches(row.cells[0].String(), row.cells[1].String(), r.Subject, strings.Join(r.Aliases, " "), r.Pseudonym, r.ID, r.By) {
				out.rows = append(out.rows, row)
			}
		}
		out.total = model.Count{N: int64(len(out.rows))}
		return out, said{due: dueOf(all, d.time.Clock.Now())}, nil
	}
	kind.detail = func(ctx context.Context, raw ErasureRequest) *text.Page { return rq.text(ctx, raw) }
	kind.keys = func(r *records[ErasureRequest]) []act.Act { return rq.erasureKeys(r) }
	kind.fresh = func(ctx context.Context, raw ErasureRequest) (record[ErasureRequest], error) {
		now, err := d.Erasure.Request(ctx, raw.ID)
		return erasureRecord(d.desk, now), err
	}
	kind.crumb = func(raw ErasureRequest) safetext.Text { return d.esc.Line(raw.ID) }
	kind.field, kind.datum = func(raw ErasureRequest) string { return raw.ID }, erasureDatum
	p.records = newRecords(d.desk, kind)
	return p
}

// erasureDatum is a request as a row. The person is in it by the pseudonym only: a
// clipboard is no place that an erasure could reach.
func erasureDatum(q ErasureRequest) datum {
	var r datum
	r.add("request", q.ID)
	r.add("pseudonym", q.Pseudonym)
	r.add("state", string(q.State))
	r.add("received", q.Received)
	r.add("deadline", q.Deadline.Format(time.DateOnly))
	r.add("overdue", q.Overdue)
	r.add("due", q.Words)
	r.add("plan_hash", q.PlanHash)
	r.add("approvals", len(q.Approvals))
	r.add("by", q.By)
	return r
}

func (p *erasures) enter() tea.Cmd { return tea.Batch(p.records.enter(), p.tick()) }

func (p *erasures) update(msg any) tea.Cmd {
	switch msg := msg.(type) {
	case due:
		p.due = msg
		return nil
	case dueTick:
		return p.countDue()
	case noticed[ErasureRequest]:
		if msg.trail == nil && msg.page.err == nil {
			p.due = msg.notice.due
			p.told(msg.page.pages)
		}
	}
	if _, ok := msg.(erasureTick); ok {
		p.ticking = false
		if !p.visible() {
			return p.tick()
		}
		return tea.Batch(p.records.refresh(), p.tick())
	}
	cmd := p.records.update(msg)
	p.ended()
	return tea.Batch(cmd, p.tick())
}

// told says what became of a request while another pane is on the screen: an approval, the
// end of a run.
func (p *erasures) told(pages []span[record[ErasureRequest]]) {
	now := map[string]string{}
	for _, page := range pages {
		for _, row := range page.rows {
			r := row.raw
			now[r.ID] = erasureWord(r)
			if was, known := p.states[r.ID]; known && was != now[r.ID] && !p.visible() && p.d.frame.saying().IsEmpty() {
				p.d.say(paint.ToneInfo, p.d.esc.Sprintf("6 Erasure: %s is now %s", p.d.esc.Line(r.ID), p.d.esc.Const(now[r.ID])))
			}
		}
	}
	if p.query == "" {
		p.states = now
	}
}

// began keeps in mind which run was begun here.
func (p *erasures) began(request string, said safetext.Text) {
	p.begun = begun{request: request, said: said}
	for _, r := range p.list.rows {
		if q := r.raw; q.ID == request && q.Run != nil {
			p.begun.before = q.Run.ID
		}
	}
}

// ended replaces the word that a run has begun, where that still stands there when it
// is over.
func (p *erasures) ended() {
	for _, row := range p.list.rows {
		r := row.raw
		if p.begun.request == "" || r.ID != p.begun.request || r.Run == nil || r.Run.ID == p.begun.before || r.Under() {
			continue
		}
		if p.d.frame.saying().String() == p.begun.said.String() {
			p.d.say(paint.ToneInfo, p.d.esc.Sprintf("the erasure of %s has ended: %s", r.ID, erasureWord(r)))
		}
		p.begun = begun{}
	}
}

// tick looks again soon while a run is under way; otherwise nothing moves.
func (p *erasures) tick() tea.Cmd {
	if p.ticking {
		return nil
	}
	for _, r := range p.list.rows {
		if r.raw.Under() {
			p.ticking = true
			return p.d.later(p.kind.pane)(erasureEvery, erasureTick{})
		}
	}
	return nil
}

// current is the request at the cursor.
func currentErasure(p *records[ErasureRequest]) (ErasureRequest, bool) {
	r, ok := p.list.current()
	if !ok {
		return ErasureRequest{}, false
	}
	return r.raw, true
}

func erasureRecord(d *desk, r ErasureRequest) record[ErasureRequest] {
	esc := d.esc
	due := paint.ToneInfo
	switch left := r.DaysLeft(d.time.Clock.Now()); {
	case r.Done() || r.PausedSince != "":
	case left < 0:
		due = paint.ToneBad
	case left <= 7:
		due = paint.ToneWarn
	}
	state := paint.ToneInfo
	switch {
	case r.Unfinished() || r.Stopped():
		state = paint.ToneWarn
	case r.State == gdpr.StateComplete:
		state = paint.ToneGood
	}
	person := esc.LineMax(r.Subject, prose.MaxTitle)
	if r.Done() || r.Subject == "" {
		person = esc.LineMax(r.Pseudonym, prose.MaxTitle)
	}
	return record[ErasureRequest]{key: r.ID, raw: r, tones: []paint.Tone{due, state}, cells: []safetext.Text{
		esc.Const(dueWords(r, d.time.Clock.Now())), esc.Const(erasureWord(r)), person, esc.Line(r.ID),
	}}
}

// dueWords says when an answer is due, as people say it.
func dueWords(r ErasureRequest, now time.Time) string {
	left := r.DaysLeft(now)
	switch {
	case r.State == gdpr.StateWithdrawn:
		return "withdrawn"
	case r.Done():
		return "answered"
	case r.PausedSince != "":
		return "clock stopped"
	case left < 0:
		return prose.Plural(int64(-left), "day") + " overdue"
	case left == 0:
		return "due today"
	case left == 1:
		return "due tomorrow"
	}
	return "due in " + prose.Plural(int64(left), "day")
}

// erasureWord is the state in a word or two.
func erasureWord(r ErasureRequest) string {
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
		return "done in scope"
	case r.State == gdpr.StateOpen:
		return "new"
	}
	return string(r.State)
}

// erasureNext says what a state means and what there is to do.
func erasureNext(r ErasureRequest) string {
	switch {
	case r.Under() && r.Run.State == jobs.Paused:
		return "The run is paused. P lets it go on."
	case r.Under():
		return "The run is under way and needs nobody. P pauses it at its next step."
	case r.Stopped():
		return "A run began and broke off. What is done stays done: r goes on with the rest."
	}
	switch r.State {
	case gdpr.StateOpen:
		return "Nothing was searched yet, or something changed since. p searches every store and makes the plan; nothing is changed by it."
	case gdpr.StatePlanned:
		return "A plan stands. enter shows it, A says who must approve it, E carries it out."
	case gdpr.StateApproved:
		return "The plan is approved. E carries it out."
	case gdpr.StatePartial:
		return "Something is left, so there is no receipt yet. Put right what is named below; then r does what is missing, or p plans again where something came back."
	case gdpr.StatePending:
		return "A reader or a sync holds a layer back. When it has gone, r scrubs that layer and looks again."
	case gdpr.StateInScope:
		return "All that memdesk can change is clean; the person is still in what is named below. When that is done, r looks again; V lists the layers, t there attests one. S saves the receipt."
	case gdpr.StateComplete:
		return "No layer that can be reached holds the person. enter reads the receipt, S saves it."
	case gdpr.StateWithdrawn:
		return "It was withdrawn, and its names are gone. Nothing more is done; a files a new one."
	}
	return ""
}

// text is all that is known of a request. It runs in a command.
func (rq *requests) text(ctx context.Context, r ErasureRequest) *text.Page {
	d, esc := rq.d, rq.d.esc
	field := func(name string, v safetext.Text) text.Line { return text.Line{Name: esc.Const(name), Value: v} }
	now := d.time.Clock.Now()
	kind := text.Note
	if r.Unfinished() || r.Stopped() {
		kind = text.Warn
	}
	head := []text.Line{
		{Value: esc.Sprintf("%s: %s", esc.Line(r.ID), erasureWord(r)), Kind: text.Title},
	}
	head = append(append(head, rq.phaseLine(r)...), text.Line{Value: esc.Const(erasureNext(r)), Kind: kind})
	if r.Reason != "" && !r.Under() && r.State != gdpr.StateWithdrawn {
		head = append(head, text.Line{Value: esc.Sprintf("!! %s", esc.LineMax(r.Reason, prose.MaxReason)), Kind: text.Warn})
	}
	head = append(head, rq.runLines(ctx, r)...)
	head = append(head, text.Line{Kind: text.Blank})
	head = append(head, rq.planSummary(ctx, r)...)
	head = append(head,
		field("deadline", esc.Sprintf("%s, %s", r.Deadline.Format("2006-01-02"), dueWords(r, now))),
		field("received", esc.Const(r.Received)))
	if r.Extended {
		head = append(head, field("extended", esc.Sprintf("by two months, once (Art. 12(3)); the person was told on %s", esc.Line(cmp.Or(r.Told, "a day that is not on record")))))
	}
	if r.PausedSince != "" {
		head = append(head, field("clock", esc.Sprintf("stopped since %s while the person's identity is checked", esc.Line(r.PausedSince))))
	}
	if r.Done() {
		head = append(head, field("person", esc.Sprintf("%s (keyed pseudonym; the names are gone)", esc.LineMax(r.Pseudonym, prose.MaxTitle))),
			field("finished", esc.Const(prose.Moment(r.Finished))))
		if r.Reason != "" {
			head = append(head, field("reason", esc.LineMax(r.Reason, prose.MaxReason)))
		}
	} else {
		head = append(head, field("person", esc.LineMax(r.Subject, maxField)))
		for _, a := range r.Aliases {
			head = append(head, field("alias", esc.LineMax(a, maxField)))
		}
		head = append(head, field("ground", esc.LineMax(r.Ground, maxField)))
	}
	head = append(head, field("filed by", esc.LineMax(r.By, prose.MaxTitle)))
	for _, h := range r.Holds {
		head = append(head, field("hold", esc.Sprintf("%s: %s", esc.LineMax(model.Ref{Store: h.Store, ID: h.ID}.String(), prose.MaxTitle), esc.LineMax(h.Ground, prose.MaxTitle))))
	}
	head = append(head, rq.reportLines(ctx, r)...)
	return text.NewPage(head, "")
}

// planSummary is the plan in a few lines, or nothing.
func (rq *requests) planSummary(ctx context.Context, r ErasureRequest) []text.Line {
	if r.Done() || r.PlanHash == "" {
		return nil
	}
	esc := rq.d.esc
	p, err := rq.d.Erasure.Plan(ctx, r.ID)
	if err != nil {
		return []text.Line{{Value: esc.Sprintf("!! the plan cannot be shown: %s", prose.Reason(esc, err)), Kind: text.Warn}}
	}
	head := []text.Line{{Name: esc.Const("plan"), Value: esc.Sprintf("%s, made %s", p.Hash[:min(12, len(p.Hash))], rq.d.time.Ago(p.Made))}}
	why, err := rq.d.Erasure.Unapproved(ctx, r.ID)
	switch {
	case err != nil:
		why = err.Error()
	case why == "" && len(r.Approvals) > 0:
		why = "approved"
	case why == "":
		why = "nobody else has to approve"
	}
	head = append(head, text.Line{Name: esc.Const("approval"), Value: esc.LineMax(why, prose.MaxReason)}, text.Line{Kind: text.Blank})
	return append(append(head, eraseStores(rq.d.st, p)...), text.Line{Kind: text.Blank})
}

// locate says why an act on the request at the cursor is not possible, beside what
// more says of the request itself.
func (rq *requests) noErasure(p *records[ErasureRequest], more func(r ErasureRequest) string) func() string {
	return func() string {
		r, ok := currentErasure(p)
		if !ok {
			return p.list.nothing() + "; a files a request"
		}
		if why := rq.d.locked(""); why != "" {
			return why
		}
		return more(r)
	}
}

// open is what stands in the way of changing a request.
func stillOpen(r ErasureRequest) string {
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
func (rq *requests) erasureKeys(p *records[ErasureRequest]) []act.Act {
	request := func(do func(r ErasureRequest) tea.Cmd) func() tea.Cmd {
		return func() tea.Cmd {
			r, _ := currentErasure(p)
			return do(r)
		}
	}
	planned := func(r ErasureRequest) string {
		if why := stillOpen(r); why != "" {
			return why
		}
		if r.PlanHash == "" {
			return "there is no plan yet, or it is void: p makes one"
		}
		return ""
	}
	out := []act.Act{
		act.Request.With(func() string { return rq.d.locked("") }, func() tea.Cmd { return rq.d.modal.show(rq.intakeDialog(rq.intake, -1, "")) }),
		act.Plan.With(rq.noErasure(p, func(r ErasureRequest) string {
			if why := stillOpen(r); why != "" {
				return why
			}
			return rq.d.noBulk()
		}), request(func(r ErasureRequest) tea.Cmd { return rq.discover(r, nil) })),
		act.Erase.With(rq.noErasure(p, planned), request(rq.erase)),
		act.Retry.With(rq.noErasure(p, func(r ErasureRequest) string {
			if why := planned(r); why != "" {
				return why
			}
			if !r.Unfinished() && !r.Stopped() {
				return "no run has begun: E begins one"
			}
			return ""
		}), request(rq.erase)),
		act.Pause.With(rq.noErasure(p, func(r ErasureRequest) string {
			if !r.Under() {
				return "no run is under way"
			}
			return ""
		}), request(rq.pauseErasure)),
		act.ExportPerson.With(rq.noErasure(p, func(r ErasureRequest) string {
			switch {
			case r.State == gdpr.StateWithdrawn:
				return stillOpen(r)
			case r.Done():
				return "the request is complete: there is nothing left to export"
			}
			return ""
		}), request(rq.exportErasure)),
		act.Approve.With(rq.noErasure(p, planned), request(rq.approve)),
		act.Deadline.With(rq.noErasure(p, stillOpen), request(rq.clockDialog)),
		act.Verify.With(rq.noErasure(p, func(r ErasureRequest) string {
			switch {
			case r.State == gdpr.StateWithdrawn:
				return stillOpen(r)
			case r.Under():
				return "a run is under way, which looks again at its end"
			}
			return ""
		}), request(rq.verifyErasure)),
		act.Layers.With(func() string {
			r, ok := currentErasure(p)
			if !ok || !r.Receipted() && !r.Unfinished() {
				return "there are verdicts at the end of a run"
			}
			return ""
		}, request(rq.openVerdicts)),
		act.Receipt.With(rq.noErasure(p, func(r ErasureRequest) string {
			if r.State == gdpr.StateWithdrawn {
				return stillOpen(r)
			}
			return ""
		}), request(rq.saveReceipt)),
		act.Lift.With(rq.noErasure(p, func(r ErasureRequest) string {
			switch {
			case r.Under():
				return stillOpen(r)
			case len(r.Holds) == 0:
				return "nothing is on hold under this request"
			}
			return ""
		}), request(func(r ErasureRequest) tea.Cmd { return rq.d.modal.show(rq.liftDialog(r, "", "", nil)) })),
		act.Withdraw.With(rq.noErasure(p, stillOpen), request(func(r ErasureRequest) tea.Cmd { return rq.d.modal.show(rq.withdrawDialog(r, "")) })),
	}
	if p.full {
		out = slices.DeleteFunc(out, func(b act.Act) bool { return b.Keys[0] == "p" }) // the request before
		return append([]act.Act{{Keys: []string{"enter"}, Name: "receipt", Doc: "read the receipt of a request that is complete",
			Why: func() string {
				if r, ok := currentErasure(p); !ok || !r.Receipted() {
					return "there is a receipt when the request is complete; esc goes back"
				}
				return ""
			}, Do: request(rq.showReceipt)}}, out...)
	}
	return append([]act.Act{act.Show.With(func() string {
		if _, ok := currentErasure(p); !ok {
			return p.list.nothing() + "; a files a request"
		}
		return ""
	}, request(func(r ErasureRequest) tea.Cmd { return rq.openErasure(p, r) }))}, out...)
}

// openErasure shows what a request is about now.
func (rq *requests) openErasure(p *records[ErasureRequest], r ErasureRequest) tea.Cmd {
	switch {
	case r.State == gdpr.StateComplete:
		return rq.showReceipt(r)
	case r.Under() || r.Done() || r.Unfinished() || r.Stopped():
		p.full = true
		return p.layout()
	case r.PlanHash != "":
		return rq.openPlan(r, nil)
	case rq.d.locked("") != "":
		p.full = true
		return p.layout()
	}
	if why := rq.d.noBulk(); why != "" {
		rq.d.say(paint.ToneWarn, rq.d.st.Esc.Const(why))
		return nil
	}
	return rq.discover(r, nil)
}
