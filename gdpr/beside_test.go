package gdpr_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/model"
)

const besideLine = `{"id":"h-1","title":"ask ` + name + `","created_by":"` + ana + `","comments":[{"author":"bob","text":"\u00e9"},{"author":"` + name + `","text":"tea"}],"n":1}` + "\n" +
	`{"id":"h-9","title":"tea","created_by":"bob"}` + "\n"

func tracker(t *testing.T, line string) (*world, string) {
	t.Helper()
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"w/.beads/issues.jsonl": line})
	w.more = []backends.StoreConfig{{Name: "s", Kind: "beads", Path: filepath.Join(w.dir, "w")}}
	w.open()
	return w, filepath.Join(w.dir, "w/.beads/issues.jsonl")
}

// TestThePlanShowsWhatIsEditedBesideTheFields: the plan, its hash and the compared texts must show what
// the scrub will remove from a tracker's line; the item's own fields must not be listed twice.
func TestThePlanShowsWhatIsEditedBesideTheFields(t *testing.T) {
	t.Parallel()
	w, file := tracker(t, besideLine)
	id := w.file().ID
	p := w.plan(id)
	var step gdpr.Step
	for _, sp := range p.Stores {
		for _, st := range sp.Steps {
			if st.Store == "s" && st.ID == "h-1" {
				step = st
			}
		}
	}
	want := []gdpr.Beside{{Path: "created_by", Before: `"` + ana + `"`, After: `"[erased]"`}, {Path: "comments[1].author", Before: `"` + name + `"`, After: `"[erased]"`}}
	if diff := cmp.Diff(want, step.Beside); diff != "" {
		t.Fatalf("beside: %s", diff)
	}
	s, err := w.fleet.Store("s")
	if err != nil {
		t.Fatal(err)
	}
	it, err := s.Browser.Read(t.Context(), "h-1")
	if err != nil {
		t.Fatal(err)
	}
	before, after := step.Edited(it)
	if !strings.Contains(before, `comments[1].author: "`+name+`"`) || !strings.Contains(after, `comments[1].author: "[erased]"`) || strings.Contains(after, name) {
		t.Errorf("compared:\n%s\n%s", before, after)
	}
	plant(t, w.dir, map[string]string{"w/.beads/issues.jsonl": strings.Replace(besideLine, `"text":"tea"`, `"text":"tea of `+name+`"`, 1)})
	if again := w.plan(id); again.Hash == p.Hash {
		t.Error("another edit has the same hash")
	}
	w.complete(w.plan(id))
	if got := text(t, file); strings.Contains(got, name) || strings.Contains(got, ana) || !strings.Contains(got, `"author":"bob","text":"\u00e9"`) {
		t.Errorf("after: %s", got)
	}
}

// TestNothingIsEditedBesideThatNobodySaw: a comment about the subject that appears between plan and
// erasure must stay, the erasure must be partial, and the next plan must list it.
func TestNothingIsEditedBesideThatNobodySaw(t *testing.T) {
	t.Parallel()
	w, file := tracker(t, besideLine)
	id := w.file().ID
	p := w.plan(id)
	plant(t, w.dir, map[string]string{"w/.beads/issues.jsonl": strings.Replace(besideLine, `"n":1`, `"review":"by `+name+`","n":1`, 1)})
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial {
		t.Fatalf("%v, %v", out.Status, err)
	}
	said := false
	for _, l := range out.Layers {
		said = said || l.Layer == "issues.jsonl" && l.Verdict == model.VerdictResidue && strings.Contains(l.Reason, "make a new plan")
	}
	if got := text(t, file); !said || !strings.Contains(got, `"review":"by `+name+`"`) || strings.Contains(got, ana) {
		t.Errorf("said %v, the file: %s\n%+v", said, got, out.Layers)
	}
	w.complete(w.plan(id))
	if got := text(t, file); strings.Contains(got, name) {
		t.Errorf("after: %s", got)
	}
}
