package gdpr_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// served is a remote store on the loopback, with a fault to inject.
type served struct {
	*httptest.Server
	fault   atomic.Pointer[http.HandlerFunc] // replaces /v1/forget and /v1/retain
	changes atomic.Int64

	unreadable atomic.Bool
}

// serve puts an in-memory store behind the Provider contract over HTTP.
func serve(t *testing.T, w *world) *served {
	t.Helper()
	return serveWith(t, w, nil)
}

func serveWith(t *testing.T, w *world, edit func(*model.Store)) *served {
	t.Helper()
	kind, _ := backends.Builtin().Kind("inmem")
	far, err := kind.Open(t.Context(), backends.StoreConfig{Name: "far", Kind: "inmem"}, backends.Env{Clock: w.clock})
	if err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(&far)
	}
	t.Setenv("MEMDESK_GDPR_TOKEN", "tok-2f8e1c55")
	s := &served{}
	next := backends.Serve(backends.Served{Callers: []backends.Caller{{Name: "op", Token: model.NewSecret("tok-2f8e1c55")}}, Store: func(backends.Caller) model.Store { return far }})
	s.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/read" && s.unreadable.Load() {
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(rw, `{"error":{"kind":"permission_denied","message":"no"}}`)
			return
		}
		if r.URL.Path == "/v1/forget" || r.URL.Path == "/v1/retain" {
			if f := s.fault.Load(); f != nil {
				(*f)(rw, r)
				return
			}
			s.changes.Add(1)
		}
		next.ServeHTTP(rw, r)
	}))
	t.Cleanup(s.Close)
	w.more = append(w.more, backends.StoreConfig{Name: "far", Kind: "remote", BaseURL: s.URL, TokenEnv: "MEMDESK_GDPR_TOKEN", Timeout: backends.Duration(time.Second)})
	w.open()
	put := func(id, subject, text string) {
		t.Helper()
		if _, err := w.store("far").Provider.Retain(t.Context(), model.RetainRequest{ID: id, Tier: "session", Mode: model.Replace, Content: text, DataSubjectID: subject}); err != nil {
			t.Fatal(err)
		}
	}
	put("f1", ana, "prefers tea")
	put("f2", "", "talked with "+name)
	put("f3", "", "a line on "+name+"\nand of bob\nand tea\nand rain")
	put("f4", other, "keeps the oven")
	for i := range 12 {
		put(fmt.Sprint("q", i), "", "a note on tides")
	}
	return s
}

// TestServerFaults erases a subject from a failing server: the request must stay partial, keep
// everything it needs to continue, and do the missing steps in the next run.
func TestServerFaults(t *testing.T) {
	answer := func(code int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(code)
			_, _ = io.WriteString(w, "sorry, "+ana)
		}
	}
	tests := []struct {
		what  string
		fault http.HandlerFunc
	}{
		{"500", answer(500)},
		{"429", answer(429)},
		{"503", answer(503)},
		{"it hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		{"it never answers", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}},
		{"it says yes and keeps it", func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "application/json")
			var req struct{ ID string }
			_ = json.Unmarshal(b, &req)
			if strings.HasSuffix(r.URL.Path, "forget") {
				_, _ = io.WriteString(w, `{"removed":1}`)
				return
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"id": req.ID, "bytes": 10})
		}},
		{"it says half a yes", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"remo`) }},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			w := newWorld(t)
			s := serve(t, w)
			w.fill()
			r := w.file()
			p := w.plan(r.ID)
			s.fault.Store(&tt.fault)
			out, err := w.erase(p)
			if err != nil || out.Status != gdpr.StatePartial {
				t.Fatalf("%s, %v; want partial: %+v", out.Status, err, out.Layers)
			}
			if got, _ := w.desk.Get(r.ID); got.Subject != ana || got.State != gdpr.StatePartial {
				t.Errorf("the request: %q, %s", got.Subject, got.State)
			}
			if _, _, _, err := w.desk.Receipt(r.ID); err == nil {
				t.Error("a receipt of partial work")
			}
			for _, at := range []string{ana, name} {
				if strings.Contains(fmt.Sprint(out.Problems)+out.Reason+fmt.Sprint(out.Layers), at) {
					t.Errorf("the report names her: %q, %+v", out.Problems, out.Layers)
				}
			}
			if left := w.traces(w.dir); len(left) > 0 {
				t.Errorf("the other stores were not done: %q", left)
			}
			s.fault.Store(nil)
			s.changes.Store(0)
			if tt.what == "it says yes and keeps it" {
				p = w.plan(r.ID) // the run's journal has the false answer: plan again
			}
			w.complete(p)
			if n := s.changes.Load(); n == 0 || n > 4 {
				t.Errorf("the retry made %d changes; want those that were missing", n)
			}
			if left := w.traces(w.dir, w.desk.State); len(left) > 0 {
				t.Errorf("traces: %q", left)
			}
			for ref, body := range w.contents() {
				if strings.HasPrefix(ref, "far:") && strings.Contains(body, name) {
					t.Errorf("%s: %q", ref, body)
				}
			}
		})
	}
}

// TestErasureTellsTheServer: each change of a run says that it is an erasure, where the server heeds that.
func TestErasureTellsTheServer(t *testing.T) {
	w := newWorld(t)
	var running atomic.Bool
	var changes, told atomic.Int64
	serveWith(t, w, func(far *model.Store) {
		far.Features = map[string]bool{model.FeatureErase: true}
		*far = far.Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
			if running.Load() && c.Op.Mutates() {
				changes.Add(1)
				if c.Retain != nil && c.Retain.Erase || c.Forget != nil && c.Forget.Erase {
					told.Add(1)
				}
			}
			return next(ctx)
		})
	})
	w.fill()
	p := w.plan(w.file().ID)
	running.Store(true)
	w.complete(p)
	if n := changes.Load(); n < 3 || told.Load() != n {
		t.Errorf("%d of %d changes say that they are an erasure", told.Load(), n)
	}
}

// TestUnreadableIsNotClean: a server lists items but does not return their text.
func TestUnreadableIsNotClean(t *testing.T) {
	w := newWorld(t)
	s := serve(t, w)
	r := w.file()
	p := w.plan(r.ID)
	s.unreadable.Store(true)
	out, err := w.erase(p)
	if err != nil || out.Status == gdpr.StateComplete || !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
		return l.Store == "far" && l.Layer == "items" && l.Verdict == model.VerdictUnaudited && l.Reason != ""
	}) {
		t.Errorf("%s, %v; want the items unaudited: %+v", out.Status, err, out.Layers)
	}
}

// versions is a history in which one item's old text names the subject.
type versions struct{ of, text string }

func (v versions) Revisions(_ context.Context, id string) (model.Versions, error) {
	out := model.Versions{State: model.Recorded}
	if id == v.of {
		out.Versions = []model.Version{{ID: "v1", Bytes: int64(len(v.text)), Readable: true}}
	}
	return out, nil
}

func (v versions) ReadRevision(_ context.Context, id, version string) (model.Item, error) {
	if id != v.of || version != "v1" {
		return model.Item{}, model.Errorf(model.NotFound, "history", "there is no such version")
	}
	return model.Item{Header: model.Header{ID: id}, Body: v.text}, nil
}

// TestVersionsOfAServer finds a subject in an old version of an item whose current text does not name
// the subject, on a server that does not show its medium.
func TestVersionsOfAServer(t *testing.T) {
	w := newWorld(t)
	serveWith(t, w, func(far *model.Store) { far.History = versions{"q3", "once it was of " + name} })
	r := w.file()
	p := w.plan(r.ID)
	planned := false
	for _, s := range p.Stores {
		for _, st := range s.Steps {
			planned = planned || st.Store == "far" && st.ID == "q3" && st.Action == gdpr.OutOfScope
		}
	}
	out := w.inScope(p)
	if !planned || !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
		return l.Store == "far" && l.Layer == "versions" && l.Verdict == model.VerdictOutOfScope && l.Hits == 1
	}) {
		t.Errorf("the old version is in the plan: %v; in the report: %+v", planned, out.Layers)
	}
}

// TestServerDownAtThePlan keeps the request open until the server could be searched.
func TestServerDownAtThePlan(t *testing.T) {
	w := newWorld(t)
	s := serve(t, w)
	w.fill()
	r := w.file()
	s.Close()
	p, err := w.desk.MakePlan(t.Context(), r.ID, w.fleet, nil)
	if err != nil || !slices.ContainsFunc(p.Stores, func(sp gdpr.StorePlan) bool { return sp.Store == "far" && sp.Error != "" }) {
		t.Fatalf("the plan says nothing of a server that is down: %+v, %v", p.Stores, err)
	}
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial {
		t.Errorf("%s, %v; want partial", out.Status, err)
	}
}

// TestGatewayHasNoDelete erases a subject from a gateway that only accepts writes: the receipt must
// refer to the gateway's operator.
func TestGatewayHasNoDelete(t *testing.T) {
	w := newWorld(t)
	w.fill()
	gw := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if strings.HasSuffix(r.URL.Path, "/search") && bytes.Contains(bytes.ToLower(b), []byte("zxribeiro")) {
			_, _ = io.WriteString(rw, `{"results":[{"id":"m-1","text":"`+name+` likes tea","score":0.5}]}`)
			return
		}
		_, _ = io.WriteString(rw, `{"results":[],"status":"ok"}`)
	}))
	t.Cleanup(gw.Close)
	t.Setenv("MEMDESK_GDPR_TOKEN", "uk_test")
	w.more = []backends.StoreConfig{{Name: "gate", Kind: "gateway", BaseURL: gw.URL, UserID: "u", UserKeyEnv: "MEMDESK_GDPR_TOKEN", Scope: []string{"resources"}}}
	w.open()
	r := w.file()
	p := w.plan(r.ID)
	if !slices.ContainsFunc(p.Stores, func(s gdpr.StorePlan) bool {
		return s.Store == "gate" && slices.ContainsFunc(s.Steps, func(st gdpr.Step) bool { return st.Action == gdpr.OutOfScope && st.Reason != "" })
	}) {
		t.Errorf("the plan does not name the gateway: %+v", p.Stores)
	}
	out := w.inScope(p)
	found := false
	for _, l := range out.Layers {
		if l.Store == "gate" {
			if l.Verdict != model.VerdictOutOfScope || l.Reason == "" {
				t.Errorf("%+v; want it out of scope, with the reason", l)
			}
			found = found || l.Layer == "recall" && l.Hits > 0
		}
	}
	if !found {
		t.Errorf("nothing says that the gateway still gives her: %+v", out.Layers)
	}
	if _, rec, _, err := w.desk.Receipt(r.ID); err != nil || !slices.ContainsFunc(rec.Layers, func(l receipt.Layer) bool { return l.Store == "gate" && l.Hits > 0 }) {
		t.Errorf("the receipt does not say it: %v", err)
	}
}

// TestNoDeleteIsRedacted erases a subject from a store without a delete: every item must be redacted,
// and a remaining mention is no success.
func TestNoDeleteIsRedacted(t *testing.T) {
	w := newWorld(t)
	w.fill()
	serveWith(t, w, func(s *model.Store) {
		s.Deviations = append(s.Deviations, model.Deviation{Rule: "R30", Reason: "this store deletes nothing"})
	})
	r := w.file()
	p := w.plan(r.ID)
	for _, s := range p.Stores {
		for _, st := range s.Steps {
			if s.Store == "far" && st.Action == gdpr.Forget {
				t.Errorf("%s is to be forgotten where nothing can be", st.ID)
			}
		}
		if s.Store == "far" && s.Targets == 0 {
			t.Error("nothing is planned in the store")
		}
	}
	out := w.complete(p)
	for _, l := range out.Layers {
		if l.Store == "far" && (l.Layer == "items" || l.Layer == "recall") && l.Verdict != model.VerdictClean {
			t.Errorf("%+v; want it clean", l)
		}
	}
	for ref, body := range w.contents() {
		if strings.HasPrefix(ref, "far:") && strings.Contains(body, name) {
			t.Errorf("%s: %q", ref, body)
		}
	}
}

// TestUnreadWhereNothingCanBeDeleted: an item that cannot be read is unaudited in a store without a delete
// too.
func TestUnreadWhereNothingCanBeDeleted(t *testing.T) {
	w := newWorld(t)
	s := serveWith(t, w, func(far *model.Store) {
		far.Features = map[string]bool{"forget": false, "retain": false, "cascade": false}
	})
	r := w.file()
	s.unreadable.Store(true)
	p, err := w.desk.MakePlan(t.Context(), r.ID, w.fleet, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial || !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
		return l.Store == "far" && l.Layer == "items" && l.Verdict == model.VerdictUnaudited && l.Reason != ""
	}) {
		t.Errorf("%s, %v; want the items unaudited: %+v", out.Status, err, out.Layers)
	}
}

// TestVersionsOfARemovedItem: a second plan does not find the item that the first one removed, and its old
// versions are still there.
func TestVersionsOfARemovedItem(t *testing.T) {
	w := newWorld(t)
	serveWith(t, w, func(far *model.Store) { far.History = versions{"f2", "once it was of " + name} })
	r := w.file()
	for run := range 2 {
		out, err := w.erase(w.plan(r.ID))
		if err != nil || out.Status != gdpr.StateInScope || !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
			return l.Store == "far" && l.Layer == "versions" && l.Verdict == model.VerdictOutOfScope && l.Hits == 1
		}) {
			t.Errorf("run %d: %s, %v; want the old version out of scope: %+v", run, out.Status, err, out.Layers)
		}
	}
}

// unlisted is a store whose list leaves an item out, and whose names give it twice.
type unlisted struct{ model.Browser }

func (u unlisted) List(ctx context.Context, req model.PageRequest) (model.Page, error) {
	p, err := u.Browser.List(ctx, req)
	p.Items = slices.DeleteFunc(p.Items, func(h model.Header) bool { return h.ID == "f2" })
	return p, err
}

func (unlisted) Names(_ context.Context, yield func(string) bool) ([]string, error) {
	for range 2 {
		if !yield("f2") {
			break
		}
	}
	return nil, nil
}

// TestAServerThatNamesAnItemTwice: the plan has one step for it.
func TestAServerThatNamesAnItemTwice(t *testing.T) {
	w := newWorld(t)
	serveWith(t, w, func(s *model.Store) { u := unlisted{s.Browser}; s.Browser, s.Names = u, u })
	n := 0
	for _, sp := range w.plan(w.file().ID).Stores {
		for _, st := range sp.Steps {
			if st.Store == "far" && st.ID == "f2" {
				n++
			}
		}
	}
	if n != 1 {
		t.Errorf("%d steps, want one", n)
	}
}
