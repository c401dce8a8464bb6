package vault_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/model"
)

// TestSearchOnlyFindsTheSame: a store that opened without reading front matter must answer as one that
// was listed before, and as one whose files have changed since.
func TestSearchOnlyFindsTheSame(t *testing.T) {
	cfg := fresh(t)
	plant(t, cfg.Path, "memory/idea/tide.md", "---\ntype: idea\n---\nthe tide tables\n")
	plant(t, cfg.Path, "memory/fix/old.md", "---\ntype: fix\nstatus: superseded\n---\nan old tide\n")
	plant(t, cfg.Path, "memory/_archive/put-away.md", "a tide that was put away\n")
	plant(t, cfg.Path, "memory/poison.md", poison+"tide\n")
	plant(t, cfg.Path, "plan.txt", "Tide and wind\n")
	plant(t, cfg.Path, "picture.md", "tide \xff\xfe\n")
	plant(t, cfg.Path, "huge.md", "tide\n"+strings.Repeat("x", 5<<20))
	if err := os.Symlink("tide.md", filepath.Join(cfg.Path, "memory/idea/link.md")); err != nil {
		t.Fatal(err)
	}
	recall := func(s model.Store, tier string) model.RecallResult {
		t.Helper()
		res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "tide", Tier: tier})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	listed := open(t, cfg)
	want := recall(listed, "")
	if len(want.Hits) != 2 || len(want.Quarantined) != 1 || !want.Bounded {
		t.Fatalf("%+v", want)
	}
	cfg.SearchOnly = true
	if got := recall(open(t, cfg), ""); !reflect.DeepEqual(got, want) {
		t.Errorf("opened for a search: %+v, want %+v", got, want)
	}
	plant(t, cfg.Path, "memory/idea/new.md", "---\nkind: idea\n---\nno tables\n")
	if got := recall(listed, ""); !reflect.DeepEqual(got, want) {
		t.Errorf("walked and searched at once: %+v, want %+v", got, want)
	}
	plant(t, cfg.Path, "memory/idea/newer.md", "---\nkind: idea\n---\nno tables\n")
	if got := recall(listed, "idea"); len(got.Hits) != 1 || got.Hits[0].ID != "memory/idea/tide.md" {
		t.Errorf("in one tier: %+v", got)
	}
	page, err := listed.Browser.List(t.Context(), model.PageRequest{Tier: "idea"})
	if err != nil || page.Total.N != 4 { // the link is in the folder of its tier
		t.Errorf("%d items, %v, after a search that walked", page.Total.N, err)
	}
}

// TestRecallOfACommonWord: texts that are too old for the answer must be counted and scanned like the others.
func TestRecallOfACommonWord(t *testing.T) {
	cfg := fresh(t)
	const n = 300
	begun := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	ages := rand.New(rand.NewPCG(1, 2)).Perm(n)
	name := func(i int) string { return fmt.Sprintf("note-%03d.md", i) }
	hour := func(i int) int { return ages[i] / 2 } // two of each
	var want []int
	for i := range n {
		text := "a tide\n"
		if i%60 == 3 {
			text = poison + "tide\n"
		} else {
			want = append(want, i)
		}
		plant(t, cfg.Path, name(i), text)
		at := begun.Add(time.Duration(hour(i)) * time.Hour)
		if err := os.Chtimes(filepath.Join(cfg.Path, name(i)), at, at); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(want, func(a, b int) int { return cmp.Or(cmp.Compare(hour(b), hour(a)), cmp.Compare(a, b)) })
	for range 5 { // files are read side by side, in another order each time
		res, err := open(t, cfg).Provider.Recall(t.Context(), model.RecallRequest{Query: "TIDE"})
		if err != nil || res.Total != n-5 || len(res.Quarantined) != 5 || len(res.Hits) != model.RecallLimit {
			t.Fatalf("%d of %d hits, %d in quarantine, %v", len(res.Hits), res.Total, len(res.Quarantined), err)
		}
		for place, h := range res.Hits {
			if h.ID != name(want[place]) {
				t.Errorf("hit %d is %s, not %s", place, h.ID, name(want[place]))
			}
		}
	}
}
