package gdpr_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/gdpr/sshsig"
	"memdesk/internal/clock"
	"memdesk/model"
)

// TestActsDuringARun: what others do to a request while its plan is carried out must not be lost when the run
// saves its outcome: a hold keeps its item and voids the plan, and the receipt names an export.
func TestActsDuringARun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	w.desk.Policy.Recipients = []gdpr.Recipient{{Name: "the archive"}}
	r := w.file()
	p := w.plan(r.ID)
	id := "n2"
	held, done := false, 0
	out, err := w.desk.Erase(t.Context(), order(p), w.fleet, func(ctx context.Context, q gdpr.Progress) error {
		if done++; done > 1 {
			return nil
		}
		if it, err := w.store("db").Browser.Read(ctx, id); err == nil && it.ID == id {
			held = true
			w.hold(r.ID, "db", id)
		}
		if _, _, err := w.desk.Export(ctx, r.ID, filepath.Join(t.TempDir(), "out"), w.fleet); err != nil {
			t.Error(err)
		}
		_, err := w.desk.Tell(ctx, r.ID, "the archive", "2026-03-01", "")
		return err
	})
	if err != nil || !held {
		t.Fatal(out, held, err)
	}
	got, err := w.desk.Get(r.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Holds) != 1 || len(got.Exports) != 1 || len(got.Recipients) != 1 || got.PlanHash != "" {
		t.Errorf("holds %+v, exports %+v, recipients %+v, plan %q: want one each and no plan", got.Holds, got.Exports, got.Recipients, got.PlanHash)
	}
	if out.Status != gdpr.StatePartial {
		t.Errorf("the run ended %s; want partial", out.Status)
	}
	if _, err := w.erase(p); !model.IsRefusal(err) {
		t.Errorf("the void plan once more: %v; want a refusal", err)
	}
	if _, err := w.store("db").Browser.Read(t.Context(), id); err != nil {
		t.Errorf("the held item: %v", err)
	}
	w.inScope(w.plan(r.ID))
	if _, rec, _, err := w.desk.Receipt(r.ID); err != nil || len(rec.Exports) != 1 || receipt.Items(rec.Held) != 1 {
		t.Errorf("the receipt: exports %+v, held %+v, %v", rec.Exports, rec.Held, err)
	}
}

// TestAVoidedRunIsNotComplete: a run whose plan became void meanwhile must not end the request, though
// nothing is left of the subject.
func TestAVoidedRunIsNotComplete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	r := w.file()
	out, err := w.desk.Erase(t.Context(), order(w.plan(r.ID)), w.fleet, func(ctx context.Context, q gdpr.Progress) error {
		if q.What != "verify" {
			return nil
		}
		_, err := w.desk.Hold(ctx, r.ID, gdpr.Hold{Store: "db", ID: "b1", Ground: "a claim"})
		return err
	})
	if got, gerr := w.desk.Get(r.ID); err != nil || gerr != nil || out.Status != gdpr.StatePartial || got.State != gdpr.StatePartial || len(got.Holds) != 1 || got.Subject == "" {
		t.Errorf("the run ended %s, the request is %+v, %v %v; want partial with its hold and identifiers", out.Status, got, err, gerr)
	}
	if _, _, _, err := w.desk.Receipt(r.ID); !errors.Is(err, model.NotFound) {
		t.Errorf("a receipt: %v", err)
	}
}

// atReceipt calls a function once when the time of a receipt is asked for.
type atReceipt struct {
	clock.Clock
	keys string
	call func()
}

func (c *atReceipt) Now() time.Time {
	if _, err := os.Stat(filepath.Join(c.keys, "receipt")); err == nil && c.call != nil {
		call := c.call
		c.call = nil
		call()
	}
	return c.Clock.Now()
}

// TestAHoldWhileTheReceiptIsMade: the run must not end in scope over a hold that no step of its plan knows.
func TestAHoldWhileTheReceiptIsMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	r := w.file()
	w.hold(r.ID, "db", "n2")
	p := w.plan(r.ID)
	w.desk.Clock = &atReceipt{w.clock, filepath.Join(w.desk.State, "gdpr", "keys"), func() { w.hold(r.ID, "db", "b1") }}
	out, err := w.erase(p)
	got, gerr := w.desk.Get(r.ID)
	if err != nil || gerr != nil || len(got.Holds) != 2 || got.PlanHash != "" {
		t.Fatalf("%+v, %v %v; want two holds and no plan", got, err, gerr)
	}
	if out.Status != gdpr.StatePartial || got.State != gdpr.StatePartial {
		t.Errorf("the run ended %s, the request is %s; want partial", out.Status, got.State)
	}
	if _, _, _, err := w.desk.Receipt(r.ID); !errors.Is(err, model.NotFound) {
		t.Errorf("a receipt of the void plan: %v", err)
	}
}

// TestAHoldDuringASearch: a hold that comes while the plan is made is in no step of it: the plan must not
// stand, and the hold must.
func TestAHoldDuringASearch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	r := w.file()
	put := false
	_, err := w.desk.MakePlan(t.Context(), r.ID, w.fleet, func(gdpr.Searching) {
		if !put {
			put = true
			w.hold(r.ID, "db", "n2")
		}
	})
	if !errors.Is(err, model.Conflict) {
		t.Errorf("the plan: %v; want a conflict", err)
	}
	if got, err := w.desk.Get(r.ID); err != nil || len(got.Holds) != 1 || got.PlanHash != "" {
		t.Errorf("%+v, %v; want the hold and no plan", got, err)
	}
	if st := actions(w.plan(r.ID))["db:n2"]; st.Action != gdpr.Held {
		t.Errorf("planned again: %+v", st)
	}
}

// slowSigner is a key that somebody has to touch.
type slowSigner struct {
	sshsig.Signer
	touched func()
}

func (s slowSigner) Sign(r io.Reader, data []byte) (*ssh.Signature, error) {
	s.touched()
	return s.Signer.Sign(rand.Reader, data)
}

// TestAHoldDuringAnApproval: the approval of a plan that became void while the key signed must not bring the
// plan back.
func TestAHoldDuringAnApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	r := w.file()
	p := w.plan(r.ID)
	s, _ := newSigner(t)
	_, err := w.desk.Approve(t.Context(), r.ID, p.Hash, slowSigner{s, func() { w.hold(r.ID, "db", "n2") }})
	if !errors.Is(err, model.Conflict) {
		t.Errorf("the approval: %v; want a conflict", err)
	}
	if got, err := w.desk.Get(r.ID); err != nil || len(got.Holds) != 1 || got.PlanHash != "" || len(got.Approvals) != 0 {
		t.Errorf("%+v, %v; want the hold and no plan", got, err)
	}
}

// TestAnItemThatSomebodyCleaned: an item that is without the subject when its step comes stays. It must not
// be counted as forgotten, and what the store keeps of it must not be scrubbed as that of a removed item,
// also when another run continues.
func TestAnItemThatSomebodyCleaned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	var scrubbed []string
	w.extra = append(w.extra, func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Scrub != nil && !c.Scrub.Dry {
			scrubbed = append(scrubbed, c.Scrub.Removed...)
		}
		return next(ctx)
	})
	w.open()
	r := w.file()
	p := w.plan(r.ID)
	forgets := int64(0)
	for _, s := range p.Stores {
		for _, st := range s.Steps {
			if st.Action == gdpr.Forget {
				forgets++
			}
		}
	}
	w.put("db", model.RetainRequest{ID: "n2", Content: "somebody asked for a copy"})
	stop := errors.New("stop")
	_, err := w.desk.Erase(t.Context(), order(p), w.fleet, func(_ context.Context, q gdpr.Progress) error {
		if q.What == "verify" {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	out := w.complete(p)
	if out.Forgotten != forgets-1 {
		t.Errorf("%d forgotten; want %d, without the item that stays", out.Forgotten, forgets-1)
	}
	if slices.Contains(scrubbed, "n2") || len(scrubbed) == 0 {
		t.Errorf("scrubbed as removed: %q", scrubbed)
	}
	if _, err := w.store("db").Browser.Read(t.Context(), "n2"); err != nil {
		t.Error(err)
	}
}

// TestARemovedItemIsNotRenamed: an item that somebody removed after the plan must not come back under a new
// id.
func TestARemovedItemIsNotRenamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	r := w.file()
	id := "n5-" + ana
	if _, err := w.desk.Choose(t.Context(), r.ID, gdpr.Choice{Store: "db", ID: id, Action: gdpr.Redact}); err != nil {
		t.Fatal(err)
	}
	p := w.plan(r.ID)
	st := actions(p)["db:"+id]
	if st.NewID == "" {
		t.Fatalf("%+v; want a rename", st)
	}
	if _, err := w.store("db").Provider.Forget(t.Context(), model.ForgetRequest{ID: id}); err != nil {
		t.Fatal(err)
	}
	w.complete(p)
	if it, err := w.store("db").Browser.Read(t.Context(), st.NewID); !errors.Is(err, model.NotFound) {
		t.Errorf("it came back: %+v, %v", it.Header, err)
	}
}

// TestWorkIsCountedOnceAfterACrash: a second plan that dies after it has counted the first one's work must not
// leave the first one to be carried out, and counted, once more.
func TestWorkIsCountedOnceAfterACrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	r := w.file()
	p := w.plan(r.ID)
	want, _ := p.Count()
	stop, steps := errors.New("stop"), 0
	_, err := w.desk.Erase(t.Context(), order(p), w.fleet, func(context.Context, gdpr.Progress) error {
		if steps++; steps == 3 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	file := filepath.Join(w.desk.State, "gdpr", "plans", r.ID+".json")
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.desk.MakePlan(t.Context(), r.ID, w.fleet, func(gdpr.Searching) { // the new plan cannot be written
		_ = os.Remove(file)
		_ = os.MkdirAll(filepath.Join(file, "x"), 0o700)
	})
	if err == nil {
		t.Fatal("the plan was written")
	}
	if err := errors.Join(os.RemoveAll(file), os.WriteFile(file, old, 0o600)); err != nil {
		t.Fatal(err)
	}
	out, err := w.erase(p)
	if err != nil {
		out = w.complete(w.plan(r.ID))
	}
	if got := out.Forgotten + out.Redacted; got != want {
		t.Errorf("%d items were forgotten or redacted; want %d", got, want)
	}
}

// TestAStoreAddedAfterThePlan: a store that was opened after the plan was searched by nobody, so the request
// must not end.
func TestAStoreAddedAfterThePlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	r := w.file()
	p := w.plan(r.ID)
	w.more = []backends.StoreConfig{{Name: "late", Kind: "vault", Path: filepath.Join(w.dir, "late")}}
	plant(t, filepath.Join(w.dir, "late"), map[string]string{"memory/a.md": name + " called\n"})
	w.open()
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial || !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool { return l.Store == "late" && l.Verdict == model.VerdictUnaudited }) {
		t.Errorf("%s, %v; want partial, and the store named", out.Status, err)
	}
	w.complete(w.plan(r.ID))
	if left := w.traces(w.dir); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestAFileCalledGitHistory: a file with the name of a row of the report is looked at like any other.
func TestAFileCalledGitHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	w.agent(map[string]string{"git history": "Salted__" + strings.Repeat("\x8f\x01\xc3\x7e", 64)})
	r := w.file()
	p, err := w.desk.MakePlan(t.Context(), r.ID, w.fleet, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := w.erase(p); err != nil || out.Status != gdpr.StatePartial {
		t.Errorf("%s, %v; want partial, because nobody can open it", out.Status, err)
	}
}

// TestMoreGoesWithARename: an item that gets a new id leaves the store as large as it was. It must not hide
// that another one went with it.
func TestMoreGoesWithARename(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	id := "n5-" + ana
	w.extra = append(w.extra, func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		err := next(ctx)
		if c.Forget != nil && c.ID == id && err == nil {
			_, err = w.store("db").Provider.Forget(ctx, model.ForgetRequest{ID: "x1"})
		}
		return err
	})
	w.open()
	r := w.file()
	if _, err := w.desk.Choose(t.Context(), r.ID, gdpr.Choice{Store: "db", ID: id, Action: gdpr.Redact}); err != nil {
		t.Fatal(err)
	}
	out, err := w.erase(w.plan(r.ID))
	if err != nil || !strings.Contains(fmt.Sprint(out.Problems), "1 more items are gone than the plan removes") {
		t.Errorf("%s, %q, %v; want the item that went too", out.Status, out.Problems, err)
	}
}

// TestAHistoryThatGitCannotReadIsUnaudited: whether commits hold the person is unknown then, and unknown is not
// clean.
func TestAHistoryThatGitCannotReadIsUnaudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	plant(t, w.dir, map[string]string{"vault/memory/idea/hers.md": "# Of " + name + "\n", "vault/.git/HEAD": "damaged"})
	w.more = []backends.StoreConfig{{Name: "vault", Kind: "vault", Path: filepath.Join(w.dir, "vault")}}
	w.open()
	out, err := w.erase(w.plan(w.file().ID))
	if err != nil || out.Status != gdpr.StatePartial || !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
		return l.Layer == "git history" && l.Verdict == model.VerdictUnaudited && l.Reason != ""
	}) {
		t.Errorf("%s, %v; want the history unaudited: %+v", out.Status, err, out.Layers)
	}
}

// tied ties one item to the subject by a key of the store that is in no text.
type tied struct{ id string }

func (s tied) Concerning(_ context.Context, _ []string, yield func(model.SubjectHit) bool) error {
	yield(model.SubjectHit{ID: s.id, Subject: ana, Reason: "its name is a hash of the id"})
	return nil
}

// TestWhatUndoKeepsOfAnItemThatAnEarlierPlanRemoved: after an interrupted run a new plan finds the removed item no
// more, and what undo keeps of it names nobody. It must go all the same.
func TestWhatUndoKeepsOfAnItemThatAnEarlierPlanRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, id := range []string{"x1", "x2", "x3", "x4", "x5", "x6", "x7"} {
		w.put("db", model.RetainRequest{Tier: "session", Key: id, Content: "likes tea"})
	}
	s := w.store("db")
	s.Subjects = tied{"x1"}
	for _, id := range []string{"x1", "x2"} {
		if _, _, err := w.desk.Undo.Retain(t.Context(), s, model.RetainRequest{ID: id, Mode: model.Replace, Content: "likes coffee"}); err != nil {
			t.Fatal(err)
		}
	}
	w.fleet = alone(s)
	r := w.file()
	stop := errors.New("stop")
	if _, err := w.desk.Erase(t.Context(), order(w.plan(r.ID)), w.fleet, func(ctx context.Context, _ gdpr.Progress) error {
		if _, err := s.Browser.Read(ctx, "x1"); errors.Is(err, model.NotFound) {
			return stop
		}
		return nil
	}); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	w.complete(w.plan(r.ID))
	kept, _, err := w.desk.Undo.List()
	if err != nil || len(kept) != 1 || kept[0].Item != "x2" {
		t.Errorf("undo keeps %+v, %v; want the bystander's alone", kept, err)
	}
}

// when is a clock that does something at the first look after a file is there.
type when struct {
	clock.Clock
	file string
	do   *func()
}

func (c when) Now() time.Time {
	if do := *c.do; do != nil {
		if _, err := os.Stat(c.file); err == nil {
			*c.do = nil
			do()
		}
	}
	return c.Clock.Now()
}

// TestAHoldAfterTheReceipt: a hold that is placed when the receipt is written keeps the request open, without a receipt.
func TestAHoldAfterTheReceipt(t *testing.T) {
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "asked by " + name})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "rain"})
	r := w.file()
	p := w.plan(r.ID)
	do := func() { w.hold(r.ID, "db", "n2") }
	w.desk.Clock = when{w.desk.Clock, filepath.Join(w.desk.State, "gdpr", "receipts", r.ID+".json"), &do}
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial || do != nil {
		t.Fatalf("%s, %v; want partial", out.Status, err)
	}
	if _, _, _, err := w.desk.Receipt(r.ID); !errors.Is(err, model.NotFound) {
		t.Errorf("the receipt: %v; want none", err)
	}
	if got, err := w.desk.Get(r.ID); err != nil || len(got.Holds) != 1 || got.Subject == "" {
		t.Errorf("%d holds, %v", len(got.Holds), err)
	}
}
