package gdpr_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/gdpr"
	"memdesk/model"
)

// leakForms are the forms in which an erased subject's id could be searched for.
func leakForms() map[string]string {
	out := map[string]string{}
	for _, id := range []string{ana, mail, name} {
		for _, text := range []string{id, strings.ToLower(id), strings.ToUpper(id)} {
			sum := sha256.Sum256([]byte(text))
			out["clear "+text] = text
			out["sha256 "+text] = hex.EncodeToString(sum[:])
			out["sha256 upper "+text] = strings.ToUpper(hex.EncodeToString(sum[:]))
			out["sha256 base64 "+text] = base64.RawStdEncoding.EncodeToString(sum[:])
			out["short sha256 "+text] = hex.EncodeToString(sum[:8])
			for skip := range 3 {
				enc := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(" ", skip) + text + "   "))
				out[fmt.Sprint("base64 ", skip, text)] = enc[(skip*8+5)/6 : (skip+len(text))*8/6]
			}
			out["hex "+text] = hex.EncodeToString([]byte(text))
		}
	}
	return out
}

// leaks are the state's files in which the subject is found. An unfinished request and its plan contain
// the subject; after an interrupted run, the clear names beside the log may too.
func (w *world) leaks(done, cutOff bool) []string {
	w.t.Helper()
	var out []string
	for file, body := range tree(w.t, w.desk.State) {
		if !done && (strings.HasPrefix(file, "gdpr/requests/er-") || strings.HasPrefix(file, "gdpr/plans/er-")) || cutOff && file == "audit/names.jsonl" {
			continue
		}
		for what, form := range leakForms() {
			if strings.Contains(file+"\n"+body, form) {
				out = append(out, file+": "+what)
			}
		}
	}
	return out
}

// TestNothingLeaks searches memdesk's own files after every kind of ending, and must still find the
// request by the typed id.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	broken := model.Errorf(model.Unavailable, "forget", "no answer")
	tests := []struct {
		what   string
		done   bool
		cutOff bool
		end    func(t *testing.T, w *world, p gdpr.Plan)
	}{
		{"done", true, false, func(_ *testing.T, w *world, p gdpr.Plan) { w.complete(p) }},
		{"partial", false, false, func(t *testing.T, w *world, p gdpr.Plan) {
			w.extra = []model.Middleware{func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
				if c.Forget != nil && c.Store.Name == "agent" {
					return broken
				}
				return next(ctx)
			}}
			w.open()
			if out, err := w.erase(p); err != nil || out.Status != gdpr.StatePartial {
				t.Fatalf("%s, %v; want partial", out.Status, err)
			}
		}},
		{"failed", false, true, func(t *testing.T, w *world, p gdpr.Plan) {
			n := 0
			_, err := w.desk.Erase(t.Context(), order(p), w.fleet, func(context.Context, gdpr.Progress) error {
				if n++; n == 4 {
					return errors.New("stopped")
				}
				return nil
			})
			if err == nil {
				t.Fatal("a run that was stopped has no error")
			}
		}},
		{"stopped and resumed", true, false, func(t *testing.T, w *world, p gdpr.Plan) {
			ctx, cancel := context.WithCancel(t.Context())
			n := 0
			_, err := w.desk.Erase(ctx, order(p), w.fleet, func(ctx context.Context, _ gdpr.Progress) error {
				if n++; n == 3 {
					cancel()
				}
				return ctx.Err()
			})
			if err == nil {
				t.Fatal("a run that was stopped has no error")
			}
			w.open()
			w.complete(p)
		}},
		{"refused", false, true, func(t *testing.T, w *world, p gdpr.Plan) {
			o := order(p)
			o.PlanHash = strings.Repeat("0", 64)
			if _, err := w.desk.Erase(t.Context(), o, w.fleet, nil); !model.IsRefusal(err) {
				t.Fatalf("%v; want a refusal", err)
			}
			if _, err := w.store("db").Provider.Forget(t.Context(), model.ForgetRequest{ID: "n2"}); !model.IsRefusal(err) {
				t.Fatalf("%v; want a refusal of what is held", err)
			}
		}},
		{"swept", true, false, func(t *testing.T, w *world, p gdpr.Plan) {
			w.complete(p)
			plant(t, w.path("agent"), map[string]string{"daily/2026-02-28.md": "- " + name + " and " + ana + "\n- quiet\n"})
			w.open()
			swept, _, err := w.desk.Sweep(t.Context(), w.fleet, "", nil)
			if err != nil || len(swept) != 1 || swept[0].Outcome.Status != gdpr.StateComplete {
				t.Fatalf("Sweep = %+v, %v", swept, err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.fill()
			r := w.file()
			if tt.what == "refused" {
				if _, err := w.desk.Hold(t.Context(), r.ID, gdpr.Hold{Store: "db", ID: "n2", Ground: "a claim of " + name}); err != nil {
					t.Fatal(err)
				}
			}
			tt.end(t, w, w.plan(r.ID))
			if left := w.leaks(tt.done, tt.cutOff); len(left) > 0 {
				t.Errorf("she is found in %q", left)
			}
			for _, typed := range []string{ana, strings.ToUpper(ana), " " + ana + " "} {
				if got, err := w.desk.Get(typed); err != nil || got.ID != r.ID && got.Of != r.ID {
					t.Errorf("typed %q: %q, %v", typed, got.ID, err)
				}
			}
			if _, err := w.desk.Get(ana + "2"); !errors.Is(err, model.NotFound) {
				t.Errorf("somebody else's id finds a request: %v", err)
			}
		})
	}
}

// TestHeldErasureLeaksNothing: a held item is known by a keyed hash.
func TestHeldErasureLeaksNothing(t *testing.T) {
	w := newWorld(t)
	w.fill()
	r := w.file()
	if _, err := w.desk.Hold(t.Context(), r.ID, gdpr.Hold{Store: "db", ID: "n5-" + ana, Ground: "legal claim of " + name}); err != nil {
		t.Fatal(err)
	}
	w.inScope(w.plan(r.ID))
	if left := w.leaks(true, false); len(left) > 0 {
		t.Errorf("she is found in %q", left)
	}
	file, _, _, err := w.desk.Receipt(r.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(t.TempDir(), "r.json"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store("db").Provider.Forget(t.Context(), model.ForgetRequest{ID: "n5-" + ana}); !model.IsRefusal(err) {
		t.Errorf("forget of what is held after the end: %v", err)
	}
	for what, form := range leakForms() {
		if strings.Contains(string(file), form) {
			t.Errorf("the receipt holds %s", what)
		}
	}
}

// TestTheWordsOfOtherSystemsLeakNothing: the id of the request in the system that sent it, and the operator who
// checked the identity, may name the subject.
func TestTheWordsOfOtherSystemsLeakNothing(t *testing.T) {
	w := newWorld(t)
	w.fill()
	r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: ana, Aliases: []string{mail, name}, Received: "2026-02-20", Ground: "asked", OpenDSR: "erase-" + ana})
	if err != nil {
		t.Fatal(err)
	}
	editRequest(t, w, r.ID, func(m map[string]any) {
		m["identity"] = map[string]any{"by": name, "method": "login", "on": "2026-02-20"}
	})
	w.complete(w.plan(r.ID))
	if left := w.leaks(true, false); len(left) > 0 {
		t.Errorf("she is found in %q", left)
	}
}
