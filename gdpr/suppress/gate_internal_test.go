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
