package knots_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"memdesk/backends/backendtest"
	"memdesk/backends/tracker"
	"memdesk/backends/tracker/command"
	"memdesk/backends/tracker/knots"
	"memdesk/backends/tracker/trackertest"
	"memdesk/model"
	"memdesk/work"
	"memdesk/work/worktest"
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
	again := func(t *testing.T) work.Desk {
		s, err := knots.Open(t.Context(), config(t, dirs[t]))
		must(t, err)
		return work.Desk{Store: s}
	}
	worktest.Run(t, worktest.Harness{
		Open: func(t *testing.T) work.Desk {
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

// plant writes the stand-in's state and one index event for a knot of the warm tier.
func plant(t *testing.T, dir string) {
	t.Helper()
	k := func(id, title, state, typ string) map[string]any {
		return map[string]any{"id": id, "title": title, "state": state, "type": typ, "profile_etag": "e-1", "description": "the text of " + id,
			"updated_at": "2026-05-01T10:00:00Z", "tags": []string{}, "notes": []string{}, "steps": []string{}}
	}
	state := map[string]any{
		"Knots": []any{
			k("knot-hot", "Mend the kettle", "ready_to_evaluate", "work"), k("knot-block", "Wait", "blocked", "work"), k("knot-explore", "Look", "ready_for_exploration", "work"),
			k("lease-1", "agent lease", "lease_active", "lease"), k("knot-eval", "Judge", "evaluating", "work"),
		},
		"Cold": []any{k("knot-cold", "Old kettle", "shipped", "work"), k("knot-warm", "Warm kettle", "implementation", "work")},
		"Warm": map[string]bool{"knot-warm": true},
	}
	b, err := json.Marshal(state)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, ".knots", "fake.json"), b, 0o600))
	for i, event := range []string{
		`{"type":"idx.knot_head","data":{"knot_id":"knot-warm","title":"Cool kettle","state":"planning","type":"work","updated_at":"2026-04-01T10:00:00Z"}}`,
		`{"type":"idx.knot_head","data":{"knot_id":"knot-warm","title":"Warm kettle","state":"implementation","type":"work","updated_at":"2026-04-02T10:00:00Z"}}`,
		`{"type":"idx.knot_head","data":{"knot_id":"knot-hot","title":"Mend","state":"planning","updated_at":"2026-04-02T10:00:00Z"}}`,
		`no event`,
	} {
		path := filepath.Join(dir, ".knots", "index", "2026", "04", strconv.Itoa(i)+"-idx.knot_head.json")
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(event), 0o600))
	}
}

// TestAKnoWithoutAColdSearch: the hot tier must be listed, and the cold one be told as not looked at.
func TestAKnoWithoutAColdSearch(t *testing.T) {
	dir := repo(t)
	plant(t, dir)
	t.Setenv("FAKE_KNO", "no cold:error: unrecognized subcommand 'cold'")
	s, err := knots.Open(t.Context(), config(t, dir))
	must(t, err)
	page, err := s.Browser.List(t.Context(), model.PageRequest{})
	if err != nil || len(page.Items) != 5 || len(page.Problems) != 1 || !strings.Contains(page.Problems[0], "cold tier was not looked at") {
		t.Errorf("%d items, %q, %v", len(page.Items), page.Problems, err)
	}
	for complaint, want := range map[string]model.Kind{"database is locked": model.Locked, "thread 'main' panicked": model.Internal} { // it may answer the next time
		t.Setenv("FAKE_KNO", "no cold:"+complaint)
		if _, err := knots.Open(t.Context(), config(t, dir)); !errors.Is(err, want) {
			t.Errorf("%s: %v", complaint, err)
		}
	}
}

// TestEveryTierIsListed: warm and cold knots must be in lists, be found by title and be read in full;
// leases must be separate from the work, and every state must have its phase.
func TestEveryTierIsListed(t *testing.T) {
	dir := repo(t)
	plant(t, dir)
	s, err := knots.Open(t.Context(), config(t, dir))
	must(t, err)
	list := func(req model.PageRequest) string {
		t.Helper()
		page, err := s.Browser.List(t.Context(), req)
		must(t, err)
		var out []string
		for _, h := range page.Items {
			out = append(out, h.ID+"="+h.Tier)
		}
		return strings.Join(out, " ")
	}
	if got := list(model.PageRequest{Order: model.OrderID}); got != "knot-block=blocked knot-cold=shipped knot-eval=evaluating knot-explore=ready_for_exploration knot-hot=ready_to_evaluate knot-warm=implementation" {
		t.Errorf("the list: %s", got)
	}
	if got := list(model.PageRequest{Order: model.OrderID, Hidden: true}); !strings.Contains(got, "lease-1=lease_active") {
		t.Errorf("the list with what is hidden: %s", got)
	}
	hits, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "kettle"})
	must(t, err)
	if len(hits.Hits) != 3 || !hits.Bounded || !strings.Contains(hits.BoundNote, "2 items") {
		t.Errorf("recall %+v", hits)
	}
	ready, err := s.Work.WorkItems(t.Context(), model.WorkRequest{Ready: true})
	must(t, err)
	if len(ready.Items) != 2 || ready.Items[0].ID != "knot-hot" || ready.Items[1].ID != "knot-explore" {
		t.Errorf("ready: %+v", ready.Items)
	}
	for _, id := range []string{"knot-cold", "knot-warm"} {
		it, err := s.Browser.Read(t.Context(), id)
		if err != nil || it.Body != "the text of "+id {
			t.Errorf("read %s: %+v, %v", id, it, err)
		}
	}
}

// TestWritesOfKno: the revision is kno's own, a close is forced where the workflow has no transition to
// it, acceptance is written, and closing a parent is refused with the reason.
func TestWritesOfKno(t *testing.T) {
	dir := repo(t)
	plant(t, dir)
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv("FAKE_KNO_LOG", log)
	s, err := knots.Open(t.Context(), config(t, dir))
	must(t, err)
	write := func(id string, changes ...string) error {
		t.Helper()
		must(t, os.WriteFile(log, nil, 0o600))
		it, err := s.Browser.Read(t.Context(), id)
		must(t, err)
		meta := slices.Clone(it.Meta)
		for i := 0; i < len(changes); i += 2 {
			n := slices.IndexFunc(meta, func(f model.Field) bool { return f.Name == changes[i] })
			meta[n].Value = changes[i+1]
		}
		_, err = s.Provider.Retain(t.Context(), model.RetainRequest{ID: id, Mode: model.Replace, Content: it.Body, Meta: meta, IfMatch: it.Revision})
		return err
	}
	called := func() string {
		t.Helper()
		b, err := os.ReadFile(log)
		must(t, err)
		var out []string
		for line := range strings.Lines(string(b)) {
			if strings.HasPrefix(line, "update") {
				out = append(out, strings.TrimSpace(line))
			}
		}
		return strings.Join(out, "; ")
	}
	for _, tt := range []struct {
		id      string
		changes []string
		want    string
	}{
		{"knot-hot", []string{"acceptance_criteria", "it boils", "title", "Kettle"}, "update --title=Kettle --acceptance=it boils --if-match=e-1 -- knot-hot"},
		{"knot-eval", []string{"status", "shipped"}, "update --status=shipped --if-match=e-1 -- knot-eval"},
		{"knot-explore", []string{"status", "shipped"}, "update --status=shipped --force --if-match=e-1 -- knot-explore"},
		{"knot-explore", []string{"status", "ready_for_planning"}, "--force"},
		{"knot-block", []string{"status", "abandoned"}, "update --status=abandoned --if-match=e-1 -- knot-block"},
		{"knot-warm", []string{"title", "warmer"}, "update --title=warmer --if-match=e-1 -- knot-warm"},
	} {
		if err := write(tt.id, tt.changes...); err != nil {
			t.Errorf("%s %q: %v", tt.id, tt.changes, err)
		}
		if got := called(); !strings.Contains(got, tt.want) {
			t.Errorf("%s %q: called %q, want %q", tt.id, tt.changes, got, tt.want)
		}
	}
	b, err := knots.NewBackend(config(t, dir))
	must(t, err)
	once := true
	got, err := b.Put(t.Context(), "knot-hot", func(have tracker.Record, _ bool) (tracker.Record, error) {
		if once {
			once = false
			must(t, write("knot-hot", "labels", "faster"))
		}
		return have.With("title", "slower"), nil
	})
	if err != nil || got.Title != "slower" || got.Field("labels") != "faster" {
		t.Errorf("a knot that was changed meanwhile: %+v, %v", got, err)
	}
	must(t, command.New(command.Program{Name: trackertest.StandIn(t, "kno"), Fixed: []string{"--repo-root", dir, "--db", "x"}}).
		Change(t.Context(), "test", nil, "edge", "add", "--", "knot-hot", "parent_of", "knot-warm"))
	if err := write("knot-hot", "status", "shipped"); !errors.Is(err, model.Conflict) || !strings.Contains(err.Error(), "cascade") {
		t.Errorf("the end of a parent: %v", err)
	}
}

// TestChildren: the list of a parent's items finds its children, though only kno's edges name them, and a child is on the
// same side of its pair as in bd.
func TestChildren(t *testing.T) {
	dir := repo(t)
	plant(t, dir)
	s, err := knots.Open(t.Context(), config(t, dir))
	must(t, err)
	must(t, command.New(command.Program{Name: trackertest.StandIn(t, "kno"), Fixed: []string{"--repo-root", dir, "--db", "x"}}).
		Change(t.Context(), "test", nil, "edge", "add", "--", "knot-hot", "parent_of", "knot-block"))
	for parent, want := range map[string]string{"knot-hot": "knot-block", "knot-block": "", "knot-none": ""} {
		got, err := s.Work.WorkItems(t.Context(), model.WorkRequest{Filter: model.WorkFilter{Parent: parent}})
		must(t, err)
		var ids []string
		for _, b := range got.Items {
			ids = append(ids, b.ID)
		}
		if strings.Join(ids, " ") != want {
			t.Errorf("children of %s: %q, want %q", parent, ids, want)
		}
	}
	pairs, err := s.Work.Dependencies(t.Context(), "knot-block")
	if want := (model.Dependency{Blocker: "knot-hot", Blocked: "knot-block", Kind: "parent-child"}); err != nil || !slices.Equal(pairs, []model.Dependency{want}) {
		t.Errorf("pairs %+v, %v, want %+v", pairs, err, want)
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

// TestEventsInTheMaking: an index event that was read half is read again, and one that cannot be read is named.
func TestEventsInTheMaking(t *testing.T) {
	dir := repo(t)
	plant(t, dir)
	event := `{"type":"idx.knot_head","data":{"knot_id":"knot-late","title":"Late","state":"planning","type":"work","updated_at":"2026-04-03T10:00:00Z"}}`
	path := filepath.Join(dir, ".knots", "index", "2026", "04", "9-idx.knot_head.json")
	must(t, os.WriteFile(path, []byte(event[:50]), 0o600))
	s, err := knots.Open(t.Context(), config(t, dir))
	must(t, err)
	must(t, os.WriteFile(path, []byte(event), 0o600))
	page, err := s.Browser.List(t.Context(), model.PageRequest{})
	if err != nil || !slices.ContainsFunc(page.Items, func(h model.Header) bool { return h.ID == "knot-late" }) || len(page.Problems) != 0 {
		t.Errorf("%+v, %v", page, err)
	}
	must(t, os.WriteFile(filepath.Join(filepath.Dir(path), "8-idx.knot_head.json"), []byte(event+strings.Repeat(" ", 1<<20)), 0o600))
	for _, hidden := range []bool{false, true} {
		if page, err = s.Browser.List(t.Context(), model.PageRequest{Hidden: hidden}); err != nil || len(page.Problems) != 1 {
			t.Errorf("problems %q, %v", page.Problems, err)
		}
	}
	if problems, err := s.Names.Names(t.Context(), func(string) bool { return true }); err != nil || len(problems) != 1 {
		t.Errorf("problems of the names %q, %v", problems, err)
	}
	if res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "nothing"}); err != nil || !strings.Contains(res.BoundNote, "8-idx.knot_head.json") {
		t.Errorf("recall %+v, %v", res, err)
	}
	if res, err := s.Work.WorkItems(t.Context(), model.WorkRequest{}); err != nil || len(res.Problems) != 1 {
		t.Errorf("work %q, %v", res.Problems, err)
	}
	if st := backendtest.Health(t, s); len(st.Findings) != 1 || st.Findings[0].Kind != model.FindingUnread {
		t.Errorf("health %+v", st)
	}
}
