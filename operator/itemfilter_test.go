package operator

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/model"
	"memdesk/origin"
)

// all reads every page of a filtered list, n items at a time.
func (f ItemFilter) all(t *testing.T, s model.Store, n int) (ids []string) {
	t.Helper()
	req := model.PageRequest{Limit: n}
	for {
		page, err := f.List(t.Context(), s, req)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Items) > n {
			t.Fatalf("%d items on a page of %d", len(page.Items), n)
		}
		for _, h := range page.Items {
			ids = append(ids, h.ID)
		}
		if page.Next == "" {
			if req.Cursor == "" && (page.Total.Unknown || page.Total.N != int64(len(ids))) {
				t.Errorf("the list was read whole, its total is %+v of %d", page.Total, len(ids))
			}
			return ids
		}
		req.Cursor = page.Next
	}
}

func TestItemFilterPicks(t *testing.T) {
	fleet := demoFleet(t)
	for _, c := range []struct {
		store, name string
		filter      ItemFilter
		passes      func(model.Item) bool // the filter's meaning, expressed independently
	}{
		{"graph", "type", ItemFilter{Type: "Fact"}, func(it model.Item) bool { return field(it, "type") == "fact" || field(it, "subtype") == "fact" }},
		{"graph", "confidence", ItemFilter{Confidence: 0.9}, func(it model.Item) bool { c := field(it, "confidence"); return c == "1" || c >= "0.9" && c < "1" }},
		{"harbor", "agent", ItemFilter{Agent: "ada"}, func(it model.Item) bool { return strings.Contains(it.ID, "/agents/ada/") }},
		{"notes", "agent that memdesk noted", ItemFilter{Agent: "ADA", Writers: writersOf("memory/reference/")}, func(it model.Item) bool { return strings.HasPrefix(it.ID, "memory/reference/") }},
		{"shop", "subject", ItemFilter{Subject: "shop_inga"}, func(it model.Item) bool { return field(it, "user_id") == "shop_inga" }},
		{"notes", "type in front matter", ItemFilter{Type: "convention"}, func(it model.Item) bool { return strings.Contains(it.Body, "\nkind: convention\n") }},
		{"graph", "archived only", ItemFilter{Archived: ArchivedOnly}, func(it model.Item) bool { return it.Has(model.FlagArchived) }},
		{"harbor", "time", ItemFilter{Since: day(2026, 5, 1), Until: day(2026, 5, 11)}, func(it model.Item) bool {
			return !it.Modified.Before(day(2026, 5, 1)) && it.Modified.Before(day(2026, 5, 11))
		}},
	} {
		t.Run(c.store+" "+c.name, func(t *testing.T) {
			s, err := fleet.Store(c.store)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			every := 0
			for _, id := range (ItemFilter{Archived: ArchivedAlso}).all(t, s, model.MaxPage) {
				it, err := s.Browser.Read(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				hidden := it.Has(model.FlagArchived) || it.Has(model.FlagBookkeeping)
				every++
				if c.passes(it) && (!hidden || c.filter.Archived != "") {
					want = append(want, id)
				}
			}
			whole, paged := c.filter.all(t, s, model.MaxPage), c.filter.all(t, s, 2)
			if !slices.Equal(whole, paged) {
				t.Errorf("two at a time give another list:\n%q\n%q", paged, whole)
			}
			slices.Sort(whole)
			slices.Sort(want)
			if !slices.Equal(slices.Compact(whole), want) || len(want) == 0 || len(want) == every {
				t.Errorf("got %q\nwant %q (of %d)", whole, want, every)
			}
		})
	}
}

// writersOf names the agent ada as the writer of the items with a prefix.
type writersOf string

func (dir writersOf) WriterOfItem(_ model.Store, it model.Item) *origin.Written {
	if !strings.HasPrefix(it.ID, string(dir)) {
		return nil
	}
	return &origin.Written{Row: origin.Row{Writer: origin.Writer{Actor: "agent ada"}}, Kept: origin.InLedger}
}

func field(it model.Item, name string) string {
	for _, f := range it.Meta {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

func day(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }

// holey lists small pages, and says on each what it could not read.
type holey struct{ model.Browser }

func (h holey) List(ctx context.Context, req model.PageRequest) (model.Page, error) {
	req.Limit = min(req.Limit, 3)
	page, err := h.Browser.List(ctx, req)
	page.Problems = []string{"memory/locked: permission denied"}
	return page, err
}

// TestAFilteredPageSaysWhatItCouldNotRead: a full page too, and once.
func TestAFilteredPageSaysWhatItCouldNotRead(t *testing.T) {
	s, err := demoFleet(t).Store("notes")
	if err != nil {
		t.Fatal(err)
	}
	s.Browser = holey{s.Browser}
	for _, limit := range []int{1, 5} {
		page, err := ItemFilter{Since: day(2001, 1, 1)}.List(t.Context(), s, model.PageRequest{Limit: limit})
		if err != nil || len(page.Items) != limit || len(page.Problems) != 1 {
			t.Errorf("%d items: %d, problems %q, %v", limit, len(page.Items), page.Problems, err)
		}
	}
}

func TestItemFilterChecks(t *testing.T) {
	for _, f := range []ItemFilter{{Archived: "yes"}, {Confidence: 2}, {Confidence: math.NaN()}, {Since: day(2026, 5, 2), Until: day(2026, 5, 1)}} {
		if err := f.Check(); !errors.Is(err, model.InvalidInput) {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if err := (ItemFilter{Type: "x", Confidence: 1, Archived: ArchivedOnly}).Check(); err != nil {
		t.Error(err)
	}
}

func TestItemFilterOnAnAnswer(t *testing.T) {
	fleet := demoFleet(t)
	s, err := fleet.Store("graph")
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "deploy", Limit: 20})
	if err != nil || len(res.Hits) < 2 {
		t.Fatal(len(res.Hits), err)
	}
	got, err := ItemFilter{Type: "decision"}.Recall(t.Context(), s, model.RecallRequest{Query: "deploy"})
	if err != nil || len(got.Hits) >= len(res.Hits) || !got.Bounded || !strings.HasPrefix(got.BoundNote, "picked among the first") || got.Total != model.TotalUnknown {
		t.Errorf("%d of %d hits: %+v, %v", len(got.Hits), len(res.Hits), got, err)
	}
	for _, h := range got.Hits {
		if it, err := s.Browser.Read(t.Context(), h.ID); err != nil || field(it, "type") != "decision" {
			t.Errorf("%s passed: %v", h.ID, err)
		}
	}
	s.Browser = nil
	for _, f := range []ItemFilter{{Type: "decision"}, {Archived: ArchivedAlso}, {Agent: "ada"}} {
		if got, err := f.Recall(t.Context(), s, model.RecallRequest{Query: "deploy"}); !errors.Is(err, model.Unsupported) || len(got.Hits) > 0 {
			t.Errorf("%+v of a store that shows no items: %d hits, %v", f, len(got.Hits), err)
		}
	}
}

// Each store narrows a recall to an agent, a crew and a workspace, or refuses.
func TestScopeOfARecall(t *testing.T) {
	fleet := demoFleet(t)
	for _, c := range []struct{ store, query, agent string }{{"harbor", "deploy", "ada"}, {"notes", "ferry", "ada"}, {"desk", "Maren", "ada"}} {
		s, err := fleet.Store(c.store)
		if err != nil {
			t.Fatal(err)
		}
		req := model.RecallRequest{Query: c.query}
		every, err := s.Provider.Recall(t.Context(), req)
		if err != nil || len(every.Hits) == 0 {
			t.Fatal(c.store, every.Hits, err)
		}
		f := ItemFilter{Agent: c.agent}
		got, err := f.Recall(t.Context(), s, req)
		if err != nil {
			t.Errorf("%s: %v", c.store, err)
		}
		for _, h := range got.Hits {
			it, err := s.Browser.Read(t.Context(), h.ID)
			if err != nil || !f.Match(s, it, nil) && !strings.Contains(it.Scope, "/shared") {
				t.Errorf("%s: %s is no hit of %s: %v", c.store, h.ID, c.agent, err)
			}
		}
		if got, err := (ItemFilter{Agent: "nobody"}).Recall(t.Context(), s, req); err != nil || len(got.Hits) > 0 {
			t.Errorf("%s: an agent without memory: %d hits, %v", c.store, len(got.Hits), err)
		}
		knows := s.Features[model.FeatureCrews]
		for _, req := range []model.RecallRequest{{Query: c.query, CrewID: "crew_platform"}, {Query: c.query, WorkspaceID: "nowhere"}} {
			if _, err := (ItemFilter{}).Recall(t.Context(), s, req); !knows && !errors.Is(err, model.InvalidInput) {
				t.Errorf("%s with %+v: %v", c.store, req, err)
			}
		}
	}
}

// unreadable cannot read one item.
type unreadable struct {
	model.Browser
	id string
}

func (u unreadable) Read(ctx context.Context, id string) (model.Item, error) {
	if id == u.id {
		return model.Item{}, model.Errorf(model.PermissionDenied, "read", "nobody may read it")
	}
	return u.Browser.Read(ctx, id)
}

// An unreadable item does not pass, and the answer says so.
func TestUnreadableItemsOfARecall(t *testing.T) {
	s, err := demoFleet(t).Store("graph")
	if err != nil {
		t.Fatal(err)
	}
	page, err := ItemFilter{Archived: ArchivedOnly}.List(t.Context(), s, model.PageRequest{})
	if err != nil || len(page.Items) == 0 {
		t.Fatal(page.Items, err)
	}
	archived, err := s.Browser.Read(t.Context(), page.Items[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "deploy"})
	if err != nil || len(res.Hits) == 0 {
		t.Fatal(res.Hits, err)
	}
	for _, c := range []struct {
		filter    ItemFilter
		query, id string
	}{{ItemFilter{Archived: ArchivedOnly}, archived.Body, archived.ID}, {ItemFilter{Type: "decision"}, "deploy", res.Hits[0].ID}} {
		broken := s
		broken.Browser = unreadable{s.Browser, c.id}
		got, err := c.filter.Recall(t.Context(), broken, model.RecallRequest{Query: c.query})
		if err != nil || !got.Bounded || !strings.Contains(got.BoundNote, "not looked at: 1 item, such as "+c.id) {
			t.Errorf("%+v: %+v, %v", c.filter, got, err)
		}
	}
}

// No recall gives archived items: the filter that asks for them must find them all the same.
func TestArchivedItemsOfARecall(t *testing.T) {
	s, err := demoFleet(t).Store("graph")
	if err != nil {
		t.Fatal(err)
	}
	page, err := ItemFilter{Archived: ArchivedOnly}.List(t.Context(), s, model.PageRequest{})
	if err != nil || len(page.Items) == 0 {
		t.Fatal(page.Items, err)
	}
	it, err := s.Browser.Read(t.Context(), page.Items[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	req := model.RecallRequest{Query: it.Body}
	for _, f := range []ItemFilter{{Archived: ArchivedOnly}, {Archived: ArchivedAlso}} {
		got, err := f.Recall(t.Context(), s, req)
		found := slices.ContainsFunc(got.Hits, func(h model.RecallSnippet) bool { return h.ID == it.ID && h.Snippet == it.Body })
		if err != nil || !found || !got.Bounded || !strings.Contains(got.BoundNote, "archived") {
			t.Errorf("%s: found %v, %+v, %v", f.Archived, found, got, err)
		}
	}
}

func TestOwners(t *testing.T) {
	for scope, want := range map[string][3]string{
		"crews/eng/agents/bo": {"", "eng", "bo"}, "crews/eng/shared": {"", "eng", ""}, "solo/w1/bo": {"w1", "", "bo"}, "workspace/w1": {"w1", "", ""},
		"": {}, "bo": {}, "crews/eng": {}, "crews/eng/other": {}, "notes/w1": {},
	} {
		w, c, a := Owners(scope)
		if got := [3]string{w, c, a}; got != want {
			t.Errorf("%q: %q, want %q", scope, got, want)
		}
	}
}

// TestItemFilterReadsTheTop of front matter, and metadata, where Claude's memories have their type.
func TestItemFilterReadsTheTop(t *testing.T) {
	for text, want := range map[string]bool{
		"type: note\nauthor: ada\n": true, "metadata:\n  type: note\n": true, "metadata:\n  - x\n\ttype: 'note'\n": true, "title: x\r\ntype : note\r\n": true, "\"metadata\":\n  type: note\n": true,
		"metadata:\n  description: |\n    type: note\n": false, "metadata:\n  a: b\n  nested:\n    type: note\n": false,
		"description: |\n  type: note\n": false, "metadata:\n  a: b\nlinks:\n  type: note\n": false, " type: note\n": false, "type: other\n": false,
	} {
		if got := (ItemFilter{Type: "note"}).Match(model.Store{}, model.Item{Body: "---\n" + text + "---\nbody\n"}, nil); got != want {
			t.Errorf("%q passes: %v", text, got)
		}
	}
}
