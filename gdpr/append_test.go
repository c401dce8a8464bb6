package gdpr_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/model"
)

// TestHalvesOfANameDoNotComeBack: an append has no separator, so the gate judges the joined text.
// Neither half alone names a subject.
func TestHalvesOfANameDoNotComeBack(t *testing.T) {
	t.Parallel()
	const zoe = "Zoë Ångström"
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "of " + zoe})
	w.agent(map[string]string{"AGENT.md": "The agent.\nquiet\n"})
	r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: "subj-zoe-77", Aliases: []string{zoe}, Received: "2026-02-20", Ground: "a letter"})
	if err != nil {
		t.Fatal(err)
	}
	w.complete(w.plan(r.ID))
	coded := base64.StdEncoding.EncodeToString([]byte("a note by " + zoe + ", once"))
	tests := []struct {
		name    string
		parts   []string
		refused bool // whether the last append is refused
	}{
		{"in a word", []string{"call Zoë Ång", "ström back"}, true},
		{"between words", []string{"call Zoë ", "Ångström"}, true},
		{"over a line", []string{"call Zoë", "\nÅngström"}, true},
		{"in three", []string{"call Zo", "ë Ång", "ström"}, true},
		{"with marks of its own", []string{"call Zoe", "\u0308 A\u030angstro\u0308m"}, true},
		{"base64", []string{coded[:20], coded[20:]}, true},
		{"after a long text", []string{strings.Repeat("x ", 900) + "Zoë Ång", "ström" + strings.Repeat(" y", 900)}, true},
		{"an id", []string{"see subj-zo", "e-77"}, true},
		{"a longer word", []string{"call Zoë Ång", "strömer"}, false},
		{"another id", []string{"see subj-zoe-7", "78"}, false},
		{"apart", []string{"Zoë Ång\n", "ström"}, false},
	}
	for _, store := range []string{"db", "agent"} {
		for _, tt := range tests {
			id := "memory/x"
			if store == "agent" {
				id = "AGENT.md"
				w.put(store, model.RetainRequest{ID: id, Content: "quiet\n"})
			} else {
				id = w.put(store, model.RetainRequest{Tier: "session", Key: strings.ReplaceAll(tt.name, " ", "-"), Content: "quiet\n"})
			}
			for i, part := range tt.parts {
				_, err := w.store(store).Provider.Retain(t.Context(), model.RetainRequest{ID: id, Content: part, Mode: model.Append})
				if last := i == len(tt.parts)-1; last && tt.refused != model.IsRefusal(err) || !last && err != nil {
					t.Errorf("%s, %s, part %d: %v; want a refusal of the last: %v", store, tt.name, i, err, tt.refused)
				}
			}
		}
	}
	// The same by the key under which the store keeps it.
	id := w.put("db", model.RetainRequest{Tier: "session", Key: "addressed", Content: "Zoë Ång"})
	if _, err := w.store("db").Provider.Retain(t.Context(), model.RetainRequest{Tier: "session", Key: "addressed", Content: "ström", Mode: model.Append}); !model.IsRefusal(err) {
		t.Errorf("%s by its key: %v; want a refusal", id, err)
	}
	// Concurrently: only one of the two appends sees the other half.
	for range 20 {
		id := w.put("db", model.RetainRequest{Tier: "session", Key: "both", Content: "- "})
		var wg sync.WaitGroup
		errs := make([]error, 2)
		for i, half := range []string{"Zoë Ång", "ström"} {
			wg.Go(func() {
				_, errs[i] = w.store("db").Provider.Retain(t.Context(), model.RetainRequest{ID: id, Content: half, Mode: model.Append})
			})
		}
		wg.Wait()
		it, err := w.store("db").Browser.Read(t.Context(), id)
		if err != nil || strings.Contains(it.Body, zoe) {
			t.Fatalf("%q, %v, %v", it.Body, err, errs)
		}
	}
	// While the store cannot be read, no append may pass.
	gate := w.desk.Gate()
	s := w.store("db")
	s.Browser = deaf{s.Browser}
	err = gate(t.Context(), &model.Call{Op: model.OpRetain, Store: &s, ID: id, Retain: &model.RetainRequest{ID: id, Content: "x", Mode: model.Append}},
		func(context.Context) error { t.Error("it was added"); return nil })
	if !errors.Is(err, model.Unavailable) {
		t.Errorf("a store that does not answer: %v; want Unavailable", err)
	}
}

// TestHalvesFromTwoProcesses: the gate must also judge text that another process adds between the check
// and the write, and such a race must lose no append that names no subject.
func TestHalvesFromTwoProcesses(t *testing.T) {
	t.Parallel()
	const zoe = "Zoë Ångström"
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "of " + zoe})
	w.agent(map[string]string{"AGENT.md": "The agent.\nquiet\n"})
	r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: "subj-zoe-77", Aliases: []string{zoe}, Received: "2026-02-20", Ground: "a letter"})
	if err != nil {
		t.Fatal(err)
	}
	w.complete(w.plan(r.ID))
	for _, store := range []string{"db", "agent"} {
		for _, tt := range []struct {
			name, theirs, ours, want string
			refused                  bool
		}{
			{"half a name", "Zoë Ång", "ström", "quiet\nZoë Ång", true},
			{"nobody", "of tea ", "and rain", "quiet\nof tea and rain", false},
		} {
			t.Run(store+", "+tt.name, func(t *testing.T) {
				id := "AGENT.md"
				if store == "agent" {
					w.put(store, model.RetainRequest{ID: id, Content: "quiet\n"})
				} else {
					id = w.put(store, model.RetainRequest{Tier: "session", Key: strings.ReplaceAll(tt.name, " ", "-"), Content: "quiet\n"})
				}
				there := w.raw(store)
				s := w.store(store)
				times := 0
				req := model.RetainRequest{ID: id, Content: tt.ours, Mode: model.Append}
				err := w.desk.Gate()(t.Context(), &model.Call{Op: model.OpRetain, Store: &s, ID: id, Retain: &req}, func(ctx context.Context) error {
					if times++; times == 1 {
						if _, err := there.Provider.Retain(ctx, model.RetainRequest{ID: id, Content: tt.theirs, Mode: model.Append}); err != nil {
							t.Fatal(err)
						}
					}
					_, err := there.Provider.Retain(ctx, req)
					return err
				})
				it, rerr := s.Browser.Read(t.Context(), id)
				if rerr != nil || model.IsRefusal(err) != tt.refused || !tt.refused && err != nil || it.Body != tt.want || req.IfMatch != "" {
					t.Errorf("%v, %v, %q; want %q, refused %v", err, rerr, it.Body, tt.want, tt.refused)
				}
			})
		}
	}
	// A caller who expects a revision must be told of the change.
	id := w.put("db", model.RetainRequest{Tier: "session", Key: "mine", Content: "a"})
	it, err := w.store("db").Browser.Read(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	w.put("db", model.RetainRequest{ID: id, Content: "b"})
	if _, err := w.store("db").Provider.Retain(t.Context(), model.RetainRequest{ID: id, Content: "x", Mode: model.Append, IfMatch: it.Revision}); !errors.Is(err, model.Conflict) {
		t.Errorf("an expectation of its own: %v; want a conflict", err)
	}
}

// raw is a store as another process sees it, without this process's gate.
func (w *world) raw(name string) model.Store {
	w.t.Helper()
	c := backends.StoreConfig{Name: "db", Kind: "sqlite", Path: w.path("db")}
	if name == "agent" {
		c = backends.StoreConfig{Name: "agent", Kind: "crewship", Path: w.path("agent")}
	}
	kind, _ := backends.Builtin().Kind(c.Kind)
	s, err := kind.Open(w.t.Context(), c, backends.Env{Clock: w.clock})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = s.Close() })
	return s
}

// deaf is a browser that cannot read items for now.
type deaf struct{ model.Browser }

func (deaf) Read(context.Context, string) (model.Item, error) {
	return model.Item{}, model.Errorf(model.Unavailable, "read", "no answer")
}
