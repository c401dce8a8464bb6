package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/inmem"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/backends/records/mcpgraph"
	"memdesk/backends/seam/claude"
	"memdesk/backends/seam/crewship"
	"memdesk/backends/seam/devicelocal"
	"memdesk/model"
	"memdesk/transfer"
)

// memory is a journal within one process.
type memory struct {
	done  map[string]bool
	steps int
	stop  int // after this many steps; 0: never
}

var errStopped = errors.New("stopped")

func (m *memory) Step(ctx context.Context, key string, fn func(context.Context) error) error {
	if m.stop > 0 && m.steps >= m.stop {
		return errStopped
	}
	m.steps++
	if m.done[key] {
		return nil
	}
	if err := fn(ctx); err != nil {
		return err
	}
	if m.done == nil {
		m.done = map[string]bool{}
	}
	m.done[key] = true
	return nil
}

func (m *memory) Progress(int64, int64, string, string) {}

func direct(ctx context.Context, s model.Store, req model.RetainRequest) (model.RetainResult, error) {
	return s.Provider.Retain(ctx, req)
}

func run(t *testing.T, from, to model.Store, o transfer.Options, j transfer.Journal) (sum transfer.Summary, all []transfer.Outcome, err error) {
	t.Helper()
	plan, err := transfer.NewPlan(from, to, o)
	if err != nil {
		t.Fatal(err)
	}
	var would transfer.Summary
	// A dry run must count what the run counts, but for items that the destination refuses when they are written.
	if m, ok := j.(*memory); ok && m.stop == 0 {
		if would, err = plan.Try(t.Context(), transfer.Rehearsal{Settled: func(key string) bool { return m.done[key] }, Gate: open, Progress: func(int64, int64) {}}, func(transfer.Outcome) {}); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if would.Skipped != sum.Skipped || would.Left != sum.Left || would.Copied+would.Failed != sum.Copied+sum.Failed || would.Failed > sum.Failed {
				t.Errorf("the dry run counted %+v, the run %+v", would, sum)
			}
		}()
	}
	sum, err = plan.Run(t.Context(), j, direct, func(o transfer.Outcome) { all = append(all, o) })
	if got := sum.Copied + sum.Skipped + sum.Failed + sum.Left; got != int64(len(all)) {
		t.Errorf("%d outcomes, %d counted", len(all), got)
	}
	return sum, all, err
}

func openSQLite(t *testing.T, name string) model.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), name+".db"), Create: true})
	if err != nil {
		t.Fatal(err)
	}
	s := hypergraph.Adapt(hypergraph.Config{Name: name, Kind: "sqlite", Backend: db})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func openInMemory(name string) model.Store {
	return hypergraph.Adapt(hypergraph.Config{Name: name, Kind: "inmem", Backend: inmem.New(nil)})
}

// fill makes a graph with edges, archived nodes and a chain of decisions whose parents come last by id.
func fill(t *testing.T, s model.Store) {
	t.Helper()
	put := func(req model.RetainRequest) {
		req.Mode = model.Replace
		if _, err := s.Provider.Retain(t.Context(), req); err != nil {
			t.Fatalf("%s: %v", req.ID, err)
		}
	}
	for i := range 40 {
		tier := []string{"task", "session", "longterm", "archive"}[i%4]
		put(model.RetainRequest{ID: fmt.Sprintf("n%02d", i), Tier: tier, Content: fmt.Sprintf("text %d\n§ é", i),
			Meta: []model.Field{{Name: "type", Value: "fact"}, {Name: "tier", Value: tier}, {Name: "confidence", Value: "0.25"}, {Name: "metadata", Value: `{"k": 1}`}, {Name: "subject", Value: fmt.Sprintf("u%d", i%3)}}})
	}
	decision := func(id, parent string) {
		put(model.RetainRequest{ID: id, Tier: "task", Content: "decide " + id, Meta: []model.Field{{Name: "type", Value: "decision"}, {Name: "tier", Value: "task"},
			{Name: "decision_kind", Value: "goal"}, {Name: "decision_status", Value: "active"}, {Name: "decision_confidence", Value: "50"}, {Name: "decision_parent", Value: parent}}})
	}
	decision("z", "")
	decision("y", "z")
	decision("a", "y")
	put(model.RetainRequest{ID: "edge/e1", Tier: hypergraph.EdgeTier, Content: "ties", Meta: []model.Field{{Name: "type", Value: "relation"}, {Name: "members", Value: `[{"node":"n01","role":"subject","position":0},{"node":"n02","role":"object","position":1}]`}}})
}

// TestAChainIsCopiedInFewPasses: each item waits for the one that comes after it in the list.
func TestAChainIsCopiedInFewPasses(t *testing.T) {
	const long = 60
	from, to := openInMemory("from"), openInMemory("to")
	for i := long - 1; i >= 0; i-- {
		parent := ""
		if i < long-1 {
			parent = fmt.Sprintf("n%02d", i+1)
		}
		if _, err := from.Provider.Retain(t.Context(), model.RetainRequest{ID: fmt.Sprintf("n%02d", i), Tier: "task", Content: "decide", Mode: model.Replace,
			Meta: []model.Field{{Name: "type", Value: "decision"}, {Name: "tier", Value: "task"}, {Name: "decision_kind", Value: "goal"},
				{Name: "decision_status", Value: "active"}, {Name: "decision_confidence", Value: "50"}, {Name: "decision_parent", Value: parent}}}); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := transfer.NewPlan(from, to, transfer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	writes := 0
	sum, err := plan.Run(t.Context(), &memory{}, func(ctx context.Context, s model.Store, req model.RetainRequest) (model.RetainResult, error) {
		writes++
		return direct(ctx, s, req)
	}, func(transfer.Outcome) {})
	if err != nil || sum.Copied != long || writes > 3*long {
		t.Errorf("%+v after %d writes, %v", sum, writes, err)
	}
}

// content is everything that can be written, by id.
func content(t *testing.T, s model.Store) map[string]model.Document {
	t.Helper()
	out := map[string]model.Document{}
	req := model.PageRequest{Hidden: true, Limit: 7}
	for {
		page, err := s.Browser.List(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range page.Items {
			it, err := s.Browser.Read(t.Context(), h.ID)
			if err != nil {
				t.Fatal(err)
			}
			d := it.Document()
			d.Meta = slices.DeleteFunc(slices.Clone(d.Meta), func(f model.Field) bool { return f.ReadOnly })
			out[h.ID] = d
		}
		if page.Next == "" {
			return out
		}
		req.Cursor = page.Next
	}
}

// TestRoundTrip: a copy and its copy back must be equal, edges and archived items included.
func TestRoundTrip(t *testing.T) {
	first, between, back := openSQLite(t, "first"), openInMemory("between"), openSQLite(t, "back")
	fill(t, first)
	want := content(t, first)
	for _, leg := range [][2]model.Store{{first, between}, {between, back}} {
		sum, all, err := run(t, leg[0], leg[1], transfer.Options{}, &memory{})
		if err != nil || sum.Failed > 0 || sum.Copied != int64(len(want)) {
			t.Fatalf("%+v, %v: %+v", sum, err, all)
		}
	}
	if d := cmp.Diff(want, content(t, back)); d != "" {
		t.Errorf("(-first +back):\n%s", d)
	}
}

// TestStoppedAnywhere: a copy that is stopped after any number of steps and continued must end the
// same, and write nothing twice.
func TestStoppedAnywhere(t *testing.T) {
	from := openInMemory("from")
	fill(t, from)
	want := content(t, from)
	for stop := 1; stop < len(want)+4; stop += 3 {
		to := openInMemory("to")
		writes := map[string]int{}
		counted := to.Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
			err := next(ctx)
			if c.Op == model.OpRetain && err == nil {
				writes[c.Retain.ID]++
			}
			return err
		})
		j := &memory{stop: stop}
		if _, _, err := run(t, from, counted, transfer.Options{}, j); err != nil && !errors.Is(err, errStopped) {
			t.Fatal(err)
		}
		j.stop = 0
		if sum, all, err := run(t, from, counted, transfer.Options{}, j); err != nil || sum.Failed > 0 {
			t.Fatalf("stopped after %d: %+v %v %v", stop, sum, all, err)
		}
		if d := cmp.Diff(want, content(t, to)); d != "" {
			t.Fatalf("stopped after %d (-from +to):\n%s", stop, d)
		}
		for id, n := range writes {
			if n != 1 {
				t.Errorf("stopped after %d: %s was written %d times", stop, id, n)
			}
		}
	}
}

// TestTakenUpIntoAnEmptiedStore: what the first run copied and somebody removed must be copied again, and what
// stands under an id of the destination's own must not.
func TestTakenUpIntoAnEmptiedStore(t *testing.T) {
	vault := crewshipAt(t, memoryDir(t, map[string]string{"AGENT.md": "a", "daily/2026-05-21.md": "d", "daily/2026-05-22.md": "e", "pins.md": "p"}))
	nodes, bare := openInMemory("nodes"), openInMemory("own")
	fill(t, nodes)
	own := bare.Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Op == model.OpRetain && c.Retain.ID+c.Retain.Key != "" { // it makes every id
			return model.Errorf(model.InvalidInput, "retain", "no ids")
		}
		return next(ctx)
	})
	for _, tt := range []struct {
		name     string
		from, to model.Store
		again    bool
	}{
		{"nodes to nodes", nodes, openInMemory("to"), true},
		{"texts to nodes", vault, openInMemory("to"), true},
		{"texts to texts", vault, crewshipAt(t, memoryDir(t, map[string]string{"pins.md": "p"})), true},
		{"texts under the destination's ids", vault, own, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := transfer.Options{}
			if tt.from.Kind != tt.to.Kind {
				o.Map = map[string]string{"*": "task"}
			}
			j := &memory{}
			first, all, err := run(t, tt.from, tt.to, o, j)
			if err != nil || first.Copied < 3 || first.Failed > 0 {
				t.Fatalf("%+v %+v %v", first, all, err)
			}
			want := content(t, tt.to)
			if sum, _, err := run(t, tt.from, tt.to, o, j); err != nil || sum.Copied+sum.Failed > 0 {
				t.Errorf("taken up at once: %+v %v", sum, err)
			}
			for range want { // a parent goes after its children
				for id := range content(t, tt.to) {
					_, _ = tt.to.Provider.Forget(t.Context(), model.ForgetRequest{ID: id})
				}
			}
			switch sum, all, err := run(t, tt.from, tt.to, o, j); {
			case err != nil || sum.Failed > 0 || (sum.Copied > 0) != tt.again:
				t.Errorf("%+v %+v %v", sum, all, err)
			case tt.again:
				if d := cmp.Diff(want, content(t, tt.to)); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

// TestATierThatCameWithACopy: the first copy brings a note whose type is a tier of its own from then on, so that
// --map '*' no longer sends it elsewhere. A second copy must find it all the same.
func TestATierThatCameWithACopy(t *testing.T) {
	from := crewshipAt(t, memoryDir(t, map[string]string{"daily/2026-05-21.md": "---\nkind: daily\n---\nlow tide\n"}))
	dir := memoryDir(t, map[string]string{"idea/a.md": "---\nkind: idea\n---\na\n"})
	copied := func(j transfer.Journal) transfer.Summary {
		to, err := devicelocal.Open(t.Context(), devicelocal.Config{Name: "to", Path: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = to.Close() }()
		sum, all, err := run(t, from, to, transfer.Options{Map: map[string]string{"*": "idea"}}, j)
		if err != nil || sum.Failed > 0 {
			t.Errorf("%+v %v", all, err)
		}
		return sum
	}
	j := &memory{}
	if sum := copied(j); sum.Copied != 1 {
		t.Errorf("%+v", sum)
	}
	for name, again := range map[string]transfer.Journal{"taken up": j, "anew": &memory{}} {
		if sum := copied(again); sum.Copied > 0 {
			t.Errorf("%s: %+v", name, sum)
		}
	}
}

// TestAChangedItemIsReplacedByALaterRun: one item that fails leaves the copy unfinished, and the next run takes it up.
// An item that was changed in the source since must replace its copy, where that is asked for.
func TestAChangedItemIsReplacedByALaterRun(t *testing.T) {
	from, to := openInMemory("from"), openInMemory("to")
	put := func(id, text string) {
		t.Helper()
		if _, err := from.Provider.Retain(t.Context(), model.RetainRequest{ID: id, Tier: "task", Content: text, Mode: model.Replace}); err != nil {
			t.Fatal(err)
		}
	}
	put("note", "one")
	j := &memory{}
	if sum, all, err := run(t, from, to, transfer.Options{Replace: true}, j); err != nil || sum.Copied != 1 {
		t.Fatalf("%+v %v", all, err)
	}
	put("note", "two")
	if sum, all, err := run(t, from, to, transfer.Options{}, j); err != nil || sum.Skipped != 1 {
		t.Errorf("replaced unasked: %+v %v", all, err)
	}
	for _, want := range []transfer.Summary{{Copied: 1}, {Skipped: 1}} {
		if sum, all, err := run(t, from, to, transfer.Options{Replace: true}, j); err != nil || sum != want {
			t.Errorf("want %+v, got %+v %v", want, all, err)
		}
	}
	if it, err := to.Browser.Read(t.Context(), "note"); err != nil || it.Body != "two" {
		t.Errorf("the copy says %q, %v", it.Body, err)
	}
}

func TestWhatStandsThere(t *testing.T) {
	from, to := openInMemory("from"), openInMemory("to")
	put := func(s model.Store, id, text string) {
		if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: id, Tier: "task", Content: text, Mode: model.Replace}); err != nil {
			t.Fatal(err)
		}
	}
	put(from, "same", "one")
	put(to, "same", "one")
	put(from, "differs", "mine")
	put(to, "differs", "theirs")
	put(from, "new", "n")
	sum, all, err := run(t, from, to, transfer.Options{}, &memory{})
	if err != nil || sum != (transfer.Summary{Copied: 1, Skipped: 2}) {
		t.Errorf("%+v %+v %v", sum, all, err)
	}
	if it, _ := to.Browser.Read(t.Context(), "differs"); it.Body != "theirs" {
		t.Errorf("overwritten unasked: %q", it.Body)
	}
	sum, _, err = run(t, from, to, transfer.Options{Replace: true}, &memory{})
	if err != nil || sum != (transfer.Summary{Copied: 1, Skipped: 2}) {
		t.Errorf("with replace: %+v %v", sum, err)
	}
	if it, _ := to.Browser.Read(t.Context(), "differs"); it.Body != "mine" {
		t.Errorf("not replaced: %q", it.Body)
	}
}

// TestBetweenFamilies: a tier without a counterpart must be reported, and not copied.
func TestBetweenFamilies(t *testing.T) {
	from, err := crewship.Open(t.Context(), crewship.Config{Name: "ship", Path: memoryDir(t, map[string]string{
		"AGENT.md": "---\nx: 1\n---\nharbour\n", "daily/2026-05-21.md": "- one\n", "pins.md": "p\n"})})
	if err != nil {
		t.Fatal(err)
	}
	to := openInMemory("graph")
	plan, err := transfer.NewPlan(from, to, transfer.Options{})
	if err != nil || plan.Carries() {
		t.Errorf("carries = %v, %v", plan.Carries(), err)
	}
	sum, all, err := run(t, from, to, transfer.Options{Map: map[string]string{"AGENT": "longterm", "daily": "session"}}, &memory{})
	if err != nil || sum != (transfer.Summary{Copied: 2, Left: 1}) {
		t.Errorf("%+v %+v %v", sum, all, err)
	}
	it, err := to.Browser.Read(t.Context(), "AGENT.md")
	if err != nil || it.Tier != "longterm" || it.Body != "---\nx: 1\n---\nharbour\n" {
		t.Errorf("%+v, %v", it, err)
	}
	// And back: the node's fields become front matter, its name a key.
	sum, all, err = run(t, to, from, transfer.Options{Map: map[string]string{"session": "daily"}}, &memory{})
	if err != nil || sum.Copied != 1 {
		t.Errorf("back: %+v %+v %v", sum, all, err)
	}
	it, err = from.Browser.Read(t.Context(), "daily/daily-2026-05-21.md")
	if err != nil || !strings.HasPrefix(it.Body, "---\ntype: fact\n") || !strings.HasSuffix(it.Body, "- one\n") {
		t.Errorf("back: %q, %v", it.Body, err)
	}
}

func TestPlanRefuses(t *testing.T) {
	from, to := openInMemory("from"), openInMemory("to")
	blind := to
	blind.Browser = nil
	closed := to
	closed.ReadOnly, closed.ReadOnlyReason = true, "because"
	for name, tt := range map[string]struct {
		from, to model.Store
		o        transfer.Options
	}{
		"itself":       {from, from, transfer.Options{}},
		"a blind goal": {from, blind, transfer.Options{}},
		"read-only":    {from, closed, transfer.Options{}},
		"no such tier": {from, to, transfer.Options{Tier: "nowhere"}},
		"no such goal": {from, to, transfer.Options{Map: map[string]string{"task": "nowhere"}}},
	} {
		if _, err := transfer.NewPlan(tt.from, tt.to, tt.o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestAFailedItemDoesNotStopTheRest: the next run must try the item again.
func TestAFailedItemDoesNotStopTheRest(t *testing.T) {
	from, to := openInMemory("from"), openInMemory("to")
	fill(t, from)
	broken := true
	flaky := to.Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if broken && c.Op == model.OpRetain && c.Retain.ID == "n05" {
			return model.Errorf(model.Unavailable, "retain", "not now")
		}
		return next(ctx)
	})
	j := &memory{}
	sum, all, err := run(t, from, flaky, transfer.Options{}, j)
	if err != nil || sum.Failed != 1 || sum.Copied != 43 {
		t.Fatalf("%+v %+v %v", sum, all, err)
	}
	broken = false
	if sum, _, err = run(t, from, flaky, transfer.Options{}, j); err != nil || sum.Failed != 0 || sum.Copied != 1 {
		t.Errorf("again: %+v %v", sum, err)
	}
}

// TestATierOfOneItem: an item that goes to a tier without keys must be written there, also between stores of
// the same tiers.
func TestATierOfOneItem(t *testing.T) {
	open := func(name string, files map[string]string) model.Store {
		s, err := crewship.Open(t.Context(), crewship.Config{Name: name, Path: memoryDir(t, files)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	from, to := open("from", map[string]string{"AGENT.md": "harbour\n"}), open("to", map[string]string{"daily/x.md": "x\n"})
	other := to
	other.Name, other.Kind = "other", "remote"
	for _, tt := range []struct {
		to   model.Store
		tier string
		id   string
	}{{to, "pins", "pins.md"}, {other, "AGENT", "AGENT.md"}} {
		sum, all, err := run(t, from, tt.to, transfer.Options{Map: map[string]string{"AGENT": tt.tier}}, &memory{})
		it, unread := to.Browser.Read(t.Context(), tt.id)
		if err != nil || sum.Copied != 1 || unread != nil || it.Body != "harbour\n" {
			t.Errorf("%s: %+v %+v %v; it reads %q, %v", tt.tier, sum, all, err, it.Body, unread)
		}
	}
}

// TestReplaceInATierOfOneItem: several items that go to a tier of one document must not replace each other there.
func TestReplaceInATierOfOneItem(t *testing.T) {
	from := openInMemory("from")
	for _, id := range []string{"a", "b", "c"} {
		if _, err := from.Provider.Retain(t.Context(), model.RetainRequest{ID: id, Tier: "task", Content: "text of " + id, Mode: model.Replace}); err != nil {
			t.Fatal(err)
		}
	}
	ship, err := crewship.Open(t.Context(), crewship.Config{Name: "to", Path: memoryDir(t, map[string]string{"AGENT.md": "old\n"})})
	if err != nil {
		t.Fatal(err)
	}
	agent, err := claude.Open(t.Context(), claude.Config{Name: "to", Path: memoryDir(t, map[string]string{"MEMORY.md": "- [tides](tides.md)\n", "tides.md": "high\n"})})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		to       model.Store
		tier, id string
	}{{ship, "AGENT", "AGENT.md"}, {agent, "index", "MEMORY.md"}} {
		sum, all, err := run(t, from, tt.to, transfer.Options{Map: map[string]string{"task": tt.tier}, Replace: true}, &memory{})
		it, unread := tt.to.Browser.Read(t.Context(), tt.id)
		if err != nil || sum.Copied != 1 || sum.Failed != 2 || unread != nil || !strings.Contains(it.Body, "text of a") {
			t.Errorf("%s: %+v %+v %v; it reads %q, %v", tt.tier, sum, all, err, it.Body, unread)
		}
	}
}

// TestReplaceAtOneAddress: in stores of one kind too, items that another tier makes one address of must not replace each
// other.
func TestReplaceAtOneAddress(t *testing.T) {
	from := crewshipAt(t, memoryDir(t, map[string]string{"topics/x-y.md": "first\n", "topics/x/y.md": "second\n"}))
	to := crewshipAt(t, memoryDir(t, map[string]string{"AGENT.md": "old\n"}))
	sum, all, err := run(t, from, to, transfer.Options{Map: map[string]string{"topics": "daily"}, Replace: true}, &memory{})
	if err != nil || sum.Copied != 1 || sum.Failed != 1 {
		t.Errorf("%+v %+v %v", sum, all, err)
	}
}

// TestReplaceSparesTheSameCopy: two items whose names make one key must not replace each other.
func TestReplaceSparesTheSameCopy(t *testing.T) {
	from := openInMemory("from")
	for _, id := range []string{"a-b", "a/b"} {
		if _, err := from.Provider.Retain(t.Context(), model.RetainRequest{ID: id, Tier: "task", Content: "text of " + id, Mode: model.Replace}); err != nil {
			t.Fatal(err)
		}
	}
	to, err := crewship.Open(t.Context(), crewship.Config{Name: "to", Path: memoryDir(t, map[string]string{"daily/a-b.md": "old\n"})})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range []*memory{{}, {done: map[string]bool{from.Identity() + "\x00" + to.Identity() + "\x00a-b": true}}} { // the second continues the first
		sum, all, err := run(t, from, to, transfer.Options{Map: map[string]string{"task": "daily"}, Replace: true}, j)
		it, unread := to.Browser.Read(t.Context(), "daily/a-b.md")
		if err != nil || sum.Failed != 1 || unread != nil || !strings.HasSuffix(it.Body, "text of a-b") {
			t.Errorf("%+v %+v %v; it reads %q, %v", sum, all, err, it.Body, unread)
		}
	}
}

// TestTwoItemsOfOneKey: the second must fail, in this run and in the next: no run has copied it.
func TestTwoItemsOfOneKey(t *testing.T) {
	from := crewshipAt(t, memoryDir(t, map[string]string{"topics/x-y.md": "first\n", "topics/x/y.md": "second\n"}))
	to := crewshipAt(t, memoryDir(t, map[string]string{"AGENT.md": "old\n"}))
	j := &memory{}
	for n, want := range []transfer.Summary{{Copied: 1, Failed: 1}, {Skipped: 1, Failed: 1}} {
		sum, all, err := run(t, from, to, transfer.Options{Map: map[string]string{"topics": "daily"}}, j)
		sum.Err = nil
		if err != nil || sum != want {
			t.Errorf("run %d: %+v %+v %v", n, sum, all, err)
		}
	}
}

// TestWhatAnObjectCannotHold: a field that an object has no place for must be named.
func TestWhatAnObjectCannotHold(t *testing.T) {
	from := openInMemory("from")
	if _, err := from.Provider.Retain(t.Context(), model.RetainRequest{ID: "n", Tier: "task", Content: "a\x00b", Mode: model.Replace,
		Meta: []model.Field{{Name: "type", Value: "decision"}, {Name: "tier", Value: "task"}, {Name: "decision_kind", Value: "goal"}, {Name: "decision_status", Value: "active"},
			{Name: "decision_branch", Value: "u\xff"}}}); err != nil {
		t.Fatal(err)
	}
	var got model.RetainRequest
	to := openInMemory("to").Wrap(func(_ context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Op != model.OpRetain {
			return next(t.Context())
		}
		got = *c.Retain
		return nil
	})
	to.Tiers = []model.TierSpec{{Name: "task", Writable: true, KeyRule: model.KeyRequired, Document: model.Structured, Text: model.TextObject}}
	_, all, err := run(t, from, to, transfer.Options{Tier: "task"}, &memory{})
	if err != nil || len(all) != 1 || all[0].Reason != "not carried: NUL of text, bytes of decision_branch" {
		t.Errorf("%+v, %v: %s", all, err, got.Content)
	}
}

// TestANameThatNoFileMayHave: an id with controls must become a name, and a relation, whose id is of several parts,
// too.
func TestANameThatNoFileMayHave(t *testing.T) {
	file := filepath.Join(t.TempDir(), "memory.jsonl")
	graph := `{"type":"entity","name":"two\nlines","entityType":"note","observations":["a"]}` + "\n" + `{"type":"entity","name":"b","entityType":"note","observations":["b"]}` + "\n" +
		`{"type":"relation","from":"two\nlines","to":"b","relationType":"knows"}` + "\n"
	if err := os.WriteFile(file, []byte(graph), 0o600); err != nil {
		t.Fatal(err)
	}
	from, err := mcpgraph.Open(t.Context(), mcpgraph.Config{Name: "graph", Path: file})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = from.Close() })
	to := crewshipAt(t, memoryDir(t, map[string]string{"pins.md": "p"}))
	sum, all, err := run(t, from, to, transfer.Options{Map: map[string]string{"*": "daily"}}, &memory{})
	if err != nil || sum.Copied != 3 {
		t.Errorf("%+v %v", all, err)
	}
	for _, id := range []string{"daily/two-lines.md", "daily/b.md", "daily/edge-two-lines-knows-b.md"} {
		if _, err := to.Browser.Read(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
}

// unreadable lists in small pages, and names the same problem on each of them, as text trees do.
type unreadable struct{ model.Browser }

func (u unreadable) List(ctx context.Context, req model.PageRequest) (model.Page, error) {
	req.Limit = 2
	page, err := u.Browser.List(ctx, req)
	page.Problems = []string{"idea: permission denied"}
	return page, err
}

// TestAProblemOfEveryPageCountsOnce: in a copy and in an export.
func TestAProblemOfEveryPageCountsOnce(t *testing.T) {
	from, to := openInMemory("from"), openInMemory("to")
	for i := range 5 {
		if _, err := from.Provider.Retain(t.Context(), model.RetainRequest{ID: fmt.Sprint("n", i), Tier: "task", Content: "text", Mode: model.Replace}); err != nil {
			t.Fatal(err)
		}
	}
	from.Browser = unreadable{from.Browser}
	if sum, all, err := run(t, from, to, transfer.Options{}, &memory{}); err != nil || sum.Copied != 5 || sum.Failed != 1 {
		t.Errorf("%+v %v", all, err)
	}
	m, err := transfer.Export(t.Context(), from, filepath.Join(t.TempDir(), "out"), now, func(int64, int64) {})
	if err != nil || m.Items != 5 || len(m.Problems) != 1 {
		t.Errorf("%+v, %v", m, err)
	}
}

// open is a gate that refuses nothing.
func open(ctx context.Context, _ *model.Call, next func(context.Context) error) error {
	return next(ctx)
}
