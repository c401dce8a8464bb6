package mem0_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"memdesk/backends/backendtest"
	"memdesk/backends/records/mem0"
	"memdesk/backends/records/recordstest"
	"memdesk/model"
)

// standIn answers as mem0's REST server does (mem0.md, Second door), which is Python and does not run
// here: memories by id, an update that embeds, a delete that leaves the history.
type standIn struct {
	mu      sync.Mutex
	rows    map[string]map[string]any
	history map[string][]map[string]any
	key     string
	deaf    bool // updates are acknowledged but not made
	trims   bool // texts are kept without blanks at their ends
	busy    bool // after a change every request is put off
	changed bool
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key != "" && r.Header.Get("X-API-Key") != s.key {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	answer := func(v any) { _ = json.NewEncoder(w).Encode(v) } // only the test's own client reads it
	id, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/memories"), "/"), "/")
	row := s.rows[id]
	switch {
	case s.busy && s.changed:
		w.WriteHeader(http.StatusTooManyRequests)
	case id == "":
		out := []map[string]any{}
		for _, id := range slices.Sorted(maps.Keys(s.rows)) {
			m := s.rows[id]
			if user := r.URL.Query().Get("user_id"); (user == "" || m["user_id"] == user) && len(out) < 1000 {
				out = append(out, m)
			}
		}
		answer(map[string]any{"results": out})
	case rest == "history":
		answer(s.history[id])
	case r.Method == http.MethodGet && row == nil:
		answer(nil)
	case r.Method == http.MethodGet:
		answer(row)
	case row == nil:
		w.WriteHeader(http.StatusInternalServerError)
	case r.Method == http.MethodPut:
		var change struct {
			Text     string         `json:"text"`
			Metadata map[string]any `json:"metadata"`
		}
		if json.NewDecoder(r.Body).Decode(&change) != nil {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		s.changed = true
		if s.trims {
			change.Text = strings.TrimSpace(change.Text)
		}
		if !s.deaf {
			s.past(id, row["memory"], change.Text, "UPDATE")
			row["memory"], row["metadata"], row["updated_at"] = change.Text, change.Metadata, "2026-02-01T00:00:00Z"
		}
		answer(map[string]string{"message": "Memory updated successfully!"})
	case r.Method == http.MethodDelete:
		s.changed = true
		s.past(id, row["memory"], nil, "DELETE")
		delete(s.rows, id)
		answer(map[string]string{"message": "Memory deleted successfully"})
	}
}

func (s *standIn) past(id string, old, is any, event string) {
	s.history[id] = append(s.history[id], map[string]any{"id": fmt.Sprint(id, len(s.history[id])), "memory_id": id, "old_memory": old, "new_memory": is, "event": event,
		"created_at": fmt.Sprintf("2026-01-0%dT00:00:00Z", len(s.history[id])+1), "updated_at": nil, "is_deleted": is == nil})
}

// serve starts a stand-in; with rows it holds two memories.
func serve(t *testing.T, filled bool) (*standIn, string) {
	t.Helper()
	s := &standIn{rows: map[string]map[string]any{}, history: map[string][]map[string]any{}, key: "k3y"}
	if filled {
		s.rows["r1"] = map[string]any{"id": "r1", "memory": "Ada likes rye", "hash": "x", "user_id": "ada", "metadata": map[string]any{"n": 1.5, "place": "pier"}, "created_at": "2026-01-01T00:00:00Z", "updated_at": nil}
		s.rows["r2"] = map[string]any{"id": "r2", "memory": "Brin sails", "hash": "x", "user_id": "brin", "agent_id": "desk", "metadata": nil, "created_at": "2026-01-02T00:00:00Z", "expiration_date": "2020-01-01"}
		s.past("r1", nil, "Ada likes rye", "ADD")
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL
}

func remote(t *testing.T, c mem0.Config, url string) model.Store {
	t.Helper()
	c.BaseURL, c.APIKey = url, model.NewSecret("k3y")
	s, err := mem0.Open(t.Context(), c)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestServerConformance runs the suite over the REST server's stand-in.
func TestServerConformance(t *testing.T) {
	opened := func(t *testing.T, c mem0.Config, filled bool) model.Store {
		_, url := serve(t, filled)
		c.BaseURL, c.APIKey = url, model.NewSecret("k3y")
		s, err := mem0.Open(t.Context(), c)
		must(t, err)
		return s
	}
	backendtest.Run(t, backendtest.Harness{
		Open:         func(t *testing.T) model.Store { return opened(t, mem0.Config{}, false) },
		OpenReadOnly: func(t *testing.T) model.Store { return opened(t, mem0.Config{ReadOnly: true}, true) },
		Broken: func(t *testing.T) model.Store {
			server := httptest.NewServer(&standIn{})
			s, err := mem0.Open(t.Context(), mem0.Config{BaseURL: server.URL})
			must(t, err)
			server.Close()
			return s
		},
		NotByRetain: map[string]string{"memory": recordstest.Made},
	})
}

// TestServer lists, edits, forgets and shows the history through the server's calls.
func TestServer(t *testing.T) {
	stand, url := serve(t, true)
	s := remote(t, mem0.Config{}, url)
	page, err := s.Browser.List(t.Context(), model.PageRequest{})
	if err != nil || len(page.Items) != 1 || page.Items[0].Scope != "user_id=ada" {
		t.Fatalf("%+v, %v", page, err)
	}
	if page, err = s.Browser.List(t.Context(), model.PageRequest{Hidden: true}); err != nil || len(page.Items) != 2 || !page.Items[1].Has(model.FlagExpired) {
		t.Errorf("with what is expired: %+v, %v", page, err)
	}
	it, err := s.Browser.Read(t.Context(), "r1")
	must(t, err)
	res, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "r1", Mode: model.Replace, Content: "likes bread", IfMatch: it.Revision})
	if err != nil || res.Revision == it.Revision {
		t.Fatalf("%+v, %v", res, err)
	}
	if m := stand.rows["r1"]["metadata"].(map[string]any); m["n"] != 1.5 || m["place"] != "pier" {
		t.Errorf("the metadata became %v", m)
	}
	if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "r1", Mode: model.Replace, Content: "x", IfMatch: it.Revision}); !errors.Is(err, model.Conflict) {
		t.Errorf("an old revision was taken: %v", err)
	}
	v, err := s.History.Revisions(t.Context(), "r1")
	if err != nil || len(v.Versions) != 2 || v.Versions[1].By != "UPDATE" || v.Versions[1].Change == nil {
		t.Errorf("%+v, %v", v, err)
	}
	n, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "r1"})
	if err != nil || n.Removed != 1 || stand.rows["r1"] != nil {
		t.Errorf("%+v, %v", n, err)
	}
	layers, err := s.Maintainer.Layers(t.Context())
	if err != nil || len(layers) == 0 || layers[0].ID != "history" || layers[0].Kind != model.LayerExternal {
		t.Errorf("the history that stays is not named: %+v, %v", layers, err)
	}
	stand.deaf = true
	if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "r2", Mode: model.Replace, Content: "other"}); !errors.Is(err, model.Conflict) {
		t.Errorf("a write that did not take was called done: %v", err)
	}
	for _, id := range []string{"..", ".", "r9"} {
		if _, err := s.Browser.Read(t.Context(), id); !errors.Is(err, model.NotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestServerChangedUnseen: an error after a change that was sent must not say that nothing was changed, or undo
// would drop the text before it.
func TestServerChangedUnseen(t *testing.T) {
	replace := func(s model.Store) error {
		_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "r1", Mode: model.Replace, Content: "new text\n"})
		return err
	}
	forget := func(s model.Store) error {
		_, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "r1"})
		return err
	}
	for name, c := range map[string]struct {
		change      func(model.Store) error
		trims, busy bool
	}{"another text": {replace, true, false}, "busy after a write": {replace, false, true}, "busy after a removal": {forget, false, true}} {
		stand, url := serve(t, true)
		stand.trims, stand.busy = c.trims, c.busy
		if err := c.change(remote(t, mem0.Config{}, url)); err == nil || model.Unchanged(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestServerForetellsNothing: what is told of a write comes before it, or not at all, since it may refuse the write.
func TestServerForetellsNothing(t *testing.T) {
	_, url := serve(t, true)
	full := model.Errorf(model.Internal, "undo", "the disk is full")
	_, err := remote(t, mem0.Config{}, url).Provider.Retain(t.Context(), model.RetainRequest{ID: "r1", Mode: model.Replace, Content: "new text",
		Ahead: func(string, model.RetainResult) error { return full }})
	if err != nil {
		t.Errorf("refused after the server has made it: %v", err)
	}
}

// TestServerLimit: the server returns at most 1000 memories, which must not count as all.
func TestServerLimit(t *testing.T) {
	stand, url := serve(t, true)
	for i := range 1200 {
		id := fmt.Sprint("x", i)
		stand.rows[id] = map[string]any{"id": id, "memory": "tide", "user_id": "cleo"}
	}
	s := remote(t, mem0.Config{}, url)
	page, err := s.Browser.List(t.Context(), model.PageRequest{})
	if err != nil || len(page.Problems) == 0 || !page.Total.AtLeast {
		t.Errorf("%+v, %v", page.Total, err)
	}
	res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "tide"})
	if err != nil || !res.Bounded {
		t.Errorf("%+v, %v", res, err)
	}
	yield := func(model.SubjectHit) bool { return true }
	if err := s.Subjects.Concerning(t.Context(), []string{"cleo"}, yield); !errors.Is(err, model.Unsupported) {
		t.Errorf("a user with more memories than are seen: %v", err)
	}
	must(t, s.Subjects.Concerning(t.Context(), []string{"ada"}, yield))
	if page, err = remote(t, mem0.Config{UserID: "ada"}, url).Browser.List(t.Context(), model.PageRequest{}); err != nil || len(page.Items) != 1 || len(page.Problems) != 0 {
		t.Errorf("one user's: %+v, %v", page, err)
	}
	const beyond = "x999" // is there, and not in the list
	if _, err := s.Browser.Read(t.Context(), beyond); !errors.Is(err, model.Unsupported) {
		t.Errorf("reading beyond the list: %v", err)
	}
	if n, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: beyond}); !errors.Is(err, model.Unsupported) {
		t.Errorf("forgetting beyond the list: removed %d, %v", n.Removed, err)
	}
	if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: beyond, Mode: model.Replace, Content: "x", IfMatch: model.Absent}); !errors.Is(err, model.Unsupported) {
		t.Errorf("writing beyond the list: %v", err)
	}
	stand.key = "other"
	_, err = mem0.Open(t.Context(), mem0.Config{BaseURL: url, APIKey: model.NewSecret("k3y")})
	if !errors.Is(err, model.PermissionDenied) || strings.Contains(err.Error(), "k3y") {
		t.Errorf("a wrong key: %v", err)
	}
}

// TestServerOfAnotherKind: an answer that is no list is not an empty store.
func TestServerOfAnotherKind(t *testing.T) {
	for _, answer := range []string{`{"detail":"moved"}`, `null`, `{"results":null}`, `{"memories":[{"id":"r1"}]}`} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }))
		s, err := mem0.Open(t.Context(), mem0.Config{BaseURL: server.URL})
		if !errors.Is(err, model.Unavailable) {
			t.Errorf("%s opens with %v", answer, err)
		}
		_ = s.Close()
		server.Close()
	}
}
