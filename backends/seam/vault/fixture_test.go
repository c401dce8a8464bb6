package vault_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/seam/vault"
	"memdesk/model"
)

// fixture is the vault that AgentM itself wrote.
func fixture(t *testing.T) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "shared", "fixtures", "agentm")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the fixtures are not here")
	}
	return dir
}

func TestFixture(t *testing.T) {
	dir := fixture(t)
	var want struct {
		Summary struct {
			Status map[string]int `json:"status"`
			Kinds  map[string]int `json:"type_or_kind"`
		} `json:"summary"`
		Files map[string]struct {
			Copy  bool   `json:"is_conflict_copy"`
			Class string `json:"class"`
		} `json:"files"`
	}
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	cfg := vault.Config{Name: "v", Path: filepath.Join(dir, "vault"), MemoryRoot: "Agent", ReadOnly: true, DaemonURL: "-"}
	s := open(t, cfg)
	items := map[string]model.Header{}
	for req := (model.PageRequest{Hidden: true, Limit: 50}); ; {
		p, err := s.Browser.List(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range p.Items {
			items[h.ID] = h
		}
		if req.Cursor = p.Next; p.Next == "" {
			break
		}
	}
	copies := 0
	for name, f := range want.Files {
		id, inside := strings.CutPrefix(name, "vault/")
		if !inside {
			continue
		}
		_, listed := items[id]
		if f.Copy {
			copies++
			if !listed {
				t.Errorf("the conflict copy %q is not listed", id)
			}
		}
		if st, err := os.Stat(filepath.Join(dir, name)); err != nil || listed == machinery(id) || listed && items[id].Bytes != st.Size() {
			t.Errorf("%q: listed %v as %+v, %v", id, listed, items[id], err)
		}
	}
	if copies == 0 {
		t.Error("the fixture names no copies: the test looks at the wrong thing")
	}
	checkOrdinary(t, items, want.Summary.Status, want.Summary.Kinds, func(id string) bool {
		f, ok := want.Files["vault/"+id]
		return ok && f.Class != "none"
	})
}

// machinery reports whether an id of the fixture is no item.
func machinery(id string) bool {
	base := id[strings.LastIndexByte(id, '/')+1:]
	dot := strings.HasPrefix(id, ".") || strings.Contains(id, "/.")
	return dot && !strings.HasSuffix(id, ".md") || strings.HasSuffix(base, ".tmp") || strings.Contains(id, ".stversions/") || strings.HasSuffix(base, ".icloud")
}

// checkOrdinary compares statuses and kinds of the ordinary notes in the memory root with AgentM's own
// counts.
func checkOrdinary(t *testing.T, items map[string]model.Header, status, kinds map[string]int, special func(string) bool) {
	t.Helper()
	archived, pending := 0, 0
	tiers := map[string]int{}
	for id, h := range items {
		if h.Scope != "memory" || special(id) || !strings.HasSuffix(id, ".md") {
			continue
		}
		tiers[h.Tier]++
		if h.Has(model.FlagArchived) {
			archived++
		}
		if h.Has(model.FlagPending) {
			pending++
		}
	}
	if archived != status["deleted"]+status["expired"] || pending != status["unfiled"] {
		t.Errorf("%d archived and %d pending notes, want %d and %d", archived, pending, status["deleted"]+status["expired"], status["unfiled"])
	}
	named := map[string]int{}
	for k, n := range kinds {
		_, name, _ := strings.Cut(k, ":")
		named[name] += n
	}
	for tier, n := range tiers {
		if n < named[tier] || tier != "other" && n > named[tier]+named["None"]+named[""] {
			t.Errorf("tier %s holds %d notes, want %d and at most those that name no kind more", tier, n, named[tier])
		}
	}
}

// TestFixtureRecall must find a line by its exact text.
func TestFixtureRecall(t *testing.T) {
	s := open(t, vault.Config{Name: "v", Path: filepath.Join(fixture(t), "vault"), ReadOnly: true, DaemonURL: "-"})
	res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "lantern pins tool versions"})
	if err != nil || len(res.Hits) == 0 || res.Hits[0].Score != 1 {
		t.Errorf("recall: %+v, %v", res, err)
	}
}
