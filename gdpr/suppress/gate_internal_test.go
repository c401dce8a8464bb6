package suppress

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memdesk/model"
)

// A text that cannot be judged in time, or whose writer has gone, must not pass, and must not be searched to
// its end.
func TestAJudgementEnds(t *testing.T) {
	dir := t.TempDir()
	key, err := LoadKey(filepath.Join(dir, "key"))
	if err != nil {
		t.Fatal(err)
	}
	l := Open(filepath.Join(dir, "suppressed.json"), filepath.Join(dir, "key"))
	if err := l.Add(key, key.Pseudonym("subj-ana"), "er-1", time.Unix(0, 0), "subj-ana"); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("AaaaBbbb\nAaaaBbbbC\n", 4<<10)
	gone, leave := context.WithCancel(t.Context())
	leave()
	try := func(ctx context.Context) (passed bool, err error) {
		c := &model.Call{Op: model.OpRetain, Store: &model.Store{Name: "s"}, Retain: &model.RetainRequest{ID: "n1", Mode: model.Replace, Content: text}}
		err = Gate(l)(ctx, c, func(context.Context) error { passed = true; return nil })
		return passed, err
	}
	if passed, err := try(gone); passed || model.KindOf(err) != model.Timeout {
		t.Errorf("of a writer who has gone: %v, passed %v", err, passed)
	}
	defer func(d time.Duration) { judgeTime = d }(judgeTime)
	judgeTime = 0
	if passed, err := try(t.Context()); passed || !model.IsRefusal(err) {
		t.Errorf("out of time: %v, passed %v", err, passed)
	}
}

// TestLongest: of identifiers inside one another the longest counts, for each person. A comparison of all places with
// all others would take minutes here.
func TestLongest(t *testing.T) {
	ana, bob := Person{Pseudonym: "a"}, Person{Pseudonym: "b"}
	var all []Match
	for at := range 300_000 {
		at *= 20
		all = append(all, Match{Person: ana, Start: at, End: at + 3}, Match{Person: ana, Start: at, End: at + 11}, Match{Person: bob, Start: at + 4, End: at + 11}, Match{Person: ana, Start: at + 4, End: at + 11})
	}
	got := longest(all)
	if len(got) != 600_000 || got[0].End != 11 || got[1].Person.Pseudonym != "b" || got[2].Start != 20 {
		t.Errorf("%d matches, first %+v", len(got), got[:3])
	}
}
