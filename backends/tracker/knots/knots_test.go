package knots_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memdesk/backends/tracker"
	"memdesk/backends/tracker/knots"
	"memdesk/backends/tracker/trackertest"
	"memdesk/model"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func config(t *testing.T, dir string) knots.Config {
	t.Helper()
	return knots.Config{Name: "knots", Path: dir, Command: trackertest.StandIn(t, "kno"), Pause: func(context.Context, time.Duration) error { return nil }}
}

func repo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, ".knots"), 0o755))
	return dir
}

func TestPort(t *testing.T) {
	dirs := map[*testing.T]string{}
	again := func(t *testing.T) tracker.Port {
		b, err := knots.NewBackend(config(t, dirs[t]))
		must(t, err)
		return knots.Port(b)
	}
	trackertest.Run(t, trackertest.Harness{
		Open: func(t *testing.T) tracker.Port {
			dirs[t] = repo(t)
			return again(t)
		},
		Again: again,
	})
}

func TestStore(t *testing.T) {
	s, err := knots.Open(t.Context(), config(t, repo(t)))
	must(t, err)
	ctx := t.Context()
	res, err := s.Provider.Retain(ctx, model.RetainRequest{Tier: "ready_for_planning", Mode: model.Replace, Content: "Mend the kettle\n-- it leaks"})
	must(t, err)
	it, err := s.Browser.Read(ctx, res.ID)
	must(t, err)
	if it.Body != "Mend the kettle\n-- it leaks" || it.Title != "Mend the kettle" || it.Revision != res.Revision {
		t.Errorf("read %+v, retained %+v", it, res)
	}
	meta := append([]model.Field(nil), it.Meta...)
	for i, f := range meta {
		if f.Name == "status" {
			meta[i].Value = "shipped"
		}
	}
	_, err = s.Provider.Retain(ctx, model.RetainRequest{ID: res.ID, Mode: model.Replace, Content: "done", Meta: meta, IfMatch: "stale"})
	if !errors.Is(err, model.Conflict) {
		t.Errorf("a stale revision: %v", err)
	}
	_, err = s.Provider.Retain(ctx, model.RetainRequest{ID: res.ID, Mode: model.Replace, Content: "done", Meta: meta, IfMatch: it.Revision})
	must(t, err)
	if it, err = s.Browser.Read(ctx, res.ID); err != nil || it.Tier != "shipped" || it.Body != "done" {
		t.Errorf("closed %+v, %v", it, err)
	}
	_, err = s.Provider.Forget(ctx, model.ForgetRequest{ID: res.ID})
	if !errors.Is(err, model.Unsupported) || !strings.Contains(err.Error(), "delete") {
		t.Errorf("forget: %v", err)
	}
	if s.Capabilities()["forget"] || s.Capabilities()["canDelete"] {
		t.Error("the store claims to forget")
	}
	_, err = s.Provider.Retain(ctx, model.RetainRequest{ID: "knot-none", Mode: model.Replace, Content: "x"})
	if !errors.Is(err, model.Unsupported) {
		t.Errorf("an id of one's own: %v", err)
	}
	hits, err := s.Provider.Recall(ctx, model.RecallRequest{Query: "kettle"})
	if err != nil || len(hits.Hits) != 1 {
		t.Errorf("recall %+v, %v", hits, err)
	}
}

func TestAbsentCommand(t *testing.T) {
	c := knots.Config{Path: repo(t), Command: "no-such-kno"}
	if _, err := knots.Open(t.Context(), c); !errors.Is(err, model.Unavailable) || !strings.Contains(err.Error(), "install Knots") {
		t.Errorf("without the command: %v", err)
	}
	c.Path = t.TempDir()
	if _, err := knots.Open(t.Context(), c); !errors.Is(err, model.NotFound) {
		t.Errorf("without .knots: %v", err)
	}
}

func TestMisbehavingCommand(t *testing.T) {
	for mode, tt := range map[string]struct {
		kind model.Kind
		says string
	}{
		"hang":                              {model.Timeout, "did not answer in time"},
		"flood":                             {model.Internal, "more than"},
		"prose":                             {model.Internal, "not the JSON"},
		"fail:database is locked":           {model.Locked, "database is locked"},
		"fail:item is blocked by the clock": {model.Internal, "blocked by the clock"},
		"fail:EACCES: permission denied":    {model.PermissionDenied, "permission denied"},
		"fail:/home/x/secret.sqlite broken": {model.Internal, "(path) broken"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Setenv("FAKE_KNO", mode)
			c := config(t, repo(t))
			c.Timeout = 10 * time.Second
			if mode == "hang" {
				c.Timeout = 300 * time.Millisecond
			}
			begun := time.Now()
			_, err := knots.Open(t.Context(), c)
			if model.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v is %q, want %q", err, model.KindOf(err), tt.kind)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("a path of this machine is shown: %v", err)
			}
			if mode == "hang" && time.Since(begun) > 20*time.Second {
				t.Errorf("it took %v to stop", time.Since(begun))
			}
		})
	}
}

func TestReadIsTriedAgain(t *testing.T) {
	t.Setenv("FAKE_KNO", "busy")
	var waited []time.Duration
	c := config(t, repo(t))
	c.Pause = func(_ context.Context, d time.Duration) error { waited = append(waited, d); return nil }
	if _, err := knots.Open(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if len(waited) != 2 || waited[0] != time.Second || waited[1] != 2*time.Second {
		t.Errorf("waited %v", waited)
	}
}

func TestTimeoutOfTheEnvironment(t *testing.T) {
	t.Setenv("FAKE_KNO", "hang")
	t.Setenv(knots.EnvTimeout, "200")
	begun := time.Now()
	if _, err := knots.Open(t.Context(), config(t, repo(t))); !errors.Is(err, model.Timeout) || time.Since(begun) > 15*time.Second {
		t.Errorf("after %v: %v", time.Since(begun), err)
	}
	for _, v := range []string{"0", "-1", "soon", "1e3", "999999999999"} {
		t.Setenv(knots.EnvTimeout, v)
		if _, err := knots.NewBackend(config(t, repo(t))); !errors.Is(err, model.InvalidInput) {
			t.Errorf("%q: %v", v, err)
		}
	}
}
