package conflict_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/conflict"
	"memdesk/conflict/names"
)

// TestCopiesOfFolders must find the items of a folder that Resilio Sync copied, and none in folders
// that only have such a name.
func TestCopiesOfFolders(t *testing.T) {
	d := newDesk(t, map[string]string{
		"trip/a.md": "one\n", "trip/deep/b.md": "same\n", "trip.Conflict/a.md": "two\n", "trip.Conflict/deep/b.md": "same\n", "trip.Conflict/new.md": "only here\n",
		"trip.Conflict2/a.md": "three\n", "War.conflict/a.md": "topic\n", "conflict/a.md": "topic\n", "Conflict.Studies/a.md": "topic\n", "x.Conflict of laws/a.md": "topic\n",
	})
	type find struct {
		Base, Target string
		Tier         names.Confidence
		Redundant    bool
	}
	got := map[string]find{}
	for c, err := range conflict.List(t.Context(), d.store, conflict.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		got[c.ID] = find{c.BaseID, c.Target, c.Confidence, c.Redundant}
		if !c.RenameOnly() || len(c.Cautions) == 0 || len(c.Chain) != 1 {
			t.Errorf("%s: the vendor's caution is missing: %+v", c.ID, c)
		}
	}
	want := map[string]find{
		"trip.Conflict/a.md": {"trip/a.md", "trip/a.md", names.Certain, false}, "trip.Conflict/deep/b.md": {"trip/deep/b.md", "trip/deep/b.md", names.Certain, true},
		"trip.Conflict/new.md": {"", "trip/new.md", names.Certain, false}, "trip.Conflict2/a.md": {"trip/a.md", "trip/a.md", names.Certain, false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	res, err := conflict.Resolve(t.Context(), d.keeper, d.store, d.find("trip.Conflict/a.md"), conflict.Choice{Take: conflict.TakeBase})
	if err != nil || res.Kept != "trip/a-version-2.md" {
		t.Errorf("kept as %q: %v", res.Kept, err)
	}
	if _, err := conflict.Resolve(t.Context(), d.keeper, d.store, d.find("trip.Conflict/new.md"), conflict.Choice{Take: conflict.TakeCopy}); err != nil {
		t.Error(err)
	}
}

// TestNamesakesOfADumpAreBounded: a folder of READMEs and a lost_and_found of them must not be compared each with each.
func TestNamesakesOfADumpAreBounded(t *testing.T) {
	files := map[string]string{"lost_and_found/README.md": "1\n2\n3\n"}
	for n := range 60 {
		files[fmt.Sprintf("p%02d/README.md", n)] = fmt.Sprintf("of its own %d\n", n)
	}
	for like, want := range map[string]string{"p10/README.md": "p10/README.md", "p59/README.md": ""} {
		all := maps.Clone(files)
		all[like] = "1\n2\n3\n4\n"
		if c := newDesk(t, all).find("lost_and_found/README.md"); c.BaseID != want || (want == "") != strings.Contains(c.Reason, "10 were not compared") {
			t.Errorf("%s: the base is %q: %s", like, c.BaseID, c.Reason)
		}
	}
}
