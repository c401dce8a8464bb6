package erasure

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/internal/safetext"
	"memdesk/jobs"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/kit/chart"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
	"memdesk/ui/tui/record"
)

// countedPlans returns one plan and counts its reads.
type countedPlans struct {
	plan  gdpr.Plan
	hash  string // of the current plan
	reads int
}

func (c *countedPlans) Plan(context.Context, string) (gdpr.Plan, error) {
	c.reads++
	return c.plan, nil
}

func (c *countedPlans) Request(context.Context, string) (operator.ErasureRequest, error) {
	var r operator.ErasureRequest
	r.PlanHash = c.hash
	return r, nil
}

// TestPlanIsReadOnce pages through a plan of a hundred thousand steps: it must be read for the first
// page, and again when the plan has changed.
func TestPlanIsReadOnce(t *testing.T) {
	const steps = 100_000
	src := &countedPlans{hash: "one", plan: gdpr.Plan{Hash: "one", Stores: []gdpr.StorePlan{{Store: "db"}}}}
	for i := range steps {
		src.plan.Stores[0].Steps = append(src.plan.Stores[0].Steps, gdpr.Step{Store: "db", ID: fmt.Sprintf("n%06d", i), Layer: "item", Action: gdpr.Forget})
	}
	shown := planPages{folds: &folds{}}
	q := operator.PageQuery{Limit: 1000}
	seen := 0
	for {
		p, rows, err := shown.rows(t.Context(), src, "er", q)
		if err != nil {
			t.Fatal(err)
		}
		page, err := planPage(paint.New(paint.Looks{}, true), p, rows, q)
		if err != nil {
			t.Fatal(err)
		}
		seen += len(page.Rows)
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	if seen != steps+2 || src.reads != 1 {
		t.Errorf("%d rows by %d readings; want %d by 1", seen, src.reads, steps+2)
	}
	src.hash, q.Cursor = "two", "one:1000"
	if _, _, err := shown.rows(t.Context(), src, "er", q); err != nil || src.reads != 2 {
		t.Errorf("another plan stands: %d readings, %v; want 2", src.reads, err)
	}
}

// TestTheBarOfAStoreHasColours: red for what goes, yellow for what is redacted, as in the table beside the list.
func TestTheBarOfAStoreHasColours(t *testing.T) {
	plan := gdpr.Plan{Stores: []gdpr.StorePlan{{Store: "db", Steps: []gdpr.Step{{ID: "a", Action: gdpr.Forget}, {ID: "b", Action: gdpr.Redact}}}}}
	row := planRecord(paint.New(paint.Looks{}, true), planRow{plan: &plan, store: &plan.Stores[0], steps: countSteps(plan.Stores[0].Steps)}, false)
	got := map[paint.Look]string{}
	for _, p := range row.Runs[1] {
		got[p.Look] = row.Cells[1].String()[p.Start:p.End]
	}
	if gone, edited := got[paint.LookRemoved], got[paint.LookWarn]; gone == "" || strings.Trim(gone, "█") != "" || edited == "" || strings.Trim(edited, "▄") != "" {
		t.Errorf("%q: %q goes, %q is redacted", row.Cells[1], gone, edited)
	}
}

// oneItem is a store that holds one item.
type oneItem struct {
	model.Browser
	item model.Item
}

func (o oneItem) Read(context.Context, string) (model.Item, error) { return o.item, nil }

// byRecall is a store without a Browser, where recall returns one item.
type byRecall struct{ model.Provider }

func (byRecall) Recall(context.Context, model.RecallRequest) (model.RecallResult, error) {
	return model.RecallResult{Hits: []model.RecallSnippet{{ID: "m1", Snippet: "tea with Ida"}}}, nil
}

// TestAStepByRecall: the page of a step must show the text that recall returns, and take no silence of recall for an erasure.
func TestAStepByRecall(t *testing.T) {
	d := desktest.New(backends.Member{Name: "db", Kind: "gateway", Store: model.Store{Name: "db", Kind: "gateway", Provider: byRecall{}}})
	page := func(id string) *text.Page {
		return (&requests{D: &pane.Bench{Desk: d}}).stepText(t.Context(), operator.ErasureRequest{}, gdpr.Step{Store: "db", ID: id, Layer: "item", Action: gdpr.Forget})
	}
	if got := page("m1").Body; !strings.Contains(got, "tea with Ida") {
		t.Errorf("%q", got)
	}
	if got := stepWords(gdpr.Step{ID: "(cascade)", Layer: "cascade", Action: gdpr.Scrub}); !strings.Contains(got, "cannot be listed") {
		t.Errorf("the store's own cascade: %q", got)
	}
	head := page("m2").Head
	if got := head[len(head)-1].Value.String(); !strings.Contains(got, "recall does not return") {
		t.Errorf("%q", got)
	}
}

// TestARedactionShowsItsMetadata: the detail of a step that edits metadata and text must show both,
// before and after.
func TestARedactionShowsItsMetadata(t *testing.T) {
	it := model.Item{Header: model.Header{ID: "n1"}, Body: "of Ida\nand tea\n", Meta: []model.Field{{Name: "note", Value: "with Ida"}, {Name: "made", Value: "1", ReadOnly: true}}}
	st := gdpr.Step{Store: "db", ID: "n1", Layer: "item", Action: gdpr.Redact, NewBody: "of [erased]\nand tea\n", NewMeta: []model.Field{{Name: "note", Value: "with [erased]"}}}
	d := &desk.Desk{Fleet: backends.NewFleet([]backends.Member{{Name: "db", Kind: "inmem", Store: model.Store{Name: "db", Kind: "inmem", Browser: oneItem{item: it}}}}, nil)}
	got := (&requests{D: &pane.Bench{Desk: d}}).stepText(t.Context(), operator.ErasureRequest{}, st).Body
	for _, want := range []string{"- note: with Ida\n", "+ note: with [erased]\n", "- of Ida\n", "+ of [erased]\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "made") {
		t.Errorf("a field that nobody edits is shown:\n%s", got)
	}
}

// TestUnfoldWaitsForItsRow: enter, pressed while the filtered rows are on their way, must not fold the row of
// before. Keys wait for rows only if their act can say why it does not work.
func TestUnfoldWaitsForItsRow(t *testing.T) {
	p := record.New(desktest.New(), record.Kind[planRow]{})
	p.Window.Rows = []record.Row[planRow]{{Raw: planRow{store: &gdpr.StorePlan{Store: "graph"}, steps: chart.Counts{chart.Goes: 1}}}}
	k, ok := act.Find(foldKeys(p, (&folds{}).turn), "enter")
	if !ok || k.Why == nil {
		t.Error("enter folds the row that is about to go")
	}
}

// TestInScopeIsNotErasedAgain: a request that is complete in scope must be called so, as in its receipt, and
// have r for another look but no E.
func TestInScopeIsNotErasedAgain(t *testing.T) {
	var r operator.ErasureRequest
	r.State, r.PlanHash = gdpr.StateInScope, "h"
	if got := erasureWord(r); got != "complete in scope" {
		t.Errorf("it is called %q", got)
	}
	d := desktest.New()
	d.Acts = struct{ desk.Acts }{} // any: the keys ask only whether there is one
	p := record.New(d, record.Kind[operator.ErasureRequest]{})
	p.Window.Rows = []record.Row[operator.ErasureRequest]{{Raw: r}}
	keys := erasureKeys(&requests{D: &pane.Bench{Desk: d}}, p)
	for key, want := range map[string]string{"E": "it was carried out: r looks again", "r": ""} {
		if k, ok := act.Find(keys, key); !ok || k.Why() != want {
			t.Errorf("%s: %q, want %q", key, k.Why(), want)
		}
	}
}

// TestNotSearchedIsNotDone: a store that the plan could not search loses nothing, so the progress must never say that it is done.
func TestNotSearchedIsNotDone(t *testing.T) {
	p := gdpr.Plan{Stores: []gdpr.StorePlan{{Store: "broken", Error: "not open"}, {Store: "b"}, {Store: "c"}}}
	for _, note := range []string{"b forget", "c scrub", "c verify"} {
		lines := progressLines(paint.New(paint.Looks{}, true), p, &jobs.Status{Note: note})
		if got := lines[0].Value.String(); !strings.Contains(got, "not searched") || strings.Contains(got, "done") {
			t.Errorf("at %q: %q", note, got)
		}
	}
}

// TestNoFileOfAServer: over a connection the keys that write files must refuse before a name is typed.
func TestNoFileOfAServer(t *testing.T) {
	d := desktest.New()
	d.Acts, d.Remote = struct{ desk.Acts }{}, true
	p := record.New(d, record.Kind[operator.ErasureRequest]{})
	p.Window.Rows = []record.Row[operator.ErasureRequest]{{}}
	for _, key := range []string{"x", "S"} {
		if k, ok := act.Find(erasureKeys(&requests{D: &pane.Bench{Desk: d}}, p), key); !ok || k.Why() != d.NoExport() {
			t.Errorf("%s: %q", key, k.Why())
		}
	}
}

// TestLiftCountsWhatIsHidden: lifting a hold lets an item go, so the question must count marked items outside of the filter.
func TestLiftCountsWhatIsHidden(t *testing.T) {
	d := desktest.New()
	var r operator.ErasureRequest
	r.Holds = []gdpr.Hold{{Store: "db", ID: "a"}, {Store: "db", ID: "b"}}
	items := []gdpr.Step{{Store: "db", ID: "a", Action: gdpr.Held}, {Store: "db", ID: "b", Action: gdpr.Held}}
	asked := (&requests{D: &pane.Bench{Desk: d}}).liftMarked(r, items, 1, nil)
	var all []safetext.Text
	for _, l := range asked.Dialog.Lines {
		all = append(all, l.Value)
	}
	if got := d.Esc.Join(all, "\n").String(); !strings.Contains(got, "1 of the marked ones") {
		t.Errorf("the question is\n%s", got)
	}
}

// TestALayerIsNoItem: row, sentence, table and result of a plan must count items and layers apart, and alike.
func TestALayerIsNoItem(t *testing.T) {
	steps := countSteps([]gdpr.Step{{Action: gdpr.Forget}, {Action: gdpr.Scrub}, {Action: gdpr.Redact}, {Action: gdpr.Redact}})
	if row := steps; row[chart.Goes] != 1 || row[chart.Scrubbed] != 1 || row.Found() != 4 {
		t.Errorf("the table has %+v", row)
	}
	for got, want := range map[string]string{
		countWords(steps): "1 goes, 2 redact, 1 layer", fateWords(steps): "1 item goes, 2 are redacted, 1 layer is scrubbed",
		didWords(1, 2, 0, 3): "1 item gone, 2 redacted, 3 rows scrubbed from layers", didWords(0, 0, 0, 0): "nothing was changed",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestAListenerHearsNoBars: who hears the plan must get a sentence for each store, and no signs of bars.
func TestAListenerHearsNoBars(t *testing.T) {
	d := desktest.New()
	d.Spoken = true
	p := gdpr.Plan{Stores: []gdpr.StorePlan{{Store: "db", Steps: []gdpr.Step{{Action: gdpr.Forget}, {Action: gdpr.Scrub}}}, {Store: "empty"}}}
	lines := (&requests{D: &pane.Bench{Desk: d}}).eraseStores(p)
	if len(lines) != 1 || lines[0].Name.String() != "db" || lines[0].Value.String() != "1 item goes, 1 layer is scrubbed" {
		t.Errorf("%+v", lines)
	}
}

// TestARowOfThePlanKeepsItsWarning: the end of a row may be cut, so what was not looked at comes first, and what the
// detail says too is left out.
func TestARowOfThePlanKeepsItsWarning(t *testing.T) {
	store := gdpr.StorePlan{Store: "db", Kind: "inmem", Targets: 1, Items: 299, Problems: []string{"a.md"}, Steps: []gdpr.Step{{ID: "a", Action: gdpr.Forget}}}
	if got := storeWords(safetext.Escaper{}, store, countWords).String(); got != "1 place not looked at; 1 goes; less than 1 % of items" {
		t.Errorf("in the row: %q", got)
	}
	rq := &requests{D: &pane.Bench{Desk: desktest.New()}}
	if got := rq.storePlanLines(store)[1].Value.String(); !strings.HasSuffix(got, "less than 1 % of items, 299 in all") {
		t.Errorf("in the detail: %q", got)
	}
}

// TestAShareIsNotRoundedToAll: while one item of a store stays, no row may say that all of them are changed.
func TestAShareIsNotRoundedToAll(t *testing.T) {
	for want, n := range map[string]int64{"all 1,000 items": 1000, "99 % of items": 999, "50 % of items": 500, "less than 1 % of items": 9} {
		if got := share(n, 1000); got != want {
			t.Errorf("%d of 1000: %q, want %q", n, got, want)
		}
	}
}

// frame is a narrow terminal.
type frame struct{ desk.Frame }

func (frame) Room() (width, height int) { return 80, 24 }

// TestADamagedRequestIsInTheTab: a request that nobody can read may be due, so the count of the tab must say that it is
// not all.
func TestADamagedRequestIsInTheTab(t *testing.T) {
	d := desktest.New()
	d.Frame = frame{}
	for want, n := range map[string]dues{
		"0+": {unread: true}, "1+ due": {soon: 1, unread: true}, "!2+": {overdue: 2, soon: 1, unread: true}, "1+ to approve": {approve: 1, unread: true},
		"": {}, "1 due": {soon: 1}, "!2": {overdue: 2}, "1 to approve": {approve: 1},
	} {
		p := &screen{List: record.New(d, record.Kind[operator.ErasureRequest]{}), due: n}
		if got, _ := p.Badge(); got.String() != want {
			t.Errorf("%+v: %q, want %q", n, got, want)
		}
	}
	p := &screen{List: record.New(d, record.Kind[operator.ErasureRequest]{})}
	if got := p.dueOf(nil, gdpr.Damaged{errors.New("its file is damaged")}); !got.unread {
		t.Errorf("%+v", got)
	}
}

// shelf keeps the list that was opened last.
type shelf struct {
	desk.Frame
	list desk.Listing
}

func (s *shelf) Beside(_ string, _ bool, list func(int) desk.Listing) tea.Cmd {
	s.list = list(9)
	return nil
}

// TestAPlanStaysUnfolded: an operator who leaves a plan and comes back finds it as it was; another plan begins folded.
func TestAPlanStaysUnfolded(t *testing.T) {
	d, shown := desktest.New(), &shelf{}
	d.Frame = shown
	rq := &requests{D: &pane.Bench{Desk: d}, folds: map[string]*folds{}}
	open := func(id string) (folded any) {
		var r operator.ErasureRequest
		r.ID = id
		rq.openPlan(r, nil)
		return shown.list.(*record.List[planRow]).Kind.Shape()
	}
	folded := open("er-1")
	all, _ := act.Find(shown.list.OwnKeys(), act.UnfoldAll.Keys[0])
	all.Do()
	if again, other := open("er-1"), open("er-2"); again == folded || other != folded {
		t.Errorf("the plan is %v and another one %v; one that nobody has unfolded is %v", again, other, folded)
	}
}

// TestAFoldTurns: one heading turns against all others, whether all are folded or open.
func TestAFoldTurns(t *testing.T) {
	for _, folded := range []bool{true, false} {
		s := folds{on: folded, turned: map[string]bool{}}
		if s.turn("a"); s.shows("a") != folded || s.shows("b") == folded {
			t.Errorf("all folded: %v: the one turned is open: %v, another one: %v", folded, s.shows("a"), s.shows("b"))
		}
		if s.turn("a"); s.shows("a") == folded {
			t.Errorf("all folded: %v: it does not turn back", folded)
		}
	}
}
