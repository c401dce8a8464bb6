package beads

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends/tracker"
)

// expectation is the content of the fixtures' expected.json.
type expectation struct {
	Repo struct {
		Lines             int
		ByStatus          map[string]int `json:"by_status"`
		ByType            map[string]int `json:"by_type"`
		ByPriority        map[string]int `json:"by_priority"`
		DependencyRecords int            `json:"dependency_records"`
		DependencyTypes   map[string]int `json:"dependency_types"`
		DepsLines         int            `json:"deps_jsonl_lines"`
		Bytes             int
	}
	Hostile struct {
		Lines []struct {
			Line      int
			Kind, Why string
			OK        *bool
		}
		Deps struct {
			Valid, Malformed, Incomplete int
			UnknownIssue                 int `json:"unknown_issue"`
			Cycle                        []string
		}
	}
}

// fixture reads a store that a real system wrote.
func fixture(t *testing.T, name string) (*snapshot, expectation) {
	t.Helper()
	root := filepath.Join("..", "..", "..", "..", "shared", "fixtures", "beads")
	var want expectation
	raw, err := os.ReadFile(filepath.Join(root, "expected.json"))
	if err != nil {
		t.Skip("the stores that real systems wrote are not beside this repository")
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	dir, err := Find(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	snap, err := NewStore(dir, Config{}).view(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return snap, want
}

// TestFixtureLines checks the hostile file line by line.
func TestFixtureLines(t *testing.T) {
	snap, want := fixture(t, "hostile")
	got := map[int]string{}
	for i := range snap.entries {
		got[snap.entries[i].number] = kindOf(snap, i)
	}
	for _, m := range snap.marks {
		got[m.number] = "conflict-marker"
	}
	for _, l := range want.Hostile.Lines {
		kind := l.Kind
		switch {
		case kind == "blank":
			kind = ""
		case kind == "issue-inside-conflict":
			kind = "issue"
		case l.Why == "wrong JSON types": // it has an id, so it is an item whose status is no word
			kind = "issue, " + tracker.TierCustom
		case kind == "issue" && l.OK != nil && !*l.OK:
			kind = "malformed"
		}
		if got[l.Line] != kind {
			t.Errorf("line %d is %q, want %q (%s)", l.Line, got[l.Line], kind, l.Why)
		}
		delete(got, l.Line)
	}
	if len(got) > 0 {
		t.Errorf("lines that are not there: %v", got)
	}
	deps, unknown := want.Hostile.Deps, 0
	blocks := map[[2]string]bool{}
	for _, p := range snap.pairs {
		blocks[[2]string{p.blocker, p.blocked}] = true
		if snap.Find(p.blocker) < 0 || snap.Find(p.blocked) < 0 {
			unknown++
		}
	}
	if len(snap.pairs) != deps.Valid || len(snap.badPairs) != deps.Malformed+deps.Incomplete || unknown != deps.UnknownIssue {
		t.Errorf("%d pairs, %d lines that are none, %d of an unknown item, want %+v", len(snap.pairs), len(snap.badPairs), unknown, deps)
	}
	for i, id := range deps.Cycle {
		if !blocks[[2]string{id, deps.Cycle[(i+1)%len(deps.Cycle)]}] {
			t.Errorf("the pair of the cycle that begins with %s is not read: %v", id, blocks)
		}
	}
}

// kindOf is the kind of a line in the fixture's terms.
func kindOf(s *snapshot, i int) string {
	e := &s.entries[i]
	switch {
	case e.kind == tracker.Line && e.problem == "":
		return "header"
	case e.kind == tracker.Line:
		return "malformed"
	case e.kind == tracker.Memory:
		return "memory"
	case e.tier == tracker.TierTombstone, e.tier == tracker.TierCustom:
		if e.tier == tracker.TierCustom {
			return "issue, " + e.tier
		}
		return e.tier
	}
	return "issue"
}

// TestFixtureRepo counts a repository's own work items.
func TestFixtureRepo(t *testing.T) {
	snap, want := fixture(t, "repo")
	types, priorities, statuses, dependencies := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	records := 0
	for i := range snap.Len() {
		b, ok := snap.Bead(i)
		if !ok || snap.entries[i].raw != snap.ID(i) {
			t.Errorf("%s is no work item, or its id stands twice", snap.ID(i))
		}
		types[b.Type]++
		priorities[strconv.Itoa(b.Priority)]++
		statuses[snap.Tier(i)]++
		for _, d := range snap.embedded(i) {
			records++
			dependencies[d.Kind]++
		}
	}
	r := want.Repo
	for _, c := range []struct {
		what      string
		got, want map[string]int
	}{{"types", types, r.ByType}, {"priorities", priorities, r.ByPriority}, {"statuses", statuses, r.ByStatus}, {"dependency types", dependencies, r.DependencyTypes}} {
		if !maps.Equal(c.got, c.want) {
			t.Errorf("%s: %s", c.what, cmp.Diff(c.want, c.got))
		}
	}
	if snap.Len() != r.Lines || len(snap.issues) != r.Bytes || records != r.DependencyRecords || len(snap.pairs) != r.DepsLines || len(snap.Problems(true)) != 0 {
		t.Errorf("%d entries, %d bytes, %d dependencies, %d pairs, problems %q, want %+v", snap.Len(), len(snap.issues), records, len(snap.pairs), snap.Problems(true), r)
	}
}

// TestManyDuplicates: the numbers of duplicates cost one step each, however many lines have the same id.
func TestManyDuplicates(t *testing.T) {
	const lines = 2000
	data := []byte(strings.Repeat("x\n", lines) + `{"id":"a"}` + "\n" + `{"id":"a#2"}` + "\n" + `{"id":"a"}` + "\n" + `{"id":"a"}` + "\n")
	var s *snapshot
	if allocs := testing.AllocsPerRun(1, func() { s = parse(data, nil) }); allocs > 50*lines {
		t.Errorf("%v allocations for %d lines", allocs, lines)
	}
	for i, want := range []string{"a", "a#2", "a#3", "a#4"} {
		if got := s.ID(lines + i); got != want {
			t.Errorf("the handle is %s, want %s", got, want)
		}
	}
}

// TestIDsOfAnotherKind: an issue whose id has the form of a memory's or a line's handle is a line, kept as it is: as
// an issue it would be edited and restored as something else.
func TestIDsOfAnotherKind(t *testing.T) {
	for _, id := range []string{"memory/x", "line/abc"} {
		s := parse([]byte(`{"id":"`+id+`","title":"tea"}`+"\n"), nil)
		if h := s.Head(0); h.Kind != tracker.Line || h.ID == id || h.Problem == "" {
			t.Errorf("%s: %+v", id, h)
		}
	}
}
