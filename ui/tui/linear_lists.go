package tui

import (
	"context"
	"strings"

	"memdesk/internal/safetext"
	"memdesk/model"
)

func (l *linear) tiers(ctx context.Context, argument string) {
	members := l.a.d.fleet.Members()
	if argument == "" && len(members) == 1 {
		argument = members[0].Name
	}
	if argument == "" {
		l.say("Say which store.")
		l.stores(ctx, "")
		return
	}
	s, err := l.a.d.fleet.Store(argument)
	if err == nil && s.Browser == nil {
		err = model.Errorf(model.Unsupported, "tiers", "this store cannot list its items; recall searches it")
	}
	var counts []model.TierCount
	if err == nil {
		counts, err = s.Browser.Tiers(ctx)
	}
	if err != nil {
		l.failed(err)
		return
	}
	for _, c := range counts {
		spec, _ := s.Tier(c.Tier)
		scope := ""
		if c.Scope != "" {
			scope = " of " + c.Scope
		}
		limit := ""
		if spec.Cap > 0 {
			limit = ", cap " + capacity(spec) + " per item"
		}
		l.say("Tier %s%s: %s, %s%s. %s", c.Tier, scope, plural(c.Items, "item"), size(c.Bytes), limit, spec.Title)
	}
	l.say("%s in all.", plural(int64(len(counts)), "row"))
}

func (l *linear) listItems(ctx context.Context, argument string) {
	store, tier, _ := strings.Cut(argument, " ")
	members := l.a.d.fleet.Members()
	if store == "" && len(members) == 1 {
		store = members[0].Name
	}
	if store == "" {
		l.say("Say which store.")
		l.stores(ctx, "")
		return
	}
	l.list = listing{at: scopeOf{store: store, tier: strings.TrimSpace(tier)}}
	l.next(ctx, "")
}

func (l *linear) filter(ctx context.Context, words string) {
	if l.list.at.store == "" {
		l.say("List something first: list STORE.")
		return
	}
	l.list = listing{at: l.list.at, query: words}
	l.next(ctx, "")
}

func (l *linear) next(ctx context.Context, _ string) {
	switch {
	case l.list.at.store == "":
		l.say("List something first: list STORE.")
		return
	case l.list.begun && l.list.cursor == "":
		l.say("That was the end of the list.")
		return
	}
	s, err := l.a.d.fleet.Store(l.list.at.store)
	if err == nil && s.Browser == nil {
		err = model.Errorf(model.Unsupported, "list", "this store cannot list its items; recall searches it")
	}
	if _, known := s.Tier(l.list.at.tier); err == nil && l.list.at.tier != "" && !known {
		err = model.Errorf(model.InvalidInput, "list", "%s has no tier %q", s.Name, l.list.at.tier)
	}
	var page model.Page
	if err == nil {
		page, err = s.Browser.List(ctx, model.PageRequest{Tier: l.list.at.tier, Query: l.list.query, Cursor: l.list.cursor, Limit: linearPage})
	}
	if err != nil {
		l.failed(err)
		return
	}
	if !l.list.begun {
		l.say("%s items.", count(page.Total))
	}
	l.list.begun, l.list.cursor = true, page.Next
	refs := make([]model.Ref, len(page.Items))
	for i, h := range page.Items {
		refs[i] = model.Ref{Store: l.list.at.store, ID: h.ID}
		l.say("%d. %s", i+1, l.headline(h))
	}
	l.number(refs)
	if page.Next != "" {
		l.say("next goes on.")
	} else {
		l.say("End of the list.")
	}
}

func (l *linear) headline(h model.Header) safetext.Text {
	esc := l.a.d.esc
	text := esc.LineMax(h.ID, maxTitle)
	if h.Title != "" && h.Title != h.ID {
		text = esc.Sprintf("%s, id %s", esc.LineMax(h.Title, maxTitle), text)
	}
	text = esc.Sprintf("%s, tier %s, %s", text, esc.Line(h.Tier), size(h.Bytes))
	for _, f := range h.Flags {
		text = esc.Sprintf("%s, %s", text, esc.Line(string(f)))
	}
	return text
}

func (l *linear) recall(ctx context.Context, query string) {
	if query == "" {
		l.say("Say what to look for: recall WORDS.")
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var answers []answered
	for a := range l.a.d.fleet.Recall(ctx, model.RecallRequest{Query: query, Limit: model.RecallLimit}) {
		one := newAnswered(l.a.d.esc, 0, a, searchWords(query))
		answers = append(answers, one)
		l.say("Store %s: %s.", a.Store, one.status)
	}
	var refs []model.Ref
	for _, h := range arrange(l.a.d.esc, answers) {
		switch {
		case h.heading:
		case h.withheld:
			l.say("Quarantined, agents do not get it: %s in %s.", h.where, h.name)
		default:
			refs = append(refs, model.Ref{Store: h.store, ID: h.hit.ID})
			l.say("%d. %s, %s, rank %d there: %s", len(refs), h.name, h.where, h.rank, h.snippet)
		}
	}
	l.number(refs)
	l.say("%s in all.", plural(int64(len(refs)), "hit"))
}

func (l *linear) quarantine(ctx context.Context, filter string) {
	if l.a.d.quarantine == nil {
		l.say("No quarantine source is attached to this console.")
		return
	}
	page, err := l.a.d.quarantine.Entries(ctx, PageQuery{Filter: filter, Limit: model.MaxPage})
	if err != nil {
		l.failed(err)
		return
	}
	var refs []model.Ref
	for _, e := range page.Entries {
		if e.Problem != "" {
			l.say("Store %s: PROBLEM: %s.", e.Store, l.a.d.esc.LineMax(e.Problem, maxReason))
			continue
		}
		refs = append(refs, model.Ref{Store: e.Store, ID: e.ID})
		known := ""
		if e.FalsePositive {
			known = " A known false positive."
		}
		l.say("%d. %s in %s, rule %s, category %s, %s; its source is %s.%s", len(refs), l.a.d.esc.LineMax(e.Source, maxTitle), e.Store, e.Pattern, e.Category,
			matchPlace(e), liveWords[liveness(e.Live)], known)
		l.say("   matched: %s", l.a.d.esc.LineMax(e.Excerpt, maxTitle))
	}
	l.number(refs)
	l.say("%s entries; open NUMBER reads one.", count(page.Total))
	if page.Next != "" {
		l.say("There are more: quarantine WORDS narrows the list.")
	}
}

func (l *linear) audit(ctx context.Context, filter string) {
	if l.a.d.audit == nil {
		l.say("No audit log is attached to this console.")
		return
	}
	page, err := l.a.d.audit.Events(ctx, PageQuery{Filter: filter, Limit: linearPage})
	if err != nil {
		l.failed(err)
		return
	}
	if page.Notice != "" {
		l.say("Notice: %s.", l.a.d.esc.LineMax(page.Notice, maxReason))
	}
	for _, e := range page.Events {
		result := e.Result
		if result == "" {
			result = "no result yet"
		}
		l.say("Event %s, %s: %s %s by %s, %s. %s %s", group(e.Seq), minute(e.At), e.Action, e.Phase, e.Actor, result,
			auditTarget(l.a.d.esc, e), l.a.d.esc.LineMax(e.Reason, maxTitle))
	}
	l.say("%s events; these are the newest %d. audit WORDS narrows them.", count(page.Total), len(page.Events))
}

func (l *linear) forget(ctx context.Context, argument string) {
	ref, ok := l.pick(argument)
	if !ok {
		return
	}
	d := l.a.d
	if why := d.locked(ref.Store); why != "" {
		l.say("Not here: %s.", why)
		return
	}
	s, err := d.fleet.Store(ref.Store)
	if err == nil && s.Browser == nil {
		err = model.Errorf(model.Unsupported, "forget", "this store cannot show what would go")
	}
	var it model.Item
	var warnings []string
	if err == nil {
		it, err = s.Browser.Read(ctx, ref.ID)
	}
	if err == nil {
		warnings, err = d.acts.Preview(ctx, ref.Store, ref.ID)
	}
	if err != nil {
		l.failed(err)
		return
	}
	question := d.forgetDialog(s, it, l.seen[ref], warnings)
	for _, line := range question.lines {
		l.say("%s", line.value)
	}
	word := question.name
	if word == "" {
		word = "forget"
	}
	if !l.confirm(word) {
		return
	}
	why, err := l.ask("Reason, for the audit log (may be empty): ")
	if err != nil {
		l.say("Nothing was changed.")
		return
	}
	l.did(d.doForget(ctx, ref, it.Revision, strings.TrimSpace(why)))
}

// did says what became of an act.
func (l *linear) did(done acted) {
	word := "Done"
	if !done.ok {
		word = "NOT done"
	}
	l.say("%s: %s.", word, done.text)
	if len(done.undo) > 0 {
		l.a.undos = append(l.a.undos, done.undo)
		l.say("undo %s takes it back.", done.undo[len(done.undo)-1])
	}
	for _, id := range done.undone {
		l.a.takeUndo(id)
	}
	if done.page != nil {
		for _, h := range done.page.head {
			if h.kind == headWarn {
				l.say("%s", h.value)
			}
		}
	}
}

func (l *linear) undos(ctx context.Context, _ string) {
	if l.a.d.acts == nil {
		l.say("No undo is attached to this console.")
		return
	}
	rows, damaged, err := l.a.d.acts.Undos(ctx)
	if err != nil {
		l.failed(err)
		return
	}
	for _, u := range rows {
		state := "can be put back until " + moment(u.Expires)
		switch {
		case u.Obstacle != "":
			state = "cannot be put back: " + u.Obstacle
		case !u.Confirmed:
			state = "was never confirmed"
		}
		l.say("%s: %s of %s in %s, %s, %s.", u.ID, u.Op, l.a.d.esc.LineMax(u.Item, maxTitle), u.Store, moment(u.At), state)
	}
	l.say("%s.", plural(int64(len(rows)), "entry"))
	if damaged > 0 {
		l.say("%s cannot be read.", plural(int64(damaged), "more entry"))
	}
}

func (l *linear) undo(ctx context.Context, id string) {
	d := l.a.d
	if why := d.locked(""); why != "" {
		l.say("Not here: %s.", why)
		return
	}
	if id == "" && len(l.a.undos) > 0 {
		last := l.a.undos[len(l.a.undos)-1]
		id = last[len(last)-1]
	}
	rows, _, err := d.acts.Undos(ctx)
	if err != nil {
		l.failed(err)
		return
	}
	for _, u := range rows {
		if u.ID != id {
			continue
		}
		switch why := d.locked(u.Store); {
		case why != "":
			l.say("Not here: %s.", why)
			return
		case u.Obstacle != "":
			l.say("It cannot be put back: %s.", u.Obstacle)
			return
		case !u.Confirmed:
			l.say("The change was never confirmed: compare with memdesk undo show %s and write by hand.", u.ID)
			return
		}
		for _, line := range d.undoDialog(u).lines {
			l.say("%s", line.value)
		}
		if l.confirm("undo") {
			l.did(d.doUndo(ctx, u, ""))
		}
		return
	}
	l.say("Say which entry: undos lists them.")
}
