// Package trackertest is the conformance suite of the published port of work
// items: the rules B of provider-contract.md that can be run, as named cases.
package trackertest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"memdesk/backends/tracker"
)

// Mark is where a rule comes from: contract, upstream's code, or added.
type Mark string

// The marks of provider-contract.md.
const (
	Contract Mark = "c"
	Upstream Mark = "u"
	Added    Mark = "a"
)

// Harness is what a member's test hands to the suite.
type Harness struct {
	// Open opens a port over a fresh, empty, writable store.
	Open func(t *testing.T) tracker.Port
	// Again opens the same store once more, as another instance.
	Again func(t *testing.T) tracker.Port
	// Plant writes a work item with a field that no port knows, past the port, and
	// Planted tells whether it is still there; nil where the store is a command.
	Plant   func(t *testing.T, id string)
	Planted func(t *testing.T, id string) bool
}

type testCase struct {
	rule string
	mark Mark
	name string
	run  func(t *testing.T, h Harness)
}

// Run runs every case.
func Run(t *testing.T, h Harness) {
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s(%s) %s", c.rule, c.mark, c.name), func(t *testing.T) { c.run(t, h) })
	}
}

var cases = []testCase{
	{"B02", Upstream, "the six newer methods answer, and UNSUPPORTED", newer},
	{"B03", Contract, "a success has no error, a failure has all three fields", envelope},
	{"B07", Contract, "what is declared works, what is not is UNSUPPORTED", declared},
	{"B12", Contract, "pairs: unknown is NOT_FOUND, repeated ALREADY_EXISTS", pairs},
	{"B13", Upstream, "pairs are listed from either side; another kind yields nothing", pairList},
	{"B14", Contract, "ready is what is open and not blocked", ready},
	{"B15", Upstream, "filters are equality, all of them", filters},
	{"B16", Upstream, "search is a substring of id, title or description, case apart", search},
	{"B17", Upstream, "the query language, and what it passes over", query},
	{"B18", Contract, "items have the fields that every client reads", items},
	{"B18", Contract, "create, get, update, close, delete", life},
	{"B19", Added, "another instance sees what was written", persists},
	{"B19", Added, "a field that nobody knows survives an update", unknownField},
	{"B19", Added, "writers side by side lose nothing", concurrent},
	{"B19", Added, "an ended context changes nothing", ended},
}

func ok[T any](t *testing.T, what string, r tracker.Result[T]) T {
	t.Helper()
	if !r.OK || r.Error != nil {
		t.Fatalf("%s: %+v", what, r.Error)
	}
	return r.Data
}

func failed[T any](t *testing.T, what string, r tracker.Result[T], want tracker.Code) {
	t.Helper()
	switch {
	case r.OK || r.Error == nil:
		t.Errorf("%s: it succeeded, want %s", what, want)
	case r.Error.Code != want:
		t.Errorf("%s: %s, want %s: %s", what, r.Error.Code, want, r.Error.Message)
	case r.Error.Message == "" || r.Error.Retryable != want.Retryable():
		t.Errorf("%s: the error is %+v", what, r.Error)
	case !slices.Contains(tracker.Codes(), r.Error.Code):
		t.Errorf("%s: %s is no published code", what, r.Error.Code)
	}
}

func create(t *testing.T, p tracker.Port, d tracker.Draft) string {
	t.Helper()
	id := ok(t, "create "+d.Title, p.Create(t.Context(), d, ""))
	if id == "" {
		t.Fatalf("create %s gives no id", d.Title)
	}
	return id
}

func ids(beads []tracker.Bead) []string {
	out := []string{}
	for _, b := range beads {
		out = append(out, b.ID)
	}
	slices.Sort(out)
	return out
}

func same(t *testing.T, what string, got []tracker.Bead, want ...string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(ids(got), want) {
		t.Errorf("%s: %q, want %q", what, ids(got), want)
	}
}

func newer(t *testing.T, h Harness) {
	p, has := h.Open(t).(tracker.Newer)
	if !has {
		t.Fatal("the port lacks the newer methods")
	}
	ctx := t.Context()
	for name, r := range map[string]tracker.Result[tracker.None]{
		"workflows": p.ListWorkflows(ctx, ""), "terminal": p.MarkTerminal(ctx, "x", "shipped", ""), "reopen": p.Reopen(ctx, "x", ""),
		"rewind": p.Rewind(ctx, "x", "y", ""), "take": p.BuildTakePrompt(ctx, "x", ""), "poll": p.BuildPollPrompt(ctx, ""),
	} {
		failed(t, name, r, tracker.Unsupported)
	}
}

func envelope(t *testing.T, h Harness) {
	p := h.Open(t)
	if got := ok(t, "list", p.List(t.Context(), tracker.Filter{}, "")); got == nil {
		t.Error("an empty list is no array")
	}
	failed(t, "get", p.Get(t.Context(), "no-such-id", ""), tracker.NotFound)
	failed(t, "update", p.Update(t.Context(), "no-such-id", tracker.Change{}, ""), tracker.NotFound)
	failed(t, "close", p.Close(t.Context(), "no-such-id", "", ""), tracker.NotFound)
	failed(t, "create without a title", p.Create(t.Context(), tracker.Draft{}, ""), tracker.InvalidInput)
	failed(t, "another repository", p.List(t.Context(), tracker.Filter{}, "/no/such/repository"), tracker.InvalidInput)
}

func declared(t *testing.T, h Harness) {
	p := h.Open(t)
	c := p.Capabilities()
	id := create(t, p, tracker.Draft{Title: "a task"})
	if r := p.Delete(t.Context(), id, ""); c.Delete != r.OK {
		t.Errorf("canDelete is %v, delete says %+v", c.Delete, r)
	} else if !c.Delete {
		failed(t, "delete", r, tracker.Unsupported)
	}
}

func pairs(t *testing.T, h Harness) {
	p := h.Open(t)
	a, b := create(t, p, tracker.Draft{Title: "a"}), create(t, p, tracker.Draft{Title: "b"})
	ctx := t.Context()
	failed(t, "unknown blocker", p.AddDependency(ctx, "no-such-id", b, ""), tracker.NotFound)
	failed(t, "unknown blocked", p.AddDependency(ctx, a, "no-such-id", ""), tracker.NotFound)
	failed(t, "itself", p.AddDependency(ctx, a, a, ""), tracker.InvalidInput)
	ok(t, "add", p.AddDependency(ctx, a, b, ""))
	failed(t, "add again", p.AddDependency(ctx, a, b, ""), tracker.AlreadyExists)
	ok(t, "remove", p.RemoveDependency(ctx, a, b, ""))
	failed(t, "remove again", p.RemoveDependency(ctx, a, b, ""), tracker.NotFound)
}

func pairList(t *testing.T, h Harness) {
	p := h.Open(t)
	a, b := create(t, p, tracker.Draft{Title: "a"}), create(t, p, tracker.Draft{Title: "b"})
	ok(t, "add", p.AddDependency(t.Context(), a, b, ""))
	for _, id := range []string{a, b} {
		got := ok(t, "list", p.ListDependencies(t.Context(), id, "", ""))
		if len(got) != 1 || got[0].Blocker != a || got[0].Blocked != b {
			t.Errorf("the pairs of %s are %+v", id, got)
		}
	}
	if got := ok(t, "list", p.ListDependencies(t.Context(), a, "related", "")); len(got) != 0 {
		t.Errorf("another kind yields %+v", got)
	}
	failed(t, "unknown", p.ListDependencies(t.Context(), "no-such-id", "", ""), tracker.NotFound)
}

func ready(t *testing.T, h Harness) {
	p := h.Open(t)
	a, b := create(t, p, tracker.Draft{Title: "a"}), create(t, p, tracker.Draft{Title: "b"})
	ok(t, "add", p.AddDependency(t.Context(), a, b, ""))
	same(t, "ready", ok(t, "ready", p.ListReady(t.Context(), tracker.Filter{}, "")), a)
	ok(t, "remove", p.RemoveDependency(t.Context(), a, b, ""))
	same(t, "ready", ok(t, "ready", p.ListReady(t.Context(), tracker.Filter{}, "")), a, b)
	ok(t, "close", p.Close(t.Context(), a, "done", ""))
	same(t, "ready", ok(t, "ready", p.ListReady(t.Context(), tracker.Filter{}, "")), b)
}

func filters(t *testing.T, h Harness) {
	p := h.Open(t)
	one := 1
	a := create(t, p, tracker.Draft{Title: "a", Type: "bug", Priority: &one})
	b := create(t, p, tracker.Draft{Title: "b", Type: "bug"})
	create(t, p, tracker.Draft{Title: "c", Priority: &one})
	ctx := t.Context()
	same(t, "type", ok(t, "list", p.List(ctx, tracker.Filter{Type: "bug"}, "")), a, b)
	same(t, "type and priority", ok(t, "list", p.List(ctx, tracker.Filter{Type: "bug", Priority: &one}, "")), a)
	same(t, "nothing", ok(t, "list", p.List(ctx, tracker.Filter{Type: "Bug"}, "")))
}

func search(t *testing.T, h Harness) {
	p := h.Open(t)
	a := create(t, p, tracker.Draft{Title: "Mend the KETTLE", Description: "it leaks"})
	b := create(t, p, tracker.Draft{Title: "other", Description: "a kettle stands there"})
	create(t, p, tracker.Draft{Title: "third"})
	same(t, "text", ok(t, "search", p.Search(t.Context(), "kettle", tracker.Filter{}, "")), a, b)
	same(t, "id", ok(t, "search", p.Search(t.Context(), a, tracker.Filter{}, "")), a)
}

func query(t *testing.T, h Harness) {
	p := h.Open(t)
	one := 1
	a := create(t, p, tracker.Draft{Title: "a", Type: "bug", Priority: &one})
	b := create(t, p, tracker.Draft{Title: "b", Type: "task"})
	ctx := t.Context()
	same(t, "type", ok(t, "query", p.Query(ctx, "type:task", "")), b)
	same(t, "two terms", ok(t, "query", p.Query(ctx, "type:bug  priority:1", "")), a)
	same(t, "case", ok(t, "query", p.Query(ctx, "type:Bug", "")))
	r := p.Query(ctx, "bug colour:red type:bug", "")
	same(t, "terms that cannot be read", ok(t, "query", r), a)
	if !slices.Equal(r.Ignored, []string{"bug", "colour:red"}) {
		t.Errorf("ignored = %q", r.Ignored)
	}
}

func items(t *testing.T, h Harness) {
	p := h.Open(t)
	create(t, p, tracker.Draft{Title: "a"})
	for _, b := range ok(t, "list", p.List(t.Context(), tracker.Filter{}, "")) {
		if b.ID == "" || b.Title == "" || b.Type == "" || b.State == "" || b.Labels == nil || b.Created.IsZero() || b.Updated.IsZero() {
			t.Errorf("an item lacks a field: %+v", b)
		}
	}
}

func life(t *testing.T, h Harness) {
	p := h.Open(t)
	ctx := t.Context()
	id := create(t, p, tracker.Draft{Title: "a", Description: "text", Labels: []string{"one"}})
	got := ok(t, "get", p.Get(ctx, id, ""))
	if got.Title != "a" || got.Description != "text" || got.Priority != tracker.DefaultPriority || got.Type != tracker.DefaultType {
		t.Errorf("created %+v", got)
	}
	title := "b"
	ok(t, "update", p.Update(ctx, id, tracker.Change{Title: &title, Labels: []string{"two"}}, ""))
	got = ok(t, "get", p.Get(ctx, id, ""))
	if got.Title != "b" || got.Description != "text" || !slices.Equal(got.Labels, []string{"one", "two"}) {
		t.Errorf("updated %+v", got)
	}
	ok(t, "update", p.Update(ctx, id, tracker.Change{RemoveLabels: []string{"one"}}, ""))
	if got = ok(t, "get", p.Get(ctx, id, "")); !slices.Equal(got.Labels, []string{"two"}) {
		t.Errorf("labels %q", got.Labels)
	}
	ok(t, "close", p.Close(ctx, id, "done", ""))
	if got = ok(t, "get", p.Get(ctx, id, "")); !tracker.Terminal(got.State) {
		t.Errorf("closed %+v", got)
	}
	if p.Capabilities().Delete {
		ok(t, "delete", p.Delete(ctx, id, ""))
		failed(t, "get after delete", p.Get(ctx, id, ""), tracker.NotFound)
		failed(t, "delete again", p.Delete(ctx, id, ""), tracker.NotFound)
	}
}

func persists(t *testing.T, h Harness) {
	id := create(t, h.Open(t), tracker.Draft{Title: "a", Description: "text"})
	if got := ok(t, "get", h.Again(t).Get(t.Context(), id, "")); got.Description != "text" {
		t.Errorf("another instance reads %+v", got)
	}
}

func unknownField(t *testing.T, h Harness) {
	if h.Plant == nil {
		t.Skip("the store is a command: what it keeps is its own")
	}
	p := h.Open(t)
	h.Plant(t, "planted-1")
	title := "changed"
	ok(t, "update", p.Update(t.Context(), "planted-1", tracker.Change{Title: &title}, ""))
	if !h.Planted(t, "planted-1") {
		t.Error("the update lost a field that it does not know")
	}
}

func concurrent(t *testing.T, h Harness) {
	ports := []tracker.Port{h.Open(t), h.Again(t)}
	id := create(t, ports[0], tracker.Draft{Title: "shared"})
	const each = 6
	var wg sync.WaitGroup
	for n, p := range ports {
		wg.Go(func() {
			for i := range each {
				label := fmt.Sprintf("w%d-%d", n, i)
				for try := 0; ; try++ {
					r := p.Update(t.Context(), id, tracker.Change{Labels: []string{label}}, "")
					if r.OK {
						break
					}
					if !r.Error.Retryable || try > 50 {
						t.Errorf("update: %+v", r.Error)
						break
					}
				}
			}
		})
	}
	wg.Wait()
	if got := ok(t, "get", ports[0].Get(t.Context(), id, "")); len(got.Labels) != 2*each {
		t.Errorf("%d labels of %d are left: %q", len(got.Labels), 2*each, got.Labels)
	}
}

func ended(t *testing.T, h Harness) {
	p := h.Open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	failed(t, "create", p.Create(ctx, tracker.Draft{Title: "a"}, ""), tracker.Timeout)
	failed(t, "list", p.List(ctx, tracker.Filter{}, ""), tracker.Timeout)
	same(t, "after", ok(t, "list", p.List(t.Context(), tracker.Filter{}, "")))
}
