package remote_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"memdesk/backends/backendtest"
	"memdesk/backends/remote"
	"memdesk/model"
)

// hostile opens a store that answers each call as given.
func hostile(t *testing.T, answer func(call string, body map[string]any, w http.ResponseWriter, r *http.Request)) model.Store {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/store" {
			_, _ = io.WriteString(w, `{"kind":"x","tiers":[],"facets":["browse","history","quarantine","conflicts","subjects","names"],"notes":["`+r.Header.Get("Authorization")+`"]}`)
			return
		}
		body := map[string]any{}
		_ = json.NewDecoder(r.Body).Decode(&body)
		answer(strings.TrimPrefix(r.URL.Path, "/v1/"), body, w, r)
	}))
	t.Cleanup(srv.Close)
	s, err := remote.Open(t.Context(), remote.Config{Name: "far", BaseURL: srv.URL, Token: model.NewSecret(token)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAnEchoedToken: what a server says must not show the token that it was sent.
func TestAnEchoedToken(t *testing.T) {
	status := 0
	s := hostile(t, func(call string, _ map[string]any, w http.ResponseWriter, r *http.Request) {
		said := r.Header.Get("Authorization")
		if status != 200 {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"error":{"code":"INVALID_INPUT","message":"`+said+`"}}`)
			return
		}
		_, _ = io.WriteString(w, map[string]string{
			"health": `{"ok":false,"message":"` + said + `","findings":[{"kind":"x","message":"` + said + `","state":"fine"}]}`,
			"recall": `{"hits":[],"bounded":true,"bound_note":"` + said + `"}`,
			"list":   `{"items":[{"id":"","tier":"x","bytes":1}],"total":{"n":1},"problems":["` + said + `"]}`,
			"retain": `{"id":"x","bytes":1,"warnings":["` + said + `"]}`,
			"forget": `{"removed":1,"warnings":["` + said + `"]}`,
			"names":  `{"error":{"code":"INTERNAL","message":"` + said + `"}}` + "\n",
		}[call])
	})
	for _, status = range []int{200, 400, 429} {
		hits, err1 := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "x"})
		page, err2 := s.Browser.List(t.Context(), model.PageRequest{})
		kept, err3 := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "x", Content: "x", Mode: model.Replace})
		gone, err4 := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "x"})
		_, err5 := s.Names.Names(t.Context(), func(string) bool { return true })
		health := backendtest.Health(t, s)
		shown, err := json.Marshal([]any{hits, page, kept, gone, health, s.Notes, errors.Join(err1, err2, err3, err4, err5, errors.New("end")).Error()})
		if err != nil || strings.Contains(string(shown), token) || strings.Count(string(shown), "***") < 5 {
			t.Errorf("%d: %s, %v", status, shown, err)
		}
		if status == 200 && (len(page.Items) > 0 || len(page.Problems) != 2 || health.Findings[0].State != model.HealthUnknown) {
			t.Errorf("an item without an id, or a state that nobody knows: %+v, %+v", page, health.Findings)
		}
	}
}

// TestATokenInTheReads: the words that a server gives to what it lists are as hostile as its errors.
func TestATokenInTheReads(t *testing.T) {
	s := hostile(t, func(call string, _ map[string]any, w http.ResponseWriter, r *http.Request) {
		said := r.Header.Get("Authorization")
		_, _ = io.WriteString(w, map[string]string{
			"names":       `{"done":true,"problems":["` + said + `"]}` + "\n",
			"concerning":  `{"id":"x","subject":"ana","reason":"` + said + `"}` + "\n" + `{"done":true}` + "\n",
			"revisions":   `{"state":"none","reason":"` + said + `","versions":[]}`,
			"conflicts":   `{"conflicts":[{"copy_id":"y","base_id":"x","tool":"t","reason":"` + said + `"}]}`,
			"quarantined": `{"entries":[{"id":"x","source":"x","category":"c","pattern":"p","sha256":"","bytes":1,"content":"","problem":"` + said + `"}]}`,
		}[call])
	})
	var hits []model.SubjectHit
	problems, err1 := s.Names.Names(t.Context(), func(string) bool { return true })
	err2 := s.Subjects.Concerning(t.Context(), []string{"ana"}, func(h model.SubjectHit) bool { hits = append(hits, h); return true })
	versions, err3 := s.History.Revisions(t.Context(), "x")
	conflicts, err4 := s.Conflicts.StoreConflicts(t.Context())
	entries, err5 := s.Quarantine.Quarantined(t.Context())
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	shown, err := json.Marshal([]any{problems, hits, versions, conflicts, entries})
	if err != nil || strings.Contains(string(shown), token) || strings.Count(string(shown), "***") != 5 {
		t.Errorf("%s, %v", shown, err)
	}
}

// TestAListThatEnds: pages that lead in a circle must be an error, of whatever length, and a long list none.
func TestAListThatEnds(t *testing.T) {
	var next map[string]string
	s := hostile(t, func(_ string, body map[string]any, w http.ResponseWriter, _ *http.Request) {
		at, _ := body["cursor"].(string)
		_, _ = io.WriteString(w, `{"items":[{"id":"a`+at+`","tier":"x","bytes":1}],"next":"`+next[at]+`","prev":"`+at+`","total":{"n":1}}`)
	})
	for name, c := range map[string]struct {
		next  map[string]string
		pages int // of a list that ends
	}{
		"one page":    {map[string]string{"": "a", "a": "a"}, 0},
		"two pages":   {map[string]string{"": "a", "a": "b", "b": "a"}, 0},
		"a late loop": {map[string]string{"": "1", "1": "2", "2": "3", "3": "4", "4": "5", "5": "6", "6": "4"}, 0},
		"an end":      {map[string]string{"": "1", "1": "2", "2": "~3.x.y", "~3.x.y": "4", "4": "5", "5": ""}, 6},
	} {
		next = c.next
		req, pages := model.PageRequest{}, 0
		var err error
		for err == nil && pages < 100 {
			var page model.Page
			page, err = s.Browser.List(t.Context(), req)
			if pages++; page.Next == "" {
				break
			}
			req.Cursor = page.Next
		}
		if c.pages > 0 && (err != nil || pages != c.pages) || c.pages == 0 && !errors.Is(err, model.Unavailable) {
			t.Errorf("%s: %d pages, %v", name, pages, err)
		}
	}
}

// TestAnotherItem: an item in the place of another must be an error, and so must a count that cannot be.
func TestAnotherItem(t *testing.T) {
	s := hostile(t, func(call string, _ map[string]any, w http.ResponseWriter, _ *http.Request) {
		if call == "forget" {
			_, _ = io.WriteString(w, `{"removed":-3}`)
			return
		}
		_, _ = io.WriteString(w, `{"id":"b","tier":"x","bytes":1,"content":"of another"}`)
	})
	_, err1 := s.Browser.Read(t.Context(), "a")
	_, err2 := s.Quarantine.ReadQuarantined(t.Context(), "a")
	_, err3 := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "a"})
	_, err4 := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "a", Content: "x", Mode: model.Append})
	for _, err := range []error{err1, err2, err3, err4} {
		if !errors.Is(err, model.Unavailable) || model.Unchanged(err) {
			t.Error(err)
		}
	}
	if it, err := s.Browser.Read(t.Context(), "b"); err != nil || it.Body != "of another" {
		t.Errorf("%+v, %v", it, err)
	}
}
