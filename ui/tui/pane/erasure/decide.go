package erasure

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/gdpr"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/chart"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/record"
)

// held and going report whether an item of a row is on hold, or is not: an operator decides about either.
func (r planRow) held() bool      { return r.steps[chart.Held] > 0 }
func (r planRow) going() bool     { return r.steps[chart.Goes]+r.steps[chart.Redacted] > 0 }
func (r planRow) decidable() bool { return r.held() || r.going() }

// items appends the steps on items that a row stands for.
func (r planRow) items(out []gdpr.Step) []gdpr.Step {
	if r.step != nil {
		return append(out, *r.step)
	}
	for i := range r.plan.Stores {
		s := &r.plan.Stores[i]
		if r.store != nil && s.Store != r.store.Store {
			continue
		}
		for _, st := range s.Steps {
			if st.Action != gdpr.Scrub && st.Action != gdpr.OutOfScope && (r.layer == "" || st.Layer == r.layer) {
				out = append(out, st)
			}
		}
	}
	return out
}

// decisions are the items of an act on a plan, each once, and how many of its rows the filter hides.
func decisions(p *record.List[planRow]) (all []gdpr.Step, hidden int) {
	rows, hidden, _ := p.Chosen()
	for _, row := range rows {
		all = row.Raw.items(all)
	}
	seen := map[model.Ref]bool{}
	return slices.DeleteFunc(all, func(st gdpr.Step) bool {
		ref := stepRef(st)
		again := seen[ref]
		seen[ref] = true
		return again
	}), hidden
}

func stepRef(st gdpr.Step) model.Ref { return model.Ref{Store: st.Store, ID: st.ID} }

// planKeys are the keys of a plan beside those of every list.
func planKeys(rq *requests, p *record.List[planRow], r operator.ErasureRequest) []act.Act {
	free := func() string { return rq.D.Locked("") }
	can := func(ok func(planRow) bool, otherwise string) func() string {
		return func() string {
			row, some := p.Window.Current()
			switch {
			case free() != "":
				return free()
			case p.OnMarks():
				return p.Marks.Uncounted()
			case !some || !row.Raw.decidable():
				return "this row is no item"
			case !ok(row.Raw):
				return otherwise
			}
			return ""
		}
	}
	decide := func(do func(r operator.ErasureRequest, items []gdpr.Step, hidden int, at *planPlace) tea.Cmd) func() tea.Cmd {
		return func() tea.Cmd {
			items, hidden := decisions(p)
			return do(r, items, hidden, placeIn(p))
		}
	}
	approve := act.Approve.With(func() string { return rq.unasked(r) }, func() tea.Cmd { return rq.approve(r) })
	out := []act.Act{
		act.Erase.Called("carry this plan out, after a question").With(free, func() tea.Cmd { return rq.erase(r) }),
		act.Hold.With(can(planRow.decidable, ""), decide(rq.hold)),
		act.Lift.Called("lift the hold on this item, the marked ones, or all below this heading").With(can(planRow.held, "it is not on hold"), decide(rq.lift)),
		act.Choose.With(can(planRow.going, "it is on hold"), decide(rq.choose)),
		act.Plan.Called("search every store again and make the plan anew").With(act.Unless(free, rq.D.NoBulk), func() tea.Cmd { return rq.replan(r, placeIn(p)) }),
	}
	if r.State == gdpr.StatePlanned && rq.D.Erasure.Rules().RequireApproval { // it comes first
		return append([]act.Act{approve}, out...)
	}
	return append(out, approve)
}

// itemWords name one item, or count several.
func itemWords(esc safetext.Escaper, items []gdpr.Step) safetext.Text {
	if len(items) == 1 {
		return esc.LineMax(items[0].ID, prose.MaxTitle)
	}
	return esc.Const(prose.Plural(len(items), "item"))
}

// decision is a dialog about items of a plan, with a list of several; hidden counts those outside the filter.
func (rq *requests) decision(title string, question safetext.Text, items []gdpr.Step, hidden int, lines ...text.Line) *dialog.Dialog {
	esc := rq.D.Esc
	all := append([]text.Line{{Value: question, Kind: text.Title}}, lines...)
	if hidden > 0 {
		all = append(all, text.Line{Value: esc.Sprintf("%s of the marked ones are not in the filter.", prose.Group(hidden)), Kind: text.Alert})
	}
	dlg := &dialog.Dialog{Title: esc.Const(title), NoReason: true, Lines: append(all, text.Line{Value: esc.Const("This voids the plan and its approvals, and replans."), Kind: text.Note})}
	if len(items) > 1 {
		var list strings.Builder
		for _, st := range items {
			list.WriteString(actionWords[st.Action] + "  " + stepRef(st).String() + "\n")
		}
		dlg.Body = text.NewPage(nil, list.String())
	}
	return dlg
}

// hold asks for the ground of a hold.
func (rq *requests) hold(r operator.ErasureRequest, items []gdpr.Step, hidden int, at *planPlace) tea.Cmd {
	esc := rq.D.Esc
	stays := "It stays as it is"
	if len(items) > 1 {
		stays = "They stay as they are"
	}
	dlg := rq.decision("Hold", esc.Sprintf("Keep %s back from the erasure?", itemWords(esc, items)), items, hidden,
		text.Line{Value: esc.Sprintf("%s, and the receipt says so, with the article alone. The ground is the exception that applies, such as Art. 17(3)(e), a legal claim.", esc.Const(stays))})
	dlg.Fields = []dialog.Field{{Label: esc.Const("ground (required): ")}}
	dlg.Choices = []dialog.Choice{{Verb: "Hold", Act: func(ctx context.Context, f dialog.Filled) dialog.Acted {
		redacted, err := rq.D.Erasure.Hold(ctx, r.ID, holdsOf(items, strings.TrimSpace(f.Fields[0]))...)
		what := "on hold"
		switch n := len(redacted); {
		case n == len(items):
			what = "on hold, after the run had redacted it"
			if n > 1 {
				what = "on hold, after the run had redacted them"
			}
		case n > 0:
			what = "on hold, after the run had redacted " + prose.Group(n) + " of them"
		}
		return rq.replanned(r, err, what, at)
	}}}
	return rq.D.Modal.Show(dlg)
}

func holdsOf(items []gdpr.Step, ground string) []gdpr.Hold {
	holds := make([]gdpr.Hold, len(items))
	for i, st := range items {
		holds[i] = gdpr.Hold{Store: st.Store, ID: st.ID, Ground: ground}
	}
	return holds
}

// lift asks whether to lift the holds of this request on items.
func (rq *requests) lift(r operator.ErasureRequest, items []gdpr.Step, hidden int, at *planPlace) tea.Cmd {
	d, esc := rq.D, rq.D.Esc
	return d.Modal.Prepare(func(ctx context.Context) dialog.Proposal {
		now, err := d.Erasure.Request(ctx, r.ID) // holds were made since the plan was opened
		if err != nil {
			return dialog.Proposal{No: prose.Reason(esc, err)}
		}
		return rq.liftMarked(now, items, hidden, at)
	})
}

// liftMarked asks about items of a plan, some of them hidden by the filter.
func (rq *requests) liftMarked(r operator.ErasureRequest, items []gdpr.Step, hidden int, at *planPlace) dialog.Proposal {
	d, esc := rq.D, rq.D.Esc
	if len(items) == 1 {
		return dialog.Proposal{Dialog: rq.liftDialog(r, stepRef(items[0]).String(), at)}
	}
	own := map[model.Ref]bool{}
	for _, h := range r.Holds {
		own[model.Ref{Store: h.Store, ID: h.ID}] = true
	}
	all := len(items)
	items = slices.DeleteFunc(slices.Clone(items), func(st gdpr.Step) bool { return st.Action != gdpr.Held || !own[stepRef(st)] })
	if len(items) == 0 {
		return dialog.Proposal{No: esc.Const("none of them is on hold under this request")}
	}
	var lines []text.Line
	if left := all - len(items); left > 0 {
		lines = append(lines, text.Line{Value: esc.Sprintf("%s more of them are not on hold under this request.", prose.Group(left)), Kind: text.Note})
	}
	dlg := rq.decision("Hold", esc.Sprintf("Lift the hold on %s?", itemWords(esc, items)), items, hidden, lines...)
	dlg.Choices = []dialog.Choice{{Verb: "Lift", Act: func(ctx context.Context, _ dialog.Filled) dialog.Acted {
		return rq.replanned(r, d.Erasure.Unhold(ctx, r.ID, holdsOf(items, "")...), "lifted", at)
	}}}
	return dialog.Proposal{Dialog: dlg}
}

// choose asks whether to override the policy for items. Those on hold stay.
func (rq *requests) choose(r operator.ErasureRequest, items []gdpr.Step, hidden int, at *planPlace) tea.Cmd {
	d, esc := rq.D, rq.D.Esc
	all := len(items)
	items = slices.DeleteFunc(items, func(st gdpr.Step) bool { return st.Action == gdpr.Held })
	count := countSteps(items)
	if len(items) == 0 {
		return d.Warn("all of them are on hold")
	}
	question, it := esc.Sprintf("Forget or redact these %s?", itemWords(esc, items)), " all"
	why := esc.Sprintf("Now: %s.", countWords(count))
	if len(items) == 1 {
		other := gdpr.Forget
		if items[0].Action == gdpr.Forget {
			other = gdpr.Redact
		}
		question, it = esc.Sprintf("%s is to %s. Shall it %s instead?", itemWords(esc, items), passive(items[0].Action), passive(other)), " it"
		why = esc.Sprintf("The reason for the plan as it is: %s", esc.LineMax(items[0].Reason, prose.MaxReason))
	}
	lines := []text.Line{{Value: why}}
	if left := all - len(items); left > 0 {
		lines = append(lines, text.Line{Value: esc.Sprintf("%s more of them are on hold, and stay.", prose.Group(left)), Kind: text.Note})
	}
	dlg := rq.decision("Choose", question, items, hidden, lines...)
	add := func(verb string, to gdpr.Action, changed int) {
		if changed == 0 {
			return
		}
		dlg.Choices = append(dlg.Choices, dialog.Choice{Verb: verb + it, Act: func(ctx context.Context, _ dialog.Filled) dialog.Acted {
			var choices []gdpr.Choice
			for _, st := range items {
				if st.Action != to {
					choices = append(choices, gdpr.Choice{Store: st.Store, ID: st.ID, Action: to})
				}
			}
			return rq.replanned(r, d.Erasure.Choose(ctx, r.ID, choices...), "noted", at)
		}})
	}
	add("Forget", gdpr.Forget, count[chart.Redacted])
	add("Redact", gdpr.Redact, count[chart.Goes])
	return d.Modal.Show(dlg)
}

func passive(act gdpr.Action) string {
	if act == gdpr.Forget {
		return "be forgotten"
	}
	return "be redacted"
}

// replanned continues with a new plan after decisions on items.
func (rq *requests) replanned(r operator.ErasureRequest, err error, what string, at *planPlace) dialog.Acted {
	if err != nil {
		return dialog.Acted{Text: rq.D.Esc.Sprintf("not changed: %s", prose.Reason(rq.D.Esc, err))}
	}
	out := dialog.Acted{Ok: true, Text: rq.D.Esc.Sprintf("%s: the plan is made anew", what)}
	if rq.D.NoBulk() == "" {
		out.Then = func() tea.Cmd { return rq.discover(r, at) }
	}
	return out
}
