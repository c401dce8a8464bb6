package gdpr_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/audit"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/internal/atomicfile"
	"memdesk/model"
)

func TestEraseEverywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	// An earlier change left an undo entry that contains the name.
	if _, _, err := w.desk.Undo.Retain(t.Context(), w.store("db"), model.RetainRequest{ID: "n2", Content: "again " + name, Mode: model.Replace}); err != nil {
		t.Fatal(err)
	}
	before := w.contents()
	r := w.file()
	p := w.plan(r.ID)
	touched := map[string]bool{}
	for _, s := range p.Stores {
		for _, st := range s.Steps {
			touched[st.Store+":"+st.ID] = true
		}
	}
	again := w.plan(r.ID)
	if again.Hash != p.Hash {
		t.Fatal("the same plan has another hash")
	}
	out := w.complete(p)
	if out.Forgotten == 0 || out.Redacted == 0 {
		t.Errorf("forgotten %d, redacted %d", out.Forgotten, out.Redacted)
	}
	if left := w.traces(w.dir, w.desk.State); len(left) > 0 {
		t.Errorf("traces: %q", left)
	}
	after := w.contents()
	for ref, body := range before {
		if !touched[ref] && after[ref] != body {
			t.Errorf("bystander %s changed", ref)
		}
	}
	if got := after["db:n4"]; !strings.Contains(got, "- [erased] likes tea\n- "+other+" likes coffee\n") {
		t.Errorf("the shared item: %q", got)
	}
	if _, ok := after["db:b2"]; !ok {
		t.Error("an item of a longer id went")
	}
	got, err := w.desk.Get(ana)
	if err != nil || got.ID != r.ID || got.State != gdpr.StateComplete {
		t.Errorf("looked up by the typed id: %v %s, %v", got.ID, got.State, err)
	}
	if _, err := w.erase(p); err == nil {
		t.Error("a complete request was erased again")
	}
	rep, err := w.desk.Verify(t.Context(), r.ID, ana, w.fleet)
	if err != nil || slices.ContainsFunc(rep, func(l receipt.Layer) bool { return !receipt.Passes(l.Verdict) }) {
		t.Errorf("verified by the typed id: %+v, %v", rep, err)
	}
}

// TestTheLogForgetsAliases: the clear name of an item that was recorded under an alias of the subject must go, though
// no text in it names the subject.
func TestTheLogForgetsAliases(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	r := w.file()
	for _, term := range append([]string{ana}, r.Aliases...) {
		e := audit.Entry{Action: "retain", Store: "db", Target: "db:diary-7", Subject: term}
		if err := w.desk.Log.Note(t.Context(), e, audit.Result{Verdict: audit.OK}); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.Aliases) == 0 {
		t.Fatal("the request has no alias")
	}
	w.complete(w.plan(r.ID))
	left, err := os.ReadFile(filepath.Join(w.desk.State, "audit", "names.jsonl"))
	if err != nil || strings.Contains(string(left), "diary-7") {
		t.Errorf("the log still names the item: %v", err)
	}
}

// full is a disk without room for a new side table of the log.
type full struct{ nosync }

func (f full) OpenFile(name string, flag int, perm fs.FileMode) (atomicfile.File, error) {
	if strings.Contains(name, "names.jsonl.tmp") {
		return nil, &fs.PathError{Op: "write", Path: filepath.Base(name), Err: syscall.ENOSPC}
	}
	return f.nosync.OpenFile(name, flag, perm)
}

// TestNamesThatStayAreResidue: by then the items are changed, so the run is partial, and nothing was refused.
func TestNamesThatStayAreResidue(t *testing.T) {
	w := newWorld(t)
	w.fill()
	r := w.file()
	p := w.plan(r.ID)
	open := func(fsys atomicfile.FS) {
		if err := w.desk.Log.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		var err error
		if w.desk.Log, err = audit.Open(audit.Options{Dir: filepath.Join(w.desk.State, "audit"), Clock: w.clock, Tool: "test", FS: fsys, Actor: audit.Actor{ID: "op"}}); err != nil {
			t.Fatal(err)
		}
		w.open()
	}
	open(full{})
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial || !slices.ContainsFunc(out.Problems, func(p gdpr.Problem) bool { return strings.Contains(p.What, "no space left") }) {
		t.Fatalf("erase = %s, %+v, %v; want partial", out.Status, out.Problems, err)
	}
	open(nosync{})
	w.complete(p)
}

// TestTheReceiptKeyIsLost: no new key may be made where receipts of the lost one are kept, and nothing is erased before
// it is back.
func TestTheReceiptKeyIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "by " + name})
	first := w.file()
	w.complete(w.plan(first.ID))
	w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "by " + other})
	p := w.plan(w.fileFor(other).ID)
	key := filepath.Join(w.desk.State, "gdpr", "keys", "receipt")
	if err := os.Rename(key, key+".away"); err != nil {
		t.Fatal(err)
	}
	if out, err := w.erase(p); !errors.Is(err, model.Unavailable) || !strings.Contains(err.Error(), "put gdpr/keys/receipt back") || out.Forgotten > 0 {
		t.Errorf("without the key: %+v, %v", out, err)
	}
	if _, _, _, err := w.desk.Receipt(first.ID); !errors.Is(err, receipt.ErrTampered) || !strings.Contains(err.Error(), first.ID) {
		t.Errorf("the receipt: %v; want the request that it is of", err)
	}
	if err := os.Rename(key+".away", key); err != nil {
		t.Fatal(err)
	}
	w.complete(p)
	if _, _, _, err := w.desk.Receipt(first.ID); err != nil {
		t.Error(err)
	}
}

func TestReceiptIsEvidence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "tea", DataSubjectID: ana})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "coffee"})
	r := w.file()
	if _, _, _, err := w.desk.Receipt(r.ID); !errors.Is(err, model.NotFound) {
		t.Errorf("a receipt before the end: %v", err)
	}
	w.complete(w.plan(r.ID))
	file, rec, key, err := w.desk.Receipt(r.ID)
	if err != nil {
		t.Fatal(err)
	}
	for i := range file {
		bits := []byte{1 << (i % 7)}
		if i%8 == 0 {
			bits = append(bits, 0x20) // a letter in the other case
		}
		for _, bit := range bits {
			bad := slices.Clone(file)
			bad[i] ^= bit
			if _, _, err := w.desk.CheckReceipt(bad, ""); !errors.Is(err, receipt.ErrTampered) {
				t.Fatalf("byte %d flipped: %v", i, err)
			}
		}
	}
	foreign, err := receipt.LoadKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := foreign.Sign(rec)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.desk.CheckReceipt(signed, ""); !errors.Is(err, receipt.ErrTampered) {
		t.Errorf("another key: %v", err)
	}
	if _, _, err := receipt.Read(signed, ""); err != nil {
		t.Errorf("a reader without a key of its own: %v", err)
	}
	payload := payloadOf(t, file)
	dropped := strings.Replace(payload, `"layer": "recall"`, `"layer": "items"`, 1)
	if _, _, err := receipt.Read(withPayload(t, file, dropped), ""); dropped == payload || !errors.Is(err, receipt.ErrTampered) {
		t.Errorf("a layer taken for another: %v", err)
	}
	at := strings.Index(payload, `"layer": "recall"`)
	from, to := strings.LastIndex(payload[:at], "{"), at+strings.Index(payload[at:], "}")+1
	rest := strings.TrimLeft(payload[to:], ", \n")
	if _, _, err := receipt.Read(withPayload(t, file, payload[:from]+rest), ""); !errors.Is(err, receipt.ErrTampered) {
		t.Errorf("a layer dropped: %v", err)
	}
	for _, want := range []string{`"@context"`, `"subject_request_id": "` + r.ID, `"received_time": "2026-02-20"`, `"finished_time"`, `"deadline"`, `"ground": "no article was cited"`, `"identity_check": null`,
		`"searched"`, `"held": []`, `"attested": []`, `"backups"`, `"recipients": []`, `"exports": []`, `"approver": null`, `"require_approval": false`, `"suppression"`, `"checkpoint": "memdesk/audit/`, `"inclusion_proof": "c2sp.org/tlog-proof@v1`, `"cosignatures": []`} {
		if !strings.Contains(payload, want) {
			t.Errorf("no %s in %s", want, payload)
		}
	}
	if page := rec.Markdown(key, true); !strings.Contains(page, r.ID) || strings.Contains(page, ana) {
		t.Errorf("page: %s", page)
	}
}

type envelope struct {
	PayloadType string            `json:"payloadType"`
	Payload     string            `json:"payload"`
	Signatures  []json.RawMessage `json:"signatures"`
}

// payloadOf is the payload that a receipt's signature covers.
func payloadOf(t *testing.T, file []byte) string {
	t.Helper()
	var e envelope
	if err := json.Unmarshal(file, &e); err != nil {
		t.Fatal(err)
	}
	b, err := base64.StdEncoding.DecodeString(e.Payload)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// withPayload puts another payload under the same signature.
func withPayload(t *testing.T, file []byte, payload string) []byte {
	t.Helper()
	var e envelope
	if err := json.Unmarshal(file, &e); err != nil {
		t.Fatal(err)
	}
	return []byte(strings.Replace(string(file), e.Payload, base64.StdEncoding.EncodeToString([]byte(payload)), 1))
}

// killer ends the run at its nth mutation or step, before or after its effect.
type killer struct {
	left  atomic.Int64
	after bool
	stop  context.CancelFunc
}

func (k *killer) hit() bool { return k.left.Add(-1) == 0 }

func (k *killer) middleware(ctx context.Context, c *model.Call, next func(context.Context) error) error {
	if !c.Op.Mutates() || k.stop == nil {
		return next(ctx)
	}
	dead := k.hit()
	if dead && !k.after {
		k.stop()
		return model.FromContext(ctx, "killed")
	}
	err := next(ctx)
	if dead {
		k.stop()
		return model.Errorf(model.Internal, "killed", "nobody hears the answer")
	}
	return err
}

func TestKilledAnywhereThenResumed(t *testing.T) {
	points := 50
	if os.Getenv("MEMDESK_SOAK") != "" {
		points = 500
	}
	var want, wantFiles map[string]string
	filled := newWorld(t)
	filled.fill()
	if err := filled.fleet.Close(); err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, n int64, after bool) {
		w := newWorldFrom(t, filled.dir)
		k := &killer{after: after}
		w.extra = []model.Middleware{k.middleware}
		w.open()
		r := w.file()
		p := w.plan(r.ID)
		if n > 0 {
			ctx, cancel := context.WithCancel(t.Context())
			k.left.Store(n)
			k.stop = cancel
			out, err := w.desk.Erase(ctx, order(p), w.fleet, func(ctx context.Context, _ gdpr.Progress) error {
				if k.hit() {
					cancel()
				}
				return ctx.Err()
			})
			cancel()
			if err == nil && out.Status == gdpr.StateComplete && k.left.Load() < 0 && !after {
				t.Errorf("point %d: killed and yet complete", n)
			}
			k.stop = nil
			if got, _ := w.desk.Get(r.ID); got.State == gdpr.StateComplete {
				if k.left.Load() > 0 { // no more points
					return
				}
			}
			w.open() // as another process would
		}
		if got, _ := w.desk.Get(r.ID); got.State != gdpr.StateComplete {
			w.complete(p)
		}
		if left := w.traces(w.dir, w.desk.State); len(left) > 0 {
			t.Fatalf("point %d: traces %q", n, left)
		}
		got := w.contents()
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("point %d: another end state\n%s", n, diff)
		}
		files := tree(t, filepath.Join(w.dir, "agent")) // a database may lay its pages out differently
		if wantFiles == nil {
			wantFiles = files
		}
		if diff := cmp.Diff(wantFiles, files); diff != "" {
			t.Fatalf("point %d: other bytes\n%s", n, diff)
		}
	}
	run(t, 0, false)
	const hands = 4
	for hand := range hands {
		t.Run(fmt.Sprint(hand), func(t *testing.T) {
			t.Parallel()
			for n := hand; n < points; n += hands {
				run(t, int64(n/2+1), n%2 == 1)
			}
		})
	}
}

func TestStoreDownThenRetried(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
	}{
		{"down", model.Errorf(model.Unavailable, "forget", "no route to host")},
		{"500", model.Errorf(model.Internal, "forget", "status 500")},
		{"429", model.Errorf(model.RateLimited, "forget", "status 429")},
		{"time-out", model.Errorf(model.Timeout, "forget", "deadline exceeded")},
		{"disk full", model.E(model.Unavailable, "forget", syscall.ENOSPC)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			down, calls := false, 0
			w.extra = []model.Middleware{func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
				if c.Op == model.OpForget || c.Op == model.OpRetain {
					if c.Store.Name == "agent" && down {
						return tt.err
					}
					calls++
				}
				return next(ctx)
			}}
			w.fill()
			r := w.file()
			p := w.plan(r.ID)
			down, calls = true, 0
			out, err := w.erase(p)
			if err != nil || out.Status != gdpr.StatePartial {
				t.Fatalf("status %s, %v; want partial", out.Status, err)
			}
			if got, _ := w.desk.Get(r.ID); got.Subject != ana {
				t.Error("the identifiers went before the last store was done")
			}
			if _, _, _, err := w.desk.Receipt(r.ID); !errors.Is(err, model.NotFound) {
				t.Errorf("a receipt of partial work: %v", err)
			}
			down, calls = false, 0
			w.complete(p)
			if calls == 0 || calls > 4 {
				t.Errorf("the retry made %d changes; want only the missing ones", calls)
			}
		})
	}
}

func TestSaysYesAndKeepsIt(t *testing.T) {
	w := newWorld(t)
	liar := true
	w.extra = []model.Middleware{func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if liar && c.Op == model.OpForget {
			return nil // Removed 0 and no error, or a false answer: the item stays
		}
		return next(ctx)
	}}
	w.fill()
	r := w.file()
	out, err := w.erase(w.plan(r.ID))
	if err != nil || out.Status != gdpr.StatePartial || !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
		return l.Layer == "items" && l.Verdict == model.VerdictResidue
	}) {
		t.Fatalf("a store that keeps it: %s, %v", out.Status, err)
	}
	liar = false
	w.complete(w.plan(r.ID))
}

func TestNoRecordNothingDeleted(t *testing.T) {
	w := newWorld(t)
	w.fill()
	r := w.file()
	p := w.plan(r.ID)
	before := w.contents()
	if err := os.Rename(filepath.Join(w.desk.State, "audit"), filepath.Join(w.desk.State, "gone")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.desk.State, "audit"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.erase(p); !model.IsRefusal(err) {
		t.Errorf("erase = %v; want a refusal", err)
	}
	if diff := cmp.Diff(before, w.contents()); diff != "" {
		t.Errorf("something changed without a record:\n%s", diff)
	}
}

func TestSomebodyWritesDuringTheRun(t *testing.T) {
	w := newWorld(t)
	w.fill()
	// A writer bypasses memdesk: directly in the file system.
	added := false
	r := w.file()
	p := w.plan(r.ID)
	out, err := w.desk.Erase(t.Context(), order(p), w.fleet, func(_ context.Context, pr gdpr.Progress) error {
		if pr.What == "verify" && !added {
			added = true
			return os.WriteFile(filepath.Join(w.path("agent"), "daily", "2026-02-20.md"), []byte("- x — "+name+" is back\n- quiet\n"), 0o644)
		}
		return nil
	})
	if err != nil || out.Status != gdpr.StatePartial {
		t.Fatalf("added during the run: %s, %v; want partial", out.Status, err)
	}
	w.complete(w.plan(r.ID))
	if left := w.traces(w.dir, w.desk.State); len(left) > 0 {
		t.Errorf("traces: %q", left)
	}
}

func TestChangedSinceThePlan(t *testing.T) {
	w := newWorld(t)
	w.fill()
	r := w.file()
	p := w.plan(r.ID)
	w.put("db", model.RetainRequest{ID: "n2", Content: name + " asked for something else"})
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial {
		t.Fatalf("an item changed: %s, %v; want partial", out.Status, err)
	}
	if got := w.contents()["db:n2"]; !strings.Contains(got, "something else") {
		t.Error("what nobody had seen in the plan was removed")
	}
	w.complete(w.plan(r.ID))
}

func TestShareMustBeTyped(t *testing.T) {
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "about " + name})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "about nobody"})
	r := w.file()
	p := w.plan(r.ID)
	for _, n := range []int64{0, 2} {
		o := order(p)
		o.ConfirmCount = n
		if _, err := w.desk.Erase(t.Context(), o, w.fleet, nil); !model.IsRefusal(err) {
			t.Errorf("count %d typed: %v; want a refusal", n, err)
		}
	}
	w.complete(p)
}

func TestHeldItemsStay(t *testing.T) {
	w := newWorld(t)
	w.fill()
	r := w.file()
	if _, err := w.desk.Hold(t.Context(), r.ID, gdpr.Hold{Store: "db", ID: "n2", Ground: "legal claim"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store("db").Provider.Forget(t.Context(), model.ForgetRequest{ID: "n2"}); !model.IsRefusal(err) {
		t.Errorf("forget of a held item = %v; want a refusal", err)
	}
	out := w.inScope(w.plan(r.ID))
	if out.Held != 1 {
		t.Errorf("held %d; want 1", out.Held)
	}
	if _, ok := w.contents()["db:n2"]; !ok {
		t.Error("the held item went")
	}
	if _, err := w.store("db").Provider.Forget(t.Context(), model.ForgetRequest{ID: "n2"}); !model.IsRefusal(err) {
		t.Errorf("forget of a held item after the end = %v; want a refusal", err)
	}
}

// TestCascadeOnlyWhereItIsThePlan counts the store's own cascades.
func TestCascadeOnlyWhereItIsThePlan(t *testing.T) {
	tests := []struct {
		name string
		more func(*world)
		want int
	}{
		{"everything tagged is to go", func(*world) {}, 1},
		{"an item only names her", func(w *world) {
			w.put("db", model.RetainRequest{Tier: "session", Key: "n9", Content: "about " + name})
		}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			cascades := 0
			w.extra = []model.Middleware{func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
				if c.Forget != nil && c.Forget.DataSubjectID != "" {
					cascades++
				}
				return next(ctx)
			}}
			w.open()
			for i := range 3 {
				w.put("db", model.RetainRequest{Tier: "session", Key: fmt.Sprintf("t%d", i), Content: "tea", DataSubjectID: ana})
				w.put("db", model.RetainRequest{Tier: "session", Key: fmt.Sprintf("b%d", i), Content: "coffee", DataSubjectID: other})
			}
			tt.more(w)
			r := w.file()
			out := w.complete(w.plan(r.ID))
			if cascades != tt.want || len(w.contents()) != 3 {
				t.Errorf("%d cascades, %d items left; want %d and 3 (%d forgotten)", cascades, len(w.contents()), tt.want, out.Forgotten)
			}
		})
	}
}
