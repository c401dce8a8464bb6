package gdpr_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/model"
)

// leaksBut are the leaks outside the files of these requests.
func (w *world) leaksBut(ids ...string) []string {
	w.t.Helper()
	var out []string
next:
	for _, l := range w.leaks(true, false) {
		for _, id := range ids {
			if strings.HasPrefix(l, "gdpr/requests/"+id) {
				continue next
			}
		}
		out = append(out, l)
	}
	return out
}

// TestOtherRequestsLoseHerToo: an erasure must also remove the subject's traces from other requests:
// edited texts in a plan, grounds, a report; their approvals become void with the plan, and their
// status says why. A request without such traces must not change.
func TestOtherRequestsLoseHerToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.desk.Policy.RequireApproval = true
	w.fill()
	w.put("db", model.RetainRequest{Tier: "longterm", Key: "o1", Content: "Summary:\n- subj-eve-1 likes rain\n- nothing else\n- the printer is broken\n"})
	sum := sha256.Sum256([]byte(ana))
	w.put("db", model.RetainRequest{Tier: "longterm", Key: "sum", Content: "Summary:\n- " + other + "\n- " + name + " is " + hex.EncodeToString(sum[:]) + "\n- the printer is broken\n"})
	file := func(subject, ground string) gdpr.Due {
		r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: subject, Received: "2026-02-20", Ground: ground})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	bobs, eves, second := file(other, "a letter that "+name+" wrote"), file("subj-eve-1", "a letter"), file(ana, "she asked twice")
	signer, _ := newSigner(t)
	for _, id := range []string{bobs.ID, eves.ID, second.ID} {
		if _, err := w.desk.Approve(t.Context(), id, w.plan(id).Hash, signer); err != nil {
			t.Fatal(err)
		}
	}
	p := w.plan(bobs.ID)
	if !strings.Contains(actions(p)["db:n4"].NewBody, name) {
		t.Fatal("bob's plan does not hold her name: this shows nothing")
	}
	hers := w.file()
	mine := w.plan(hers.ID)
	if _, err := w.desk.Approve(t.Context(), hers.ID, mine.Hash, signer); err != nil {
		t.Fatal(err)
	}
	w.complete(mine)
	if left := w.leaksBut(); len(left) > 0 {
		t.Errorf("she is found in %q", left)
	}
	if r, err := w.desk.Get(second.ID); err != nil || r.State != gdpr.StateWithdrawn || r.Reason != "completed by "+hers.ID {
		t.Errorf("her second request: %s %q, %v; want it closed", r.State, r.Reason, err)
	}
	for id, void := range map[string]bool{bobs.ID: true, eves.ID: false} {
		r, err := w.desk.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		if void != (r.State == gdpr.StateOpen && len(r.Approvals) == 0 && strings.Contains(r.Reason, hers.ID)) || !void && (r.State != gdpr.StateApproved || r.Reason != "") {
			t.Errorf("%s: %s, %d approvals, %q; want it void: %v", r.Subject, r.State, len(r.Approvals), r.Reason, void)
		}
	}
	if _, err := w.erase(p); err == nil {
		t.Error("a plan that is void was carried out")
	}
	p = w.plan(bobs.ID)
	if _, err := w.desk.Approve(t.Context(), bobs.ID, p.Hash, signer); err != nil {
		t.Fatal(err)
	}
	if r, _ := w.desk.Get(bobs.ID); r.Reason != "" {
		t.Errorf("planned again it still says %q", r.Reason)
	}
	w.complete(p)
}

// TestAnotherRequestsHoldKeepsHerIDAsAHash: another request holds an item whose id names the subject;
// the item must stay held, and its id must go from the state.
func TestAnotherRequestsHoldKeepsHerIDAsAHash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	id := w.put("db", model.RetainRequest{Tier: "longterm", Key: "for-" + ana, Content: "about " + other})
	bobs := w.fileFor(other)
	w.hold(bobs.ID, "db", id)
	w.plan(bobs.ID)
	hers := w.file()
	w.inScope(w.plan(hers.ID))
	if left := w.leaksBut(); len(left) > 0 {
		t.Errorf("she is found in %q", left)
	}
	if _, err := w.store("db").Provider.Forget(t.Context(), model.ForgetRequest{ID: id}); !model.IsRefusal(err) {
		t.Errorf("what is held is forgotten: %v; want a refusal", err)
	}
	if st := actions(w.plan(bobs.ID))["db:"+id]; st.Action != gdpr.Held || st.Ground != "a claim" {
		t.Errorf("bob's plan: %+v", st)
	}
	if _, err := w.desk.Unhold(t.Context(), bobs.ID, gdpr.Hold{Store: "db", ID: id}); err != nil {
		t.Errorf("Unhold: %v", err)
	}
}

// TestAnotherRequestIsBeingCarriedOut: the plan of a running request cannot be deleted, so this erasure
// must be incomplete, say so, and complete when the other run has ended.
func TestAnotherRequestIsBeingCarriedOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	bobs := w.fileFor(other)
	p, hers := w.plan(bobs.ID), w.file()
	mine, tried := w.plan(hers.ID), false
	_, err := w.desk.Erase(t.Context(), order(p), w.fleet, func(context.Context, gdpr.Progress) error {
		if tried {
			return nil
		}
		tried = true
		out, err := w.erase(mine)
		if err != nil || out.Status != gdpr.StatePartial || !strings.Contains(fmt.Sprint(out.Problems), bobs.ID) {
			t.Errorf("beside it: %s, %q, %v; want partial, naming %s", out.Status, out.Problems, err, bobs.ID)
		}
		return nil
	})
	if err != nil || !tried {
		t.Fatalf("tried %v, %v", tried, err)
	}
	w.complete(w.plan(hers.ID))
	if left := w.leaksBut(bobs.ID); len(left) > 0 {
		t.Errorf("she is found in %q", left)
	}
}

// TestAVoidPlanKeepsWhatIsLeft: an erasure voids another request's plan that names its person. What that plan had
// found in a store that is away, and what was done by it, must count in the next one.
func TestAVoidPlanKeepsWhatIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plant(t, w.dir, map[string]string{
		"a/both.md": "# Both\n\n" + other + " and " + name + " had tea.\n", "a/his.md": "# His\n\n" + other + " likes rain.\n",
		"b/his.md": "# His\n\n" + other + " has a boat.\n",
	})
	w.more = []backends.StoreConfig{w.vault("a"), w.vault("b")}
	w.open()
	bobs := w.fileFor(other)
	w.plan(bobs.ID)
	w.more = w.more[:1]
	w.open()
	away := func(p gdpr.Plan) int64 {
		for _, sp := range p.Stores {
			if sp.Store == "b" {
				return sp.Away
			}
		}
		return 0
	}
	p := w.plan(bobs.ID)
	before, err := w.erase(p)
	if n := away(p); err != nil || n != 1 || before.Status != gdpr.StateInScope || before.Forgotten+before.Redacted != 2 {
		t.Fatalf("%d items are away; %+v, %v", n, before, err)
	}
	w.complete(w.plan(w.file().ID))
	if left := w.leaksBut(); len(left) > 0 {
		t.Errorf("she is found in %q", left)
	}
	p = w.plan(bobs.ID)
	if n := away(p); n != 1 {
		t.Errorf("planned again, %d items are away", n)
	}
	if out, err := w.erase(p); err != nil || out.Status != gdpr.StateInScope || out.Forgotten != before.Forgotten || out.Redacted != before.Redacted {
		t.Errorf("%s, %d forgotten, %d redacted, %v; want %d and %d", out.Status, out.Forgotten, out.Redacted, err, before.Forgotten, before.Redacted)
	}
}

// TestAVoidPlanKeepsWhatNobodyDid: an erasure planned to forget an item that both requests name, and found it away with
// its directory: the other request must not be complete without it.
func TestAVoidPlanKeepsWhatNobodyDid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	files := map[string]string{"a/away/" + ana + ".md": "# Tea\n\n" + other + " and " + name + " had tea.\n", "a/away/rain.md": "# Rain\n\nquiet\n"}
	for i := range 10 {
		files[fmt.Sprintf("a/n%d.md", i)] = "# Note\n\nquiet\n"
	}
	plant(t, w.dir, files)
	w.more = []backends.StoreConfig{w.vault("a")}
	w.open()
	bobs := w.fileFor(other)
	hers := w.file()
	for _, id := range []string{bobs.ID, hers.ID} {
		if _, err := w.desk.Choose(t.Context(), id, gdpr.Choice{Store: "a", ID: "away/" + ana + ".md", Action: gdpr.Forget}); err != nil {
			t.Fatal(err)
		}
	}
	w.plan(bobs.ID)
	p := w.plan(hers.ID)
	if err := os.Rename(filepath.Join(w.dir, "a/away"), filepath.Join(w.dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if out, err := w.erase(p); err != nil || out.Status == gdpr.StateComplete {
		t.Fatalf("hers: %+v, %v", out.Status, err)
	}
	if out, err := w.erase(w.plan(bobs.ID)); err != nil || out.Status == gdpr.StateComplete {
		t.Errorf("his: %s, %v; the note lies in a directory that is away", out.Status, err)
	}
}

// TestAVoidPlanLooksForNoOtherID: an item whose id names the erased person cannot be found by what is left of the id, and
// must not be missing for ever.
func TestAVoidPlanLooksForNoOtherID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"a/n.md": "# Note\n\n" + other + " and " + name + "\n", "b/" + ana + ".md": "# Boat\n\n" + other + " has a boat.\n", "b/n.md": "# Note\n\nquiet\n"})
	w.more = []backends.StoreConfig{w.vault("a"), w.vault("b")}
	w.open()
	bobs := w.fileFor(other)
	w.plan(bobs.ID)
	w.more = w.more[:1]
	w.open()
	w.complete(w.plan(w.file().ID))
	w.plan(bobs.ID)
	w.more = []backends.StoreConfig{w.vault("a"), w.vault("b")}
	w.open()
	if out, err := w.erase(w.plan(bobs.ID)); err != nil || out.Status != gdpr.StateComplete {
		t.Errorf("%s, %v: %+v", out.Status, err, out.Layers)
	}
}
