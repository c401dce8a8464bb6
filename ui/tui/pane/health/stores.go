package health

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/record"
)

// observed is what is known of a store at one moment. It holds no open store: lists compare it.
type observed struct {
	name, kind, location string
	report               backends.HealthReport
	known                bool   // it was checked
	past                 checks // of this session
	counts               []model.TierCount
	holding
}

func (p *watch) kind(at int) record.Kind[observed] {
	return record.Kind[observed]{
		Pane: at, Name: "health", Noun: "store", Empty: desk.NoStores,
		Columns: []record.Column{
			{Title: "STORE", Width: 16, Least: 10}, {Title: "HEALTH", Width: 8, Least: 8, Dim: true}, {Title: "LATENCY", Width: 9, Least: 9, Right: true, Dim: true}, {Title: "CHECKED", Width: 9, Right: true, Dim: true, Age: true}, {Title: "KIND", Width: 12, Dim: true}, {Title: "MESSAGE", Least: 24, Dim: true},
		},
		Traits: record.Traits[observed]{Badge: 2, Store: func(o observed) string { return o.name }, Less: map[int]func(a, b observed) int{
			2: func(a, b observed) int { return cmp.Compare(a.report.Latency, b.report.Latency) },
		}},
		Fetch: func(_ context.Context, q operator.PageQuery) (record.Page[observed], error) {
			return record.OnePage(*p.latest.Load(), func(_ int, o observed) (record.Row[observed], bool) { // stores are few
				row := p.row(o)
				return row, q.Matches(o.name, row.Cells[1].String(), o.kind, row.Cells[5].String())
			}), nil
		},
		Detail: func(_ context.Context, o observed) *text.Page { return text.NewPage(p.describe(o), "") },
		Keys:   p.keys,
		Tell:   tellStore,
		Field:  func(o observed) string { return o.name },
		Datum:  datum,
	}
}

// observe takes what is known of every store into the list, the worst first, else as in the fleet.
func (p *watch) observe() tea.Cmd {
	if p.d.AutoRefresh.Frozen && len(*p.latest.Load()) > 0 {
		return nil
	}
	var all []observed
	for _, m := range p.d.Fleet.Members() {
		o := observed{name: m.Name, kind: m.Kind, location: m.Location}
		o.report, o.known = p.reports[m.Name]
		if past := p.past[m.Name]; past != nil {
			o.past = *past
			o.past.took = slices.Clone(past.took)
		}
		if p.counts != nil {
			o.counts = p.counts(m.Name)
			o.holding = holds(m.Store, o.counts)
		}
		all = append(all, o)
	}
	slices.SortStableFunc(all, func(a, b observed) int { return a.tone().Urgency() - b.tone().Urgency() })
	p.latest.Store(&all)
	if !p.moved && len(all) > 0 {
		p.Pick = all[0].name
	}
	p.pulse.Read(p.d.Time.Clock.Now())
	if !p.Visible() {
		return nil // the next visit fetches the rows
	}
	return p.Reload()
}

func (p *watch) member(name string) backends.Member {
	all := p.d.Fleet.Members()
	return all[slices.IndexFunc(all, func(m backends.Member) bool { return m.Name == name })]
}

// tone is how a store was at its last check; an unchecked store is not worse than a good one.
func (o observed) tone() paint.Tone {
	switch {
	case o.report.Status.State == model.HealthDegraded:
		return paint.ToneWarn
	case !o.known || o.report.Status.OK:
		return paint.ToneGood
	}
	return paint.ToneBad
}

func (p *watch) row(o observed) record.Row[observed] {
	esc, status := p.d.Esc, o.report.Status
	row := record.Row[observed]{Key: o.name, At: status.CheckedAt, Raw: o}
	word, tone, message, told := "..", paint.ToneInfo, esc.Const("checking"), paint.ToneInfo
	var latency safetext.Text
	if o.known {
		if latency = esc.Const("-"); status.OK { // how soon it failed says nothing
			latency = esc.Const(prose.Latency(o.report.Latency))
		}
		tone = o.tone()
		word = map[paint.Tone]string{paint.ToneGood: "OK", paint.ToneWarn: "look", paint.ToneBad: "down"}[tone]
		switch {
		case status.OK && len(status.Findings) > 0:
			message, told = esc.LineMax(status.Findings[0].Message, prose.MaxReason), paint.ToneWarn
		case !status.OK:
			message, told = esc.LineMax(status.Message, prose.MaxReason), paint.ToneWarn
		case status.Probing && !o.counted:
			message = esc.Const(probing)
		case !o.counted:
			message = safetext.Text{}
		default:
			var over safetext.Text
			if message, over = o.words(esc); o.over > 0 {
				row.Runs = map[int][]paint.Stretch{5: {{Start: message.Len() - over.Len(), End: message.Len(), Look: paint.LookWarn}}}
			}
			if status.Probing {
				message = esc.Sprintf("%s; %s", message, probing)
			}
		}
	}
	row.Cells = []safetext.Text{esc.Line(o.name), esc.Const(word), latency, {}, esc.Line(o.kind), message}
	row.Tones = []paint.Tone{1: tone, 5: told}
	return row
}

// describe is everything known about a store, in words.
func (p *watch) describe(o observed) []text.Line {
	esc, m := p.d.Esc, p.member(o.name)
	head := []text.Line{{Value: esc.Line(m.Name), Kind: text.Title}}
	r := o.report
	switch {
	case !o.known:
		head = append(head, desk.Field("health", esc.Const("not checked yet")))
	case r.Status.OK && r.Status.Probing && len(r.Status.Findings) == 0:
		head = append(head, text.State(p.d.St, paint.ToneGood, esc.Const("OK so far: "+probing)).Named(esc.Const("health")))
	case r.Status.OK && len(r.Status.Findings) == 0:
		head = append(head, text.State(p.d.St, paint.ToneGood, esc.Const("OK, it answers")).Named(esc.Const("health")))
	case r.Status.OK:
		head = append(head, text.State(p.d.St, paint.ToneWarn, esc.Line(string(r.Status.State))).Named(esc.Const("health")))
	default:
		head = append(head, text.State(p.d.St, paint.ToneBad, esc.LineMax(r.Status.Message, prose.MaxReason)).Named(esc.Const("health")).As(text.Bad))
	}
	for _, f := range r.Status.Findings {
		if !f.State.Serves() && f.Message == r.Status.Message {
			continue
		}
		head = append(head, text.Line{Name: esc.Line(f.Kind), Value: esc.Sprintf("%s (%s)", esc.LineMax(f.Message, prose.MaxReason), esc.Const(prose.Moment(f.CheckedAt))), Kind: text.Warn})
	}
	if o.known && !r.Status.OK {
		head = append(head, text.Advice(esc, advice(model.KindOf(m.Err))).Named(esc.Const("what to do")).As(text.Field))
	}
	if past := o.past; len(past.took) > 0 {
		course := past.words
		if p.d.Spoken {
			course = past.counted
		}
		head = append(head, desk.Field("checks", course(esc)))
		if !past.down.IsZero() {
			head = append(head, text.Line{Name: esc.Const("down since"), Value: esc.Sprintf("%s, %s", esc.Const(prose.Moment(past.down)), esc.Const(p.d.Time.Age(past.down))), Kind: text.Bad})
		} else if !past.failed.IsZero() {
			head = append(head, desk.Field("last error", esc.Sprintf("%s, %s", esc.Const(prose.Moment(past.failed)), esc.LineMax(past.wrong, prose.MaxReason))))
		}
		last := esc.Const("not since this console was opened")
		if !past.lastOK.IsZero() {
			last = esc.Const(prose.Moment(past.lastOK))
		}
		head = append(head, desk.Field("last success", last))
	}
	head = append(head,
		desk.Field("kind", esc.Line(m.Kind)),
		desk.Field("location", esc.Line(m.Location)),
		desk.Field("environment", desk.OrElse(esc.Line(m.Environment), esc.Const("not named"))),
		desk.Field("source", desk.OrElse(esc.Line(m.Origin), esc.Const("not said"))),
	)
	if m.Err != nil {
		return append(head, text.Line{Kind: text.Blank},
			text.Advice(esc, "It could not be opened. It is tried again every 5 seconds, and when you press `r`."))
	}
	return append(head, describeStore(esc, m.Store, o)...)
}

func describeStore(esc safetext.Escaper, s model.Store, o observed) []text.Line {
	var head []text.Line
	access := esc.Const("read and write")
	if s.ReadOnly {
		access = esc.Sprintf("read-only: %s", desk.OrElse(esc.Line(s.ReadOnlyReason), esc.Const("opened so")))
	}
	head = append(head, desk.Field("access", access))
	if o.hidden > 0 {
		head = append(head, desk.Field("items", esc.Sprintf("%s, and %s in hidden tiers", prose.Plural(o.shown, "item"), prose.Group(o.hidden))))
	}
	var can, cannot []string
	caps := s.Capabilities()
	for name, ok := range caps {
		if ok {
			can = append(can, name)
		}
	}
	for _, name := range coreFacets {
		if !caps[name] {
			cannot = append(cannot, name)
		}
	}
	slices.Sort(can)
	head = append(head,
		desk.Field("can", desk.OrElse(esc.Line(strings.Join(can, ", ")), esc.Const("nothing"))),
		desk.Field("cannot", desk.OrElse(esc.Line(strings.Join(cannot, ", ")), esc.Const("nothing is missing"))),
	)
	for _, name := range slices.Sorted(maps.Keys(s.Limits)) {
		head = append(head, text.Line{Name: esc.Line(name), Value: esc.Sprintf("%d", s.Limits[name])})
	}
	head = append(head, fillLines(esc, s, o.counts)...)
	head = append(head, text.Line{Kind: text.Blank}, text.Line{Value: esc.Const("deviations from the contract"), Kind: text.Title})
	for _, d := range operator.Deviations(s) {
		head = append(head, text.Line{Name: esc.Line(d.Rule), Value: esc.Line(d.Reason)})
	}
	if len(s.Deviations) == 0 {
		head = append(head, text.Line{Value: esc.Const("none declared"), Kind: text.Note})
	}
	if len(s.Notes) > 0 {
		head = append(head, text.Line{Kind: text.Blank}, text.Line{Value: esc.Const("notes"), Kind: text.Title})
		for _, n := range s.Notes {
			head = append(head, text.Line{Value: esc.Line(n)})
		}
	}
	return head
}

// holding is what a store holds, as far as it was counted.
type holding struct {
	shown, hidden int64           // items in the tiers that lists show, and in hidden ones
	over          int64           // shown tiers over their cap
	full          model.TierCount // the last of them
	counted       bool            // as these numbers say
}

// words are the items, and at their end how many tiers are over.
func (h holding) words(esc safetext.Escaper) (all, over safetext.Text) {
	all = esc.Const(prose.Plural(h.shown, "item"))
	if h.over > 0 {
		over = esc.Sprintf("%s over cap", prose.Group(h.over))
		all = esc.Sprintf("%s, %s", all, over)
	}
	return all, over
}

func holds(s model.Store, counts []model.TierCount) (h holding) {
	for _, t := range counts {
		h.counted = true
		spec, _ := s.Tier(t.Tier)
		if spec.Hidden {
			h.hidden += t.Items
			continue
		}
		h.shown += t.Items
		if operator.CapKnown(spec, t) && t.Bytes > spec.Cap {
			h.over++
			h.full = t
		}
	}
	return h
}

// probing is said of a store whose slow probes have never ended.
const probing = "slow checks still run"

func tellStore(esc safetext.Escaper, o observed) safetext.Text {
	status := o.report.Status
	said := status.Message
	if status.OK && status.Probing {
		if said = probing; o.counted {
			all, _ := o.words(esc)
			said = all.String() + "; " + probing
		}
	}
	if status.OK && len(status.Findings) > 0 {
		said = status.Findings[0].Message
	}
	words := esc.LineMax(said, prose.MaxReason)
	switch {
	case status.State == model.HealthDegraded:
		return esc.Sprintf("%s: serves, and needs a look: %s", o.name, words)
	case status.OK && said == "" && o.counted:
		all, _ := o.words(esc)
		return esc.Sprintf("%s: well, answered in %s. %s", o.name, prose.Latency(o.report.Latency), all)
	case status.OK && said == "":
		return esc.Sprintf("%s: well, answered in %s", o.name, prose.Latency(o.report.Latency))
	case status.OK:
		return esc.Sprintf("%s: well, answered in %s. %s", o.name, prose.Latency(o.report.Latency), words)
	}
	return esc.Sprintf("%s: NOT WELL: %s", o.name, words)
}

// datum is the last check of a store for copy and export. An unchecked store is unknown, not failed.
func datum(o observed) desk.Datum {
	var ok, took any
	if o.known {
		ok, took = o.report.Status.OK, o.report.Latency.Milliseconds()
	}
	return desk.DatumOf("store", o.name, "kind", o.kind, "location", o.location, "ok", ok, "state", string(o.report.Status.State),
		"message", o.report.Status.Message, "latency_ms", took, "checked_at", desk.StampOf(o.report.Status.CheckedAt))
}
