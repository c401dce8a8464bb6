package gdpr_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/gdpr/suppress"
	"memdesk/model"
)

// byHash are the rows of searches by hash, by store.
func byHash(layers []receipt.Layer) map[string]receipt.Layer {
	out := map[string]receipt.Layer{}
	for _, l := range layers {
		if strings.HasPrefix(l.Layer, "items and texts") {
			out[l.Store] = l
		}
	}
	return out
}

// TestVerifyKnowsTheNamesThatNobodyTyped: after the end the aliases are unknown and only the subject's
// id can be typed; every item and text must still be searched for all of them, and the answer must say
// which layers were searched for the id alone.
func TestVerifyKnowsTheNamesThatNobodyTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	r := w.file()
	if _, err := w.desk.Verify(t.Context(), r.ID, "", w.fleet, name); !errors.Is(err, model.InvalidInput) {
		t.Errorf("aliases of a request that has them: %v; want InvalidInput", err)
	}
	w.complete(w.plan(r.ID))
	look := func(aliases ...string) map[string]receipt.Layer {
		t.Helper()
		layers, err := w.desk.Verify(t.Context(), r.ID, ana, w.fleet, aliases...)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range layers {
			if l.Verdict != model.VerdictClean && l.Verdict != model.VerdictOutOfScope && !strings.HasPrefix(l.Layer, "items and texts") {
				t.Errorf("%+v", l)
			}
		}
		return byHash(layers)
	}
	rows := look()
	if len(rows) != 2 {
		t.Fatalf("looked through by hash: %+v; want both stores", rows)
	}
	for store, l := range rows {
		if l.Verdict != model.VerdictClean || !strings.Contains(l.Method, "all 3 identifiers") || !strings.Contains(l.Reason, "1 of 3 identifiers") {
			t.Errorf("%s: %+v", store, l)
		}
	}
	for store, l := range look(strings.ToUpper(name), mail) {
		if l.Verdict != model.VerdictClean || l.Reason != "" {
			t.Errorf("%s with every name typed: %+v", store, l)
		}
	}
	for _, wrong := range []string{other, "Ana", "", name + "x"} {
		if _, err := w.desk.Verify(t.Context(), r.ID, ana, w.fleet, wrong); !errors.Is(err, model.InvalidInput) || strings.Contains(err.Error(), "Ana") {
			t.Errorf("alias %q: %v; want InvalidInput", wrong, err)
		}
	}
	plant(t, w.path("agent"), map[string]string{"daily/2026-02-28.md": "- " + mail + " again\n- quiet\n"})
	w.open()
	if rows := look(); rows["agent"].Verdict != model.VerdictResidue || rows["db"].Verdict != model.VerdictClean {
		t.Errorf("an alias came back that nobody typed: %+v", rows)
	}
}

// TestALostKeyLetsNobodyBack: without the key that the list of erased persons was written with nobody is
// recognised. The gate must refuse everything then, and no act may make another key in its place.
func TestALostKeyLetsNobodyBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	w.complete(w.plan(w.file().ID))
	key := filepath.Join(w.desk.State, "gdpr", "keys", "pseudonym")
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if _, err := w.desk.File(t.Context(), gdpr.Intake{Subject: other, Received: "2026-02-20", Ground: "asked"}); err == nil {
		t.Error("a request was filed under a new key")
	}
	if _, err := os.Stat(key); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a key: %v", err)
	}
	if _, err := suppress.LoadKey(key); err != nil { // as an older program, or a hand, would
		t.Fatal(err)
	}
	if _, err := w.store("db").Provider.Retain(t.Context(), model.RetainRequest{Tier: "session", Key: "back", Mode: model.Replace, Content: name}); !model.IsRefusal(err) {
		t.Errorf("retain with another key: %v; want a refusal", err)
	}
	if _, _, err := w.desk.Sweep(t.Context(), w.fleet, "", nil); err == nil {
		t.Error("a sweep with another key found nobody, and said nothing")
	}
}

// TestADamagedListLetsNobodyBack: a hash that cannot be read names nobody, so the list must not pass as whole.
func TestADamagedListLetsNobodyBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	w.complete(w.plan(w.file().ID))
	file := filepath.Join(w.desk.State, "gdpr", "suppressed.json")
	b, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, bytes.ReplaceAll(b, []byte(`"hash": "`), []byte(`"hash": "x`)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.store("db").Provider.Retain(t.Context(), model.RetainRequest{Tier: "session", Key: "back", Mode: model.Replace, Content: name}); !model.IsRefusal(err) {
		t.Errorf("retain: %v; want a refusal", err)
	}
}
