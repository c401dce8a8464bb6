package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/text"
)

// Sections of the key table that are known by name.
const (
	sectionMoves      = "In lists and texts"
	sectionEverywhere = "Everywhere"
	sectionQuestion   = "A question"
	sectionLine       = "Command line"
	sectionCommands   = "Commands"
)

// KeyTable is every key of the console by its place, and the commands, made from
// the bindings that the console itself uses.
func KeyTable() []act.Section {
	a := newApp(context.Background(), Options{})
	t, r, rq := a.tiers, a.recall, &requests{d: a.d, list: a.erasures}
	var out []act.Section
	add := func(title string, bindings []act.Act) {
		out = append(out, act.Section{Title: title, Acts: withoutMovement(bindings)})
	}
	out = append(out, act.Section{Title: sectionMoves, Acts: act.Movement(t.items, "line")})
	add(sectionEverywhere, a.global())
	add("1 Health", a.panes[paneHealth].bindings())
	add("2 Tiers: stores, scopes, tiers", t.bindings())
	t.level = levelItems
	add("2 Tiers: items", t.bindings())
	t.level = levelItem
	add("2 Tiers: one item", t.bindings())
	a.pages.overlay = a.pages.newOverlay("")
	a.pages.overlay.pager.Search.Needle = text.NewNeedle("x")
	add("A text on the whole screen", a.searchKeys())
	add("A text: searching", a.searchLineKeys(a.pages.overlay.pager))
	a.pages.overlay = nil
	add("3 Recall", r.bindings())
	r.input.Focus = true
	add("3 Recall: typing", r.bindings())
	r.input.Focus, r.reading = false, true
	add("3 Recall: the item of a hit", r.bindings())
	add("4 Quarantine", a.panes[paneQuarantine].bindings())
	add("5 Conflicts", a.panes[paneConflicts].bindings())
	add("6 Erasure", a.panes[paneErasure].bindings())
	add("6 Erasure: a plan", append(foldKeys(&records[planRow]{}, nil), rq.planKeys(&records[planRow]{}, ErasureRequest{})...))
	add("6 Erasure: layers and verdicts (V)", rq.layerKeys(&records[layerRow]{}, ErasureRequest{}))
	add("7 Audit", a.panes[paneAudit].bindings())
	for _, s := range []struct {
		title string
		open  func() tea.Cmd
	}{
		{"Versions of an item (H)", func() tea.Cmd { return a.d.revisions.openHistory(model.Ref{}) }},
		{"4 Quarantine: stories (S)", func() tea.Cmd { return openSide(a.d.desk, "Stories", a.stories.kind()) }},
		{"What can be put back (:undo)", func() tea.Cmd { return openSide(a.d.desk, "Undo", a.d.undos.undoKind()) }},
		{"Texts that were put aside (:kept)", func() tea.Cmd { return openSide(a.d.desk, "Kept texts", a.d.edits.keptKind()) }},
		{"Jobs (:jobs)", func() tea.Cmd { return openSide(a.d.desk, "Jobs", a.d.work.jobsKind()) }},
		{"An act on many items", func() tea.Cmd { return openSide(a.d.desk, "Job", a.d.work.bulkKind(&bulk{})) }},
	} {
		s.open()
		add(s.title, a.side.list.ownKeys())
	}
	a.d.modal.dialog = &dialog{armed: true, noReason: true, pager: &text.Pager{Text: &text.Page{}}}
	add(sectionQuestion, a.d.modal.dialogBindings())
	a.d.modal.dialog = nil
	a.pages.overlay = a.pages.newOverlay("")
	add("Help and other pages", a.pages.overlayBindings()[:1])
	add(sectionLine, a.line.commandBindings())
	var verbs []act.Act
	for _, v := range a.line.verbs() {
		verbs = append(verbs, act.Act{Keys: []string{":" + v.Usage()}, Doc: v.Doc})
	}
	return append(out, act.Section{Title: sectionCommands, Acts: verbs})
}

// withoutMovement leaves out the keys of movement, which stand in one place.
func withoutMovement(bindings []act.Act) []act.Act {
	moves := act.Movement(&table{}, "")
	return slices.DeleteFunc(slices.Clone(bindings), func(b act.Act) bool {
		return slices.ContainsFunc(moves, func(m act.Act) bool { return slices.Equal(m.Keys, b.Keys) })
	})
}
