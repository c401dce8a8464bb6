package crewship_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/backends/seam/crewship"
	"memdesk/model"
)

func ids(p model.Page) []string {
	out := []string{}
	for _, h := range p.Items {
		out = append(out, h.ID)
	}
	return out
}

func list(t *testing.T, s model.Store, req model.PageRequest) model.Page {
	t.Helper()
	p, err := s.Browser.List(t.Context(), req)
	if err != nil {
		t.Fatalf("List(%+v): %v", req, err)
	}
	return p
}

func TestListOrdersAndPagesBothWays(t *testing.T) {
	content := map[string]string{}
	for i := range 23 {
		content[fmt.Sprintf("daily/d%02d.md", i)] = strings.Repeat("x", i%5+1)
	}
	s, dir := openMemory(t, content)
	for i := range 23 {
		at := now.Add(time.Duration(i%7) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, fmt.Sprintf("daily/d%02d.md", i)), at, at); err != nil {
			t.Fatal(err)
		}
	}
	before := map[model.Order]func(a, b model.Header) bool{
		model.OrderID:      func(a, b model.Header) bool { return a.ID < b.ID },
		model.OrderNewest:  func(a, b model.Header) bool { return !a.Modified.Before(b.Modified) },
		model.OrderOldest:  func(a, b model.Header) bool { return !a.Modified.After(b.Modified) },
		model.OrderLargest: func(a, b model.Header) bool { return a.Bytes >= b.Bytes },
	}
	for _, order := range s.Orders {
		t.Run(string(order), func(t *testing.T) {
			req := model.PageRequest{Order: order, Limit: 5}
			var forward []model.Header
			page := list(t, s, req)
			for {
				if page.Total.N != 23 || page.Total.AtLeast {
					t.Errorf("total %+v", page.Total)
				}
				forward = append(forward, page.Items...)
				if page.Next == "" {
					break
				}
				page = list(t, s, model.PageRequest{Order: order, Limit: 5, Cursor: page.Next})
			}
			for i := 1; i < len(forward); i++ {
				if !before[order](forward[i-1], forward[i]) {
					t.Errorf("%s stands before %s", forward[i-1].ID, forward[i].ID)
				}
			}
			var back []string
			page = list(t, s, model.PageRequest{Order: order, Limit: 5, End: true})
			for {
				back = append(ids(page), back...)
				if page.Prev == "" {
					break
				}
				page = list(t, s, model.PageRequest{Order: order, Limit: 5, Cursor: page.Prev})
			}
			if len(forward) != 23 || !slices.Equal(back, ids(model.Page{Items: forward})) {
				t.Errorf("forward %d items, back %d", len(forward), len(back))
			}
		})
	}
}

func TestListSeesChangesAndHoldsItsPlace(t *testing.T) {
	s, dir := openMemory(t, map[string]string{"daily/a.md": "1", "daily/b.md": "1", "daily/c.md": "1"})
	page := list(t, s, model.PageRequest{Limit: 2})
	files(t, dir, map[string]string{"daily/aa.md": "new"})
	if err := os.Remove(filepath.Join(dir, "daily/b.md")); err != nil {
		t.Fatal(err)
	}
	next := list(t, s, model.PageRequest{Limit: 2, Cursor: page.Next})
	if got := ids(next); !slices.Equal(got, []string{"daily/c.md"}) || next.Total.N != 3 {
		t.Errorf("after the change: %v of %+v", got, next.Total)
	}
	// A file rewritten in place, as an agent's own tool does, must show its size at once.
	files(t, dir, map[string]string{"daily/c.md": "longer"})
	if got := list(t, s, model.PageRequest{}).Items; got[len(got)-1].Bytes != 6 {
		t.Errorf("%+v", got)
	}
}

// TestAPageThatBecameEmptyLeadsBack empties both ends of a list while cursors point there.
func TestAPageThatBecameEmptyLeadsBack(t *testing.T) {
	for _, order := range []model.Order{model.OrderID, model.OrderOldest} {
		s, dir := openMemory(t, map[string]string{"daily/a.md": "1", "daily/b.md": "1", "daily/c.md": "1", "daily/d.md": "1"})
		for _, n := range []string{"a", "b", "c", "d"} {
			must(t, os.Chtimes(filepath.Join(dir, "daily/"+n+".md"), now, now))
		}
		first := list(t, s, model.PageRequest{Order: order, Limit: 2})
		last := list(t, s, model.PageRequest{Order: order, Limit: 2, End: true})
		must(t, os.Remove(filepath.Join(dir, "daily/c.md")))
		must(t, os.Remove(filepath.Join(dir, "daily/d.md")))
		empty := list(t, s, model.PageRequest{Order: order, Limit: 2, Cursor: first.Next})
		if len(empty.Items) != 0 || empty.Next != "" || empty.Prev == "" {
			t.Fatalf("%s: behind the end: %+v", order, empty)
		}
		if got := ids(list(t, s, model.PageRequest{Order: order, Limit: 2, Cursor: empty.Prev})); !slices.Equal(got, []string{"daily/a.md", "daily/b.md"}) {
			t.Errorf("%s: back from the end: %v", order, got)
		}
		files(t, dir, map[string]string{"daily/c.md": "1"})
		must(t, os.Chtimes(filepath.Join(dir, "daily/c.md"), now, now))
		must(t, os.Remove(filepath.Join(dir, "daily/a.md")))
		must(t, os.Remove(filepath.Join(dir, "daily/b.md")))
		empty = list(t, s, model.PageRequest{Order: order, Limit: 2, Cursor: last.Prev})
		if len(empty.Items) != 0 || empty.Prev != "" || empty.Next == "" {
			t.Fatalf("%s: before the start: %+v", order, empty)
		}
		if got := ids(list(t, s, model.PageRequest{Order: order, Limit: 2, Cursor: empty.Next})); !slices.Equal(got, []string{"daily/c.md"}) {
			t.Errorf("%s: on from the start: %v", order, got)
		}
	}
}

// TestASnapshotEndsWithItsDirectories lists directories that have long been unchanged, and then another
// writer makes a file.
func TestASnapshotEndsWithItsDirectories(t *testing.T) {
	s, dir := openMemory(t, map[string]string{"daily/a.md": "1"})
	for _, d := range []string{"daily", "."} {
		must(t, os.Chtimes(filepath.Join(dir, d), now, now))
	}
	list(t, s, model.PageRequest{})
	files(t, dir, map[string]string{"daily/b.md": "1"})
	if got := ids(list(t, s, model.PageRequest{})); !slices.Equal(got, []string{"daily/a.md", "daily/b.md"}) {
		t.Errorf("listed %v", got)
	}
}

func TestListFiltersAndTitles(t *testing.T) {
	s, _ := openMemory(t, map[string]string{
		"AGENT.md": "---\nx: y\n---\n\n## The Harbour\ntext", "pins.md": "\n\nno heading: HARBOUR\n", "daily/harbour.md": "plain", "users/u.md": "- name: x\n",
	})
	page := list(t, s, model.PageRequest{Query: "harBOUR"})
	if got := ids(page); !slices.Equal(got, []string{"AGENT.md", "daily/harbour.md", "pins.md"}) || page.Total.N != 3 {
		t.Errorf("%v of %+v", got, page.Total)
	}
	for _, h := range page.Items {
		want := map[string]string{"AGENT.md": "The Harbour", "pins.md": "no heading: HARBOUR", "daily/harbour.md": "plain"}[h.ID]
		if h.Title != want {
			t.Errorf("%s is titled %q", h.ID, h.Title)
		}
	}
	if got := ids(list(t, s, model.PageRequest{Tier: "daily"})); !slices.Equal(got, []string{"daily/harbour.md"}) {
		t.Errorf("tier daily: %v", got)
	}
	for name, req := range map[string]model.PageRequest{
		"tier": {Tier: "x"}, "scope": {Scope: "x"}, "order": {Order: "x"}, "cursor": {Cursor: "x"},
		"end and cursor": {End: true, Cursor: "x"}, "another list's cursor": {Order: model.OrderNewest, Cursor: list(t, s, model.PageRequest{Limit: 1}).Next},
	} {
		_, err := s.Browser.List(t.Context(), req)
		if refused(t, err, model.InvalidInput); err == nil {
			t.Errorf("a bad %s was accepted", name)
		}
	}
}

func TestEveryMarkdownIsListedUnderATier(t *testing.T) {
	want := map[string]string{
		"AGENT.md": "AGENT", "CREW.md": "CREW", "PERSONA.md": "PERSONA", "pins.md": "pins", "lessons.md": "lessons",
		"daily/2026-05-21.md": "daily", "peers/u.md": "peers", "users/u.md": "users", "topics/x.md": "topics", "topics/deep/y.md": "topics",
		"red/topics/learned-2026-05-21.md": "learned", "red/topics/pins.md": "crew-pins", "red/topics/other.md": "topics",
		"red/topics/.proposed/p.md": "proposals", "agent.md": "other", "daily/deep/x.md": "other", "daily/x.sync-conflict-20260521-101010-ABCDEFG.md": "daily",
		"AGENT.sync-conflict-20260521-101010-ABCDEFG.md": "other", "notes.txt": "other", ".x.md": "other", "x.tmp.md": "other", "x.md.tmp.zzzz": "other",
	}
	skipped := []string{
		"AGENT.md.lock", "AGENT.md.tmp.0123456789abcdef", "AGENT.md.tmp.0123456789ab", "index.sqlite", "index.sqlite-wal", "index.sqlite-shm",
		".snapshots/1/AGENT.md", ".quarantine/x.md", ".obsidian/x.md",
	}
	content := map[string]string{}
	for name := range want {
		content[name] = "x\n"
	}
	for _, name := range skipped {
		content[name] = "x\n"
	}
	s, _ := openMemory(t, content)
	got := everything(t, s)
	for name, tier := range want {
		if got[name].Tier != tier {
			t.Errorf("%s is of tier %q, want %q", name, got[name].Tier, tier)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d items, want %d", len(got), len(want))
	}
	shown := ids(list(t, s, model.PageRequest{Limit: 1000}))
	if len(shown) != len(want)-1 || slices.Contains(shown, "red/topics/.proposed/p.md") {
		t.Errorf("a plain list shows %v", shown)
	}
	counts, err := s.Browser.Tiers(t.Context())
	n := int64(0)
	for _, c := range counts {
		n += c.Items
	}
	if err != nil || n != int64(len(want)) {
		t.Errorf("the tiers count %d items, %v", n, err)
	}
}

func TestTiersAndTitlesOfADataDirectory(t *testing.T) {
	s, _ := openData(t, nil)
	counts, err := s.Browser.Tiers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	titles := map[string]string{}
	for _, c := range counts {
		titles[c.Scope] = c.ScopeTitle
		page := list(t, s, model.PageRequest{Scope: c.Scope, Tier: c.Tier})
		if page.Total.N != c.Items {
			t.Errorf("%s %s: counted %d, listed %d", c.Scope, c.Tier, c.Items, page.Total.N)
		}
	}
	for scope, want := range map[string]string{
		"crews/c_red/agents/ada": "First / Red / Ada", "crews/c_blue/agents/ada": "Second / Blue / Ada", "crews/c_red/shared": "First / Red (shared)",
		"solo/w1/milo": "First / Milo (no crew)", "workspace/w1": "First (workspace)",
	} {
		if titles[scope] != want {
			t.Errorf("%s is titled %q, want %q", scope, titles[scope], want)
		}
	}
}

func TestAConfigurationNarrows(t *testing.T) {
	dir := data(t, nil)
	for _, tt := range []struct {
		cfg  crewship.Config
		want []string
	}{
		{crewship.Config{Workspace: "second"}, []string{"crews/c_blue/agents/ada/AGENT.md", "workspace/w2/x.md"}},
		{crewship.Config{Crew: "c_red", Agent: "bo"}, []string{"crews/c_red/agents/bo/AGENT.md", "crews/c_red/shared/CREW.md", "crews/c_red/shared/red/topics/learned-2026-05-01.md"}},
	} {
		tt.cfg.Name, tt.cfg.Path = "d", dir
		s := open(t, tt.cfg)
		if got := ids(list(t, s, model.PageRequest{})); !slices.Equal(got, tt.want) {
			t.Errorf("%+v lists %v", tt.cfg, got)
		}
		_, err := s.Browser.Read(t.Context(), "solo/w1/milo/AGENT.md")
		refused(t, err, model.NotFound)
		_, err = s.Provider.Recall(t.Context(), model.RecallRequest{Query: "x", AgentID: "milo"})
		refused(t, err, model.InvalidInput)
	}
	_, err := crewship.Open(t.Context(), crewship.Config{Name: "d", Path: dir, Agent: "eve"})
	refused(t, err, model.NotFound, "eve")
}

// TestANarrowedStoreWithoutItsDatabase: crews of an unknown workspace are not shown, and the store says so.
func TestANarrowedStoreWithoutItsDatabase(t *testing.T) {
	dir := data(t, nil)
	if err := os.WriteFile(filepath.Join(dir, "crewship.db"), []byte("noise"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, crewship.Config{Name: "d", Path: dir, Workspace: "w1"})
	problems, err := s.Texts.EachText(t.Context(), func(model.Text, error) bool { return true })
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0], "memory directories: whose they are") {
		t.Errorf("%q, %v", problems, err)
	}
}

func TestCapFlags(t *testing.T) {
	s, _ := openMemory(t, map[string]string{"AGENT.md": strings.Repeat("x", 3200), "CREW.md": strings.Repeat("x", 4001), "pins.md": "x"})
	all := everything(t, s)
	if !all["AGENT.md"].Has(model.FlagNearCap) || !all["CREW.md"].Has(model.FlagOverCap) || len(all["pins.md"].Flags) != 0 {
		t.Errorf("%v %v %v", all["AGENT.md"].Flags, all["CREW.md"].Flags, all["pins.md"].Flags)
	}
}

// TestADecidedProposalWaitsNoMore: only an undecided proposal may be marked as pending.
func TestADecidedProposalWaitsNoMore(t *testing.T) {
	dir := data(t, map[string]string{
		redAll + "red/topics/.proposed/proposal-open.md":    "a rule\n",
		redAll + "red/topics/.proposed/proposal-decided.md": "another\n",
	})
	database(t, filepath.Join(dir, "crewship.db"), `
		CREATE TABLE memory_proposals (id TEXT, status TEXT);
		INSERT INTO memory_proposals VALUES ('mp_open','pending'), ('mp_decided','approved');`)
	s := open(t, crewship.Config{Name: "s", Path: dir})
	pending := map[string]bool{}
	for _, h := range list(t, s, model.PageRequest{Tier: "proposals", Limit: 10, Hidden: true}).Items {
		pending[filepath.Base(h.ID)] = h.Has(model.FlagPending)
	}
	if len(pending) != 2 || !pending["proposal-open.md"] || pending["proposal-decided.md"] {
		t.Errorf("pending: %v; want the open one alone", pending)
	}
}
