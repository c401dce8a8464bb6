package crewship_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"memdesk/backends/seam/crewship"
	"memdesk/internal/clock"
	"memdesk/model"
)

const apiToken = "crewship_admin_of_this_test"

// withAPI opens a data directory whose server is answer.
func withAPI(t *testing.T, answer http.HandlerFunc) model.Store {
	t.Helper()
	srv := httptest.NewServer(answer)
	t.Cleanup(srv.Close)
	return open(t, crewship.Config{Name: "d", Path: data(t, nil), Workspace: "w1", APIURL: srv.URL, APIToken: model.NewSecret(apiToken), Clock: clock.Fixed(now)})
}

func TestCascadeGoesToCrewship(t *testing.T) {
	calls := 0
	s := withAPI(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		var body struct{ Reason string }
		err := json.NewDecoder(r.Body).Decode(&body)
		if err != nil || strings.TrimSpace(body.Reason) == "" || r.Method != http.MethodDelete || r.URL.Path != "/api/v1/admin/users/usr/1/data" && r.URL.EscapedPath() != "/api/v1/admin/users/usr%2F1/data" ||
			r.URL.Query().Get("workspace_id") != "w1" || r.Header.Get("Authorization") != "Bearer "+apiToken {
			t.Errorf("%s %s %v %+v", r.Method, r.URL, err, body)
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"action_id":"ga_1","rows_deleted":{"peer_cards":2,"memory_versions":0,"user_models":1}}`)
	})
	if s.Capabilities()["cascade"] != true {
		t.Error("the cascade is not declared")
	}
	res, err := s.Provider.Forget(t.Context(), model.ForgetRequest{DataSubjectID: "usr/1"})
	if err != nil || res.Removed != 3 || calls != 1 {
		t.Errorf("= %+v, %v after %d calls", res, err, calls)
	}
	if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{DataSubjectID: "usr/1", WorkspaceID: "w2"}); !errors.Is(err, model.InvalidInput) {
		t.Errorf("another workspace: %v", err)
	}
}

func TestCascadeFailures(t *testing.T) {
	for status, want := range map[int]model.Kind{
		207: model.Unavailable, 400: model.InvalidInput, 401: model.PermissionDenied, 403: model.PermissionDenied,
		409: model.Conflict, 500: model.Unavailable, 302: model.Unavailable,
		429: model.RateLimited,
	} {
		s := withAPI(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"error":"`+apiToken+` usr_1"}`)
		})
		_, err := s.Provider.Forget(t.Context(), model.ForgetRequest{DataSubjectID: "usr_1"})
		if model.KindOf(err) != want || strings.Contains(err.Error(), apiToken) || strings.Contains(err.Error(), "usr_1") {
			t.Errorf("%d: %v (%s), want %s", status, err, model.KindOf(err), want)
		}
	}
	answer := ""
	s := withAPI(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) })
	for _, answer = range []string{"<html>", "{}", "null", `{"status":"ok"}`, `{"action_id":"ga_1"}`, `{"action_id":"ga_1","rows_deleted":null}`,
		`{"action_id":"ga_1","rows_deleted":-1}`, `{"action_id":"ga_1","rows_deleted":{"a":-1}}`, `{"action_id":"ga_1","data_subject":"v","rows_deleted":1}`} {
		if res, err := s.Provider.Forget(t.Context(), model.ForgetRequest{DataSubjectID: "u"}); !errors.Is(err, model.Unavailable) || res.Removed != 0 {
			t.Errorf("%s: %+v, %v", answer, res, err)
		}
	}
}

// TestScrubErasesRows: with a server the subject's rows must go as a part of a scrub.
func TestScrubErasesRows(t *testing.T) {
	status := http.StatusAccepted
	s := withAPI(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"rows_deleted":4}`)
	})
	scrub := func() model.LayerResult {
		res, err := s.Maintainer.Scrub(t.Context(), model.ScrubRequest{Subjects: []string{"usr_1"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range res {
			if r.Layer == "crewship.db" {
				return r
			}
		}
		t.Fatalf("no result for the database: %+v", res)
		return model.LayerResult{}
	}
	if r := scrub(); r.Rows != 4 || r.Verdict != model.VerdictOutOfScope {
		t.Errorf("= %+v", r)
	}
	status = http.StatusMultiStatus
	if r := scrub(); r.Verdict != model.VerdictFailed || r.Reason == "" {
		t.Errorf("partial: %+v", r)
	}
}

func TestAPIURL(t *testing.T) {
	root := data(t, nil)
	for _, cfg := range []crewship.Config{
		{APIURL: "http://crewship.example.org", APIToken: model.NewSecret("x"), Workspace: "w1"},
		{APIURL: "https://u:p@crewship.example.org", APIToken: model.NewSecret("x"), Workspace: "w1"},
		{APIURL: "crewship.example.org", APIToken: model.NewSecret("x"), Workspace: "w1"},
		{APIURL: "https://crewship.example.org", Workspace: "w1"},
		{APIURL: "https://crewship.example.org", APIToken: model.NewSecret("x")},
	} {
		cfg.Path = root
		if _, err := crewship.Open(t.Context(), cfg); !errors.Is(err, model.InvalidInput) {
			t.Errorf("%s: %v, want invalid input", cfg.APIURL, err)
		}
	}
}

// TestCascadeIsForTheNamedPerson: an id is one part of the path, whatever it holds. One that a server would read
// as a step up erases nobody.
func TestCascadeIsForTheNamedPerson(t *testing.T) {
	asked := ""
	s := withAPI(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.EscapedPath()
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"rows_deleted":1}`)
	})
	for id, want := range map[string]string{
		"usr%5F1": "usr%255F1", "100%": "100%25", "no/../usr_2": "no%2F..%2Fusr_2", "a?b#c": "a%3Fb%23c", "ma@x.example": "ma@x.example", "Jö": "J%C3%B6",
	} {
		asked = ""
		_, err := s.Provider.Forget(t.Context(), model.ForgetRequest{DataSubjectID: id})
		if want = "/api/v1/admin/users/" + want + "/data"; err != nil || asked != want {
			t.Errorf("%q: %s was asked, want %s; %v", id, asked, want, err)
		}
	}
	for _, id := range []string{"..", "."} {
		asked = ""
		if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{DataSubjectID: id}); !errors.Is(err, model.InvalidInput) || asked != "" {
			t.Errorf("%q: %s was asked, %v", id, asked, err)
		}
	}
}
