package tui

import (
	"context"
	"slices"

	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/change"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane/erasure"
	"memdesk/ui/tui/task"
)

// Sections of the key table with fixed names.
const (
	sectionMoves      = "In lists and texts"
	sectionEverywhere = "Everywhere"
	sectionQuestion   = "A question"
	sectionLine       = "Command line"
	sectionCommands   = "Commands"
)

// KeyTable is every key of the console by place, and the commands, from the console's own bindings.
func KeyTable() []act.Section {
	a := NewApp(context.Background(), Options{})
	t, r := a.Tiers, a.Recall
	var out []act.Section
	moves := act.Movement(&text.Pager{}, "") // they have a section of their own
	add := func(title string, bindings []act.Act) {
		out = append(out, act.Section{Title: title, Acts: slices.DeleteFunc(slices.Clone(bindings), func(b act.Act) bool {
			return slices.ContainsFunc(moves, func(m act.Act) bool { return slices.Equal(m.Keys, b.Keys) })
		})})
	}
	out = append(out, act.Section{Title: sectionMoves, Acts: act.Movement(t.Items, "line")})
	add(sectionEverywhere, a.global())
	add("1 Health", a.Panes[PaneHealth].Bindings())
	add("2 Tiers: stores, scopes, tiers", t.Bindings())
	add("2 Tiers: items", t.Items.Bindings())
	add("2 Tiers: one item", t.Items.ItemPage.Bindings())
	a.Pages.Overlay = a.Pages.newOverlay("")
	a.Pages.Overlay.Pager.Search.Needle = text.NewNeedle("x")
	add("A text on the whole screen", a.searchKeys())
	add("A text: searching", a.SearchLineKeys(a.Pages.Overlay.Pager))
	a.Pages.Overlay = nil
	add("3 Recall", r.Bindings())
	r.Filter.Focus = true
	add("3 Recall: typing", r.Bindings())
	r.Filter.Focus = false
	add("3 Recall: the item of a hit", r.ItemPage.Bindings())
	add("4 Quarantine", a.Panes[PaneQuarantine].Bindings())
	add("5 Conflicts", a.Panes[PaneConflicts].Bindings())
	add("6 Erasure", a.Panes[PaneErasure].Bindings())
	plan, layers := erasure.Keys(a.D)
	add("6 Erasure: a plan", plan)
	add("6 Erasure: layers and verdicts (V)", layers)
	add("7 Audit", a.Panes[PaneAudit].Bindings())
	change.Versions(a.D.Desk, model.Ref{})
	add("Versions of an item (H)", a.Side.List.OwnKeys())
	add("4 Quarantine: stories (S)", a.stories.List(0).OwnKeys())
	add("What can be put back (:undo)", a.D.Undos.List(0).OwnKeys())
	add("Texts that were put aside (:kept)", a.D.Edits.Kept(0).OwnKeys())
	add("Jobs (:jobs)", a.D.Work.Jobs(0).OwnKeys())
	add("An act on many items", a.D.Work.Outcomes(&task.Bulk{}, 0).OwnKeys())
	a.D.Modal.Dialog = &dialog.Dialog{Armed: true, NoReason: true, Pager: &text.Pager{Text: &text.Page{}}}
	add(sectionQuestion, a.D.Modal.Bindings())
	a.D.Modal.Dialog = nil
	a.Pages.Overlay = a.Pages.newOverlay("")
	add("Help and other pages", a.Pages.overlayBindings()[:1])
	add(sectionLine, a.Line.commandBindings())
	var verbs []act.Act
	for _, v := range a.Line.Verbs() {
		verbs = append(verbs, act.Act{Keys: []string{":" + v.Usage()}, Doc: v.Doc})
	}
	return append(out, act.Section{Title: sectionCommands, Acts: verbs})
}
