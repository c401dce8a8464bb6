package gdpr_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// fourVerbs is a third-party store with only the four verbs of the contract; its hits have a source but
// no id.
type fourVerbs struct {
	mu      sync.Mutex
	items   map[string]string
	subject map[string]string // the subject of each item
	cascade bool              // the store has one
	asked   []string          // ids and subjects of Forget calls
}

func (f *fourVerbs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var in struct{ Query, ID, Data string }
	body, _ := io.ReadAll(r.Body)
	var raw map[string]string
	_ = json.Unmarshal(body, &raw)
	in.Query, in.ID, in.Data = raw["query"], raw["id"], raw["data_subject_id"]
	w.Header().Set("Content-Type", "application/json")
	answer := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	switch r.URL.Path {
	case "/v1/recall":
		hits := []map[string]any{}
		for _, id := range slices.Sorted(maps.Keys(f.items)) {
			if strings.Contains(strings.ToLower(f.items[id]), strings.ToLower(in.Query)) {
				hits = append(hits, map[string]any{"source": id, "snippet": f.items[id], "score": 1})
			}
		}
		answer(map[string]any{"hits": hits})
	case "/v1/forget":
		f.asked = append(f.asked, in.ID+in.Data)
		n := 0
		for id := range f.items {
			if in.ID == id || in.Data != "" && f.subject[id] == in.Data && f.cascade {
				delete(f.items, id)
				n++
			}
		}
		if in.Data != "" && !f.cascade {
			w.WriteHeader(http.StatusNotImplemented)
			answer(map[string]any{"error": map[string]any{"code": "unsupported", "message": "cascade not implemented here, use the GDPR endpoint"}})
			return
		}
		answer(map[string]any{"removed": n})
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// open opens it beside the two stores.
func (f *fourVerbs) open(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	t.Setenv("MEMDESK_GDPR_TOKEN", "tok-2f8e1c55")
	w.more = []backends.StoreConfig{{Name: "far", Kind: "remote", BaseURL: srv.URL, TokenEnv: "MEMDESK_GDPR_TOKEN"}}
	w.open()
	return w
}

func newFourVerbs() *fourVerbs {
	return &fourVerbs{cascade: true,
		items:   map[string]string{"a": "prefers tea", "b": name + " asked for a copy", "c": "met " + name + " and " + other, "d": other + " likes rain"},
		subject: map[string]string{"a": ana, "b": ana, "d": other}}
}

// The store's own cascade removes items that cannot be listed; hits are matched by id, and the receipt
// counts only those seen to be gone.
func TestAStoreOfFourVerbsErasesByItsOwnCascade(t *testing.T) {
	far := newFourVerbs()
	w := far.open(t)
	r := w.file()
	p := w.plan(r.ID)
	if items, _ := p.Count(); items != 2 || actions(p)["far:(cascade)"].Action != gdpr.Scrub || len(p.OverShare(nil)) > 0 {
		t.Errorf("%d items: %+v", items, actions(p))
	}
	if slices.ContainsFunc(p.Stores, func(s gdpr.StorePlan) bool { return s.Store == "far" && s.Cascade }) {
		t.Error("the plan says that the cascade removes exactly what is listed")
	}
	w.complete(p)
	if diff := cmp.Diff(map[string]string{"d": other + " likes rain"}, far.items); diff != "" {
		t.Errorf("left (-want +got)\n%s", diff)
	}
	if len(far.asked) < 3 || far.asked[0] != ana {
		t.Errorf("it was asked to forget %q; want the person's id first, then what recall gave", far.asked)
	}
	_, rec, _, err := w.desk.Receipt(r.ID)
	if err != nil || rec.Forgotten != 2 {
		t.Errorf("%d forgotten, %v; want the two that recall gave", rec.Forgotten, err)
	}
	if !slices.ContainsFunc(rec.Layers, func(l receipt.Layer) bool {
		return l.Store == "far" && l.Layer == "items" && l.Verdict == model.VerdictOutOfScope && l.Hits == 0 && strings.Contains(l.Reason, "says that it removed 2")
	}) {
		t.Errorf("nobody says what could not be listed: %+v", rec.Layers)
	}
}

// Without a cascade, or with an item on hold, the remaining items are unknown.
func TestAStoreOfFourVerbsThatCannotCascade(t *testing.T) {
	far := newFourVerbs()
	far.cascade = false
	w := far.open(t)
	r := w.file()
	out, err := w.erase(w.plan(r.ID))
	if err != nil || out.Status != gdpr.StatePartial || !strings.Contains(fmt.Sprint(out.Problems), "cascade could not be run") {
		t.Errorf("%s %q %v; want partial", out.Status, out.Problems, err)
	}
	if far.items["b"] != "" || far.items["c"] != "" || far.items["d"] == "" {
		t.Errorf("%v; want gone what recall gave, and no more", far.items)
	}

	far = newFourVerbs()
	w = far.open(t)
	r = w.file()
	w.hold(r.ID, "far", "b")
	p := w.planned(r.ID)
	out, err = w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial || far.items["b"] == "" || far.items["a"] == "" || slices.Contains(far.asked, ana) {
		t.Errorf("%s %v, left %v, asked %q; a cascade would take what is on hold", out.Status, err, far.items, far.asked)
	}
}

// staleIndex keeps recalling forgotten items.
type staleIndex struct {
	model.Provider
	said map[string]model.RecallResult
}

func (s *staleIndex) Recall(ctx context.Context, req model.RecallRequest) (model.RecallResult, error) {
	if was, ok := s.said[req.Query]; ok {
		return was, nil
	}
	res, err := s.Provider.Recall(ctx, req)
	if err == nil && len(res.Hits) > 0 {
		s.said[req.Query] = res
	}
	return res, err
}

// A request must not end while an index still returns the subject, even if every item is clean.
func TestRecallStillGivesThePerson(t *testing.T) {
	w := newWorld(t)
	serveWith(t, w, func(s *model.Store) { s.Provider = &staleIndex{s.Provider, map[string]model.RecallResult{}} })
	if _, err := w.store("far").Provider.Recall(t.Context(), model.RecallRequest{Query: name}); err != nil {
		t.Fatal(err)
	}
	r := w.file()
	out, err := w.erase(w.plan(r.ID))
	if err != nil || out.Status != gdpr.StatePartial {
		t.Errorf("%s %v; want partial", out.Status, err)
	}
	for _, l := range out.Layers {
		if l.Store != "far" {
			continue
		}
		if want := map[string]model.Verdict{"items": model.VerdictClean, "recall": model.VerdictResidue}[l.Layer]; want != "" && l.Verdict != want {
			t.Errorf("%+v; want %s", l, want)
		}
	}
}
