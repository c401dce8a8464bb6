package audit_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/audit"
	"memdesk/model"
)

// actor is a provider that counts its changes.
type actor struct {
	model.Provider
	acts int
	err  error
}

func (a *actor) Forget(context.Context, model.ForgetRequest) (model.ForgetResult, error) {
	a.acts++
	return model.ForgetResult{Removed: 1}, a.err
}

func TestMiddleware(t *testing.T) {
	tests := []struct {
		name   string
		inner  model.Middleware // between log and provider
		err    error
		result audit.Verdict
		class  string
	}{
		{"done", nil, nil, audit.OK, ""},
		{"failed", nil, model.Errorf(model.Locked, "forget", "the path /secret/place is locked"), audit.Failed, "locked"},
		{"unknown", nil, model.E(model.Timeout, "forget", nil), audit.Unknown, "timeout"},
		{"refused", func(context.Context, *model.Call, func(context.Context) error) error {
			return model.Refuse("forget", "held")
		}, nil, audit.Refused, "permission denied"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "audit")
			l, err := audit.Open(audit.Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			p := &actor{err: tt.err}
			s := model.Store{Name: "shelf", Provider: p}
			layers := []model.Middleware{audit.Middleware(l)}
			if tt.inner != nil {
				layers = append(layers, tt.inner)
			}
			ctx := audit.WithReason(t.Context(), "Ana asked")
			_, err = s.Wrap(layers...).Provider.Forget(ctx, model.ForgetRequest{ID: "people/ana.md"})
			if tt.result == audit.OK && err != nil {
				t.Fatal(err)
			}
			page, err := l.List(t.Context(), audit.Filter{Action: "forget"}, 10, "")
			if err != nil || len(page.Rows) != 2 {
				t.Fatalf("rows = %+v, %v", page.Rows, err)
			}
			outcome, intent := page.Rows[0], page.Rows[1]
			if intent.Phase != audit.PhaseIntent || outcome.Phase != audit.PhaseOutcome || outcome.Link != intent.Seq {
				t.Errorf("intent %+v, outcome %+v", intent.Record, outcome.Record)
			}
			if outcome.Result != tt.result || outcome.Class != tt.class {
				t.Errorf("result = %s %q, want %s %q", outcome.Result, outcome.Class, tt.result, tt.class)
			}
			if intent.Name != "shelf:people/ana.md" || intent.Reason != "Ana asked" {
				t.Errorf("side table: %q, %q", intent.Name, intent.Reason)
			}
			for _, segment := range glob(t, dir, "log-*") {
				for _, clear := range []string{"ana", "Ana", "secret"} {
					if strings.Contains(segment, clear) {
						t.Errorf("the log holds %q in clear", clear)
					}
				}
			}
		})
	}
}

func TestNoRecordNoAct(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := audit.Open(audit.Options{Dir: filepath.Join(blocked, "audit")})
	if err != nil {
		t.Fatal(err)
	}
	p := &actor{}
	s := model.Store{Name: "shelf", Provider: p}.Wrap(audit.Middleware(l))
	if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "x"}); !model.IsRefusal(err) || p.acts != 0 {
		t.Errorf("err = %v, %d acts; want a refusal and none", err, p.acts)
	}
}

// TestACallerWhoGoesBeforeTheRecord: it must be told as an interruption, not as a log that cannot be written.
func TestACallerWhoGoesBeforeTheRecord(t *testing.T) {
	l, err := audit.Open(audit.Options{Dir: filepath.Join(t.TempDir(), "audit")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = l.Act(ctx, audit.Entry{Action: "gdpr-plan"}, func(context.Context) (map[string]int64, error) {
		t.Error("the act ran")
		return nil, nil
	})
	if model.KindOf(err) != model.Timeout || !model.Unchanged(err) || !strings.Contains(err.Error(), "interrupted; nothing was done") || strings.Contains(err.Error(), "log") {
		t.Errorf("told as %v", err)
	}
}

func TestACancelledCallerStillLeavesAnOutcome(t *testing.T) {
	l, err := audit.Open(audit.Options{Dir: filepath.Join(t.TempDir(), "audit")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := model.Store{Name: "shelf", Provider: &actor{}}.Wrap(audit.Middleware(l),
		func(ctx context.Context, _ *model.Call, next func(context.Context) error) error {
			err := next(ctx)
			cancel()
			return err
		})
	if _, err := s.Provider.Forget(ctx, model.ForgetRequest{ID: "x"}); err != nil {
		t.Fatal(err)
	}
	open, err := l.OpenIntents(context.WithoutCancel(ctx))
	if err != nil || len(open) != 0 {
		t.Errorf("open intents: %+v, %v", open, errors.Unwrap(err))
	}
}

func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(names) == 0 {
		t.Fatalf("no %s: %v", pattern, err)
	}
	var out []string
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	return out
}

// TestWhatAFailedActDid: an act over several stores fails in the last one. Its record must say what it did.
func TestWhatAFailedActDid(t *testing.T) {
	l, err := audit.Open(audit.Options{Dir: filepath.Join(t.TempDir(), "audit")})
	if err != nil {
		t.Fatal(err)
	}
	act := func(n int64) error {
		return l.Act(t.Context(), audit.Entry{Action: "takeback"}, func(context.Context) (map[string]int64, error) {
			err := model.Refuse("takeback", "the last store says no")
			if n > 0 {
				err = audit.Partly(err)
			}
			return map[string]int64{"removed": n}, err
		})
	}
	for n, want := range map[int64]audit.Verdict{0: audit.Refused, 3: audit.Partial} {
		if err := act(n); !model.IsRefusal(err) {
			t.Fatal(err)
		}
		page, err := l.List(t.Context(), audit.Filter{}, 1, "")
		if err != nil || len(page.Rows) != 1 {
			t.Fatal(err)
		}
		if r := page.Rows[0]; r.Result != want || r.Counts["removed"] != n {
			t.Errorf("%d removed: the outcome is %s with %v, want %s", n, r.Result, r.Counts, want)
		}
	}
}
