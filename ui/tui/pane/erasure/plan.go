package erasure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/internal/recalled"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/chart"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/diff"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/record"
	"memdesk/ui/tui/task"
)

// planPlace is the cursor's row in a plan, and its screen line.
type planPlace struct {
	store, layer, id string // empty: of a heading
	line             int
}

// placeIn is the cursor's place in a plan; nil without rows.
func placeIn(p *record.List[planRow]) *planPlace {
	r, ok := p.Window.Current()
	if !ok {
		return nil
	}
	at := placeOf(r.Raw)
	at.line = p.Window.Sel - p.Window.Top
	return &at
}

func placeOf(r planRow) planPlace {
	at := planPlace{layer: r.layer}
	if r.store != nil {
		at.store = r.store.Store
	}
	if r.step != nil {
		at.id = r.step.ID
	}
	return at
}

// near is the distance of a row of another plan: the row itself, the item in another layer, its store.
func (at *planPlace) near(r record.Row[planRow]) (distance int, ok bool) {
	switch of := placeOf(r.Raw); {
	case of.store != at.store:
		return 0, false
	case of.id == at.id && of.layer == at.layer:
		return 0, true
	case of.id != "" && of.id == at.id:
		return 1, true
	}
	return 2, true
}

// replan is discover for an operator who asks for it; where an approval stands, it asks first.
func (rq *requests) replan(r operator.ErasureRequest, at *planPlace) tea.Cmd {
	if r.State != gdpr.StateApproved {
		return rq.discover(r, at)
	}
	esc := rq.D.Esc
	return rq.D.Modal.Show(&dialog.Dialog{Title: esc.Const("Plan"), NoReason: true, Lines: []text.Line{
		{Value: esc.Sprintf("Make the plan of %s anew?", r.ID), Kind: text.Title},
		{Value: esc.Const("It is approved. If the new plan is another one, that approval no longer counts."), Kind: text.Alert},
	}, Choices: []dialog.Choice{{Verb: "Plan", Run: func() tea.Cmd { return rq.discover(r, at) }}}})
}

// discover searches every store and shows the plan, with the cursor at a place of the last one; nil: its start.
func (rq *requests) discover(r operator.ErasureRequest, at *planPlace) tea.Cmd {
	d := rq.D
	b := &task.Bulk{Kind: "console-plan", Title: "plan " + r.ID, Noun: "store", Ready: "Plan ready", Total: len(d.Fleet.Members())}
	b.Run = func(ctx context.Context, _ operator.Running, b *task.Bulk) error {
		at := ""
		p, err := d.Erasure.Discover(ctx, r.ID, func(store, what string) {
			if at != "" && at != store {
				b.Add(task.Outcome{Store: at, Name: "searched", Ok: true, Word: "searched"})
			}
			at = store
			b.Note(d.Esc.Sprintf("%s: %s", store, what))
		})
		if err != nil {
			if ctx.Err() != nil {
				b.Stop()
			}
			return err
		}
		b.Settle(searched(d.Esc, p), "")
		if missing := unsearched(p); missing != nil {
			b.Tell(d.Esc.Sprintf("not searched: %s", d.Esc.LineMax(strings.Join(missing, ", "), prose.MaxTitle)))
		}
		return nil
	}
	b.Then = func() tea.Cmd {
		if b.Err != nil {
			return nil
		}
		return rq.openPlan(r, at)
	}
	return rq.D.Work.Watch(b)
}

func searched(esc safetext.Escaper, p gdpr.Plan) []task.Outcome {
	var out []task.Outcome
	for _, s := range p.Stores {
		o := task.Outcome{Store: s.Store, Name: storeWords(esc, s, countWords).String(), Ok: true, Word: "searched"}
		if s.Error != "" {
			o.Ok, o.Word, o.Why = false, "not searched", esc.LineMax(s.Error, prose.MaxReason)
		}
		out = append(out, o)
	}
	return out
}

// unsearched names the stores that the search could not reach.
func unsearched(p gdpr.Plan) (out []string) {
	for _, s := range p.Stores {
		if s.Error != "" {
			out = append(out, s.Store)
		}
	}
	return out
}

// unsearchedLines warn of the stores that the search could not reach, and say what follows.
func unsearchedLines(esc safetext.Escaper, p gdpr.Plan, then string) []text.Line {
	if missing := unsearched(p); missing != nil {
		return []text.Line{text.Advice(esc, "Not searched: %s. "+then, esc.LineMax(strings.Join(missing, ", "), prose.MaxReason)).As(text.Alert)}
	}
	return nil
}

// fates are what the actions of a plan mean for what they find.
var fates = map[gdpr.Action]chart.Fate{
	gdpr.Forget: chart.Goes, gdpr.Redact: chart.Redacted, gdpr.Scrub: chart.Scrubbed, gdpr.Held: chart.Held, gdpr.OutOfScope: chart.OutOfReach,
}

func countSteps(steps []gdpr.Step) (c chart.Counts) {
	for i := range steps {
		if fate, known := fates[steps[i].Action]; known {
			c[fate]++
		}
	}
	return c
}

func countPlan(p *gdpr.Plan) (c chart.Counts) {
	for _, s := range p.Stores {
		c.Add(countSteps(s.Steps))
	}
	return c
}

// countWords count for a row of a list: items and layers, each by its own name.
func countWords(c chart.Counts) string {
	return said(c, "goes", "go", "redact", "redact", "layer", "layers", "on hold", "on hold", "out", "out")
}

// fateWords say the same in a sentence.
func fateWords(c chart.Counts) string {
	return said(c, "item goes", "items go", "is redacted", "are redacted", "layer is scrubbed", "layers are scrubbed", "is on hold", "are on hold", "out of reach", "out of reach")
}

// said joins the counts, each with its words for one and for many.
func said(c chart.Counts, words ...string) string {
	var parts []string
	for i, n := range c {
		switch {
		case n == 1:
			parts = append(parts, "1 "+words[2*i])
		case n > 1:
			parts = append(parts, prose.Group(n)+" "+words[2*i+1])
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing found")
}

// notedLines name the stores whose own row says more: what was left alone, what was not looked at.
func notedLines(esc safetext.Escaper, p *gdpr.Plan) []text.Line {
	var noted []string
	for _, s := range p.Stores {
		if len(s.Notes)+len(s.Problems) > 0 {
			noted = append(noted, s.Store)
		}
	}
	if noted == nil {
		return nil
	}
	return []text.Line{{Value: esc.Sprintf("Before you decide, read what the rows of these stores say: %s.", esc.LineMax(strings.Join(noted, ", "), prose.MaxReason)), Kind: text.Warn}}
}

// unlikeItems says what becomes of layers and of what is out of reach; nothing without any.
func unlikeItems(esc safetext.Escaper, c chart.Counts) (out []text.Line) {
	if c[chart.OutOfReach] > 0 {
		out = append(out, text.Line{Value: esc.Const("What is out of reach stays: memdesk cannot change it, and the receipt names it."), Kind: text.Warn})
	}
	if c[chart.Scrubbed] > 0 {
		out = append(out, text.Line{Value: esc.Const("A layer, such as an index or a log, is scrubbed: what names the person goes, the rest stays."), Kind: text.Note})
	}
	return out
}

// storeWords adds to the counts of a store its share in words, and before them how much was not looked at; one that was
// not searched has its reason alone.
func storeWords(esc safetext.Escaper, s gdpr.StorePlan, say func(chart.Counts) string) safetext.Text {
	if s.Error != "" {
		return esc.LineMax(s.Error, prose.MaxTitle)
	}
	words := say(countSteps(s.Steps))
	if s.Targets > 0 && s.Items > 0 {
		words += "; " + share(s.Targets, s.Items)
	}
	if n := len(s.Problems); n > 0 {
		words = prose.Plural(n, "place") + " not looked at; " + words
	}
	return esc.Const(words)
}

// share says how much of a store's items is changed.
func share(n, of int64) string {
	switch pct := float64(n) * 100 / float64(of); {
	case n >= of && of == 1:
		return "its only item"
	case n >= of:
		return "all " + prose.Plural(of, "item")
	case pct < 1:
		return "less than 1 % of items"
	default:
		return strconv.Itoa(min(int(pct+0.5), 99)) + " % of items" // rounded, it would say that nothing stays
	}
}

// actionWords say what happens to an item.
var actionWords = map[gdpr.Action]string{gdpr.Forget: "forget", gdpr.Redact: "redact", gdpr.Scrub: "scrub", gdpr.Held: "hold", gdpr.OutOfScope: "out"}

// actionBadge is the word with the sign that the bars have for it, and its look.
func actionBadge(st *paint.Styles, a gdpr.Action) (badge safetext.Text, look paint.Look) {
	look = map[gdpr.Action]paint.Look{gdpr.Forget: paint.LookRemoved, gdpr.Scrub: paint.LookRemoved, gdpr.Redact: paint.LookWarn}[a]
	return st.Esc.Const(chart.Sign(st, fates[a]) + " " + actionWords[a]), look
}

// layerWord names a layer of a plan.
func layerWord(layer string) string {
	return cmp.Or(map[string]string{"item": "items", string(model.LayerDerived): "layers", string(model.LayerExternal): "out of reach"}[layer], layer)
}

// planRow is a row of the plan: all of it, a store, a layer of one, or one step.
type planRow struct {
	stands string // of the whole plan: how its request stands, so that its text is read again when that changes
	plan   *gdpr.Plan
	store  *gdpr.StorePlan
	layer  string // of the step or steps of the row; empty: of a whole store
	step   *gdpr.Step
	steps  chart.Counts // of the row
	open   bool         // its steps are listed
}

// fold names the row's fold; empty: none.
func (r planRow) fold() string {
	if r.store == nil || r.step != nil || r.steps.Found() == 0 {
		return ""
	}
	return r.store.Store + "\x00" + r.layer
}

// folds says which stores and layers of a plan list their steps, in every list of it in this session.
type folds struct {
	mu     sync.Mutex
	on     bool            // all are folded, else all are open
	turned map[string]bool // but these are not
}

func (f *folds) shows(fold string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.on == f.turned[fold]
}

// turn folds or unfolds; everything where fold is empty.
func (f *folds) turn(fold string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fold == "" {
		f.on = !f.on
		clear(f.turned)
		return
	}
	f.turned[fold] = !f.turned[fold]
}

// open lists the steps of a store or a layer.
func (f *folds) open(fold string) {
	if !f.shows(fold) {
		f.turn(fold)
	}
}

// shape changes with each turn.
func (f *folds) shape() any {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, turned := range f.turned {
		if turned {
			n++
		}
	}
	return [...]any{f.on, n}
}

// openPlan lists the current plan, with the cursor at a place of it; nil: at its start.
func (rq *requests) openPlan(r operator.ErasureRequest, at *planPlace) tea.Cmd {
	d := rq.D
	if rq.folds[r.ID] == nil {
		rq.folds[r.ID] = &folds{on: true, turned: map[string]bool{}}
	}
	shown := planPages{folds: rq.folds[r.ID]}
	if at != nil && at.id != "" { // a filter shows folded items too
		shown.folds.open(at.store + "\x00")
		shown.folds.open(at.store + "\x00" + at.layer)
	}
	kind := record.Kind[planRow]{
		Noun: "step", Tell: tellPlan, Marking: true, Heading: func(raw planRow) bool { return raw.step == nil || !raw.decidable() }, Empty: "Nothing in any store names the person.",
		Columns: []record.Column{{Title: "STORE, LAYER", Width: 18, Least: 18}, {Title: "ACTION", Width: 10, Least: 10}, {Title: "WHAT"}},
		Fetch: func(ctx context.Context, q operator.PageQuery) (record.Page[planRow], error) {
			p, rows, err := shown.rows(ctx, d.Erasure, r.ID, q)
			if err != nil {
				return record.Page[planRow]{}, err
			}
			return planPage(d.St, p, rows, q)
		},
		Live: func(ctx context.Context) string {
			now, err := d.Erasure.Request(ctx, r.ID)
			if err != nil {
				return "" // the list says why
			}
			return standingOf(now)
		},
		Detail: func(ctx context.Context, raw planRow) *text.Page {
			now, err := d.Erasure.Request(ctx, r.ID)
			if err != nil {
				now = r
			}
			return rq.planText(ctx, now, raw)
		},
		Keys: func(p *record.List[planRow]) []act.Act {
			return append(foldKeys(p, shown.turn), planKeys(rq, p, r)...)
		},
		Crumb: func(raw planRow) safetext.Text {
			switch {
			case raw.step != nil:
				return d.Esc.LineMax(raw.step.ID, prose.MaxTitle)
			case raw.store != nil:
				return d.Esc.Line(cmp.Or(layerWord(raw.layer), raw.store.Kind))
			}
			return d.Esc.Const("all stores")
		},
		Field: func(raw planRow) string {
			if st := raw.step; st != nil {
				return model.Ref{Store: st.Store, ID: st.ID}.String()
			}
			return raw.plan.Hash
		},
		Traits: record.Traits[planRow]{Tree: true, Shape: shown.folds.shape, Store: func(raw planRow) string {
			if raw.store == nil {
				return ""
			}
			return raw.store.Store
		}},
	}
	if at != nil {
		kind.Near, kind.Line = at.near, at.line
	}
	return record.Open(rq.D.Desk, fmt.Sprintf("Plan of %s, %s", r.ID, r.At(d.Time.Clock.Now()).Words), kind)
}

// planPages keeps the plan that the first page has read, in the list's order: it may have 100,000 steps.
type planPages struct {
	mu    sync.Mutex
	plan  *gdpr.Plan
	all   []planRow
	folds *folds
}

// turn folds or unfolds, for the pages of the plan that are to come too.
func (s *planPages) turn(fold string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.folds.turn(fold)
	if s.plan != nil {
		s.all = planRows(s.plan, s.folds)
	}
}

type planSource interface {
	Request(ctx context.Context, id string) (operator.ErasureRequest, error)
	Plan(ctx context.Context, id string) (gdpr.Plan, error)
}

func (s *planPages) rows(ctx context.Context, src planSource, id string, q operator.PageQuery) (*gdpr.Plan, []planRow, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plan != nil && q.Cursor != "" {
		if now, err := src.Request(ctx, id); err == nil && now.PlanHash == s.plan.Hash {
			return s.plan, s.all, nil
		}
	}
	p, err := src.Plan(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	s.plan, s.all = &p, planRows(&p, s.folds)
	if q.Filter != "" { // a filter searches folded steps too
		s.all = planRows(&p, &folds{})
	}
	if now, err := src.Request(ctx, id); err == nil {
		s.all[0].stands = standingOf(now)
	}
	return s.plan, s.all, nil
}

// standingOf changes when somebody approves, plans again or begins a run.
func standingOf(r operator.ErasureRequest) string {
	return fmt.Sprint(r.State, r.PlanHash, len(r.Approvals))
}

// planPage returns the rows from a cursor on: the whole, then store by store, layer by layer.
func planPage(st *paint.Styles, p *gdpr.Plan, rows []planRow, q operator.PageQuery) (record.Page[planRow], error) {
	return record.Cut(rows, p.Hash, q, func(_ int, r planRow) (record.Row[planRow], bool) {
		if !r.matches(q) {
			return record.Row[planRow]{}, false
		}
		return planRecord(st, r, q.Filter != ""), true
	})
}

// matches applies a filter. A heading matches by its name alone: an action means items.
func (r planRow) matches(q operator.PageQuery) bool {
	switch {
	case r.step != nil:
		return q.Matches(r.step.Store, actionWords[r.step.Action], layerWord(r.step.Layer), r.step.ID, r.step.Reason)
	case r.store != nil && r.layer == "":
		return q.Matches(r.store.Store, r.store.Kind)
	}
	return q.Filter == ""
}

// planRows are the rows of a plan: the whole, each store, its layers where it has several, and its steps.
func planRows(p *gdpr.Plan, f *folds) []planRow {
	out := []planRow{{plan: p}}
	for i := range p.Stores {
		s := &p.Stores[i]
		head := planRow{plan: p, store: s, steps: countSteps(s.Steps)}
		out[0].steps.Add(head.steps)
		head.open = f.shows(head.fold())
		out = append(out, head)
		if !head.open {
			continue
		}
		at := make([]int, len(s.Steps))
		layers := map[string]chart.Counts{}
		for j, st := range s.Steps {
			at[j] = j
			of := layers[st.Layer]
			of.Add(countSteps(s.Steps[j : j+1]))
			layers[st.Layer] = of
		}
		slices.SortStableFunc(at, func(x, y int) int {
			if c := strings.Compare(s.Steps[x].Layer, s.Steps[y].Layer); c != 0 {
				return c
			}
			return strings.Compare(s.Steps[x].ID, s.Steps[y].ID)
		})
		layer := planRow{open: true}
		for _, j := range at {
			if st := &s.Steps[j]; st.Layer != layer.layer && len(layers) > 1 {
				layer = planRow{plan: p, store: s, layer: st.Layer, steps: layers[st.Layer]}
				layer.open = f.shows(layer.fold())
				out = append(out, layer)
			}
			if layer.open {
				out = append(out, planRow{plan: p, store: s, layer: s.Steps[j].Layer, step: &s.Steps[j], steps: countSteps(s.Steps[j : j+1])})
			}
		}
	}
	return out
}

// key identifies a row in its plan, whatever is folded.
func (r planRow) key() string {
	switch {
	case r.step != nil:
		return r.plan.Hash + "\x00" + r.store.Store + "\x00" + r.layer + "\x00" + r.step.ID
	case r.store != nil:
		return r.plan.Hash + "\x00" + r.store.Store + "\x00" + r.layer
	}
	return r.plan.Hash
}

// planBar and badgeCells are the widths of the bar of a store in the list, and of the longest badge.
const planBar, badgeCells = 8, 8

// planRecord draws a row; alone: a filter may have left out the heading above it.
func planRecord(st *paint.Styles, r planRow, alone bool) record.Row[planRow] {
	esc := st.Esc
	out := record.Row[planRow]{Key: r.key(), Raw: r}
	var bar safetext.Text
	if r.store != nil && r.step == nil {
		drawn := chart.Bar(st, r.steps, r.most(), planBar)
		bar, out.Runs = esc.Const(drawn), map[int][]paint.Stretch{1: chart.Looks(st, drawn, 0)}
	}
	switch {
	case r.step != nil:
		badge, look := actionBadge(st, r.step.Action)
		what := prose.NameFirst(esc, r.step.ID)
		if r.step.Action == gdpr.Scrub || r.step.Action == gdpr.OutOfScope { // a layer's place says what it is, its name may be a hash
			what = esc.LineMax(r.step.ID, prose.MaxTitle)
		}
		if alone { // no heading above names the store
			out.Cells, out.Runs = []safetext.Text{esc.Line(r.step.Store), badge, what}, map[int][]paint.Stretch{1: {{End: badge.Len(), Look: look}}}
			break
		}
		const indent = 4
		out.Runs = map[int][]paint.Stretch{0: {{Start: indent, End: indent + badge.Len(), Look: look}}}
		out.Cells = []safetext.Text{esc.Sprintf("%s%s %s", safetext.Const(strings.Repeat(" ", indent)), esc.Pad(badge, badgeCells), what)}
	case r.layer != "":
		out.Cells = []safetext.Text{esc.Sprintf("  %s%s", st.Glyphs.Fold[r.open], esc.Line(layerWord(r.layer))), bar, esc.Const(countWords(r.steps))}
	case r.store != nil:
		words := storeWords(esc, *r.store, countWords)
		if r.store.Error != "" || len(r.store.Problems) > 0 {
			out.Tones = []paint.Tone{2: paint.ToneBad}
			words = st.Badge(paint.ToneBad, words)
		} else if len(r.store.Steps) == 0 {
			out.Runs[2] = []paint.Stretch{{End: words.Len(), Look: paint.LookDim}}
		}
		sign := esc.Const("  ")
		if r.fold() != "" {
			sign = st.Glyphs.Fold[r.open]
		}
		out.Cells = []safetext.Text{esc.Sprintf("%s%s", sign, esc.Line(r.store.Store)), bar, words}
	default:
		words := esc.Const(countWords(countPlan(r.plan)))
		if missing := unsearched(*r.plan); missing != nil { // each store has a row with its reason
			out.Tones = []paint.Tone{2: paint.ToneBad}
			words = st.Badge(paint.ToneBad, esc.Sprintf("%d not searched; %s", len(missing), words))
		}
		out.Cells = []safetext.Text{esc.Const("all stores"), esc.Const(""), words}
	}
	return out
}

// most are the findings of the store that has the most: the bars of all rows are parts of it.
func (r planRow) most() (most int) {
	for _, s := range r.plan.Stores {
		most = max(most, len(s.Steps))
	}
	return most
}

// foldKeys list the steps of a store or a layer, or fold them away.
func foldKeys(p *record.List[planRow], turn func(fold string)) []act.Act {
	fold := func() (string, bool) {
		if p.Browser == nil { // the key table
			return "all", false
		}
		row, ok := p.Window.Current()
		if !ok || p.Full {
			return "", false
		}
		return row.Raw.fold(), row.Raw.open
	}
	var out []act.Act
	if at, open := fold(); at != "" {
		unfold := act.Unfold.With(p.None, func() tea.Cmd { // with a reason, so that it waits for a row on its way
			at, _ := fold()
			turn(at)
			return p.Window.Refresh()
		})
		if open {
			unfold.Name = "fold"
		}
		out = append(out, unfold)
	}
	if p.Full {
		return out
	}
	return append(out, act.UnfoldAll.With(nil, func() tea.Cmd {
		turn("")
		return p.Window.Refresh()
	}))
}

// planText is a row of the plan in full. It runs in a command.
func (rq *requests) planText(ctx context.Context, r operator.ErasureRequest, row planRow) *text.Page {
	switch {
	case row.step != nil:
		return rq.stepText(ctx, r, *row.step)
	case row.layer != "":
		return text.NewPage([]text.Line{{Value: rq.D.Esc.Sprintf("%s: %s", row.store.Store, layerWord(row.layer)), Kind: text.Title}, {Value: rq.D.Esc.Const(fateWords(row.steps))}}, "")
	case row.store != nil:
		return text.NewPage(rq.storePlanLines(*row.store), "")
	}
	return text.NewPage(rq.wholePlanLines(ctx, r, row.plan), "")
}

func (rq *requests) wholePlanLines(ctx context.Context, r operator.ErasureRequest, p *gdpr.Plan) []text.Line {
	esc := rq.D.Esc
	all := countPlan(p)
	head := []text.Line{
		{Value: esc.Sprintf("The plan of %s", p.Request), Kind: text.Title},
	}
	head = append(head, unsearchedLines(esc, *p, "The request stays partial until a new plan (`p`) has searched it too.")...)
	head = append(head,
		personLine(esc, r),
		deadlineLine(esc, r, rq.D.Time.Clock.Now()),
		desk.Field("in all", esc.Sprintf("%s: %s", prose.Plural(len(p.Stores), "store"), esc.Const(fateWords(all)))))
	head = append(head, rq.approvedLines(r)...)
	if r.PlanHash != p.Hash {
		head = append(head, text.Advice(esc, "This plan is void: something was changed since. `p` plans again.").As(text.Alert))
	}
	if max := rq.D.Erasure.Rules().MaxShare; len(p.OverShare(max)) > 0 {
		for _, s := range p.OverShare(max) {
			head = append(head, text.Line{Value: esc.Sprintf("%s.", esc.Line(s.ShareWords(max))), Kind: text.Alert})
		}
		head = append(head, text.Advice(esc, "If they are right, `E` wants the number of all items of this plan typed: %s.", strconv.Itoa(all[chart.Goes]+all[chart.Redacted])).As(text.Warn))
	}
	head = append(head, text.Known(text.Line{Value: esc.LineMax(p.Note, prose.MaxReason), Kind: text.Note})...)
	noBackup, backups := backupLines(esc, rq.D.Erasure.Backups(*p))
	next, kind := "`E` carries the plan out, for good.", text.Warn
	why, err := rq.D.Erasure.Unapproved(ctx, r.ID)
	if err == nil && why != "" {
		next, kind = rq.approvalFirst(r)+" Then `E` carries it out, for good.", text.Note
	}
	if r.State == gdpr.StatePlanned || r.State == gdpr.StateApproved {
		next = "Nothing has changed yet. " + next
	}
	head = append(head, text.Advice(esc, next).As(kind))
	head = append(head, notedLines(esc, p)...)
	head = append(append(head, noBackup...), unlikeItems(esc, all)...)
	if !rq.D.Spoken {
		head = append(head, chart.Legend(rq.D.St))
	}
	head = append(head, text.Line{Kind: text.Blank})
	if err == nil && why != "" {
		head = append(head, desk.Field("approval", esc.LineMax(why, prose.MaxTitle)))
	}
	head = append(head, desk.Field("hash", esc.Line(p.Hash)), desk.Field("made", esc.Const(prose.Moment(p.Made))), desk.Field("will take", esc.Const(duration(p.Estimate))))
	if free := rq.D.Erasure.FreeBytes(); free > 0 {
		head = append(head, desk.Field("free space", esc.Const(prose.Size(free))))
	}
	return append(head, backups...)
}

// personLine names the person as the request has them.
func personLine(esc safetext.Escaper, r operator.ErasureRequest) text.Line {
	return desk.Field("person", esc.LineMax(strings.Join(append([]string{r.Subject}, r.Aliases...), ", "), prose.MaxReason))
}

// backupLines warn about the stores without a configured backup, and name the configured ones.
func backupLines(esc safetext.Escaper, all []receipt.Backup) (missing, configured []text.Line) {
	var unknown []string
	var known []receipt.Backup
	for _, b := range all {
		switch {
		case b.Where != "" || b.Until != "":
			known = append(known, b)
		case !strings.HasPrefix(b.Reason, "none: "): // a store in memory only has no backup
			unknown = append(unknown, b.Store)
		}
	}
	if len(unknown) > 0 {
		missing = append(missing, text.Line{Value: esc.Sprintf("Backups may hold the person: no [[backup]] is configured for %d of %s: %s.", len(unknown), prose.Plural(len(all), "store"), esc.LineMax(strings.Join(unknown, ", "), prose.MaxReason)), Kind: text.Alert})
	}
	return missing, chapter(esc, "Backups", receipt.Folded(known))
}

func duration(t time.Duration) string {
	switch {
	case t < 2*time.Second:
		return "a second or two"
	case t < 2*time.Minute:
		return "about " + prose.Plural(int64(t/time.Second), "second")
	case t < 2*time.Hour:
		return "about " + prose.Plural(int64(t/time.Minute), "minute")
	}
	return "about " + prose.Plural(int64(t/time.Hour), "hour")
}

func (rq *requests) storePlanLines(s gdpr.StorePlan) []text.Line {
	esc := rq.D.Esc
	head := []text.Line{{Value: esc.Sprintf("%s (%s)", esc.Line(s.Store), esc.Line(s.Kind)), Kind: text.Title}}
	if s.Error == "" {
		words := storeWords(esc, s, fateWords)
		if 0 < s.Targets && s.Targets < s.Items {
			words = esc.Sprintf("%s, %s in all", words, prose.Group(s.Items))
		}
		head = append(head, text.Line{Value: words})
	}
	if s.Cascade {
		head = append(head, text.Line{Value: esc.Const("The store's own cascade removes exactly these, in one transaction."), Kind: text.Note})
	}
	if s.Error != "" {
		head = append(head, text.Advice(esc, "%s. `1` Health tries the store again; then `p` plans again.", esc.LineMax(s.Error, prose.MaxReason)).As(text.Alert))
	}
	for _, p := range s.Problems {
		head = append(head, text.Line{Value: esc.Sprintf("not looked at: %s", esc.LineMax(p, prose.MaxReason)), Kind: text.Alert})
	}
	return append(head, text.Lines(esc, text.Note, s.Notes)...)
}

// stepText is one item of the plan: why it is there, and its text with the identifiers marked, or redacted.
func (rq *requests) stepText(ctx context.Context, r operator.ErasureRequest, st gdpr.Step) *text.Page {
	esc := rq.D.Esc
	head := []text.Line{
		{Value: esc.LineMax(st.ID, desk.MaxField), Kind: text.Title},
		desk.Field("action", esc.Const(stepWords(st))),
		desk.Field("reason", esc.LineMax(st.Reason, desk.MaxField)),
	}
	head = append(head, text.Known(desk.Field("held for", esc.LineMax(st.Ground, desk.MaxField)), desk.Field("new id", esc.LineMax(st.NewID, desk.MaxField)))...)
	head = append(head, desk.Field("store", esc.Line(st.Store)), desk.Field("layer", esc.Line(layerWord(st.Layer))))
	if st.Action == gdpr.Scrub || st.Action == gdpr.OutOfScope {
		return text.NewPage(head, "")
	}
	s, it, err := rq.stepItem(ctx, r, st)
	body, seen := it.Body, it.Revision
	switch {
	case errors.Is(err, model.NotFound) && !recalled.Only(s): // that recall does not return an item is no proof
		return text.NewPage(append(head, text.Line{Value: esc.Const("It is gone already."), Kind: text.Note}), "")
	case err != nil:
		return text.NewPage(append(head, text.Line{Value: esc.Sprintf("it cannot be shown: %s", prose.Reason(esc, err)), Kind: text.Alert}), "")
	}
	if seen != "" && st.Revision != "" && seen != st.Revision {
		head = append(head, text.Advice(esc, "It has changed since it was planned and would be left alone: `p` plans again.").As(text.Alert))
	}
	head = append(head, text.Line{Kind: text.Blank})
	if st.Action == gdpr.Redact {
		var c diff.Comparison
		old, edited := st.Edited(it)
		c.Compare(esc, "as it is", "as it will be", old, edited)
		if c.Added+c.Removed > 0 || c.Large {
			head = append(head[:len(head)-1], desk.Field("change", c.Words(esc)), text.Line{Kind: text.Blank})
		}
		return c.Text(head)
	}
	t := text.NewPage(head, body)
	if m, err := subject.New(r.Terms()...); err == nil && !r.Done() {
		for _, h := range m.Text(body) {
			t.Marks = append(t.Marks, text.Mark{Start: h.Start, End: h.End})
		}
	}
	return t
}

func stepWords(st gdpr.Step) string {
	if st.Cascade() {
		return "cascade: the store removes what it ties to the person's id, also what cannot be listed from here"
	}
	switch st.Action {
	case gdpr.Forget:
		return "forget: the item goes, for good"
	case gdpr.Redact:
		if st.Others {
			return "redact: it concerns other people too, so it stays without this person"
		}
		return "redact: it stays without this person"
	case gdpr.Held:
		return "hold: it stays as it is"
	case gdpr.Scrub:
		return "scrub: what names the person is removed from this layer"
	}
	return "out of reach: memdesk cannot change it; the receipt names it"
}

// stepItem reads the item of a step as its plan found it, by recall where the store has nothing else.
func (rq *requests) stepItem(ctx context.Context, r operator.ErasureRequest, st gdpr.Step) (model.Store, model.Item, error) {
	s, err := rq.D.Fleet.Store(st.Store)
	switch {
	case err != nil:
		return s, model.Item{}, err
	case st.Layer == "quarantine" && s.Quarantine != nil:
		q, err := s.Quarantine.ReadQuarantined(ctx, st.ID)
		return s, model.Item{Body: q.Body}, err
	case s.Browser == nil:
		it, err := recalled.Read(ctx, s, st.ID, r.Terms()...)
		return s, it, err
	}
	it, err := s.Browser.Read(ctx, st.ID)
	return s, it, err
}

func tellPlan(esc safetext.Escaper, e planRow) safetext.Text {
	switch {
	case e.step != nil:
		return esc.Sprintf("%s: %s in %s", actionWords[e.step.Action], esc.LineMax(e.step.ID, prose.MaxTitle), e.step.Store)
	case e.layer != "":
		return esc.Sprintf("Store %s, %s: %s", e.store.Store, layerWord(e.layer), fateWords(e.steps))
	case e.store != nil:
		return esc.Sprintf("Store %s, %s: %s", e.store.Store, e.store.Kind, storeWords(esc, *e.store, fateWords))
	}
	words := fateWords(countPlan(e.plan))
	if missing := unsearched(*e.plan); missing != nil {
		return esc.Sprintf("Not searched: %s. The other stores: %s; the hash of the plan begins with %s", esc.LineMax(strings.Join(missing, ", "), prose.MaxTitle), words, e.plan.Short())
	}
	return esc.Sprintf("All stores: %s; the hash of the plan begins with %s", words, e.plan.Short())
}
