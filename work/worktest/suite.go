// Package worktest is the conformance suite of the published port of work items: the runnable rules B
// of provider-contract.md, as named cases.
package worktest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"memdesk/model"
	"memdesk/work"
)

// Mark is the source of a rule: contract, upstream's code, or added.
type Mark string

// The marks of provider-contract.md.
const (
	Contract Mark = "c"
	Upstream Mark = "u"
	Added    Mark = "a"
)

// Harness connects a member's test with the suite.
type Harness struct {
	// Open opens a port over a fresh, empty, writable store.
	Open func(t *testing.T) work.Desk
	// Again opens the same store once more, as another instance.
	Again func(t *testing.T) work.Desk
	// Plant writes a work item with a field that no port knows, past the port, and Planted reports
	// whether the field still exists; nil where the store is a command.
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

func ok[T any](t *testing.T, what string, r work.Result[T]) T {
	t.Helper()
	if !r.OK || r.Error != nil {
		t.Fatalf("%s: %+v", what, r.Error)
	}
	return r.Data
}

func failed[T any](t *testing.T, what string, r work.Result[T], want model.Kind) {
	t.Helper()
	switch {
	case r.OK || r.Error == nil:
		t.Errorf("%s: it succeeded, want %s", what, want)
	case r.Error.Code != want.Code():
		t.Errorf("%s: %s, want %s: %s", what, r.Error.Code, want.Code(), r.Error.Message)
	case r.Error.Message == "" || r.Error.Retryable != want.Retryable():
		t.Errorf("%s: the error is %+v", what, r.Error)
	}
}

func create(t *testing.T, p work.Desk, d work.Draft) string {
	t.Helper()
	id := ok(t, "create "+d.Title, p.Create(t.Context(), d, ""))
	if id == "" {
		t.Fatalf("create %s gives no id", d.Title)
	}
	return id
}

func ids(beads []model.WorkItem) []string {
	out := []string{}
	for _, b := range beads {
		out = append(out, b.ID)
	}
	slices.Sort(out)
	return out
}

func same(t *testing.T, what string, got []model.WorkItem, want ...string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(ids(got), want) {
		t.Errorf("%s: %q, want %q", what, ids(got), want)
	}
}

func envelope(t *testing.T, h Harness) {
	p := h.Open(t)
	if got := ok(t, "list", p.List(t.Context(), model.WorkFilter{}, "")); got == nil {
		t.Error("an empty list is no array")
	}
	failed(t, "get", p.Get(t.Context(), "no-such-id", ""), model.NotFound)
	failed(t, "update", p.Update(t.Context(), "no-such-id", work.Change{}, ""), model.NotFound)
	failed(t, "close", p.Close(t.Context(), "no-such-id", "", ""), model.NotFound)
	failed(t, "create without a title", p.Create(t.Context(), work.Draft{}, ""), model.InvalidInput)
	failed(t, "another repository", p.List(t.Context(), model.WorkFilter{}, "/no/such/repository"), model.InvalidInput)
}

func declared(t *testing.T, h Harness) {
	p := h.Open(t)
	c := p.Store.Features
	id := create(t, p, work.Draft{Title: "a task"})
	if r := p.Delete(t.Context(), id, ""); c["canDelete"] != r.OK {
		t.Errorf("canDelete is %v, delete says %+v", c["canDelete"], r)
	} else if !c["canDelete"] {
		failed(t, "delete", r, model.Unsupported)
	}
}

func pairs(t *testing.T, h Harness) {
	p := h.Open(t)
	a, b := create(t, p, work.Draft{Title: "a"}), create(t, p, work.Draft{Title: "b"})
	ctx := t.Context()
	failed(t, "unknown blocker", p.AddDependency(ctx, "no-such-id", b, ""), model.NotFound)
	failed(t, "unknown blocked", p.AddDependency(ctx, a, "no-such-id", ""), model.NotFound)
	failed(t, "itself", p.AddDependency(ctx, a, a, ""), model.InvalidInput)
	ok(t, "add", p.AddDependency(ctx, a, b, ""))
	failed(t, "add again", p.AddDependency(ctx, a, b, ""), model.AlreadyExists)
	ok(t, "remove", p.RemoveDependency(ctx, a, b, ""))
	failed(t, "remove again", p.RemoveDependency(ctx, a, b, ""), model.NotFound)
}

func pairList(t *testing.T, h Harness) {
	p := h.Open(t)
	a, b := create(t, p, work.Draft{Title: "a"}), create(t, p, work.Draft{Title: "b"})
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
	failed(t, "unknown", p.ListDependencies(t.Context(), "no-such-id", "", ""), model.NotFound)
}

func ready(t *testing.T, h Harness) {
	p := h.Open(t)
	a, b := create(t, p, work.Draft{Title: "a"}), create(t, p, work.Draft{Title: "b"})
	ok(t, "add", p.AddDependency(t.Context(), a, b, ""))
	same(t, "ready", ok(t, "ready", p.ListReady(t.Context(), model.WorkFilter{}, "")), a)
	ok(t, "remove", p.RemoveDependency(t.Context(), a, b, ""))
	same(t, "ready", ok(t, "ready", p.ListReady(t.Context(), model.WorkFilter{}, "")), a, b)
	ok(t, "close", p.Close(t.Context(), a, "done", ""))
	same(t, "ready", ok(t, "ready", p.ListReady(t.Context(), model.WorkFilter{}, "")), b)
}

func filters(t *testing.T, h Harness) {
	p := h.Open(t)
	one := 1
	a := create(t, p, work.Draft{Title: "a", Type: "bug", Priority: &one})
	b := create(t, p, work.Draft{Title: "b", Type: "bug"})
	create(t, p, work.Draft{Title: "c", Priority: &one})
	ctx := t.Context()
	same(t, "type", ok(t, "list", p.List(ctx, model.WorkFilter{Type: "bug"}, "")), a, b)
	same(t, "type and priority", ok(t, "list", p.List(ctx, model.WorkFilter{Type: "bug", Priority: &one}, "")), a)
	same(t, "nothing", ok(t, "list", p.List(ctx, model.WorkFilter{Type: "Bug"}, "")))
}

func search(t *testing.T, h Harness) {
	p := h.Open(t)
	a := create(t, p, work.Draft{Title: "Mend the KETTLE", Description: "it leaks"})
	b := create(t, p, work.Draft{Title: "other", Description: "a kettle stands there"})
	create(t, p, work.Draft{Title: "third"})
	same(t, "text", ok(t, "search", p.Search(t.Context(), "kettle", model.WorkFilter{}, "")), a, b)
	same(t, "id", ok(t, "search", p.Search(t.Context(), a, model.WorkFilter{}, "")), a)
}

func query(t *testing.T, h Harness) {
	p := h.Open(t)
	one := 1
	a := create(t, p, work.Draft{Title: "a", Type: "bug", Priority: &one})
	b := create(t, p, work.Draft{Title: "b", Type: "task"})
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
	create(t, p, work.Draft{Title: "a"})
	for _, b := range ok(t, "list", p.List(t.Context(), model.WorkFilter{}, "")) {
		if b.ID == "" || b.Title == "" || b.Type == "" || b.State == "" || b.Labels == nil || b.Created.IsZero() || b.Updated.IsZero() {
			t.Errorf("an item lacks a field: %+v", b)
		}
	}
}

func life(t *testing.T, h Harness) {
	p := h.Open(t)
	ctx := t.Context()
	id := create(t, p, work.Draft{Title: "a", Description: "text", Labels: []string{"one"}})
	got := ok(t, "get", p.Get(ctx, id, ""))
	if got.Title != "a" || got.Description != "text" || got.Priority != 2 || got.Type != "task" {
		t.Errorf("created %+v", got)
	}
	title := "b"
	ok(t, "update", p.Update(ctx, id, work.Change{Title: &title, Labels: []string{"two"}}, ""))
	got = ok(t, "get", p.Get(ctx, id, ""))
	if got.Title != "b" || got.Description != "text" || !slices.Equal(got.Labels, []string{"one", "two"}) {
		t.Errorf("updated %+v", got)
	}
	ok(t, "update", p.Update(ctx, id, work.Change{RemoveLabels: []string{"one"}}, ""))
	if got = ok(t, "get", p.Get(ctx, id, "")); !slices.Equal(got.Labels, []string{"two"}) {
		t.Errorf("labels %q", got.Labels)
	}
	ok(t, "close", p.Close(ctx, id, "done", ""))
	if got = ok(t, "get", p.Get(ctx, id, "")); got.State != "closed" && got.State != "shipped" {
		t.Errorf("closed %+v", got)
	}
	if p.Store.Features["canDelete"] {
		ok(t, "delete", p.Delete(ctx, id, ""))
		failed(t, "get after delete", p.Get(ctx, id, ""), model.NotFound)
		failed(t, "delete again", p.Delete(ctx, id, ""), model.NotFound)
	}
}

func persists(t *testing.T, h Harness) {
	id := create(t, h.Open(t), work.Draft{Title: "a", Description: "text"})
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
	ok(t, "update", p.Update(t.Context(), "planted-1", work.Change{Title: &title}, ""))
	if !h.Planted(t, "planted-1") {
		t.Error("the update lost a field that it does not know")
	}
}

func concurrent(t *testing.T, h Harness) {
	ports := []work.Desk{h.Open(t), h.Again(t)}
	id := create(t, ports[0], work.Draft{Title: "shared"})
	const each = 6
	var wg sync.WaitGroup
	for n, p := range ports {
		wg.Go(func() {
			for i := range each {
				label := fmt.Sprintf("w%d-%d", n, i)
				for try := 0; ; try++ {
					r := p.Update(t.Context(), id, work.Change{Labels: []string{label}}, "")
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
	failed(t, "create", p.Create(ctx, work.Draft{Title: "a"}, ""), model.Timeout)
	failed(t, "list", p.List(ctx, model.WorkFilter{}, ""), model.Timeout)
	same(t, "after", ok(t, "list", p.List(t.Context(), model.WorkFilter{}, "")))
}
