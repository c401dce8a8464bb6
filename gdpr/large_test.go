package gdpr_test

import (
	"os"
	"path/filepath"
	"testing"

	"memdesk/backends"
	"memdesk/model"
)

// TestALargeCopy: a copy that is too large to be edited, and that names nobody, must not keep a request from its end.
func TestALargeCopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent(map[string]string{"AGENT.md": "tea for " + name + "\nand rye for Bob\n", "AGENT.md.tmp.0123456789ab": "x"})
	plant(t, w.dir, map[string]string{"s/memory/idea/m.md": "by " + name + "\n", "s/memory/idea/.stversions/film~20261101-101010.mp4": "x"})
	for _, file := range []string{filepath.Join(w.path("agent"), "AGENT.md.tmp.0123456789ab"), filepath.Join(w.dir, "s/memory/idea/.stversions/film~20261101-101010.mp4")} {
		if err := os.Truncate(file, 257<<20); err != nil {
			t.Fatal(err)
		}
	}
	w.more = []backends.StoreConfig{{Name: "s", Kind: "vault", Path: filepath.Join(w.dir, "s")}}
	w.open()
	for _, l := range w.complete(w.plan(w.file().ID)).Layers {
		if l.Verdict != model.VerdictClean && l.Verdict != model.VerdictOutOfScope {
			t.Errorf("%+v", l)
		}
	}
}
